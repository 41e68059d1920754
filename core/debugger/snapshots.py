"""What the window draws: frozen snapshots, one for each panel.

All that belongs to a step is read from the trace, for a step of the running
run as for one of last month; so both look the same.
"""

from typing import Literal

from core.agent.records import Origin, Phase
from core.llm.protocol import Message, Role
from core.model import Record
from core.observation import Box, Element, Ref, Tab
from core.permissible import PermissibleAction, PermissibleRow
from core.task import Task
from core.trace.records import RunRow, StepRow

Mode = Literal[
    "empty",  # no task is open
    "opening",  # a task is being opened
    "waiting",  # between two phases, for the person's next command
    "running",  # going on by itself
    "asking",  # an LLM call is out
    "acting",  # an action is under way
    "answering",  # the person is the LLM, and a question is open
    "ended",  # the run has ended
    "failed",  # the world failed; the message says what to do
]


class Preset(Record):
    """A preset as the tool bar offers it."""

    name: str
    title: str
    description: str = ""


class LLMChoice(Record):
    """An LLM as the tool bar offers it."""

    name: str
    title: str
    description: str = ""


class Catalogue(Record):
    """What can be chosen: sent once at the start, and when a file of it changes."""

    tasks: tuple[Task, ...] = ()
    presets: tuple[Preset, ...] = ()
    llms: tuple[LLMChoice, ...] = ()
    problems: tuple[str, ...] = ()
    """Files that could not be read, a sentence each."""


class SessionView(Record):
    """Where the run stands: the tool bar and the status bar."""

    mode: Mode = "empty"
    message: str = ""
    """One sentence: what is going on, or what went wrong and what to do."""
    run: int | None = None
    task: str = ""
    seed: int = 0
    instruction: str = ""
    preset: str = "plain"
    llm: str = "rules"
    step: int = 0
    """The step under way, or the last one; 0 before the first."""
    max_steps: int = 30
    phase: Phase | None = None
    """The phase that comes next, or is under way."""
    calls: int = 0
    tokens: int = 0
    cost: float | None = None
    beside_llm_ms: float | None = None
    """Time of the last whole step beside the LLM."""
    handed_over: bool = False
    """Whether the person's mouse and keys reach the live page."""
    success: bool | None = None
    reward: float | None = None
    answer: str = ""
    judged: bool = False
    """Whether the task has a judge; without one the person says how it ended."""
    saved: bool = True
    pace: float = 0.0
    """Seconds to wait between steps of a run."""


class OutlineView(Record):
    """One numbered outline over the live page."""

    ref: Ref
    box: Box
    chosen: bool = False


class LivePageView(Record):
    """The live page: its tabs, and what is drawn over it."""

    tabs: tuple[Tab, ...] = ()
    url: str = ""
    outlines: tuple[OutlineView, ...] = ()
    viewport: tuple[int, int] = (0, 0)


class RunsView(Record):
    """The tree of runs, newest first, with the steps of those that were opened."""

    runs: tuple[RunRow, ...] = ()
    total: int = 0
    """Runs there are in all, or that match the search."""
    query: str = ""
    current: int | None = None
    steps: dict[int, tuple[StepRow, ...]] = {}


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


class PermissibleView(Record):
    """What may be done."""

    rows: tuple[PermissibleRow, ...] = ()
    left_out: int = 0
    chosen: str = ""
    """The chosen action as text, to be marked."""
    chosen_ref: Ref | None = None


class ActionView(Record):
    """The next action, or the one that was taken."""

    thought: str = ""
    action: str = ""
    """As text; empty where there is none."""
    proposed: str = ""
    """What the agent had proposed, where a person changed it."""
    origin: Origin = "agent"
    outcome: Literal["none", "thinking", "pending", "done", "failed", "skipped"] = "none"
    message: str = ""
    editable: bool = False
    form: tuple[PermissibleAction, ...] = ()
    """The actions to choose from when editing, with their arguments and allowed values."""
    elements: tuple[Element, ...] = ()
    """What refs stand for, to show words beside numbers."""
    streaming: str = ""
    """What the LLM has said so far, while it speaks."""
    queue: tuple[str, ...] = ()
    problem: str = ""
    """Why the edited action cannot be taken, in a sentence."""


class FrameView(Record):
    """One frame of the policy stack."""

    policy: str
    argument: str = ""
    steps: int = 0
    current: bool = False


class StackView(Record):
    """The policy stack, the current frame first."""

    frames: tuple[FrameView, ...] = ()


class ObservationView(Record):
    """What was seen, and what of it the prompt shows."""

    url: str = ""
    title: str = ""
    raw: str = ""
    raw_elements: int = 0
    raw_tokens: int = 0
    clean: str = ""
    clean_elements: int = 0
    clean_tokens: int = 0
    html: str = ""
    reused: bool = False


class MessageView(Record):
    """One message of a prompt."""

    role: Role
    text: str
    tokens: int
    images: int = 0


class CallView(Record):
    """One LLM call."""

    number: int
    purpose: str
    llm: str
    model: str = ""
    messages: tuple[MessageView, ...] = ()
    tools: str = ""
    """The tool schemas as JSON text, indented."""
    sampling: str = ""
    reply: str = ""
    """The reply's text and tool calls as they came."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tokens_estimated: bool = False
    cost: float | None = None
    seconds: float = 0.0
    retries: tuple[str, ...] = ()
    error: str = ""


class ScreenshotView(Record):
    """The picture of a step, with what was acted on."""

    data: bytes = b""
    viewport: tuple[int, int] = (0, 0)
    box: Box | None = None
    caption: str = ""


class StepView(Record):
    """Everything of one step."""

    run: int
    number: int
    row: StepRow | None = None
    live: bool = True
    """Whether this is the step under way; else the recorded one covers the live page."""
    state: StateView = StateView()
    permissible: PermissibleView = PermissibleView()
    action: ActionView = ActionView()
    stack: StackView = StackView()
    observation: ObservationView = ObservationView()
    calls: tuple[CallView, ...] = ()
    screenshot: ScreenshotView = ScreenshotView()
    interventions: tuple[str, ...] = ()
    events: tuple[str, ...] = ()


class PersonQuestion(Record):
    """A request that the person answers in the LLM's place."""

    purpose: str
    messages: tuple[Message, ...]
    needs_action: bool = True


class LogLine(Record):
    """One line of the log."""

    time: float
    """Seconds since the epoch."""
    level: Literal["info", "warning", "error"] = "info"
    source: str
    text: str


class Picked(Record):
    """The element a person pointed at in the page."""

    ref: Ref | None
    label: str = ""
    box: Box | None = None
    final: bool = False
    """True for a click, False while the pointer only rests on it."""
