"""The state space in a window of its own: its states and ways, with the way that the run has taken."""

from functools import partial

from PySide6.QtWidgets import QWidget

from core.debugger.steps.views import StateView
from gui.panels.state.diagram import StateDiagram
from gui.theme.theme import Theme
from gui.widgets.buttons import icon_button
from gui.widgets.layouts import in_column, in_row, on_panel
from gui.widgets.words import ElidedLabel, OrWords

NONE = "This step has no state space. Choose a preset with one (Ctrl+Shift+S), such as laser."


class StateSpaceWindow(QWidget):
    """Follows the step in view."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.hide()
        self.resize(theme.scaled(900), theme.scaled(640))
        self.setWindowTitle("State space")
        on_panel(self)
        self.name = ElidedLabel()
        self.name.setFont(theme.text_font(bold=True))
        self.diagram = StateDiagram(theme)
        zoom = self.diagram.zoom_by
        buttons = (
            icon_button(theme, "zoom-in", "Larger (+ in the diagram, Ctrl+wheel)", partial(zoom, 1.25)),
            icon_button(theme, "zoom-out", "Smaller (− in the diagram, Ctrl+wheel)", partial(zoom, 0.8)),
            icon_button(theme, "screen-normal", "All of its width (0 in the diagram)", self.diagram.fit),
        )
        head = in_row(None, (self.name, 1), *buttons, margins=(12, 6, 8, 6), spacing=2)
        self.or_words = OrWords(self.diagram, self, NONE)
        in_column(self, head, (self.or_words, 1), spacing=0)

    def show_space(self, view: StateView) -> None:
        """Replace what is shown with the state space of `view`."""
        self.name.setText(f"{view.space} › {view.state}" if view.states else "")
        self.diagram.show_states(view.states, view.edges)
        self.or_words.say("" if view.states else NONE)
