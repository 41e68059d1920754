"""The ten phases: each a function from the run so far to one record.

What a phase needs of the world comes in as `World`; the order of the phases,
the budgets and the storing are the loop's.
"""

import asyncio
import time
from dataclasses import dataclass
from typing import Literal

from core.action import Action, Note, Press, RefTarget, Stop
from core.agent.clean import clean_of, tokens_of
from core.agent.deciding import Decider
from core.agent.gates import Gates
from core.agent.general_space import describe, permissible_of
from core.agent.records import (
    Abstracted,
    Acted,
    Aligned,
    Anticipated,
    Committed,
    Decided,
    Observed,
    Recalled,
    Recognised,
    Reviewed,
)
from core.agent.state import Pending, RunState
from core.browser.act import Actor, Located
from core.browser.capture import Capturer, titled
from core.browser.driver import TabDriver
from core.browser.page import PageGone
from core.browser.tabs import Tabs
from core.environments.protocol import Environment
from core.errors import ActionError, BrowserError
from core.llm.protocol import Turn
from core.observation import Capture


@dataclass
class World:
    """The browser and the environment that a run acts in."""

    tabs: Tabs
    actor: Actor
    capturer: Capturer
    environment: Environment
    gates: Gates

    async def read(self) -> Capture:
        """Read the current page; a crashed one is brought back first."""
        if self.tabs.current.crashed:
            await self.tabs.revive()
            await self.tabs.settle(self.tabs.mark())
        return await self.capturer.capture(self.tabs.current, await self.tabs.list())

    async def unchanged(self, capture: Capture) -> bool:
        """Return whether the current page and the tabs are still as `capture` has them; in doubt they are not."""
        seen = capture.observation
        try:
            same, tabs = await asyncio.gather(
                self.capturer.unchanged(self.tabs.current, capture), self.tabs.list()
            )
        except (PageGone, BrowserError):
            return False  # Reading it will say why.
        return same and titled(tabs, seen.title, seen.url) == seen.tabs

    async def episode_ended(self) -> bool:
        """Return whether the page has ended the episode; a page that is gone has not."""
        try:
            return await self.environment.ended(TabDriver(self.tabs))
        except (PageGone, ActionError, BrowserError):
            return False


async def observe(state: RunState, world: World) -> tuple[Observed, Capture]:
    """Take the page as it was last read; read it anew where it has changed since."""
    capture = state.capture
    reused = capture is not None and not state.stale and await world.unchanged(capture)
    if capture is None or not reused:
        capture = await world.read()
    capture = await world.capturer.with_picture(capture)
    state.capture = capture
    state.stale = False
    return Observed(observation=capture.observation, reused=reused), capture


def recognise(state: RunState, back: int, forward: int) -> Recognised:
    """Find the state and list what may be done; `back` and `forward` are the lengths of the tab's history."""
    permissible = permissible_of(state.observation, back=back, forward=forward)
    count = sum(1 for element in state.observation.elements if element.usable)
    what = "1 usable element" if count == 1 else f"{count} usable elements"
    if state.preset.space == "general":
        why = f"The general space has one state for any page; this one has {what}."
        space, name = "general", "page"
    else:
        why = f"This preset knows no states: every page offers all its actions; this one has {what}."
        space, name = "none", "page"
    if permissible.left_out:
        why += f" {permissible.left_out} of them are left out of the prompt."
    state.recognised = Recognised(space=space, state=name, why=why, permissible=permissible)
    return state.recognised


def recall(state: RunState) -> Recalled:
    """Presets without a memory recall nothing."""
    return Recalled()


def abstract(state: RunState) -> Abstracted:
    """Cut the observation to what the prompt shows."""
    state.clean = clean_of(state.observation)
    return Abstracted(clean=state.clean, tokens=tokens_of(state.clean))


async def decide(state: RunState, decider: Decider) -> Decided:
    """Ask for a thought and an action, and put it up for review."""
    decided = await decider.decide(state)
    proposal = decided.proposal
    state.last_proposal = proposal
    state.queue = list(decided.queue)
    state.queue_url = state.observation.document
    state.pending = Pending(
        action=proposal.action, thought=proposal.thought, proposed=proposal.action, problem=proposal.problem
    )
    return decided


def anticipate(state: RunState) -> Anticipated:
    """Presets without reflection prepare no remedies."""
    return Anticipated()


def target_label(state: RunState, action: Action) -> str:
    """Return what the action's target is in the observation of this step; for a key, what has the focus."""
    if isinstance(action, Press):
        focused = (one for one in reversed(state.observation.elements) if "focused" in one.states)
        return next((describe(element) for element in focused), "")
    for target in action.targets:
        if isinstance(target, RefTarget) and (element := state.observation.element(target.ref)):
            return describe(element)
        return str(target)
    return ""


def gate_reason(state: RunState, world: World) -> str | None:
    """Return why the pending action must stop at a gate, or None."""
    action = state.pending.action
    if action is None:
        return None
    return world.gates.reason(
        action, target_label(state, action), state.permissible, state.episode.task.environment
    )


def review(state: RunState) -> Reviewed:
    """Let the pending action leave, with whose it is."""
    pending = state.pending
    action = None if pending.skip else pending.action
    return Reviewed(
        origin=pending.origin,
        action=action,
        proposed=pending.proposed if pending.edited or pending.skip else None,
        thought=pending.thought,
        edited=pending.edited,
        note=pending.note,
    )


async def act(state: RunState, world: World) -> Acted:
    """Carry out the reviewed action, wait for what it set off, and read the page."""
    pending = state.pending
    action = pending.action
    if pending.skip:
        return Acted(effect="none", outcome="skipped", message=pending.note or "Skipped by the person.")
    if action is None:
        return Acted(
            effect="none", outcome="failed", message=pending.problem or "There was no action to take."
        )
    if isinstance(action, Note):
        state.notes.append(action.text)
        return Acted(effect="note", outcome="done")
    if isinstance(action, Stop):
        state.answer = action.answer
        return Acted(effect="stop", outcome="done")
    return await _act_in_page(state, world, action)


async def _act_in_page(state: RunState, world: World, action: Action) -> Acted:
    state.totals.page_actions += 1
    times: dict[str, float] = {}
    located: Located | None = None
    problem, settled_reason = "", ""
    label = target_label(state, action)
    before = world.tabs.mark()
    clock = time.perf_counter()
    try:
        located = await world.actor.act(action)
    except (ActionError, BrowserError) as error:
        problem = str(error)
    times["act"] = _lap(clock)
    clock = time.perf_counter()
    try:
        settled = await world.tabs.settle(before)
        settled_reason = settled.reason
    except (PageGone, BrowserError, ActionError) as error:
        problem = problem or str(error)
    times["settle"] = _lap(clock)
    clock = time.perf_counter()
    try:
        state.capture = await world.read()
        state.stale = False
    except (PageGone, BrowserError) as error:
        # What was done stays done: the next step reads the page, and fails if it still cannot be read.
        state.stale = True
        problem = problem or str(error) or "The page went away before it could be read."
    times["observe"] = _lap(clock)
    ended = await world.episode_ended()
    events = world.tabs.take_events()
    told = [event.text for event in events if event.kind != "console" and event.text not in problem]
    crashed = any(event.kind in ("crash", "hang") for event in events)
    message = " ".join([part for part in [problem, located.note if located else "", *told] if part])
    outcome: Literal["done", "failed"] = "failed" if problem or crashed else "done"
    return Acted(
        effect="page action",
        outcome=outcome,
        message=message,
        box=located.box if located else None,
        target=label or (located.label if located else ""),
        xpath=located.xpath if located else "",
        settled=settled_reason,
        events=events,
        milliseconds=times,
        episode_ended=ended,
    )


def _lap(since: float) -> float:
    return round((time.perf_counter() - since) * 1000, 2)


def align(state: RunState) -> Aligned:
    """Presets without reflection judge nothing."""
    return Aligned()


def commit(state: RunState) -> Committed:
    """Seal the step: tell it to the steps that follow."""
    acted = state.acted
    pending = state.pending
    action = pending.action
    if acted is not None:
        if acted.effect == "none" and not (pending.skip and not pending.refused):
            # What cannot be used, or was refused, takes a place in the budget: else it could go on for ever.
            state.totals.page_actions += 1
        result: str = acted.outcome
        if acted.message:
            result = f"{result}: {acted.message}" if acted.outcome != "done" else f"done. {acted.message}"
        state.history.append(
            Turn(
                number=state.number,
                thought=pending.thought,
                action=str(action) if action is not None else "",
                target=acted.target,
                result=result,
                url=state.clean.url if state.clean else "",
            )
        )
        if acted.outcome != "done":
            state.queue.clear()
    return Committed(seconds=round(state.clock.active, 4), seconds_in_llm=round(state.clock.in_llm, 4))
