"""How the main window lies on the screen: its first size, and its dialogs above it."""

from PySide6.QtCore import QEvent, QObject, QSize, QTimer
from PySide6.QtWidgets import QDialog, QMainWindow

FIRST_SIZE = QSize(1280, 800)
_TITLE_BAR = 40
"""Pixels that a title bar may take."""


class WindowFrame(QObject):
    """Follows the native window of `window`."""

    def __init__(self, window: QMainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._lifting = QTimer(self)
        self._lifting.setSingleShot(True)
        self._lifting.setInterval(0)
        self._lifting.timeout.connect(self.lift_dialogs)
        window.resize(FIRST_SIZE)
        window.installEventFilter(self)

    def fit_screen(self, room: QSize) -> None:
        """Fill a screen with `room` too small for the first size and a title bar."""
        if room.width() < FIRST_SIZE.width() or room.height() < FIRST_SIZE.height() + _TITLE_BAR:
            self._window.showMaximized()

    def lift_dialogs(self) -> None:
        """Show the open dialogs above the window again."""
        for dialog in self._window.findChildren(QDialog):
            if dialog.isVisible():
                dialog.hide()
                dialog.show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # The first live page makes Qt replace the native window, and the new one lies above its dialogs.
        if event.type() == QEvent.Type.WinIdChange:
            self._lifting.start()
        return super().eventFilter(watched, event)
