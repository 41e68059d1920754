"""Choosing an exemplar of the memory by its name: a list that a search narrows."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from core.debugger.ask_again.views import ExemplarChoice
from gui.widgets.formats import count
from gui.widgets.words import ElidedLabel, set_tone

_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class ExemplarChooser(QDialog):
    """Lists exemplars by family; words in the search field have to occur in task, family or id."""

    def __init__(
        self, choices: tuple[ExemplarChoice, ...], title: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self._choices = choices
        self.search = QLineEdit(self)
        self.search.setPlaceholderText("Search task, family or id")
        self.search.setAccessibleName("Search exemplars")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._fill)
        self.search.installEventFilter(self)
        self.names = QListWidget(self)
        self.names.setAccessibleName("Exemplars")
        self.names.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.names.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.names.itemActivated.connect(lambda _item: self._accept())
        self.names.currentItemChanged.connect(self._tell)
        self.fact = ElidedLabel("", self)
        set_tone(self.fact, "dim")
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel, self
        )
        self.ok = buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.ok.setText("Switch")
        buttons.accepted.connect(self._accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        for widget in (self.search, self.names, self.fact, buttons):
            layout.addWidget(widget)
        self.resize(620, 440)
        self._fill()

    @property
    def chosen(self) -> str:
        """The id of the current exemplar; empty where the search finds none."""
        item = self.names.currentItem()
        return "" if item is None else str(item.data(Qt.ItemDataRole.UserRole))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in _KEYS:
            self.names.event(event)
            return True
        return super().eventFilter(watched, event)

    def _fill(self) -> None:
        words = self.search.text().lower().split()
        before = self.chosen
        self.names.clear()
        for one in self._choices:
            text = f"{one.family}: {one.task}"
            if all(word in f"{text} {one.id}".lower() for word in words):
                item = QListWidgetItem(text.replace("\n", " "))
                item.setData(Qt.ItemDataRole.UserRole, one.id)
                item.setToolTip(f"{one.task}\n{one.family} · {one.id}")
                self.names.addItem(item)
                if one.id == before:
                    self.names.setCurrentItem(item)
        if self.names.currentItem() is None and self.names.count():
            self.names.setCurrentRow(0)
        self._tell()

    def _tell(self) -> None:
        found = self.names.count()
        none = "The memory has no other exemplar." if not self._choices else "No exemplar has these words."
        self.fact.setText(f"{count(found, 'exemplar')} · {self.chosen}" if found else none)
        self.ok.setEnabled(bool(self.chosen))

    def _accept(self) -> None:
        if self.chosen:
            self.accept()
