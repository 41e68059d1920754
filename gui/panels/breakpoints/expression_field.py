"""A field for an expression of a breakpoint or a watch, with completion."""

import re

from PySide6.QtCore import QEvent, QModelIndex, QObject, QRect, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QApplication, QCompleter, QFrame, QLineEdit, QListView, QStyle, QWidget

from core.debugger.breakpoints.names import Completion, completions
from gui.theme.theme import Theme
from gui.widgets.item_views import Index, RowDelegate

COMPLETION = Qt.ItemDataRole.UserRole
_BEGUN = re.compile(r"[A-Za-z_]\w*\Z")
_WIDTH = 460
_NAME = 110


_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class EnterForField(QObject):
    """Passes Enter to the field if completion has nothing to add: no name is selected, or it is already typed."""

    def __init__(self, completer: QCompleter, field: QLineEdit) -> None:
        super().__init__(field)
        popup = completer.popup()
        assert popup is not None
        self._popup, self._field = popup, field
        popup.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return False
        chosen = self._popup.currentIndex()
        written = self._field.text()[: self._field.cursorPosition()]
        if event.key() not in _ENTER or (chosen.isValid() and not written.endswith(chosen.data())):
            return False
        self._popup.hide()
        QApplication.sendEvent(self._field, event)
        return True


class ExpressionField(QLineEdit):
    """Completes names while typing and lists all that fit for Ctrl+Space; Enter or Tab accepts one.

    With `completing` off it is a plain field.
    """

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.completing = True
        self.setAccessibleName(name)
        self.setFont(theme.machine_font())
        self._offered = QStandardItemModel(self)
        self._completer = QCompleter(self, maxVisibleItems=9)
        self._completer.setModel(self._offered)
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self._completer.setWidget(self)
        self.popup = QListView()
        self._completer.setPopup(self.popup)
        self.popup.setItemDelegate(_Offered(theme, self.popup))
        self.popup.setUniformItemSizes(True)
        self.popup.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.popup.setFrameShape(QFrame.Shape.Box)
        self.popup.setAccessibleName("What may come next")
        EnterForField(self._completer, self)
        self._completer.activated[QModelIndex].connect(self._on_taken)  # type: ignore[index]
        self.textEdited.connect(self._on_edited)

    @property
    def offered(self) -> tuple[str, ...]:
        """The names in the completion list."""
        return tuple(self._offered.item(at).text() for at in range(self._offered.rowCount()))

    def offer(self) -> None:
        """Offer what may follow at the cursor."""
        self._offered.clear()
        found = completions(self.text(), self.cursorPosition()) if self.completing else ()
        for one in found:
            item = QStandardItem(one.name)
            item.setData(one, COMPLETION)
            item.setToolTip(one.doc)
            item.setData(f"{one.name}. {one.doc}", Qt.ItemDataRole.AccessibleTextRole)
            self._offered.appendRow(item)
        if found:
            self._completer.complete(QRect(0, 0, max(_WIDTH, self.width()), self.height()))
        else:
            self.popup.hide()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if event.key() == Qt.Key.Key_Space and control:
            self.offer()
        else:
            super().keyPressEvent(event)

    def _on_edited(self) -> None:
        head = self.text()[: self.cursorPosition()]
        if head.endswith(".") or _BEGUN.search(head):
            self.offer()
        else:
            self.popup.hide()

    def _on_taken(self, index: QModelIndex) -> None:
        completion: Completion = index.data(COMPLETION)
        text, cursor = self.text(), self.cursorPosition()
        begun = _BEGUN.search(text[:cursor])
        start = begun.start() if begun is not None else cursor
        name = f"{completion.name}(" if completion.kind == "function" else completion.name
        self.setText(text[:start] + name + text[cursor:])
        self.setCursorPosition(start + len(name))


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
