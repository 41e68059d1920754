"""Decides which panels show a step at once, and which later: those behind others while a run continues."""

from PySide6.QtCore import QObject, QTimer

from core.debugger.steps.views import StepView
from gui.shell.docks import Docks
from gui.shell.panel_dock import PanelDock

_REST_MS = 120
"""How long a panel behind others waits while the run continues, because most steps are soon replaced by the next."""


class PanelUpdates(QObject):
    """Gives each panel the latest step.

    While the run continues, hidden panels wait and are updated one per turn of the event loop. When the run stops,
    all are updated at once, because keys act on them.
    """

    def __init__(self, docks: Docks, parent: QObject) -> None:
        super().__init__(parent)
        self._docks = docks
        self._waiting: dict[PanelDock, StepView] = {}
        self._turn = QTimer(self, singleShot=True)
        self._turn.timeout.connect(self._show_next)
        for dock in docks.by_name.values():
            dock.visibilityChanged.connect(lambda on, dock=dock: self._show(dock) if on else None)

    def show_step(self, step: StepView, *, going_on: bool) -> None:
        """Show a step; `going_on` means that more steps follow automatically."""
        for dock in self._docks.by_name.values():
            if hasattr(dock.widget(), "show_step"):
                self._waiting[dock] = step
                if not going_on or self._docks.is_in_front(dock.name):
                    self._show(dock)
        if self._waiting and not self._turn.isActive():
            self._turn.start(_REST_MS)

    def _show_next(self) -> None:
        if self._waiting:
            self._show(next(iter(self._waiting)))
        if self._waiting:
            self._turn.start(0)

    def _show(self, dock: PanelDock) -> None:
        step = self._waiting.pop(dock, None)
        if step is not None:
            dock.widget().show_step(step)  # type: ignore[attr-defined]
