"""State: which kind of page this is, and why."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from core.debugger.snapshots import StateView
from gui.theme import Theme
from gui.widgets.words import OrWords, set_tone

_NONE = "No state recognised yet. Step with F10 to observe the page and recognise its state."


class StatePanel(QWidget):
    """Shows `StateView`."""

    fact_changed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        content = QWidget(self)
        self.space = QLabel(content)
        self.state = QLabel(content)
        self.state.setProperty("chipLabel", True)
        self.state.setFont(theme.text_font(bold=True))
        self.why = QLabel(content)
        self.also = QLabel(content)
        for label in (self.space, self.state, self.why, self.also):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.why.setWordWrap(True)
        self.also.setWordWrap(True)
        set_tone(self.space, "dim")
        set_tone(self.why, "dim")
        set_tone(self.also, "remedy")
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.space)
        row.addWidget(self.state)
        row.addStretch(1)
        layout = QVBoxLayout(content)
        layout.setContentsMargins(10, 7, 10, 7)
        layout.setSpacing(4)
        layout.addLayout(row)
        layout.addWidget(self.why)
        layout.addWidget(self.also)
        layout.addStretch(1)
        area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setWidget(content)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setAccessibleName("State")
        self.or_words = OrWords(area, self)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.or_words)
        self.show_state(StateView())

    @Slot(object)
    def show_state(self, view: StateView) -> None:
        """Replace what is on screen with `view`."""
        self.or_words.say("" if view.state and not view.message else view.message or _NONE)
        self.space.setText(f"{view.space} ›" if view.space else "")
        self.space.setVisible(view.space not in ("", "none"))
        self.state.setText(view.state)
        self.state.setAccessibleName(f"State {view.state}")
        self.why.setText(f"Matched by {view.why}" if view.why and view.why[:1].islower() else view.why)
        self.why.setVisible(bool(view.why))
        self.also.setText(f"⚠ Also matched: {', '.join(view.also)}. The first of them was taken.")
        self.also.setVisible(bool(view.also))
        self.fact_changed.emit(view.state if not view.message else "")
