"""The rows of a run and its steps, as records."""

from collections.abc import Mapping
from difflib import unified_diff
from typing import Literal, NamedTuple

from core.schema.changes import Changes, Difference
from core.schema.record import Record
from core.schema.restore import Grade
from core.schema.step import CallRecord, Effect, Origin, Phase, PhaseRecord
from core.schema.step_name import step_name
from core.schema.task import Verdict
from core.schema.viewport import Viewport

_CHANGED_LINES = 8
"""Lines of a change that are shown in words."""

RunOutcome = Literal[
    "running",  # not ended yet
    "done",  # the agent stopped, or the page ended the episode
    "budget",  # out of page actions, or of LLM calls
    "gate",  # ended at a gate, by rule
    "loop",  # a policy was called again on the same page with nothing new
    "stuck",  # replies could not be used, or a stop that was refused was repeated
    "stopped",  # a person ended it
    "left",  # a person went back and on from there, or to another branch; it can be taken up again
    "interrupted",  # the program was killed, or interrupted from the keyboard
    "error",  # the world failed: browser, LLM or database
]

RunFilter = Literal[
    "",
    "success",
    "no success",
    "running",
    "done",
    "budget",
    "gate",
    "loop",
    "stuck",
    "stopped",
    "left",
    "interrupted",
    "error",
]
"""How runs went that are looked for: by their verdict, or by their outcome; all where it is empty."""


ATTACHED_NAME = "attached"
"""The preset of runs that an attached agent carried out; the preset's text says which program it is."""


class Case(Record):
    """The definition of one run of an evaluation."""

    variant: str
    """The name of the variant of the agent."""
    task: str
    seed: int
    time: int = 1
    """The how manieth of several at this seed; counts from 1."""


class CaseAttempt(Record):
    """One attempt at a case of an evaluation."""

    evaluation: int
    """The evaluation's number."""
    case: Case
    number: int = 1
    """2 where the first one failed through no fault of the agent, as with its browser; 0 if it was discounted."""


class EvaluationRow(Record):
    """A stored evaluation; the debugger interprets its plan."""

    number: int
    name: str
    when: float
    """Seconds since the epoch."""
    plan: str
    """JSON."""
    made: str = "[]"
    """With what it was made, once for each start; JSON."""


class RunBasics(Record):
    """What holds for a run from its beginning on."""

    task: str
    environment: str
    seed: int
    instruction: str
    start_url: str
    preset: str
    llm: str
    browser: str
    profile: str | None = None
    """The named browser profile; None for clean ones."""
    parent_run: int | None = None
    parent_step: int | None = None
    """For a branch: the step at which it left its parent, and the first of its own."""
    offline: bool = False
    """Whether its pages get recorded answers only, and reach no server."""
    viewport: Viewport | None = None
    """The size in which its pages are seen; None for imported runs and those of older versions."""
    differences: tuple[Difference, ...] = ()
    """For a branch: how it differs from the run that it left; nothing if it was only gone back."""


class RunStart(RunBasics):
    """The data of a run when it begins."""

    preset_text: str = ""
    """The preset's file as it was, so that a run can be told from a later edit."""
    own_files: Mapping[str, str] | None = None
    """The texts of the user's own files that went before the bundled ones, by their names; None if not known."""
    changes: Changes = Changes()
    """What was asked of a branch."""
    attempt: CaseAttempt | None = None
    """For a run of an evaluation: which of its runs it is."""


class RunEnd(NamedTuple):
    """How a run stands."""

    run: int
    outcome: str
    success: bool | None = None
    measured: bool = False
    """Whether it is a run of an evaluation."""


class RunRow(RunBasics):
    """A run as lists show it."""

    run: int
    started: float
    """Seconds since the epoch."""
    ended: float | None = None
    outcome: RunOutcome = "running"
    verdict: Verdict = Verdict()
    answer: str = ""
    error: str = ""
    steps: int = 0
    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """None if no call had a price."""
    seconds: float = 0.0
    seconds_in_llm: float = 0.0
    touched: bool = False
    """Whether a person changed, chose or skipped anything in it."""
    name: str = ""
    """What a person called it."""
    grade: Grade | Literal[""] = ""
    """For a branch: how well its first page equals the parent's."""


class AttemptRow(Record):
    """The result of an attempt."""

    attempt: CaseAttempt
    run: RunRow | None = None
    """None if it could not begin."""
    error: str = ""
    """Why it could not begin."""


def is_failure(success: bool | None, outcome: RunOutcome | None) -> bool:
    """Return whether a run that is over was not a success.

    One that nobody could judge is a failure if it did not end by itself;
    the outcome of a run that could not begin is None.
    """
    return not success if success is not None else outcome != "done"


class EvaluatedRun(Record):
    """One attempt of an evaluation, with the figures of its run."""

    variant: str
    task: str
    seed: int
    time: int
    attempt: int
    run: int | None = None
    """None if it could not begin."""
    outcome: RunOutcome | None = None
    success: bool | None = None
    """None if nobody could judge."""
    reward: float | None = None
    answer: str | None = None
    error: str = ""
    steps: int = 0
    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """US dollars; None if no call had a price."""
    seconds: float = 0.0
    seconds_in_llm: float = 0.0
    touched: bool = False
    """Whether a person had a hand in it."""
    plan_revisions: int = 0
    """How often a trial failed and a new one began with another plan."""
    remedies: int = 0
    """Steps that tried a remedy."""
    remedies_right: int = 0
    """Those of them that were judged right after they were done."""
    gone_back: dict[Grade, int] = {}
    """How often it went back, by how well the page was brought back."""

    @property
    def case(self) -> Case:
        return Case(variant=self.variant, task=self.task, seed=self.seed, time=self.time)

    @property
    def is_failure(self) -> bool:
        return is_failure(self.success, self.outcome)

    @property
    def seconds_beside_llm(self) -> float:
        return max(self.seconds - self.seconds_in_llm, 0.0)


class StepRow(Record):
    """A step as the tree of steps shows it."""

    run: int
    number: int
    """Counts up in the run, from 1."""
    trial: int = 1
    phase: Phase = "observe"
    """The last phase that was stored."""
    sealed: bool = False
    """False for a step that was begun and never committed."""
    origin: Origin = "agent"
    effect: Effect = "none"
    action: str = ""
    target: str = ""
    thought: str = ""
    outcome: Literal["pending", "done", "failed", "skipped"] = "pending"
    message: str = ""
    state: str = ""
    url: str = ""
    title: str = ""
    edited: bool = False
    seconds: float = 0.0
    seconds_in_llm: float = 0.0

    @property
    def in_words(self) -> str:
        """What it did, as `step_name` says it."""
        if not self.action:
            return "…" if self.outcome == "pending" else "no action"
        return step_name(self.action, self.target)


class PhaseTimes(Record):
    """When a phase began and when its record was stored; seconds since the epoch."""

    phase: Phase
    begun: float | None
    """None if that is not known."""
    saved: float


class StepTimes(Record):
    """When a step and its phases began, and when each phase stored its record; seconds since the epoch."""

    number: int
    begun: float
    phases: tuple[PhaseTimes, ...] = ()
    held: tuple[tuple[float, float], ...] = ()
    """When it was held within a phase."""

    @property
    def ended(self) -> float:
        return max((self.begun, *(phase.saved for phase in self.phases)))


InterventionKind = Literal[
    "edit",  # the next action, by its arguments
    "replace",  # the next action, by one of another kind
    "skip",  # the next action was left out
    "ask again",  # the proposal was thrown away
    "queue",  # the actions that wait for their turn
    "answer",  # in the LLM's place
    "llm",  # another LLM was chosen
    "preset",  # another preset was chosen
    "switch",  # a mechanism of the agent was switched on (after) or off (before), or its number set
    "plan",  # the plan was rewritten
    "remedy",  # a remedy was fired
    "refuse request",  # what the page was about to send did not leave
    "handover",  # the person had the page
    "end",  # how the run ended
    "judgement",  # what is said of a step
    "remedies",  # one was added, rewritten, moved or dropped
    "trial",  # a new trial was begun by hand, or what earlier ones taught was rewritten
    "stack",  # a policy was pushed, popped, restarted or rewritten
    "state",  # another state, one more permissible action, or what the state space remembers
    "observation",  # the clean observation, or the program that makes it
    "exemplars",  # one was added or left out
    "prompt",  # a prompt was rewritten before it was sent
    "reply",  # a reply was rewritten before it was read
    "undo",  # one of these was undone
]


class Intervention(Record):
    """Something a person changed in a run."""

    run: int
    step: int
    kind: InterventionKind
    who: str
    when: float
    """Seconds since the epoch."""
    before: str = ""
    after: str = ""

    @property
    def in_words(self) -> str:
        """Return who changed what; of texts with several lines those that differ, each with its sign."""
        said = f"{self.who}: {self.kind}"
        if not self.before and not self.after:
            return said
        if self.kind == "handover":  # Who has the page, with what was recorded and where it was.
            return (
                f"{self.who}: {'took' if self.before else 'gave back'} the page ({self.before or self.after})"
            )
        if "\n" not in self.before and "\n" not in self.after:
            return f"{said} {self.before or 'nothing'} → {self.after or 'nothing'}"
        lines = list(unified_diff(self.before.splitlines(), self.after.splitlines(), lineterm="", n=0))
        changed = [line for line in lines[2:] if not line.startswith("@@")]
        left_out = len(changed) - _CHANGED_LINES
        more = [f"and {left_out} more lines"] if left_out > 1 else []
        return "\n".join([f"{said}:", *(changed[:_CHANGED_LINES] if more else changed), *more])


class StepDetail(Record):
    """Everything stored of one step; its blobs are read by hash."""

    row: StepRow
    records: tuple[PhaseRecord, ...] = ()
    calls: tuple[CallRecord, ...] = ()
    interventions: tuple[Intervention, ...] = ()


class BreakpointRow(Record):
    """A stored breakpoint; the debugger interprets its definition."""

    number: int
    """Counts up in the database, from 1; the number of a deleted one is not given again."""
    kind: str
    definition: str
    """JSON."""
    hits: int = 0


class WatchRow(Record):
    """A stored watch."""

    number: int
    """Counts up as that of a breakpoint does."""
    kind: str
    text: str
    on_change: bool = False
    """Whether the run is to stop where its value changes."""


class Hit(Record):
    """A breakpoint that was hit, or a watch that changed."""

    run: int
    step: int
    phase: Phase
    """The phase at hand, whether before, in or after it."""
    breakpoint: int | None = None
    """The number of the breakpoint; None for a watch."""
    watch: int | None = None
    sentence: str
    """Which, and why."""
    stopped: bool
    """Whether the run was to stop there; else it was only reported."""
    time: float
    """Seconds since the epoch."""
