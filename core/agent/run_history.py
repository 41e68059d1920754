"""The agent's state at the beginning of each step, and the earlier steps of a run.

Data that the trace already has is not stored twice: pages, actions and recalled exemplars are read from their
steps.
"""

from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from core.agent.policies.stack import Stack
from core.agent.presets import Mechanism
from core.agent.reflection.remedies import RemedyStack
from core.agent.state import Budget, Reflection, RunState, Shortened, Totals, TrailStep
from core.browser.checkpoints.checkpoint import Checkpoint
from core.browser.checkpoints.page_state import PageState
from core.browser.recorded.exchange import Exchange
from core.llm.repair import ReplyFormat
from core.schema.action import Action
from core.schema.element_identity import RecordedInput
from core.schema.errors import TraceError
from core.schema.messages import Turn
from core.schema.observation import Observation
from core.schema.progress import FailedTrial, Plan, SpaceMemory
from core.schema.record import Record
from core.schema.restore import SentAt
from core.schema.step import Acted, BlobHash, Observed, PhaseRecord, Recalled, Scheduled, record_of
from core.schema.viewport import VIEWPORT
from core.trace.store import TraceStore


class SavedAgent(Record):
    """Everything an agent carries from one step to the next."""

    number: int
    trial: int = 1
    profile: str | None = None
    page_actions_limit: int = 30
    llm_calls_limit: int = 200
    switched: dict[Mechanism, bool] = {}
    amounts: dict[Mechanism, int] = {}
    loaded_at: dict[str, int] = {}
    done_at: tuple[int, ...] = ()
    """The steps whose inputs led to the page, in order."""
    sent: tuple[SentAt, ...] = ()
    sent_before: tuple[SentAt, ...] = ()
    memory: SpaceMemory = SpaceMemory()
    stack: Stack = Stack()
    queue: tuple[Action, ...] = ()
    queue_url: str = ""
    queue_frame: int = 0
    queue_trial: int = 1
    queue_cut: str = ""
    unusable: tuple[str, ...] = ()
    reply_form: ReplyFormat | Literal[""] = ""
    shortened: Shortened = Shortened()
    history: tuple[Turn, ...] = ()
    notes: tuple[str, ...] = ()
    totals: dict[str, Any] = {}
    answer: str = ""
    allowed: tuple[str, ...] = ()
    plan: Plan | None = None
    remedies: RemedyStack = RemedyStack()
    scheduled: Scheduled | None = None
    experience: tuple[str, ...] = ()
    failed: FailedTrial | None = None
    tried: dict[str, tuple[str, ...]] = {}
    trial_began: int = 0
    trial_step: int = 1
    calls_before_trial: int = 0
    summaries: dict[str, str] = {}
    recalled_at: dict[int, int] = {}
    """The step that has the exemplars of each frame."""
    trail: tuple[TrailStep, ...] = ()
    earlier: dict[str, tuple[BlobHash, ...]] = {}
    """Of what grows with the run, such as the trail: the blobs of what comes before the items here."""

    def without_told(self) -> "SavedAgent":
        """Return an attached agent's as one of ours continues with it: of what it has said the plan alone is kept."""
        return self.replace(stack=Stack(), memory=SpaceMemory(), remedies=RemedyStack())

    def as_json(self) -> str:
        """Return it without the fields that have nothing to say."""
        # Only whole fields can be left out: inside them a default tells one kind of action from another.
        known = type(self).model_fields.items()
        unsaid = {name for name, field in known if getattr(self, name) == field.default}
        return self.model_dump_json(exclude=unsaid)


_OF_STATE = tuple(
    one.name for one in fields(RunState) if one.name in SavedAgent.model_fields and one.name != "totals"
)
"""What is kept of the state of the run under the same name."""
_OF_REFLECTION = tuple(one.name for one in fields(Reflection) if one.name in SavedAgent.model_fields)


def saved_of(state: RunState) -> SavedAgent:
    """Return what is to be kept of a run that is about to begin a step."""
    return SavedAgent(
        **{name: getattr(state, name) for name in _OF_STATE},
        **{name: getattr(state.reflection, name) for name in _OF_REFLECTION},
        page_actions_limit=state.budget.page_actions,
        llm_calls_limit=state.budget.llm_calls,
        done_at=tuple(dict.fromkeys(one.step for one in state.inputs)),
        totals=vars(state.totals),
    )


_GROWING: dict[str, TypeAdapter[tuple[Any, ...]]] = {
    "history": TypeAdapter(tuple[Turn, ...]),
    "trail": TypeAdapter(tuple[TrailStep, ...]),
}
"""What each step adds to, with how it is written: only its last item is ever changed."""
_BLOCK = 8
"""Items of it that are stored together, once: a long run would store all of them with each step."""


class AgentKeeper:
    """Makes the stored state of an agent for each step of one run."""

    def __init__(self, store: TraceStore) -> None:
        self._store = store
        self._blocks: dict[str, list[tuple[list[Any], BlobHash]]] = {name: [] for name in _GROWING}

    def json_of(self, state: RunState) -> bytes:
        """Return the agent as it is about to begin a step; raises TraceError."""
        saved = saved_of(state)
        earlier = {name: self._stored(name, getattr(state, name)) for name in _GROWING}
        rest: dict[str, Any] = {
            name: getattr(saved, name)[len(names) * _BLOCK :] for name, names in earlier.items()
        }
        named = {name: names for name, names in earlier.items() if names}
        return saved.replace(**rest, earlier=named).as_json().encode()

    def add_sent(self, run: int, step: int, sent: Iterable[SentAt]) -> None:
        """Store with the last step of a run what was sent after its last action; raises TraceError."""
        saved = SavedAgent.model_validate_json(self._store.agent(run, step))
        saved = saved.replace(sent=(*saved.sent, *sent))
        self._store.save_agent(run, step, saved.as_json().encode())

    def _stored(self, name: str, items: list[Any]) -> tuple[BlobHash, ...]:
        """Return the blobs of all whole blocks before the last item, which are stored where they are new."""
        known = self._blocks[name]
        whole = [items[at : at + _BLOCK] for at in range(0, len(items) - _BLOCK, _BLOCK)]
        same = 0
        while same < min(len(whole), len(known)) and _are_same(whole[same], known[same][0]):
            same += 1
        del known[same:]
        for block in whole[same:]:
            data = _GROWING[name].dump_json(tuple(block))
            known.append((block, self._store.put_blob(data, "application/json")))
        return tuple(blob for _, blob in known)


def _are_same(items: list[Any], others: list[Any]) -> bool:
    return all(one is other for one, other in zip(items, others, strict=True))


def put_back(saved: SavedAgent, state: RunState) -> None:
    """Make a state that was just made what was kept; pages, inputs and exemplars are the caller's to fill in."""
    for name in _OF_STATE:
        setattr(state, name, _changeable(getattr(saved, name)))
    for name in _OF_REFLECTION:
        setattr(state.reflection, name, _changeable(getattr(saved, name)))
    if saved.shortened.llm != state.llm:
        state.shortened = Shortened()
    state.budget = Budget(saved.page_actions_limit, saved.llm_calls_limit)
    state.totals = Totals(**saved.totals)


def budget_of(store: TraceStore, run: int) -> Budget | None:
    """Return the limits that a run ended with, or None where they were not kept."""
    steps = store.steps(run)
    if not steps:
        return None
    try:
        saved = RunHistory(store, run).agent(steps[-1].number)
    except TraceError:
        return None
    return Budget(saved.page_actions_limit, saved.llm_calls_limit)


def _changeable(value: Any) -> Any:
    """Return what was kept as a run that goes on may change it."""
    if isinstance(value, dict):
        return {key: _changeable(one) for key, one in value.items()}
    return list(value) if isinstance(value, tuple) else value


# The steps of a run


class RunHistory:
    """The steps of one run, with those of the runs it branched from."""

    def __init__(self, store: TraceStore, run: int) -> None:
        self._store = store
        self._run = run

    @property
    def viewport(self) -> tuple[int, int]:
        """The size of the run's pages; of one that was stored without it, that of the first page it observed."""
        if (stored := self._store.run(self._run).viewport) is not None:
            return stored
        first = self._store.observed(self._run, 1)
        return first.viewport if first is not None and all(first.viewport) else VIEWPORT

    def agent(self, step: int) -> SavedAgent:
        """Return the agent as the step found it; raises TraceError if that was not kept, or is damaged."""
        data = self._store.agent(self._run, step)
        try:
            saved = SavedAgent.model_validate_json(data)
            whole: dict[str, Any] = {
                name: (*self._items(name, blobs), *getattr(saved, name))
                for name, blobs in saved.earlier.items()
            }
            return saved.replace(**whole, earlier={})
        except (ValidationError, KeyError) as error:
            raise TraceError(
                f"The stored agent of step {step} of run {self._run} cannot be read; go back to another step."
            ) from error

    def _items(self, name: str, blobs: Iterable[BlobHash]) -> Iterator[Any]:
        for blob in blobs:
            yield from _GROWING[name].validate_json(self._store.blob(blob))

    def checkpoint(self, step: int) -> Checkpoint:
        """Return what brings the browser back to a step; raises TraceError if the step never saw its page."""
        saved = self.agent(step)
        document = self.observation(step).document
        loaded = saved.loaded_at.get(document, step)
        nearest = None
        if loaded < step:
            nearest = self._plain(loaded)
        return self._plain(step).replace(nearest=nearest, exchanges=self.exchanges(saved, step))

    def records(self, step: int) -> tuple[PhaseRecord, ...]:
        """Return what the phases of a step left; raises TraceError."""
        return self._store.step(self._run, step).records

    def recalled(self, step: int) -> Recalled | None:
        """Return the exemplars that a step recalled."""
        return self._store.recalled(self._run, step)

    def exchanges(self, saved: SavedAgent, step: int) -> tuple[Exchange, ...]:
        """Return the answers of servers that led to a step's page: from opening the task and from the actions."""
        # What an action set off may have been asked for when the step after it was in progress.
        steps = {step, *saved.done_at, *(done + 1 for done in saved.done_at)}
        first = min(saved.done_at, default=step)
        recorded = self._store.pages.network(self._run)
        opened = max((one.step for one in recorded if one.opening and one.step < first), default=-1)
        return tuple(
            one
            for one in recorded
            if (one.step == opened if one.opening else one.step > opened and one.step in steps)
        )

    def body(self, name: str) -> bytes:
        """Return the content of an answer; raises TraceError if it is not there."""
        return self._store.blob(name)

    def picture(self, step: int) -> bytes:
        """Return the picture of the page as a step found it; nothing if none was kept."""
        observed = record_of(Observed, self.records(step))
        return self._store.blob(observed.screenshot) if observed is not None and observed.screenshot else b""

    def inputs(self, saved: SavedAgent) -> list[RecordedInput]:
        """Return what was done in the page before a step, in order."""
        found: list[RecordedInput] = []
        for step in saved.done_at:
            found += next((record.inputs for record in self.records(step) if isinstance(record, Acted)), ())
        return found

    def _plain(self, step: int) -> Checkpoint:
        data = self._store.pages.of(self._run, step)
        try:
            page = PageState.model_validate_json(data) if data else PageState()
        except ValidationError as error:
            raise TraceError(
                f"The stored browser data of step {step} of run {self._run} cannot be read."
            ) from error
        return Checkpoint(
            step=step,
            observation=self.observation(step),
            inputs=tuple(self.inputs(self.agent(step))),
            page=page,
        )

    def observation(self, step: int) -> Observation:
        """Return the page as a step found it; raises TraceError if it never saw one."""
        observed = record_of(Observed, self.records(step))
        if observed is None:
            raise TraceError(
                f"Step {step} of run {self._run} has no observation; go back to an earlier step."
            )
        return observed.observation
