"""Keep the person's mouse and keys off the live page while the agent has it, and let the mouse point."""

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QTabBar, QWidget
from shiboken6 import isValid

_REST_MS = 40
"""Minimum time between reports of the pointer's position."""
_NOTCH = 100 / 120
"""Pixels of the page for one of the 120 units of a wheel notch."""
_KEY_EVENTS = (QEvent.Type.KeyPress, QEvent.Type.KeyRelease, QEvent.Type.InputMethod)


class Shield(QWidget):
    """A transparent sibling above the view that takes every click and wheel event.

    While pointing, it reports the pointer's position in pixels of the view, thinned out; a click is reported as the
    final choice.
    """

    refused = Signal()
    """A click was kept from the page."""
    pointed = Signal(float, float, bool)
    """x, y and whether it was a click."""
    turned = Signal(float, float, float, float)
    """The wheel was turned over the view: x and y, and the distance in pixels to the right and down."""
    left = Signal()
    """The pointer left the view while pointing."""
    hovered = Signal(float, float)
    """x and y of the pointer, thinned out, while not pointing."""
    hover_ended = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.pointing = False
        self._at = QPointF()
        self._timer = QTimer(self, singleShot=True, interval=_REST_MS)
        self._timer.timeout.connect(self._tell)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.setAccessibleName("The agent's page")

    def set_pointing(self, on: bool) -> None:
        self.pointing = on
        self._timer.stop()
        if on:
            self.setCursor(Qt.CursorShape.CrossCursor)
        else:
            self.unsetCursor()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint nothing, so that the view stays visible."""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()
        if not self.pointing:
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
        self._at = event.position()
        if not self._timer.isActive():
            self._timer.start()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.accept()
        by = event.pixelDelta() if not event.pixelDelta().isNull() else event.angleDelta() * _NOTCH
        at = event.position()
        self.turned.emit(at.x(), at.y(), -by.x(), -by.y())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()

    def leaveEvent(self, event: QEvent) -> None:
        self._timer.stop()
        (self.left if self.pointing else self.hover_ended).emit()

    def _tell(self) -> None:
        if self.pointing:
            self.pointed.emit(self._at.x(), self._at.y(), False)
        else:
            self.hovered.emit(self._at.x(), self._at.y())


class KeyGuard(QObject):
    """Blocks keys that would go to a view inside `area`; the window's shortcuts still work.

    It watches only the focused widget. The agent's typing does not pass through Qt's events. The focus does not
    move: a page that lost it would behave differently.
    """

    refused = Signal()
    """A key was kept from the page."""
    tabbed = Signal(bool)
    """The person wants to move the focus forward or back."""

    def __init__(self, area: QWidget) -> None:
        super().__init__(area)
        self._area = area
        self._watched: QWidget | None = None
        self.open = False
        """Whether keys pass through."""
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_focus_changed)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if self.open:
            return False
        if event.type() == QEvent.Type.ShortcutOverride:
            event.ignore()  # a view that accepts it would take the window's own keys
            return True
        if event.type() not in _KEY_EVENTS:
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
