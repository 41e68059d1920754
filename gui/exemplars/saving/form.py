"""What an exemplar is called and found by: id, family, tags, note and the text it is looked up by."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QFormLayout,
    QLineEdit,
    QPlainTextEdit,
    QSizePolicy,
    QWidget,
)

from core.debugger.exemplars.saving.views import SavingView
from gui.widgets.layouts import in_row

_LINES = 4
_KEY_LENGTH = 600


class SavingForm(QWidget):
    """Shows the fields of `SavingView` that a person may fill in; what they have written stays."""

    edited = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._run = 0
        self._touched: set[str] = set()
        """The fields that the person has written in."""
        self.id = QComboBox(self)
        self.id.setEditable(True)
        self.id.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.id.setAccessibleName("Id")
        self.id.setToolTip(
            "Its name in the library; choose an earlier one of this run to save a new version of it"
        )
        self.id.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.id.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.family = self._line("Family", "Exemplars of one family go into a prompt together")
        self.tags = self._line("Tags", "Words of your own, with commas between them")
        self.tags.setPlaceholderText("such as checked, login")
        self.note = self._line("Note", "For yourself and others; no LLM is shown it")
        self.metadata = QPlainTextEdit(self)
        self.metadata.setAccessibleName("Looked up by")
        self.metadata.setProperty("framed", True)
        self.metadata.setToolTip(
            "The text whose meaning is compared with a new task; empty is task and first page"
        )
        self.metadata.setTabChangesFocus(True)
        self.metadata.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.metadata.setMinimumHeight(self.fontMetrics().lineSpacing() * _LINES)
        left, right = QFormLayout(), QFormLayout()
        for name, field in (
            ("Id", self.id),
            ("Family", self.family),
            ("Tags", self.tags),
            ("Note", self.note),
        ):
            left.addRow(name, field)
        right.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapAllRows)
        right.addRow("Looked up by", self.metadata)
        for form in (left, right):
            form.setContentsMargins(0, 0, 0, 0)
            form.setVerticalSpacing(5)
            form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        in_row(self, (left, 1), (right, 1), margins=(12, 8, 12, 4), spacing=16)
        self.id.editTextChanged.connect(lambda _text: self._on_edited("id"))
        self.family.textChanged.connect(lambda _text: self._on_edited("family"))
        self.tags.textChanged.connect(lambda _text: self._on_edited("tags"))
        self.note.textChanged.connect(lambda _text: self._on_edited("note"))
        self.metadata.textChanged.connect(lambda: self._on_edited("metadata"))

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), 132)

    def begin(self, run: int) -> None:
        """Forget what was written for another run."""
        self._run = run
        self._touched.clear()
        self._fill(SavingView(run=run), everything=True)

    def show_view(self, view: SavingView) -> None:
        """Fill in what the person has not written, and offer what the library has."""
        self._fill(view, everything=False)

    @property
    def values(self) -> dict[str, object]:
        """What the person has written, as fields of a `SavingChoice`."""
        tags = (one.strip() for one in self.tags.text().split(","))
        return {
            "id": self.id.currentText().strip() if "id" in self._touched else "",
            "family": self.family.text().strip() if "family" in self._touched else "",
            "tags": tuple(dict.fromkeys(one for one in tags if one)),
            "note": self.note.text().strip(),
            "metadata": self.metadata.toPlainText().strip(),
        }

    def hold_id(self, id: str) -> None:
        """Go on with this id: what is saved next is a new version of it."""
        self._touched.add("id")
        self.id.blockSignals(True)
        self.id.setEditText(id)
        self.id.blockSignals(False)

    def _fill(self, view: SavingView, *, everything: bool) -> None:
        for widget in (self.id, self.family, self.tags, self.note, self.metadata):
            widget.blockSignals(True)
        words = self.id.currentText()
        self.id.clear()
        self.id.addItems([one for one in (view.free_id, *view.earlier) if one])
        self.id.setEditText(words if "id" in self._touched else view.id)
        if "family" not in self._touched:
            self.family.setText(view.family)
        if everything:
            self.tags.clear()
            self.note.clear()
            self.metadata.clear()
        key = view.key if len(view.key) <= _KEY_LENGTH else f"{view.key[:_KEY_LENGTH]}…"
        if not self.metadata.toPlainText():
            self.metadata.setPlaceholderText(f"Empty: task and first page, that is\n{key}" if key else "")
        self._offer(self.family, view.families)
        self._offer(self.tags, view.tags)
        for widget in (self.id, self.family, self.tags, self.note, self.metadata):
            widget.blockSignals(False)

    def _offer(self, field: QLineEdit, words: tuple[str, ...]) -> None:
        known = field.completer()
        if known is not None and known.property("words") == list(words):
            return
        completer = QCompleter(list(words), field)
        completer.setProperty("words", list(words))
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        field.setCompleter(completer)

    def _line(self, name: str, words: str) -> QLineEdit:
        field = QLineEdit(self)
        field.setAccessibleName(name)
        field.setToolTip(words)
        return field

    def _on_edited(self, name: str) -> None:
        self._touched.add(name)
        self.edited.emit()
