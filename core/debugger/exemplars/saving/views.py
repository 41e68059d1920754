"""What the window draws of keeping a run as an exemplar and of recording one by hand, and what it may ask for."""

from typing import Protocol

from core.memory.checks import Problem
from core.memory.library.records import Provenance
from core.schema.exemplar import Exemplar
from core.schema.messages import Message
from core.schema.recall import Retrieved
from core.schema.record import Record
from core.schema.signal import Signal
from core.trace.records import StepRow


class Choice(Record):
    """What of a run is to be kept; None leaves it to the survey."""

    steps: frozenset[int] | None = None
    contrasts: frozenset[int] | None = None
    """The steps whose corrections are kept; those of steps that are left out go with these."""
    reasons: dict[int, str] = {}
    """By step: why what was tried is wrong and what was done right."""
    id: str = ""
    """Empty for one made of task and run."""
    family: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    metadata: str = ""
    """Empty for task and first observation."""


class KeepStep(Record):
    """One step of the run, in the exemplar or not."""

    row: StepRow
    thought: str = ""
    """What the exemplar would tell as thought; nothing where a person changed the action that was thought of."""
    chosen: bool = False
    possible: bool = True
    """Whether it can be chosen: it has an action."""
    why: str = ""
    """Why it is left out unless it is chosen."""


class KeepContrast(Record):
    """A correction that was made in a step."""

    step: int
    tried: str
    right: str
    chosen: bool = False
    why: str = ""


class Saved(Record):
    """What was stored, and what is found for the run's task from now on."""

    id: str
    version: int = 1
    changed: bool = True
    """False where it was in the library just so."""
    rank: int = 0
    """How many are at least as near as it is, itself among them; 0 where it is not among those that were asked for."""
    distance: float | None = None
    """None while it is being looked up, or where it could not be."""
    found: tuple[Retrieved, ...] = ()
    """What would be retrieved now, by the run's preset, the nearest first."""
    why: str = ""
    """Why those are used that are."""
    problem: str = ""
    """Why it could not be looked up."""
    undone: bool = False

    @property
    def used(self) -> bool:
        """Whether a prompt for the run's task would have it now."""
        return any(one.used and one.id == self.id for one in self.found)


class KeepView(Record):
    """A run as it would be kept with what is chosen."""

    run: int
    ready: bool = False
    task: str = ""
    """Task and seed."""
    instruction: str = ""
    success: bool | None = None
    steps: tuple[KeepStep, ...] = ()
    contrasts: tuple[KeepContrast, ...] = ()
    id: str = ""
    """The id that it would have."""
    version_of: str = ""
    """The exemplar that it would be a new version of."""
    free_id: str = ""
    earlier: tuple[str, ...] = ()
    """What was kept of this run before."""
    family: str = ""
    families: tuple[str, ...] = ()
    """Those of the library, the largest first."""
    tags: tuple[str, ...] = ()
    """Those of the library, the most frequent first."""
    exemplar: Exemplar | None = None
    provenance: Provenance = Provenance()
    messages: tuple[Message, ...] = ()
    """The trajectory as the run's preset tells it to the LLM."""
    untold: str = ""
    """Why it cannot be told."""
    tokens: int = 0
    key: str = ""
    """The text that it is looked up by."""
    problems: tuple[Problem, ...] = ()
    question: str = ""
    """What is to be known before it is saved; asking a second time saves it."""
    problem: str = ""
    """Why it cannot be kept, or what went wrong."""
    busy: bool = False
    saved: Saved | None = None


class KeepDeskCommands(Protocol):
    """Keeping runs as exemplars, seen from the window; safe to call from any thread."""

    changed: Signal[KeepView]

    def open(self, run: int, first: int = 1, last: int | None = None, steps: tuple[int, ...] = ()) -> None:
        """Show what can be kept of a run; of `steps`, where there are any, only those are chosen."""

    def choose(self, choice: Choice) -> None:
        """Show the exemplar as it is with this choice."""

    def save(self, choice: Choice, *, anyway: bool = False) -> None:
        """Store it; where the run was no success that is asked about first, unless `anyway`."""

    def undo(self) -> None:
        """Put what was saved last into the archive, or go back to the version before it."""


class RecordView(Record):
    """Whether the person's doings in the page are being recorded, and how far that is."""

    recording: bool = False
    starting: bool = False
    run: int = 0
    steps: int = 0
    last: StepRow | None = None


class Recorded(Record):
    """A recording that was ended, to be kept."""

    run: int
    steps: tuple[int, ...]


class RecordDeskCommands(Protocol):
    """Recording a demonstration, seen from the window; safe to call from any thread."""

    changed: Signal[RecordView]
    recorded: Signal[Recorded]

    def record(self, *, fresh: bool) -> None:
        """Give the page to the person and record what they do, with `fresh` from the start of the task."""

    def stop(self) -> None:
        """Take the page back and hand over what was recorded; a task that is over is ended."""

    def cancel(self) -> None:
        """Take the page back and keep nothing; the steps stay in the run."""
