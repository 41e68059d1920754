"""Scheduled steps: going back to a step, a remedy, a new trial, or the answer; and the browser for them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from core.agent.policies.stack import Stack
from core.agent.prompt_builder import Prompter
from core.agent.reflection.consequences import reflection_record
from core.agent.reflection.judgement_replies import read_place
from core.agent.reflection.plan import final_answer, review_trial
from core.agent.reflection.remedies import RemedyEntry
from core.agent.run_history import RunHistory
from core.agent.state import RunState
from core.agent.world import World
from core.browser.capturer import Capturer
from core.browser.channel import PageGone
from core.browser.checkpoints.checkpoint import RestoreContext, RestoreError
from core.browser.checkpoints.comparison import load_volatile
from core.browser.checkpoints.page_state import TabHistory
from core.browser.checkpoints.restoring import restore
from core.browser.checkpoints.strategies import retarget
from core.browser.driver import TabDriver
from core.schema.action import Action, Backtrack, NewTrial, Stop
from core.schema.element_identity import FoundAgain
from core.schema.errors import ActionError, BackstepError, BrowserError
from core.schema.messages import Message
from core.schema.observation import Element, Observation
from core.schema.progress import FailedTrial, SpaceMemory
from core.schema.restore import SentAt
from core.schema.step import Acted, Decided, Proposal, Scheduled

_NOT_STARTED = "The task could not be started again"


class ScheduledSteps:
    """Makes the step's proposal from the schedule."""

    def __init__(self, prompter: Prompter) -> None:
        self._prompter = prompter

    async def decide(self, state: RunState, scheduled: Scheduled) -> Decided:
        """Return the proposal of a scheduled step; raises LLMError and DataError."""
        proposal, calls = await self._proposal(state, scheduled)
        state.reflection.scheduled = None
        state.reflection.doing = scheduled
        return Decided(
            proposal=proposal, calls=calls, scheduled=scheduled, reflection=reflection_record(state)
        )

    async def _proposal(self, state: RunState, scheduled: Scheduled) -> tuple[Proposal, tuple[int, ...]]:
        if scheduled.kind == "new trial":
            lesson, calls = await review_trial(state, self._prompter)
            state.reflection.experience += [lesson] if lesson else []
            return Proposal(action=NewTrial(), thought=f"{scheduled.why} {lesson}".rstrip()), calls
        if scheduled.kind == "answer":
            answer, calls = await final_answer(state, self._prompter)
            return Proposal(action=Stop(answer=answer), thought=scheduled.why), calls
        entry = entry_of(state, scheduled)
        if scheduled.kind == "go back":
            return Proposal(action=Backtrack(step=entry.step), thought=scheduled.why), ()
        return await self._remedy(state, entry)

    async def _remedy(self, state: RunState, entry: RemedyEntry) -> tuple[Proposal, tuple[int, ...]]:
        calls: list[int] = []

        async def choose(element: Element, found: FoundAgain, now: Observation) -> Element | None:
            return await choose_element(state, self._prompter, element, found, calls)

        action: Action | None = None
        problem, thought = "", entry.reason
        try:
            action, remark = await retarget(entry.action, entry.marks, state.observation, choose)
            thought = " ".join(part for part in (thought, remark) if part)
            problem = state.permissible.problem(action) or ""
        except RestoreError as error:
            problem = str(error)
        if problem:
            return Proposal(thought=thought, problem=f"The remedy cannot be tried: {problem}"), tuple(calls)
        return Proposal(action=action, thought=thought), tuple(calls)


def entry_of(state: RunState, scheduled: Scheduled) -> RemedyEntry:
    return next(entry for entry in state.reflection.remedies.entries if entry.number == scheduled.entry)


async def choose_element(
    state: RunState, prompter: Prompter, element: Element, found: FoundAgain, calls: list[int]
) -> Element | None:
    """Ask which of the candidates the element is; None for none of them, or where no call is left."""
    if prompter.out_of_calls(state):
        return None
    candidates = tuple(candidate.line() for candidate in found.candidates)
    text = prompter.render(
        state, state.preset.prompts.choose, wanted=element.line(), candidates=candidates, result=found.why
    )
    request = prompter.request(
        state,
        "choose",
        (Message(role="user", text=text),),
        wanted=element.line(),
        candidates=candidates,
        result=found.why,
    )
    reply, number = await prompter.ask(state, request)
    calls.append(number)
    place = read_place(reply.text)
    return found.candidates[place - 1] if 1 <= place <= len(found.candidates) else None


# The browser


def stays_done(state: RunState, world: World, step: int) -> tuple[SentAt, ...]:
    """Return what the run has sent from a step on that going back does not undo; offline nothing has left."""
    if world.tabs.closed_off:
        return ()
    return world.irreversible((*state.sent, *untaken(state, world)), step, state.episode.start_url)


def untaken(state: RunState, world: World) -> tuple[SentAt, ...]:
    """Return what pages have sent by themselves: it belongs to the next action, which has not come yet."""
    return tuple(SentAt(step=state.number, sent=one) for one in world.tabs.browser.untaken_sent)


@contextmanager
def _as_action_error(what: str) -> Iterator[None]:
    """Turn an error into an ActionError that says what could not be done, except that the browser has ended."""
    try:
        yield
    except BrowserError:
        raise
    except BackstepError as error:
        raise ActionError(f"{what}: {error}") from error


async def reopen(state: RunState, world: World) -> None:
    """Start the task again: in a clean profile, or in the named one that the run has."""
    world.follow_network(state.episode.task)
    state.sent += untaken(state, world)  # The tabs that have sent it are closed.
    await world.tabs.open_profile(state.profile, state.viewport)
    state.episode = await world.environment.open(
        state.episode.task, state.episode.seed, TabDriver(world.tabs)
    )
    world.touches.touch()
    world.tabs.browser.take_events()


def restore_context_of(
    state: RunState,
    world: World,
    prompter: Prompter,
    run_history: RunHistory,
    *,
    sent: tuple[SentAt, ...],
    may_repeat: bool,
) -> RestoreContext:
    """Return the restore context.

    `sent` is what was sent since the step and is not undone. `may_repeat` allows inputs that repeat something
    that cannot be undone.
    """
    keeps = world.keeper
    # Nobody looks at a picture of a page that is only compared.
    plain = Capturer(hidden=world.capturer.hidden, pictures=False)
    reading = replace(world, capturer=plain)

    async def read() -> Observation:
        try:
            return (await reading.read()).observation
        except BrowserError as error:
            raise ActionError(str(error)) from error

    async def begin_anew() -> None:
        with _as_action_error(_NOT_STARTED):
            await reopen(state, world)

    async def begin_here() -> None:
        with _as_action_error(_NOT_STARTED):
            history = await TabHistory.read(world.tabs.current)
            await history.go_to_first(world.tabs)
            state.episode = await world.environment.open(
                state.episode.task, state.episode.seed, TabDriver(world.tabs)
            )

    async def put_back(snapshot: str) -> None:
        assert keeps is not None
        with _as_action_error("The site's state could not be restored"):
            state.episode = await keeps.restore(state.episode, TabDriver(world.tabs), snapshot)

    async def choose(element: Element, found: FoundAgain, now: Observation) -> Element | None:
        return await choose_element(state, prompter, element, found, [])

    return RestoreContext(
        tabs=world.tabs,
        actor=world.actor,
        read=read,
        reopen=begin_anew,
        put_server_back=put_back if keeps is not None else None,
        server_state=(lambda: keeps.snapshot(state.episode)) if keeps is not None else None,
        page_state=lambda: world.page_state(state.episode),
        touched=lambda: world.touches.last,
        touch=world.touches.touch,
        # What a seed decides repeats itself, harms nobody, and is made and kept by the page's scripts.
        begin_here=begin_here if state.episode.task.seeded else None,
        clean=state.profile is None,
        sent=sent,
        repeats=lambda inputs: "" if may_repeat else world.repeated(inputs, state.sent, state.episode),
        own_cookies=keeps.session_cookies if keeps is not None else (),
        choose=choose,
        volatile=load_volatile(),
        body=run_history.body,
        recorded_picture=run_history.picture,
    )


# act


async def go_back(
    state: RunState, world: World, prompter: Prompter, scheduled: Scheduled, history: RunHistory
) -> Acted:
    """Restore page and agent to where the remedy starts; the grade is the outcome.

    Policy stack, subtask and buffer are those of the entry. History, tried actions, notes and budgets
    continue. If the page is lost, or no longer has an element that could be the remedy's, the remedy is
    dropped. Raises BrowserError if the browser has ended.
    """
    entry = entry_of(state, scheduled)
    checkpoint = history.checkpoint(entry.step)
    ground = restore_context_of(
        state,
        world,
        prompter,
        history,
        sent=(*state.sent_before, *stays_done(state, world, entry.step)),
        may_repeat=state.remedy_settings.effects == "allow",
    )
    ground.live = True
    with world.tabs.border.lifted():
        restored = await restore(checkpoint, ground)
    world.tabs.browser.take_events()
    world.tabs.network.drop()
    state.capture = await world.read()
    state.stale = False
    state.inputs = list(checkpoint.inputs)
    lost = f"The page of step {entry.step} could not be restored." if restored.grade == "lost" else ""
    if gone := lost or await _gone(entry, state.observation):
        state.reflection.remedies = state.reflection.remedies.dropped(entry.number, gone)
        message = f"{restored.sentence} {gone}"
        return Acted(effect="go back", outcome="failed", message=message, restored=restored)
    if entry.stack is not None and state.stack.top is not None:
        state.stack = state.stack.back_to(entry.stack, step=state.number)
    state.memory = entry.memory
    plan = state.reflection.plan
    if plan is not None and entry.subtask is not None and entry.trial == state.trial:
        state.reflection.plan = plan.with_current(entry.subtask)
    state.reflection.scheduled = Scheduled(kind="remedy", entry=entry.number, why=scheduled.why)
    return Acted(effect="go back", outcome="done", message=restored.sentence, restored=restored)


async def _gone(entry: RemedyEntry, now: Observation) -> str:
    """Return which element of a remedy the page no longer has, in a sentence; what could be it is chosen later."""

    async def likeliest(element: Element, found: FoundAgain, now: Observation) -> Element | None:
        return found.candidates[0]

    try:
        await retarget(entry.action, entry.marks, now, likeliest)
    except RestoreError as error:
        return str(error)
    return ""


async def new_trial(state: RunState, world: World) -> Acted:
    """Start the task again, in a clean profile unless the run has a named one.

    Raises BrowserError if the browser has ended.
    """
    try:
        with _as_action_error(_NOT_STARTED):
            await reopen(state, world)
            state.capture = await world.read()
    except (ActionError, PageGone) as error:
        gone = f"{_NOT_STARTED}: The page went away meanwhile."
        return Acted(effect="go back", outcome="failed", message=str(error) or gone)
    state.stale = False
    reflection = state.reflection
    reflection.remedies = reflection.remedies.cleared(f"Trial {state.trial} has ended.")
    reflection.failed = FailedTrial(plan=reflection.plan, history=tuple(state.history))
    reflection.plan = None
    reflection.tried.clear()
    reflection.refused_on = ""
    state.inputs = []
    state.loaded_at.clear()
    reflection.trial_began = state.totals.page_actions
    reflection.trial_step = state.number + 1
    reflection.calls_before_trial = state.totals.llm_calls
    state.stack = state.stack.left(step=state.number) if state.stack.top is not None else Stack()
    state.memory = SpaceMemory()
    state.history.clear()
    state.trail.clear()
    state.queue.clear()
    return Acted(effect="go back", outcome="done", message="The task was started again.")
