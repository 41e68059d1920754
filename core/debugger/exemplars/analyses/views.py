"""The view of an analysis, and the results that it shows."""

from typing import Generic, TypeVar

from core.debugger.jobs import JobView
from core.exemplars.analysis.records import LookupTrial, NearPair, PairsFound
from core.schema.exemplar import RecallSettings, metadata_of
from core.schema.record import Record

AnyResult = TypeVar("AnyResult", bound=Record)


class AnalysisView(JobView, Generic[AnyResult]):
    """What goes on, what went wrong or was done last, and the result so far."""

    problem: str = ""
    notice: str = ""
    """What was done last."""
    result: AnyResult | None = None
    """None before there is any."""


class PairTexts(Record):
    """Both exemplars of a pair, as text."""

    ids: tuple[str, str]
    left: str
    right: str


class Duplicates(PairsFound):
    """The pairs that were found so far, and what a person made of them."""

    with_kept: bool = False
    """Whether pairs of which both are to be kept are listed too."""
    kept: frozenset[tuple[str, str]] = frozenset()
    """The pairs of which a person said that both are to be kept."""
    retired: frozenset[str] = frozenset()
    """What was retired since the pairs were found."""
    texts: PairTexts | None = None

    @property
    def open(self) -> tuple[NearPair, ...]:
        """The pairs that still exist, whether they are listed or not."""
        return tuple(pair for pair in self.pairs if not self.retired & {*pair.ids})

    @property
    def listed(self) -> tuple[NearPair, ...]:
        return tuple(pair for pair in self.open if self.with_kept or pair.ids not in self.kept)


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
    preset: str = ""
    """The preset of the run that it was taken from; `settings` are its."""

    @property
    def text(self) -> str:
        """The text that exemplars are compared with."""
        task = self.task.strip()
        return task if task.startswith("Task:") else metadata_of(task, self.observation)


class TaskPlace(Record):
    """Where a task lies on a map."""

    across: float
    up: float
    near: tuple[tuple[int, float], ...] = ()
    """The exemplars nearest to it: their places among the points, with their distances by weight."""


class ExemplarMap(Record):
    """All exemplars in the plane."""

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
    task: TaskPlace | None = None
    """The task that was looked up last."""


class Bench(Record):
    """The lookup that was tried last, and what lookups can be tried with."""

    query: BenchQuery | None = None
    """What `trial` is of."""
    trial: LookupTrial | None = None
    draft: str = ""
    """The id of the exemplar that is tried as it was changed."""
    members: int | None = None
    """How many exemplars there are; None before it is known."""
    presets: tuple[tuple[str, RecallSettings], ...] = ()
    """The settings of each preset that recalls."""
    environments: tuple[str, ...] = ()
    map: ExemplarMap | None = None
    """None before it was drawn."""
