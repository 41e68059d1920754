"""Background work: the running jobs, their progress, and their results."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QDialog, QWidget

from core.debugger.background_work.views import BackgroundWorkView, WorkRow
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.layouts import in_column, in_row
from gui.widgets.plain_table import Column, PlainTable, TableLine
from gui.widgets.words import OrWords

_NONE = (
    "No background work. Evaluations (Ctrl+Shift+V), bisections (Ctrl+Shift+I) and long work of the library "
    "(Ctrl+L) appear here."
)
_COLUMNS = (Column("Work"), Column("Progress"), Column("State"), Column("Result"))
_WIDTHS = (250, 120, 90)
_TONES = {"failed": "bad", "ended": "good"}


class BackgroundWorkWindow(QDialog):
    """Shows the list, and requests to cancel or show a job."""

    end_requested = Signal(int)
    show_requested = Signal(object)
    """A `Job` whose window to open."""
    forget_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Background work")
        self._rows: dict[int, WorkRow] = {}
        self.table = PlainTable(theme, "Background work, the latest first", _COLUMNS, self)
        for column, width in enumerate(_WIDTHS):
            self.table.setColumnWidth(column, width)
        self.or_words = OrWords(self.table, self, _NONE)
        opens = "Open the window of this work"
        self.show_button = key_button("Show", opens, "Alt+S", self._on_show, self)
        self.cancel_button = key_button(
            "Cancel", "Cancel this work; what is done is kept", "Alt+C", self._on_cancel, self
        )
        forget = "Remove finished work from the list"
        self.forget_button = key_button("Clear ended", forget, "Alt+E", self.forget_requested.emit, self)
        buttons = (self.show_button, self.cancel_button)
        foot = in_row(None, self.forget_button, 1, *buttons, margins=(12, 8, 12, 10), spacing=8)
        in_column(self, (self.or_words, 1), foot, spacing=0)
        self.table.current.connect(lambda _key: self._refresh())
        self.table.opened.connect(lambda _key: self._on_show())
        theme.size_window(self, 760, 320)
        self._refresh()

    @Slot(object)
    def show_view(self, view: BackgroundWorkView) -> None:
        """Replace what is shown; the current row stays."""
        chosen = self._chosen
        self._rows = {row.number: row for row in view.rows}
        self.or_words.say("" if view.rows else _NONE)
        self.table.lines_model.show_lines([_line(row) for row in view.rows])
        at = next((at for at, row in enumerate(view.rows) if chosen and row.number == chosen.number), 0)
        self.table.selectRow(at)
        self._refresh()

    @property
    def _chosen(self) -> WorkRow | None:
        index = self.table.currentIndex()
        lines = self.table.lines_model.lines
        return self._rows.get(lines[index.row()].key) if 0 <= index.row() < len(lines) else None

    def _refresh(self) -> None:
        row = self._chosen
        self.show_button.setEnabled(row is not None)
        self.cancel_button.setEnabled(row is not None and row.state == "under way")
        self.forget_button.setEnabled(
            any(one.state not in ("under way", "ending") for one in self._rows.values())
        )

    def _on_show(self) -> None:
        if (row := self._chosen) is not None:
            self.show_requested.emit(row.job)

    def _on_cancel(self) -> None:
        if (row := self._chosen) is not None:
            self.end_requested.emit(row.number)


def progress_words(row: WorkRow) -> str:
    """Return, for example, ``40 of 200 (20 %)``; empty if the total is not known."""
    job = row.job
    return f"{job.done} of {job.of} ({job.done * 100 // job.of} %)" if job.of else ""


def _line(row: WorkRow) -> TableLine:
    return TableLine(
        cells=(row.job.title, progress_words(row), row.state, row.words),
        key=row.number,
        tooltip=row.words or row.job.title,
        tone=_TONES.get(row.state, ""),
        toned=2,
    )
