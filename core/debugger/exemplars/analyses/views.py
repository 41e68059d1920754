"""The views of the analyses."""

from typing import Literal

from core.debugger.snapshots import JobView
from core.memory.analysis.records import LeftOutExemplar, Lonely, LookupTrial, MemberFound, Sameness
from core.schema.exemplar import RecallSettings
from core.schema.record import Record


class AnalysisView(JobView):
    """The common part of these views."""

    problem: str = ""
    notice: str = ""
    """What was done last."""


class DuplicatePair(Record):
    """Two very similar exemplars."""

    id: str
    other: str
    distance: float
    same: Sameness
    family: str
    other_family: str
    task: str
    other_task: str
    read_only: bool = False
    other_read_only: bool = False
    kept: bool = False
    """Whether a person said that both are to be kept."""

    @property
    def ids(self) -> tuple[str, str]:
        return self.id, self.other


class PairTexts(Record):
    """Both exemplars of a pair, as text."""

    id: str
    other: str
    left: str
    right: str


class DuplicatesView(AnalysisView):
    """The pairs that were found so far."""

    asked: bool = False
    within: float = 0.15
    members: int = 0
    compared: int = 0
    whole: bool = False
    """Whether all were compared with all."""
    more: bool = False
    """Whether there may be more within the distance than are listed."""
    groups: tuple[tuple[DuplicatePair, ...], ...] = ()
    """Pairs that hang together, the nearest first."""
    hidden: int = 0
    """Pairs that are not listed because both are to be kept."""
    pair: PairTexts | None = None


class NearOnMap(Record):
    """One of the nearest to the task."""

    id: str
    family: str
    task: str
    distance: float
    """The real one."""
    place: int | None = None
    """Its place among the points; None if it came after the map was drawn."""


class TaskOnMap(Record):
    """The current task among the exemplars."""

    text: str
    across: float
    up: float
    near: tuple[NearOnMap, ...] = ()


class MapView(AnalysisView):
    """All exemplars in the plane."""

    asked: bool = False
    points: bytes = b""
    """Two 32-bit floats each: across and up."""
    families: bytes = b""
    """A 32-bit integer each: its place in `names`."""
    names: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    share: float = 0.0
    """How much of the squared distances from the middle the plane shows."""
    embedding: str = ""
    stale: bool = False
    """Whether exemplars were added, changed or archived since."""
    alone: tuple[tuple[str, str], ...] = ()
    """Families of one member, each with its id."""
    lonely: tuple[Lonely, ...] = ()
    """The exemplars furthest from all others."""
    lonely_known: bool = False
    task: TaskOnMap | None = None
    wanted_task: str = ""
    """The task that is to be shown, which may still be on its way."""


class BenchQuery(Record):
    """What is looked up."""

    task: str = ""
    observation: str = ""
    environment: str = ""
    """Of the task; it counts where other environments do not."""
    settings: RecallSettings = RecallSettings()
    other: RecallSettings | None = None
    """Settings to compare with."""
    source: str = ""
    """Where the task was taken from, such as ``run 12, step 3``."""


class BenchView(AnalysisView):
    """A lookup that was tried."""

    query: BenchQuery | None = None
    """What `trial` is of, or what is looked up now."""
    trial: LookupTrial | None = None
    draft: str = ""
    """The id of the exemplar that is tried as it was changed."""
    members: int | None = None
    """How many exemplars there are; None before it is known."""
    presets: tuple[tuple[str, RecallSettings], ...] = ()
    """The settings of each preset that recalls."""
    environments: tuple[str, ...] = ()
    taken: BenchQuery | None = None
    """A task from a run, for the form."""
    taken_number: int = 0
    """Counts the tasks taken, so that the same one can be filled in again."""


class LeaveOneOutView(AnalysisView):
    """Leave-one-out, so far."""

    asked: bool = False
    votes: int = 3
    source: str = ""
    """The file of texts that were taken in place of the exemplars; empty for the exemplars."""
    found: LeftOutExemplar | None = None
    members: tuple[MemberFound, ...] = ()
    total: int = 0
    """How many are to be left out in all."""

    @property
    def whole(self) -> bool:
        return self.found is not None and self.found.members >= self.total


Table = Literal["families", "exemplars"]
