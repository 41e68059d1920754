"""Questions of the editor: a value to generalise, and what to do with changes that would be lost."""

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QListWidget,
    QListWidgetItem,
    QMessageBox,
    QVBoxLayout,
    QWidget,
)

from core.debugger.exemplars.editor.views import Conflict, SaveWay
from core.memory.editing.changes import ValuePlace, placeholder, placeholders, places, put_in_place
from core.schema.errors import UsageError
from core.schema.exemplar import Draft
from gui.exemplars.editor.fields import LineField
from gui.widgets.formats import count
from gui.widgets.item_views import RowMenu
from gui.widgets.words import NoteLabel

_ROLE = Qt.ItemDataRole.UserRole
_Role = QMessageBox.ButtonRole
_CANCEL = QMessageBox.StandardButton.Cancel


class ValuesDialog(QDialog):
    """Asks for the value and its placeholder; `made` is the resulting draft."""

    def __init__(self, draft: Draft, value: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Generalise a value")
        self._draft = draft
        self.way = QComboBox(self)
        self.way.setAccessibleName("What to do")
        self.way.addItems(("Replace a value with a placeholder", "Replace a placeholder with a value"))
        self.value = LineField("Value", "such as Oakland", parent=self)
        self.name = LineField("Placeholder", "such as {city}", parent=self)
        self.name.offer(placeholders(draft))
        self.value.setText(value)
        self.whole = QCheckBox("Only whole words", self)
        self.whole.setChecked(True)
        self.list = QListWidget(self)
        self.list.setAccessibleName("Places")
        RowMenu(self.list)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.itemChanged.connect(lambda _item: self._tell())
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
        """Why nothing can be changed, or an empty string."""
        if not self.value.text():
            return "Enter the value."
        try:
            placeholder(self.name.text())
        except UsageError as error:
            return str(error)
        if not self.list.count():
            return f"“{self._found}” occurs nowhere."
        return "" if self._ticked else "Select the places to change."

    @property
    def made(self) -> Draft:
        """The resulting draft; only valid if there is no `problem`."""
        name = placeholder(self.name.text())
        found, other = (self.value.text(), name) if self.generalises else (name, self.value.text())
        return put_in_place(
            self._draft, found, other, parts={one.part for one in self._ticked}, whole=self._is_whole
        )

    @property
    def words(self) -> str:
        """The name of the change."""
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
    def _ticked(self) -> list[ValuePlace]:
        items = (self.list.item(at) for at in range(self.list.count()))
        return [item.data(_ROLE) for item in items if item.checkState() == Qt.CheckState.Checked]

    def _on_changed(self) -> None:
        self.whole.setEnabled(self.generalises)
        with QSignalBlocker(self.list):
            self.list.clear()
            for one in places(self._draft, self._found, whole=self._is_whole):
                item = QListWidgetItem(f"{one.part} ({one.count} ×): {one.shown}", self.list)
                item.setData(_ROLE, one)
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
                item.setCheckState(Qt.CheckState.Checked)
                item.setToolTip(one.shown)
        self._tell()

    def _tell(self) -> None:
        problem, ticked = self.problem, self._ticked
        times = count(sum(one.count for one in ticked), "time")
        done = f"Changes {times}, in {count(len(ticked), 'place')} of {self.list.count()}."
        self.fact.show_text(problem or done)
        self.ok.setEnabled(not problem)


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
        + ("" if can_save else "\nIt cannot be saved yet. The Problems tab says what is missing.")
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


def ask_conflict(conflict: Conflict, save: Callable[[SaveWay], None], parent: QWidget) -> QMessageBox:
    """Ask how to save if something else is stored in the exemplar's place."""
    box = QMessageBox(QMessageBox.Icon.Warning, "Not saved yet", conflict.text, _CANCEL, parent)
    box.setInformativeText("This adds a new version. The earlier versions are kept.")
    box.addButton("Save as its &new version", _Role.ActionRole).clicked.connect(lambda: save("over"))
    copy = box.addButton("Save as a &copy", _Role.AcceptRole)
    copy.clicked.connect(lambda: save("copy"))
    box.setDefaultButton(copy)
    box.open()
    return box
