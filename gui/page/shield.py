"""Keeps the person's mouse off the live page while the page is the agent's, and points with it."""

from PySide6.QtCore import QEvent, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

_REST_MS = 40
"""The pointer is followed at most this often."""


class Shield(QWidget):
    """A transparent sibling above the view that takes every click and turn of the wheel.

    While pointing it tells where the pointer is instead, in pixels of the
    view, thinned; a click is told as the final choice.
    """

    refused = Signal()
    """A click or a turn of the wheel was kept from the page."""
    pointed = Signal(float, float, bool)
    """x, y and whether it was a click."""
    left = Signal()
    """The pointer left the view while pointing."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._pointing = False
        self._at = QPointF()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_REST_MS)
        self._timer.timeout.connect(self._tell)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.setAccessibleName("The page, which is the agent's")

    @property
    def pointing(self) -> bool:
        return self._pointing

    def set_pointing(self, on: bool) -> None:
        self._pointing = on
        self._timer.stop()
        if on:
            self.setCursor(Qt.CursorShape.CrossCursor)
        else:
            self.unsetCursor()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint nothing: the view shows through."""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()
        if not self._pointing:
            self.refused.emit()
        elif event.button() == Qt.MouseButton.LeftButton:
            self._timer.stop()
            self.pointed.emit(event.position().x(), event.position().y(), True)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        event.accept()
        if self._pointing:
            self._at = event.position()
            if not self._timer.isActive():
                self._timer.start()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.accept()
        if not self._pointing:
            self.refused.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()

    def leaveEvent(self, event: QEvent) -> None:
        self._timer.stop()
        if self._pointing:
            self.left.emit()

    def _tell(self) -> None:
        if self._pointing:
            self.pointed.emit(self._at.x(), self._at.y(), False)
