"""What all pages have: a bar of buttons, how far the work is, and what came of it in words."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from core.debugger.exemplars.analyses.views import AnalysisView
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.formats import thousands
from gui.widgets.layouts import in_column, on_panel
from gui.widgets.words import ElidedLabel, NoteLabel, set_flag, set_tone


class AnalysisPage(QWidget):
    """A bar over a body; subclasses fill both."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.bar = QHBoxLayout()
        self.bar.setContentsMargins(12, 8, 12, 8)
        self.bar.setSpacing(8)
        self.progress = QProgressBar(self)
        self.progress.setAccessibleName("How far the work is")
        self.progress.setMaximumWidth(180)
        self.progress.setTextVisible(False)
        self.words = ElidedLabel("", self)
        set_tone(self.words, "dim")
        self.problem = NoteLabel("bad", parent=self)
        self.problem.setContentsMargins(12, 4, 12, 4)
        self.column = in_column(self, self.bar, self.problem, spacing=0)

    def button(
        self, text: str, words: str, key: str, do: Callable[[], object], *, accent: bool = False
    ) -> QPushButton:
        """Return a button with its key, which its tooltip names."""
        button = key_button(text, words, key, do, self)
        if accent:
            set_flag(button, "accent", True)
        return button

    def labelled(self, text: str, field: QWidget) -> QLabel:
        """Put a field with its label into the bar and return the label."""
        label = QLabel(text, self)
        label.setBuddy(field)
        field.setAccessibleName(text.replace("&", ""))
        self.bar.addWidget(label)
        self.bar.addWidget(field)
        return label

    def show_working(self, view: AnalysisView, words: str = "") -> None:
        """Show how far the work is, or `words` and what was done last where there is none."""
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
    label.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
    return label


def panel(*contents: QWidget, tall: QWidget | None = None) -> QWidget:
    """Return a widget on the ground of panels with these under each other."""
    inside = QWidget()
    in_column(inside, *((content, int(content is tall)) for content in contents), spacing=0)
    on_panel(inside)
    return inside
