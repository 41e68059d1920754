"""Pages next to the look: the draft in a prompt, its problems, and its saved versions."""

from datetime import datetime

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QGridLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from core.debugger.exemplars.editor.views import Checked, EditorView, VersionTexts
from core.memory.editing.draft import text_of
from core.memory.editing.faults import Fault
from core.memory.library.records import Version
from core.schema.exemplar import Draft
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.choices import titled_box
from gui.widgets.formats import count
from gui.widgets.item_views import RowMenu
from gui.widgets.layouts import in_column, in_row, scrolled
from gui.widgets.rows import Row, Rows
from gui.widgets.search import Finder
from gui.widgets.side_by_side import SideBySide
from gui.widgets.text_view import Piece, TextView
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords

_WAITING = "Building the prompt…"
_NONE = (
    "No problems found without running anything. Try the program in the Parser tab, and "
    "replay the exemplar on its task from the library."
)
_UNSAVED = "Not in the library yet. The first save (Ctrl+S) is version 1."
_LEVELS = {
    "stops": ("error", "bad", "must be fixed before saving"),
    "fault": ("warning", "remedy", "should be fixed"),
    "note": ("info", "dim", "may be intended"),
}


class PreviewPage(QWidget):
    """Shows the messages of `Checked`."""

    preset_chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        tip = "The preset whose templates show the exemplar"
        self.preset = titled_box((), "Preset of the preview", tip, self)
        self.preset.activated.connect(lambda _at: self.preset_chosen.emit(self.chosen))
        self.fact = ElidedLabel("", self, tone="dim")
        self.text = TextView(theme, "The exemplar in the prompt", self)
        self.finder = Finder(theme, "Search the prompt", (self.text,), self)
        self.note = NoteLabel("dim", parent=self, margins=(10, 2, 10, 4))
        self.or_words = OrWords(self.text, self)
        head = in_row(None, self.preset, (self.fact, 1), (self.finder, 1), margins=(10, 6, 8, 4), spacing=8)
        in_column(self, head, self.note, (self.or_words, 1), spacing=0)
        self.or_words.say(_WAITING)

    @property
    def chosen(self) -> str:
        """The preset's name; empty for the default one."""
        return self.preset.currentData() or ""

    def choose(self, name: str) -> None:
        """Choose a preset, even if it is not offered yet, without emitting a change."""
        with QSignalBlocker(self.preset):
            if self.preset.findData(name) < 0 and name:
                self.preset.addItem(name, name)
            self.preset.setCurrentIndex(self.preset.findData(name))

    def show_view(self, view: EditorView) -> None:
        names = [one.name for one in view.presets]
        if names and names != [self.preset.itemData(at) for at in range(self.preset.count())]:
            before = self.chosen
            with QSignalBlocker(self.preset):
                self.preset.clear()
                for one in view.presets:
                    self.preset.addItem(one.title, one.name)
                self.preset.setCurrentIndex(self.preset.findData(before))
        self._show(view.checked)

    def _show(self, checked: Checked) -> None:
        if checked.edit < 0:
            self.or_words.say(_WAITING)
            return
        if checked.preset and self.chosen != checked.preset:
            self.choose(checked.preset)
        self.note.show_text(checked.prompt_note if checked.messages else "")
        self.or_words.say("" if checked.messages else checked.prompt_note or "Nothing yet.")
        self.fact.setText(count(checked.prompt_tokens, "token") if checked.messages else "")
        pieces: list[Piece] = []
        for number, one in enumerate(checked.messages, start=1):
            pieces += [Piece(f"{number}. {one.role}", heading=number), Piece(one.text)]
        at = self.text.verticalScrollBar().value()
        self.text.show_pieces(pieces)
        self.text.verticalScrollBar().setValue(at)
        self.finder.refresh()


class ProblemsPage(QWidget):
    """Shows faults; a click or Enter requests to go to one."""

    place_wanted = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = Rows(theme, "Problems")
        self.rows.pressed_on.connect(lambda key: self.place_wanted.emit(str(key[1])))
        self.or_words = OrWords(scrolled("Problems", self.rows), self)
        in_column(self, self.or_words, margins=(0, 4, 0, 0))
        self.show_faults(())

    def show_faults(self, faults: tuple[Fault, ...]) -> None:
        self.or_words.say("" if faults else _NONE)
        self.rows.show_rows(_fault_row(at, one) for at, one in enumerate(faults))


def _fault_row(at: int, one: Fault) -> Row:
    icon, tone, word = _LEVELS[one.level]
    detail = f"{one.where or 'the exemplar'}: {word}"
    return Row(one.text, icon=icon, tone=tone, detail=detail, link=True, key=(at, one.where))


class VersionsPage(QWidget):
    """Shows the versions; requests go out only as signals."""

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
        RowMenu(self.list)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.setIconSize(QSize(14, 14))
        self.list.setWordWrap(True)
        self.list.itemSelectionChanged.connect(self._enable)
        self.list.itemActivated.connect(lambda _item: self._on_compare())
        self.or_words = OrWords(self.list, self)
        self.compare_button = key_button(
            "Compare",
            "Compare with the draft on screen, or two versions with each other (Enter in the list)",
            "",
            self._on_compare,
            self,
        )
        self.open_button = key_button(
            "Open",
            "Edit this version. Saving makes a new one",
            "",
            lambda: self.open_requested.emit(self.chosen[0]),
            self,
        )
        self.current_button = key_button(
            "Make current", "", "", lambda: self.current_requested.emit(self.chosen[0]), self
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
        """The numbers of the selected versions, the oldest first."""
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
        self.or_words.say("" if view.versions else _UNSAVED)
        archived = view.opened is not None and view.opened.archived
        self.archive_button.setText("Bring back" if archived else "Archive")
        self.archive_button.setToolTip(
            "Let runs recall it again" if archived else "Let runs recall it no more. Nothing is deleted"
        )
        self._enable()

    def _enable(self) -> None:
        chosen, opened = self.chosen, self._view.opened
        stored = opened is not None and bool(opened.id)
        self.compare_button.setText("Compare with the draft" if len(chosen) < 2 else "Compare the two")
        self.compare_button.setEnabled(len(chosen) in (1, 2))
        self.open_button.setEnabled(len(chosen) == 1)
        current = next((one.number for one in self._view.versions if one.current), 0)
        one_other = len(chosen) == 1 and chosen[0] != current
        self.current_button.setEnabled(one_other and not self._modified)
        self.current_button.setToolTip(
            "Save or undo your changes first: they are based on another version"
            if self._modified
            else "Make this the current version. No version is lost"
        )
        self.archive_button.setEnabled(stored)

    def _on_compare(self) -> None:
        chosen = self.chosen
        if len(chosen) in (1, 2):
            self.compare_requested.emit(chosen[0], chosen[1] if len(chosen) == 2 else None)

    def _on_archive(self) -> None:
        opened = self._view.opened
        if opened is not None:
            self.archive_requested.emit(not opened.archived)


class CompareVersions(QDialog):
    """Two versions side by side, line by line."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowFlag(Qt.WindowType.WindowMinMaxButtonsHint)
        self.heads = (QLabel(self), QLabel(self))
        self.texts = SideBySide(theme, self)
        self.texts.set_only_changes(True)
        for head in self.heads:
            head.setFont(theme.heading_font())
        self.or_words = OrWords(self.texts, self)
        heads = in_row(None, *((head, 1) for head in self.heads), margins=(12, 8, 12, 6))
        in_column(self, heads, (self.or_words, 1), spacing=0)
        theme.size_window(self, 980, 600)

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
