"""The main window as the system has it: its size, the windows above and beside it, and whether it answers in time."""

from PySide6.QtCore import QElapsedTimer, QEvent, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import QDialog, QMainWindow, QWidget

from gui.widgets.remembered import Remembered

FIRST_SIZE = QSize(1280, 800)
_TITLE_BAR = 40
"""Pixels that a title bar may take."""


class WindowFrame(QObject):
    """Follows the native window of `window`, and shows others beside it."""

    def __init__(self, window: QMainWindow, remembered: Remembered) -> None:
        super().__init__(window)
        self._window = window
        self._remembered = remembered
        self._beside: dict[QWidget, str] = {}
        """Where the geometry of each window is remembered."""
        self._lifting = QTimer(self, singleShot=True, interval=0)
        self._lifting.timeout.connect(self.lift_dialogs)
        window.resize(FIRST_SIZE)
        window.installEventFilter(self)

    def fit_screen(self, room: QSize) -> None:
        """Fill a screen with `room` too small for the first size and a title bar."""
        if room.width() < FIRST_SIZE.width() or room.height() < FIRST_SIZE.height() + _TITLE_BAR:
            self._window.resize(room)  # Where no window manager makes it as large as the screen.
            self._window.showMaximized()

    def show_beside(self, shown: QWidget, place: str) -> None:
        """Show a child of the main window as a window of its own, which the main window can cover.

        Its geometry is remembered under `place`.
        """
        if shown not in self._beside:
            self._beside[shown] = place
            shown.setWindowFlags(Qt.WindowType.Window)
            if (geometry := self._remembered.part(place)) is not None:
                shown.restoreGeometry(geometry)
            shown.installEventFilter(self)
        if shown.isHidden():
            shown.create()  # The native window, which is shown as belonging to no other.
            shown.windowHandle().setTransientParent(None)  # type: ignore[arg-type]
        present(shown)

    def hide_beside(self) -> None:
        """Hide the windows that were shown beside the main one; otherwise the program would not end with it."""
        for shown in self._beside:
            shown.hide()

    def lift_dialogs(self) -> None:
        """Show the open dialogs above the window again."""
        for dialog in self._window.findChildren(QDialog):
            if dialog.isVisible() and dialog not in self._beside:
                dialog.hide()
                dialog.show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # The first live page makes Qt replace the native window, and the new one lies above its dialogs.
        if watched is self._window and event.type() == QEvent.Type.WinIdChange:
            self._lifting.start()
        elif event.type() == QEvent.Type.Hide and watched in self._beside:
            self._remembered.keep_part(self._beside[watched], watched.saveGeometry())
        return super().eventFilter(watched, event)


def present(shown: QWidget) -> None:
    """Show a window in front of all others, with the focus."""
    shown.setWindowState(shown.windowState() & ~Qt.WindowState.WindowMinimized)
    shown.show()
    shown.raise_()
    shown.activateWindow()


class Heartbeat(QObject):
    """Beats every `interval_ms` and tells of each beat that came more than `limit_ms` late.

    `stalled` is sent after the stall, with how late the beat was in
    milliseconds; `worst` is the longest since the start.
    """

    stalled = Signal(float)

    def __init__(self, parent: QObject | None = None, *, interval_ms: int = 20, limit_ms: float = 50) -> None:
        super().__init__(parent)
        self._limit = limit_ms
        self._clock = QElapsedTimer()
        self._timer = QTimer(self, timerType=Qt.TimerType.PreciseTimer, interval=interval_ms)
        self._timer.timeout.connect(self._on_beat)
        self.worst = 0.0

    def start(self) -> None:
        """Begin measuring from now; what happened before does not count."""
        self.worst = 0.0
        self._clock.start()
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()

    def _on_beat(self) -> None:
        late = self._clock.nsecsElapsed() / 1e6 - self._timer.interval()
        self._clock.restart()
        self.worst = max(self.worst, late)
        if late > self._limit:
            self.stalled.emit(late)
