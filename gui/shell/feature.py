"""Connects a feature's window to its service: relays signals and closes with the main window."""

from collections.abc import Callable
from typing import Any, Literal

from PySide6.QtCore import QObject

from core.schema.signal import Signal
from gui.shell.main_window import MainWindow
from gui.shell.window_frame import present as present
from gui.widgets.relay import Relay


class FeatureController(QObject):
    """Base class of the controllers, one for each feature; lives as long as the main window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.window = window
        window.controllers.setdefault(type(self).__module__.split(".")[1], self)

    def follow(
        self, source: Signal[Any], slot: Callable[..., object], *, keep: Literal["latest", "every"] = "latest"
    ) -> None:
        """Call `slot` on the GUI thread with what `source` sends, until the main window closes."""
        relay = Relay(source, keep=keep, parent=self)
        relay.received.connect(slot)
        self.window.closed.connect(relay.close)
