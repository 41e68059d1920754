"""Attach an agent: its program and its task; while it is attached, its addresses and its output."""

import shlex
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QDialog,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSpinBox,
    QWidget,
)

from core.debugger.attach.views import AttachRequest, AttachView
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.copying import to_clipboard
from gui.widgets.layouts import holding, in_column, in_row
from gui.widgets.text_view import TextView
from gui.widgets.words import NoteLabel, OrWords, Paragraph, labelled, set_flag, set_tone

_INTRO = (
    "Your agent runs unchanged. It gets this window's browser instead of its own, and its LLM calls pass through here: "
    "step, hold, edit and record it like a built-in agent."
)
_NO_OUTPUT = "The program's output is shown here."
_ADDRESSES = (
    ("llm", "OPENAI_BASE_URL", "The base URL of its LLM"),
    ("key", "OPENAI_API_KEY", "The key for it"),
    ("browser", "BACKSTEP_CDP_URL", "The CDP address of its browser"),
    ("sdk", "BACKSTEP_SDK_URL", "Where backstep_sdk reports to"),
)


class AttachDialog(QDialog):
    """Asks which agent to attach, and shows `AttachView`."""

    attach_requested = Signal(object)
    """The `AttachRequest`."""
    detach_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Attach an agent")
        self._view = AttachView()
        self._build(theme)
        self.show_view(self._view)
        theme.size_window(self, 760, 620)

    def offer(self, request: AttachRequest) -> None:
        """Fill in the fields."""
        self.command.setText(shlex.join(request.command))
        self.folder.setText(request.folder)
        self.env.setText(" ".join(request.env))
        self.task.setText(request.task)
        self.seed.setValue(request.seed)
        self.url.setText(request.url)
        self.instruction.setText(request.instruction)
        self.browser.setEditText(request.browser)

    def offer_tasks(self, tasks: tuple[str, ...]) -> None:
        """Complete the names of tasks."""
        completer = QCompleter(list(tasks), self.task)
        self.task.setCompleter(completer)

    @property
    def request(self) -> AttachRequest:
        """The request given by the fields; raises ValueError if the command has an unclosed quotation mark."""
        task = self.task.text().strip()
        return AttachRequest(
            command=tuple(shlex.split(self.command.text())),
            folder=self.folder.text().strip(),
            task=task,
            seed=self.seed.value(),
            url="" if task else self.url.text().strip(),
            instruction="" if task else self.instruction.text().strip(),
            browser=self.browser.currentText().strip(),
            env=tuple(self.env.text().split()),
        )

    @Slot(object)
    def show_view(self, view: AttachView) -> None:
        """Replace what is shown; the fields stay unchanged."""
        self._view = view
        self.problem.show_text(view.problem)
        attached = view.addresses is not None
        for name, field in self._values.items():
            field.setText(getattr(view.addresses, name) if view.addresses is not None else "")
            field.setCursorPosition(0)
        self._addresses.setVisible(attached)
        self.output.show_text("\n".join(view.output))
        self.output.verticalScrollBar().setValue(self.output.verticalScrollBar().maximum())
        self._or_output.say("" if view.output else _NO_OUTPUT)
        if attached:
            state = "The program is running." if view.running else "Start your agent with these addresses."
        else:
            state = "The agent is detached." if view.output else ""
        self.state.setText(state)
        self.detach_button.setEnabled(attached)
        self._refresh()

    # Building

    def _build(self, theme: Theme) -> None:
        intro = Paragraph(_INTRO, self)
        set_tone(intro, "dim")
        self.command = labelled(QLineEdit(self), "Program")
        self.command.setPlaceholderText(
            "python my_agent.py. Leave empty for an agent that you start yourself"
        )
        self.command.textChanged.connect(self._refresh)
        self.folder = labelled(QLineEdit(self), "Folder to start it in")
        self.folder.setPlaceholderText(str(Path.cwd()))
        self.folder_button = key_button("Browse…", "Choose the folder", "Alt+B", self._on_folder)
        self.env = labelled(QLineEdit(self), "Keys")
        self.env.setPlaceholderText("Names of variables with keys that the program needs")
        self.task = labelled(QLineEdit(self), "Task")
        self.task.setPlaceholderText("miniwob/click-test-2, or empty for any page")
        self.task.textChanged.connect(self._refresh)
        self.seed = labelled(QSpinBox(self, maximum=2**31 - 1), "Seed")
        self.url = labelled(QLineEdit(self), "URL")
        self.url.setPlaceholderText("The start page. Leave empty for a blank one")
        self.instruction = labelled(QLineEdit(self), "Instruction")
        self.instruction.setPlaceholderText("The instruction, as BACKSTEP_TASK. Most agents have their own")
        self.browser = labelled(QComboBox(self, editable=True), "Browser")
        self.browser.addItems(["embedded", "chromium"])
        self.browser.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.browser.setEditText("")
        field = self.browser.lineEdit()
        assert field is not None
        field.setPlaceholderText("Default; or embedded, chromium for the installed one, or a path")
        self.problem = NoteLabel("bad", parent=self)
        self.state = QLabel("", self)
        set_tone(self.state, "dim")
        self._values: dict[str, QLineEdit] = {}
        self._addresses = holding(self._addresses_grid())
        self.output = TextView(theme, "Output of the program", self)
        self._or_output = OrWords(self.output, self)
        in_column(
            self,
            intro,
            self._fields(),
            self.problem,
            self.state,
            self._addresses,
            (self._or_output, 1),
            self._foot(),
            margins=(14, 12, 14, 10),
            spacing=8,
        )

    def _fields(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setVerticalSpacing(6)
        rows = (
            ("Program", in_row(None, self.command)),
            ("Start in", in_row(None, (self.folder, 1), self.folder_button, spacing=6)),
            ("Keys", in_row(None, self.env)),
            ("Task", in_row(None, (self.task, 1), QLabel("Seed", self), self.seed, spacing=6)),
            ("URL", in_row(None, self.url)),
            ("Instruction", in_row(None, self.instruction)),
            ("Browser", in_row(None, (self.browser, 1))),
        )
        for at, (name, content) in enumerate(rows):
            grid.addWidget(QLabel(name, self), at, 0)
            grid.addLayout(content, at, 1)
        return grid

    def _addresses_grid(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(4)
        for at, (field, name, words) in enumerate(_ADDRESSES):
            value = self._values[field] = labelled(QLineEdit(self, readOnly=True), name, words)
            copy = key_button("Copy", f"Copy {name}", "", partial(self._copy_value, field), self)
            copy.setAccessibleName(f"Copy {name}")
            for column, widget in enumerate((QLabel(name, self), value, copy)):
                grid.addWidget(widget, at, column)
        return grid

    def _foot(self) -> QHBoxLayout:
        copy_all = "Copy the addresses as shell commands"
        self.copy_button = key_button("Copy all", copy_all, "Alt+C", self._on_copy)
        let_go = "End the program and close its addresses"
        self.detach_button = key_button("Detach", let_go, "Alt+D", self.detach_requested.emit)
        self.close_button = key_button(
            "Close", "Close this dialog. The agent stays attached", "Esc", self.reject
        )
        self.attach_button = key_button(
            "Attach", "Start the program and attach it", "Ctrl+Return", self._on_attach
        )
        set_flag(self.attach_button, "accent", True)
        return in_row(
            None, self.copy_button, self.detach_button, 1, self.close_button, self.attach_button, spacing=8
        )

    # Input of the person

    def _on_folder(self) -> None:
        if folder := QFileDialog.getExistingDirectory(self, "Start the agent in", self.folder.text()):
            self.folder.setText(folder)

    def _on_attach(self) -> None:
        try:
            self.attach_requested.emit(self.request)
        except ValueError:
            self.problem.show_text("The program has a quotation mark that is not closed.")

    def _copy_value(self, field: str) -> None:
        to_clipboard([self._values[field].text()])

    def _on_copy(self) -> None:
        to_clipboard([f"export {name}={self._values[field].text()}" for field, name, _ in _ADDRESSES])

    def _refresh(self) -> None:
        elsewhere = not self.command.text().strip()
        self.attach_button.setText("Show addresses" if elsewhere else "Attach")
        own = not self.task.text().strip()
        for field in (self.url, self.instruction):
            field.setEnabled(own)
        self.seed.setEnabled(not own)
        self.copy_button.setEnabled(self._view.addresses is not None)
