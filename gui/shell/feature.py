"""Connects a feature's window to its service: relays signals and closes with the main window."""

from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QObject, Slot

from core.schema.signal import Signal
from gui.shell.main_window import MainWindow
from gui.shell.window_frame import present as present
from gui.widgets.relay import Relay

if TYPE_CHECKING:
    from core.debugger.service import ChangeAnswer


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


class AskingController(FeatureController):
    """Asks for changes by commands that take a `token`; each answer reaches whoever asked."""

    def __init__(self, window: MainWindow, answered: "Signal[ChangeAnswer]") -> None:
        super().__init__(window)
        self._tokens = count(1)
        self.waiting: dict[int, Callable[[str], object]] = {}
        """Who waits for an answer, by token."""
        self.follow(answered, self._show_answers, keep="every")

    def ask(
        self, command: Callable[..., object], *wish: object, answer: Callable[[str], object], **named: object
    ) -> None:
        """Call a command; `answer` is called with the problem, or with an empty string if it went well."""
        token = next(self._tokens)
        self.waiting[token] = answer
        command(*wish, **named, token=token)

    @Slot(object)
    def _show_answers(self, answers: "tuple[ChangeAnswer, ...]") -> None:
        for answer in answers:
            if (waiting := self.waiting.pop(answer.token, None)) is not None:
                waiting(answer.problem)
