"""Asks for tags to add and to remove, another family, weight and pin of the selected exemplars."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCompleter, QDialog, QDoubleSpinBox, QFormLayout, QLineEdit, QWidget

from core.exemplars.library.records import Edits
from core.schema.formats import count
from gui.widgets.buttons import key_button
from gui.widgets.choices import titled_box
from gui.widgets.layouts import in_column, in_row
from gui.widgets.words import NoteLabel, labelled

_AS_IS = "As they are"


class TagDialog(QDialog):
    """Sends what is to be changed when it is accepted; fields that are left empty change nothing."""

    made = Signal(object)
    """The `Edits`."""

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
        self.setWindowTitle(f"Change {count(selected, 'exemplar')}")
        self.setMinimumWidth(460)
        self.add = self._field("Add tags", "Separated by commas", known)
        self.remove = self._field("Remove tags", ", ".join(tags) or "They have no tags", tags)
        self.family = self._field("Move to the family", _AS_IS, families)
        self.weight = QDoubleSpinBox(self, decimals=1, minimum=0.0, maximum=10.0, singleStep=0.5)
        self.weight.setSpecialValueText(_AS_IS)
        self.weight.setAccessibleName("Weight")
        self.weight.setToolTip("Distances are divided by it when runs look up. Above 1, they count as nearer")
        pins = ((_AS_IS, None), ("Pinned", True), ("Not pinned", False))
        self.pinned = titled_box(
            pins, "Pin", "Pinned ones are used before nearer ones of their families", self
        )
        self.words = NoteLabel(
            "dim",
            "Each changed exemplar becomes a new version, or is changed in its file. Bundled ones stay as they are.",
            self,
        )
        form = QFormLayout()
        for field in (self.add, self.remove, self.family, self.weight, self.pinned):
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
        self.weight.valueChanged.connect(self._refresh)
        self.pinned.currentIndexChanged.connect(self._refresh)
        self._refresh()

    def _field(self, name: str, hint: str, values: Sequence[str]) -> QLineEdit:
        field = labelled(QLineEdit(self, placeholderText=hint), name)
        field.setCompleter(QCompleter(values, field))
        return field

    @property
    def edits(self) -> Edits:
        """What is to be changed."""
        return Edits(
            add=_tags(self.add),
            remove=_tags(self.remove),
            family=self.family.text().strip(),
            weight=max(0.1, self.weight.value()) if self.weight.value() else None,
            pinned=self.pinned.currentData(),
        )

    def _refresh(self) -> None:
        self.change_button.setEnabled(self.edits != Edits())

    def accept(self) -> None:
        self.made.emit(self.edits)
        super().accept()


def _tags(field: QLineEdit) -> tuple[str, ...]:
    return tuple(tag for part in field.text().split(",") if (tag := part.strip()))
