"""A button with a key, which its tooltip names."""

from collections.abc import Callable

from PySide6.QtWidgets import QPushButton, QWidget


def key_button(
    text: str, words: str, key: str, do: Callable[[], object], parent: QWidget | None = None
) -> QPushButton:
    """Return a button that is never the one that Enter presses by itself; it needs no key.

    Esc is only told of: a dialog has that one already.
    """
    button = QPushButton(text, parent)
    button.setAutoDefault(False)
    if key and key != "Esc":
        button.setShortcut(key)
    button.setToolTip(f"{words} ({key.replace('Return', 'Enter')})" if key else words)
    button.clicked.connect(lambda: do())
    return button
