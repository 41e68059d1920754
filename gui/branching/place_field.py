"""A choice among a few words, one of which is a file or a folder of one's own."""

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QFileDialog, QHBoxLayout, QLineEdit, QMenu, QToolButton, QWidget

_PLACE = "place"


class PlaceField(QWidget):
    """Offers fixed choices, each with a value, and last a place on the disk, which is typed or browsed to."""

    changed = Signal()

    def __init__(
        self,
        name: str,
        choices: tuple[tuple[str, str | None], ...],
        *,
        place: str,
        suffix: str = "",
        parent: QWidget | None = None,
    ) -> None:
        """`suffix` is of the files that can be chosen beside folders; without it only folders can."""
        super().__init__(parent)
        self._name = name
        self._suffix = suffix
        self._values = [value for _, value in choices]
        self.choice = QComboBox(self)
        self.choice.setAccessibleName(name)
        for words, _ in choices:
            self.choice.addItem(words)
        self.choice.addItem(place, _PLACE)
        self.choice.currentIndexChanged.connect(self._on_choice)
        self.path = QLineEdit(self)
        self.path.setAccessibleName(f"{name}: where")
        self.path.setPlaceholderText("a path" if suffix else "a folder")
        self.path.editingFinished.connect(self.changed)
        self.browse = QToolButton(self)
        self.browse.setText("…")
        self.browse.setAccessibleName(f"{name}: browse")
        self.browse.setToolTip("Choose it on the disk")
        if suffix:
            menu = QMenu(self.browse)
            menu.addAction("A folder…", self._on_folder)
            menu.addAction(f"A file ({suffix})…", self._on_file)
            self.browse.setMenu(menu)
            self.browse.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        else:
            self.browse.clicked.connect(self._on_folder)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.choice)
        layout.addWidget(self.path, 1)
        layout.addWidget(self.browse)
        layout.addStretch(0)
        self._show_path()

    @property
    def value(self) -> str | None:
        """The value of the choice, or the path; the first choice where no path was given yet."""
        if self._is_place:
            return self.path.text().strip() or self._values[0]
        return self._values[self.choice.currentIndex()]

    def set_value(self, value: str | None) -> None:
        """Choose this without telling of it."""
        with QSignalBlocker(self.choice), QSignalBlocker(self.path):
            if value in self._values:
                self.choice.setCurrentIndex(self._values.index(value))
            else:
                self.choice.setCurrentIndex(len(self._values))
                self.path.setText(str(value))
        self._show_path()

    def set_words(self, at: int, words: str) -> None:
        """Call the fixed choice at this place otherwise."""
        self.choice.setItemText(at, words)

    @property
    def _is_place(self) -> bool:
        return self.choice.currentIndex() == len(self._values)

    def _show_path(self) -> None:
        for widget in (self.path, self.browse):
            widget.setVisible(self._is_place)

    def _on_choice(self) -> None:
        self._show_path()
        if self._is_place:
            self.path.setFocus()
        self.changed.emit()

    def _on_folder(self) -> None:
        self._take(QFileDialog.getExistingDirectory(self, self._name, self.path.text()))

    def _on_file(self) -> None:
        chosen = f"{self._name} (*{self._suffix})"
        self._take(QFileDialog.getOpenFileName(self, self._name, self.path.text(), chosen)[0])

    def _take(self, path: str) -> None:
        if path:
            self.path.setText(path)
            self.changed.emit()
