"""Tells on the desktop what has ended while another window is in front."""

import shutil

from PySide6.QtCore import QProcess
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

_SECONDS = 10
_PROGRAM = "notify-send"
"""What desktops without a tray, such as GNOME, have for it: it speaks to their notifications over D-Bus."""


class Notifier:
    """Notifies through the system tray, else through the desktop's notifications, else by marking the window."""

    def __init__(self, window: QWidget) -> None:
        self._window = window
        self._tray: QSystemTrayIcon | None = None

    def notify(self, title: str, text: str) -> None:
        if QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages():
            self._show_in_tray(title, text)
        elif (program := shutil.which(_PROGRAM)) is not None:
            QProcess.startDetached(program, ["--app-name=Backstep", "--", title, text])
        QApplication.alert(self._window)

    def _show_in_tray(self, title: str, text: str) -> None:
        if self._tray is None:
            icon = self._window.windowIcon()
            if icon.isNull():
                icon = self._window.style().standardIcon(self._window.style().StandardPixmap.SP_ComputerIcon)
            self._tray = QSystemTrayIcon(icon, self._window)
            self._tray.setToolTip("Backstep")
            self._tray.messageClicked.connect(self._window.raise_)
            self._tray.messageClicked.connect(self._window.activateWindow)
        self._tray.show()
        self._tray.showMessage(title, text, self._tray.icon(), _SECONDS * 1000)
