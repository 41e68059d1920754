"""Playwright's key names for Qt's keys."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

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
