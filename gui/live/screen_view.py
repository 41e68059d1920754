"""The picture of a page that runs elsewhere, and the person's input to it."""

from collections.abc import Callable

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QGuiApplication,
    QImage,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from core.browser.screen import Copy, Key, PersonInput, Pointer, ScreenPicture, Typed
from core.schema.viewport import VIEWPORT

_PALE = 0.4
_BUTTONS = {
    Qt.MouseButton.LeftButton: "left",
    Qt.MouseButton.MiddleButton: "middle",
    Qt.MouseButton.RightButton: "right",
}


class ScreenView(QWidget):
    """Is as large as the page and draws `ScreenPicture`; reports the person's input while they have the page."""

    page_resized = Signal(QSize)
    """The size of the page in CSS pixels."""

    def __init__(self, put_in: Callable[[PersonInput], None]) -> None:
        super().__init__()
        self._put_in = put_in
        self._image = QImage()
        self._pressed: dict[int, str] = {}
        """The names of the keys that are pressed."""
        self._clicks = 1
        self._handed_over = False
        self._live = True
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.resize(*VIEWPORT)
        self.setAccessibleName("Picture of the live page")

    @property
    def drawn(self) -> bool:
        """Whether there is a picture."""
        return not self._image.isNull()

    def show_picture(self, picture: ScreenPicture | None) -> None:
        """Draw another picture; None draws none."""
        self._image = QImage() if picture is None else QImage.fromData(picture.data)
        if picture is not None:
            self.page_resized.emit(QSize(round(picture.width), round(picture.height)))
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

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.drawn:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.setOpacity(1.0 if self._live else _PALE)
        painter.drawImage(QRectF(self.rect()), self._image)
        painter.end()

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
            x, y = event.position().toTuple()
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
        x, y = event.position().toTuple()
        button = _BUTTONS.get(event.button(), "left")
        if kind == "move" or event.button() in _BUTTONS:
            self._put_in(Pointer(kind, x, y, button, self._clicks))  # type: ignore[arg-type]


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
