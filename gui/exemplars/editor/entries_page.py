"""A list of small records of a draft, its contrasts or its pairs; one of them is shown for editing."""

from collections.abc import Callable
from typing import Any, NamedTuple

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QToolButton, QWidget

from core.memory.editing.draft import moved_by, put_in, replaced, taken_out
from core.memory.editing.faults import Fault
from core.schema.exemplar import AbstractionPair, DraftContrast
from gui.exemplars.editor.fields import EditorTextField, Edits, faults_at
from gui.theme.theme import Theme
from gui.widgets.buttons import icon_button
from gui.widgets.choices import choice_box
from gui.widgets.layouts import holding, in_column, in_row
from gui.widgets.words import NoteLabel, OrWords, dim_label


class Kind(NamedTuple):
    """What is listed."""

    name: str
    field: str
    """In the draft."""
    make: Callable[[], Any]
    fields: tuple[tuple[str, str, int], ...]
    """Name, label and share of the height of each text; one with a share of 0 is a single line."""
    title: str
    """The text that names an entry in the list."""
    none: str


CONTRASTS = Kind(
    name="contrast",
    field="contrasts",
    make=DraftContrast,
    fields=(
        ("observation", "The page", 3),
        ("tried", "What was tried", 0),
        ("right", "What is right", 0),
        ("why", "Why", 1),
    ),
    title="tried",
    none="There are no contrasts. A contrast shows a mistake and its correction. Add one above (+).",
)
PAIRS = Kind(
    name="pair",
    field="abstraction",
    make=lambda: AbstractionPair(state="", observation=""),
    fields=(("state", "The whole page", 1), ("observation", "What abstraction should keep of it", 1)),
    title="state",
    none="There are no pairs. A pair shows the LLM a whole page and what to keep of it. Add one above (+).",
)


class EntriesPage(QWidget):
    """Shows one kind of entries of `edits` and changes them."""

    def __init__(self, theme: Theme, edits: Edits, kind: Kind, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._edits = edits
        self._kind = kind
        self._faults: tuple[Fault, ...] = ()
        self.choice = choice_box(f"Which {kind.name}", "", parent=self)
        self.choice.currentIndexChanged.connect(self._on_chosen)
        self.add_button = self._button("add", f"Add a {kind.name}", "Ctrl+Shift+A", self.add)
        self.up_button = self._button("arrow-up", "Move up", "Alt+Up", lambda: self.shift(-1))
        self.down_button = self._button("arrow-down", "Move down", "Alt+Down", lambda: self.shift(1))
        self.delete_button = self._button("trash", f"Delete this {kind.name}", "Alt+Delete", self.delete)
        head = in_row(
            None,
            (self.choice, 1),
            self.add_button,
            self.up_button,
            self.down_button,
            self.delete_button,
            margins=(10, 6, 8, 4),
            spacing=4,
        )
        column = in_column(None, margins=(10, 0, 10, 8), spacing=4)
        self.fields: dict[str, EditorTextField] = {}
        for name, label, share in kind.fields:
            field = self.fields[name] = EditorTextField(
                theme, f"{kind.name.capitalize()}: {label}", parent=self
            )
            if not share:
                field.setFixedHeight(field.fontMetrics().lineSpacing() + 18)
            field.edited.connect(lambda text, name=name: self._on_edited(name, text))
            field.left.connect(edits.seal)
            column.addWidget(dim_label(label))
            column.addWidget(field, share)
        self.problem = NoteLabel("bad", parent=self)
        column.addWidget(self.problem)
        self.or_words = OrWords(holding(column), self)
        in_column(self, head, (self.or_words, 1), spacing=0)
        edits.changed.connect(self.refresh)
        self.refresh()

    @property
    def at(self) -> int:
        """The index of the entry in view; -1 for none."""
        return self.choice.currentIndex() if self._entries else -1

    def refresh(self) -> None:
        """Show the entries of the current draft."""
        entries = self._entries
        with QSignalBlocker(self.choice):
            at = self.choice.currentIndex()
            self.choice.clear()
            for number, one in enumerate(entries, start=1):
                words = " ".join(str(getattr(one, self._kind.title)).split())[:60]
                self.choice.addItem(f"{number}. {words or 'empty'}")
            self.choice.setCurrentIndex(min(max(at, 0), len(entries) - 1))
        self._show()

    def show_faults(self, faults: tuple[Fault, ...]) -> None:
        self._faults = faults
        self._show()

    def go_to(self, number: int, part: str) -> None:
        self.choice.setCurrentIndex(number)
        self.fields.get(part, next(iter(self.fields.values()))).setFocus()

    def add(self) -> None:
        at = self.at + 1
        self._do(f"add a {self._kind.name}", put_in(self._entries, at, self._kind.make()))
        self.choice.setCurrentIndex(at)
        next(iter(self.fields.values())).setFocus()

    def delete(self) -> None:
        if self.at >= 0:
            self._do(f"delete a {self._kind.name}", taken_out(self._entries, self.at))

    def shift(self, offset: int) -> None:
        at = self.at
        if at >= 0:
            self._do(f"move a {self._kind.name}", moved_by(self._entries, at, offset))
            self.choice.setCurrentIndex(min(max(at + offset, 0), len(self._entries) - 1))

    @property
    def _entries(self) -> tuple[Any, ...]:
        return tuple(getattr(self._edits.now, self._kind.field))

    def _do(self, name: str, entries: tuple[Any, ...], key: str = "") -> None:
        changes: dict[str, Any] = {self._kind.field: entries}
        self._edits.do(name, self._edits.now.replace(**changes), key=key)

    def _show(self) -> None:
        entries, at = self._entries, self.at
        self.or_words.say("" if entries else self._kind.none)
        self.choice.setEnabled(bool(entries))
        self.delete_button.setEnabled(bool(entries))
        self.up_button.setEnabled(at > 0)
        self.down_button.setEnabled(0 <= at < len(entries) - 1)
        if not 0 <= at < len(entries):
            return
        for name, field in self.fields.items():
            field.show_text(getattr(entries[at], name))
        here = faults_at(self._faults, self._kind.name, at)
        self.problem.show_text("\n".join(one.text for _, one in here))

    def _button(self, icon: str, words: str, key: str, do: Callable[[], None]) -> QToolButton:
        button = icon_button(self._theme, icon, words, do, self, key=key)
        shortcut = QShortcut(QKeySequence(key), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(button.click)
        return button

    def _on_chosen(self) -> None:
        self._edits.seal()
        self._show()

    def _on_edited(self, name: str, text: str) -> None:
        at = self.at
        if at >= 0:
            entry = self._entries[at].replace(**{name: text})
            words = f"edit {self._kind.name} {at + 1}"
            self._do(words, replaced(self._entries, at, entry), f"{self._kind.name} {at} {name}")
