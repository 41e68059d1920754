"""What was saved of the exemplar: opened, compared, made current."""

from datetime import datetime

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from core.debugger.exemplars.editor.views import EditorView, VersionTexts
from core.memory.editing.draft import text_of
from core.memory.library.records import Version
from core.schema.exemplar import Draft
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.formats import count
from gui.widgets.layouts import in_column
from gui.widgets.side_by_side import SideBySide
from gui.widgets.words import OrWords

_NONE = "It is not in the library yet: the first save (Ctrl+S) is version 1."


class VersionsPage(QWidget):
    """Shows the versions; asks for things only by emitting."""

    compare_requested = Signal(int, object)
    """A version, and another one or None for the draft on screen."""
    current_requested = Signal(int)
    open_requested = Signal(int)
    archive_requested = Signal(bool)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = EditorView()
        self._modified = False
        self.list = QListWidget(self)
        self.list.setAccessibleName("Versions")
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.setIconSize(QSize(14, 14))
        self.list.setWordWrap(True)
        self.list.itemSelectionChanged.connect(self._enable)
        self.list.itemActivated.connect(lambda _item: self._on_compare())
        self.or_words = OrWords(self.list, self)
        self.compare_button = key_button("Compare", "", "", self._on_compare, self)
        self.open_button = key_button(
            "Open", "Edit from this version on; saved, it is a new one", "", self._on_open, self
        )
        self.current_button = key_button(
            "Make current", "Go by this version from now on; none is lost", "", self._on_current, self
        )
        self.archive_button = key_button("Archive", "", "", self._on_archive, self)
        grid = QGridLayout()
        grid.setSpacing(6)
        for at, button in enumerate(
            (self.compare_button, self.open_button, self.current_button, self.archive_button)
        ):
            grid.addWidget(button, at // 2, at % 2)
        in_column(self, (self.or_words, 1), grid, margins=(8, 6, 8, 8), spacing=6)
        self.show_view(EditorView(), modified=False)

    @property
    def chosen(self) -> tuple[int, ...]:
        """The numbers of the versions that are selected, the oldest first."""
        return tuple(sorted(item.data(Qt.ItemDataRole.UserRole) for item in self.list.selectedItems()))

    def show_view(self, view: EditorView, *, modified: bool) -> None:
        if view.versions != self._view.versions:
            self.list.clear()
            for one in reversed(view.versions):
                item = QListWidgetItem(_words(one))
                item.setData(Qt.ItemDataRole.UserRole, one.number)
                self.list.addItem(item)
            self.list.setCurrentRow(0)
        self._view, self._modified = view, modified
        self.or_words.say("" if view.versions else _NONE)
        archived = view.opened is not None and view.opened.archived
        self.archive_button.setText("Bring back" if archived else "Archive")
        self.archive_button.setToolTip(
            "Have it recalled again" if archived else "Have it recalled no more; nothing of it is deleted"
        )
        self._enable()

    def _enable(self) -> None:
        chosen, opened = self.chosen, self._view.opened
        stored = opened is not None and bool(opened.id)
        self.compare_button.setText("Compare with the draft" if len(chosen) < 2 else "Compare the two")
        self.compare_button.setToolTip(
            "Show what differs from what is on screen, or of two versions (Enter in the list)"
        )
        self.compare_button.setEnabled(len(chosen) in (1, 2))
        self.open_button.setEnabled(len(chosen) == 1)
        current = next((one.number for one in self._view.versions if one.current), 0)
        one_other = len(chosen) == 1 and chosen[0] != current
        self.current_button.setEnabled(one_other and not self._modified)
        self.current_button.setToolTip(
            "Save or undo your changes first: they are made of another version"
            if self._modified
            else "Go by this version from now on; none is lost"
        )
        self.archive_button.setEnabled(stored)

    def _on_compare(self) -> None:
        chosen = self.chosen
        if len(chosen) in (1, 2):
            self.compare_requested.emit(chosen[0], chosen[1] if len(chosen) == 2 else None)

    def _on_open(self) -> None:
        self.open_requested.emit(self.chosen[0])

    def _on_current(self) -> None:
        self.current_requested.emit(self.chosen[0])

    def _on_archive(self) -> None:
        opened = self._view.opened
        if opened is not None:
            self.archive_requested.emit(not opened.archived)


class CompareVersions(QDialog):
    """Two versions line by line beside each other."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowFlag(Qt.WindowType.WindowMinMaxButtonsHint)
        self.heads = (QLabel(self), QLabel(self))
        self.texts = SideBySide(theme, self)
        self.texts.set_only_changes(True)
        row = QHBoxLayout()
        row.setContentsMargins(12, 8, 12, 6)
        for head in self.heads:
            head.setFont(theme.heading_font())
            row.addWidget(head, 1)
        self.or_words = OrWords(self.texts, self)
        in_column(self, row, (self.or_words, 1), spacing=0)
        self.resize(980, 600)

    def show_texts(self, id: str, texts: VersionTexts, now: Draft) -> None:
        right = texts.right_draft if texts.right_draft is not None else now
        names = (f"Version {texts.left}", f"Version {texts.right}" if texts.right else "The draft on screen")
        for head, name in zip(self.heads, names, strict=True):
            head.setText(name)
        self.texts.left.setAccessibleName(names[0])
        self.texts.right.setAccessibleName(names[1])
        self.texts.show_texts(text_of(texts.left_draft), text_of(right))
        changed = self.texts.changed
        self.setWindowTitle(f"{id}: {count(changed, 'line')} differ" if changed else f"{id}: the same")
        self.or_words.say("" if changed else "Both are the same.")


def _words(one: Version) -> str:
    facts = [f"{datetime.fromtimestamp(one.saved):%d %b %Y %H:%M}", count(one.tokens, "token")]
    why = f"\n{one.why}" if one.why else ""
    return f"Version {one.number}{' (current)' if one.current else ''} · {' · '.join(facts)}{why}"
