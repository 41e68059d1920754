"""Questions of the editor: a value to replace, and what to do with changes that would be lost."""

from collections.abc import Callable, Mapping

from PySide6.QtWidgets import (
    QCheckBox,
    QCompleter,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLineEdit,
    QMessageBox,
    QVBoxLayout,
    QWidget,
)

from core.debugger.exemplars.editor.views import SaveWay
from core.exemplars.editing.changes import replaced
from core.schema.formats import count
from gui.widgets.words import NoteLabel, labelled

_Role = QMessageBox.ButtonRole
_CANCEL = QMessageBox.StandardButton.Cancel


class ReplaceDialog(QDialog):
    """Asks for a value and what to put in its place, such as a placeholder; `made` is the resulting text."""

    def __init__(
        self, text: str, value: str, offers: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        """`offers` are values with a placeholder each; without a `value` the first of them is filled in."""
        super().__init__(parent)
        value = value or next(iter(offers), "")
        self.setWindowTitle("Replace a value")
        self._text = text
        self.made = text
        self.value = labelled(QLineEdit(value, self), "Value")
        self.value.setPlaceholderText("such as Oakland")
        self.other = labelled(QLineEdit(self), "Replace with")
        self.other.setPlaceholderText("such as {city}")
        self.whole = QCheckBox("Only whole words", self)
        self.whole.setChecked(True)
        self.fact = NoteLabel("dim", parent=self)
        self._offers = offers
        self.value.setCompleter(QCompleter(list(offers), self.value))
        self.value.textChanged.connect(self._on_value)
        ok, cancel = QDialogButtonBox.StandardButton.Ok, QDialogButtonBox.StandardButton.Cancel
        self.buttons = QDialogButtonBox(ok | cancel, self)
        self.ok = self.buttons.button(ok)
        self.ok.setText("Replace")
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        form = QFormLayout()
        form.addRow("Value", self.value)
        form.addRow("Replace with", self.other)
        form.addRow("", self.whole)
        column = QVBoxLayout(self)
        column.addLayout(form)
        column.addWidget(self.fact)
        column.addWidget(self.buttons)
        self.value.textChanged.connect(self._refresh)
        self.other.textChanged.connect(self._refresh)
        self.whole.toggled.connect(self._refresh)
        self.setMinimumWidth(460)
        self._refresh()
        self._on_value()
        (self.other if value else self.value).setFocus()

    def _on_value(self) -> None:
        """Offer the placeholder of a value that the task names."""
        if self.other.text() in ("", *self._offers.values()):
            self.other.setText(self._offers.get(self.value.text(), ""))

    def _refresh(self) -> None:
        value = self.value.text()
        self.made, times = replaced(self._text, value, self.other.text(), whole=self.whole.isChecked())
        fact = f"“{value}” occurs nowhere in the task, the metadata and the tables."
        if not value:
            fact = "Enter the value."
        elif times:
            fact = f"Replaces it {count(times, 'time')} in the task, the metadata and the tables."
        self.fact.show_text(fact)
        self.ok.setEnabled(self.made != self._text)
        self.adjustSize()


def ask_to_leave(
    title: str,
    *,
    can_save: bool,
    save: Callable[[], None],
    keep: Callable[[], None],
    discard: Callable[[], None],
    parent: QWidget,
) -> QMessageBox:
    """Ask what to do with unsaved changes; Cancel does nothing."""
    box = QMessageBox(
        QMessageBox.Icon.Question, "Unsaved changes", "Your changes are not saved.", _CANCEL, parent
    )
    box.setInformativeText(
        f"“{title[:200]}”\n\nYou can continue a draft when you open the exemplar again."
        + ("" if can_save else "\nIt cannot be saved yet. The list of problems says why.")
    )
    saving = box.addButton("&Save", _Role.AcceptRole)
    saving.setEnabled(can_save)
    saving.clicked.connect(save)
    keeping = box.addButton("&Keep as a draft", _Role.ActionRole)
    keeping.clicked.connect(keep)
    box.addButton("&Discard", _Role.DestructiveRole).clicked.connect(discard)
    box.setDefaultButton(saving if can_save else keeping)
    box.open()
    return box


def ask_conflict(text: str, save: Callable[[SaveWay], None], parent: QWidget) -> QMessageBox:
    """Ask how to save if something else is stored in the exemplar's place."""
    box = QMessageBox(QMessageBox.Icon.Warning, "Not saved yet", text, _CANCEL, parent)
    box.setInformativeText("This adds a new version. The earlier versions are kept.")
    box.addButton("Save as its &new version", _Role.ActionRole).clicked.connect(lambda: save("over"))
    copy = box.addButton("Save as a &copy", _Role.AcceptRole)
    copy.clicked.connect(lambda: save("copy"))
    box.setDefaultButton(copy)
    box.open()
    return box
