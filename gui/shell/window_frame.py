"""The native side of the main window: its size, the windows above and next to it, and whether it responds in time."""

from PySide6.QtCore import QElapsedTimer, QEvent, QObject, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import QDialog, QMainWindow, QWidget

from gui.widgets.remembered import Remembered

FIRST_SIZE = QSize(1280, 800)
_TITLE_BAR = 40
"""Height in pixels reserved for a title bar."""
_BEAT_MS = 20
_LATE_MS = 50


class WindowFrame(QObject):
    """Follows the native window of `window`, and shows other windows next to it."""

    released = Signal()
    """The mouse button was released on the window itself, such as after the edge of a dock was dragged."""

    def __init__(self, window: QMainWindow, remembered: Remembered) -> None:
        super().__init__(window)
        self._window = window
        self._remembered = remembered
        self._beside: dict[QWidget, str] = {}
        """The key under which each window's geometry is remembered."""
        self._lifting = QTimer(self, singleShot=True, interval=0)
        self._lifting.timeout.connect(self.lift_dialogs)
        window.resize(FIRST_SIZE)
        window.installEventFilter(self)

    def fit_screen(self, room: QSize) -> None:
        """Fill the screen if its available area `room` is too small for the first size and a title bar."""
        if room.width() < FIRST_SIZE.width() or room.height() < FIRST_SIZE.height() + _TITLE_BAR:
            self._window.resize(room)  # Needed if no window manager maximizes it.
            self._window.showMaximized()

    def show_beside(self, shown: QWidget, place: str) -> None:
        """Show a child of the main window as a separate window that the main window can cover.

        Its geometry is remembered under `place`.
        """
        if shown not in self._beside:
            self._beside[shown] = place
            shown.setWindowFlags(Qt.WindowType.Window)
            if (geometry := self._remembered.part(place)) is not None:
                shown.restoreGeometry(geometry)
            shown.installEventFilter(self)
        if shown.isHidden():
            shown.create()  # Creates the native window, so that its transient parent can be removed.
            shown.windowHandle().setTransientParent(None)  # type: ignore[arg-type]
        present(shown)
        corner, room = shown.frameGeometry().topLeft(), shown.screen().availableGeometry()
        inside = QPoint(
            min(max(corner.x(), room.left()), room.right() - _TITLE_BAR),
            min(max(corner.y(), room.top()), room.bottom() - _TITLE_BAR),
        )
        if inside != corner:
            shown.move(inside)  # Its title bar would be out of reach.

    def hide_beside(self) -> None:
        """Hide the windows shown next to the main one; otherwise they would keep the program from exiting."""
        for shown in self._beside:
            shown.hide()

    def lift_dialogs(self) -> None:
        """Raise the open dialogs above the window."""
        for dialog in self._window.findChildren(QDialog):
            if dialog.isVisible() and dialog not in self._beside:
                dialog.hide()
                dialog.show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # The first live page makes Qt replace the native window, and the new one is above its dialogs.
        if watched is self._window and event.type() == QEvent.Type.WinIdChange:
            self._lifting.start()
        elif watched is self._window and event.type() == QEvent.Type.MouseButtonRelease:
            self.released.emit()
        elif event.type() == QEvent.Type.Hide and watched in self._beside:
            self._remembered.keep_part(self._beside[watched], watched.saveGeometry())
        return super().eventFilter(watched, event)


def present(shown: QWidget) -> None:
    """Bring a window to the front and focus it."""
    shown.setWindowState(shown.windowState() & ~Qt.WindowState.WindowMinimized)
    shown.show()
    shown.raise_()
    shown.activateWindow()


class Heartbeat(QObject):
    """Beats in the main thread, and reports each beat that is too late."""

    stalled = Signal(float)
    """Sent after the stall, with the delay in milliseconds."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clock = QElapsedTimer()
        self._timer = QTimer(self, timerType=Qt.TimerType.PreciseTimer, interval=_BEAT_MS)
        self._timer.timeout.connect(self._on_beat)

    def start(self) -> None:
        """Start measuring now; earlier delays do not count."""
        self._clock.start()
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()

    def _on_beat(self) -> None:
        late = self._clock.nsecsElapsed() / 1e6 - self._timer.interval()
        self._clock.restart()
        if late > _LATE_MS:
            self.stalled.emit(late)
