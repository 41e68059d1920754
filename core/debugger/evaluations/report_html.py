"""The report of an evaluation as one HTML page that needs no other file and no network."""

from collections.abc import Iterable, Sequence
from statistics import median

from core.debugger.evaluations.figures import GroupShare
from core.debugger.evaluations.report import EvaluationReport
from core.schema.record import Record
from core.schema.task import family_of
from core.system.program import COMMAND
from core.trace.exports.html_page import page_of
from core.trace.records import EvaluatedRun

_BINS = 24
_LAST = 0.98
"""The part of all values up to which bins are as wide as one another; the last bin has the rest too."""


class Bin(Record):
    """How many runs have a value in a range."""

    low: float
    high: float
    successes: int
    others: int


class Distribution(Record):
    """How a value is spread over the runs of a variant."""

    what: str
    variant: str
    median: float
    bins: tuple[Bin, ...]
    most: int
    """The height of the highest bin of all variants, so that their plots can be compared."""


class FlippedTask(Record):
    """For one task: in how many cases only the second variant succeeded, and in how many only the first."""

    task: str
    gained: int
    lost: int


def html_of(report: EvaluationReport) -> str:
    """Return the report with its plots and tables; all that runs and pages have said stays text."""
    return page_of(
        "evaluation",
        report=report,
        program=COMMAND,
        names=[variant.variant for variant in report.variants],
        families=_rows(report.families, "family"),
        distributions=[
            *distributions(report.runs, "steps", [(run, run.steps) for run in report.runs]),
            *distributions(report.runs, "seconds outside the LLM", _seconds(report.runs, in_llm=False)),
            *distributions(report.runs, "seconds in the LLM", _seconds(report.runs, in_llm=True)),
        ],
        flipped=_flipped(report),
        published={(share.task, share.agent): share for share in report.published if share.task},
        papers=[share for share in report.published if not share.task],
        family_of=family_of,
        presets={variant.name: variant.preset for variant in report.plan.variants},
        llms={variant.name: variant.llm for variant in report.plan.variants},
        deciding={run.run: run.step for group in report.failures or () for run in group.runs},
    )


def distributions(
    runs: Sequence[EvaluatedRun], what: str, values: Iterable[tuple[EvaluatedRun, float]]
) -> tuple[Distribution, ...]:
    """Return how a value is spread over the runs of each variant, all in the same bins; nothing if all are 0."""
    by_variant: dict[str, list[tuple[float, bool]]] = {}
    for run, value in values:
        if run.run is not None and not run.touched:
            by_variant.setdefault(run.variant, []).append((value, bool(run.success)))
    every = sorted(value for rows in by_variant.values() for value, _ in rows)
    if not every or not every[-1]:
        return ()
    top = every[min(int(len(every) * _LAST), len(every) - 1)] or every[-1]
    whole = all(value == int(value) for value in every)
    width = max(1, -(-int(top) // _BINS)) if whole else top / _BINS
    count = int(top // width) + 1 if whole else _BINS
    made: dict[str, list[Bin]] = {}
    for variant, rows in by_variant.items():
        counted = [[0, 0] for _ in range(count)]
        for value, success in rows:
            counted[min(int(value // width), count - 1)][0 if success else 1] += 1
        made[variant] = [
            Bin(low=at * width, high=(at + 1) * width, successes=good, others=bad)
            for at, (good, bad) in enumerate(counted)
        ]
    most = max(one.successes + one.others for bins in made.values() for one in bins)
    return tuple(
        Distribution(
            what=what,
            variant=variant,
            median=median(value for value, _ in by_variant[variant]),
            bins=tuple(bins),
            most=most,
        )
        for variant, bins in made.items()
    )


def _seconds(runs: Iterable[EvaluatedRun], *, in_llm: bool) -> list[tuple[EvaluatedRun, float]]:
    return [(run, run.seconds_in_llm if in_llm else run.seconds_beside_llm) for run in runs]


def _rows(shares: Iterable[GroupShare], name: str) -> dict[str, list[GroupShare]]:
    """Return the figures by what they are of, each with a row for each variant."""
    found: dict[str, list[GroupShare]] = {}
    for share in shares:
        found.setdefault(getattr(share, name), []).append(share)
    return found


def _flipped(report: EvaluationReport) -> list[FlippedTask]:
    """Return the tasks with flips, those that gained most first."""
    counts: dict[str, list[int]] = {}
    for flip in report.comparison.flips if report.comparison is not None else ():
        counts.setdefault(flip.task, [0, 0])[0 if flip.to_success else 1] += 1
    found = [FlippedTask(task=task, gained=gained, lost=lost) for task, (gained, lost) in counts.items()]
    return sorted(found, key=lambda one: (one.lost - one.gained, one.task))
