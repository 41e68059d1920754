"""The commands of the library window: their buttons, and which of them can be asked for."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QPushButton, QToolButton, QWidget

from core.memory.library.records import LibraryRow
from gui.theme.theme import Theme
from gui.widgets.formats import count
from gui.widgets.layouts import FlowLayout

MOST = 1000
"""Exemplars that can be replayed or weighed at once."""

_BUTTONS: tuple[tuple[str, str, str, str, str], ...] = (
    ("new", "New", "Ctrl+N", "add", "Write an exemplar by hand"),
    ("edit", "Edit", "Ctrl+Return", "edit", "Edit the exemplar"),
    ("copy", "Copy", "Ctrl+D", "copy", "Make a new exemplar of this one"),
    ("archive", "Archive", "Del", "archive", "Keep it, but recall it no more; the archive gives it back"),
    ("check", "Check", "Ctrl+K", "checklist", "Look for what is wrong with what is selected"),
    ("check_all", "Check all found", "Ctrl+Shift+K", "checklist", "Look for what is wrong with all that are listed"),
    ("replay", "Replay", "Ctrl+R", "debug-restart", "Carry them out on their tasks again, in the background"),
    ("worth", "Worth…", "Ctrl+Shift+W", "graph-line", "Run tasks with and without them, in the background"),
    ("import", "Import…", "Ctrl+I", "cloud-download", "Bring in exemplars of this or another program"),
    ("export", "Export…", "Ctrl+E", "export", "Write exemplars as a file that this or another program reads"),
)  # fmt: skip
_MORE: tuple[tuple[str, str, str], ...] = (
    ("check_all", "Check all that are listed", ""),
    ("reindex", "Make the index anew", "Throw the index of the embeddings away and make it again"),
)


class LibraryCommands(QWidget):
    """A row of buttons; `asked` names the command."""

    asked = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.actions_by_name: dict[str, QAction] = {}
        self.buttons: dict[str, QPushButton] = {}
        self._archived = False
        flow = FlowLayout(self, spacing=5)
        flow.setContentsMargins(10, 0, 10, 6)
        for name, text, key, icon, words in _BUTTONS:
            action = QAction(theme.icon(icon), text, self)
            if name != "archive":  # Delete is the table's: in a field it takes letters away.
                action.setShortcut(QKeySequence(key))
            action.setToolTip(
                f"{words} ({QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)})"
            )
            action.triggered.connect(lambda _on=False, name=name: self.asked.emit(name))
            self.actions_by_name[name] = action
            self.addAction(action)
            if name == "check_all":
                continue
            button = self.buttons[name] = QPushButton(text, self)
            button.setAutoDefault(False)
            button.setIcon(theme.icon(icon))
            button.setToolTip(action.toolTip())
            button.clicked.connect(lambda _on=False, name=name: self.asked.emit(name))
            theme.changed.connect(button.update)
            flow.addWidget(button)
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        for name, text, words in _MORE:
            known = self.actions_by_name.get(name)
            if known is None:
                known = self.actions_by_name[name] = QAction(text, self)
                known.setToolTip(words)
                known.triggered.connect(lambda _on=False, name=name: self.asked.emit(name))
            menu.addAction(known)
        self.more = QToolButton(self)
        self.more.setIcon(theme.icon("ellipsis"))
        self.more.setToolTip("More commands (Alt+M)")
        self.more.setAccessibleName("More commands")
        self.more.setShortcut("Alt+M")
        self.more.setMenu(menu)
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setProperty("picker", True)
        theme.changed.connect(self.more.update)
        flow.addWidget(self.more)

    @property
    def brings_back(self) -> bool:
        """Whether what is selected is in the archive, so that it can be brought back."""
        return self._archived

    def refresh(self, rows: tuple[LibraryRow, ...] | None, selected: int, total: int) -> None:
        """Offer what can be done with these rows; None are too many to be held."""
        one = rows is not None and len(rows) == 1
        several = rows is not None and 0 < len(rows) <= MOST
        own = rows is None or any(not row.read_only for row in rows)
        self._archived = bool(rows) and all(row.archived for row in rows or () if not row.read_only) and own
        why = "" if rows is None or own else "An exemplar of a file is read only: keep a copy (Ctrl+D)"
        too_many = f"Select at most {count(MOST, 'exemplar')}" if selected else "Select exemplars first"
        states = {
            "edit": (one and own, why or "Select one exemplar"),
            "copy": (one, "Select one exemplar"),
            "archive": (bool(selected) and own, why or "Select exemplars first"),
            "check": (bool(selected), "Select exemplars first"),
            "check_all": (bool(total), "No exemplar is listed"),
            "replay": (several, too_many),
            "worth": (several, too_many),
            "export": (bool(total), "No exemplar is listed"),
        }
        words = {name: tip for name, _text, _key, _icon, tip in _BUTTONS}
        keys = {name: key for name, _text, key, _icon, _tip in _BUTTONS}
        if self._archived:
            words["archive"] = "Take it out of the archive: it is recalled again"
        for name, (on, unless) in states.items():
            action, button = self.actions_by_name[name], self.buttons.get(name)
            action.setEnabled(on)
            key = QKeySequence(keys[name]).toString(QKeySequence.SequenceFormat.NativeText)
            action.setToolTip(f"{words[name]} ({key})" if on else unless)
            if button is not None:
                button.setEnabled(on)
                button.setToolTip(action.toolTip())
        self.buttons["archive"].setText("Bring back" if self._archived else "Archive")
