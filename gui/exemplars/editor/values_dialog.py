"""A value put into a placeholder wherever it occurs, or a placeholder filled in, with what that would change."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from core.memory.editing.changes import placeholder, placeholders, places, put_in_place
from core.schema.errors import UsageError
from core.schema.exemplar import Draft
from gui.exemplars.editor.fields import LineField
from gui.widgets.formats import count
from gui.widgets.words import NoteLabel

_ROLE = Qt.ItemDataRole.UserRole


class ValuesDialog(QDialog):
    """Asks for the value and its placeholder; `made` is the draft as it would be."""

    def __init__(self, draft: Draft, value: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Generalise a value")
        self._draft = draft
        self.way = QComboBox(self)
        self.way.setAccessibleName("What to do")
        self.way.addItems(("Put a placeholder in place of a value", "Put a value in place of a placeholder"))
        self.value = LineField("Value", "such as Oakland", parent=self)
        self.name = LineField("Placeholder", "such as {city}", parent=self)
        self.name.offer(placeholders(draft))
        self.value.setText(value)
        self.whole = QCheckBox("Only whole words", self)
        self.whole.setChecked(True)
        self.list = QListWidget(self)
        self.list.setAccessibleName("Places")
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.itemChanged.connect(self._on_ticked)
        self.fact = NoteLabel("dim", parent=self)
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel, self
        )
        self.ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.ok.setText("Change")
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        form = QFormLayout()
        form.addRow("", self.way)
        form.addRow("Value", self.value)
        form.addRow("Placeholder", self.name)
        form.addRow("", self.whole)
        column = QVBoxLayout(self)
        column.addLayout(form)
        column.addWidget(self.list, 1)
        column.addWidget(self.fact)
        column.addWidget(self.buttons)
        if not value and placeholders(draft):
            self.name.setText(placeholders(draft)[0])
        self.way.currentIndexChanged.connect(self._on_changed)
        self.value.textChanged.connect(self._on_changed)
        self.name.textChanged.connect(self._on_changed)
        self.whole.toggled.connect(self._on_changed)
        self.resize(560, 460)
        self._on_changed()
        (self.name if value else self.value).setFocus()

    @property
    def generalises(self) -> bool:
        return self.way.currentIndex() == 0

    @property
    def problem(self) -> str:
        """Why nothing can be changed, or nothing."""
        if not self.value.text():
            return "Write the value."
        try:
            placeholder(self.name.text())
        except UsageError as error:
            return str(error)
        if not self.list.count():
            return f"“{self._found}” occurs nowhere."
        return "" if self._parts else "Tick the places that are to be changed."

    @property
    def made(self) -> Draft:
        """The draft as it would be; only to be asked for where there is no `problem`."""
        name = placeholder(self.name.text())
        found, other = (self.value.text(), name) if self.generalises else (name, self.value.text())
        return put_in_place(self._draft, found, other, parts=self._parts, whole=self._is_whole)

    @property
    def words(self) -> str:
        """The change by its name."""
        name = placeholder(self.name.text())
        return f"generalise “{self.value.text()}”" if self.generalises else f"fill in {name}"

    @property
    def _found(self) -> str:
        text = self.name.text().strip()
        return self.value.text() if self.generalises else text if text.startswith("{") else f"{{{text}}}"

    @property
    def _is_whole(self) -> bool:
        return self.generalises and self.whole.isChecked()

    @property
    def _parts(self) -> set[str]:
        items = (self.list.item(at) for at in range(self.list.count()))
        return {item.data(_ROLE) for item in items if item.checkState() == Qt.CheckState.Checked}

    def _on_changed(self) -> None:
        self.whole.setEnabled(self.generalises)
        self.list.blockSignals(True)
        self.list.clear()
        for one in places(self._draft, self._found, whole=self._is_whole):
            item = QListWidgetItem(f"{one.part} ({one.count} ×): {one.shown}")
            item.setData(_ROLE, one.part)
            item.setData(_ROLE + 1, one.count)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked)
            item.setToolTip(one.shown)
            self.list.addItem(item)
        self.list.blockSignals(False)
        self._tell()

    def _on_ticked(self, _item: QListWidgetItem) -> None:
        self._tell()

    def _tell(self) -> None:
        problem = self.problem
        items = [self.list.item(at) for at in range(self.list.count())]
        ticked = [item for item in items if item.checkState() == Qt.CheckState.Checked]
        times = sum(item.data(_ROLE + 1) for item in ticked)
        done = f"It is changed {count(times, 'time')}, in {count(len(ticked), 'place')} of {len(items)}."
        self.fact.show_text(problem or done)
        self.ok.setEnabled(not problem)
