"""The panel that contains DevTools when they are opened on the live page."""

from PySide6.QtWidgets import QWidget

from gui.theme.theme import Theme
from gui.widgets.layouts import in_column
from gui.widgets.words import OrWords

_WORDS = (
    "DevTools look into the live page: elements, console, network, storage. Open them while the agent is paused or "
    "you have the page (Ctrl+Shift+J)."
)


class DevToolsPanel(QWidget):
    """Shows the inspector's view, which belongs to the page, or explains how to open it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._holder = QWidget()
        self._row = in_column(self._holder)
        self.words = OrWords(self._holder, words=_WORDS)
        in_column(self, self.words)

    @property
    def inspector(self) -> QWidget | None:
        """The DevTools view, if it is shown."""
        item = self._row.itemAt(0)
        return item.widget() if item is not None else None

    def show_inspector(self, view: QWidget | None) -> None:
        """Replace the view by this one; None removes it."""
        if view is not self.inspector:
            if (last := self.inspector) is not None:
                self._row.removeWidget(last)
                last.hide()
            if view is not None:
                self._row.addWidget(view)
                view.show()
        self.words.say("" if view is not None else _WORDS)

    def say(self, why: str) -> None:
        """Show why there is no inspector."""
        self.words.say(why)
