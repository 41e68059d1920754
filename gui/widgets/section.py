"""A part of a panel: its heading, the fact that matters at the right, and what lies under it."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from gui.theme.theme import Theme
from gui.widgets.words import ElidedLabel, set_tone


class Section(QWidget):
    """A heading over widgets; hidden as a whole where there is nothing to show."""

    def __init__(self, theme: Theme, title: str, *contents: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = QLabel(title, self)
        self.title.setFont(theme.heading_font())
        self.fact = ElidedLabel("", self)
        self.fact.setFont(theme.small_font())
        self.fact.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        set_tone(self.fact, "dim")
        self.head = QHBoxLayout()
        self.head.setContentsMargins(10, 6, 10, 2)
        self.head.setSpacing(6)
        self.head.addWidget(self.title)
        self.head.addWidget(self.fact, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 2)
        column.setSpacing(0)
        column.addLayout(self.head)
        for content in contents:
            column.addWidget(content)

    def show_fact(self, text: str) -> None:
        """Put the fact that matters at the right of the heading."""
        self.fact.setText(text)


def indented(content: QWidget) -> QWidget:
    """Return a widget that holds this one in line with headings and rows."""
    around = QWidget()
    column = QVBoxLayout(around)
    column.setContentsMargins(10, 0, 10, 0)
    column.addWidget(content)
    return around


def on_panel(widget: QWidget) -> None:
    """Give a widget of a window the ground that panels lie on."""
    widget.setBackgroundRole(QPalette.ColorRole.Base)
    widget.setAutoFillBackground(True)


def scrolled(name: str, *contents: QWidget, tall: QWidget | None = None) -> QScrollArea:
    """Return an area that scrolls these under each other, never sideways; `tall` takes the room left over."""
    inside = QWidget()
    column = QVBoxLayout(inside)
    column.setContentsMargins(0, 0, 0, 6)
    column.setSpacing(0)
    for content in contents:
        column.addWidget(content, 1 if content is tall else 0)
    column.addStretch(0 if tall else 1)
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setWidget(inside)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setAccessibleName(name)
    return area
