"""The style of the window: Qt's Fusion, with every label and tool tip kept as plain text."""

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractSpinBox, QLabel, QLineEdit, QProxyStyle

_SPIN_MARGIN = 5


class PlainTextStyle(QProxyStyle):
    """Draws text as it is written: what looks like HTML would be rendered otherwise, and its images read.

    Labels, tool tips and the texts of message boxes are all a QLabel, which a
    style polishes before it is laid out for the first time. Much of what they
    say comes from pages, tasks and LLMs.
    """

    def __init__(self) -> None:
        super().__init__("Fusion")

    def polish(self, what: Any) -> None:
        """Make a label plain; called by Qt for each widget, for the application and for palettes."""
        if isinstance(what, QLabel):
            what.setTextFormat(Qt.TextFormat.PlainText)
        elif isinstance(what, QLineEdit) and isinstance(what.parent(), QAbstractSpinBox):
            # The style sheet's padding of these has no effect.
            what.setTextMargins(_SPIN_MARGIN, 0, 0, 0)
        super().polish(what)
