"""The list of names that may come next, below the cursor of a field."""

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QModelIndex, QObject, QRect, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QApplication, QCompleter, QFrame, QListView, QPlainTextEdit, QStyle, QWidget

from core.debugger.breakpoints.names import Completion
from gui.theme.theme import Theme
from gui.widgets.item_views import Index, RowDelegate

COMPLETION = Qt.ItemDataRole.UserRole
_WIDTH = 460
_NAME = 110
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class CompletionList(QObject):
    """Offers names for a text field. Enter and Tab take the selected one, and Esc closes the list.

    Enter is passed on to the field if the selected name is already typed. Ctrl+Enter only closes the list.
    """

    def __init__(self, theme: Theme, field: QPlainTextEdit) -> None:
        super().__init__(field)
        self._field = field
        self._model = QStandardItemModel(self)
        self._completer = QCompleter(self, maxVisibleItems=9, wrapAround=False)
        self._completer.setModel(self._model)
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self._completer.setWidget(field)
        self.popup = QListView()
        self._completer.setPopup(self.popup)
        self.popup.setItemDelegate(_Offered(theme, self.popup))
        self.popup.setUniformItemSizes(True)
        self.popup.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.popup.setFrameShape(QFrame.Shape.Box)
        self.popup.setAccessibleName("What may come next")
        self.popup.installEventFilter(self)
        self._completer.activated[QModelIndex].connect(self._take)  # type: ignore[index]

    @property
    def offered(self) -> tuple[str, ...]:
        """The names in the list."""
        return tuple(self._model.item(at).text() for at in range(self._model.rowCount()))

    def offer(self, found: Iterable[Completion]) -> None:
        """Show these names below the cursor, and select the first; without any, hide the list.

        A name that is already typed goes first.
        """
        before = _before(self._field)
        self._model.clear()
        for completion in sorted(found, key=lambda completion: not before.endswith(completion.name)):
            item = QStandardItem(completion.name)
            item.setData(completion, COMPLETION)
            item.setToolTip(completion.doc)
            item.setData(f"{completion.name}. {completion.doc}", Qt.ItemDataRole.AccessibleTextRole)
            self._model.appendRow(item)
        if not self._model.rowCount():
            self.popup.hide()
            return
        begin = self._field.cursorRect()
        inside = self._field.viewport().mapTo(self._field, begin.topLeft())
        self._completer.complete(QRect(inside.x(), inside.y(), _WIDTH, begin.height() + 4))
        self.popup.setCurrentIndex(self._model.index(0, 0))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep Enter, Tab and Escape from the field while they are for the list."""
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return False
        if event.key() not in (*ENTER, Qt.Key.Key_Tab, Qt.Key.Key_Escape):
            return False
        chosen = self.popup.currentIndex()
        self.popup.hide()
        if event.key() in ENTER and _before(self._field).endswith(chosen.data() or ""):
            QApplication.sendEvent(self._field, event)
        elif event.key() != Qt.Key.Key_Escape and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._take(chosen)
        return True

    def _take(self, index: QModelIndex) -> None:
        if not index.isValid():
            return
        completion: Completion = index.data(COMPLETION)
        name, before = completion.name, _before(self._field).casefold()
        begun = next(n for n in range(len(name), -1, -1) if before.endswith(name[:n].casefold()))
        cursor = self._field.textCursor()
        cursor.movePosition(cursor.MoveOperation.Left, cursor.MoveMode.KeepAnchor, begun)
        cursor.insertText(f"{name}(" if completion.kind == "function" else name)
        self._field.setTextCursor(cursor)


def _before(field: QPlainTextEdit) -> str:
    """Return what is written in the line before the cursor."""
    cursor = field.textCursor()
    cursor.setPosition(cursor.position())
    cursor.movePosition(cursor.MoveOperation.StartOfBlock, cursor.MoveMode.KeepAnchor)
    return cursor.selectedText()


class _Offered(RowDelegate):
    """The name, and what it stands for."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, QSize(_WIDTH, 23), parent)

    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        completion: Completion = index.data(COMPLETION)
        if state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            painter.fillRect(rect, self.theme.colour("selected"))
        room = rect.adjusted(8, 0, -8, 0)
        wide = self.write(painter, room, completion.name, self.theme.machine_font())
        room.setLeft(room.left() + max(_NAME, wide + 12))
        self.write(painter, room, completion.doc, self.theme.small_font(), "dim")
