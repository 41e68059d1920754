"""Asks for tags to add and to remove, and for another family, of the selected exemplars."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCompleter, QDialog, QFormLayout, QLineEdit, QWidget

from gui.widgets.buttons import key_button
from gui.widgets.formats import count
from gui.widgets.layouts import in_column, in_row
from gui.widgets.words import NoteLabel, labelled


class TagDialog(QDialog):
    """Sends what is to be changed when it is accepted; fields that are left empty change nothing."""

    made = Signal(object, object, str)
    """The tags to add, those to remove, and the new family."""

    def __init__(
        self,
        *,
        selected: int,
        tags: Sequence[str],
        known: Sequence[str],
        families: Sequence[str],
        parent: QWidget | None = None,
    ) -> None:
        """`tags` are those that the selection has, `known` and `families` what can be completed."""
        super().__init__(parent)
        self.setWindowTitle(f"Tags and family of {count(selected, 'exemplar')}")
        self.setMinimumWidth(460)
        self.add = self._field("Add tags", "Separated by commas", known)
        self.remove = self._field("Remove tags", ", ".join(tags) or "They have no tags", tags)
        self.family = self._field("Move to the family", "As they are", families)
        self.words = NoteLabel(
            "dim", "Each changed exemplar becomes a new version. Files stay as they are.", self
        )
        form = QFormLayout()
        for field in (self.add, self.remove, self.family):
            form.addRow(field.accessibleName(), field)
        cancel = key_button("Cancel", "Change nothing", "Esc", self.reject, self)
        self.change_button = key_button("Change", "Change the exemplars", "", self.accept, self, accent=True)
        self.change_button.setDefault(True)
        in_column(
            self,
            form,
            self.words,
            1,
            in_row(None, 1, cancel, self.change_button),
            margins=(12, 12, 12, 12),
            spacing=8,
        )
        for field in (self.add, self.remove, self.family):
            field.textChanged.connect(self._refresh)
        self._refresh()

    def _field(self, name: str, hint: str, values: Sequence[str]) -> QLineEdit:
        field = labelled(QLineEdit(self, placeholderText=hint), name)
        field.setCompleter(QCompleter(values, field))
        return field

    def _refresh(self) -> None:
        fields = (self.add, self.remove, self.family)
        self.change_button.setEnabled(any(field.text().strip() for field in fields))

    def accept(self) -> None:
        self.made.emit(_tags(self.add), _tags(self.remove), self.family.text().strip())
        super().accept()


def _tags(field: QLineEdit) -> tuple[str, ...]:
    return tuple(tag for part in field.text().split(",") if (tag := part.strip()))
