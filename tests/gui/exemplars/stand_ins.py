"""Services that only record their calls, and a window without panels."""

from types import SimpleNamespace
from typing import Any

from PySide6.QtCore import QSettings, Signal
from PySide6.QtWidgets import QMainWindow

from core.schema.signal import Signal as CoreSignal
from gui.shell.undo import UndoHistory
from gui.shell.window_frame import WindowFrame
from gui.theme.theme import Theme
from gui.widgets.remembered import Remembered


class AskedService:
    """Stands in for a service and records its calls."""

    def __init__(self, *signals: str, **more: Any) -> None:
        for name in ("changed", *signals):
            setattr(self, name, CoreSignal())
        for name, value in more.items():
            setattr(self, name, value)
        self.asked: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments, **more: self.asked.append((name, *arguments, *more.values()))


def asked_services() -> SimpleNamespace:
    """Return a stand-in for each service of the exemplars."""
    listed = ("listed", "paged", "counted", "detailed", "compared", "noticed", "checked")
    names = ("saving", "duplicates")
    return SimpleNamespace(
        library=AskedService(*listed),
        imports=AskedService(),
        editor=AskedService("compared", "conflicted", "replaced"),
        recording=AskedService("recorded"),
        changes=AskedService("answered"),
        retrieval=AskedService("taken"),
        **{name: AskedService() for name in names},
    )


class PlainWindow(QMainWindow):
    """The parts of the main window that the windows of exemplars need."""

    closed = Signal()
    worth_requested = Signal(object)
    evaluation_requested = Signal(int)
    step_shown = Signal(object)

    def __init__(self, theme: Theme, settings: QSettings) -> None:
        super().__init__()
        self.theme = theme
        self.remembered = Remembered(settings)
        self.exemplar_history = UndoHistory(self)
        self.controllers: dict[str, object] = {}
        self.frame = WindowFrame(self, self.remembered)
