"""Chooses the profile of a task on the open web: clean, a named one, or a new name."""

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from core.browser.host import name_problem
from gui.widgets.words import EmptyText, set_flag

_CLEAN, _NEW = "Clean, without logins", "A new one that keeps logins…"


class ProfileChoice(QWidget):
    """Holds a profile's name; an empty one is a clean profile."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._names: tuple[str, ...] = ()
        self.box = QComboBox(self)
        self.box.setAccessibleName("Profile")
        self.box.setToolTip("A named profile keeps cookies and logins from one run to the next")
        self.box.currentIndexChanged.connect(self._on_changed)
        self.line = QLineEdit(self)
        self.line.setPlaceholderText("Its name, such as work")
        self.line.setAccessibleName("Name of the new profile")
        self.line.textChanged.connect(self._on_changed)
        self.note = EmptyText(parent=self, tone="bad")
        self.note.setContentsMargins(0, 0, 0, 0)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.box)
        row.addWidget(self.line, 1)
        row.addStretch(0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(row)
        column.addWidget(self.note)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.setFocusProxy(self.box)
        self.show_names(())

    @property
    def value(self) -> str:
        """The profile's name, or nothing for a clean one; meaningless where there is a problem."""
        return self.line.text().strip() if self._is_new else str(self.box.currentData() or "")

    @property
    def usable(self) -> bool:
        return not self._is_new or not name_problem(self.line.text().strip())

    def show_names(self, names: tuple[str, ...]) -> None:
        """Offer these beside a clean and a new one; what is chosen stays where it can."""
        chosen = self.value
        self._names = names
        with QSignalBlocker(self.box):
            self.box.clear()
            self.box.addItem(_CLEAN, "")
            for name in names:
                self.box.addItem(name, name)
            self.box.addItem(_NEW)
        self.show_chosen(chosen)

    def show_chosen(self, name: str) -> None:
        """Choose this profile; one that is not there yet is a new one."""
        if not name or name in self._names:
            self.line.clear()
            self.box.setCurrentIndex(self.box.findData(name))
        else:
            self.box.setCurrentIndex(self.box.count() - 1)
            self.line.setText(name)
        self._on_changed()

    @property
    def _is_new(self) -> bool:
        return self.box.count() > 0 and self.box.currentIndex() == self.box.count() - 1

    def _on_changed(self) -> None:
        self.line.setVisible(self._is_new)
        name = self.line.text().strip()
        problem = name_problem(name) if self._is_new and name else ""
        self.note.setText(problem)
        self.note.setVisible(bool(problem))
        set_flag(self.line, "wrong", bool(problem))
        self.changed.emit()
