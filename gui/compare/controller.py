"""Compare, opened for two runs or two steps; and Diff, which compares the step in view with another one."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot

from core.debugger.compare.views import ComparedView, PairView, StepKey
from core.debugger.steps.views import StepView
from gui.compare.window import CompareWindow
from gui.shell.feature import FeatureController
from gui.shell.main_window import MainWindow

if TYPE_CHECKING:
    from core.debugger.compare.service import CompareService


class CompareController(FeatureController):
    """Opens the window, passes on its requests, and shows the results."""

    def __init__(self, window: MainWindow, service: "CompareService") -> None:
        super().__init__(window)
        self._service = service
        self._wanted: tuple[int, int] | None = None
        self.shown: CompareWindow | None = None
        """The window, after it was opened."""
        self.follow(service.changed, self._show_compared)
        self.follow(service.paired, self._show_pair)
        self.follow(service.diffed, window.diff.show_pair)
        window.place("Diff").seen_changed.connect(window.diff.set_seen)
        window.diff.set_seen(window.place("Diff").is_seen)
        window.diff.pair_requested.connect(service.diff)
        window.step_shown.connect(self._on_step)
        window.compare_requested.connect(self.compare_runs)
        window.runs.compare_run_requested.connect(self._on_compare_run)
        window.runs.compare_step_requested.connect(self._on_compare_step)

    @Slot(int, int)
    def compare_runs(self, left: int, right: int) -> None:
        """Open the window with two runs."""
        self._wanted = (left, right)
        self._opened().show_compared(ComparedView(left=left, right=right))
        self._service.compare(left, right)

    def compare_steps(self, left: StepKey, right: StepKey) -> None:
        """Open the window with two steps, of one run or of two."""
        self._wanted = None
        self._opened().show_steps(left, right)

    def _opened(self) -> CompareWindow:
        if self.shown is None:
            self.shown = CompareWindow(self.window.theme, self.window)
            self.shown.pair_requested.connect(self._service.pair)
        self.window.frame.show_beside(self.shown, "compare/geometry")
        return self.shown

    @Slot(object)
    def _on_step(self, step: StepView) -> None:
        self.window.diff.show_viewed(step.run, step.number, again=step.live)

    @Slot(object)
    def _show_compared(self, view: ComparedView) -> None:
        if self.shown is not None and (view.left, view.right) == self._wanted:
            self.shown.show_compared(view)

    @Slot(object)
    def _show_pair(self, view: PairView) -> None:
        if self.shown is not None:
            self.shown.show_pair(view)

    @Slot(int)
    def _on_compare_run(self, run: int) -> None:
        """Compare a run with the run of the step in view."""
        viewed = self.window.runs.delegate.viewed
        if viewed is not None:
            self.compare_runs(viewed[0], run)

    @Slot(int, int)
    def _on_compare_step(self, run: int, number: int) -> None:
        """Compare a step with the one in view."""
        viewed = self.window.runs.delegate.viewed
        if viewed is not None:
            self.compare_steps(viewed, (run, number))


install = CompareController
