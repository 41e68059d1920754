"""The results of an evaluation as a matrix: a row for each task, a column for each variant.

An evaluation that repeats the failures of another one also shows the earlier results of these cases.
"""

from collections.abc import Iterable, Mapping, Sequence

from core.debugger.evaluations.comparison import NOT_COMPARED, VariantComparison, compared
from core.debugger.evaluations.figures import Share, done_of
from core.debugger.evaluations.records import EvaluationPlan, Variant
from core.schema.formats import count
from core.schema.record import Record
from core.schema.task import family_of
from core.trace.records import EvaluatedRun

_BRANCHES = "Branches"


class Change(Record):
    """Results of the same cases that differ in another column."""

    judged: int = 0
    """Cases that were judged of both."""
    to_success: int = 0
    to_failure: int = 0
    chosen: bool = False
    """Whether the cases were chosen because they had failed: some succeed another time without any change."""

    @property
    def flips(self) -> int:
        return self.to_success + self.to_failure

    @property
    def difference(self) -> float | None:
        """By how much the share of successes is higher, from -1 to 1; None if that would say nothing."""
        if self.chosen or not self.judged:
            return None
        return (self.to_success - self.to_failure) / self.judged

    @classmethod
    def of(cls, comparisons: Iterable[VariantComparison], *, chosen: bool) -> "Change":
        found = tuple(comparisons)
        flips = [flip.to_success for one in found for flip in one.flips]
        judged = sum(one.judged for one in found)
        return cls(judged=judged, to_success=sum(flips), to_failure=len(flips) - sum(flips), chosen=chosen)


class MatrixColumn(Record):
    """A variant, in this evaluation or in the one before."""

    variant: str
    before: bool = False
    """Whether it is of the evaluation whose failures were done again."""

    @property
    def title(self) -> str:
        return f"{self.variant}, before" if self.before else self.variant


class MatrixRow(Record):
    """A task, all tasks of a family, or all there are."""

    task: str = ""
    """Empty for a family, and for all."""
    family: str = ""
    """Empty for all."""
    cells: tuple[Share, ...]
    """One for each column."""
    change: Change | None = None
    """From one column to the other; None if nothing is compared."""
    failures: int = 0
    """Cases without success, without those of the evaluation before."""


class Matrix(Record):
    """All results of an evaluation."""

    columns: tuple[MatrixColumn, ...]
    rows: tuple[MatrixRow, ...]
    """One for each task, in the order of the plan."""
    families: tuple[MatrixRow, ...]
    totals: MatrixRow
    sentences: tuple[str, ...] = ()
    """What the comparison of columns shows."""
    tries: dict[tuple[str, int], tuple[EvaluatedRun, ...]]
    """All tries by task and column, those that do not count among them."""
    counted: frozenset[int] = frozenset()
    """The runs that count."""
    rows_are: str = "Task"
    """What is in the rows: tasks, or the steps from which a run went on."""


def matrix_of(
    plan: EvaluationPlan, tries: Sequence[EvaluatedRun], before: Sequence[EvaluatedRun] = ()
) -> Matrix:
    """Arrange all tries of an evaluation; `before` are those of the one whose failures it does again.

    Of a bisection each step has a row, since its variants are many and its task is one.
    """
    if plan.kind == "bisect":
        steps = tuple(variant.name for variant in plan.variants)
        branches = Variant(preset="", llm="", title=_BRANCHES)
        turned = plan.replace(kind="tasks", tasks=steps, variants=(branches,), only=())
        matrix = matrix_of(turned, [run.replace(task=run.variant, variant=_BRANCHES) for run in tries])
        return matrix.replace(rows_are="Step")
    columns: list[MatrixColumn] = []
    sides: list[list[EvaluatedRun]] = []
    pairs: list[tuple[int, int]] = []
    again = {case for _, case in plan.cases()} if before else ()
    for variant in plan.variants:
        earlier = [run for run in before if run.variant == variant.name and run.case in again]
        if earlier:
            pairs.append((len(columns), len(columns) + 1))
            columns.append(MatrixColumn(variant=variant.name, before=True))
            sides.append(earlier)
        columns.append(MatrixColumn(variant=variant.name))
        sides.append([one for one in tries if one.variant == variant.name])
    are_two = len(plan.variants) == 2
    if are_two and not plan.is_chosen:
        pairs = [(0, 1)]
    titles = [column.title for column in columns]
    # A column is compared by its title: before and now the variant has the same name.
    done = [
        [run.replace(variant=title) for run in done_of(side)]
        for title, side in zip(titles, sides, strict=True)
    ]
    by_task = [_by_task(side) for side in done]
    tried = [_by_task(side) for side in sides]

    def row(tasks: Iterable[str], task: str = "", family: str = "") -> MatrixRow:
        tasks = tuple(tasks)
        cells = tuple(Share.of(_of(side, tasks)) for side in tried)
        comparisons = [_compared([_of(side, tasks) for side in by_task], titles, pair) for pair in pairs]
        return MatrixRow(
            task=task,
            family=family,
            cells=cells,
            change=Change.of(comparisons, chosen=plan.is_chosen) if pairs else None,
            failures=sum(
                cell.failures for cell, column in zip(cells, columns, strict=True) if not column.before
            ),
        )

    families: dict[str, list[str]] = {}
    for task in plan.tasks:
        families.setdefault(family_of(task), []).append(task)
    return Matrix(
        columns=tuple(columns),
        rows=tuple(row((task,), task, family_of(task)) for task in plan.tasks),
        families=tuple(row(tasks, family=family) for family, tasks in families.items()),
        totals=row(plan.tasks),
        sentences=(
            *(
                _again(columns[second].variant, done[first], done[second])
                if plan.is_chosen
                else _compared(done, titles, (first, second)).sentence
                for first, second in pairs
            ),
            *((NOT_COMPARED,) if are_two and plan.is_chosen else ()),
        ),
        tries={(task, column): rows for column, side in enumerate(tried) for task, rows in side.items()},
        counted=frozenset(one.run for side in done for one in side if one.run is not None),
    )


def _again(variant: str, before: Iterable[EvaluatedRun], now: Iterable[EvaluatedRun]) -> str:
    """Return how many failures succeed now; a difference would be that of the choice, not of the variant."""
    ended = _ended(now)
    both = [(first, ended[case]) for case, first in _ended(before).items() if case in ended]
    up, down = both.count((False, True)), both.count((True, False))
    failures = up + both.count((False, False))
    earlier = count(len(both) - failures, "earlier success", "earlier successes")
    other = f"; of {earlier}, {down} failed" if down else ""
    return (
        f"{variant}: {up} of {count(failures, 'failure')} now succeed{other}. Some would without any change: to "
        "compare, run all cases."
    )


def _ended(runs: Iterable[EvaluatedRun]) -> dict[tuple[str, int, int], bool]:
    """Return whether runs succeeded, by task, seed and time; what is neither success nor failure is left out."""
    return {
        (run.task, run.seed, run.time): bool(run.success)
        for run in runs
        if not run.touched and (run.success or run.is_failure)
    }


def _compared(
    sides: Sequence[Sequence[EvaluatedRun]], titles: Sequence[str], pair: tuple[int, int]
) -> VariantComparison:
    first, second = pair
    return compared((*sides[first], *sides[second]), titles[first], titles[second])


def _of(side: Mapping[str, Sequence[EvaluatedRun]], tasks: Iterable[str]) -> list[EvaluatedRun]:
    return [run for task in tasks for run in side.get(task, ())]


def _by_task(side: Iterable[EvaluatedRun]) -> dict[str, tuple[EvaluatedRun, ...]]:
    found: dict[str, list[EvaluatedRun]] = {}
    for run in side:
        found.setdefault(run.task, []).append(run)
    return {task: tuple(rows) for task, rows in found.items()}
