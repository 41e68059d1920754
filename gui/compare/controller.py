"""Joins the Compare window to what answers it."""

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from core.debugger.compare.views import CompareDeskCommands, ComparedView, StepKey
from gui.compare.window import CompareWindow
from gui.theme.theme import Theme
from gui.widgets.relay import Relay


class CompareController(QObject):
    """Opens the window, sends what it asks to the desk and shows what comes back."""

    def __init__(self, desk: CompareDeskCommands, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._desk = desk
        self._theme = theme
        self._window = window
        self._wanted: tuple[int, int] | None = None
        self.shown: CompareWindow | None = None
        """The window, once it was opened."""
        self._compared = Relay(desk.compared, keep="latest", parent=self)
        self._compared.received.connect(self._show_compared)
        self._paired = Relay(desk.paired, keep="latest", parent=self)

    def compare_runs(self, left: int, right: int) -> None:
        """Open the window with two runs."""
        self._wanted = (left, right)
        shown = self._opened()
        shown.show_compared(ComparedView(left=left, right=right))
        self._desk.compare(left, right)

    def compare_steps(self, left: StepKey, right: StepKey) -> None:
        """Open the window with two steps, of one run or of two."""
        self._wanted = None
        self._opened().show_steps(left, right)

    def _opened(self) -> CompareWindow:
        if self.shown is None:
            self.shown = CompareWindow(self._theme, self._window)
            self.shown.pair_requested.connect(self._desk.pair)
            self._paired.received.connect(self.shown.show_pair)
        self.shown.show()
        self.shown.raise_()
        self.shown.activateWindow()
        return self.shown

    @Slot(object)
    def _show_compared(self, view: ComparedView) -> None:
        if self.shown is not None and (view.left, view.right) == self._wanted:
            self.shown.show_compared(view)
