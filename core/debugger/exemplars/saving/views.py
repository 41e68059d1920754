"""What the window draws of recording a demonstration, and of saving a run as an exemplar."""

from core.debugger.exemplars.library.views import ExemplarPrompt
from core.debugger.exemplars.trying.views import ReplayResult
from core.exemplars.library.records import Provenance
from core.exemplars.problem import Problem
from core.schema.exemplar import Exemplar, Retrieved
from core.schema.record import Record
from core.trace.records import StepRow


class SavingChoice(Record):
    """What of a run is to be saved; None leaves it to the survey."""

    steps: frozenset[int] | None = None
    contrasts: frozenset[int] | None = None
    """The steps whose corrections are saved; those of steps that are left out go with these."""
    reasons: dict[int, str] = {}
    """By step: why the first action was wrong and the correction right."""
    id: str = ""
    """Empty for one made of task and run."""
    family: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    metadata: str = ""
    """Empty for task and first observation."""
    placeholders: bool = False
    """Whether those that the view offers are put in place of their values."""


class SavingStep(Record):
    """One step of the run, in the exemplar or not."""

    row: StepRow
    thought: str = ""
    """What the exemplar would have as thought; nothing if a person changed the action that was thought of."""
    chosen: bool = False
    possible: bool = True
    """Whether it can be chosen: it has an action."""
    why: str = ""
    """Why it is left out unless it is chosen."""


class SavingContrast(Record):
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
    """False if it was in the library just so."""
    unused: str = ""
    """Why no run recalls it yet, as a sentence; empty if runs do."""
    preset: str = ""
    """The preset in use; empty with an attached agent, which has none."""
    recalls: bool = True
    """Whether that looks exemplars up."""
    rank: int = 0
    """How many are at least as near as it is, itself among them; 0 if it is not among those that were asked for."""
    distance: float | None = None
    """None while it is being looked up, or where it could not be."""
    found: tuple[Retrieved, ...] = ()
    """What would be retrieved now, by the preset in use if it looks exemplars up, the nearest first."""
    why: str = ""
    """Why those are used that are."""
    problem: str = ""
    """Why it could not be looked up."""
    undone: bool = False
    change: str = ""
    """The name of the change, for undoing it."""

    @property
    def used(self) -> bool:
        """Whether a prompt for the run's task would have it now."""
        return any(one.used and one.id == self.id for one in self.found)


class SavingView(Record):
    """A run as the exemplar that it would be with what is chosen."""

    run: int
    ready: bool = False
    task: str = ""
    """Task and seed."""
    instruction: str = ""
    success: bool | None = None
    steps: tuple[SavingStep, ...] = ()
    contrasts: tuple[SavingContrast, ...] = ()
    id: str = ""
    """The id that it would have."""
    version_of: str = ""
    """The exemplar that it would be a new version of."""
    free_id: str = ""
    earlier: tuple[str, ...] = ()
    """What was saved of this run before."""
    family: str = ""
    families: tuple[str, ...] = ()
    """Those of the library, the largest first."""
    tags: tuple[str, ...] = ()
    """Those of the library, the most frequent first."""
    placeholders: dict[str, str] = {}
    """Values that are typed and that the task names, each with the placeholder that could stand for it."""
    exemplar: Exemplar | None = None
    provenance: Provenance = Provenance()
    prompt: ExemplarPrompt = ExemplarPrompt()
    """The trajectory as the run's preset shows it to the LLM."""
    key: str = ""
    """The text that it is looked up by."""
    problems: tuple[Problem, ...] = ()
    playing: str = ""
    """What is done of it now, while it is being replayed from the start."""
    played: ReplayResult | None = None
    """The result of that; None if it was not replayed as it is now."""
    question: str = ""
    """What is to be known before it is saved; asking a second time saves it."""
    problem: str = ""
    """Why it cannot be saved, or what went wrong."""
    busy: bool = False
    saved: Saved | None = None


class RecordingView(Record):
    """Whether the person's doings in the page are being recorded, and how far that is."""

    recording: bool = False
    starting: bool = False
    run: int = 0
    steps: int = 0
    last: StepRow | None = None


class RecordedSteps(Record):
    """A recording that was ended, to be kept."""

    run: int
    steps: tuple[int, ...]
