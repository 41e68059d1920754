"""Lets the person leave a page only once what they did there is recorded."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject

from core.schema.signal import Signal
from gui.widgets.relay import Relay


class Leaving(QObject):
    """Does what leaves a page, at once unless somebody records it."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.record_first: Callable[[Callable[[], None]], None] | None = None
        """Records what was done in the page, and then calls its argument, from any thread."""
        self._recorded: Signal[Callable[[], None]] = Signal()
        Relay(self._recorded, keep="every", interval_ms=0, parent=self).received.connect(self._on_recorded)

    def then(self, leave: Callable[[], None]) -> None:
        """Call `leave` in this thread, after the recording."""
        if self.record_first is None:
            leave()
        else:
            self.record_first(partial(self._recorded.send, leave))

    def _on_recorded(self, leaves: tuple[Callable[[], None], ...]) -> None:
        for leave in leaves:
            leave()
