"""Evaluations: the list, the matrix of one of them, and the runs of a cell."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import cast

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QShortcut
from PySide6.QtWidgets import QCheckBox, QMessageBox, QTabWidget, QWidget

from core.debugger.evaluations.matrix import MatrixRow
from core.debugger.evaluations.views import EvaluationItem, EvaluationsView
from core.schema.formats import count, thousands
from core.system.program import COMMAND
from gui.evaluations.matrix import MatrixFilter, MatrixView
from gui.evaluations.runs import RunsTable, first_run
from gui.evaluations.suspicions import NONE, SuspicionsTable
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.layouts import holding, in_column, in_row, on_panel, scrolled, splitter
from gui.widgets.remembered import Remembered
from gui.widgets.rows import Row, Rows
from gui.widgets.search import SearchField
from gui.widgets.watched_window import WatchedWindow
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords, small_label

_NONE = (
    "There are no evaluations yet. New… (Ctrl+N) runs tasks at several seeds with several agents or LLMs and shows "
    f"here which of them succeed. Evaluations of {COMMAND} eval with the same database are listed too."
)
_CHOOSE = "Choose an evaluation on the left."
_TONES = {"under way": "agent", "interrupted": "remedy", "finished": "dim"}


class EvaluationsWindow(WatchedWindow):
    """Shows an `EvaluationsView`; requests go out only as signals. Closing it stops no running work."""

    chosen = Signal(object)
    """The number of an evaluation."""
    new_wanted = Signal()
    resume_wanted = Signal(str)
    """The name of an evaluation."""
    failures_wanted = Signal(str)
    end_requested = Signal(int)
    """The number of an evaluation."""
    delete_requested = Signal(int)
    run_wanted = Signal(int)
    """A run to open at its deciding step."""

    def __init__(self, theme: Theme, remembered: Remembered, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Evaluations")
        self.setMinimumSize(720, 460)
        self._remembered = remembered
        self.view = EvaluationsView()
        self._row: MatrixRow | None = None
        self._column = -1
        self.question: QMessageBox | None = None
        self.list = Rows(theme, "Evaluations")
        self.matrix = MatrixView(theme, self)
        self.runs = RunsTable(theme, self)
        self.suspicions = SuspicionsTable(theme, self)
        self._make_buttons()
        self.title = ElidedLabel("", self)
        self.title.setFont(theme.heading_font())
        self.state = ElidedLabel("", self, tone="dim")
        self.said = ElidedLabel("", self, tone="dim")
        self.sentence = NoteLabel("", parent=self, margins=(12, 2, 12, 4))
        self.problem = NoteLabel("bad", parent=self, margins=(12, 6, 12, 6))
        self.notice = NoteLabel("dim", parent=self, margins=(12, 6, 12, 6))
        self.search = SearchField(theme, "Tasks and families", self)
        self.only_failures = self._check("Only failures", "Alt+F", "Tasks with a run without success")
        self.only_flipped = self._check(
            "Only flipped", "Alt+L", "Tasks with a case in which only one variant succeeds"
        )
        self.by_family = self._check("By family", "Alt+Y", "Group the tasks of a family, with their totals")
        self.shown = small_label(theme, self)
        self.cell = small_label(theme, self)
        self.open_button = key_button(
            "Open run",
            "Show it in the main window, at the step that decided it (Enter)",
            "",
            self._on_open_run,
            self,
        )
        self._lay_out()
        self._connect()
        theme.size_window(self, 1240, 780)
        self._restore()
        self.show_view(self.view)

    def _make_buttons(self) -> None:
        self.new_button = key_button(
            "New…", "Begin an evaluation", "Ctrl+N", self.new_wanted.emit, self, accent=True
        )
        self.stop_button = key_button(
            "Stop", "Interrupt it. Finished runs are kept", "Alt+S", self._on_stop, self
        )
        self.resume_button = key_button(
            "Resume…",
            "Continue with what is not done",
            "Ctrl+R",
            lambda: self._by_name(self.resume_wanted.emit),
            self,
        )
        self.failures_button = key_button(
            "Run the failures again…",
            "Repeat the cases without success, for example after an edit, and see which flip",
            "Ctrl+Shift+R",
            lambda: self._by_name(self.failures_wanted.emit),
            self,
        )
        self.delete_button = key_button(
            "Delete…", "Forget the evaluation. Its runs are kept (Del)", "", self.ask_to_delete, self
        )

    def _check(self, text: str, key: str, words: str) -> QCheckBox:
        box = QCheckBox(text, self)
        box.setShortcut(key)
        box.setToolTip(f"{words} ({key})")
        box.toggled.connect(self._on_filter)
        return box

    def _lay_out(self) -> None:
        buttons = (self.stop_button, self.resume_button, self.failures_button, self.delete_button)
        head = in_row(None, self.new_button, 1, *buttons, margins=(10, 8, 10, 8), spacing=8)
        facts = in_row(None, self.state, (self.said, 1), margins=(12, 2, 12, 2), spacing=10)
        title = in_row(None, (self.title, 1), margins=(12, 8, 12, 2))
        filters = in_row(
            None,
            (self.search, 1),
            self.only_failures,
            self.only_flipped,
            self.by_family,
            self.shown,
            margins=(10, 6, 10, 6),
            spacing=12,
        )
        upper, lower, inside = QWidget(), QWidget(), QWidget()
        self.or_none = OrWords(self.matrix, self)
        in_column(upper, filters, (self.or_none, 1), spacing=0)
        runs = in_row(None, (self.cell, 1), self.open_button, margins=(12, 6, 10, 6), spacing=8)
        in_column(lower, runs, (self.runs, 1), spacing=0)
        self.or_unsuspicious = OrWords(self.suspicions, self)
        self.tabs = QTabWidget(self)
        self.tabs.addTab(lower, "&Runs of the cell")
        self.tabs.addTab(self.or_unsuspicious, "S&uspicious parts")
        self.split = splitter(Qt.Orientation.Vertical, upper, self.tabs, sizes=(430, 230), stretch=(1, 0))
        in_column(inside, title, facts, self.sentence, (self.split, 1), spacing=0)
        on_panel(inside)
        self.or_words = OrWords(inside, self)
        left = holding(in_column(None, scrolled("Evaluations", self.list)))
        on_panel(left)
        self.sides = splitter(
            Qt.Orientation.Horizontal, left, self.or_words, sizes=(290, 950), stretch=(0, 1)
        )
        in_column(self, head, (self.sides, 1), self.problem, self.notice, spacing=0)

    def _connect(self) -> None:
        self.list.selected.connect(self.chosen)
        QShortcut("Del", self.list, self.ask_to_delete, context=Qt.ShortcutContext.WidgetShortcut)
        self.search.textChanged.connect(self._on_filter)
        self.matrix.cell_chosen.connect(self._on_cell)
        self.matrix.opened.connect(self._on_open_cell)
        self.runs.opened.connect(self.run_wanted.emit)
        self.runs.current.connect(lambda _key: self._refresh_open())
        self.suspicions.opened.connect(self._on_suspicion)
        QShortcut("Ctrl+F", self, self.search.reach)

    # Content

    @Slot(object)
    def show_view(self, view: EvaluationsView) -> None:
        """Replace what is shown; filters, order and selection stay."""
        before, self.view = self.view, view
        with QSignalBlocker(self.list):
            self.list.show_rows(map(_row, view.items))
            self.list.select_key(view.number)
        if view.chosen is not before.chosen or not before.ready:
            self.matrix.show_matrix(view.chosen.matrix if view.chosen is not None else None)
            suspicions = view.chosen.suspicions if view.chosen is not None else ()
            self.suspicions.show_suspicions(suspicions)
            self.or_unsuspicious.say("" if any(one.score for one in suspicions) else NONE)
        self.problem.show_text(view.problem)
        self.notice.show_text(view.notice)
        self.or_words.say(self._missing())
        self._show_item(view.item)
        self._refresh()

    def _missing(self) -> str:
        view, item = self.view, self.view.item
        if not view.ready:
            return "" if view.problem else "Reading the evaluations…"
        if not view.items:
            return _NONE
        if item is None:
            return _CHOOSE
        if item.problem:
            return item.problem
        return "Reading its runs…" if view.chosen is None else ""

    def _show_item(self, item: EvaluationItem | None) -> None:
        chosen = self.view.chosen
        if item is None or chosen is None:
            return
        self.title.setText(item.name)
        done = f"{thousands(item.done)} of {count(item.total, 'run')}, {item.state}"
        again = f", the failures of {item.failures_of}" if item.failures_of else ""
        self.state.setText(f"{done}{again}")
        self.said.setText(self.view.said.get(item.name, "") if item.mine else "")
        self.sentence.show_text("\n".join(chosen.matrix.sentences))
        self.only_flipped.setEnabled(chosen.matrix.totals.change is not None)

    def _refresh(self) -> None:
        item, chosen, matrix = self.view.item, self.view.chosen, self.matrix.cells
        kind = chosen.plan.kind if chosen is not None else ""
        readable = item is not None and not item.problem
        going = item is not None and (item.state == "under way" or item.mine)
        self.stop_button.setEnabled(going)
        self.resume_button.setEnabled(
            readable and item is not None and item.state == "interrupted" and not item.mine
        )
        self.failures_button.setEnabled(readable and item is not None and item.failed > 0 and kind == "tasks")
        self.delete_button.setEnabled(item is not None and not going)
        shown, whole = matrix.shown_tasks, len(matrix.matrix.rows) if matrix.matrix is not None else 0
        all_of_them = count(whole, matrix.matrix.rows_are.lower() if matrix.matrix is not None else "task")
        self.shown.setText(all_of_them if shown == whole else f"{shown} of {all_of_them}")
        self.or_none.say(
            "No task matches. Change the words, or clear a filter." if whole and not shown else ""
        )
        self._refresh_open()

    def _refresh_open(self) -> None:
        self.open_button.setEnabled(self.runs.current_key is not None)

    def _on_filter(self) -> None:
        chosen = self.matrix.cells.filter.replace(
            words=self.search.text(),
            only_failures=self.only_failures.isChecked(),
            only_flipped=self.only_flipped.isChecked(),
            by_family=self.by_family.isChecked(),
        )
        self.matrix.cells.show_filter(chosen)
        self._refresh()

    def _on_cell(self, row: MatrixRow | None, column: int) -> None:
        self._row, self._column = row, column
        matrix, item = self.matrix.cells.matrix, self.view.item
        going = item is not None and item.state == "under way"
        number = self.runs.show_cell(matrix, row, column, going=going)
        if matrix is None or row is None:
            self.cell.setText("Choose a cell to see its runs.")
            return
        what = row.task or row.family or self.matrix.cells.all_rows
        variant = f" · {matrix.columns[column].title}" if column >= 0 else ""
        self.cell.setText(f"{what}{variant}: {number}")
        self._refresh_open()

    # Input of the person

    def _on_open_cell(self) -> None:
        matrix = self.matrix.cells.matrix
        run = (
            first_run(matrix, self._row, self._column)
            if matrix is not None and self._row is not None
            else None
        )
        if run is not None:
            self.run_wanted.emit(run)

    def _on_open_run(self) -> None:
        run = self.runs.current_key
        if run is not None:
            self.run_wanted.emit(cast(int, run))

    def _on_suspicion(self, key: tuple[str, str]) -> None:
        if (run := self.suspicions.runs.get(key)) is not None:
            self.run_wanted.emit(run)

    def _on_stop(self) -> None:
        if self.view.number is not None:
            self.end_requested.emit(self.view.number)

    def _by_name(self, do: Callable[[str], None]) -> None:
        if self.view.item is not None:
            do(self.view.item.name)

    def ask_to_delete(self) -> None:
        """Ask whether to delete the evaluation in view."""
        item = self.view.item
        if item is None or not self.delete_button.isEnabled():
            return
        box = QMessageBox(
            QMessageBox.Icon.Question,
            "Delete the evaluation",
            f"Delete the evaluation “{item.name[:200]}”?",
            QMessageBox.StandardButton.Cancel,
            self,
        )
        box.setInformativeText("Its runs are kept. You can no longer resume or compare it.")
        delete = box.addButton("&Delete", QMessageBox.ButtonRole.DestructiveRole)
        delete.clicked.connect(lambda: self.delete_requested.emit(item.number))
        box.setDefaultButton(QMessageBox.StandardButton.Cancel)
        box.open()
        self.question = box

    # Remembered state

    def keep(self) -> None:
        """Remember splitters and the order of the tasks."""
        kept = self._remembered
        kept.keep_part("evaluations/sides", self.sides.saveState())
        kept.keep_part("evaluations/split", self.split.saveState())
        rows = self.matrix.cells.filter.replace(words="")
        kept.settings.setValue("evaluations/rows", rows.model_dump_json())

    def _restore(self) -> None:
        kept = self._remembered
        for name, one in (("sides", self.sides), ("split", self.split)):
            if (state := kept.part(f"evaluations/{name}")) is not None:
                one.restoreState(state)
        with suppress(ValueError):
            rows = MatrixFilter.model_validate_json(str(kept.settings.value("evaluations/rows", "{}")))
            self.matrix.cells.show_filter(rows)
            self.only_failures.setChecked(rows.only_failures)
            self.only_flipped.setChecked(rows.only_flipped)
            self.by_family.setChecked(rows.by_family)


def _row(item: EvaluationItem) -> Row:
    done = f"{thousands(item.done)} of {thousands(item.total)}"
    begun = f"{datetime.fromtimestamp(item.when):%d %b %H:%M}"
    share = f"{item.successes / item.judged:.0%} succeed" if item.judged else ""
    return Row(
        item.name,
        tone="bad" if item.problem else _TONES[item.state],
        word="not readable" if item.problem else item.state,
        detail=item.problem or " · ".join(filter(None, (done, share, begun))),
        strong=True,
        key=item.number,
    )
