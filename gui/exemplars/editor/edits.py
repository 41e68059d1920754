"""The draft in view with its undo and redo, which all parts of the editor change and show."""

from PySide6.QtCore import QObject, QTimer, Signal

from core.memory.editing.draft import EMPTY, DraftHistory
from core.schema.exemplar import Draft

_PAUSE_MS = 1500
"""After such a pause in typing the next letter is a change of its own."""


class Edits(QObject):
    """Holds the history; nothing else knows what the draft is."""

    changed = Signal()
    """The draft is another one, by an edit, an undo or because something was opened."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.history = DraftHistory.of(EMPTY)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(self.seal)

    @property
    def now(self) -> Draft:
        return self.history.now

    def begin(self, draft: Draft) -> None:
        """Go on from this draft; nothing can be undone."""
        self.history = DraftHistory.of(draft)
        self.changed.emit()

    def do(self, name: str, draft: Draft, *, key: str = "") -> None:
        """Make a change; those with the same `key`, such as letters in one field, are undone together."""
        after = self.history.done(name, draft, key=key)
        if key:
            self._pause.start()
        if after is not self.history:
            self.history = after
            self.changed.emit()

    def seal(self) -> None:
        """Have what is typed next undone by itself."""
        self.history = self.history.sealed()

    def undo(self) -> None:
        self._go(self.history.undone())

    def redo(self) -> None:
        self._go(self.history.redone())

    def _go(self, history: DraftHistory) -> None:
        moved = history.at != self.history.at
        self.history = history
        if moved:
            self.changed.emit()
