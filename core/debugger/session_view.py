"""The status of the run, for the tool bar and the status bar, and the tree of runs."""

from typing import Literal

from core.schema.events import ScriptWait
from core.schema.record import Record
from core.schema.step import Phase
from core.trace.records import InterventionKind, RunRow, StepRow

Mode = Literal[
    "empty",  # no task is open
    "opening",  # a task is being opened
    "waiting",  # between two phases, for the person's next command
    "running",  # going on by itself
    "asking",  # an LLM call is out
    "acting",  # an action is in progress
    "answering",  # the person is the LLM, and a question is open
    "ended",  # the run has ended
    "failed",  # the world failed; the message says what to do
]


class AmountView(Record):
    """The number of a mechanism, which can be set."""

    mechanism: str
    label: str
    value: int
    by_preset: int = 0
    least: int
    most: int


class MechanismView(Record):
    """A mechanism of the agent, with its switch."""

    name: Literal["states", "policies", "plan", "remedies", "judgement", "abstraction", "memory"]
    title: str
    on: bool = False
    by_preset: bool = False
    """What the preset says; the switch says otherwise where it differs from `on`."""
    description: str = ""
    amount: AmountView | None = None


class CommandResult(Record):
    """The result of a command."""

    number: int
    """Counts what was told: the same sentence may be told again."""
    text: str
    done: bool
    """Whether it was carried out; else the sentence says why not."""
    title: str = ""
    """What it is about, of what has no command and stays shown until it is closed; empty for the usual title."""
    asks: bool = False
    """Whether the person is asked to go back anyway."""


class EditMade(Record):
    """An edit of the current run that can be undone or redone."""

    key: str
    """Tells it from every other edit, of this and of other runs."""
    kind: InterventionKind


class SessionView(Record):
    """The status of the run, for the tool bar and the status bar."""

    mode: Mode = "empty"
    message: str = ""
    """One sentence: what is going on, or what went wrong and what to do."""
    told: CommandResult | None = None
    """The result of the last command that had one."""
    stopped_at: str = ""
    """While the run waits at a breakpoint or for a watch that changed: which, and why."""
    held_request: str = ""
    """What the page is about to send or open and is held, such as ``POST https://…``."""
    crossing: str = ""
    """The site that what is held leads to, or the file that it gives to a page; nothing if it is another request."""
    sites: tuple[str, ...] = ()
    """The sites that the agent may open."""
    doubt: Literal["", "picture", "lost"] = ""
    """Of the page that was restored, until the run continues: it has the recorded elements and another picture, or it
    is not the recorded one."""
    script: ScriptWait | None = None
    """A page that does not answer at this moment; the session is in another mode meanwhile."""
    run: int | None = None
    task: str = ""
    seed: int = 0
    seeded: bool = False
    """Whether another seed makes another task."""
    instruction: str = ""
    url: str = ""
    """Where a task of the open web starts; others have their own."""
    profile: str = ""
    """The named browser profile; none for a clean one."""
    preset: str = "plain"
    attached: bool = False
    """Whether an attached agent carries the run out, which uses no preset and has no step limit."""
    llm: str = "rules"
    step: int = 0
    """The current step, or the last one; 0 before the first."""
    max_steps: int = 30
    """The limit of runs that are opened from now on."""
    page_actions: int = 0
    most_page_actions: int = 30
    """Page actions after which the run ends."""
    phase: Phase | None = None
    """The phase that comes next, or is in progress."""
    calls: int = 0
    tokens: int = 0
    cost: float | None = None
    beside_llm_ms: float | None = None
    """Time of the last whole step without the LLM."""
    handed_over: bool = False
    """Whether the person's mouse and keys reach the live page."""
    success: bool | None = None
    reward: float | None = None
    answer: str = ""
    judged: bool = False
    """Whether the task has a judge; without one the person says how it ended."""
    saved: bool = True
    """Whether the trace took what has been done; False from a failure of it until it takes more."""
    pace: float = 0.0
    """Seconds to wait between steps of a run."""
    mechanisms: tuple[MechanismView, ...] = ()
    trial: int = 1
    edits: tuple[EditMade, ...] = ()
    """The edits of the run that can be undone, in the order in which they were made."""
    undone: tuple[EditMade, ...] = ()
    """The edits of the run that were undone and can be redone, the next one last."""
    refusals: dict[str, str] = {}
    """Why texts and edits of the run cannot be had now, by name as `core.agent.edits.registry` has them."""
    held_call: int = 0
    """The number of the LLM call that is held before it is made; 0 for none."""
    held_reply: int = 0
    """The number of the LLM call that is held with its reply; 0 for none."""
    held_edits: tuple[EditMade, ...] = ()
    """The edits of the held prompt or reply, which can be undone, in the same order."""
    held_undone: tuple[EditMade, ...] = ()
    """Those of them that were undone and can be redone, the next one last."""


class RunsView(Record):
    """The tree of runs, newest first, with the steps of those that were opened."""

    runs: tuple[RunRow, ...] = ()
    total: int = 0
    """Runs there are in all, or that match the search."""
    more: bool = False
    """Whether older ones can be asked for."""
    query: str = ""
    current: int | None = None
    steps: dict[int, tuple[StepRow, ...]] = {}

    def lacks(self, run: int) -> bool:
        """Return whether a run was deleted, as far as the list tells: it would be in it."""
        listed = {row.run for row in self.runs}
        oldest = min(listed - {self.current}, default=run)
        return run not in listed and not self.query and (not self.more or run > oldest)
