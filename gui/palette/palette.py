"""The command palette: a field, and below it a list of the matches, over the middle of the window."""

from collections.abc import Sequence
from operator import attrgetter

from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QTextCharFormat,
    QTextLayout,
)
from PySide6.QtWidgets import QApplication, QFrame, QLineEdit, QListView, QMainWindow, QStyle, QWidget

from gui.palette.entries import ICONS, PREFIXES, PaletteEntry
from gui.theme.theme import Theme
from gui.widgets.item_views import LEFT, RIGHT, ROW, Index, RowDelegate, RowsModel
from gui.widgets.keys import takes_key
from gui.widgets.layouts import in_column
from gui.widgets.lined_text import in_utf16
from gui.widgets.words import ElidedLabel, set_tone

_WIDE = 680
_ROW = 26
_MOST_ROWS = 14
"""Maximum number of visible rows."""
_IDLE_MS = 80
"""Pause after the last letter before runs and exemplars are searched."""
_SIDE = 10
_ICON = 16
HINT = " · ".join(f"{letter} {words}" for letter, (_, words) in PREFIXES.items())


class _Painter(RowDelegate):
    """An icon, the text with the matched characters in bold, small text, and the key or kind at the right."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, QSize(120, _ROW), parent)

    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        entry: PaletteEntry = index.data(ROW)
        self.draw_ground(painter, rect, state & ~QStyle.StateFlag.State_HasFocus)
        room = rect.adjusted(_SIDE, 0, -_SIDE, 0)
        icon = QRect(room.left(), room.center().y() - 7, 15, 15)
        can = not entry.why_not
        self.theme.icon(entry.icon or ICONS[entry.kind], tone="dim" if can else "faint").paint(painter, icon)
        room.setLeft(room.left() + _ICON + 8)
        small = self.theme.small_font()
        width = self.write(painter, room, entry.word, small, "dim", RIGHT)
        room.setRight(room.right() - width - 14)
        wide = self._draw_text(painter, room, entry, "text" if can else "dim")
        room.setLeft(room.left() + wide + 12)
        if room.width() > 30:
            detail = entry.detail if can else f"Not now: {entry.why_not}"
            self.write(painter, room, detail, small, "dim", LEFT)

    def _draw_text(self, painter: QPainter, room: QRect, entry: PaletteEntry, tone: str) -> int:
        """Draw the text in one line, cut at the end of the space; return its width."""
        font = self.theme.text_font()
        text = QFontMetrics(font).elidedText(entry.text, Qt.TextElideMode.ElideRight, max(0, room.width()))
        kept = len(text) if text == entry.text else len(text) - 1
        layout = QTextLayout(text, font)
        look = QTextCharFormat()
        look.setFontWeight(QFont.Weight.Bold)
        look.setForeground(self.theme.colour("agent" if not entry.why_not else tone))
        marks = []
        for place in entry.places:
            if place < kept:
                mark = QTextLayout.FormatRange()
                mark.start, end = in_utf16(text, [place, place + 1])
                mark.length, mark.format = end - mark.start, look
                marks.append(mark)
        layout.setFormats(marks)
        layout.beginLayout()
        line = layout.createLine()
        line.setLineWidth(10_000)
        layout.endLayout()
        painter.setPen(self.theme.colour(tone))
        painter.save()
        painter.setClipRect(room)
        layout.draw(painter, QPointF(room.left(), room.center().y() - line.height() / 2 + 1))
        painter.restore()
        return min(room.width(), int(line.naturalTextWidth()))


class _Field(QLineEdit):
    """Forwards the keys that move in the list or close it; otherwise the window would use them."""

    key_pressed = Signal(object)
    """A `Qt.Key` that is not for the text."""
    left = Signal()
    """The focus has moved to another widget of the window."""

    _KEYS = (
        Qt.Key.Key_Up,
        Qt.Key.Key_Down,
        Qt.Key.Key_PageUp,
        Qt.Key.Key_PageDown,
        Qt.Key.Key_Return,
        Qt.Key.Key_Enter,
        Qt.Key.Key_Escape,
        Qt.Key.Key_Tab,
        Qt.Key.Key_Backtab,
    )

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.key() in self._KEYS:
            key = Qt.Key(event.key())
            if takes_key(event, lambda: self.key_pressed.emit(key)):
                return True
        return super().event(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        passing = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)
        if event.reason() not in passing:
            self.left.emit()


class Palette(QFrame):
    """Covers part of `window`. Esc, a click elsewhere and a choice close it and restore the previous focus."""

    typed = Signal(str)
    """The text of the field, after each letter."""
    rested = Signal(str)
    """The text of the field, after a pause in typing."""
    chosen = Signal(object)
    """The `PaletteEntry` to run or to go to; the palette is closed before."""

    def __init__(self, theme: Theme, window: QMainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._before: QWidget | None = None
        """The previously focused widget."""
        self._moved = False
        """Whether a row other than the first was chosen since the last letter."""
        self._theme = theme
        self.setProperty("finder", True)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName("Command palette")
        self.field = _Field(self)
        self.field.setPlaceholderText("Find a command, panel, task, run, step, exemplar, setting…")
        self.field.setAccessibleName("Command palette")
        self.field.setClearButtonEnabled(True)
        self.rows_model = RowsModel(
            {
                Qt.ItemDataRole.DisplayRole: attrgetter("text"),
                Qt.ItemDataRole.AccessibleTextRole: attrgetter("spoken"),
                Qt.ItemDataRole.ToolTipRole: attrgetter("spoken"),
            },
            self,
        )
        self.list = QListView(self)
        self.list.setModel(self.rows_model)
        self.list.setItemDelegate(_Painter(theme, self.list))
        self.list.setAccessibleName("What was found")
        self.list.setUniformItemSizes(True)
        self.list.setMouseTracking(True)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.note = ElidedLabel("", self, tone="dim")
        self.note.setFont(theme.small_font())
        in_column(self, self.field, (self.list, 1), self.note, margins=(8, 8, 8, 6), spacing=6)
        self._idle = QTimer(self, singleShot=True, interval=_IDLE_MS)
        self._idle.timeout.connect(lambda: self.rested.emit(self.field.text()))
        self.field.textChanged.connect(self._on_text)
        self.field.key_pressed.connect(self._on_key)
        self.field.left.connect(self.hide)
        self.list.clicked.connect(lambda index: self._choose(index.row()))
        self.list.selectionModel().currentChanged.connect(self._on_current)
        window.installEventFilter(self)
        self.hide()

    @property
    def rows(self) -> Sequence[PaletteEntry]:
        return self.rows_model.rows

    @property
    def current(self) -> PaletteEntry | None:
        entry: PaletteEntry | None = self.rows_model.row(self.list.currentIndex())
        return entry

    @property
    def help_section(self) -> str:
        """The documentation of the selected entry, or an empty string."""
        return self.current.help if self.current is not None else ""

    def open(self) -> None:
        """Show it with an empty field, or focus the field if it is already open."""
        if not self.isVisible():
            self._before = QApplication.focusWidget()
            self.field.clear()
            self._on_text("")
            self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def show_entries(self, entries: Sequence[PaletteEntry], note: str) -> None:
        """Replace the list; the first row is current, or the row that the person moved to if it still exists."""
        before = self.current.id if self._moved and self.current is not None else None
        self.rows_model.show_rows(entries)
        at = next((at for at, one in enumerate(entries) if one.id == before), 0)
        if entries:
            self.list.setCurrentIndex(self.rows_model.index(at))
        else:
            self.field.setAccessibleDescription(note)
        self.say(note)
        self._place()

    def say(self, text: str, tone: str = "dim") -> None:
        """Set the line below the list."""
        self.note.setText(text)
        set_tone(self.note, tone)

    def close_and_return(self) -> None:
        """Close it and restore the previous focus."""
        before, self._before = self._before, None
        self.hide()
        if before is not None and before.isVisible() and before.isEnabled():
            before.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self._window.setFocus(Qt.FocusReason.OtherFocusReason)

    def _place(self) -> None:
        window = self._window
        width = min(self._theme.scaled(_WIDE), max(240, window.width() - 32))
        bar = window.menuBar().geometry().bottom() + 6
        around = self.field.sizeHint().height() + self.note.sizeHint().height() + 30
        row = self._theme.scaled(_ROW)
        room = max(row * 2, min(_MOST_ROWS * row, window.height() - bar - around - 20))
        height = around + min(room, max(1, len(self.rows)) * row + 2)
        self.setGeometry((window.width() - width) // 2, bar, width, height)

    def _on_text(self, text: str) -> None:
        self._moved = False
        self.typed.emit(text)
        self._idle.start()

    def _on_current(self, index: Index) -> None:
        entry: PaletteEntry | None = self.rows_model.row(index)
        if entry is not None:
            self.field.setAccessibleDescription(entry.spoken)

    def _on_key(self, key: Qt.Key) -> None:
        if key == Qt.Key.Key_Escape:
            self.close_and_return()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.list.currentIndex().row())
        else:
            self._move(key)

    def _move(self, key: Qt.Key) -> None:
        many = self.rows_model.rowCount()
        if not many:
            return
        at = self.list.currentIndex().row()
        page = max(1, self.list.viewport().height() // self._theme.scaled(_ROW) - 1)
        match key:
            case Qt.Key.Key_Down | Qt.Key.Key_Tab:
                at = (at + 1) % many
            case Qt.Key.Key_Up | Qt.Key.Key_Backtab:
                at = (at - 1) % many
            case Qt.Key.Key_PageDown:
                at = min(many - 1, at + page)
            case Qt.Key.Key_PageUp:
                at = max(0, at - page)
        self._moved = True
        self.list.setCurrentIndex(self.rows_model.index(at))

    def _choose(self, at: int) -> None:
        entry: PaletteEntry | None = self.rows[at] if 0 <= at < len(self.rows) else None
        if entry is None:
            return
        if entry.why_not:
            self.say(f"{entry.text}: {entry.why_not}.".replace("..", "."), "bad")
            return
        self.close_and_return()
        self.chosen.emit(entry)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()  # The click does not reach the widget below.
