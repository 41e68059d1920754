"""Runs the task of a run at other seeds, with the files before and after a change."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from core.debugger.experiments.measurement import Measurement, RunResult

if TYPE_CHECKING:
    # The window imports this, and loads no database.
    from core.debugger.headless import RunReport
    from core.trace.store import TraceStore

from core.schema.record import Record

Side = Literal["before", "after"]
SIDES: tuple[Side, Side] = ("before", "after")


class FamilyRun(Record):
    """One run of the family."""

    seed: int
    side: Side
    result: RunResult


class Family(Measurement):
    """A family with its results so far."""

    run: int
    """The run that failed."""
    fixed: int = 0
    """The run that was made with what was changed; 0 for none."""
    task: str
    seeds: tuple[int, ...]
    """A seed more than once where the task has none and is repeated."""
    runs: tuple[FamilyRun, ...] = ()

    @property
    def what(self) -> str:
        return f"{self.task} at {len(self.seeds)} other seeds"

    @property
    def run_results(self) -> Iterable[RunResult]:
        return (one.result for one in self.runs)

    @property
    def done(self) -> int:
        return len(self.runs)

    @property
    def total(self) -> int:
        return len(self.seeds) * len(SIDES)

    def counted(self, side: Side) -> tuple[int, int]:
        """Return successes and judged runs of a side."""
        judged = [
            one.result.success for one in self.runs if one.side == side and one.result.success is not None
        ]
        return sum(judged), len(judged)

    @property
    def sentence(self) -> str:
        (before, of_before), (after, of_after) = (self.counted(side) for side in SIDES)
        return f"{before} of {of_before} before, {after} of {of_after} after"

    def table(self) -> Sequence[Mapping[str, object]]:
        """Return a row for each run."""
        return [
            {
                "seed": one.seed,
                "side": one.side,
                "success": one.result.success,
                "reward": one.result.reward,
                "steps": one.result.steps,
                "run": one.result.run,
                "error": one.result.error,
            }
            for one in self.runs
        ]


def stored_family(store: "TraceStore", run: int) -> Family | None:
    """Return the latest family of a run, read from its runs; None where there is none."""
    found = store.family_runs(run)
    if not found:
        return None
    when = max(place.when for place, _ in found)
    latest = [(place, row) for place, row in found if place.when == when]
    place, first = latest[0]
    ended = [(one, row) for one, row in latest if row.outcome != "running"]
    family = Family(
        run=run,
        fixed=place.fixed,
        task=first.task,
        seeds=place.seeds,
        preset=first.preset,
        llm=first.llm,
        browser=first.browser,
        when=when,
        runs=tuple(
            FamilyRun(seed=row.seed, side=one.side, result=RunResult.of_row(row)) for one, row in ended
        ),
    )
    return family.ended()


async def run_family(
    family: Family, play: Callable[[int, Side], Awaitable["RunReport"]]
) -> AsyncIterator[Family]:
    """Yield the family after each run; `play` makes the run at a seed with the files of a side.

    No further run is started after one was interrupted.
    """
    for seed in family.seeds:
        for side in SIDES:
            result = await RunResult.of(play(seed, side))
            family = family.replace(runs=(*family.runs, FamilyRun(seed=seed, side=side, result=result)))
            yield family
            if result.outcome == "interrupted":
                return
