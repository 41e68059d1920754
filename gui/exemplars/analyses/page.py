"""The common parts of all pages: a bar of buttons, progress, and the result as text."""

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QProgressBar, QWidget

from core.debugger.exemplars.analyses.views import AnalysisView
from core.schema.formats import thousands
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.layouts import holding, in_column, in_row, on_panel
from gui.widgets.words import ElidedLabel, NoteLabel, labelled

NO_EXEMPLARS = "There are no exemplars yet: save one from the tree of runs, or import some."
View = AnalysisView[Any]


class AnalysisPage(QWidget):
    """A bar over a body; subclasses fill both."""

    cancel_requested = Signal()
    exemplar_opened = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.view = View()
        self.bar = in_row(None, margins=(12, 8, 12, 8), spacing=8)
        self.cancel_button = key_button(
            "Cancel", "Cancel. What was found stays in view", "Alt+C", self.cancel_requested.emit, self
        )
        self.progress = labelled(QProgressBar(self, textVisible=False), "How far the work is")
        self.progress.setMaximumWidth(180)
        self.words = ElidedLabel("", self, tone="dim")
        self.problem = NoteLabel("bad", parent=self, margins=(12, 4, 12, 4))
        self.column = in_column(self, self.bar, self.problem, spacing=0)

    def add(self, *widgets: QWidget) -> None:
        """Add widgets to the bar; the text gets the remaining space."""
        for widget in widgets:
            self.bar.addWidget(widget, int(widget is self.words))

    def show_working(self, words: str = "") -> None:
        """Show the progress of the work; if there is none, show what was done last, and `words`."""
        view = self.view
        self.cancel_button.setEnabled(view.busy)
        self.progress.setVisible(view.busy)
        self.progress.setRange(0, max(0, view.of))
        self.progress.setValue(view.done)
        if view.busy:
            far = f" {thousands(view.done)} of {thousands(view.of)}" if view.of else ""
            self.words.setText(f"{view.doing or 'Working'}…{far}")
        else:
            self.words.setText(" ".join(part for part in (view.notice, words) if part))
        self.problem.show_text(view.problem)


def heading(theme: Theme, text: str) -> QLabel:
    """Return the heading of a part of a page."""
    label = QLabel(text)
    label.setFont(theme.heading_font())
    label.setContentsMargins(10, 6, 10, 2)
    return label


def panel(*contents: QWidget, tall: QWidget | None = None) -> QWidget:
    """Return a widget with the background of panels that contains these below each other."""
    shares = ((content, int(content is tall)) for content in contents)
    inside = holding(in_column(None, *shares, spacing=0))
    on_panel(inside)
    return inside
