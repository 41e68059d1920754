"""The phases of a step: their records, and how these are stored and shown.

A phase is its name in `Phase`, its record and its place in `PhaseRecord`; a
record is small, frozen and stored as the phase ends. Large parts (HTML,
screenshots, prompts) are referred to by the hash of their blob. What a phase does is
in `core.agent.phases`.
"""

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, TypeVar, get_args

from pydantic import Field

from core.schema.action import Action, RefTarget
from core.schema.action_space import Permissible
from core.schema.element_identity import RecordedInput
from core.schema.events import BrowserEvent
from core.schema.exemplar import Recall
from core.schema.messages import Purpose, Retry, Usage
from core.schema.observation import Box, CleanObservation, Observation
from core.schema.progress import Plan, SpaceMemory
from core.schema.record import Record
from core.schema.restore import Restored, Sent

FrameState: TypeAlias = Literal["active", "returned", "lacked", "left"]


JudgementPart = Literal["aligned", "subtask", "task"]


class Judgement(Record):
    """The LLM's judgement of a step; None if its reply said neither yes nor no."""

    sentence: str = ""
    """What the action did, and what was learned by it."""
    aligned: bool | None = None
    subtask_done: bool | None = None
    """Done, or not needed any more."""
    needless: bool = False
    task_done: bool | None = None
    by_rule: str = ""
    """Why a part was decided without the LLM, such as a failed action."""
    unclear: tuple[JudgementPart, ...] = ()
    """What the LLM left open, also when it was asked again: it counts as no."""
    stop_refused: bool = False
    """Whether the agent wanted to stop, and was not let because the task was judged not done."""
    overruled: bool = False
    """Whether a person has said otherwise than the LLM or the rule."""


EntryState = Literal["waiting", "chosen", "tried", "dropped"]


class Fit(Record):
    """How one state matches the page."""

    state: str
    fits: bool
    matched: tuple[str, ...] = ()
    """What spoke for it, in words."""
    missed: str = ""
    """The first thing that spoke against it."""


Phase = Literal[
    "observe", "recognise", "recall", "abstract", "decide", "anticipate", "review", "act", "align", "commit"
]
PHASES: tuple[Phase, ...] = get_args(Phase)
"""In the order in which a step does them."""
Origin = Literal["agent", "person", "remedy", "replay"]
Effect = Literal["page action", "go back", "push", "pop", "note", "stop", "none"]
BlobHash = str
"""SHA-256 of the uncompressed content, in hex."""


class PhaseSpec(Record):
    """How the record of a phase is stored and shown; each phase's record sets what differs."""

    part: ClassVar[str] = ""
    """The field that is stored as a blob of its own, so that the same page seen twice is stored once."""
    blobs: ClassVar[tuple[str, ...]] = ()
    """The fields that name a blob; the row of the step has them instead of the record."""
    purposes: ClassVar[tuple[Purpose, ...]] = ()
    """What the LLM is asked for in the phase: where a call belongs that no record names."""
    tone: ClassVar[Literal["dim", "good", "agent", "remedy"]] = "dim"
    """The colour token of the phase in the time bar."""

    def columns(self) -> dict[str, Any]:
        """Return the columns of the step's row that the record decides."""
        return {}


class Observed(PhaseSpec):
    """observe: the page at the beginning of the step."""

    part: ClassVar[str] = "observation"
    blobs: ClassVar[tuple[str, ...]] = ("html", "screenshot")

    phase: Literal["observe"] = "observe"
    observation: Observation
    html: BlobHash = ""
    screenshot: BlobHash = ""
    reused: bool = False
    """Whether this is what was read last: the page has not changed since, and was not read again."""

    def columns(self) -> dict[str, Any]:
        return {"url": self.observation.url, "title": self.observation.title}


class DiagramEdge(Record):
    """An edge of a state space: an action of one state that leads to another."""

    source: str
    action: str
    target: str


class Diagram(Record):
    """The parts of a state space that are drawn."""

    title: str
    file: str = ""
    states: tuple[tuple[str, str, bool], ...] = ()
    """Name, title, and whether the run is over when it is reached."""
    edges: tuple[DiagramEdge, ...] = ()
    transitions: int | None = None
    """The budget of transitions, if there is one."""
    choose_at: int | None = None
    instruction: str = ""
    """What the state of the page tells the agent."""


class FrameRecord(Record):
    """One frame of the policy stack; its steps are those of the run with these numbers."""

    number: int
    policy: str
    written: str
    """The call as it is written."""
    argument: str = ""
    caller: int | None = None
    state: FrameState = "active"
    began: int = 1
    outcome: str = ""
    steps: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    file: str = ""


class StackRecord(Record):
    """The policy stack at the beginning of the step."""

    frames: tuple[FrameRecord, ...] = ()
    finished: tuple[FrameRecord, ...] = ()
    depth_limit: int = 0
    calls: int = 0
    calls_limit: int = 0


class Scheduled(Record):
    """What a step does without being asked for an action."""

    kind: Literal["go back", "remedy", "new trial", "answer"]
    entry: int = 0
    """The number of the remedy, if one is to be tried."""
    why: str = ""
    at_limit: bool = False
    """Whether a limit has brought it: the run ends as out of its budget then, with the answer."""


class Remedy(Record):
    """What is known of one alternative action, wherever it is told of."""

    number: int
    """Counts up in the run, from 1."""
    step: int
    """The step it starts from: the page as this step observed it."""
    target: str = ""
    """What the action acts on, in words."""
    reason: str = ""
    """Why the LLM holds it possible."""
    subtask: int | None = None
    """The position of the subtask it serves."""
    state: EntryState = "waiting"
    why: str = ""
    """Why it was dropped, or where it was tried."""


class RemedyRecord(Remedy):
    """A remedy at one moment."""

    action: str


class ReflectionRecord(Record):
    """The plan and the remedies after a phase."""

    plan: Plan | None = None
    remedies: tuple[RemedyRecord, ...] = ()
    trial: int = 1
    trials: int = 1
    experience: tuple[str, ...] = ()
    scheduled: Scheduled | None = None
    """What the next step will do by itself."""


class Recognised(PhaseSpec):
    """recognise: the state of the page, the reason, and the permissible actions."""

    part: ClassVar[str] = "permissible"

    phase: Literal["recognise"] = "recognise"
    space: str
    state: str
    why: str
    """What matched, in words."""
    budget_note: str = ""
    """What the budget of the state space has to say, which `why` ends with."""
    also: tuple[str, ...] = ()
    """Other states that matched as well."""
    fits: tuple[Fit, ...] = ()
    """How each state of the space fared; empty if there is no space."""
    over: str = ""
    """Why the run cannot continue by its state space, such as an empty buffer at the budget."""
    memory: SpaceMemory = SpaceMemory()
    """What the run remembers on its way through the space, as the step found it."""
    diagram: Diagram | None = None
    stack: StackRecord | None = None
    """None if policies are switched off, or none is meant for the page."""
    reflection: ReflectionRecord | None = None
    """Of an attached agent: what it has said by then; of others later phases have it."""
    permissible: Permissible

    def columns(self) -> dict[str, Any]:
        return {"state": self.state}


class Recalled(PhaseSpec):
    """recall: the exemplars that were recalled."""

    phase: Literal["recall"] = "recall"
    exemplars: tuple[str, ...] = ()
    """The ids of those that the prompt begins with."""
    recalled_at: int | None = None
    """The step whose record has the rest, if that is an earlier one; None if memory is off."""
    recall: Recall | None = None
    threshold: float | None = None
    problem: str = ""
    """Why memory could not be asked."""


class Abstracted(PhaseSpec):
    """abstract: the part of the observation that goes into the prompt."""

    part: ClassVar[str] = "clean"
    purposes: ClassVar[tuple[Purpose, ...]] = ("abstract", "parser")

    phase: Literal["abstract"] = "abstract"
    clean: CleanObservation
    tokens: int = 0
    how: str = ""
    """How it was made, where elements were chosen by more than their place."""
    problem: str = ""
    """Why it was not made as it should have been, and what was done instead."""
    code: str = ""
    """The program that the LLM wrote to make it."""
    calls: tuple[int, ...] = ()


class Proposal(Record):
    """An action from the LLM, with how it was read."""

    action: Action | None = None
    thought: str = ""
    problem: str = ""
    """Why there is no usable action: the reply's fault, after its repair turn."""
    remark: str = ""
    """The outcome of the rest of the reply, or how the action came about without a usable one."""


class SampledReply(Record):
    """One of several samples of a decision."""

    call: int
    """The number of its LLM call; with a rationale before, of the second."""
    action: Action | None = None
    further: tuple[Action, ...] = ()
    """Further actions of its reply."""
    thought: str = ""
    problem: str = ""
    """Why it could not be used, and had no vote."""


class AgentStep(Record):
    """A step as an attached agent reports it."""

    number: int
    goal: str = ""
    actions: tuple[str, ...] = ()
    """What it does in the step, by the names that it has for that."""


class Decided(PhaseSpec):
    """decide: a thought and an action, or why there is none."""

    purposes: ClassVar[tuple[Purpose, ...]] = (
        "decide",
        "rationale",
        "function",
        "repair",
        "plan",
        "review",
        "answer",
        "agent",
    )
    tone: ClassVar[Literal["agent"]] = "agent"

    phase: Literal["decide"] = "decide"
    proposal: Proposal
    queue: tuple[Action, ...] = ()
    """Further actions of the same reply, for the next steps."""
    calls: tuple[int, ...] = ()
    """Numbers of the LLM calls it took."""
    votes: tuple[SampledReply, ...] = ()
    """Where several replies were sampled: what each said, in the order they were asked for."""
    from_queue: bool = False
    cut: str = ""
    """What has to be said besides: which actions of an earlier reply were dropped instead of being done next, that
    replies are asked for in another form, or what was left out of prompts that were too long."""
    scheduled: Scheduled | None = None
    """Why the LLM was not asked for an action."""
    agent_step: AgentStep | None = None
    """The step of an attached agent that this is, or is a part of; None if the agent tells no steps."""
    problem: str = ""
    """Why there is no plan though one was asked for."""
    reflection: ReflectionRecord | None = None

    @property
    def agreed(self) -> int:
        """How many samples have the action that was proposed."""
        return sum(vote.action is not None and vote.action == self.proposal.action for vote in self.votes)

    def columns(self) -> dict[str, Any]:
        return {
            "origin": "agent",
            "edited": False,
            "outcome": "pending",
            "thought": self.proposal.thought,
            "action": "" if self.proposal.action is None else str(self.proposal.action),
            "message": self.proposal.problem or self.proposal.remark,
        }


class Anticipated(PhaseSpec):
    """anticipate: alternatives prepared before acting."""

    purposes: ClassVar[tuple[Purpose, ...]] = ("remedies",)
    tone: ClassVar[Literal["remedy"]] = "remedy"

    phase: Literal["anticipate"] = "anticipate"
    remedies: tuple[Action, ...] = ()
    dropped: tuple[tuple[str, str], ...] = ()
    """Proposed and not kept, each with its reason."""
    problem: str = ""
    """Why none could be asked for."""
    beside: bool = False
    """Whether they were asked for while the action ran; until they are in, there are none here."""
    calls: tuple[int, ...] = ()
    reflection: ReflectionRecord | None = None


class Reviewed(PhaseSpec):
    """review: the resulting action, and who chose it."""

    phase: Literal["review"] = "review"
    origin: Origin
    action: Action | None = None
    """None: skipped."""
    proposed: Action | None = None
    """What the agent proposed, where a person changed it."""
    thought: str = ""
    edited: bool = False
    note: str = ""
    """Such as a gate that held, and the rule that decided."""

    def columns(self) -> dict[str, Any]:
        columns = {
            "origin": self.origin,
            "edited": self.edited,
            "action": "" if self.action is None else str(self.action),
        }
        # A review that changes nothing need not repeat why.
        return {**columns, "thought": self.thought} if self.thought or self.edited else columns


class Primitive(Record):
    """One of the page actions of a state's action."""

    action: Action
    outcome: Literal["done", "failed"]
    message: str = ""
    box: Box | None = None
    target: str = ""
    xpath: str = ""


class Acted(PhaseSpec):
    """act: what was done in the page, and the page after it."""

    purposes: ClassVar[tuple[Purpose, ...]] = ("choose",)
    tone: ClassVar[Literal["good"]] = "good"

    phase: Literal["act"] = "act"
    effect: Effect
    outcome: Literal["done", "failed", "skipped"]
    message: str = ""
    """Why it failed, or what happened next to it (a dialog answered), in sentences the LLM gets to see."""
    box: Box | None = None
    """Where the acted element was."""
    restored: Restored | None = None
    """How going back ended."""
    target: str = ""
    """What was acted on, such as ``button "Save"``."""
    after: str = ""
    """The same once it was done, such as ``checkbox "Gift" checked``; empty if it is gone, or as before."""
    xpath: str = ""
    frames: tuple[int, ...] = ()
    """The frame of the element, where only its place is known: the number of a child frame, of a child of that, …"""
    settled: str = ""
    """How the wait ended: quiet, navigated, or which bound it ran into."""
    events: tuple[BrowserEvent, ...] = ()
    milliseconds: dict[str, float] = {}
    """Time by part: locate, act, settle, observe."""
    episode_ended: bool = False
    """Whether the environment has ended the episode: that ends the trial."""
    primitives: tuple[Primitive, ...] = ()
    """What a state's action was made of, in order, up to the first that failed."""
    inputs: tuple[RecordedInput, ...] = ()
    """What reached the page, to be done again."""
    became: str = ""
    """The action as it turned out, where only its beginning was known before, such as a text typed by letters."""
    sent: tuple[Sent, ...] = ()
    """What the page sent since the last action that going back does not undo."""

    def columns(self) -> dict[str, Any]:
        return {
            "effect": self.effect,
            "outcome": self.outcome,
            "message": self.message,
            "target": self.target,
            **({"action": self.became} if self.became else {}),
        }


class Aligned(Judgement, PhaseSpec):
    """align: whether it served its purpose."""

    purposes: ClassVar[tuple[Purpose, ...]] = ("aligned", "subtask", "task", "judgement", "summarise")

    phase: Literal["align"] = "align"
    judged: bool = False
    summarised: str = ""
    """By what the pages were shortened before they were judged; empty if they were judged whole."""
    calls: tuple[int, ...] = ()
    reflection: ReflectionRecord | None = None


class Committed(PhaseSpec):
    """commit: the step is sealed."""

    purposes: ClassVar[tuple[Purpose, ...]] = ("judge",)

    phase: Literal["commit"] = "commit"
    seconds: float
    seconds_in_llm: float
    held: tuple[tuple[float, float], ...] = ()
    """When the step was held within a phase, seconds since the epoch; not part of `seconds`."""
    stops: str = ""
    """The state that ends the run, where the action has led to one."""

    def columns(self) -> dict[str, Any]:
        return {"sealed": True, "seconds": self.seconds, "seconds_in_llm": self.seconds_in_llm}


PhaseRecord: TypeAlias = Annotated[
    Observed
    | Recognised
    | Recalled
    | Abstracted
    | Decided
    | Anticipated
    | Reviewed
    | Acted
    | Aligned
    | Committed,
    Field(discriminator="phase"),
]
RECORDS: dict[Phase, type[PhaseSpec]] = {
    record.model_fields["phase"].default: record for record in get_args(get_args(PhaseRecord)[0])
}
"""The record of each phase."""
PHASE_OF_PURPOSE: dict[Purpose, Phase] = {
    purpose: phase for phase, record in RECORDS.items() for purpose in record.purposes
}
"""The phase that an LLM call belongs to where no record names it."""
R = TypeVar("R")


def record_of(cls: type[R], records: Iterable[PhaseRecord]) -> R | None:
    """Return the record of that class among those of a step."""
    return next((record for record in records if isinstance(record, cls)), None)


def action_of(records: Iterable[PhaseRecord]) -> Action | None:
    """Return the action of a step: the one that was taken, the reviewed one, else the proposed one."""
    records = tuple(records)
    acted = record_of(Acted, records)
    if acted is not None and acted.became and acted.inputs:
        return acted.inputs[0].action
    reviewed, decided = record_of(Reviewed, records), record_of(Decided, records)
    if reviewed is not None:
        return reviewed.action
    return decided.proposal.action if decided is not None else None


def calls_of(record: Record) -> tuple[int, ...]:
    """Return the numbers of the LLM calls that a phase record names."""
    calls: tuple[int, ...] = getattr(record, "calls", ())
    return calls


def reflection_of(record: Record) -> ReflectionRecord | None:
    """Return the plan and the remedies as the phase left them; None if it records none."""
    reflection: ReflectionRecord | None = getattr(record, "reflection", None)
    return reflection


def last_reflection(records: Iterable[PhaseRecord]) -> ReflectionRecord | None:
    """Return the plan and the remedies as the last of a step's records has them."""
    found = [one for record in records if (one := reflection_of(record)) is not None]
    return found[-1] if found else None


def place_of(action: Action | None, observed: Observed | None, acted: Acted | None) -> Box | None:
    """Return where the acted element lies in the step's picture.

    The picture is from before the action, which may have scrolled to the
    element: so its box in the observation goes before that of `acted`.
    """
    first = action.targets[0] if action is not None and action.targets else None
    if observed is not None and isinstance(first, RefTarget):
        element = observed.observation.element(first.ref)
        if element is not None:
            return element.box
    return acted.box if acted is not None else None


class CallRecord(Record):
    """One LLM call, as the trace keeps it."""

    number: int
    """Counts up in the run, from 1."""
    step: int
    purpose: Purpose
    llm: str
    model: str = ""
    messages: BlobHash
    """JSON of the messages, tools and sampling that were sent."""
    reply: BlobHash = ""
    """JSON of the LLMReply, or empty if none came."""
    usage: Usage = Usage()
    cost: float | None = None
    started: float
    """Seconds since the epoch."""
    seconds: float = 0.0
    retries: tuple[Retry, ...] = ()
    error: str = ""

    @property
    def ended(self) -> float:
        return self.started + self.seconds

    @property
    def asked(self) -> str:
        """The LLM as it was chosen, and the model that answered, if it is called otherwise."""
        return self.llm if self.model in ("", self.llm) else f"{self.llm} ({self.model})"


def seconds_covered(spans: Iterable[tuple[float, float]]) -> float:
    """Return the wall time of spans (begin, seconds), where what overlaps counts once."""
    covered, reached = 0.0, float("-inf")
    for begun, seconds in sorted(spans):
        covered += max(begun + seconds - max(begun, reached), 0.0)
        reached = max(reached, begun + seconds)
    return covered
