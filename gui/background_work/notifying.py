"""Desktop notifications about finished work while another window is in front."""

import html
import shutil
from functools import partial

from PySide6.QtCore import QObject, QProcess, Qt
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from gui.shell.main_window import MainWindow

_SECONDS = 10
_PROGRAM = "notify-send"
"""Sends notifications to the desktop. PySide cannot: it does not pass unsigned numbers over D-Bus."""
_CLICK = "default"


class Notifier(QObject):
    """Notifies through the desktop, or else the system tray, and marks the window; a click brings it to the front."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._tray: QSystemTrayIcon | None = None
        window.closed.connect(self._end)

    def notify(self, title: str, text: str) -> None:
        if (program := shutil.which(_PROGRAM)) is not None:
            self._send(program, title, text, clickable=True)
        elif QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages():
            self._show_in_tray(title, text)
        QApplication.alert(self._window)

    def _send(self, program: str, title: str, text: str, *, clickable: bool) -> None:
        """Start the program; with an action, it runs until the notification is clicked or gone."""
        process = QProcess(self)
        again = partial(self._send, program, title, text, clickable=False) if clickable else None
        process.finished.connect(lambda code, _: self._on_finished(process, again if code else None))
        action = [f"--action={_CLICK}=Show Backstep"] if clickable else []
        # Desktops interpret the text as markup.
        process.start(program, ["--app-name=Backstep", *action, "--", title, html.escape(text, quote=False)])

    def _on_finished(self, process: QProcess, again: partial[None] | None) -> None:
        process.deleteLater()
        if again is not None:
            again()  # Versions before 0.8 do not support actions.
        elif _CLICK in process.readAllStandardOutput().toStdString():
            self._show_window()

    def _show_window(self) -> None:
        self._window.setWindowState(self._window.windowState() & ~Qt.WindowState.WindowMinimized)
        self._window.raise_()
        self._window.activateWindow()

    def _show_in_tray(self, title: str, text: str) -> None:
        if self._tray is None:
            icon = self._window.windowIcon()
            if icon.isNull():
                icon = self._window.style().standardIcon(self._window.style().StandardPixmap.SP_ComputerIcon)
            self._tray = QSystemTrayIcon(icon, self._window)
            self._tray.setToolTip("Backstep")
            self._tray.messageClicked.connect(self._show_window)
        self._tray.show()
        self._tray.showMessage(title, text, self._tray.icon(), _SECONDS * 1000)

    def _end(self) -> None:
        for process in self.findChildren(QProcess):
            process.finished.disconnect()
            process.kill()
            process.waitForFinished(1000)
