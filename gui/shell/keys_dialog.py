"""A list of every key."""

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gui.shell.actions import plain
from gui.shell.docks import PLACES
from gui.theme.theme import Theme
from gui.widgets.words import set_tone

_ELSEWHERE = (
    ("Enter", "Accept, where the focus is in Next action"),
    ("Enter, double-click", "Put a permissible action in place of the next one"),
    ("Enter, Shift+Enter", "Next and previous match, in a search field"),
    ("Right, Left", "Open and close a run in Runs & steps"),
    ("Ctrl+M, F2", "In Runs & steps: make a run the current one, name it"),
    ("Menu key, right click", "In Runs & steps: go back, ask again, origin, compare, name, export"),
    ("Ctrl+Enter, Alt+C, Alt+A, Alt+R", "In Ask again: ask, cancel, adopt, reset"),
    ("Left, Right, Home, End", "In the time bar: show the step before, after, the first, the last"),
    ("+, −, 0, wheel", "In the time bar: zoom in and out, show all"),
    ("N, Shift+N", "In Compare: next and previous difference"),
    ("Enter, Space, L, Delete", "In Breakpoints: edit, switch, only log, delete"),
    ("Enter, Space, Delete", "In Watches: edit, stop at a change, delete"),
    ("Ctrl+Space", "In an expression: what may come next"),
    ("Menu key, right click", "In thought and action of Next action: where its words come from"),
    ("Menu key, right click", "In State, Policy stack, Permissible actions and Calls: stop there"),
    ("Ctrl+Shift+P, Ctrl+Shift+M", "Choose the preset, choose the LLM"),
    ("Ctrl+Shift+H", "Switch mechanisms of the agent on and off"),
    ("Alt+G, Alt+C", "Fold or unfold the prompt, copy it"),
    ("Alt+Q, Alt+W, Alt+E", "Observation: raw and clean, HTML, the parser"),
    ("Alt+S", "Open the file of the state space for editing"),
    ("+, −, 0, arrows", "Zoom and move the diagram of the states"),
    ("Enter", "Open a frame or an exemplar; try a remedy; edit the plan"),
    ("Insert, Delete, F2, Space", "In the plan: add, delete, rename, make the current one"),
    ("Alt+Up, Alt+Down", "In the plan: move the subtask"),
    ("Ctrl+Enter, Esc", "In the plan: apply, cancel"),
)


class KeysDialog(QDialog):
    """Lists commands, docks and what the panels know."""

    def __init__(self, theme: Theme, actions: list[QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keys")
        inside = QWidget()
        grid = QGridLayout(inside)
        grid.setContentsMargins(16, 12, 16, 12)
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(5)
        groups = (
            ("Commands", [(self._key(action), plain(action.text())) for action in actions]),
            ("Docks: show and go to; once more hides", [(place.key, place.name) for place in PLACES]),
            ("In the panels", list(_ELSEWHERE)),
        )
        for title, rows in groups:
            heading = QLabel(title, inside)
            heading.setFont(theme.heading_font())
            grid.addWidget(heading, grid.rowCount(), 0, 1, 2)
            for key, words in rows:
                row = grid.rowCount()
                keys = QLabel(key, inside)
                keys.setFont(theme.machine_font())
                set_tone(keys, "dim")
                grid.addWidget(keys, row, 0)
                grid.addWidget(QLabel(words, inside), row, 1)
        grid.setColumnStretch(1, 1)
        area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setWidget(inside)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(area)
        layout.addWidget(buttons)
        self.resize(520, 620)

    def _key(self, action: QAction) -> str:
        return action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
