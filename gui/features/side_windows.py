"""Joins Ask again and Compare, which are windows of their own, to the main window."""

from PySide6.QtCore import QObject, Slot

from core.debugger.ask_again.views import AskDeskCommands
from core.debugger.compare.views import CompareDeskCommands
from core.debugger.snapshots import SessionView
from gui.ask_again.controller import AskAgainController
from gui.compare.controller import CompareController
from gui.shell.main_window import MainWindow
from gui.widgets.relay import Relay


class SideWindows(QObject):
    """Opens them from the tree of runs, for the step or run of a row."""

    def __init__(self, asks: AskDeskCommands, compares: CompareDeskCommands, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._session = SessionView()
        self.asking = AskAgainController(asks, window.theme, window)
        self.comparing = CompareController(compares, window.theme, window)
        self.asking.adopt_requested.connect(window.commands.corrections.edit_action)
        catalogue = Relay(window.commands.catalogue_changed, keep="latest", parent=self)
        catalogue.received.connect(self.asking.show_catalogue)
        session = Relay(window.commands.session_changed, keep="latest", parent=self)
        session.received.connect(self._show_session)
        for relay in (catalogue, session):
            window.closed.connect(relay.close)
        window.runs.ask_requested.connect(self.asking.open)
        window.runs.compare_run_requested.connect(self._on_compare_run)
        window.runs.compare_step_requested.connect(self._on_compare_step)

    @Slot(object)
    def _show_session(self, view: SessionView) -> None:
        self._session = view
        reviewing = view.mode == "waiting" and view.phase == "review"
        self.asking.show_review(view.run, view.step, under_review=reviewing)

    @Slot(int)
    def _on_compare_run(self, run: int) -> None:
        """Compare a run with the one whose step is in view."""
        viewed = self._window.runs.delegate.viewed
        other = viewed[0] if viewed is not None else self._session.run
        if other is not None:
            self.comparing.compare_runs(other, run)

    @Slot(int, int)
    def _on_compare_step(self, run: int, number: int) -> None:
        """Compare a step with the one in view."""
        viewed = self._window.runs.delegate.viewed
        if viewed is not None:
            self.comparing.compare_steps(viewed, (run, number))
