"""Keeps the person's keys off the live page while the page is the agent's."""

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QTabBar, QWidget
from shiboken6 import isValid

_KEYS = (QEvent.Type.KeyPress, QEvent.Type.KeyRelease, QEvent.Type.InputMethod)


class KeyGuard(QObject):
    """Takes the keys that would go to a view inside `area`; the window's shortcuts still work.

    Only what has the focus is watched, and what the agent types arrives
    without passing through Qt's events. The focus itself stays where it is: a
    page that lost it would behave differently.
    """

    refused = Signal()
    """A key was kept from the page."""
    tabbed = Signal(bool)
    """The person wants the focus to move on, or back."""

    def __init__(self, area: QWidget) -> None:
        super().__init__(area)
        self._area = area
        self._watched: QWidget | None = None
        self.open = False
        """Whether keys go through."""
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_focus_changed)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if self.open:
            return False
        if event.type() == QEvent.Type.ShortcutOverride:
            event.ignore()  # a view that accepts it would take the window's own keys
            return True
        if event.type() not in _KEYS:
            return False
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
                self.tabbed.emit(event.key() == Qt.Key.Key_Tab)
            elif event.text():
                self.refused.emit()
        return True

    def _on_focus_changed(self, old: QWidget | None, new: QWidget | None) -> None:
        if self._watched is not None and isValid(self._watched):  # a page that closes loses the focus last
            self._watched.removeEventFilter(self)
        self._watched = None
        own = isinstance(new, QLineEdit | QTabBar | QAbstractButton)
        if new is not None and not own and (new is self._area or self._area.isAncestorOf(new)):
            new.installEventFilter(self)
            self._watched = new
