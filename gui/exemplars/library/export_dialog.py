"""What is exported, in which form and where to."""

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from core.debugger.exemplars.formats import EXPORTS
from gui.widgets.formats import count
from gui.widgets.layouts import in_row
from gui.widgets.words import NoteLabel

_WORDS = {
    "jsonl": "One exemplar a line, with all that it is made of: what Import… reads again.",
    "chat": "One conversation a line, with messages as chat completions take them to be tuned by.",
    "atif": "One trajectory a line, in the Agent Trajectory Interchange Format.",
    "synapse": "A folder with exemplars.json and specifiers.json, as Synapse keeps its memory.",
}


class ExportDialog(QDialog):
    """Tells what was chosen; the file is written in the background."""

    chosen = Signal(bool, str, str)
    """Whether all that is found is meant and not the selection, the name of the form, and the path."""

    def __init__(self, *, selected: int, found: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export exemplars")
        self.setMinimumWidth(520)
        self.which = QComboBox(self)
        self.which.setAccessibleName("Which exemplars")
        if selected:
            self.which.addItem(f"The {count(selected, 'selected exemplar')}", False)
        self.which.addItem(f"All {count(found, 'exemplar')} that the filter lets through", True)
        if selected == 1 and found > 1:
            self.which.setCurrentIndex(1)
        self.form = QComboBox(self)
        self.form.setAccessibleName("Form")
        for one in EXPORTS:
            self.form.addItem(one.title, one.name)
        self.form.currentIndexChanged.connect(self._refresh)
        self.words = NoteLabel("dim", parent=self)
        self.path = QLineEdit(self)
        self.path.setAccessibleName("Where to")
        self.path.textChanged.connect(self._refresh)
        browse = QPushButton("Choose…", self)
        browse.setAutoDefault(False)
        browse.setToolTip("Choose where it is written (Alt+B)")
        browse.setShortcut("Alt+B")
        browse.clicked.connect(self._on_browse)
        place = in_row(None, (self.path, 1), browse)
        form = QFormLayout()
        form.addRow("Which", self.which)
        form.addRow("Form", self.form)
        form.addRow("", self.words)
        form.addRow("Where to", place)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.export_button = self.buttons.addButton("Export", QDialogButtonBox.ButtonRole.AcceptRole)
        self.export_button.setToolTip("Write it in the background (Enter)")
        self.export_button.setProperty("accent", True)
        self.export_button.setDefault(True)
        self.buttons.accepted.connect(self._on_export)
        self.buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addLayout(form)
        column.addStretch(1)
        column.addWidget(self.buttons)
        self._refresh()

    def _refresh(self) -> None:
        self.words.show_text(_WORDS.get(self.form.currentData(), ""))
        folder = not self._suffix
        self.path.setPlaceholderText("A folder" if folder else f"A file, such as exemplars{self._suffix}")
        self.export_button.setEnabled(bool(self.path.text().strip()))

    @property
    def _suffix(self) -> str:
        return next(one.suffix for one in EXPORTS if one.name == self.form.currentData())

    def _on_browse(self) -> None:
        if self._suffix:
            path, _ = QFileDialog.getSaveFileName(
                self,
                "Export exemplars",
                f"exemplars{self._suffix}",
                f"{self.form.currentText()} (*{self._suffix})",
            )
        else:
            path = QFileDialog.getExistingDirectory(self, "Export exemplars into a folder")
        if path:
            self.path.setText(path)

    def _on_export(self) -> None:
        if self.export_button.isEnabled():
            path = str(Path(self.path.text().strip()).expanduser())
            self.chosen.emit(self.which.currentData(), self.form.currentData(), path)
            self.accept()
