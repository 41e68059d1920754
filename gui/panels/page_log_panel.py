"""Page log: what the pages told and asked for in the step in view, beside their content."""

from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QComboBox,
    QHBoxLayout,
    QListView,
    QPushButton,
    QStyle,
    QVBoxLayout,
    QWidget,
)

from core.browser.page_log import (
    LogKind,
    counts,
)
from core.debugger.page_log_views import PageLogView
from gui.panels.page_log_rows import LogRow, clock, lines_of
from gui.theme import Theme
from gui.widgets.formats import thousands
from gui.widgets.row_delegate import Index, RowDelegate, draw_cut
from gui.widgets.row_menu import Entry, RowMenu
from gui.widgets.search_field import SearchField
from gui.widgets.words import OrWords

NONE = "No step is in view. Console, errors, requests and dialogs of its pages show here."
_READING = "The log is being read…"
_NOTHING = "The pages of this step told nothing: no console, no error, no request, no dialog."
_ROW = Qt.ItemDataRole.UserRole
_KINDS: tuple[tuple[str, tuple[LogKind, ...], bool], ...] = (
    ("All", ("console", "error", "request", "dialog"), False),
    ("Console", ("console", "error"), False),
    ("Requests", ("request",), False),
    ("Dialogs", ("dialog",), False),
    ("Only errors", ("console", "error", "request"), True),
)
"""What can be chosen: its name, the kinds, and whether only what went wrong."""


class PageLogModel(QAbstractListModel):
    """The lines of a step, of which those are rows that fit kind and search."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: tuple[LogRow, ...] = ()
        self._rows: list[LogRow] = []
        self._chosen = 0
        self._words: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        return len(self._all)

    @property
    def wrong(self) -> int:
        """How many of all lines tell of something that went wrong."""
        return sum(row.wrong for row in self._all)

    def show_lines(self, rows: Iterable[LogRow]) -> None:
        self.beginResetModel()
        self._all = tuple(rows)
        self._rows = [row for row in self._all if self._fits(row)]
        self.endResetModel()

    def show_only(self, chosen: int, search: str) -> None:
        """Show lines of one choice of kinds that hold all the words."""
        self.beginResetModel()
        self._chosen = chosen
        self._words = tuple(search.lower().split())
        self._rows = [row for row in self._all if self._fits(row)]
        self.endResetModel()

    def row(self, index: Index) -> LogRow:
        return self._rows[index.row()]

    def rows(self) -> list[LogRow]:
        return list(self._rows)

    def _fits(self, row: LogRow) -> bool:
        _, kinds, wrong = _KINDS[self._chosen]
        if row.kind not in kinds or (wrong and not row.wrong):
            return False
        whole = f"{row.sign} {row.whole}".lower()
        return all(word in whole for word in self._words)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not 0 <= index.row() < len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == _ROW:
            return row
        if role == Qt.ItemDataRole.ToolTipRole:
            return row.whole
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"{row.moment} {row.sign} {row.text}"
        return None


class _Rows(RowDelegate):
    """When, in which part of the step, what kind, and what it was."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, QSize(200, 20), parent)

    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        row: LogRow | None = index.data(_ROW)
        if row is None:
            return
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, self.theme.colour("selected"))
        painter.setFont(self.theme.machine_font())
        metrics = painter.fontMetrics()
        at = rect.left() + 12
        for text, tone, letters in (
            (clock(row.time), "dim", 13),
            (row.moment, "dim", 7),
            (row.sign, row.tone, 10),
            (row.text, row.tone if row.wrong else "text", 0),
        ):
            room = QRect(at, rect.top(), rect.right() - at - 6, rect.height())
            painter.setPen(self.theme.colour(tone))
            if letters:
                column = metrics.horizontalAdvance("0" * letters)
                room.setWidth(min(room.width(), column))
                at += column + metrics.horizontalAdvance("00")
            draw_cut(painter, room, text)


class PageLogPanel(QWidget):
    """Shows a `PageLogView`."""

    fact_changed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = PageLogView(message=NONE)
        self.model = PageLogModel(self)
        self.kind = QComboBox(self)
        self.kind.addItems([name for name, _, _ in _KINDS])
        self.kind.setAccessibleName("Kind")
        self.kind.setToolTip("Which kinds to show")
        self.kind.currentIndexChanged.connect(self._on_filter)
        self.search = SearchField(theme, "Search (Ctrl+F)", self)
        self.search.setMaximumWidth(230)
        self.search.textChanged.connect(self._on_filter)
        self.copy_button = QPushButton("Copy", self)
        self.copy_button.setToolTip("Copy the selected lines, or all that show (Ctrl+C in the list)")
        self.copy_button.clicked.connect(self.copy)
        self.list = _List(self)
        self.list.setModel(self.model)
        self.list.setItemDelegate(_Rows(theme, self))
        self.list.setUniformItemSizes(True)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.setAccessibleName("Page log")
        self.list.copy_wanted.connect(self.copy)
        RowMenu(self.list, self.entries)
        self.or_words = OrWords(self.list, self)
        self.or_words.say(NONE)
        head = QHBoxLayout()
        head.setContentsMargins(10, 3, 8, 3)
        head.setSpacing(6)
        head.addWidget(self.kind)
        head.addStretch(1)
        head.addWidget(self.search, 1)
        head.addWidget(self.copy_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(self.or_words, 1)
        theme.changed.connect(self.list.viewport().update)

    @Slot(object)
    def show_log(self, view: PageLogView) -> None:
        """Replace what is on screen with `view`; the place in the list stays for the same step."""
        same = (view.run, view.step) == (self._view.run, self._view.step)
        bar = self.list.verticalScrollBar()
        place, at_end = bar.value(), bar.value() >= bar.maximum() > 0
        if view != self._view:
            self._view = view
            self.model.show_lines(lines_of(view))
        if same:
            bar.setValue(bar.maximum() if at_end else place)
        self._tell()

    def wait(self, run: int, step: int) -> None:
        """Say that the log of another step is being read."""
        if (run, step) != (self._view.run, self._view.step):
            self._view = PageLogView(run=run, step=step, message=_READING if step else NONE)
            self.model.show_lines(())
            self._tell()

    def focus_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def copy(self) -> None:
        """Copy the selected lines, or all that show where none is selected."""
        chosen = sorted(index.row() for index in self.list.selectionModel().selectedIndexes())
        rows = self.model.rows()
        _to_clipboard(rows[at] for at in chosen or range(len(rows)))

    def entries(self, index: QModelIndex) -> tuple[Entry, ...]:
        """Return what can be asked for of a line."""
        row = self.model.row(index)
        words = row.whole.partition("\n")[0]
        return (
            Entry("Copy the line", lambda: _to_clipboard((row,)), key="Ctrl+C"),
            Entry("Show only lines like it", lambda: self._only_like(row), why=words),
        )

    def _only_like(self, row: LogRow) -> None:
        self.search.setText(row.sign)

    def _on_filter(self) -> None:
        self.model.show_only(self.kind.currentIndex(), self.search.text())
        self._tell()

    def _tell(self) -> None:
        view = self._view
        if view.message:
            self.or_words.say(view.message)
        elif not self.model.total:
            self.or_words.say(_NOTHING)
        elif not self.model.rowCount():
            self.or_words.say("No line fits the kind and the search above.")
        else:
            self.or_words.say("")
        found = counts(view.parts)
        total = sum(found.values())
        wrong = self.model.wrong
        self.fact_changed.emit(
            "" if view.message or not total else thousands(total) + (f", {wrong} wrong" if wrong else "")
        )


class _List(QListView):
    copy_wanted = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_wanted.emit()
        else:
            super().keyPressEvent(event)


def _to_clipboard(rows: Iterable[LogRow]) -> None:
    lines = (f"{clock(row.time)}  {row.moment:<6}  {row.sign:<9}  {row.whole}" for row in rows)
    # A clipboard ends its text at the first NUL.
    QApplication.clipboard().setText("\n".join(lines).replace("\x00", "\u2400"))
