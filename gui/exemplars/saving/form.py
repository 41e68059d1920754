"""The form for saving an exemplar: its name, the values it is found by, and the corrections to include."""

from PySide6.QtCore import QSignalBlocker, QSize, QStringListModel, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QCompleter,
    QFormLayout,
    QLineEdit,
    QPlainTextEdit,
    QSizePolicy,
    QWidget,
)

from core.debugger.exemplars.saving.views import SavingContrast, SavingView
from core.schema.formats import cut
from gui.theme.theme import Theme
from gui.widgets.layouts import in_column, in_row
from gui.widgets.words import NoteLabel

_LINES = 4
_KEY_LENGTH = 600
_VALUE_LENGTH = 16
_VALUES = 2


class SavingForm(QWidget):
    """Shows the editable fields of `SavingView`; what the person has written stays."""

    edited = Signal()
    submitted = Signal()
    """Enter was pressed in a field of one line."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._touched: set[str] = set()
        """Whether the person has written id and family."""
        self.id = QComboBox(self, editable=True, insertPolicy=QComboBox.InsertPolicy.NoInsert)
        self.id.setAccessibleName("Id")
        self.id.setToolTip(
            "Its name in the library. Choose an earlier exemplar of this run to save a new version of it"
        )
        self.id.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.id.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.family = self._line("Family", "Exemplars of one family are shown together")
        self.tags = self._line("Tags", "Your own words, separated by commas")
        self.tags.setPlaceholderText("such as checked, login")
        self._families, self._tags = self._offer_for(self.family), self._offer_for(self.tags)
        self.note = self._line("Note", "For people. No LLM sees it")
        self.placeholders = QCheckBox("Put placeholders", self)
        self.metadata = QPlainTextEdit(self)
        self.metadata.setAccessibleName("Looked up by")
        self.metadata.setProperty("framed", True)
        self.metadata.setToolTip("The text compared with new tasks. Empty: task and first page")
        self.metadata.setTabChangesFocus(True)
        self.metadata.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.metadata.setMinimumHeight(self.fontMetrics().lineSpacing() * _LINES)
        left, right = QFormLayout(), QFormLayout()
        for field in (self.id, self.family, self.tags, self.note):
            left.addRow(field.accessibleName(), field)
        left.addRow("", self.placeholders)
        right.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapAllRows)
        right.addRow("Looked up by", self.metadata)
        for form in (left, right):
            form.setContentsMargins(0, 0, 0, 0)
            form.setVerticalSpacing(5)
            form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        in_row(self, (left, 1), (right, 1), margins=(12, 8, 12, 4), spacing=16)
        self.id.editTextChanged.connect(lambda _text: self._on_edited("id"))
        self.family.textChanged.connect(lambda _text: self._on_edited("family"))
        for written in (self.tags, self.note, self.metadata):
            written.textChanged.connect(lambda *_: self.edited.emit())
        for line in (self.id.lineEdit(), self.family, self.tags, self.note):
            if line is not None:
                line.returnPressed.connect(self.submitted)
        self.placeholders.toggled.connect(lambda _on: self.edited.emit())

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), 132)

    def begin(self, run: int) -> None:
        """Discard what was written for another run."""
        self._touched.clear()
        for field in (self.tags, self.note, self.metadata):
            with QSignalBlocker(field):
                field.clear()
        with QSignalBlocker(self.placeholders):
            self.placeholders.setChecked(False)
        self.show_view(SavingView(run=run))

    def show_view(self, view: SavingView) -> None:
        """Fill in the fields that the person has not written, and offer values from the library."""
        with QSignalBlocker(self.id), QSignalBlocker(self.family):
            written = self.id.currentText()
            self.id.clear()
            self.id.addItems([one for one in (view.free_id, *view.earlier) if one])
            self.id.setEditText(written if "id" in self._touched else view.id)
            if "family" not in self._touched:
                self.family.setText(view.family)
        self.placeholders.setVisible(bool(view.placeholders))
        pairs = [f"“{cut(value, _VALUE_LENGTH)}” → {name}" for value, name in view.placeholders.items()]
        title = f"Put placeholders: {', '.join(pairs[:_VALUES])}{'…' * (len(pairs) > _VALUES)}"
        self.placeholders.setText(title.replace("&", "&&"))
        told = "Each task that it is shown for gives its own value.\n"
        self.placeholders.setToolTip(told + "\n".join(pairs))
        key = cut(view.key, _KEY_LENGTH)
        if not self.metadata.toPlainText():
            self.metadata.setPlaceholderText(f"Empty: task and first page, that is\n{key}" if key else "")
        for offered, words in ((self._families, view.families), (self._tags, view.tags)):
            if offered.stringList() != list(words):
                offered.setStringList(words)

    @property
    def values(self) -> dict[str, object]:
        """What the person has written, as fields of a `SavingChoice`."""
        tags = (one.strip() for one in self.tags.text().split(","))
        return {
            "id": self.id.currentText().strip() if "id" in self._touched else "",
            "family": self.family.text().strip() if "family" in self._touched else "",
            "tags": tuple(dict.fromkeys(tag for tag in tags if tag)),
            "note": self.note.text().strip(),
            "metadata": self.metadata.toPlainText().strip(),
            "placeholders": self.placeholders.isChecked(),
        }

    def hold_id(self, id: str) -> None:
        """Keep this id: what is saved next is a new version of it."""
        self._touched.add("id")
        with QSignalBlocker(self.id):
            self.id.setEditText(id)

    def _line(self, name: str, words: str) -> QLineEdit:
        field = QLineEdit(self)
        field.setAccessibleName(name)
        field.setToolTip(words)
        return field

    def _offer_for(self, field: QLineEdit) -> QStringListModel:
        """Return the words that complete a field."""
        words = QStringListModel(self)
        completer = QCompleter(words, field)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        field.setCompleter(completer)
        return words

    def _on_edited(self, name: str) -> None:
        self._touched.add(name)
        self.edited.emit()


class _Correction(QWidget):
    """One correction with its check box and its reason."""

    def __init__(self, one: SavingContrast, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.step = one.step
        self.tick = QCheckBox(f"Save the correction of step {one.step} as a contrast", self)
        self.tick.setToolTip("The exemplar shows the mistake and the correction as such")
        self.words = NoteLabel("dim", "", self, margins=(21, 0, 0, 0))
        self.words.setFont(theme.machine_font())
        self.reason = QLineEdit(self)
        self.reason.setPlaceholderText("Why, in one sentence. Optional")
        self.reason.setAccessibleName(f"Why the correction of step {one.step} is right")
        in_column(self, self.tick, self.words, self.reason, margins=(10, 2, 10, 4), spacing=2)
        self.show_correction(one)

    def show_correction(self, one: SavingContrast) -> None:
        with QSignalBlocker(self.tick):
            self.tick.setChecked(one.chosen)
        self.words.show_text(f"tried  {one.tried}\nright  {one.right}")
        self.reason.setVisible(one.chosen)


class ContrastChoices(QWidget):
    """Lists the corrections of the selected steps; written reasons stay."""

    edited = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.corrections: list[_Correction] = []
        self._column = in_column(self, spacing=2)
        self._reasons: dict[int, str] = {}

    @property
    def chosen(self) -> frozenset[int]:
        return frozenset(correction.step for correction in self.corrections if correction.tick.isChecked())

    @property
    def reasons(self) -> dict[int, str]:
        self._keep_reasons()
        return {step: text.strip() for step, text in self._reasons.items() if text.strip()}

    def begin(self) -> None:
        """Discard what was written for another run."""
        self.show_contrasts(())
        self._reasons.clear()

    def show_contrasts(self, contrasts: tuple[SavingContrast, ...]) -> None:
        if [one.step for one in contrasts] == [correction.step for correction in self.corrections]:
            for shown, one in zip(self.corrections, contrasts, strict=True):
                shown.show_correction(one)
            return
        self._keep_reasons()
        for old in self.corrections:
            self._column.removeWidget(old)
            old.hide()
            old.deleteLater()
        self.corrections = []
        for contrast in contrasts:
            made = _Correction(contrast, self._theme, self)
            made.reason.setText(self._reasons.get(contrast.step, ""))
            made.tick.toggled.connect(lambda _on: self.edited.emit())
            made.reason.textChanged.connect(lambda _text: self.edited.emit())
            self._column.addWidget(made)
            self.corrections.append(made)

    def _keep_reasons(self) -> None:
        self._reasons |= {correction.step: correction.reason.text() for correction in self.corrections}
