"""Keys that a widget has to itself although the window has a command with them."""

from collections.abc import Callable

from PySide6.QtCore import QEvent


def takes_key(event: QEvent, do: Callable[[], object]) -> bool:
    """Claim a key before the commands of the window, and do what it does once it is pressed.

    Returns whether the event was one of the two, and goes no further then.
    """
    if event.type() == QEvent.Type.ShortcutOverride:
        event.accept()
        return True
    if event.type() == QEvent.Type.KeyPress:
        do()
        return True
    return False
