"""The runs of a cell of the matrix."""

from collections.abc import Iterable

from PySide6.QtWidgets import QWidget

from core.debugger.evaluations.figures import success_word
from core.debugger.evaluations.matrix import Matrix, MatrixRow
from core.schema.formats import dollars, seconds, thousands
from core.trace.records import EvaluatedRun
from gui.theme.theme import Theme
from gui.widgets.plain_table import Column, PlainTable, TableLine

_COLUMNS = (
    Column("Outcome"),
    Column("Run", number=True),
    Column(
        "Marks",
        tooltip="Again: repeated, because the first attempt failed with its browser, LLM server or database",
    ),
    Column("Task"),
    Column("Variant"),
    Column("Seed", number=True),
    Column("Time", number=True, tooltip="Which repetition at this seed"),
    Column("Steps", number=True),
    Column("LLM calls", number=True),
    Column("Reward", number=True),
    Column("Cost", number=True),
    Column("Took", number=True),
    Column("What went wrong"),
)
_TASK, _VARIANT, _TIME, _COST = 3, 4, 6, 10
_MEASURED = 30
"""Rows."""
_MOST = 500
"""Maximum number of runs shown at once."""


class RunsTable(PlainTable):
    """Shows the runs of a cell, failed ones first; a double click or Enter opens one."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "Runs of the chosen cell", _COLUMNS, parent)
        # Measuring all rows for the widths takes longer than a frame.
        self.horizontalHeader().setResizeContentsPrecision(_MEASURED)

    def show_cell(self, matrix: Matrix | None, row: MatrixRow | None, column: int, *, going: bool) -> str:
        """Show the runs, and return their number as text; `going` means that some can be running."""
        if matrix is None or row is None:
            self.show_lines(())
            return ""
        found = [
            (matrix.columns[at].title, one)
            for at in (range(len(matrix.columns)) if column < 0 else (column,))
            for task in _tasks(matrix, row)
            for one in matrix.tries.get((task, at), ())
        ]
        found.sort(key=lambda pair: _rank(pair[1]))
        kind = Column(matrix.rows_are)
        self.lines_model.columns = (*_COLUMNS[:_TASK], kind, *_COLUMNS[_TASK + 1 :])
        # Columns with the same value for every run are hidden.
        self.setColumnHidden(_TASK, bool(row.task))
        self.setColumnHidden(_VARIANT, column >= 0)
        self.setColumnHidden(_TIME, all(one.time == 1 for _, one in found))
        self.setColumnHidden(_COST, all(one.cost is None for _, one in found))
        self.show_lines(_line(title, one, matrix, going=going) for title, one in found[:_MOST])
        more = f", the first {thousands(_MOST)} are shown" if len(found) > _MOST else ""
        runs = "run" if len(found) == 1 else "runs"
        return f"{thousands(len(found))} {runs}{more}"


def first_run(matrix: Matrix, row: MatrixRow, column: int) -> int | None:
    """Return the run of a cell to show first: a failed one, if there is any."""
    columns = range(len(matrix.columns)) if column < 0 else (column,)
    tries = [
        one for at in columns for task in _tasks(matrix, row) for one in matrix.tries.get((task, at), ())
    ]
    return next((one.run for one in sorted(tries, key=_rank) if one.run is not None), None)


def _tasks(matrix: Matrix, row: MatrixRow) -> Iterable[str]:
    if row.task:
        return (row.task,)
    return [one.task for one in matrix.rows if row.family in ("", one.family)]


def _rank(one: EvaluatedRun) -> int:
    return {False: 0, None: 1, True: 2}[one.success]


def _word(one: EvaluatedRun, *, going: bool) -> str:
    if one.run is None:
        return "did not begin"
    if one.outcome == "running":
        return "under way" if going else "interrupted"
    if one.outcome in ("interrupted", "error"):
        return one.outcome
    return success_word(one.success)


def _line(title: str, one: EvaluatedRun, matrix: Matrix, *, going: bool) -> TableLine:
    word = _word(one, going=going)
    tone = "good" if one.success else "bad" if word in ("no success", "error", "did not begin") else "dim"
    apart = one.run is not None and one.run not in matrix.counted and word != "under way"
    marks = (
        "again" if one.attempt > 1 else "",
        "touched" if one.touched else "",
        "not counted" if apart else "",
    )
    marked = ", ".join(mark for mark in marks if mark)
    reward = "" if one.reward is None else f"{one.reward:.2f}"
    run = "" if one.run is None else str(one.run)
    figures = (str(one.steps), str(one.llm_calls), reward, dollars(one.cost), seconds(one.seconds))
    values = (
        one.steps,
        one.llm_calls,
        -1.0 if one.reward is None else one.reward,
        one.cost or 0.0,
        one.seconds,
    )
    return TableLine(
        cells=(word, run, marked, one.task, title, str(one.seed), str(one.time), *figures, one.error),
        values=(word, one.run or 0, marked, one.task, title, one.seed, one.time, *values, one.error),
        key=one.run,
        tone=tone,
        toned=0,
    )
