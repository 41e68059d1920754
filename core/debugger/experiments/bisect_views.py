"""What the window draws of bisections, and what it may ask for."""

import csv
import io
from typing import Protocol

from core.debugger.experiments.bisect_records import Bisection, Wanted
from core.schema.record import Record
from core.schema.signal import Signal


class BisectView(Record):
    """What can be bisected of a run, and what was."""

    run: int
    ready: bool = False
    """Whether the run was read."""
    task: str = ""
    preset: str = ""
    llm: str = ""
    steps: tuple[tuple[int, str], ...] = ()
    """The steps of the run, each with what was done."""
    browser: str = ""
    """What the branches run in, as a sentence."""
    bisections: tuple[Bisection, ...] = ()
    """Those of the run, the latest last."""
    under_way: Bisection | None = None
    """The one that goes on now, of whatever run."""
    starting: bool = False
    """Whether one was asked for that has not told of itself yet."""
    notice: str = ""
    """What was done last, such as where a table was written."""
    problem: str = ""
    """Why it cannot be bisected, or what went wrong."""

    @property
    def busy(self) -> bool:
        return self.starting or self.under_way is not None


class BisectDeskCommands(Protocol):
    """Bisecting, seen from the window; safe to call from any thread."""

    changed: Signal[BisectView]

    def open(self, run: int) -> None:
        """Show what can be bisected of this run, and what was."""

    def start(self, wanted: Wanted) -> None:
        """Begin a bisection in the background; one at a time goes on."""

    def cancel(self) -> None:
        """End the one that goes on; the branches that were made are kept."""

    def export(self, bisection: Bisection, path: str) -> None:
        """Write the table as comma-separated values."""


COLUMNS = (
    "from_step",
    "the_run_did",
    "successes",
    "judged",
    "share",
    "low",
    "high",
    "llm_calls",
    "cost",
    "branches",
    "problems",
)


def as_csv(bisection: Bisection) -> str:
    """Return the table with a row for each step, as comma-separated values with a heading."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for one in sorted(bisection.results, key=lambda one: one.step):
        costs = [branch.cost for branch in one.branches if branch.cost is not None]
        writer.writerow(
            (
                one.step,
                one.action,
                one.successes,
                one.judged,
                "" if one.share is None else f"{one.share:.4f}",
                f"{one.low:.4f}" if one.judged else "",
                f"{one.high:.4f}" if one.judged else "",
                sum(branch.llm_calls for branch in one.branches),
                f"{sum(costs):.6f}" if costs else "",
                " ".join(map(str, one.runs)),
                " | ".join(one.problems),
            )
        )
    return out.getvalue()
