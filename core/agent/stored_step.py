"""Asks a stored step again: with the agent as it was, and the prompt that other files would make.

It uses the recorded page, so it needs no browser. It stores nothing and asks no LLM.
"""

from core.agent.decision import Decider
from core.agent.llm_calls import Asker
from core.agent.phases.recognise import recognise_page
from core.agent.presets import Preset
from core.agent.prompt_builder import Prompter
from core.agent.resources import AgentResources
from core.agent.run_history import RunHistory, put_back
from core.agent.state import Budget, RunState
from core.schema.errors import TraceError
from core.schema.messages import Message
from core.schema.observation import Capture
from core.schema.record import Record
from core.schema.step import Abstracted, Decided, Observed, Recalled, Recognised, record_of
from core.schema.task import Episode, Task
from core.trace.records import RunRow
from core.trace.store import TraceStore


class StoredPrompt(Record):
    """The prompt of an agent at a stored step."""

    state: str
    """The state that the page would be in."""
    why: str
    actions: tuple[str, ...]
    """The names of what would be permissible."""
    messages: tuple[Message, ...]


def prompt_at(
    store: TraceStore,
    row: RunRow,
    step: int,
    task: Task,
    *,
    preset: Preset,
    resources: AgentResources,
    asker: Asker,
    without: str = "",
) -> StoredPrompt:
    """Return what would be asked at a step of a run by this preset and these files, `without` an exemplar.

    Raises TraceError if the step was not kept well enough, and DataError and
    UsageError where a file is wrong or gone.
    """
    history = RunHistory(store, row.run)
    records = history.records(step)
    before = record_of(Recognised, records)
    abstracted = record_of(Abstracted, records)
    if before is None or abstracted is None:
        raise TraceError(f"Step {step} of run {row.run} has no prompt; choose an earlier step.")
    state = _state_at(store, row, step, task, asker.settled(preset), history)
    state.clean, state.abstracted = abstracted.clean, abstracted
    if state.reflection.plan is None and (decided := record_of(Decided, records)) is not None:
        state.reflection.plan = decided.reflection.plan if decided.reflection is not None else None
    prompter = Prompter(resources, asker)
    recognised = recognise_page(
        state,
        resources,
        # How many there were is not recorded, but whether one could go there is.
        back=int(before.permissible.action("go_back") is not None),
        forward=int(before.permissible.action("go_forward") is not None),
        pictures=prompter.shows_pictures(state),
    )
    if state.recalled is None and (recalled := history.recalled(step)) is not None:
        state.recalled_by_frame[state.frame] = recalled
    if without and state.recalled is not None:
        state.recalled_by_frame[state.frame] = _without(state.recalled, without)
    return StoredPrompt(
        state=recognised.state,
        why=recognised.why,
        actions=tuple(action.name for action in recognised.permissible.actions),
        messages=Decider(prompter).messages(state),
    )


def _without(recalled: Recalled, exemplar: str) -> Recalled:
    if recalled.recall is None:
        return recalled
    used = tuple(one for one in recalled.recall.used if one.id != exemplar)
    return recalled.replace(recall=recalled.recall.replace(used=used))


def _state_at(
    store: TraceStore, row: RunRow, step: int, task: Task, preset: Preset, history: RunHistory
) -> RunState:
    """Return the agent as the step found it, before its recorded page."""
    saved = history.agent(step)
    episode = Episode(task=task, seed=row.seed, instruction=row.instruction, start_url=row.start_url)
    state = RunState(run=row.run, episode=episode, preset=preset, llm=row.llm, budget=Budget())
    put_back(saved, state)
    for frame, recalled_at in saved.recalled_at.items():
        if (recalled := history.recalled(recalled_at)) is not None:
            state.recalled_by_frame[frame] = recalled
    observed = record_of(Observed, history.records(step))
    assert observed is not None  # It was recognised.
    state.capture = state.before = Capture(
        observation=observed.observation,
        html=store.blob(observed.html).decode(errors="replace") if observed.html else "",
        screenshot=store.blob(observed.screenshot) if observed.screenshot else b"",
    )
    return state
