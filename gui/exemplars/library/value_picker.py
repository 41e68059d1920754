"""A button that offers the values of a filter, each with how many exemplars have it."""

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QVBoxLayout, QWidget, QWidgetAction

from gui.theme.theme import Theme
from gui.widgets.buttons import PickerButton
from gui.widgets.formats import thousands
from gui.widgets.search import SearchField
from gui.widgets.words import set_flag

_ANY = "any"
_HEIGHT = 300
_SEARCHED = 8
"""Values from which on there is a field to find one."""


class ValuePicker(PickerButton):
    """Shows what is chosen; its menu has the values, the most frequent first, with a field to find one.

    With `several`, any number of them can be chosen.
    """

    picked = Signal()

    def __init__(
        self, theme: Theme, name: str, *, several: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, name, widest=190, parent=parent)
        self._several = several
        self._chosen: tuple[str, ...] = ()
        self._values: dict[str, int] = {}
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(6, 4, 6, 4)
        column.setSpacing(4)
        self.field = SearchField(theme, f"Find a value of {name}", inside)
        self.field.textChanged.connect(self._fill)
        self.field.installEventFilter(self)
        self.values = QListWidget(inside)
        self.values.setAccessibleName(f"Values of {name}")
        self.values.setMinimumWidth(250)
        self.values.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.values.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.values.itemClicked.connect(self._on_item)
        self.values.itemActivated.connect(self._on_item)
        column.addWidget(self.field)
        column.addWidget(self.values)
        action = QWidgetAction(self)
        action.setDefaultWidget(inside)
        self.menu().addAction(action)
        self.menu().aboutToShow.connect(self._on_opened)
        self._show()

    @property
    def chosen(self) -> tuple[str, ...]:
        return self._chosen

    def choose(self, chosen: tuple[str, ...]) -> None:
        """Show this as chosen, without telling."""
        self._chosen = chosen
        self._show()

    def offer(self, values: Mapping[str, int]) -> None:
        """Offer these values; nothing is left out that is chosen."""
        kept = {value: number for value, number in values.items() if value}
        self._values = {**{one: 0 for one in self._chosen if one not in kept}, **kept}
        if self.menu().isVisible():
            self._fill()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
                self.values.setFocus()
                return False
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._on_item(self.values.item(0 if self._several else min(1, self.values.count() - 1)))
                return True
        return super().eventFilter(watched, event)

    def _on_opened(self) -> None:
        self.field.setVisible(len(self._values) >= _SEARCHED)
        self.field.blockSignals(True)
        self.field.clear()
        self.field.blockSignals(False)
        self._fill()
        (self.field if self.field.isVisibleTo(self.menu()) else self.values).setFocus()

    def _fill(self) -> None:
        words = self.field.text().casefold()
        self.values.clear()
        if not self._several:
            self._add(_ANY, "", _ANY, not self._chosen)
        for value, number in self._values.items():
            if words in value.casefold():
                self._add(f"{value}  ·  {thousands(number)}", value, value, value in self._chosen)
        if self.values.count() == 0:
            item = QListWidgetItem("None of the exemplars has one." if not words else "Nothing is like that.")
            item.setFlags(Qt.ItemFlag.NoItemFlags)
            self.values.addItem(item)
        rows = min(self.values.count(), 12)
        self.values.setFixedHeight(min(_HEIGHT, rows * 27 + 10))

    def _add(self, text: str, value: str, tooltip: str, on: bool) -> None:
        item = QListWidgetItem(text)
        item.setData(Qt.ItemDataRole.UserRole, value)
        item.setToolTip(tooltip)
        if self._several:
            item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
        self.values.addItem(item)
        if on and not self._several:
            self.values.setCurrentItem(item)

    def _on_item(self, item: QListWidgetItem | None) -> None:
        value = item.data(Qt.ItemDataRole.UserRole) if item is not None else None
        if not isinstance(value, str) or item is None:
            return
        if self._several:
            on = value not in self._chosen
            rest = tuple(one for one in self._chosen if one != value)
            self._chosen = (*rest, value) if on else rest
            item.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
        else:
            self._chosen = (value,) if value else ()
            self.menu().hide()
        self._show()
        self.picked.emit()

    def _show(self) -> None:
        words = ", ".join(self._chosen) or _ANY
        set_flag(self, "narrowed", bool(self._chosen))
        self.show_value(words, f"{self._name}: {words}. Space opens the values.")
