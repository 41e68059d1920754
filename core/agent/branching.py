"""Goes back to a step on a new branch: restores the page, and the agent as it was at that step.

A branch is a separate run that begins with that step. The earlier steps stay in the old run, which does not change.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import urlsplit

from core.agent.going_back import restore_context_of, untaken
from core.agent.llm_calls import Answerer, Asked, Asker
from core.agent.loop import AgentRun, MakeRun
from core.agent.presets import AMOUNTS, ATTACHED, Mechanism, Preset, bounds
from core.agent.prompt_builder import Prompter
from core.agent.resources import AgentResources
from core.agent.run_history import RunHistory, SavedAgent, put_back
from core.agent.state import Budget, RunState
from core.agent.world import World
from core.browser.channel import PageGone
from core.browser.checkpoints.checkpoint import Checkpoint, Strategy
from core.browser.checkpoints.comparison import load_volatile
from core.browser.checkpoints.restoring import restore
from core.browser.driver import TabDriver
from core.browser.recorded.offline_replay import Seal
from core.schema.changes import OWN, Changes, Difference, memory_in_words, named, pages_in_words
from core.schema.errors import BrowserError, UsageError
from core.schema.record import Record
from core.schema.restore import Restored, SentAt
from core.schema.step import Acted, record_of
from core.schema.task import Episode, Task, Verdict
from core.settings.user_file import near
from core.trace.records import CaseAttempt, RunRow, RunStart
from core.trace.store import TraceStore

Kept = TypeVar("Kept", bound=Record)


@dataclass
class RunSetup:
    """How a branch continues, and who is notified of it."""

    preset: Preset
    llm: Answerer
    resources: AgentResources
    browser: str
    budget: Budget | None = None
    """None for the limits that the agent had."""
    changes: Changes = field(default_factory=Changes)
    """What was asked of the branch; preset, LLM and resources are made of it already."""
    fresh: bool = False
    """Whether the task was just started again for this, by `reopen_task`."""
    may_repeat: bool = False
    """Whether repeating the actions may repeat something that cannot be undone."""
    attempt: CaseAttempt | None = None
    """Which run of an evaluation the branch is."""
    on_asked: Callable[[Asked], None] = lambda asked: None
    on_attempt: Callable[[str], None] = lambda strategy: None
    """Called with the name of each way back that is tried."""
    strategies: Sequence[Strategy] | None = None
    """The ways back to try; None for all that fit."""
    make: MakeRun | None = None
    """Makes the run that goes on, an `AgentRun` without it."""


async def reopen_task(store: TraceStore, world: World, task: Task, row: RunRow, *, offline: bool) -> Episode:
    """Begin the task of a stored run again, to go back to a step of it from there.

    With `offline`, its pages get the recorded answers of servers and reach none; pages of bundled sites do
    not need this. Raises as `open_run` does, and UsageError if no answers were recorded.
    """
    task = await world.declare_secrets(task, store.secrets)
    await world.tabs.open_up()
    world.begin(task)
    if offline and world.keeper is None and not task.seeded:
        world.tabs.close_off(_seal_of(store, row))
    world.capturer.hidden = world.environment.hidden_selectors
    try:
        world.follow_network(task)
        await world.tabs.open_profile(row.profile, RunHistory(store, row.run).viewport)
        world.tabs.browser.take_events()
        world.touches.touch()
        episode = await world.environment.open(task, row.seed, TabDriver(world.tabs))
        world.note_told(episode)
        return episode
    except PageGone as error:
        raise BrowserError(
            f"The page of {task.id} went away while it was being opened; try again."
        ) from error


def _seal_of(store: TraceStore, row: RunRow) -> Seal:
    recorded = store.pages.network(row.run)
    if not recorded:
        raise UsageError(
            f"The answers of servers were not recorded in run {row.run}, so it cannot continue offline. "
            f"With live pages (--live), it begins at {row.start_url}."
        )
    return Seal(recorded, store.blob, stable=load_volatile().url)


def stays_done_since(
    store: TraceStore, world: World, run: int, step: int, current: AgentRun | None = None
) -> tuple[SentAt, ...]:
    """Return what was sent from a step of a run on that going back to it does not undo.

    Counted are the steps of the run that has it, and those of all branches made at that step or later; of the
    `current` one also what its pages have sent that no step has yet.
    """
    return tuple(_sent_since(store, world, store.owner_of(run, step), step, current))


def _sent_since(
    store: TraceStore, world: World, run: int, step: int, current: AgentRun | None
) -> Iterator[SentAt]:
    row, steps = store.run(run), store.own_steps(run)
    if steps and not row.offline:  # Offline nothing has left.
        last = steps[-1].number
        acted = record_of(Acted, store.step(run, last).records)
        of_last = () if acted is None else (SentAt(step=last, sent=one) for one in acted.sent)
        # The agent carries what was sent before its last step; that step has its own.
        sent = (*RunHistory(store, run).agent(last).sent, *of_last)
        if current is not None and current.state.run == run:
            sent += untaken(current.state, current.world)
        yield from world.irreversible(sent, step, row.start_url)
    for branch, left_at in store.branches(run):
        if left_at >= step:
            yield from _sent_since(store, world, branch, left_at, current)


async def open_branch(
    store: TraceStore, world: World, episode: Episode, *, run: int, step: int, setup: RunSetup
) -> tuple[AgentRun, Restored]:
    """Go back to a step of a run and begin a branch there; the browser is in `episode`, of the same task and seed.

    The grade says how well the page was restored. Raises TraceError, with nothing done, if the stored step is
    not complete enough. Raises BrowserError if the browser has ended, and LLMError if the LLM could not
    choose an element; the branch then ends with an error.
    """
    row = store.run(run)
    owner, history = store.owner_of(run, step), RunHistory(store, run)
    saved, checkpoint = _kept_at(store, row, episode, step, setup)
    branch = store.begin_run(
        RunStart(
            task=row.task,
            environment=row.environment,
            seed=row.seed,
            instruction=row.instruction,
            start_url=row.start_url if row.environment == "web" else episode.start_url,
            preset=setup.preset.name,
            preset_text=setup.preset.text,
            own_files=setup.resources.own_texts(),
            llm=setup.llm.name,
            browser=setup.browser,
            profile=row.profile,
            viewport=RunHistory(store, row.run).viewport,
            parent_run=owner,
            parent_step=step,
            offline=world.tabs.closed_off,
            changes=setup.changes,
            differences=differences(store, world, row, saved, setup),
            attempt=setup.attempt,
        )
    )
    state = _begun_anew(saved, branch, step, episode, history, setup)
    prompter = _prompter(store, setup)
    try:
        restored = await _bring_back(store, world, state, prompter, checkpoint, setup, left=run)
        if restored.parted is not None and restored.parted.step < step:
            at = restored.parted.step
            store.move_branch(branch, store.owner_of(run, at), at)
            saved, checkpoint = _kept_at(store, row, episode, at, setup)
            state = _begun_anew(saved, branch, at, episode, history, setup)
        return await _gone_on(store, world, state, prompter, checkpoint, setup, restored), restored
    except BaseException as error:
        why = str(error) or "Going back was stopped."
        store.end_run(branch, outcome="error", verdict=Verdict(), error=why, seconds=0.0, seconds_in_llm=0.0)
        raise


def _kept_at(
    store: TraceStore, row: RunRow, episode: Episode, step: int, setup: RunSetup
) -> tuple[SavedAgent, Checkpoint]:
    """Return the agent and the page of a step of a run as they are to be brought back; raises TraceError."""
    history = RunHistory(store, row.run)
    saved, checkpoint = history.agent(step), history.checkpoint(step)
    if setup.make is None and store.run(store.owner_of(row.run, step)).preset == ATTACHED.name:
        saved = saved.without_told()
    return _moved(saved, row, episode), _moved(checkpoint, row, episode)


def _begun_anew(
    saved: SavedAgent, branch: int, step: int, episode: Episode, history: RunHistory, setup: RunSetup
) -> RunState:
    """Return the agent as a step found it, in a branch that goes on as its setup says."""
    state = _state_of(saved, branch, episode, history, setup)
    state.sent = [one for one in state.sent if one.step < step]  # What came later is the run's that is left.
    for name, value in setup.changes.amounts.items():
        mechanism = mechanism_of(name)
        least, most = bounds(mechanism)
        state.amounts[mechanism] = min(max(value, least), most)
    if _recalls_anew(setup.changes):
        state.recalled_by_frame.clear()
        state.recalled_at.clear()
    return state


def differences(
    store: TraceStore, world: World, row: RunRow, saved: SavedAgent, setup: RunSetup
) -> tuple[Difference, ...]:
    """Return how a branch with this setup differs from the run that it leaves."""
    changes, earlier = setup.changes, store.changes(row.run)
    found: list[Difference] = []
    if setup.preset.name != row.preset:
        found.append(Difference(what="preset", before=row.preset, after=setup.preset.name))
    if setup.llm.name != row.llm:
        found.append(Difference(what="LLM", before=row.llm, after=setup.llm.name))
    if world.tabs.closed_off != row.offline:
        was, now = (pages_in_words(offline) for offline in (row.offline, not row.offline))
        found.append(Difference(what="pages", before=was, after=now))
    for what, before, after in (
        ("policies", earlier.policies, changes.policies),
        ("exemplars", earlier.exemplars, changes.exemplars),
    ):
        if after is not None and after != (before or OWN):
            found.append(
                Difference.model_validate({"what": what, "before": named(before), "after": named(after)})
            )
    altered = memory_in_words(earlier)
    found += [
        Difference(what="exemplars", after=words)
        for words in memory_in_words(changes)
        if words not in altered
    ]
    found += [
        Difference(what="policy", after=id)
        for id, text in changes.policy_texts.items()
        if earlier.policy_texts.get(id) != text
    ]
    for name, value in changes.amounts.items():
        mechanism = mechanism_of(name)
        same = setup.preset.name == row.preset
        had = saved.amounts.get(mechanism, setup.preset.amount(mechanism) if same else None)
        if value != had:
            label = f"{name} {AMOUNTS[mechanism][1]}"
            was = "" if had is None else str(had)
            found.append(Difference(what="amount", before=was, after=f"{label} {value}"))
    return tuple(found)


def mechanism_of(name: str) -> Mechanism:
    """Return the mechanism of that name that has a number; raises UsageError with the nearest name."""
    for mechanism in AMOUNTS:
        if mechanism == name:
            return mechanism
    raise UsageError(f'"{name}" is not a number that can be set; {near(name, tuple(AMOUNTS))}')


def _recalls_anew(changes: Changes) -> bool:
    """Return whether exemplars that were recalled before are not those that hold on the branch."""
    other = changes.exemplars is not None or bool(memory_in_words(changes))
    return other or "memory" in changes.amounts or bool(changes.preset)


async def take_up(
    store: TraceStore, world: World, episode: Episode, *, run: int, setup: RunSetup
) -> tuple[AgentRun, Restored]:
    """Continue with a run that was left: its last step, which was never finished, begins again.

    Raises as `open_branch` does, with the run as it was left.
    """
    row = store.run(run)
    step, history = store.own_steps(run)[-1].number, RunHistory(store, run)
    saved, checkpoint = _kept_at(store, row, episode, step, setup)
    state = _state_of(saved, run, episode, history, setup)
    # Calls of the step that begins again were made, and are kept.
    state.totals.llm_calls = max((call.number for call in store.calls.of(run)), default=0)
    prompter = _prompter(store, setup)
    restored = await _bring_back(store, world, state, prompter, checkpoint, setup, left=run)
    found = await _gone_on(store, world, state, prompter, checkpoint, setup, restored, begun=step)
    store.take_up_run(run)
    return found, restored


def _prompter(store: TraceStore, setup: RunSetup) -> Prompter:
    return Prompter(setup.resources, Asker(store, setup.llm, setup.on_asked))


def _state_of(
    saved: SavedAgent, run: int, episode: Episode, history: RunHistory, setup: RunSetup
) -> RunState:
    """Return the agent as it was, in `run`."""
    state = RunState(run=run, episode=episode, preset=setup.preset, llm=setup.llm.name, budget=Budget())
    put_back(saved, state)
    state.viewport = history.viewport
    if setup.budget is not None:
        state.budget = setup.budget
    for frame, step in saved.recalled_at.items():
        recalled = history.recalled(step)
        if recalled is not None:
            state.recalled_by_frame[frame] = recalled
    return state


async def _bring_back(
    store: TraceStore,
    world: World,
    state: RunState,
    prompter: Prompter,
    checkpoint: Checkpoint,
    setup: RunSetup,
    *,
    left: int,
) -> Restored:
    """Bring the page of a step of the run `left` back, and return how well that went."""
    ground = restore_context_of(
        state,
        world,
        prompter,
        RunHistory(store, state.run),
        sent=() if world.tabs.closed_off else stays_done_since(store, world, left, checkpoint.step),
        may_repeat=setup.may_repeat,
    )
    ground.fresh = setup.fresh
    ground.recorded_picture = RunHistory(store, left).picture
    ground.other_engine = (store.run(left).browser == "embedded") != (setup.browser == "embedded")
    sent = list(state.sent)
    with world.tabs.border.lifted():
        restored = await restore(checkpoint, ground, strategies=setup.strategies, on_attempt=setup.on_attempt)
    world.tabs.browser.take_events()
    world.tabs.browser.take_sent()  # On the way to the step, and not since.
    state.sent = sent
    world.tabs.network.drop()
    return restored


async def _gone_on(
    store: TraceStore,
    world: World,
    state: RunState,
    prompter: Prompter,
    checkpoint: Checkpoint,
    setup: RunSetup,
    restored: Restored,
    *,
    begun: int = 0,
) -> AgentRun:
    """Store how well a page was brought back, and return the run that goes on in it."""
    try:
        state.capture = await world.read()
    except PageGone as error:
        raise BrowserError("The page went away while it was being restored; try again.") from error
    world.bound(state.episode, state.allowed)
    state.inputs = list(checkpoint.inputs)
    state.sent_before = list(dict.fromkeys((*state.sent_before, *restored.sent)))
    store.pages.save_restored(state.run, restored)
    if setup.make is not None:
        return setup.make(store, world, prompter, state)
    return AgentRun(store, world, prompter, state, begun=begun)


def _moved(kept: Kept, row: RunRow, episode: Episode) -> Kept:
    """Return it with the present addresses of a bundled site that is now served on another port."""
    then, now = urlsplit(row.start_url).netloc, urlsplit(episode.start_url).netloc
    if then == now or not then.startswith("127.0.0.1:") or not now.startswith("127.0.0.1:"):
        return kept
    return type(kept).model_validate_json(kept.model_dump_json().replace(then, now))
