"""A short welcome with three things to try."""

from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFrame,
    QGridLayout,
    QLabel,
    QPushButton,
    QWidget,
)

from gui.theme.theme import Theme
from gui.widgets.layouts import in_column, in_row
from gui.widgets.remembered import OpenedTask
from gui.widgets.words import set_tone

_AT_WORK = ("F5", "F10", "F9")


@dataclass(frozen=True)
class WelcomeOffer:
    """One thing to try; without a task it is about the settings."""

    title: str
    text: str
    button: str
    hint: str = ""
    opens: OpenedTask | None = None


TRIALS: tuple[WelcomeOffer, ...] = (
    WelcomeOffer(
        title="Step the built-in LLM through a task",
        text="It opens a small page. Press F10: the agent reads it, proposes a click, and waits for you. "
        "F10 again takes the click.",
        button="Open click-test-2",
        hint="Press F10 to see what the agent would do; F10 again lets it happen.",
        opens=OpenedTask(task="miniwob/click-test-2"),
    ),
    WelcomeOffer(
        title="Correct an action by hand",
        text="It opens a form. Step with F10, then change the target in Next action, or press F7 and point "
        "at another element. Accept takes your action, and the trace keeps both.",
        button="Open login-user",
        hint="Press F10, change the action in Next action (or F7 and point), then Accept.",
        opens=OpenedTask(task="miniwob/login-user"),
    ),
    WelcomeOffer(
        title="Connect your own LLM",
        text="OpenAI, or any server that speaks its protocol: vLLM, Ollama, llama.cpp. "
        "The key goes to the system's keyring.",
        button="LLM settings…",
    ),
)


class Welcome(QDialog):
    """Offers the three; each button closes the welcome and starts its own.

    The keys that run, step and do a phase work in it as in the window, and
    close it: a person who presses F10 at once is at work.
    """

    tried = Signal(object)
    """The `WelcomeOffer` that was chosen."""
    seen = Signal(bool)
    """The welcome closes; whether it is to be shown at the next start."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Welcome to Backstep")
        title = QLabel("Watch a web agent, stop it, correct it", self)
        font = theme.text_font(bold=True)
        font.setPointSizeF(font.pointSizeF() * 1.5)
        title.setFont(font)
        text = QLabel(
            "Backstep runs an LLM agent in a live page and stops before every action. "
            "You see what it saw, what it may do and what it wants to do. Three things to try:",
            self,
        )
        text.setWordWrap(True)
        set_tone(text, "dim")
        layout = in_column(self, title, text, margins=(22, 20, 22, 16), spacing=12)
        self.buttons: list[QPushButton] = []
        for number, trial in enumerate(TRIALS, start=1):
            layout.addWidget(self._card(theme, number, trial))
        self.again = QCheckBox("Show this at the next start", self)
        close = QPushButton("Close", self)
        close.setToolTip("Close the welcome; Help has it again (Esc)")
        close.clicked.connect(self.reject)
        foot = in_row(None, self.again, 1, close)
        layout.addLayout(foot)
        self.finished.connect(lambda _result: self.seen.emit(self.again.isChecked()))
        for action in parent.actions() if parent is not None else ():
            if action.shortcut().toString() in _AT_WORK:
                self.addAction(action)
                action.triggered.connect(self._on_command)
        self.setMinimumWidth(560)
        self.buttons[0].setFocus()

    def _card(self, theme: Theme, number: int, trial: WelcomeOffer) -> QFrame:
        card = QFrame(self)
        card.setProperty("card", True)
        title = QLabel(f"{number}.  {trial.title}", card)
        title.setFont(theme.text_font(bold=True))
        text = QLabel(trial.text, card)
        text.setWordWrap(True)
        set_tone(text, "dim")
        button = QPushButton(trial.button, card)
        button.setProperty("accent", number == 1)
        button.setAccessibleDescription(trial.title)
        button.clicked.connect(lambda: self._try(trial))
        self.buttons.append(button)
        grid = QGridLayout(card)
        grid.setContentsMargins(14, 10, 14, 12)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(0, 1)
        grid.addWidget(title, 0, 0)
        grid.addWidget(text, 1, 0)
        grid.addWidget(button, 0, 1, 2, 1)
        return card

    def _on_command(self) -> None:
        if self.isVisible():
            self.reject()

    def _try(self, trial: WelcomeOffer) -> None:
        self.accept()
        self.tried.emit(trial)
