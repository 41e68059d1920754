"""What the window draws of exemplars that are tried out, and what it may ask for."""

import csv
import io
from typing import Protocol

from core.debugger.experiments.records import (
    CreditSum,
    Experiment,
    Replayed,
    ReplayTally,
    Subject,
    WorthWanted,
)
from core.schema.record import Record
from core.schema.signal import Signal


class ReplayedRow(Record):
    """What came of an exemplar that was replayed last."""

    found: Replayed
    is_old: bool = False
    """Whether the exemplar was changed since."""
    is_there: bool = True
    """Whether it is still there, and not in the archive."""


class ProvingView(Record):
    """What was found out about exemplars, and what goes on."""

    ready: bool = False
    """Whether the library was read."""
    browser: str = ""
    """What the runs work in, as a sentence."""
    subject: Subject | None = None
    """Whose worth is in view; None for all."""
    recorded_at: tuple[tuple[str, int], ...] = ()
    """The tasks and seeds that the subject came from."""
    versions: tuple[int, ...] = ()
    """The versions of the subject's exemplar, where it is one of the library."""
    families: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    """The ids of all tasks there are."""
    experiments: tuple[Experiment, ...] = ()
    """Those of the subject, or the last of all, the latest last."""
    replays: tuple[ReplayedRow, ...] = ()
    """The last of each exemplar that was replayed, those that failed first."""
    credits: tuple[CreditSum, ...] = ()
    trace: str = ""
    """The database of traces whose runs can be opened."""
    experiment: Experiment | None = None
    """The one that goes on now, of whatever subject."""
    tally: ReplayTally | None = None
    """How far replaying has come, where it goes on."""
    starting: bool = False
    """Whether something was asked for that has not told of itself yet."""
    notice: str = ""
    """What was done last."""
    problem: str = ""

    @property
    def busy(self) -> bool:
        return self.starting or self.experiment is not None or self.tally is not None


class ProvingDeskCommands(Protocol):
    """Trying exemplars out, seen from the window; safe to call from any thread."""

    changed: Signal[ProvingView]

    def open(self, subject: Subject | None) -> None:
        """Show what is known of a subject, or of all."""

    def start(self, wanted: WorthWanted) -> None:
        """Begin an experiment in the background; one thing at a time goes on."""

    def replay(self, ids: tuple[str, ...]) -> None:
        """Replay these exemplars in the background, or all of the library where none is named."""

    def cancel(self) -> None:
        """End what goes on; what was found out is kept."""

    def export(self, experiment: Experiment, path: str) -> None:
        """Write the pairs of an experiment as comma-separated values."""


COLUMNS = (
    "task",
    "seed",
    "time",
    "with",
    "without",
    "flip",
    "used",
    "run_with",
    "run_without",
    "steps_with",
    "steps_without",
    "llm_calls_with",
    "llm_calls_without",
    "errors",
)


def as_csv(experiment: Experiment) -> str:
    """Return a row for each pair, as comma-separated values with a heading."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    told = {True: "success", False: "no success", None: "not judged"}
    for one in experiment.pairs:
        a, b = one.with_it, one.without_it
        writer.writerow(
            (
                one.task,
                one.seed,
                one.time,
                told[a.success],
                told[b.success],
                one.flip,
                "yes" if a.used else "no",
                a.run,
                b.run,
                a.steps,
                b.steps,
                a.llm_calls,
                b.llm_calls,
                " | ".join(filter(None, (a.error, b.error))),
            )
        )
    return out.getvalue()
