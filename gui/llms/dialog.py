"""The form for the user's own LLMs. It stores and tests nothing itself."""

import json
from collections.abc import Mapping
from typing import Any, get_args

from pydantic import SecretStr
from PySide6.QtCore import QSignalBlocker, Qt, Signal, SignalInstance, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QPushButton,
    QSpinBox,
    QWidget,
)

from core.debugger.llms.views import LLMAnswer, LLMEntry
from core.llm.endpoints import Endpoint
from core.llm.openai_format import DEFAULT_MAX_TOKENS
from core.schema.messages import ReasoningEffort
from core.settings.settings import LOCAL_PREFIX
from gui.theme.theme import Theme
from gui.widgets.item_views import RowMenu
from gui.widgets.layouts import in_column, in_row
from gui.widgets.number_field import NumberField
from gui.widgets.words import Paragraph, labelled, set_flag, set_tone

_ASKING = "Asking the server…"


class SettingsDialog(QDialog):
    """Lists the user's LLMs and edits one at a time; requests are signals with complete entries."""

    test_requested = Signal(object, object)
    """An `LLMEntry` and the typed key, a `SecretStr`; answered through `show_answer`."""
    save_requested = Signal(object, object)
    """The same; answered through `show_llms` and `show_answer`."""
    remove_requested = Signal(str)
    """The name of an LLM."""

    def __init__(self, theme: Theme, servers: tuple[Endpoint, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("LLM settings")
        self._servers = servers
        self._llms: tuple[LLMEntry, ...] = ()
        self._shown = LLMEntry(name="")
        self._untouched: dict[str, Any] = {}
        """The values of the fields when the entry was shown; fields round values that they cannot show."""
        self._testing = False
        self._build(theme)
        self.show_llms(())
        theme.size_window(self, 760, 660)

    def show_llms(self, llms: tuple[LLMEntry, ...], chosen: str = "") -> None:
        """Offer these to edit, and show the one named `chosen`, the one shown before, or a new one."""
        self._llms = llms
        wanted = chosen or self._shown.name
        with QSignalBlocker(self.names):
            self.names.clear()
            self.names.addItems([llm.name for llm in llms])
            row = next((at for at, llm in enumerate(llms) if llm.name == wanted), -1)
            self.names.setCurrentRow(row)
        self.show_entry(llms[row] if row >= 0 else LLMEntry(name=""))

    def show_entry(self, entry: LLMEntry) -> None:
        """Show `entry` in the fields."""
        self._shown = entry
        self.name.setText(entry.name)
        with QSignalBlocker(self.base_url):
            self.base_url.setEditText(entry.base_url)
        self.model.setText(entry.model)
        self.description.setText(entry.description)
        self.key.clear()
        stored, new = "A key is stored. Type another to replace it", "Stored in the system's keyring"
        self.key.setPlaceholderText(stored if entry.key_stored else new)
        self.images.setChecked(entry.takes_images)
        self.temperature_on.setChecked(entry.temperature is not None)
        self.temperature.setValue(entry.temperature or 0.0)
        self.longest.setValue(entry.max_tokens or 0)
        self.effort.setCurrentIndex(max(self.effort.findData(entry.reasoning_effort), 0))
        self.one_call.setChecked(entry.parallel_tool_calls is False)
        self.headers.setText(_as_line(entry.headers))
        self.body.setText(_as_line(entry.body))
        self.api_version.setText(entry.api_version)
        self.deployment.setText(entry.deployment)
        self.cost.setValue(entry.max_cost or 0.0)
        self.requests.setValue(entry.requests_per_minute or 0)
        self.tokens.setValue(entry.tokens_per_minute or 0)
        self.timeout.setValue(round(entry.timeout_seconds))
        self.total.setValue(round(entry.total_timeout_seconds))
        self.attempts.setValue(entry.attempts)
        self._untouched = self._values()
        self._on_edited()

    def entry(self) -> LLMEntry:
        """Return the entry with the edited fields, without the key; headers and body only if they can be parsed.

        Unedited fields keep their original value, because a field cannot show every value that the file may have.
        """
        changed = {
            name: value for name, value in self._values().items() if value != self._untouched.get(name)
        }
        return LLMEntry.model_validate({**dict(self._shown), **changed})

    def _values(self) -> dict[str, Any]:
        """Return the current values of the fields, by the names of `LLMEntry`."""
        return {
            "name": self.name.text().strip(),
            "base_url": self.base_url.currentText().strip(),
            "model": self.model.text().strip(),
            "description": self.description.text().strip(),
            "takes_images": self.images.isChecked(),
            "temperature": self.temperature.value() if self.temperature_on.isChecked() else None,
            "max_tokens": self.longest.value() or None,
            "reasoning_effort": self.effort.currentData(),
            "parallel_tool_calls": False if self.one_call.isChecked() else None,
            "timeout_seconds": float(self.timeout.value()),
            "total_timeout_seconds": float(self.total.value()),
            "attempts": self.attempts.value(),
            "headers": _read_object(self.headers.text()) or {},
            "body": _read_object(self.body.text()) or {},
            "api_version": self.api_version.text().strip(),
            "deployment": self.deployment.text().strip(),
            "max_cost": self.cost.value() or None,
            "requests_per_minute": self.requests.value() or None,
            "tokens_per_minute": self.tokens.value() or None,
        }

    @Slot(object)
    def show_answer(self, answer: LLMAnswer) -> None:
        """Show the result of a test or of saving."""
        self._testing = answer.under_way
        if answer.under_way:
            self.answer.setText(answer.text)
            set_tone(self.answer, "dim")
            return
        self.answer.setText(("✓ " if answer.ok else "✗ ") + answer.text)
        set_tone(self.answer, "good" if answer.ok else "bad")
        self._enable()

    def problem(self) -> str:
        """Return why the form cannot be used yet, as a sentence, or an empty string."""
        entry = self.entry()
        if not entry.name:
            return "Enter a name for the LLM menu."
        if any(char.isspace() or char in "[]\"'=" for char in entry.name):
            return "The name must be one word without quotes or brackets."
        if entry.name in ("rules", "person"):
            return f'"{entry.name}" is built in; choose another name.'
        if entry.name != self._shown.name and any(llm.name == entry.name for llm in self._llms):
            return f'There is an LLM named "{entry.name}" already.'
        is_local = entry.model.startswith(LOCAL_PREFIX)
        if not is_local and not entry.base_url.startswith(("http://", "https://")):
            return "The base URL must begin with http:// or https://. Or choose a server from the list."
        for field, words in ((self.headers, "Headers"), (self.body, "The body")):
            if _read_object(field.text()) is None:
                return f'{words} must be one JSON object, such as {{"name": "value"}}.'
        return "" if entry.model else "Enter the model's name at the server."

    def _build(self, theme: Theme) -> None:
        self.names = labelled(QListWidget(self), "Your LLMs")
        RowMenu(self.names)
        self.names.setMaximumWidth(190)
        self.names.currentRowChanged.connect(self._on_chosen)
        self.new_button = QPushButton("New", self)
        self.new_button.setToolTip("Add another LLM (Ctrl+Shift+N)")
        self.new_button.setShortcut("Ctrl+Shift+N")
        self.new_button.clicked.connect(self._on_new)
        self.remove_button = QPushButton("Remove", self)
        self.remove_button.setToolTip("Remove this LLM. Its key stays in the keyring (Ctrl+Delete)")
        self.remove_button.setShortcut("Ctrl+Delete")
        self.remove_button.clicked.connect(lambda: self.remove_requested.emit(self._shown.name))
        both = in_row(None, self.new_button, self.remove_button)
        left = in_column(None, (self.names, 1), both)
        self.hint = self._paragraph("dim")
        self.answer = self._paragraph("good")
        right = in_column(None, self._fields(theme), self.hint, self.answer, 1)
        columns = in_row(None, left, (right, 1), spacing=18)
        self.test_button = QPushButton("Test", self)
        self.test_button.setToolTip(
            "Find out what the server supports: tools, JSON schema, pictures and more. "
            "Costs a few thousand tokens at most (Alt+T)"
        )
        self.test_button.setShortcut("Alt+T")
        self.test_button.clicked.connect(self._on_test)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.addButton(self.test_button, QDialogButtonBox.ButtonRole.ActionRole)
        self.save_button = buttons.addButton("Save", QDialogButtonBox.ButtonRole.ApplyRole)
        self.save_button.setToolTip("Save it in the settings file, and a key in the keyring (Enter)")
        self.save_button.setDefault(True)
        set_flag(self.save_button, "accent", True)
        self.save_button.clicked.connect(lambda: self._ask(self.save_requested))
        buttons.rejected.connect(self.reject)
        in_column(self, (columns, 1), buttons, margins=(16, 14, 16, 12), spacing=14)

    def _fields(self, theme: Theme) -> QFormLayout:
        self.name = QLineEdit(self, placeholderText="my-llm")
        self.base_url = QComboBox(self, editable=True, insertPolicy=QComboBox.InsertPolicy.NoInsert)
        address = QLineEdit(self, placeholderText="Choose a server, or type its address")
        self.base_url.setLineEdit(address)
        for server in self._servers:
            self.base_url.addItem(f"{server.title}  {server.base_url}", server)
        self.base_url.setCurrentIndex(-1)
        self.base_url.activated.connect(self._on_server)
        self.base_url.editTextChanged.connect(self._on_edited)
        self.model = QLineEdit(self, placeholderText="Its name there, such as gpt-4o, or gguf: and a file")
        self.description = QLineEdit(self, placeholderText="A note for yourself")
        self.key = QLineEdit(self, echoMode=QLineEdit.EchoMode.Password)
        self.images = QCheckBox("Takes pictures: also send the screenshot", self)
        self.temperature_on = QCheckBox("Set it", self)
        self.temperature = labelled(NumberField(self, maximum=5.0, step=0.1), "Temperature")
        self.temperature_on.toggled.connect(self.temperature.setEnabled)
        self.temperature.setEnabled(False)
        warm = in_row(None, self.temperature_on, self.temperature, 1, spacing=10)
        self.longest = QSpinBox(self, maximum=1_000_000, singleStep=1024, suffix=" tokens")
        self.longest.setSpecialValueText(f"{DEFAULT_MAX_TOKENS} tokens by default")
        self.effort = QComboBox(self)
        self.effort.addItem("The server's default", None)
        for effort in get_args(ReasoningEffort):
            self.effort.addItem(effort, effort)
        self.one_call = QCheckBox("One tool call at a time", self)
        reasoning = in_row(None, self.effort, self.one_call, 1, spacing=10)
        self.headers = QLineEdit(self, placeholderText='{"X-Team": "$TEAM_KEY"}: $NAME is a key of that name')
        self.body = QLineEdit(self, placeholderText='{"top_k": 20}')
        self.api_version = QLineEdit(self, placeholderText="API version, such as 2024-10-21")
        self.deployment = labelled(QLineEdit(self, placeholderText="Deployment"), "Deployment")
        azure = in_row(None, self.api_version, self.deployment, spacing=8)
        self.cost = labelled(
            NumberField(self, decimals=6, maximum=100_000.0, step=0.5), "Cost limit in dollars"
        )
        self.cost.setPrefix("$")
        self.requests = labelled(QSpinBox(self, maximum=1_000_000, suffix=" calls/min"), "Calls per minute")
        self.tokens = labelled(
            QSpinBox(self, maximum=100_000_000, singleStep=1000, suffix=" tokens/min"), "Tokens per minute"
        )
        for limit, words in (
            (self.cost, "any cost"),
            (self.requests, "any calls/min"),
            (self.tokens, "any tokens/min"),
        ):
            limit.setSpecialValueText(words)
        self.cost.setToolTip("US dollars, between two starts of the program")
        spending = in_row(None, self.cost, self.requests, self.tokens, 1, spacing=8)
        self.timeout = QSpinBox(self, minimum=1, maximum=3600, suffix=" s")
        self.total = labelled(
            QSpinBox(self, minimum=1, maximum=86_400, singleStep=60, suffix=" s"), "Seconds for a whole reply"
        )
        self.attempts = labelled(QSpinBox(self, minimum=1, maximum=20), "Tries at most")
        limits = in_row(
            None,
            self.timeout,
            QLabel("for a piece,", self),
            self.total,
            QLabel("for a reply,", self),
            QLabel("and try at most", self),
            self.attempts,
            QLabel("times", self),
            1,
            spacing=8,
        )
        form = QFormLayout(horizontalSpacing=14, verticalSpacing=8)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for words, field, within in (
            ("Name", self.name, None),
            ("Base URL", self.base_url, None),
            ("Name at the server", self.model, None),
            ("Key", self.key, None),
            ("Description", self.description, None),
            ("Pictures", self.images, None),
            ("Temperature", self.temperature_on, warm),
            ("Reply at most", self.longest, in_row(None, self.longest, 1)),
            ("Reasoning effort", self.effort, reasoning),
            ("Wait at most", self.timeout, limits),
            ("Limits", self.cost, spending),
            ("Headers", self.headers, None),
            ("Request body", self.body, None),
            ("Azure", self.api_version, azure),
        ):
            label = QLabel(words, self)
            if within is None:
                form.addRow(label, field)
            else:
                form.addRow(label, within)
            field.setAccessibleName(words)
            label.setBuddy(field)
        for edit in (self.name, self.model, self.key, self.headers, self.body):
            edit.textChanged.connect(self._on_edited)
        for machine in (self.model, self.base_url, self.headers, self.body):
            machine.setFont(theme.machine_font())
        return form

    def _paragraph(self, tone: str) -> QLabel:
        label = Paragraph("", self)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        set_tone(label, tone)
        return label

    def _on_chosen(self, row: int) -> None:
        if 0 <= row < len(self._llms):
            self.show_entry(self._llms[row])

    def _on_new(self) -> None:
        with QSignalBlocker(self.names):
            self.names.setCurrentRow(-1)
        self.show_entry(LLMEntry(name=""))
        self.name.setFocus()

    def _on_server(self, index: int) -> None:
        server = self.base_url.itemData(index)
        if isinstance(server, Endpoint):
            self.base_url.setEditText(server.base_url)
            self._on_edited()

    def _on_test(self) -> None:
        if self._testing:
            return  # A disabled button would pass the focus to Close.
        self._testing = True
        self.answer.setText(_ASKING)
        set_tone(self.answer, "dim")
        self._ask(self.test_requested)

    def _ask(self, signal: SignalInstance) -> None:
        signal.emit(self.entry(), SecretStr(self.key.text().strip()))

    def _on_edited(self) -> None:
        url = self.base_url.currentText().strip()
        server = next((one for one in self._servers if one.base_url == url), None)
        needs_key = server is not None and server.needs_key and not self._shown.key_stored
        parts = (
            self.problem(),
            server.note if server else "",
            "This server needs a key." if needs_key else "",
        )
        self.hint.setText(" ".join(filter(None, parts)))
        # An answer was about the previous values of the fields, and a test about one model at one server.
        same = (url, self.model.text().strip()) == (self._shown.base_url, self._shown.model)
        self.answer.setText(self._shown.honoured if same else "")
        set_tone(self.answer, "dim")
        self._enable()

    def _enable(self) -> None:
        usable = not self.problem()
        self.save_button.setEnabled(usable)
        self.test_button.setEnabled(usable)
        self.remove_button.setEnabled(bool(self._shown.name))


def _as_line(values: Mapping[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False) if values else ""


def _read_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object of a field, an empty one if the field is empty; None if it is not an object."""
    try:
        found = json.loads(text) if text.strip() else {}
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
