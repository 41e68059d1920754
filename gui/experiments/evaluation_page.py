"""Worth: tasks done with an exemplar and without it, which runs flip, and what that shows."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from core.debugger.experiments.evaluation_records import Evaluation, Pair
from core.debugger.experiments.measurement import success_word
from core.debugger.experiments.views import EvaluationView
from core.debugger.snapshots import Catalogue
from gui.experiments.evaluation_form import EvaluationForm
from gui.experiments.page import ExperimentPage
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.plain_table import Column, PlainTable, TableLine

_COLUMNS = (
    Column("Flip", tooltip="What having it changed"),
    Column("Task"),
    Column("Seed", number=True),
    Column("With"),
    Column("Without"),
    Column("Shown", tooltip="Whether the LLM was shown it"),
    Column("Steps", number=True, tooltip="With and without"),
    Column("Runs", number=True, tooltip="With and without"),
    Column("What went wrong"),
)


class EvaluationPage(ExperimentPage[EvaluationView, Evaluation]):
    """Shows the evaluations of `EvaluationView`."""

    compare_requested = Signal(int, int)
    """The runs with and without."""

    units = "pairs"
    reading = "The library is being read…"
    nothing = (
        "Nothing was tried of this yet. Choose tasks and seeds at the left and press Try (Ctrl+Enter): each task "
        "is done with the exemplar in the library and without it, and which runs flip shows here."
    )
    export_title = "Export the pairs"
    form: EvaluationForm

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(EvaluationForm(), EvaluationView(), parent)
        self.table = PlainTable(theme, "Pairs of runs", _COLUMNS, self)
        self.table.opened.connect(lambda _key: self._open(0))
        self.table.current.connect(lambda _key: self.refresh())
        where = "Show it in the main window"
        self.with_button = key_button("Run with", where, "Alt+W", lambda: self._open(0))
        self.without_button = key_button("Run without", where, "Alt+O", lambda: self._open(1))
        self.compare_button = key_button("Compare", "Both runs side by side", "Alt+P", self._on_compare)
        self.build(
            self.table,
            ("Try", "Pairs done"),
            ("Experiments", "Which experiment is shown; all are kept with the exemplar"),
            ("Export…", "Write the pairs as comma-separated values"),
            self.with_button,
            self.without_button,
            self.compare_button,
            sizes=(380, 700),
        )
        self.show_view(self.view)

    def show_catalogue(self, catalogue: Catalogue) -> None:
        self.form.show_catalogue(catalogue)

    @Slot(object)
    def show_view(self, view: EvaluationView) -> None:
        """Replace what is on screen; choices and the evaluation in view stay."""
        self.form.show_view(view)
        super().show_view(view)

    @property
    def whose(self) -> str:
        going = self.view.under_way
        return f"{going.subject.words}: " if going is not None else ""

    @property
    def file_name(self) -> str:
        assert self.shown is not None
        return f"worth-{self.shown.number}.csv"

    def show_results(self) -> None:
        shown = self.shown
        self.sentence.setText(f"{shown.subject.words}: {shown.sentence}" if shown else "")
        self.table.show_lines([_line(one) for one in shown.pairs] if shown else ())

    def refresh(self) -> None:
        super().refresh()
        if self.view.replay is not None:
            self.foot.show_words(
                "Exemplars are being replayed: wait for their end, or cancel there.", busy=False
            )
        runs = self._runs()
        self.with_button.setEnabled(runs[0] is not None)
        self.without_button.setEnabled(runs[1] is not None)
        self.compare_button.setEnabled(None not in runs)

    def _runs(self) -> tuple[int | None, int | None]:
        """Return the runs with and without of the current pair, where the window has their database open."""
        shown, key = self.shown, self.table.current_key
        if shown is None or shown.trace != self.view.trace:
            return None, None
        pair = next((one for one in shown.pairs if _key(one) == key), None)
        return (pair.with_it.run, pair.without_it.run) if pair is not None else (None, None)

    def _open(self, arm: int) -> None:
        run = self._runs()[arm]
        if run is not None:
            self.run_opened.emit(run, 1)

    def _on_compare(self) -> None:
        runs = self._runs()
        if None not in runs:
            self.compare_requested.emit(*runs)


def _key(pair: Pair) -> tuple[str, int, int]:
    return pair.task, pair.seed, pair.time


def _line(pair: Pair) -> TableLine:
    a, b = pair.with_it, pair.without_it
    with_it, without_it = success_word(a.success), success_word(b.success)
    errors = "; ".join(dict.fromkeys(pair.errors))
    runs = " / ".join("–" if one.run is None else str(one.run) for one in (a, b))
    return TableLine(
        cells=(
            pair.flip,
            pair.task,
            str(pair.seed),
            with_it,
            without_it,
            "yes" if a.used else "no",
            f"{a.steps} / {b.steps}",
            runs,
            errors,
        ),
        values=(pair.flip, pair.task, pair.seed, with_it, without_it, a.used, a.steps, a.run or 0, errors),
        key=_key(pair),
        tone={"to success": "good", "to failure": "bad", "": ""}[pair.flip],
        strong=bool(pair.flip),
    )
