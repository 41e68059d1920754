"""act: carry out the reviewed action, wait for its effects, and read the page."""

import asyncio
from typing import Literal, NamedTuple

from core.agent.general_space import describe_filled, label_of
from core.agent.going_back import go_back, new_trial
from core.agent.policies.stack import Refusal, place_of_page
from core.agent.prompt_builder import Prompter
from core.agent.reflection.remedies import in_words
from core.agent.resources import AgentResources
from core.agent.run_history import RunHistory
from core.agent.spaces.choice import CHOOSE, candidates_of, way_back
from core.agent.spaces.file import SpaceAction
from core.agent.spaces.macros import MacroStep, fill, macro_steps, memory_after
from core.agent.state import RunState
from core.agent.world import World
from core.browser.channel import PageGone
from core.browser.checkpoints.checkpoint import RestoreError
from core.browser.checkpoints.strategies import retarget
from core.browser.locating import Located
from core.browser.settling import SettleMark
from core.schema.action import Action, Backtrack, ClickAt, Named, NewTrial, Note, Stop
from core.schema.action_space import PermissibleAction
from core.schema.element_identity import Marks, RecordedInput, called, marks_of
from core.schema.errors import ActionError, BrowserError, ElementGone
from core.schema.events import BrowserEvent
from core.schema.observation import Box, Capture, Observation, Ref
from core.schema.restore import SentAt
from core.schema.step import Acted, Primitive

_PAINTED = ("canvas", "object", "embed", "video")
"""Tags of what may look different although nothing that can be read has changed."""


async def act(state: RunState, world: World, prompter: Prompter, history: RunHistory) -> Acted:
    """Carry out the reviewed action; `Acted.message` says what failed.

    Only going back raises: BrowserError if the browser has ended, and LLMError if the LLM could not choose an
    element.
    """
    state.queue_cut = ""  # What was dropped before was told by now.
    state.acted = await _act(state, world, prompter, history)
    return state.acted


async def _act(state: RunState, world: World, prompter: Prompter, history: RunHistory) -> Acted:
    resources = prompter.resources
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
        if state.stack.top is not None:
            state.stack = state.stack.note(action.text)
        return Acted(effect="note", outcome="done")
    doing = state.reflection.doing
    if isinstance(action, Stop):
        return _stop(state, action)
    if isinstance(action, Backtrack):
        if doing is None or doing.kind != "go back":
            return Acted(effect="none", outcome="failed", message="No waiting remedy starts there.")
        return await go_back(state, world, prompter, doing, history)
    if isinstance(action, NewTrial):
        return await new_trial(state, world)
    page = place_of_page(state.observation).fingerprint
    state.reflection.tried.setdefault(page, []).append(in_words(action, state.observation))
    if isinstance(action, Named):
        allowed = state.permissible.action(action.name)
        if allowed is None:
            return Acted(effect="none", outcome="failed", message=f"{action.name} is not permissible here.")
        if allowed.origin == "policy":
            return _call(state, resources, action)
        return await _macro(state, world, action, allowed)
    state.totals.page_actions += 1
    done = await _primitive(state, world, action)
    return _acted(state, world, [done])


# Policies


def _stop(state: RunState, action: Stop) -> Acted:
    doing = state.reflection.doing
    whole = doing is not None and doing.kind == "answer"  # What the task asks for, not the policy at work.
    state.pending.before_stop = state.stack
    if whole or state.stack.top is None or not state.is_on("policies"):
        state.answer = action.answer
        return Acted(effect="stop", outcome="done")
    page = place_of_page(state.observation)
    state.stack = state.stack.stop(
        step=state.number,
        page=page,
        answer=action.answer,
        lacked=action.lacked or "",
        thought=state.pending.thought,
        remark=state.pending.own_remark,
    )
    ended = state.stack.result
    if ended is None:
        outcome = state.stack.finished[-1].outcome
        return Acted(effect="pop", outcome="done", message=f"Its caller is told that it {outcome}.")
    state.answer = ended.answer or ended.lacked
    return Acted(effect="stop", outcome="done", message=f"It {ended.outcome}." if ended.lacked else "")


def _call(state: RunState, resources: AgentResources, action: Named) -> Acted:
    assert state.stack.top is not None
    environment, url = state.episode.task.environment, state.observation.url
    caller = resources.policies.get(state.stack.top.policy)
    called = resources.policies.called(caller, action.name, environment, url)
    if problem := called.call_problem(action.arguments):
        return Acted(effect="none", outcome="failed", message=problem)
    pushed = state.stack.push(
        called.id,
        called.name,
        action.arguments,
        step=state.number,
        page=place_of_page(state.observation),
        thought=state.pending.thought,
        remark=state.pending.own_remark,
    )
    if isinstance(pushed, Refusal):
        return Acted(effect="none", outcome="failed", message=pushed.sentence)
    state.stack = pushed
    return Acted(effect="push", outcome="done")


# The page


class _Done(NamedTuple):
    """One action of the page, carried out or not."""

    primitive: Primitive
    located: Located | None
    settled: str
    events: tuple[BrowserEvent, ...]
    milliseconds: dict[str, float]
    input: RecordedInput
    after: str
    """What it acted on, as it is now."""
    ended: bool
    """Whether the page has ended the episode."""


async def _primitive(state: RunState, world: World, action: Action) -> _Done:
    """Carry out one action of the page, wait, and read the page."""
    times: dict[str, float] = {}
    located: Located | None = None
    problem, settled_reason = "", ""
    seen, page = state.observation, state.capture
    marks = marks_of(action, seen)
    label = label_of(state.observation, action)
    before = world.tabs.mark()
    world.touches.touch()
    clock = state.clock.now
    try:
        located = await _carried_out(world, action, marks)
    except (ActionError, BrowserError) as error:
        problem = str(error)
    if located is not None and located.action is not None:
        known = marks_of(located.action, seen)
        if known or not isinstance(action, ClickAt):  # A pixel stays one if nothing of the page is there.
            action, marks = located.action, known
    # What failed is done again as well: it may have had a part of its effect.
    done = RecordedInput(step=state.number, action=action, marks=marks, failed=bool(problem))
    state.inputs.append(done)
    times["act"] = _lap(state, clock)
    clock = state.clock.now
    ahead = world.read_ahead(before, None if state.stale else state.capture)
    try:
        settled = await world.tabs.settle(before)
        settled_reason = settled.reason
    except (PageGone, BrowserError, ActionError) as error:
        problem = problem or str(error)
    times["settle"] = _lap(state, clock)
    clock = state.clock.now
    differs = ""
    try:
        state.capture, ended, differs = await asyncio.gather(
            world.read(ahead), world.episode_ended(), world.actor.difference(located)
        )
        state.stale = False
    except (PageGone, BrowserError) as error:
        # What was done stays done: the next step reads the page, and fails if it still cannot be read.
        state.stale = True
        ended = await world.episode_ended()
        problem = problem or str(error) or "The page went away before it could be read."
    times["observe"] = _lap(state, clock)
    events = world.tabs.browser.take_events()
    event_texts = [event.text for event in events if event.text not in problem]
    # A page whose script had to be ended has taken the input all the same; the message says what became of it.
    crashed = any(event.kind == "crash" for event in events)
    idle = "" if problem or events or ended else _nothing_happened(state, world, before, page)
    message = " ".join(
        part for part in [problem, located.note if located else "", differs, *event_texts, idle] if part
    )
    message = world.capturer.secrets.text(message)
    outcome: Literal["done", "failed"] = "failed" if problem or crashed else "done"
    primitive = Primitive(
        action=action,
        outcome=outcome,
        message=message,
        box=_box_in_picture(located, seen),
        target=label or (located.label if located else ""),
        xpath=located.xpath if located else "",
    )
    after = "" if located is None or state.stale else _after(located.ref, seen, state.observation)
    return _Done(primitive, located, settled_reason, events, times, done, after, ended)


async def _carried_out(world: World, action: Action, marks: Marks) -> Located | None:
    """Carry out an action; where the page has replaced its element since it was read, on the one that is there now.

    Raises ActionError and BrowserError, even if it is not certain which one that is.
    """
    try:
        return await world.actor.act(action)
    except ElementGone as gone:
        try:
            again, _ = await retarget(action, marks, (await world.read()).observation)
        except (PageGone, RestoreError):
            raise gone from None
        located = await world.actor.act(again)
        assert located is not None
        return located.replace(
            note=f"{located.label} was replaced after the page was read. {located.note}".strip()
        )


def _nothing_happened(state: RunState, world: World, since: SettleMark, before: Capture | None) -> str:
    """Return a sentence where an action certainly had no effect that could be seen, and asked for nothing."""
    now = state.capture
    if state.stale or now is None or before is None or world.tabs.mark() != since:
        return ""
    same = now.observation == before.observation and now.html == before.html
    hidden = any(one.tag in _PAINTED and one.in_viewport for one in now.observation.elements)
    return "Nothing in the page changed." if same and not hidden else ""


def _after(ref: Ref, seen: Observation, now: Observation) -> str:
    """Return what an element has become, if it is still there and not as it was."""
    before, after = seen.element(ref), now.element(ref)
    if before is None or after is None or seen.document != now.document:
        return ""
    words = describe_filled(after)
    if called(before) != called(after):
        return f"{called(before)}, now {words}"
    return words if words != describe_filled(before) else ""


def _box_in_picture(located: Located | None, seen: Observation) -> Box | None:
    """Return where the element is in the picture that was taken before: it may have been scrolled to since."""
    if located is None or not located.scrolled:
        return located.box if located else None
    element = seen.element(located.ref)
    return element.box if element is not None else None


def _acted(state: RunState, world: World, done: list[_Done], *, message: str = "") -> Acted:
    """Return the record of these actions: where the first one was, how the last one ended."""
    first, last = done[0].primitive, done[-1]
    sent = world.tabs.browser.take_sent()
    state.sent += [SentAt(step=state.number, sent=one) for one in sent]
    times: dict[str, float] = {}
    for one in done:
        for part, milliseconds in one.milliseconds.items():
            times[part] = round(times.get(part, 0.0) + milliseconds, 2)
    return Acted(
        effect="page action",
        outcome=last.primitive.outcome if last.primitive.outcome == "failed" else "done",
        message=message or " ".join(one.primitive.message for one in done if one.primitive.message),
        box=first.box,
        target=first.target,
        after=done[0].after,
        xpath=first.xpath,
        settled=last.settled,
        events=tuple(event for one in done for event in one.events),
        milliseconds=times,
        episode_ended=last.ended,
        sent=sent,
        inputs=tuple(one.input for one in done),
    )


# Actions of a state


async def _macro(state: RunState, world: World, action: Named, allowed: PermissibleAction) -> Acted:
    """Do the steps of a state's action one after the other, up to the first that fails: one transition."""
    assert state.space_state is not None
    space, here = state.space_state
    arguments = allowed.arguments(action)
    if action.name == CHOOSE:
        return await _choose(state, world, arguments["candidate"])
    own = here.action_named(action.name)
    if own is None:
        return Acted(
            effect="none", outcome="failed", message=f"{space.title} no longer has the action {action.name}."
        )
    state.totals.page_actions += 1
    url, title = state.observation.url, state.observation.title
    steps = macro_steps(own, arguments, state.observation)
    done, primitives, problem = await _steps(state, world, own, arguments, steps)
    whole = not problem and all(primitive.outcome != "failed" for primitive in primitives)
    if whole:
        state.memory = memory_after(
            state.memory,
            own,
            arguments,
            here,
            step=state.number,
            thought=state.pending.thought,
            url=url,
            title=title,
        )
    if not done:
        outcome: Literal["done", "failed"] = "failed" if problem else "done"
        return Acted(effect="none", outcome=outcome, message=problem, primitives=tuple(primitives))
    if not whole and len(steps) > 1:
        failed = problem or primitives[-1].message
        problem = f"Step {len(primitives) + bool(problem)} of {len(steps)} of {action.name} failed: {failed}"
    acted = _acted(state, world, done, message=problem)
    return acted.replace(primitives=tuple(primitives), outcome="failed" if problem else acted.outcome)


async def _steps(
    state: RunState,
    world: World,
    own: SpaceAction,
    arguments: dict[str, str],
    steps: tuple[MacroStep, ...],
) -> tuple[list[_Done], list[Primitive], str]:
    """Return what was carried out, each step as it went, and why the next one could not be filled in."""
    done: list[_Done] = []
    primitives: list[Primitive] = []
    for step in steps:
        try:
            action = fill(step, own, arguments, state.observation)
        except ActionError as error:
            return done, primitives, str(error)
        if action is None:
            continue  # It is chosen already.
        one = await _primitive(state, world, action)
        done.append(one)
        primitives.append(one.primitive)
        if one.primitive.outcome == "failed":
            break
    return done, primitives, ""


async def _choose(state: RunState, world: World, candidate: str) -> Acted:
    """Go back to the candidate chosen from the buffer; one that is in view is stayed at.

    Where that fails nothing is chosen yet: the next step chooses again.
    """
    assert state.space_state is not None
    space, here = state.space_state
    entries = candidates_of(here, state.memory, state.observation)
    entry = next((one for one in entries if one.candidate == candidate), None)
    if entry is None:
        return Acted(
            effect="none",
            outcome="failed",
            message=f"{candidate} is not one of the candidates that were looked at.",
        )
    assert space.backup is not None
    try:
        back = way_back(space.backup, entry)
    except ActionError as error:
        return Acted(effect="none", outcome="failed", message=str(error))
    chosen = state.memory.replace(chosen=candidate).moved(step=state.number, source=here.name, action=CHOOSE)
    if here.candidate and state.memory.remembered.get(here.candidate) == candidate:
        state.memory = chosen
        return Acted(effect="none", outcome="done", message=f"{candidate} is already in view.")
    state.totals.page_actions += 1
    done = await _primitive(state, world, back)
    if done.primitive.outcome != "failed":
        remember = next((one.candidate for one in space.state if one.candidate), "")
        state.memory = chosen.knowing(remember, candidate)
    acted = _acted(state, world, [done])
    return acted.replace(primitives=(done.primitive,))


def _lap(state: RunState, since: float) -> float:
    return round((state.clock.now - since) * 1000, 2)
