"""A step as its panels draw it: one frozen record for each panel.

All data of a step is read from the trace, for the current run as for one of last month, so both look the same.
"""

from typing import Any, Literal

from core.schema.action_space import PermissibleAction, PermissibleRow
from core.schema.exemplar import Retrieved
from core.schema.messages import Message, Role
from core.schema.observation import Box, Element, Ref
from core.schema.progress import SetAside, Subtask
from core.schema.record import Record
from core.schema.restore import Grade
from core.schema.step import CallRecord, Fit, Judgement, Origin, RemedyRecord
from core.trace.records import StepRow


class DiagramState(Record):
    """One state of the space, as the diagram draws it."""

    name: str
    title: str = ""
    stops: bool = False
    """Whether the run is over when it is reached."""
    current: bool = False
    visits: int = 0
    """How often the run has been in it up to this step."""


class DiagramEdgeView(Record):
    """An edge from one state to another."""

    source: str
    target: str
    actions: tuple[str, ...] = ()
    """The actions that lead there, by the file or as seen."""
    taken: int = 0
    """How often the run has gone it up to this step."""
    last: bool = False
    """Whether it was the last one gone."""


class SetAsideView(SetAside):
    """A candidate that was set aside."""

    kept: tuple[tuple[str, str], ...] = ()
    """What its pages told, by name."""
    chosen: bool = False
    """Whether it was chosen at the budget."""


class StateView(Record):
    """The recognised state."""

    space: str = ""
    state: str = ""
    why: str = ""
    also: tuple[str, ...] = ()
    url: str = ""
    title: str = ""
    message: str = ""
    """In place of the rest where the step has none."""
    instruction: str = ""
    """Instruction from the file of the state."""
    file: str = ""
    """The path of the state space, to be edited; empty if it is not a file."""
    states: tuple[DiagramState, ...] = ()
    """The diagram; empty for a space that has no file."""
    edges: tuple[DiagramEdgeView, ...] = ()
    fits: tuple[Fit, ...] = ()
    buffer: tuple[SetAsideView, ...] = ()
    remembered: tuple[tuple[str, str], ...] = ()
    """What later states are told, by name, and what is kept of candidates that were not set aside."""
    transitions: int = 0
    transitions_limit: int | None = None
    choose_at: int | None = None
    """After this many transitions something of the buffer has to be chosen."""


Side = Literal["before", "after"]
"""Which page of a step is shown: the one that it observed, or the one that its action led to."""


class PermissibleView(Record):
    """The permissible actions."""

    rows: tuple[PermissibleRow, ...] = ()
    left_out: int = 0
    beside: tuple[str, ...] = ()
    """What else the page of the current step offers, by name; a person may permit it for the step."""
    chosen: str = ""
    """The chosen action as text, to be marked."""
    chosen_ref: Ref | None = None
    message: str = ""
    """In place of the rest: why there is none."""


class ActionView(Record):
    """The next action, or the one that was carried out."""

    told: str = ""
    """The step of an attached agent that this is, as the agent tells it; empty if it tells none."""
    thought: str = ""
    action: str = ""
    """As text; empty if there is none."""
    proposed: str = ""
    """What the agent had proposed, where a person changed it."""
    origin: Origin = "agent"
    outcome: Literal["none", "thinking", "pending", "done", "failed", "skipped"] = "none"
    message: str = ""
    editable: bool = False
    form: tuple[PermissibleAction, ...] = ()
    """The actions to choose from when editing, with their arguments and allowed values."""
    elements: tuple[Element, ...] = ()
    """What refs stand for, to show words next to numbers."""
    streaming: str = ""
    """What the LLM has said so far, while it speaks."""
    queue: tuple[str, ...] = ()
    votes: tuple[str, ...] = ()
    """Where several replies were sampled: how many agreed, then what each said, a line each."""
    cut: str = ""
    """Which actions of an earlier reply were dropped, and why."""
    problem: str = ""
    """Why the edited action cannot be taken, in a sentence."""


class FrameView(Record):
    """One frame of the policy stack, at work or ended."""

    policy: str
    argument: str = ""
    """What it was called with, in words."""
    steps: int = 0
    current: bool = False
    number: int = 0
    """Counts up in the run, from 1."""
    state: Literal["acting", "waiting", "returned", "lacked", "left"] = "acting"
    """``waiting``: for what it has called. ``left``: the run went back to before it."""
    began: int = 0
    """The step it began at."""
    result: str = ""
    """What it came back with, or what it lacked."""
    history: tuple[str, ...] = ()
    """Its own steps, a line each."""
    notes: tuple[str, ...] = ()
    calls: tuple[int, ...] = ()
    """The LLM calls of this step that were asked in it; the Prompt panel shows them."""
    file: str = ""
    """The path of the policy, to be edited."""


class StackView(Record):
    """The policy stack, current frame first, and the frames that have ended."""

    frames: tuple[FrameView, ...] = ()
    finished: tuple[FrameView, ...] = ()
    """The latest first."""
    depth_limit: int = 0
    calls: int = 0
    """Policies called in the run."""
    calls_limit: int = 0
    callable: tuple[str, ...] = ()
    """The policies that the one at work may call."""
    message: str = ""
    """In place of the rest: why there is none."""


class JudgementView(Judgement):
    """The judgement of one step."""

    step: int
    summarised: bool = False
    """Whether the page was too long and a summary was judged."""


class GradeView(Record):
    """How going back to a step ended."""

    step: int
    """The step that went back."""
    to: int
    grade: Grade
    strategy: str = ""
    seconds: float = 0.0
    differences: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


class PlanView(Record):
    """Plan & remedies."""

    subtasks: tuple[Subtask, ...] = ()
    revision: int = 0
    author: Literal["agent", "person"] = "agent"
    remark: str = ""
    editable: bool = False
    told: bool = False
    """Whether it is what an attached agent has said."""
    trial: int = 1
    trials: int = 1
    """Trials that are allowed."""
    remedies: tuple[RemedyRecord, ...] = ()
    """The topmost of the stack first; those that no longer wait after them."""
    judgements: tuple[JudgementView, ...] = ()
    """The latest first."""
    grades: tuple[GradeView, ...] = ()
    """The latest first."""
    experience: str = ""
    """What was learned of trials that failed."""
    message: str = ""
    """In place of the rest: why there is none."""


class ExemplarRow(Retrieved):
    """One exemplar that was retrieved."""

    trajectory: str = ""
    """The whole trajectory as text to read; empty for those that were not used."""
    added: bool = False
    """Whether a person added it: its distance was not measured."""
    told: bool = False
    """Whether an attached agent has said that it was shown it: it is in no memory of ours."""


class ExemplarsView(Record):
    """Exemplars: the query to the memory, and the result."""

    query: str = ""
    embedding: str = ""
    family: str = ""
    votes: tuple[tuple[str, int], ...] = ()
    threshold: float | None = None
    rows: tuple[ExemplarRow, ...] = ()
    """Used ones first, then the nearest that were not."""
    why: str = ""
    recalled_at: int = 0
    """The step at which they were recalled."""
    problems: tuple[str, ...] = ()
    """Lines of exemplar files that are left out, with what is wrong."""
    message: str = ""
    """In place of the rest: why there is none."""


class PageChanges(Record):
    """The differences of an observation from that of the step before."""

    compared: bool = False
    """Whether there was one to compare with."""
    new: tuple[Ref, ...] = ()
    changed: dict[Ref, str] = {}
    """Elements that say something else now, each with what it said before, without its ref."""
    gone: int = 0
    """Elements that are not there any more."""


class ObservationView(Record):
    """The observation, and the part of it that the prompt shows."""

    url: str = ""
    title: str = ""
    raw: str = ""
    raw_elements: int = 0
    raw_tokens: int = 0
    clean: str = ""
    clean_elements: int = 0
    clean_tokens: int = 0
    abstraction: str = ""
    """How the clean observation was made, in words."""
    problem: str = ""
    """Why it was not made as it should have been, and what was done instead."""
    kept: tuple[Ref, ...] = ()
    """The elements that were kept, to be marked in the page; empty if all were."""
    code: str = ""
    """The parser that the LLM wrote, if it did."""
    html: str = ""
    reused: bool = False
    changes: PageChanges = PageChanges()
    elements: tuple[Element, ...] = ()
    """What refs stand for in this observation."""
    message: str = ""
    """In place of the rest: why there is none."""


class MessageView(Record):
    """One message of a prompt."""

    role: Role
    text: str
    tokens: int
    images: int = 0


class CallView(Record):
    """One LLM call."""

    record: CallRecord
    messages: tuple[MessageView, ...] = ()
    sent: tuple[dict[str, Any], ...] = ()
    """The messages as chat completions take them, without their pictures."""
    tools: str = ""
    """The tool schemas, or the schema of the whole reply, as JSON text, indented."""
    sampling: str = ""
    reply: str = ""
    """The reply's text and tool calls as they came."""
    reasoning: str = ""
    """What a reasoning model thought, where the server tells it apart from the reply."""
    note: str = ""
    """What is to be known of the reply."""
    reasoning_tokens: int = 0
    """How many of the completion tokens were reasoning."""
    cached_cost: float | None = None
    """What of the cost is for the cached tokens."""


class ScreenshotView(Record):
    """The picture of a step, with the element of its action."""

    data: bytes = b""
    viewport: tuple[int, int] = (0, 0)
    box: Box | None = None
    caption: str = ""
    missing: str = ""
    """Why there is no picture, if it is not that none was taken or kept."""


class StepView(Record):
    """Everything of one step."""

    run: int
    number: int
    row: StepRow | None = None
    live: bool = True
    """Whether this is the current step; else the recorded one covers the live page."""
    side: Side = "before"
    """Which page state, permissible actions, observation and screenshot describe; the rest is of the step itself."""
    state: StateView = StateView()
    permissible: PermissibleView = PermissibleView()
    action: ActionView = ActionView()
    stack: StackView = StackView()
    plan: PlanView = PlanView()
    exemplars: ExemplarsView = ExemplarsView()
    observation: ObservationView = ObservationView()
    calls: tuple[CallView, ...] = ()
    screenshot: ScreenshotView = ScreenshotView()
    interventions: tuple[str, ...] = ()
    events: tuple[str, ...] = ()


class PersonQuestion(Record):
    """A request that the person answers instead of the LLM."""

    purpose: str
    messages: tuple[Message, ...]
    needs_action: bool = True
