"""The state of a run, which the phases read and write."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal, TypeVar

from core.agent.policies.stack import Stack
from core.agent.presets import (
    AMOUNTS,
    AbstractionTable,
    JudgementTable,
    Mechanism,
    MemoryTable,
    PlanTable,
    Preset,
    RemediesTable,
)
from core.agent.reflection.remedies import RemedyStack
from core.agent.spaces.choice import is_due
from core.agent.spaces.file import SpaceState, StateSpace
from core.browser.checkpoints.page_state import PageState
from core.llm.repair import ReplyFormat
from core.schema.action import Action
from core.schema.action_space import Permissible
from core.schema.element_identity import RecordedInput
from core.schema.messages import Turn
from core.schema.observation import Capture, CleanObservation, Observation
from core.schema.progress import FailedTrial, Plan, SpaceMemory
from core.schema.record import Record
from core.schema.restore import SentAt
from core.schema.step import (
    PHASES,
    Abstracted,
    Acted,
    Aligned,
    Origin,
    Phase,
    Proposal,
    Recalled,
    Recognised,
    Scheduled,
)
from core.schema.task import Episode
from core.schema.viewport import VIEWPORT

Table = TypeVar("Table", bound=Record)


@dataclass
class Budget:
    """The limits of a run; each is checked before it is exceeded."""

    page_actions: int = 30
    """Of all trials together; a trial may have a lower limit of its own."""
    llm_calls: int = 200
    """Of one trial."""


@dataclass
class Pending:
    """The action under review."""

    action: Action | None = None
    thought: str = ""
    origin: Origin = "agent"
    proposed: Action | None = None
    problem: str = ""
    skip: bool = False
    refused: str = ""
    """By which rule it was skipped at a gate; a person's own skipping costs nothing of the budget."""
    note: str = ""
    remark: str = ""
    """What has to be said of the reply that proposed it."""
    before_stop: Stack | None = None
    """The policy stack that the agent wanted to stop with."""

    @property
    def edited(self) -> bool:
        return self.origin == "person" and self.proposed != self.action

    @property
    def own_remark(self) -> str:
        """The remark, where the action is still the agent's own."""
        return self.remark if self.origin == "agent" else ""


@dataclass
class Totals:
    """What the run has used."""

    page_actions: int = 0
    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    seconds_in_llm: float = 0.0


class Overlap:
    """Wall time in which at least one of several overlapping activities runs."""

    def __init__(self) -> None:
        self._going_on = 0
        self._since = 0.0
        self._before = 0.0
        self._taken = 0.0

    @property
    def seconds(self) -> float:
        """So far, with what goes on now."""
        return self._before + (time.perf_counter() - self._since if self._going_on else 0.0)

    def take(self) -> float:
        """Return the seconds since this was last asked."""
        before, self._taken = self._taken, self.seconds
        return self._taken - before

    @contextmanager
    def span(self) -> Iterator[None]:
        """Count the time of the block."""
        if not self._going_on:
            self._since = time.perf_counter()
        self._going_on += 1
        try:
            yield
        finally:
            self._before, self._since = self.seconds, time.perf_counter()
            self._going_on -= 1


@dataclass
class StepClock:
    """The time at work of the step's phases, and how much of it an LLM call was out."""

    active: float = 0.0
    in_llm: float = 0.0
    held: list[tuple[float, float]] = field(default_factory=list)
    """When phases were held, seconds since the epoch."""
    in_hands: Overlap = field(default_factory=Overlap)

    @property
    def now(self) -> float:
        """Seconds by a clock that stands still while a phase is held."""
        return time.perf_counter() - self.in_hands.seconds

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Count the time of the block as held, not as work."""
        began = time.time()
        try:
            with self.in_hands.span():
                yield
        finally:
            self.held.append((began, time.time()))


class Shortened(Record):
    """How many of each part a prompt has at most, since one was longer than the LLM takes; None is no limit."""

    llm: str = ""
    """Whose limit it was; another LLM may take more."""
    exemplars: int | None = None
    steps: int | None = None
    elements: int | None = None


@dataclass
class TrailStep:
    """One look at a page and its actions, as in a trajectory."""

    frame: int
    """The frame of the policy stack it was done in; 0 if there is none."""
    observation: str
    thought: str
    actions: list[Action]
    results: list[str]
    """What has to be said of the page: failures, and what happened besides the actions."""
    url: str = ""
    """The address of the page, and its title."""
    title: str = ""


@dataclass
class Reflection:
    """The plan, the remedies and the schedule for later steps."""

    plan: Plan | None = None
    remedies: RemedyStack = field(default_factory=RemedyStack)
    scheduled: Scheduled | None = None
    """What the next step does without being asked for an action."""
    doing: Scheduled | None = None
    """What was scheduled for the current step."""
    experience: list[str] = field(default_factory=list)
    """What each trial that failed has taught."""
    refused_on: str = ""
    """Fingerprint of the page on which this trial's stop was refused last: there the next one holds."""
    failed: FailedTrial | None = None
    """The last trial that failed."""
    tried: dict[str, list[str]] = field(default_factory=dict)
    """Actions carried out, in words that hold for any document, by the fingerprint of the page."""
    trial_began: int = 0
    """Page actions of the run before this trial."""
    trial_step: int = 1
    """The first step of this trial."""
    calls_before_trial: int = 0
    summaries: dict[str, str] = field(default_factory=dict)
    """Summaries of long pages, by a fingerprint of their text."""


@dataclass
class RunState:
    """The complete state of a run; only the loop and its phases write it."""

    run: int
    episode: Episode
    preset: Preset
    llm: str
    budget: Budget
    profile: str | None = None
    """The named browser profile that it runs in; None for clean ones."""
    viewport: tuple[int, int] = VIEWPORT
    """The size in which its pages are seen."""
    number: int = 1
    """The current step, from 1."""
    trial: int = 1
    next_phase: Phase = "observe"
    capture: Capture | None = None
    """The page as it was last read."""
    before: Capture | None = None
    """The page as this step observed it."""
    page: PageState = field(default_factory=PageState)
    """What the browser and the environment's server kept for it."""
    loaded_at: dict[str, int] = field(default_factory=dict)
    """The first step of each document of this trial."""
    stale: bool = False
    """Whether something other than an action may have changed the page since."""
    switched: dict[Mechanism, bool] = field(default_factory=dict)
    """Mechanisms that a person switched on or off, whatever the preset says."""
    amounts: dict[Mechanism, int] = field(default_factory=dict)
    """Numbers of mechanisms that a person has set, whatever the preset says."""
    recognised: Recognised | None = None
    offered: tuple[str, ...] = ()
    """The names of all actions that the page offers, permissible or not."""
    forced_state: str = ""
    """The state that a person takes the page for in this step."""
    also_permitted: tuple[str, ...] = ()
    """What of `offered` a person permits in this step."""
    abstracted: Abstracted | None = None
    own_observation: Abstracted | None = None
    """The clean observation that a person wrote for this step; holds until the page is read again."""
    programs: dict[int, str] = field(default_factory=dict)
    """The program that shortens the pages of each frame, 0 if there is none."""
    space_state: tuple[StateSpace, SpaceState] | None = None
    """The state that the page is in, where a state space holds."""
    memory: SpaceMemory = field(default_factory=SpaceMemory)
    stack: Stack = field(default_factory=Stack)
    clean: CleanObservation | None = None
    pending: Pending = field(default_factory=Pending)
    queue: list[Action] = field(default_factory=list)
    queue_url: str = ""
    """The document that the queue was meant for."""
    queue_frame: int = 0
    queue_trial: int = 1
    queue_cut: str = ""
    """What the next decision has to tell: which actions of the queue were dropped and why, or a new form of replies."""
    unusable: list[str] = field(default_factory=list)
    """The problems of the replies since the last one that could be used."""
    reply_form: ReplyFormat | Literal[""] = ""
    """The form that replies have in place of the preset's, since many in a row could not be used."""
    stuck: str = ""
    """Why the run has to end though nobody has stopped it."""
    shortened: Shortened = field(default_factory=Shortened)
    shortened_told: Shortened = field(default_factory=Shortened)
    """What the person was told of it."""
    acted: Acted | None = None
    aligned: Aligned | None = None
    history: list[Turn] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    totals: Totals = field(default_factory=Totals)
    clock: StepClock = field(default_factory=StepClock)
    in_calls: Overlap = field(default_factory=Overlap)
    """Time in which calls were out."""
    started: float = field(default_factory=time.perf_counter)
    """By that clock: the time of day may be set meanwhile."""
    answer: str = ""
    last_proposal: Proposal = field(default_factory=Proposal)
    reflection: Reflection = field(default_factory=Reflection)
    recalled_by_frame: dict[int, Recalled] = field(default_factory=dict)
    """The exemplars of each frame, 0 if there is none."""
    recalled_at: dict[int, int] = field(default_factory=dict)
    """The step at which each frame's were recalled."""
    inputs: list[RecordedInput] = field(default_factory=list)
    """The actions in the page since the trial began, without those that were undone."""
    sent: list[SentAt] = field(default_factory=list)
    """What the page has sent that going back does not undo."""
    sent_before: list[SentAt] = field(default_factory=list)
    """What was sent after the steps that this run went back to as a branch began, and stays done."""
    trail: list[TrailStep] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)
    """The sites, and files for uploads, that were allowed since the task began."""
    from_queue: bool = False
    """Whether this step's action came from the queue."""
    overlap: bool = False
    """Whether a phase may begin early; not while a person steps by hand."""
    asked_ahead: bool = False
    """Whether the coming step's action was asked for before this step's judgement was known."""
    before_consequences: "RunState | None" = field(default=None, repr=False)
    """The run as it was before the judgement of the current step had consequences."""

    def begin_next(self) -> None:
        """Continue to the next step."""
        self.number += 1
        self.next_phase = "observe"
        self.pending = Pending()
        self.acted = self.aligned = self.reflection.doing = self.before_consequences = self.abstracted = None
        self.own_observation = None
        self.forced_state, self.also_permitted = "", ()
        self.clock = StepClock(in_hands=self.clock.in_hands)  # What is held may belong to both.

    def begin_again(self, phase: Phase, why: str) -> None:
        """Repeat the current step from a phase on; its proposal and its remedies are dropped with the reason `why`."""
        reflection, doing = self.reflection, self.reflection.doing
        if not self.undecided:
            self.queue.clear()  # The first of it was the proposal.
        self.next_phase, self.pending = phase, Pending()
        if phase == "observe":
            self.own_observation = None
        reflection.remedies = reflection.remedies.without_step(self.number, why)
        reflection.doing = None
        if phase != "decide":
            reflection.scheduled = doing or reflection.scheduled
        elif doing is not None and doing.entry:
            reflection.remedies = reflection.remedies.dropped(
                doing.entry, "The person requested another action."
            )

    def copy(self) -> "RunState":
        """Return a state that can be changed without changing this one."""
        copied: RunState = _copied(replace(self, before_consequences=None))
        copied.before_consequences = self.before_consequences  # It is only ever copied.
        return copied

    def become(self, other: "RunState") -> None:
        """Take over what another state of the same run holds; what the LLM was asked and took stays counted."""
        used, clock = self.totals, self.clock
        for name, value in vars(other.copy()).items():
            setattr(self, name, value)
        self.totals, self.clock = replace(used, page_actions=self.totals.page_actions), clock

    @property
    def undecided(self) -> bool:
        """Whether the step has not decided yet."""
        return PHASES.index(self.next_phase) <= PHASES.index("decide")

    @property
    def choice_is_due(self) -> bool:
        """Whether the budget of the state space has a candidate chosen, or has had it chosen."""
        return self.space_state is not None and is_due(self.space_state[0], self.memory)

    @property
    def unacted(self) -> bool:
        """Whether the step's action has not been carried out yet."""
        return PHASES.index(self.next_phase) <= PHASES.index("act")

    def has_done(self, phase: Phase) -> bool:
        """Return whether the current step has done a phase."""
        return PHASES.index(self.next_phase) > PHASES.index(phase)

    def is_on(self, mechanism: Mechanism) -> bool:
        """Return whether a mechanism works, by its switch or else by the preset."""
        return self.switched.get(mechanism, self.preset.has(mechanism))

    @property
    def objectives(self) -> tuple[str, ...]:
        """What is to be done: the task, and what the policy at work was called with."""
        own = () if self.stack.top is None or self.stack.top.caller is None else self.stack.top.arguments
        return (self.episode.instruction, *own)

    @property
    def ranked_by(self) -> tuple[str, ...]:
        """The texts that say what of a page matters: what is to be done, and the subtask worked on."""
        plan = self.reflection.plan
        subtask = plan.current.text if plan is not None and plan.current is not None else ""
        return (*self.objectives, subtask)

    @property
    def plan_settings(self) -> PlanTable:
        return self._adjusted("plan", self.preset.plan or PlanTable())

    @property
    def remedy_settings(self) -> RemediesTable:
        return self._adjusted("remedies", self.preset.remedies or RemediesTable())

    @property
    def abstraction_settings(self) -> AbstractionTable:
        return self._adjusted("abstraction", self.preset.abstraction or AbstractionTable())

    @property
    def memory_settings(self) -> MemoryTable:
        return self._adjusted("memory", self.preset.memory or MemoryTable())

    def _adjusted(self, mechanism: Mechanism, table: Table) -> Table:
        """Return what the preset says, with the number that a person has set."""
        amount = self.amounts.get(mechanism)
        return table if amount is None else table.replace(**{AMOUNTS[mechanism][1]: amount})

    def amount(self, mechanism: Mechanism) -> int:
        """Return the number of a mechanism that holds."""
        return self.amounts.get(mechanism, self.preset.amount(mechanism))

    @property
    def judgement_settings(self) -> JudgementTable:
        return self.preset.judgement or JudgementTable()

    @property
    def trials(self) -> int:
        """Trials that are allowed; one that a person has begun beyond them raises the limit."""
        return max(self.plan_settings.trials if self.is_on("plan") else 1, self.trial)

    @property
    def out_of_actions(self) -> bool:
        """Whether the page actions of the task are used up."""
        return self.totals.page_actions >= self.budget.page_actions

    @property
    def trial_is_over(self) -> bool:
        """Whether this trial has used its own page actions."""
        used = self.totals.page_actions - self.reflection.trial_began
        return self.is_on("plan") and used >= self.plan_settings.actions

    @property
    def frame(self) -> int:
        """The number of the frame at work; 0 if there is none."""
        return self.stack.top.number if self.stack.top is not None else 0

    @property
    def recalled(self) -> Recalled | None:
        """The exemplars of the frame at work, if they were recalled."""
        return self.recalled_by_frame.get(self.frame)

    @property
    def calls_left(self) -> int:
        """LLM calls that the budget still allows in this trial."""
        used = self.totals.llm_calls - self.reflection.calls_before_trial
        return max(self.budget.llm_calls - used, 0)

    @property
    def observation(self) -> Observation:
        assert self.capture is not None
        return self.capture.observation

    @property
    def permissible(self) -> Permissible:
        return self.recognised.permissible if self.recognised is not None else Permissible()


def _copied(value: Any) -> Any:
    """Return a copy of what can be changed in place; records are frozen, and stay the same."""
    if isinstance(value, list):
        return [_copied(one) for one in value]
    if isinstance(value, dict):
        return {key: _copied(one) for key, one in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: _copied(getattr(value, one.name)) for one in fields(value)})
    return value
