"""The line at the end of the watches, which adds one or changes one."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from core.debugger.breakpoints.watch import Watch, WatchKind
from gui.panels.breakpoints.expression_field import ExpressionField
from gui.panels.breakpoints.rows import WATCH_KINDS
from gui.theme.theme import Theme
from gui.widgets.words import NoteLabel

_EXAMPLES: dict[WatchKind, str] = {
    "expression": "such as run.cost",
    "css": "such as #price",
    "xpath": "such as //h1",
    "script": "such as document.title",
}


class WatchField(QWidget):
    """Asks for a watch by Enter; what was typed stays until it was accepted, Esc gives a change up."""

    watch_wanted = Signal(object)
    """A `Watch`, new where its number is 0; answered through `show_answer`."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._changed: Watch | None = None
        self.kind = QComboBox()
        self.kind.setAccessibleName("Kind of watch")
        self.kind.setToolTip("An expression is over the snapshot; the others are read in the live page")
        for kind, words in WATCH_KINDS.items():
            self.kind.addItem(words, kind)
        self.kind.currentIndexChanged.connect(self._on_kind)
        self.text = ExpressionField(theme, "Watch")
        self.text.returnPressed.connect(self.send)
        self.button = QPushButton("Add")
        self.button.clicked.connect(self.send)
        self.problem = NoteLabel("bad")
        top = QHBoxLayout()
        top.setSpacing(5)
        top.addWidget(self.kind, 1)
        top.addWidget(self.button)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 3, 10, 4)
        column.setSpacing(4)
        column.addWidget(self.text)
        column.addLayout(top)
        column.addWidget(self.problem)
        self._begin(None)

    @Slot()
    def send(self) -> None:
        """Ask for what is typed; nothing is no watch."""
        text = self.text.text().strip()
        if not text:
            self.text.setFocus()
            return
        self.problem.show_text("")
        changed = self._changed or Watch(text=text)
        self.watch_wanted.emit(changed.replace(kind=self.kind.currentData(), text=text))

    def change(self, watch: Watch) -> None:
        """Edit a watch of the list in this line."""
        self._begin(watch)
        self.text.setFocus(Qt.FocusReason.OtherFocusReason)
        self.text.selectAll()

    @Slot(str)
    def show_answer(self, problem: str) -> None:
        """Begin anew where the watch was accepted; else say what is wrong with it."""
        if problem:
            self.problem.show_text(f"✗ {problem}")
            self.text.setFocus()
        else:
            self._begin(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._changed is not None:
            self._begin(None)
        else:
            super().keyPressEvent(event)

    def event(self, event) -> bool:  # type: ignore[no-untyped-def]
        # Esc is a command of the window, except where it ends the change of a watch.
        escape = event.type() == event.Type.ShortcutOverride and event.key() == Qt.Key.Key_Escape
        if escape and self._changed is not None:
            event.accept()
            return True
        return super().event(event)

    def _begin(self, watch: Watch | None) -> None:
        self._changed = watch
        kind = watch.kind if watch else self.kind.currentData()
        self.kind.setCurrentIndex(self.kind.findData(kind))
        self.text.setText(watch.text if watch else "")
        self.button.setText("Change" if watch else "Add")
        self.button.setToolTip(
            "Put it in place of the watch (Enter; Esc leaves it as it is)"
            if watch
            else "Add it to the watches (Enter)"
        )
        self.problem.show_text("")
        self._on_kind()

    def _on_kind(self) -> None:
        kind: WatchKind = self.kind.currentData()
        self.text.completing = kind == "expression"
        self.text.setPlaceholderText(f"Watch {_EXAMPLES[kind]}")
