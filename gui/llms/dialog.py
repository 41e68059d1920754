"""The form for one's own LLMs: a view of `LLMForm`, which stores and tests nothing itself."""

from pydantic import SecretStr
from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from core.schema.record import Record
from gui.theme.theme import Theme
from gui.widgets.words import set_flag, set_tone

_ASKING = "Asking the server…"


class EndpointPreset(Record):
    """A known kind of server, offered beside the base URL."""

    title: str
    base_url: str
    needs_key: bool = False
    note: str = ""


class LLMForm(Record):
    """What the form holds of one LLM."""

    name: str = ""
    base_url: str = ""
    model: str = ""
    """As the server calls it."""
    description: str = ""
    takes_images: bool = False
    temperature: float | None = None
    """None leaves it to the server."""
    timeout_seconds: float = 120.0
    attempts: int = 4
    key: SecretStr = SecretStr("")
    """A key that was typed in, for the keyring; empty leaves the stored one as it is."""
    key_stored: bool = False
    """Whether there is a key already, in the environment or the keyring."""


class TestResult(Record):
    """What became of a test, or of saving."""

    __test__ = False

    ok: bool
    text: str


class SettingsDialog(QDialog):
    """Lists the user's LLMs and edits one at a time; asks by emitting whole forms."""

    test_requested = Signal(object)
    """An `LLMForm`; answered through `show_result`."""
    save_requested = Signal(object)
    """An `LLMForm`; answered through `show_llms` and `show_result`."""
    remove_requested = Signal(str)
    """The name of an LLM."""

    def __init__(
        self, theme: Theme, presets: tuple[EndpointPreset, ...], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("LLM settings")
        self._presets = presets
        self._llms: tuple[LLMForm, ...] = ()
        self._shown = LLMForm()
        self._build(theme)
        self.show_llms(())
        self.resize(720, 480)

    def show_llms(self, llms: tuple[LLMForm, ...], chosen: str = "") -> None:
        """Offer these to edit, and show the one named `chosen`, the one shown before, or a new one."""
        self._llms = llms
        wanted = chosen or self._shown.name
        with QSignalBlocker(self.names):
            self.names.clear()
            self.names.addItems([llm.name for llm in llms])
            row = next((at for at, llm in enumerate(llms) if llm.name == wanted), -1)
            self.names.setCurrentRow(row)
        self.show_form(llms[row] if row >= 0 else LLMForm())

    def show_form(self, form: LLMForm) -> None:
        """Replace what is in the fields by `form`."""
        self._shown = form
        self.name.setText(form.name)
        with QSignalBlocker(self.base_url):
            self.base_url.setEditText(form.base_url)
        self.model.setText(form.model)
        self.description.setText(form.description)
        self.key.clear()
        stored = (
            "A key is stored; type another to replace it"
            if form.key_stored
            else "Goes to the system's keyring"
        )
        self.key.setPlaceholderText(stored)
        self.images.setChecked(form.takes_images)
        self.temperature_on.setChecked(form.temperature is not None)
        self.temperature.setValue(form.temperature if form.temperature is not None else 0.0)
        self.timeout.setValue(round(form.timeout_seconds))
        self.attempts.setValue(form.attempts)
        self.answer.setText("")
        self._on_edited()

    def form(self) -> LLMForm:
        """Return what is in the fields now."""
        return LLMForm(
            name=self.name.text().strip(),
            base_url=self.base_url.currentText().strip(),
            model=self.model.text().strip(),
            description=self.description.text().strip(),
            takes_images=self.images.isChecked(),
            temperature=self.temperature.value() if self.temperature_on.isChecked() else None,
            timeout_seconds=float(self.timeout.value()),
            attempts=self.attempts.value(),
            key=SecretStr(self.key.text().strip()),
            key_stored=self._shown.key_stored,
        )

    @Slot(object)
    def show_result(self, result: TestResult) -> None:
        """Say what became of a test or of saving."""
        self.answer.setText(("✓ " if result.ok else "✗ ") + result.text)
        set_tone(self.answer, "good" if result.ok else "bad")
        self._enable()

    def problem(self) -> str:
        """Return why the form cannot be used yet, in a sentence, or nothing."""
        form = self.form()
        if not form.name:
            return "Give it a name, as the LLM menu is to show it."
        if any(char.isspace() or char in "[]\"'=" for char in form.name):
            return "The name must be one word without quotes or brackets."
        if form.name in ("rules", "person"):
            return f'"{form.name}" is built in; choose another name.'
        if form.name != self._shown.name and any(llm.name == form.name for llm in self._llms):
            return f'There is an LLM named "{form.name}" already.'
        if not form.base_url.startswith(("http://", "https://")):
            return "The base URL begins with http:// or https://; choose a server from the list."
        return "" if form.model else "Say which LLM the server is to use, as the server calls it."

    def _build(self, theme: Theme) -> None:
        self.names = QListWidget(self)
        self.names.setAccessibleName("Your LLMs")
        self.names.setMaximumWidth(190)
        self.names.currentRowChanged.connect(self._on_chosen)
        self.new_button = QPushButton("New", self)
        self.new_button.setToolTip("Begin another LLM (Ctrl+Shift+N)")
        self.new_button.setShortcut("Ctrl+Shift+N")
        self.new_button.clicked.connect(self._on_new)
        self.remove_button = QPushButton("Remove", self)
        self.remove_button.setToolTip("Forget this LLM; its key stays in the keyring (Ctrl+Delete)")
        self.remove_button.setShortcut("Ctrl+Delete")
        self.remove_button.clicked.connect(lambda: self.remove_requested.emit(self._shown.name))
        left = QVBoxLayout()
        left.addWidget(self.names, 1)
        both = QHBoxLayout()
        both.addWidget(self.new_button)
        both.addWidget(self.remove_button)
        left.addLayout(both)
        right = QVBoxLayout()
        right.addLayout(self._fields(theme))
        self.hint = self._paragraph("dim")
        self.answer = self._paragraph("good")
        right.addWidget(self.hint)
        right.addWidget(self.answer)
        right.addStretch(1)
        columns = QHBoxLayout()
        columns.setSpacing(18)
        columns.addLayout(left)
        columns.addLayout(right, 1)
        self.test_button = QPushButton("Test", self)
        self.test_button.setToolTip("Ask the server for its list of LLMs; nothing is spent (Alt+T)")
        self.test_button.setShortcut("Alt+T")
        self.test_button.clicked.connect(self._on_test)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.addButton(self.test_button, QDialogButtonBox.ButtonRole.ActionRole)
        self.save_button = buttons.addButton("Save", QDialogButtonBox.ButtonRole.ApplyRole)
        self.save_button.setToolTip("Write it to the settings file, and a key to the keyring (Enter)")
        self.save_button.setDefault(True)
        set_flag(self.save_button, "accent", True)
        self.save_button.clicked.connect(lambda: self.save_requested.emit(self.form()))
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 14, 16, 12)
        layout.setSpacing(14)
        layout.addLayout(columns, 1)
        layout.addWidget(buttons)

    def _fields(self, theme: Theme) -> QFormLayout:
        self.name = QLineEdit(self)
        self.name.setPlaceholderText("my-llm")
        self.base_url = QComboBox(self)
        self.base_url.setEditable(True)
        self.base_url.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        address = QLineEdit(self)
        address.setPlaceholderText("Choose a server, or type its address")
        self.base_url.setLineEdit(address)
        for preset in self._presets:
            self.base_url.addItem(f"{preset.title}  {preset.base_url}", preset)
        self.base_url.setCurrentIndex(-1)
        self.base_url.activated.connect(self._on_preset)
        self.base_url.editTextChanged.connect(self._on_edited)
        self.model = QLineEdit(self)
        self.model.setPlaceholderText("As the server calls it, such as gpt-4o")
        self.description = QLineEdit(self)
        self.description.setPlaceholderText("For your own memory")
        self.key = QLineEdit(self)
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.images = QCheckBox("It takes pictures: send the screenshot too", self)
        self.temperature_on = QCheckBox("Set it", self)
        self.temperature = QDoubleSpinBox(self)
        self.temperature.setRange(0.0, 5.0)
        self.temperature.setSingleStep(0.1)
        self.temperature_on.toggled.connect(self.temperature.setEnabled)
        self.temperature.setEnabled(False)
        warm = QHBoxLayout()
        warm.setSpacing(10)
        warm.addWidget(self.temperature_on)
        warm.addWidget(self.temperature)
        warm.addStretch(1)
        self.timeout = QSpinBox(self)
        self.timeout.setRange(1, 3600)
        self.timeout.setSuffix(" s")
        self.attempts = QSpinBox(self)
        self.attempts.setRange(1, 20)
        limits = QHBoxLayout()
        limits.setSpacing(8)
        limits.addWidget(self.timeout)
        limits.addWidget(QLabel("and try at most", self))
        limits.addWidget(self.attempts)
        limits.addWidget(QLabel("times", self))
        limits.addStretch(1)
        form = QFormLayout()
        form.setHorizontalSpacing(14)
        form.setVerticalSpacing(8)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for words, field, within in (
            ("Name", self.name, None),
            ("Base URL", self.base_url, None),
            ("Name at the server", self.model, None),
            ("Key", self.key, None),
            ("Description", self.description, None),
            ("Pictures", self.images, None),
            ("Temperature", self.temperature_on, warm),
            ("Wait at most", self.timeout, limits),
        ):
            label = QLabel(words, self)
            if within is None:
                form.addRow(label, field)
            else:
                form.addRow(label, within)
            field.setAccessibleName(words)
            label.setBuddy(field)
        for edit in (self.name, self.model, self.key):
            edit.textChanged.connect(self._on_edited)
        for machine in (self.model, self.base_url):
            machine.setFont(theme.machine_font())
        return form

    def _paragraph(self, tone: str) -> QLabel:
        label = QLabel(self)
        label.setWordWrap(True)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        set_tone(label, tone)
        return label

    def _on_chosen(self, row: int) -> None:
        if 0 <= row < len(self._llms):
            self.show_form(self._llms[row])

    def _on_new(self) -> None:
        with QSignalBlocker(self.names):
            self.names.setCurrentRow(-1)
        self.show_form(LLMForm())
        self.name.setFocus()

    def _on_preset(self, index: int) -> None:
        preset = self.base_url.itemData(index)
        if isinstance(preset, EndpointPreset):
            self.base_url.setEditText(preset.base_url)
            self._on_edited()

    def _on_test(self) -> None:
        if self.answer.text() == _ASKING:
            return  # A disabled button would give the focus to Close.
        self.answer.setText(_ASKING)
        set_tone(self.answer, "dim")
        self.test_requested.emit(self.form())

    def _on_edited(self) -> None:
        url = self.base_url.currentText().strip()
        preset = next((one for one in self._presets if one.base_url == url), None)
        needs_key = preset is not None and preset.needs_key and not self._shown.key_stored
        parts = [
            self.problem(),
            preset.note if preset else "",
            "This server wants a key." if needs_key else "",
        ]
        self.hint.setText(" ".join(part for part in parts if part))
        self.answer.clear()  # It was about what the fields held before.
        self._enable()

    def _enable(self) -> None:
        usable = not self.problem()
        self.save_button.setEnabled(usable)
        self.test_button.setEnabled(usable)
        self.remove_button.setEnabled(bool(self._shown.name))
