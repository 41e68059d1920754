"""How tasks are opened: from the chooser, the welcome dialog, the recent ones, or again."""

from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFrame,
    QGridLayout,
    QLabel,
    QMessageBox,
    QPushButton,
    QWidget,
)

from core.debugger.catalogue import Catalogue
from core.debugger.session_view import SessionView
from gui.task_chooser.chooser import TaskChooser
from gui.theme.theme import Theme
from gui.widgets.layouts import in_column, in_row
from gui.widgets.remembered import OpenedTask, Remembered
from gui.widgets.words import Paragraph, set_tone

_AT_WORK = ("F5", "F10", "F9")


@dataclass(frozen=True)
class WelcomeOffer:
    """Something to try; an offer without a task leads to the settings."""

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
        text="It opens a form. Step with F10, then change the target in the Action panel, or press F7 and point "
        "at another element. Accept takes your action, and the trace keeps both.",
        button="Open login-user",
        hint="Press F10, change the action in the Action panel (or F7 and point), then Accept.",
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
    """Offers three ways to start; each button closes the dialog and starts its own.

    The keys that run, step and do a phase work in it as in the window, and close it, so a person can press F10 at
    once.
    """

    tried = Signal(object)
    """The chosen `WelcomeOffer`."""
    seen = Signal(bool)
    """The dialog closes; whether to show it at the next start."""

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
        close.setToolTip("Close the welcome. The Help menu opens it again (Esc)")
        close.clicked.connect(self.reject)
        foot = in_row(None, self.again, 1, close)
        layout.addLayout(foot)
        self.finished.connect(lambda _result: self.seen.emit(self.again.isChecked()))
        for action in parent.actions() if parent is not None else ():
            if action.shortcut().toString() in _AT_WORK:
                self.addAction(action)
                action.triggered.connect(self._on_command)
        self.setMinimumWidth(theme.scaled(560))
        self.setMinimumHeight(
            layout.heightForWidth(self.minimumWidth())
        )  # Qt limits it to two thirds of the screen.
        self.buttons[0].setFocus()

    def _card(self, theme: Theme, number: int, trial: WelcomeOffer) -> QFrame:
        card = QFrame(self)
        card.setProperty("card", True)
        title = QLabel(f"{number}.  {trial.title}", card)
        title.setFont(theme.text_font(bold=True))
        text = Paragraph(trial.text, card)
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


class TaskOpening(QObject):
    """Opens tasks and remembers them; its dialogs belong to `window`."""

    recent_changed = Signal(object)
    """The last opened `OpenedTask`s, newest first."""
    hinted = Signal(str, str)
    """A title and a hint for the task that was started from the welcome dialog, sent when its page is open."""
    settings_wanted = Signal()
    chooser_made = Signal(object)
    """The `TaskChooser`, sent when it is first needed."""
    chooser_opened = Signal()
    open_requested = Signal(object, bool)
    """The `OpenedTask` to open, and whether to allow its profile from now on."""
    llm_requested = Signal(str)
    """The name of the LLM to use."""

    def __init__(self, remembered: Remembered, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._remembered = remembered
        self._theme = theme
        self._window = window
        self._catalogue = Catalogue()
        self._view = SessionView()
        self._trial: WelcomeOffer | None = None
        """The task that was started from the welcome dialog and is not open yet."""
        self.chooser: TaskChooser | None = None
        """Created when it is first needed, like the welcome dialog."""
        self.asking: QMessageBox | None = None
        """The question whether to open a profile, while it is shown."""
        self.welcome: Welcome | None = None

    def show_catalogue(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        if self.chooser is not None:
            self.chooser.show_catalogue(catalogue)

    def show_session(self, view: SessionView) -> None:
        self._view = view
        trial = self._trial
        if trial is None or trial.opens is None or (view.mode, view.task) != ("waiting", trial.opens.task):
            return
        self._trial = None
        self.hinted.emit(trial.title, trial.hint)

    @Slot(object)
    def open_task(self, opened: OpenedTask) -> None:
        """Open a task and remember it as the last one; a profile with logins needs the person's consent."""
        if opened.profile and opened.profile not in self._catalogue.allowed_profiles:
            self._ask_for_profile(opened)
        else:
            self._open(opened)

    def _ask_for_profile(self, opened: OpenedTask) -> None:
        if self.asking is not None:
            self.asking.reject()
        box = QMessageBox(self._window)
        box.setWindowTitle("Open a profile with logins")
        box.setText(
            "While it is open, another user of this machine can control the browser of this window and use the logins "
            f"of the profile {opened.profile}."
        )
        box.setInformativeText("If you open it, you will not be asked about this profile again.")
        agreed = box.addButton("&Open the profile", QMessageBox.ButtonRole.AcceptRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.asking = box

        def answered() -> None:
            self.asking = None
            if box.clickedButton() is agreed:
                self._open(opened, allow_profile=True)

        box.finished.connect(answered)
        box.open()

    def _open(self, opened: OpenedTask, *, allow_profile: bool = False) -> None:
        self._remembered.add_recent(opened)
        self.recent_changed.emit(self._remembered.recent)
        self.open_requested.emit(opened, allow_profile)

    @Slot()
    def choose_task(self) -> None:
        if self.chooser is None:
            self.chooser = TaskChooser(self._theme, self._window)
            self.chooser.opened.connect(self.open_task)
            self.chooser_made.emit(self.chooser)
        self.chooser.show_catalogue(self._catalogue)
        self.chooser.show_chosen(self._remembered.last_task)
        self.chooser.open()
        self.chooser_opened.emit()

    @Slot()
    def add_tasks(self) -> None:
        """Open the task chooser and ask for a file of tasks."""
        self.choose_task()
        if self.chooser is not None:
            self.chooser.file_requested.emit()

    @Slot()
    def open_again(self) -> None:
        """Open the same task with the same seed."""
        self._reopen(self._view.seed)

    @Slot()
    def open_next_seed(self) -> None:
        """Open the same task with the next seed."""
        self._reopen(self._view.seed + 1)

    @Slot()
    def show_welcome(self) -> None:
        if self.welcome is None:
            self.welcome = Welcome(self._theme, self._window)
            self.welcome.tried.connect(self._on_tried)
            self.welcome.seen.connect(self._on_welcome_seen)
        self.welcome.show()
        self.welcome.raise_()

    def welcome_at_first_start(self) -> None:
        """Show the welcome dialog, unless the person has seen it and turned it off."""
        if not self._remembered.welcome_seen:
            self.show_welcome()

    def _reopen(self, seed: int) -> None:
        view = self._view
        instruction = view.instruction if view.url else ""
        self.open_task(
            OpenedTask(task=view.task, seed=seed, url=view.url, instruction=instruction, profile=view.profile)
        )

    def _on_welcome_seen(self, show_again: bool) -> None:
        self._remembered.welcome_seen = not show_again

    def _on_tried(self, trial: WelcomeOffer) -> None:
        if trial.opens is None:
            self.settings_wanted.emit()
            return
        self.llm_requested.emit("rules")
        self.open_task(trial.opens)
        self._trial = trial
