"""Search fields: one alone, and one that finds words in texts next to each other."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QWidget

from core.schema.formats import thousands
from gui.theme.theme import Theme
from gui.widgets.keys import takes_key
from gui.widgets.layouts import in_row
from gui.widgets.lined_text import LinedText
from gui.widgets.words import dim_label, set_tone

_IDLE_MS = 120


class SearchField(QLineEdit):
    """Enter and Shift+Enter go to the next and the previous match, Escape clears the field.

    Escape in an empty field is left to the window, and in any without `escape_clears`.
    """

    escape_clears = True

    next_wanted = Signal()
    previous_wanted = Signal()

    def __init__(self, theme: Theme, placeholder: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(placeholder)
        self.setClearButtonEnabled(True)
        self.addAction(theme.icon("search"), QLineEdit.ActionPosition.LeadingPosition).setText("Search")

    def reach(self) -> None:
        """Focus the field and select its text."""
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.selectAll()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            (self.previous_wanted if back else self.next_wanted).emit()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        clears = escape and bool(self.text()) and self.escape_clears
        return (clears and takes_key(event, self.clear)) or super().event(event)


class Finder(QWidget):
    """A search field with the number of matches; Enter and Shift+Enter go through them in turn."""

    def __init__(
        self, theme: Theme, placeholder: str, views: Sequence[LinedText], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._views = tuple(views)
        self._turn = 0
        self._idle = QTimer(self, singleShot=True, interval=_IDLE_MS)
        self._idle.timeout.connect(self.refresh)
        self.field = SearchField(theme, placeholder, self)
        self.field.setMinimumWidth(90)
        self.field.setMaximumWidth(230)
        self.field.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.field.textChanged.connect(lambda _text: self._idle.start())
        self.field.next_wanted.connect(lambda: self._go(1))
        self.field.previous_wanted.connect(lambda: self._go(-1))
        self.counted = dim_label("")
        self.counted.setFont(theme.small_font())
        in_row(self, self.counted, (self.field, 1), spacing=6)

    def search_in(self, views: Sequence[LinedText]) -> None:
        """Search these texts from now on."""
        for view in self._views:
            if view not in views:
                view.search("")
        self._views = tuple(views)
        self.refresh()

    def refresh(self) -> None:
        """Search again because the words or the texts have changed."""
        self._idle.stop()
        needle = self.field.text()
        found = sum(view.search(needle) for view in self._views)
        self._turn = next((at for at, view in enumerate(self._views) if view.found), 0)
        self.counted.setText("" if not needle else f"{thousands(found)} found" if found else "none found")
        set_tone(self.counted, "bad" if needle and not found else "dim")

    def show_needle(self, needle: str) -> None:
        """Put words into the field without going to their first match."""
        with QSignalBlocker(self.field):
            self.field.setText(needle)
        self.refresh()

    def focus_search(self) -> None:
        self.field.reach()

    def _go(self, offset: int) -> None:
        if self._idle.isActive():
            self.refresh()
            return
        view = self._views[self._turn]
        last = view.found - 1 if offset > 0 else 0
        others = [at for at, other in enumerate(self._views) if other.found and at != self._turn]
        if view.found_index == last and others:
            self._turn = others[0]
        self._views[self._turn].go_to_match(offset)
