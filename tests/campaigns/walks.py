"""Random walks through tasks, for the campaign of going back: what each page was, and the walk once more."""

import asyncio
import json
import random
import time
from typing import Any

from core.agent.gates import Gates
from core.agent.going_back import reopen
from core.agent.loop import AgentRun, open_run
from core.agent.resources import AgentResources
from core.agent.run_history import RunHistory
from core.agent.state import Budget
from core.agent.world import World
from core.browser.actor import Actor
from core.browser.capturer import Capturer
from core.browser.checkpoints.comparison import Volatile, compare
from core.browser.checkpoints.strategies import retarget
from core.browser.driver import TabDriver
from core.browser.tabs import Tabs
from core.environments.registry import Environments
from core.schema.action import Action
from core.schema.action_space import Permissible
from core.schema.action_text import parse_action
from core.schema.element_identity import Marks, marks_of
from core.schema.errors import BackstepError
from core.schema.messages import LLMReply, LLMRequest, ToolCall
from core.schema.observation import Observation
from core.schema.record import Record
from core.schema.restore import VERIFIED, Comparison
from core.schema.step import Acted, Reviewed
from core.schema.task import Task
from core.trace.store import TraceStore
from tests.campaigns.browsers import OtherClient

WORDS = ("apple", "Oslo", "42", "two words", "06/12/2024", "A")
WEIGHTS = {"click": 6, "type": 3, "check": 2, "select": 2, "go_back": 1}
"""How often each kind of action is taken where it is permissible."""
REPEATS = 3
"""How often a walk is done anew to tell whether it repeats itself: what a timer of the page does is a race."""
LATE_SECONDS = 3.0
"""So long a page may go on loading what an action has set off: a picture without which an element has no size."""

READING = """(() => {
  const kept = storage => { try { return {...storage()}; } catch (error) { return String(error.name); } };
  const of = inner => ({
    url: inner.location.href,
    html: inner.documentElement ? inner.documentElement.outerHTML : "",
    fields: [...inner.querySelectorAll("input, textarea, select, option")].map(one =>
      [one.tagName, one.value, one.checked ?? null, one.selected ?? null, one.selectedIndex ?? null].join(" ")),
    cookie: inner.cookie,
    frames: [...inner.querySelectorAll("iframe, frame")].map(one => one.contentDocument).filter(Boolean).map(of),
  });
  return {...of(document), local: kept(() => localStorage), session: kept(() => sessionStorage)};
})()"""
"""The page as its own scripts see it; nothing of the walker's, and nothing of what comparing goes by."""


class RandomWalker:
    """Answers each request with a permissible action that is drawn, the same for the same seed."""

    name = "random-walker"
    takes_images = False

    def __init__(self, seed: str) -> None:
        self._dice = random.Random(seed)

    async def reply(self, request: LLMRequest, **_: Any) -> LLMReply:
        assert request.permissible is not None
        name, arguments = self._draw(request.permissible)
        return LLMReply(text="Next.", tool_calls=(ToolCall(name=name, arguments=json.dumps(arguments)),))

    async def close(self) -> None:
        return

    def _draw(self, permissible: Permissible) -> tuple[str, dict[str, Any]]:
        offered = [action for action in permissible.actions if action.name in WEIGHTS]
        if not offered:
            return "press", {"keys": "Tab"}
        action = self._dice.choices(offered, [WEIGHTS[one.name] for one in offered])[0]
        target = action.parameter("target")
        if target is None or not target.choices:
            return action.name, {}
        ref = int(self._dice.choice(target.choices).value)
        arguments: dict[str, Any] = {"target": ref}
        if action.name == "type":
            arguments |= {"text": self._dice.choice(WORDS), "enter": self._dice.random() < 0.2}
        option = action.parameter("option")
        if option is not None:
            assert option.choices_by_ref is not None
            arguments["option"] = self._dice.choice(option.choices_by_ref[ref])
        if action.name == "check":
            arguments["checked"] = self._dice.random() < 0.8
        return action.name, arguments


class Done(Record):
    """One action of a walk, with what its elements are recognised by."""

    action: Action
    marks: Marks = {}
    failed: bool = False


class Walk:
    """A run that was walked, and what every page of it was."""

    def __init__(self, run: AgentRun, store: TraceStore, volatile: Volatile, client: OtherClient) -> None:
        self.run = run
        self._client = client
        self.history = RunHistory(store, run.state.run)
        self.pages: list[Observation] = []
        """The page of each step, and the one after the last."""
        self.readings: list[dict[str, Any]] = []
        """What the page's own scripts saw of it at each step."""
        self.done: list[Done] = []
        """What was done at each step, failures too: they may have left something."""
        self.reward: float | None = None
        self.volatile = volatile

    @property
    def world(self) -> World:
        return self.run.world

    async def walk(self, most: int) -> None:
        """Take up to `most` steps, or until the page ends the episode."""
        run = self.run
        while not run.ended and run.state.number <= most:
            record = await run.advance()
            if record.phase == "observe":
                self.pages[len(self.done) :] = [record.observation]
                self.readings.append(await self.read())
            elif isinstance(record, Reviewed):
                action = record.action or parse_action("wait [0]")
                self.done.append(Done(action=action, marks=marks_of(action, self.pages[-1])))
            elif isinstance(record, Acted):
                self.done[-1] = self.done[-1].replace(failed=record.outcome == "failed")
                self.pages.append(run.state.observation)
        self.reward = await self._reward()

    async def read(self) -> dict[str, Any]:
        """Return the page as its own scripts see it, with the cookies they do not, read by another client.

        Left out is the cookie by which a bundled site knows the session: every
        branch is given one of its own.
        """
        evaluated, kept = await self._client.ask(
            self.world.tabs.current.tab,
            ("Runtime.evaluate", {"expression": READING, "returnByValue": True}),
            ("Network.getCookies", {}),
        )
        seen, cookies = dict(evaluated["result"]["value"]), kept["cookies"]
        own = self.world.keeper.session_cookies if self.world.keeper is not None else ()
        seen["cookies"] = sorted(f"{one['name']}={one['value']}" for one in cookies if one["name"] not in own)
        return seen

    async def play(self, step: int) -> str:
        """Do what was done from `step` on; return where a page or the reward is another one, or nothing."""
        world = self.world
        for number in range(step, len(self.done) + 1):
            done = self.done[number - 1]
            before = world.tabs.mark()
            try:
                now = (await world.read()).observation
                action, _ = await retarget(done.action, done.marks, now)
                await world.actor.act(action)
            except BackstepError as error:
                if not done.failed:
                    return f"step {number}, {done.action}: {error}"
            await world.tabs.settle(before)
            after = await self._compared(self.pages[number])
            if after.grade not in VERIFIED:
                first = next(one for one in after.differences if not one.volatile)
                difference = f"{first.what} {first.element} {first.part} {first.before!r} {first.now!r}"
                return f"after step {number}, {done.action}: {after.sentence}: {' '.join(difference.split())}"
        reward = await self._reward()
        return "" if reward == self.reward else f"reward {reward}, not {self.reward}"

    async def _compared(self, page: Observation) -> Comparison:
        """Compare the page with a recorded one; what loads late, as on a busy machine, may come to be the same."""
        deadline = time.monotonic() + LATE_SECONDS
        now = (await self.world.read()).observation
        after = compare(page, now, "restored", self.volatile)
        while after.grade not in VERIFIED and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
            later = (await self.world.read()).observation
            after = compare(page, now, "restored", self.volatile, later=later)
            now = later
        return after

    async def can_be_repeated(self) -> bool:
        """Return whether the whole walk, done anew from the start some times, leads to the same pages and reward."""
        for _ in range(REPEATS):
            await reopen(self.run.state, self.world)
            if await self.play(1):
                return False
        return True

    async def _reward(self) -> float | None:
        state = self.run.state
        verdict = await self.world.environment.judge(state.episode, TabDriver(self.world.tabs), "")
        return verdict.reward


def differing(before: dict[str, Any], now: dict[str, Any], where: str = "") -> str:
    """Return the first part in which two readings differ, with both, or nothing."""
    for key in sorted({*before, *now}):
        one, other = before.get(key), now.get(key)
        if one == other:
            continue
        if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            at = next(index for index, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1])
            one, other, key = one[at], other[at], f"{key}[{at}]"
        if isinstance(one, dict) and isinstance(other, dict):
            return differing(one, other, f"{where}{key}.")
        return f"{where}{key}: {_around(str(one), str(other))}"
    return ""


def _around(one: str, other: str, width: int = 60) -> str:
    """Return both texts from shortly before where they part."""
    at = next((i for i, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), 0)
    begin = max(at - width // 2, 0)
    return f"{one[begin : at + width]!r} became {other[begin : at + width]!r}"


async def begin_walk(
    store: TraceStore,
    tabs: Tabs,
    environments: Environments,
    resources: AgentResources,
    task: Task,
    *,
    seed: int,
    dice: str,
    volatile: Volatile,
    client: OtherClient,
) -> Walk:
    """Open a task for a walk drawn by `dice`, read by `client`; raises BackstepError where it cannot be opened."""
    world = World(
        tabs=tabs,
        actor=Actor(tabs),
        capturer=Capturer(),
        environment=environments.environment_of(task),
        gates=Gates(()),
    )
    run = await open_run(
        store,
        world,
        task,
        seed,
        preset=resources.presets.get("plain"),
        llm=RandomWalker(dice),
        resources=resources,
        budget=Budget(),
        browser=tabs.browser.host.name,
    )
    return Walk(run, store, volatile, client)
