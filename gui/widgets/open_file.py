"""Files that a person edits: opened with the program that the system has for them."""

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices


def open_file(path: str) -> None:
    """Ask the desktop to open this file; what it does with it is the desktop's affair."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(path))
