"""What an exemplar says of itself as a whole: task, family, tags, note and the text it is found by."""

from itertools import pairwise
from typing import Any

from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from core.debugger.exemplars.editor.views import EditorView
from core.memory.editing.faults import Fault, place_of
from gui.exemplars.editor.edits import Edits
from gui.exemplars.editor.fields import EditorTextField, LineField
from gui.theme.theme import Theme
from gui.widgets.layouts import in_row
from gui.widgets.words import set_flag, set_tone

_LINES = 2


class HeadForm(QWidget):
    """Shows the draft of `edits` and changes it."""

    def __init__(self, theme: Theme, edits: Edits, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._edits = edits
        self.task = self._text(theme, "task", "Task", "the instruction, as it is given to the agent")
        self.metadata = self._text(
            theme, "metadata", "Metadata", "the text it is looked up by; empty for task and first observation"
        )
        self.note = self._text(theme, "note", "Note", "for people; in no prompt")
        self.family = self._line("family", "Family", "such as book-flight")
        self.environment = self._line("environment", "Environment", "any")
        self.tags = self._line("tags", "Tags", "between commas", several=True)
        self.id = self._line("id", "Id", "such as book-flight/7")
        grid = QGridLayout(self)
        grid.setContentsMargins(12, 10, 12, 6)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(6)
        for row, (name, field) in enumerate((("Task", self.task), ("Family", None), ("Note", None))):
            grid.addWidget(_label(name), row, 0)
            if field is not None:
                grid.addWidget(field, row, 1)
        short = in_row(None, (self.family, 3), spacing=8)
        for name, line, share in (
            ("Tags", self.tags, 3),
            ("Environment", self.environment, 2),
            ("Id", self.id, 4),
        ):
            short.addWidget(_label(name))
            short.addWidget(line, share)
        grid.addLayout(short, 1, 1)
        long = in_row(None, (self.note, 1), _label("Metadata"), (self.metadata, 1), spacing=8)
        grid.addLayout(long, 2, 1)
        order = (self.task, self.family, self.tags, self.environment, self.id, self.note, self.metadata)
        for one, other in pairwise(order):
            QWidget.setTabOrder(one, other)
        edits.changed.connect(self.refresh)

    def show_view(self, view: EditorView) -> None:
        """Offer what others have; the id of one that is stored is fixed."""
        self.family.offer(view.families)
        self.tags.offer(view.tags)
        self.environment.offer(view.environments)
        stored = view.opened is not None and bool(view.opened.id)
        self.id.setReadOnly(stored)
        self.id.setToolTip(
            "The id stays: a copy (Ctrl+Shift+S) has another one" if stored else "The name of the exemplar"
        )

    def refresh(self) -> None:
        """Show the draft as it is now."""
        draft = self._edits.now
        for text, words in (
            (self.task, draft.task),
            (self.metadata, draft.metadata),
            (self.note, draft.note),
        ):
            text.show_text(words)
        for line, words in (
            (self.family, draft.family),
            (self.environment, draft.environment),
            (self.id, draft.id),
        ):
            line.show_text(words)
        if _tags(self.tags.text()) != draft.tags:
            self.tags.show_text(", ".join(draft.tags))

    def show_faults(self, faults: tuple[Fault, ...]) -> None:
        """LineMark the fields at fault; the words are in their tooltips."""
        wrong = {place_of(one.where).kind: one.text for one in faults}
        for name, field in (("task", self.task), ("family", self.family), ("id", self.id)):
            set_flag(field, "wrong", name in wrong)
            if name != "id" or not self.id.isReadOnly():
                field.setToolTip(wrong.get(name, ""))

    def field(self, name: str) -> QWidget:
        """Return the field of that name, or the task's."""
        found: QWidget = getattr(self, name, self.task)
        return found

    def _text(self, theme: Theme, name: str, label: str, words: str) -> EditorTextField:
        field = EditorTextField(theme, label, machine=False, parent=self)
        field.setPlaceholderText(words)
        line = field.fontMetrics().lineSpacing()
        field.setFixedHeight(_LINES * line + 18)
        field.edited.connect(lambda text: self._on_edited(name, label, text))
        field.left.connect(self._edits.seal)
        return field

    def _line(self, name: str, label: str, words: str, *, several: bool = False) -> LineField:
        field = LineField(label, words, several=several, parent=self)
        field.edited.connect(lambda text: self._on_edited(name, label, _tags(text) if several else text))
        field.left.connect(self._edits.seal)
        return field

    def _on_edited(self, name: str, label: str, value: Any) -> None:
        draft = self._edits.now.replace(**{name: value})
        self._edits.do(f"edit the {label.lower()}", draft, key=name)


def _tags(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _label(text: str) -> QLabel:
    label = QLabel(text)
    set_tone(label, "dim")
    return label
