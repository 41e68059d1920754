"""Scenes to ask breakpoints of: each drives a real page, and a scripted LLM answers."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.agent.loop import AgentRun
from core.debugger.breakpoints.debug_event import DebugEvent, EventTracker
from core.debugger.breakpoints.kinds.breakpoint import Breakpoint
from core.debugger.breakpoints.stored_events import events_of
from core.environments.shop.catalogue import bundled_catalogue
from core.environments.shop.goals import bundled_goals
from core.schema.errors import LLMError
from core.schema.step import PHASES
from core.trace.store import TraceStore
from tests.core.stage import Stage, on, page_file, ref_in, stop
from tests.llm_server import LLMServer, Reply, Request, call

SHOP = "shop/goal-000"


@dataclass(frozen=True)
class Told:
    """One hit, with its place."""

    step: int
    where: str
    phase: str
    sentence: str


@dataclass(frozen=True)
class Scene:
    """A task, who works on it, and what the LLM answers."""

    replies: tuple[Any, ...]
    task: str = ""
    url: str = ""
    instruction: str = "Do it."
    preset: str = "plain"

    def open(self, stage: Stage, server: LLMServer) -> AgentRun:
        server.script(*self.replies)
        if self.url:
            return stage.open(server, url=self.url, instruction=self.instruction, preset=self.preset)
        return stage.open(server, self.task, preset=self.preset)


class Stored:
    """Runs by the names of the functions here that make them; each is made when it is first asked for."""

    def __init__(self, stage: Stage, server: LLMServer, folder: Path) -> None:
        self.store: TraceStore = stage.services.store
        self._stage = stage
        self._server = server
        self._folder = folder
        self._runs: dict[str, int] = {}

    def run(self, name: str) -> int:
        if name not in self._runs:
            self._server.reset()
            self._runs[name] = self._play(name)
            self._stage.clear()
        return self._runs[name]

    def _play(self, name: str) -> int:
        stage, run = self._stage, SCENES[name](self._folder).open(self._stage, self._server)
        try:
            stage.to_the_end(run)
        except LLMError:
            stage.to_the_end(run)  # It is asked again.
        return run.state.run

    def events(self, name: str) -> list[DebugEvent]:
        return list(events_of(self.store, self.run(name)))

    def hits(self, name: str, breakpoint: Breakpoint) -> list[Told]:
        """Return what the breakpoint hits in a run."""
        return [
            Told(event.figures.step, event.where, event.phase, sentence)
            for event in self.events(name)
            if (sentence := breakpoint.reason(event)) is not None
        ]

    def steps(self, name: str, breakpoint: Breakpoint) -> list[int]:
        return [one.step for one in self.hits(name, breakpoint)]


def says(action: str, reason: str = "So.") -> Reply:
    return Reply(text=f"REASON: {reason}\nACTION: {action}")


def text(words: str) -> Reply:
    return Reply(text=words)


def clumsy(folder: Path) -> Scene:
    """Preset plain: an action that fails and is tried again, replies of no use, an LLM call that fails, typing."""
    covered = (
        '<button style="position:absolute;left:10px;top:10px;width:90px;height:30px">Delete all</button>'
        '<div style="position:absolute;left:0;top:0;width:300px;height:60px;background:#ddd">in the way</div>'
        '<label style="position:absolute;left:10px;top:100px">Name <input></label>'
    )
    delete = on('button "Delete all"', thought="Away with it.")
    return Scene(
        (
            delete,
            delete,
            text("What now?"),
            text("I do not know."),
            Reply(status=500, body='{"error": {"message": "out of order"}}'),
            on('textbox "Name"', "type", text="Ada Lovelace"),
            stop("42"),
        ),
        url=page_file(folder, covered, "clumsy.html"),
    )


def mended(folder: Path) -> Scene:
    """Preset reflect: a wrong action, a remedy that is wrong too, and a second trial with a new plan."""
    return Scene(tuple(mending()), url=site(folder), instruction="Find the order number.", preset="reflect")


def site(folder: Path) -> str:
    page_file(folder, "<h1>Archive</h1><p>Nothing is kept here.</p>", "archive.html")
    page_file(folder, "<h1>Help</h1><p>Ask somebody.</p>", "help.html")
    page_file(folder, "<h1>Orders</h1><p>Order number 4711</p>", "orders.html")
    links = "".join(
        f'<p><a href="{name.lower()}.html">{name}</a></p>' for name in ("Archive", "Help", "Orders")
    )
    return page_file(folder, f"<h1>Start</h1>{links}", "start.html")


def mending() -> list:
    def clicks(words: str):
        return lambda request: says(f"click [{ref_in(request, words)}]")

    return [
        text("1. Open the orders\n2. Read the number"),
        clicks('link "Archive"'),
        clicks('link "Help"'),
        text("The archive came up, which holds no orders.\nNO"),
        text("The help came up.\nNO"),
        text("The archive and the help hold nothing."),
        text("1. Click the third link"),
        clicks('link "Orders"'),
        clicks('link "Help"'),
        text("The list of orders came up.\nYES"),
        text("DONE"),
        text("YES"),
        text("4711"),
    ]


def policies(folder: Path) -> Scene:
    """Preset step: a policy is called, types, and comes back."""

    def searching(request: Request) -> Reply:
        field = ref_in(request, 'searchbox "Keywords"')
        return says(f"type [{field}] [steel bottle] [enter=1]")

    replies = (says("search_shop [steel bottle]"), searching, says("stop [205 results]"), says("stop []"))
    return Scene(replies, SHOP, preset="step")


def shopping(folder: Path) -> Scene:
    """Preset laser: search, results, item, and the order, which ends the run."""
    goal = next(one.goal for one in bundled_goals() if SHOP.endswith(one.name))
    product = bundled_catalogue().product(goal.product)
    options = {group.name: goal.options.get(group.name, group.values[0]) for group in product.groups}
    replies: list[Reply] = []
    for number, action in enumerate(
        (
            call("search", keywords=product.title, max_price=goal.price_limit / 100),
            call("select_item", item_id=goal.product),
            call("features"),
            call("buy_now", **options),
        ),
        start=1,
    ):
        replies += [text(f"Thought {number}."), Reply(calls=(action,))]
    return Scene(tuple(replies), SHOP, preset="laser")


def trajectories(folder: Path) -> Scene:
    """Preset synapse: exemplars are recalled, and the run stops."""

    def shorten(request: Request) -> Reply:
        return text("\n".join(re.findall(r"\[\d+\].*", request.texts[-1])))

    page = page_file(folder, "<p>Quarterly figures of the harbour.</p>", "harbour.html")
    instruction = "Read the harbour's figures."
    return Scene((shorten, says("stop []")), url=page, instruction=instruction, preset="synapse")


SCENES = {make.__name__: make for make in (clumsy, mended, policies, shopping, trajectories)}


def follow(stage: Stage, run: AgentRun) -> list[DebugEvent]:
    """Carry a run to its end and return its events as they come while it goes on."""
    events: list[DebugEvent] = []
    tracker = EventTracker(run.store.run(run.state.run))
    while not run.ended:
        if run.next_phase == PHASES[0]:
            tracker.begin_step(run.state.number, run.state.trial)
        events.append(tracker.before(run.next_phase))
        stage.asked.clear()
        record = stage.phase(run)
        begun: set[int] = set()
        for asked in stage.asked:
            if asked.record.number not in begun:
                begun.add(asked.record.number)
                events.append(tracker.before_call(asked.record))
            if asked.ended:
                events.append(tracker.after_call(asked.record))
        events.append(tracker.after(record))
    return events
