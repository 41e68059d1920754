"""The views of experiments."""

from abc import abstractmethod
from typing import Generic, TypeVar

from core.debugger.experiments.bisect import Bisection
from core.debugger.experiments.measurement import JobReport, Measurement
from core.debugger.experiments.worth_records import (
    AttributionSum,
    ReplayReport,
    ReplayResult,
    Subject,
    Worth,
)
from core.schema.record import Record

M = TypeVar("M", bound=Measurement)


class ExperimentView(Record, Generic[M]):
    """The results of an experiment so far."""

    ready: bool = False
    """Whether it was read."""
    browser: str = ""
    """What the runs work in, as a sentence."""
    kept: tuple[M, ...] = ()
    """The latest last."""
    under_way: M | None = None
    """The one that goes on now, of whatever subject."""
    starting: bool = False
    """Whether a job was asked for that has not reported yet."""
    notice: str = ""
    """What was done last, such as where a table was written."""
    problem: str = ""
    """Why nothing can be measured, or what went wrong."""

    @property
    @abstractmethod
    def about(self) -> object:
        """What is in view."""

    @property
    def job(self) -> JobReport | None:
        """What goes on now."""
        return self.under_way

    @property
    def busy(self) -> bool:
        return self.starting or self.job is not None

    @property
    def can_start(self) -> bool:
        return self.ready and not self.busy

    @property
    @abstractmethod
    def going(self) -> M | None:
        """The one that goes on now, if it is of what is in view."""

    @property
    def measurements(self) -> tuple[M, ...]:
        """Those kept, with the one that goes on so far, the latest last."""
        going = self.going
        if going is None:
            return self.kept
        return (*(one for one in self.kept if one.number != going.number), going)


class BisectView(ExperimentView[Bisection]):
    """What can be bisected in a run, and earlier results."""

    run: int
    task: str = ""
    preset: str = ""
    llm: str = ""
    steps: tuple[tuple[int, str], ...] = ()
    """The steps of the run, each with what was done."""

    @property
    def about(self) -> int:
        return self.run

    @property
    def can_start(self) -> bool:
        return super().can_start and bool(self.steps)

    @property
    def going(self) -> Bisection | None:
        return self.under_way if self.under_way is not None and self.under_way.run == self.run else None


class ReplayRow(Record):
    """The result of an exemplar that was replayed last."""

    found: ReplayResult
    is_old: bool = False
    """Whether the exemplar was changed since."""
    is_there: bool = True
    """Whether it is still there, and not in the archive."""

    @property
    def rank(self) -> tuple[int, str]:
        """What rows are sorted by: those that failed first."""
        return {False: 0, None: 1, True: 2}[self.found.success], self.found.id


class WorthView(ExperimentView[Worth]):
    """The results about exemplars, and the current job."""

    subject: Subject | None = None
    """Whose experiments are in view; None for the last of all."""
    recorded_at: tuple[tuple[str, int], ...] = ()
    """The tasks and seeds that the subject came from."""
    versions: tuple[int, ...] = ()
    """The versions of the subject's exemplar, if it is one of the library."""
    families: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    """The ids of all tasks there are."""
    replay: ReplayReport | None = None
    """How far replaying has come, where it continues."""
    replays: tuple[ReplayRow, ...] = ()
    """The last of each exemplar that was replayed, those that failed first."""
    attributions: tuple[AttributionSum, ...] = ()
    trace: str = ""
    """The database of traces whose runs can be opened."""

    @property
    def about(self) -> Subject | None:
        return self.subject

    @property
    def job(self) -> JobReport | None:
        return self.under_way or self.replay

    @property
    def going(self) -> Worth | None:
        one = self.under_way
        is_other = one is not None and self.subject is not None and one.subject.name != self.subject.name
        return None if is_other else one
