"""The actions from the same reply that wait for the next steps: renamed, moved and deleted in place."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QLabel, QListWidget, QListWidgetItem, QWidget

from core.schema.observation import Element
from gui.theme.theme import Theme
from gui.widgets.copying import action_copies
from gui.widgets.item_views import RowMenu
from gui.widgets.layouts import in_column
from gui.widgets.words import labelled, set_tone

_ROWS_SHOWN = 5


class QueueList(QWidget):
    """Shows the queue and asks for the person's changes to it; hidden while the queue is empty."""

    edited = Signal(tuple)
    """The actions as text, in order."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: tuple[str, ...] = ()
        self._elements: tuple[Element, ...] = ()
        self.label = QLabel(self)
        set_tone(self.label, "dim")
        keys = "Double-click or F2 to edit, Delete to remove, drag to move"
        self.list = labelled(QListWidget(self), "Actions that wait for the next steps", keys)
        self.list.setFont(theme.machine_font())
        self.list.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.list.setTabKeyNavigation(False)
        RowMenu(self.list, copies=lambda index: action_copies(index.data(), self._elements))
        self.list.installEventFilter(self)
        self.list.itemChanged.connect(self._tell)
        self.list.model().rowsMoved.connect(self._tell)
        in_column(self, self.label, self.list, spacing=3)
        self.setVisible(False)

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(item.text() for item in self._items())

    def show_queue(
        self, actions: Sequence[str], *, editable: bool, elements: tuple[Element, ...] = ()
    ) -> None:
        """Show these actions in the order in which they will run; if nothing has changed, an open edit stays.

        `elements` are the elements that refs stand for.
        """
        self._elements = elements
        if tuple(actions) == self.texts and editable == self.list.dragEnabled():
            return
        self._shown = tuple(actions)
        row = self.list.currentRow()
        # Only signals of the list are blocked: it needs those of its model to draw.
        with QSignalBlocker(self.list):
            self.list.clear()
            for text in actions:
                item = QListWidgetItem(text)
                if editable:
                    item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
                self.list.addItem(item)
        self.list.setCurrentRow(min(row, len(self._shown) - 1))
        self.list.setDragEnabled(editable)
        self.label.setText("Then, from the same reply" + (" (editable)" if editable else ""))
        height = self.list.sizeHintForRow(0) * min(len(self._shown), _ROWS_SHOWN)
        self.list.setFixedHeight(height + 2 * self.list.frameWidth() + 4)
        self.setVisible(bool(self._shown))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        deletes = (Qt.Key.Key_Delete, Qt.Key.Key_Backspace)
        if watched is self.list and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            item = self.list.currentItem()
            if event.key() in deletes and item is not None and item.flags() & Qt.ItemFlag.ItemIsEditable:
                self.list.takeItem(self.list.row(item))
                self._tell()
                return True
        return super().eventFilter(watched, event)

    def _items(self) -> list[QListWidgetItem]:
        return [self.list.item(row) for row in range(self.list.count())]

    def _tell(self) -> None:
        texts = tuple(text for text in self.texts if text.strip())
        if texts != self._shown:
            self._shown = texts
            self.edited.emit(texts)
