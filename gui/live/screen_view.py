"""The picture of a page that runs elsewhere, fitted to the space, and the person's input to it."""

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QGuiApplication,
    QHideEvent,
    QImage,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from core.browser.screen import Copy, Key, PersonInput, Pointer, ScreenPicture, Typed

_PALE = 0.4
_SIZE = (1000.0, 720.0)
"""The assumed size of a page before it was seen, in CSS pixels."""
_BUTTONS = {
    Qt.MouseButton.LeftButton: "left",
    Qt.MouseButton.MiddleButton: "middle",
    Qt.MouseButton.RightButton: "right",
}


class ScreenView(QWidget):
    """Draws `ScreenPicture`, never larger than the page; reports the person's input while they have the page."""

    moved = Signal()
    """The page has moved or changed its size."""
    watched = Signal(bool)
    """Whether it is visible."""

    def __init__(self, put_in: Callable[[PersonInput], None], parent: QWidget) -> None:
        super().__init__(parent)
        self._put_in = put_in
        self._size = _SIZE
        self._image = QImage()
        self._scaled = QImage()
        self._pressed: dict[int, str] = {}
        """The names of the keys that are pressed."""
        self._clicks = 1
        self._handed_over = False
        self._live = True
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(80, 60)
        self.setAccessibleName("Picture of the live page")

    @property
    def drawn(self) -> bool:
        """Whether there is a picture."""
        return not self._image.isNull()

    def show_picture(self, picture: ScreenPicture | None) -> None:
        """Draw another picture; None draws none."""
        self._image = QImage() if picture is None else QImage.fromData(picture.data)
        self._scaled = QImage()
        if picture is not None and (picture.width, picture.height) != self._size:
            self._size = picture.width, picture.height
            self.moved.emit()
        self.update()

    def set_live(self, live: bool) -> None:
        """Dim the picture if the page may look different by now."""
        if live != self._live:
            self._live = live
            self.update()

    def set_handed_over(self, on: bool) -> None:
        """Start or stop passing on the person's input."""
        if self._handed_over and not on:
            self._release_keys()
        self._handed_over = on
        self.setAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled, on)
        if on:
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def scale(self) -> float:
        """Return the number of this widget's pixels per CSS pixel."""
        width, height = self._size
        return max(min(1.0, self.width() / width, self.height() / height), 0.01)

    def place(self) -> QRect:
        """Return where the page is in this widget."""
        width, height = (round(side * self.scale()) for side in self._size)
        return QRect((self.width() - width) // 2, 0, width, height)

    # Drawing

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.drawn:
            return
        painter = QPainter(self)
        place = self.place()
        ratio = self.devicePixelRatioF()
        size = QSize(round(place.width() * ratio), round(place.height() * ratio))
        if self._scaled.size() != size:
            self._scaled = self._image.scaled(
                size, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
            )
        painter.setOpacity(1.0 if self._live else _PALE)
        painter.drawImage(QRectF(place), self._scaled)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.moved.emit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.watched.emit(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        # The page may look different when it is shown again.
        self.show_picture(None)
        self.watched.emit(False)

    # Input of the person

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._clicks = 1
        self._point("down", event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._clicks = 2
        self._point("down", event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._point("up", event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point("move", event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self._handed_over:
            x, y = self._in_page(event.position())
            turned = event.pixelDelta() if not event.pixelDelta().isNull() else event.angleDelta()
            self._put_in(Pointer("wheel", x, y, right=-turned.x(), down=-turned.y()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._handed_over:
            event.ignore()
        elif event.matches(QKeySequence.StandardKey.Paste):
            self._put_in(Typed(QGuiApplication.clipboard().text()))
        else:
            if event.matches(QKeySequence.StandardKey.Copy) or event.matches(QKeySequence.StandardKey.Cut):
                self._put_in(Copy())
            name = name_of(event)
            if name:
                self._pressed[event.key()] = name
                self._put_in(Key("down", name))
            elif event.text().isprintable() and event.text():
                self._put_in(Typed(event.text()))

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if not event.isAutoRepeat() and (name := self._pressed.pop(event.key(), "")):
            self._put_in(Key("up", name))

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        if self._handed_over and event.commitString():
            self._put_in(Typed(event.commitString()))

    def focusNextPrevChild(self, next: bool) -> bool:
        # While the person has the page, Tab belongs to the page.
        return False if self._handed_over else super().focusNextPrevChild(next)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._release_keys()  # Key releases after this are not received here.

    def takes(self, event: QKeyEvent) -> bool:
        """Return whether a key goes to the page although it is a shortcut of the window."""
        plain = not event.modifiers() & (
            Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
        )
        function = Qt.Key.Key_F1 <= event.key() <= Qt.Key.Key_F35
        edits = (
            QKeySequence.StandardKey.Copy,
            QKeySequence.StandardKey.Cut,
            QKeySequence.StandardKey.Paste,
            QKeySequence.StandardKey.SelectAll,
            QKeySequence.StandardKey.Undo,
            QKeySequence.StandardKey.Redo,
        )
        return self._handed_over and ((plain and not function) or any(event.matches(edit) for edit in edits))

    def event(self, event) -> bool:  # type: ignore[no-untyped-def]
        if event.type() == event.Type.ShortcutOverride and self.takes(event):
            event.accept()
            return True
        return super().event(event)

    def _release_keys(self) -> None:
        for name in self._pressed.values():
            self._put_in(Key("up", name))
        self._pressed.clear()

    def _point(self, kind: str, event: QMouseEvent) -> None:
        if not self._handed_over:
            return
        x, y = self._in_page(event.position())
        button = _BUTTONS.get(event.button(), "left")
        if kind == "move" or event.button() in _BUTTONS:
            self._put_in(Pointer(kind, x, y, button, self._clicks))  # type: ignore[arg-type]

    def _in_page(self, position: QPointF) -> tuple[float, float]:
        place, scale = self.place(), self.scale()
        return (position.x() - place.left()) / scale, (position.y() - place.top()) / scale


_NAMES: dict[int, str] = {
    Qt.Key.Key_Return: "Enter",
    Qt.Key.Key_Enter: "NumpadEnter",
    Qt.Key.Key_Backtab: "Tab",
    Qt.Key.Key_Left: "ArrowLeft",
    Qt.Key.Key_Right: "ArrowRight",
    Qt.Key.Key_Up: "ArrowUp",
    Qt.Key.Key_Down: "ArrowDown",
    Qt.Key.Key_PageUp: "PageUp",
    Qt.Key.Key_PageDown: "PageDown",
    **{
        Qt.Key[f"Key_{name}"]: name
        for name in (
            *("Tab", "Backspace", "Delete", "Insert", "Escape", "Home", "End"),
            *("Shift", "Control", "Alt", "Meta", "CapsLock"),
            *(f"F{number}" for number in range(1, 13)),
        )
    },
}
_ASCII = range(0x20, 0x7F)


def name_of(event: QKeyEvent) -> str:
    """Return Playwright's name of a key; empty for a key that it does not know, whose text is typed instead."""
    if name := _NAMES.get(event.key()):
        return name
    text = event.text()
    if len(text) == 1 and ord(text) in _ASCII:
        return text
    # With Control, the text of the key is not typed.
    control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
    return chr(event.key()).lower() if control and event.key() in _ASCII else ""
