"""A panel whose part of the agent is not at work: it says in words what will appear there."""

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.widgets.words import Words

PLAN_AND_REMEDIES = (
    "The plan of the run, subtask by subtask, and under each chosen action the remedies prepared "
    "before it was taken will appear here. The presets plain and laser make neither."
)
EXEMPLARS = (
    "Successful past trajectories that the prompt was given, nearest first with their distance, will "
    "appear here. The presets plain and laser recall none."
)


class WordsPanel(QWidget):
    """Nothing but its words."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        self.words = Words(text, self)
        self.words.setAccessibleName(text)
        layout.addWidget(self.words, 1)
