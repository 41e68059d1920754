"""Asks for the embedding that exemplars are found by, and indexes them."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QFileDialog, QFormLayout, QLineEdit, QWidget

from core.settings.settings import BUILT_IN, ONNX_PREFIX
from gui.widgets.buttons import key_button
from gui.widgets.layouts import in_column, in_row
from gui.widgets.words import NoteLabel

_ABOUT = (
    "The built-in one compares words, not their meaning, and needs no model. Of a server, write a model as you write "
    "an LLM, such as openai/text-embedding-3-small. Of an ONNX model, choose the folder with model.onnx and "
    "tokenizer.json. It is tried before it is stored in the settings."
)


class IndexDialog(QDialog):
    """Sends the embedding when it is accepted, and whether everything is embedded again."""

    chosen = Signal(str, bool)

    def __init__(self, current: str, others: Sequence[str], parent: QWidget | None = None) -> None:
        """`current` is the embedding that is set, `others` are names that can be chosen besides."""
        super().__init__(parent)
        self.setWindowTitle("Embedding and index")
        self.setMinimumWidth(560)
        self.embedding = QComboBox(self, editable=True, insertPolicy=QComboBox.InsertPolicy.NoInsert)
        self.embedding.setAccessibleName("Embedding")
        hint = f"{BUILT_IN}, a model of a server, or {ONNX_PREFIX} and a folder"
        self.embedding.setLineEdit(QLineEdit(self, placeholderText=hint))
        self.embedding.addItems(list(dict.fromkeys((current, BUILT_IN, *others))))
        self.folder_button = key_button(
            "ONNX…", "Choose the folder of an ONNX model", "Alt+B", self._on_folder, self
        )
        self.again = QCheckBox("Embed everything again", self)
        self.again.setToolTip(
            "Throw away the vectors of all embeddings first. Otherwise only new texts are embedded"
        )
        form = QFormLayout()
        form.addRow("Embedding", in_row(None, (self.embedding, 1), self.folder_button))
        cancel = key_button("Cancel", "Change nothing", "Esc", self.reject, self)
        tip = "Index the exemplars in the background"
        self.index_button = key_button("Index", tip, "", self._on_index, self, accent=True)
        self.index_button.setDefault(True)
        foot = in_row(None, 1, cancel, self.index_button)
        about = NoteLabel("dim", _ABOUT, self)
        in_column(self, form, about, self.again, 1, foot, margins=(12, 12, 12, 12), spacing=10)
        self.embedding.editTextChanged.connect(lambda text: self.index_button.setEnabled(bool(text.strip())))

    def _on_folder(self) -> None:
        if path := QFileDialog.getExistingDirectory(self, "Use the ONNX model of a folder"):
            self.embedding.setEditText(f"{ONNX_PREFIX}{path}")

    def _on_index(self) -> None:
        self.chosen.emit(self.embedding.currentText().strip(), self.again.isChecked())
        self.accept()
