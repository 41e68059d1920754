"""What an agent says of itself: by the package alone, and what comes of it at the address where it says it."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from typing import Any

import backstep_sdk
import gymnasium
import httpx2
import pytest
from backstep_sdk.browsergym import telling
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import StatusCode
from starlette.applications import Starlette
from starlette.routing import Mount

from core.attach.addresses import SDK
from core.attach.server import AgentServer
from core.attach.told import (
    TellingAddress,
    Told,
    ToldExemplars,
    ToldNote,
    ToldOutcome,
    ToldPlan,
    ToldPolicy,
    ToldPolicyEnd,
    ToldRemedy,
    ToldState,
    ToldStep,
)


class Listener:
    """The address on a server of its own, and what came there."""

    def __init__(self) -> None:
        self.told: list[Told] = []
        self.address = TellingAddress(self.told.append)
        self.server = AgentServer(Starlette(routes=[Mount(self.address.path, self.address.app())]))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}{self.address.path}/"

    @property
    def policies(self) -> list[str]:
        """The policies in order, each end with its sign."""
        names = {one.id: one.name for one in self.told if isinstance(one, ToldPolicy)}
        begun = {
            one: one.name if isinstance(one, ToldPolicy) else f"/{names[one.id]}"
            for one in self.told
            if isinstance(one, ToldPolicy | ToldPolicyEnd)
        }
        return list(begun.values())

    def parent_of(self, name: str) -> str:
        """Return the name of the policy that one was begun in."""
        begun = [one for one in self.told if isinstance(one, ToldPolicy)]
        parent = next(one.parent for one in begun if one.name == name)
        return next((one.name for one in begun if one.id == parent), "")


@pytest.fixture
async def listener(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Listener, None]:
    listener = Listener()
    await listener.server.start()
    monkeypatch.setenv("BACKSTEP_SDK_URL", listener.url)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    yield listener
    await listener.server.close()


def say_everything() -> None:
    backstep_sdk.state("results", "The list of hits")
    backstep_sdk.plan(["Search", "Buy"], at=1)
    backstep_sdk.remedy("scroll down", for_action="click")
    backstep_sdk.exemplars(["one text", ("buy tea", "another text")])
    backstep_sdk.note("as expected")
    backstep_sdk.step(3, "Buy it", (f"click({at})" for at in (1, 2)))
    backstep_sdk.outcome(0.5, True, reason="Bought.", answer="tea")
    with backstep_sdk.policy("search", "tea"):
        pass


async def test_all_that_is_said_comes_in_its_order(listener: Listener) -> None:
    await asyncio.to_thread(say_everything)
    *said, begun, ended = listener.told
    assert said == [
        ToldState(name="results", description="The list of hits"),
        ToldPlan(steps=("Search", "Buy"), at=1),
        ToldRemedy(text="scroll down", for_action="click"),
        ToldExemplars(shown=("one text", ("buy tea", "another text"))),
        ToldNote(text="as expected"),
        ToldStep(number=3, goal="Buy it", actions=("click(1)", "click(2)")),
        ToldOutcome(reward=0.5, success=True, reason="Bought.", answer="tea"),
    ]
    assert isinstance(begun, ToldPolicy)
    assert (begun.name, begun.argument, begun.parent) == ("search", "tea", "")
    assert ended == ToldPolicyEnd(id=begun.id)


def test_without_backstep_nothing_is_done_and_nothing_is_loaded(tmp_path) -> None:
    said = (
        "import sys, backstep_sdk as b\n"
        "b.state('s'); b.plan(['p']); b.remedy('r'); b.exemplars(['e']); b.note('n')\n"
        "b.step(1, 'g', ['a']); b.outcome(1.0, True)\n"
        "with b.policy('p'): pass\n"
        "b.span_processor().force_flush()\n"
        "print('urllib.request' in sys.modules, 'opentelemetry' in sys.modules)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "BACKSTEP_SDK_URL"}
    done = subprocess.run(
        [sys.executable, "-c", said],
        env={**environment, "PYTHONPATH": str(SDK)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("False False\n", "")


async def test_a_server_that_has_gone_is_noticed_once_and_nothing_fails(
    listener: Listener, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "backstep_sdk")
    await listener.server.close()
    await asyncio.to_thread(say_everything)
    assert len(caplog.messages) == 1
    assert "cannot be reached" in caplog.messages[0]


async def test_what_cannot_be_used_is_refused_in_a_sentence_and_the_rest_is_kept(
    listener: Listener, caplog: pytest.LogCaptureFixture
) -> None:
    await asyncio.to_thread(backstep_sdk.plan, ["Search"], -1)
    await asyncio.to_thread(backstep_sdk.note, "still there")
    assert listener.told == [ToldNote(text="still there")]
    assert caplog.messages == [
        "Backstep did not accept the plan: plan.at: Input should be greater than or equal to 0."
    ]
    async with httpx2.AsyncClient(trust_env=False) as client:
        refused = await client.post(listener.url, content=b"{")
        assert (refused.status_code, refused.text.startswith("Invalid JSON")) == (400, True)
        guessed = listener.url.replace(listener.address.path, "/sdk/guessed")
        assert (await client.post(guessed, content=b"{}")).status_code == 404


async def test_whatever_is_given_is_made_a_text(listener: Listener) -> None:
    await asyncio.to_thread(backstep_sdk.note, "half \ud800")
    await asyncio.to_thread(backstep_sdk.plan, (f"step {at}" for at in (1, 2)))
    await asyncio.to_thread(backstep_sdk.state, "s", ValueError("odd"))  # type: ignore[arg-type]
    assert listener.told == [
        ToldNote(text="half ?"),
        ToldPlan(steps=("step 1", "step 2")),
        ToldState(name="s", description="odd"),
    ]


async def test_policies_in_one_another_are_a_stack(listener: Listener) -> None:
    def work() -> None:
        with backstep_sdk.policy("outer"):
            with backstep_sdk.policy("inner"):
                pass
            with backstep_sdk.policy("second"):
                pass

    await asyncio.to_thread(work)
    assert listener.policies == ["outer", "inner", "/inner", "second", "/second", "/outer"]
    assert [listener.parent_of(name) for name in ("outer", "inner", "second")] == ["", "outer", "outer"]


async def test_each_task_is_in_its_own_policy() -> None:
    """The tasks run in a program of their own: what they say waits for the answer, and so would the server."""
    said = (
        "import asyncio, backstep_sdk as b\n"
        "async def one(name, mine, other):\n"
        "    with b.policy(name):\n"
        "        mine.set()\n"
        "        await other.wait()\n"
        "        with b.policy(name + ' within'): pass\n"
        "async def main():\n"
        "    first, second = asyncio.Event(), asyncio.Event()\n"
        "    with b.policy('outer'):\n"
        "        await asyncio.gather(one('a', first, second), one('b', second, first))\n"
        "asyncio.run(main())"
    )
    listener = Listener()
    await listener.server.start()
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", said),
        env={**os.environ, "PYTHONPATH": str(SDK), "BACKSTEP_SDK_URL": listener.url},
    )
    assert await program.wait() == 0
    await listener.server.close()
    assert [listener.parent_of(name) for name in ("a", "b", "a within", "b within")] == [
        "outer",
        "outer",
        "a",
        "b",
    ]


async def test_a_function_is_a_policy_by_its_decorator_and_an_async_one_until_it_is_awaited(
    listener: Listener,
) -> None:
    @backstep_sdk.policy("count down")
    def count_down(number: int) -> int:
        return count_down(number - 1) if number else 7

    @backstep_sdk.policy("wait")
    async def wait() -> int:
        backstep_sdk.note("within")
        return 8

    assert await asyncio.to_thread(count_down, 1) == 7
    assert await asyncio.to_thread(lambda: asyncio.run(wait())) == 8
    assert listener.policies == ["count down", "count down", "/count down", "/count down", "wait", "/wait"]
    assert isinstance(listener.told[-2], ToldNote)


async def test_a_policy_that_fails_says_why_and_lets_the_error_through(listener: Listener) -> None:
    def work() -> None:
        with backstep_sdk.policy("search"):
            raise LookupError("no hits")

    with pytest.raises(LookupError):
        await asyncio.to_thread(work)
    ended = listener.told[-1]
    assert isinstance(ended, ToldPolicyEnd)
    assert ended.error == "LookupError: no hits"


async def test_spans_of_agents_and_tools_are_policies_and_what_they_say_is_noted(listener: Listener) -> None:
    def work() -> None:
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(backstep_sdk.span_processor())
        tracer = provider.get_tracer("agent")
        agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "buyer"}
        with tracer.start_as_current_span("invoke_agent buyer", attributes=agent):
            with tracer.start_as_current_span("chat gpt", attributes={"gen_ai.operation.name": "chat"}):
                pass
            with tracer.start_as_current_span("GET", attributes={"http.request.method": "GET"}):
                pass
            named = {"openinference.span.kind": "TOOL", "input.value": "tea " * 200}
            with tracer.start_as_current_span("search", attributes=named) as tool:
                tool.set_attribute("hits", 3)
                tool.set_status(StatusCode.ERROR, "no shop")
            with tracer.start_as_current_span("execute_tool press"):
                pass
        provider.shutdown()

    await asyncio.to_thread(work)
    assert listener.policies == ["buyer", "search", "/search", "press", "/press", "/buyer"]
    assert listener.parent_of("search") == "buyer"
    search = next(one for one in listener.told if isinstance(one, ToldPolicy) and one.name == "search")
    assert len(search.argument) < 250
    assert ToldPolicyEnd(id=search.id, error="no shop") in listener.told
    notes = [one.text for one in listener.told if isinstance(one, ToldNote)]
    assert [note.partition(",")[0] for note in notes] == [
        "llm chat gpt",
        "tool search",
        "tool execute_tool press",
        "agent invoke_agent buyer",
    ]
    assert "hits=3" in notes[1]
    assert max(map(len, notes)) < 2500


class Corridor(gymnasium.Env[dict[str, Any], str]):
    """An environment of five steps, of which each ``go`` is worth something; it ends at the second."""

    def __init__(self, worth: float = 0.5) -> None:
        self.worth = worth

    def reset(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        self.gone = 0
        return {"goal": "Go twice"}, {}

    def step(self, action: str) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        self.gone += action == "go"
        error = "" if action == "go" else f"There is no {action}."
        worth = self.worth if action == "go" else 0.0
        return {"last_action_error": error}, worth, self.gone == 2, action == "last", {}


async def test_an_environment_says_its_steps_actions_rewards_and_end(listener: Listener) -> None:
    def work(*actions: str) -> None:
        environment = telling(Corridor())
        environment.reset()
        for action in actions:
            environment.step(action)

    goal = "Go twice"
    await asyncio.to_thread(work, "go", "sing", "go")
    assert listener.told == [
        ToldStep(number=1, goal=goal),
        ToldStep(number=1, goal=goal, actions=("go",)),
        ToldOutcome(reward=0.5, ended=False),
        ToldStep(number=2, goal=goal),
        ToldStep(number=2, goal=goal, actions=("sing",)),
        ToldNote(text="The action of step 2 of the environment failed: There is no sing."),
        ToldStep(number=3, goal=goal),
        ToldStep(number=3, goal=goal, actions=("go",)),
        ToldOutcome(reward=1, success=True),
    ]
    listener.told.clear()
    await asyncio.to_thread(work, "last")
    assert listener.told[-1] == ToldOutcome(reward=0, reason="It was cut off after step 1.")


@pytest.mark.parametrize(
    ("id", "worth", "told"),
    [
        ("", 0.0, ToldOutcome(reward=0, success=False)),
        ("", 0.2, ToldOutcome(reward=0.4)),
        ("", 1.0, ToldOutcome(reward=2)),
        ("browsergym/assistantbench.test.7", 0.0, ToldOutcome()),
        ("browsergym/assistantbench.validation.7", 0.0, ToldOutcome(reward=0, success=False)),
    ],
)
async def test_only_rewards_of_nothing_or_one_say_whether_it_succeeded(
    listener: Listener, id: str, worth: float, told: ToldOutcome
) -> None:
    def work() -> None:
        corridor = Corridor(worth)
        corridor.spec = gymnasium.envs.registration.EnvSpec(id=id) if id else None
        environment = telling(corridor)
        environment.reset()
        environment.step("go")
        environment.step("go")

    await asyncio.to_thread(work)
    assert listener.told[-1] == told


def test_an_environment_is_left_as_it_is_where_backstep_is_not_attached() -> None:
    environment = Corridor()
    assert telling(environment) is environment
