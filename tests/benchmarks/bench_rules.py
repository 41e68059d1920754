"""How far the built-in LLM gets: success over seeds for every MiniWoB++ page, as a table.

    python tests/benchmarks/bench_rules.py --seeds 20
    python tests/benchmarks/bench_rules.py click-test book-flight --seeds 3 --show failed

Needs an installed Chromium. Everything runs in one browser, one episode after the other.
"""

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.agent.abstraction import clean_of
from core.agent.general_space import describe, permissible_of
from core.browser.actor import Actor
from core.browser.capturer import Capturer
from core.browser.chromium import ChromiumHost, find_chromium
from core.browser.driver import TabDriver
from core.browser.host import BrowserHost
from core.browser.tabs import Tabs
from core.environments.miniwob import MiniWob
from core.llm.repair import read_reply
from core.llm.rules import RulesLLM
from core.schema.action import RefTarget, Stop
from core.schema.action_space import Permissible
from core.schema.errors import ActionError, BackstepError
from core.schema.events import BrowserEvent
from core.schema.messages import LLM, LLMRequest, Message, PromptView, Tool, Turn
from core.schema.observation import CleanObservation
from core.schema.record import Record
from core.schema.task import Task

ENOUGH = 0.9
"""From which share of its seeds on a task counts as done."""


class Played(Record):
    """One episode as the LLM played it."""

    task: str
    seed: int
    instruction: str = ""
    success: bool = False
    reward: float = 0.0
    steps: int = 0
    ended: str = ""
    seconds: float = 0.0
    llm_seconds: float = 0.0
    turns: tuple[Turn, ...] = ()
    pages: tuple[str, ...] = ()
    """What each prompt showed of the page, and the page after the last action."""
    events: tuple[BrowserEvent, ...] = ()
    """What happened in the browser beside the actions."""


class Player:
    """Plays episodes with one LLM in one browser; `async with` starts and ends the browser."""

    def __init__(self, llm: LLM, host: BrowserHost, *, max_steps: int = 20) -> None:
        self._llm = llm
        self._max_steps = max_steps
        self._environment = MiniWob()
        self._tabs = Tabs(host)
        self._actor = Actor(self._tabs)
        self._capturer = Capturer(hidden=self._environment.hidden_selectors, pictures=False)
        self._driver = TabDriver(self._tabs)

    @property
    def tasks(self) -> tuple[Task, ...]:
        return self._environment.tasks()

    async def __aenter__(self) -> "Player":
        await self._tabs.browser.start()
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self._tabs.browser.close()
        await self._environment.close()

    async def play(self, task: Task, seed: int) -> Played:
        """Play one episode in a clean profile; where the browser fails, it is played once more."""
        started = time.perf_counter()
        name = task.id.partition("/")[2]
        problem = ""
        self._tabs.browser.take_events()
        for _ in range(2):
            try:
                await self._tabs.open_profile()
                played = await self._play(task, seed)
            except BackstepError as error:
                problem = str(error)
                continue
            break
        else:
            played = Played(task=name, seed=seed, ended=f"error: {problem}")
        seconds = time.perf_counter() - started
        return played.replace(task=name, events=self._tabs.browser.take_events(), seconds=seconds)

    async def _play(self, task: Task, seed: int) -> Played:
        episode = await self._environment.open(task, seed, self._driver)
        turns: list[Turn] = []
        pages: list[str] = []
        notes: list[str] = []
        answer = ""
        ended = "out of steps"
        llm_seconds = 0.0
        while len(turns) < self._max_steps:
            observation, permissible = await self._observe()
            pages.append(observation.text)
            request = request_of(episode.instruction, observation, permissible, turns, notes)
            asked = time.perf_counter()
            reply = await self._llm.reply(request)
            llm_seconds += time.perf_counter() - asked
            proposal, _ = read_reply(reply, request, "tools")
            if proposal.action is None:
                ended = f"bad reply: {proposal.problem}"
                break
            action = proposal.action
            target = next((t.ref for t in action.targets if isinstance(t, RefTarget)), None)
            element = next((e for e in observation.elements if e.ref == target), None)
            result = "done"
            if isinstance(action, Stop):
                ended, answer = "stopped", action.answer
            elif action.kind == "note":
                notes.append(action.text)
            else:
                mark = self._tabs.mark()
                try:
                    await self._actor.act(action)
                except ActionError as error:
                    result = str(error)
                await self._tabs.settle(mark)
            turns.append(
                Turn(
                    number=len(turns) + 1,
                    thought=proposal.thought,
                    action=str(action),
                    target=describe(element) if element else "",
                    result=result,
                    url=observation.url,
                )
            )
            if ended == "stopped":
                break
            if await self._environment.ended(self._driver):
                ended = "page ended"
                break
        pages.append((await self._observe())[0].text)
        verdict = await self._environment.judge(episode, self._driver, answer)
        return Played(
            task=task.id,
            seed=seed,
            instruction=episode.instruction,
            success=bool(verdict.success),
            reward=verdict.reward or 0.0,
            steps=len(turns),
            ended=ended,
            llm_seconds=llm_seconds,
            turns=tuple(turns),
            pages=tuple(pages),
        )

    async def _observe(self) -> tuple[CleanObservation, Permissible]:
        capture = await self._capturer.capture(self._tabs.current, await self._tabs.list())
        return clean_of(capture.observation), permissible_of(capture.observation)


def request_of(
    instruction: str,
    observation: CleanObservation,
    permissible: Permissible,
    turns: Iterable[Turn] = (),
    notes: Iterable[str] = (),
) -> LLMRequest:
    """Return the request of one decision, as the agent with one call a step makes it."""
    return LLMRequest(
        purpose="decide",
        messages=(Message(role="user", text=f"{instruction}\n\n{observation.text}"),),
        tools=tuple(
            Tool(name=one.name, description=one.description, parameters=one.json_schema())
            for one in permissible.actions
        ),
        tool_choice="required",
        permissible=permissible,
        view=PromptView(
            objective=instruction, observation=observation, history=tuple(turns), notes=tuple(notes)
        ),
    )


def wanted(tasks: Iterable[Task], filters: list[str]) -> list[Task]:
    """Return the tasks that a filter names; one that ends in * names all that begin so."""
    names = {task.id.partition("/")[2]: task for task in tasks}
    if not filters:
        return list(names.values())
    found: dict[str, Task] = {}
    for one in filters:
        matching = [
            name for name in names if name == one or (one.endswith("*") and name.startswith(one[:-1]))
        ]
        if not matching:
            raise SystemExit(f'There is no MiniWoB++ task "{one}".')
        found.update({name: names[name] for name in matching})
    return list(found.values())


def transcript(played: Played) -> str:
    """Return an episode as text: each page, thought, action and result."""
    lines = [f"=== {played.task} seed {played.seed}: {played.instruction}"]
    shown = ""
    for number, page in enumerate(played.pages):
        lines.append(page if page != shown else "(the page as before)")
        shown = page
        if number < len(played.turns):
            turn = played.turns[number]
            lines.append(
                f"--- {turn.number}. {turn.thought}\n    {turn.action} on {turn.target}: {turn.result}"
            )
    lines.append(f"=== {played.ended}, reward {played.reward:g}, {'success' if played.success else 'FAILED'}")
    return "\n".join(lines)


def row(name: str, episodes: list[Played]) -> str:
    rate = statistics.mean(one.success for one in episodes)
    steps = statistics.median(one.steps for one in episodes)
    seconds = statistics.median(one.seconds for one in episodes)
    each = statistics.median(one.llm_seconds / max(one.steps, 1) for one in episodes) * 1000
    mark = "*" if rate >= ENOUGH else " "
    return f"{name:<34}{rate:>8.2f} {mark}{steps:>7.1f}{seconds:>9.2f}{each:>10.2f}"


HEAD = f"{'task':<34}{'success':>8}  {'steps':>7}{'seconds':>9}{'ms a call':>10}"


async def run(arguments: argparse.Namespace) -> None:
    executable = arguments.browser or find_chromium()
    if executable is None:
        raise SystemExit("No installed Chromium was found; give one with --browser.")
    results: dict[str, list[Played]] = {}
    async with Player(RulesLLM(), ChromiumHost(executable), max_steps=arguments.steps) as player:
        tasks = wanted(player.tasks, arguments.tasks)
        print(HEAD)
        for task in tasks:
            name = task.id.partition("/")[2]
            results[name] = []
            for seed in range(arguments.first, arguments.first + arguments.seeds):
                played = await player.play(task, seed)
                results[name].append(played)
                if arguments.show == "all" or (arguments.show == "failed" and not played.success):
                    print(transcript(played))
            print(row(name, results[name]), flush=True)
    enough = [
        name for name, some in results.items() if statistics.mean(one.success for one in some) >= ENOUGH
    ]
    every = [one.success for some in results.values() for one in some]
    print(
        f"{len(enough)} of {len(results)} tasks reach {ENOUGH} over {arguments.seeds} seeds; "
        f"mean success {statistics.mean(every):.3f}; "
        f"median {statistics.median(one.steps for some in results.values() for one in some):g} steps "
        f"and {statistics.median(one.seconds for some in results.values() for one in some):.2f} s an episode."
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "tasks", nargs="*", help="names of tasks, or beginnings such as click-*; all where none"
    )
    parser.add_argument("--seeds", type=int, default=20, help="how many seeds a task")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--steps", type=int, default=25, help="steps an episode at the most")
    parser.add_argument("--show", choices=("none", "failed", "all"), default="none", help="print transcripts")
    parser.add_argument("--browser", help="path of a Chromium")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
