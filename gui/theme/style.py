"""The style of the window: Qt's Fusion, with all labels and tooltips as plain text."""

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractSpinBox, QLabel, QLineEdit, QProxyStyle

_SPIN_MARGIN = 5


class PlainTextStyle(QProxyStyle):
    """Draws text literally. Otherwise text that looks like HTML would be rendered, and its images loaded.

    Labels, tooltips and the texts of message boxes are all a QLabel, which a style polishes before its first
    layout. Much of their text comes from pages, tasks and LLMs.
    """

    def __init__(self) -> None:
        super().__init__("Fusion")

    def polish(self, what: Any) -> None:
        """Make a label plain text; Qt calls this for each widget, for the application and for palettes."""
        if isinstance(what, QLabel):
            what.setTextFormat(Qt.TextFormat.PlainText)
        elif isinstance(what, QLineEdit) and isinstance(what.parent(), QAbstractSpinBox):
            # The style sheet's padding has no effect on these.
            what.setTextMargins(_SPIN_MARGIN, 0, 0, 0)
        super().polish(what)
