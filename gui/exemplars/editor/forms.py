"""The forms of the editor: the exemplar as a whole, and one of its looks."""

from functools import lru_cache
from itertools import pairwise
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QStackedWidget, QTabBar, QWidget

from core.debugger.exemplars.editor.views import EditorView
from core.memory.editing.changes import Shown, elements
from core.memory.editing.draft import replaced
from core.memory.editing.faults import Fault, place_of
from core.schema.action import RefTarget, RoleTarget
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError
from core.schema.exemplar import DraftStep
from gui.exemplars.editor.fields import EditorTextField, Edits, LineField, LineMark, faults_at
from gui.theme.theme import Theme
from gui.widgets.layouts import holding, in_column, in_row, splitter
from gui.widgets.words import NoteLabel, OrWords, dim_label, set_flag

_LINES = 2
_LINE_END = "\u2424"
"""Stands for a line break inside an action, because each line of the field is an action."""


class HeadForm(QWidget):
    """Shows the draft of `edits` and changes it."""

    def __init__(self, theme: Theme, edits: Edits, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._edits = edits
        self.task = self._text(theme, "task", "Task", "the instruction for the agent")
        self.metadata = self._text(
            theme, "metadata", "Metadata", "the text to look it up by. Empty: task and first observation"
        )
        self.note = self._text(theme, "note", "Note", "for people, not in prompts")
        self.family = self._line("family", "Family", "such as book-flight")
        self.environment = self._line("environment", "Environment", "any")
        self.tags = self._line("tags", "Tags", "between commas", several=True)
        self.id = self._line("id", "Id", "such as book-flight/7")
        short = in_row(
            None,
            (self.family, 3),
            dim_label("Tags"),
            (self.tags, 3),
            dim_label("Environment"),
            (self.environment, 2),
            dim_label("Id"),
            (self.id, 4),
            spacing=8,
        )
        long = in_row(None, (self.note, 1), dim_label("Metadata"), (self.metadata, 1), spacing=8)
        grid = QGridLayout(self)
        grid.setContentsMargins(12, 10, 12, 6)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(6)
        for row, (name, line) in enumerate(
            (("Task", in_row(None, self.task)), ("Family", short), ("Note", long))
        ):
            grid.addWidget(dim_label(name), row, 0)
            grid.addLayout(line, row, 1)
        order = (self.task, self.family, self.tags, self.environment, self.id, self.note, self.metadata)
        for one, other in pairwise(order):
            QWidget.setTabOrder(one, other)
        edits.changed.connect(self.refresh)

    def show_view(self, view: EditorView) -> None:
        """Offer values of other exemplars; the id of a stored exemplar is fixed."""
        self.family.offer(view.families)
        self.tags.offer(view.tags)
        self.environment.offer(view.environments)
        stored = view.opened is not None and bool(view.opened.id)
        self.id.setReadOnly(stored)
        self.id.setToolTip(
            "The id cannot change. A copy (Ctrl+Shift+S) has another one"
            if stored
            else "The name of the exemplar"
        )

    def refresh(self) -> None:
        """Show the current draft."""
        draft = self._edits.now
        for name in ("task", "metadata", "note", "family", "environment", "id"):
            getattr(self, name).show_text(getattr(draft, name))
        if _tags(self.tags.text()) != draft.tags:
            self.tags.show_text(", ".join(draft.tags))

    def show_faults(self, faults: tuple[Fault, ...]) -> None:
        """Mark the fields with errors; their tooltips have the messages."""
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
        field.setFixedHeight(_LINES * field.fontMetrics().lineSpacing() + 18)
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


class LookForm(QWidget):
    """Shows the look of `edits` that `show_look` selects, and changes it."""

    def __init__(self, theme: Theme, edits: Edits, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._edits = edits
        self._at = -1
        self._faults: tuple[Fault, ...] = ()
        self.title = QLabel(self)
        self.title.setFont(theme.heading_font())
        self.pages = QTabBar(self, expanding=False, drawBase=False)
        self.pages.addTab("Observation")
        self.pages.addTab("Whole page")
        self.pages.setTabToolTip(0, "What the LLM saw: in the prompt")
        self.pages.setTabToolTip(1, "The page before abstraction: for you, not in prompts")
        self.pages.setAccessibleName("Which text of the page")
        self.observation = self._field(
            theme, "observation", "Observation", 'The page as the LLM saw it, such as: [3] button "Save"'
        )
        self.raw = self._field(theme, "raw", "Whole page", "The page before abstraction. Optional")
        self.thought = self._field(theme, "thought", "Thought", "Why, in a sentence", machine=False)
        self.actions_field = self._field(
            theme, "actions", "Actions", "One action per line, such as: click [3]"
        )
        self.actions_field.line_changed.connect(lambda _line: self._mark())
        self.stack = QStackedWidget(self)
        self.stack.addWidget(self.observation)
        self.stack.addWidget(self.raw)
        self.pages.currentChanged.connect(self.stack.setCurrentIndex)
        self.meant = NoteLabel("dim", parent=self)
        self.problem = NoteLabel("bad", parent=self)
        head = in_row(None, self.title, 1, self.pages)
        upper = in_column(None, head, (self.stack, 1), margins=(0, 0, 0, 4), spacing=4)
        lower = in_column(
            None,
            dim_label("Thought"),
            (self.thought, 2),
            dim_label("Actions, one per line"),
            (self.actions_field, 3),
            margins=(0, 4, 0, 0),
            spacing=4,
        )
        split = splitter(
            Qt.Orientation.Vertical, holding(upper), holding(lower), sizes=(300, 220), stretch=(3, 2)
        )
        inside = in_column(None, (split, 1), self.meant, self.problem, spacing=4)
        self.or_words = OrWords(holding(inside), self)
        in_column(self, self.or_words, margins=(8, 6, 8, 8))
        edits.changed.connect(self.refresh)

    @property
    def action(self) -> int:
        """The index of the action with the cursor, from 0; empty lines do not count."""
        return sum(at < self.actions_field.line for at in _places(self.actions_field.toPlainText()))

    def show_look(self, at: int) -> None:
        """Show another look."""
        if at != self._at:
            self._at = at
            self._edits.seal()
            self.actions_field.go_to_line(0)
            self.refresh()

    def refresh(self) -> None:
        """Show the look from the current draft."""
        step = self._step
        if step is None:
            self.or_words.say("No look is selected. Insert one on the left (Insert).")
            return
        self.or_words.say("")
        self.title.setText(f"Look {self._at + 1} of {len(self._edits.now.steps)}")
        self.pages.setTabText(1, "Whole page" if step.raw else "Whole page (none)")
        self.observation.show_text(step.observation)
        self.raw.show_text(step.raw)
        self.thought.show_text(step.thought)
        if _actions(self.actions_field.toPlainText()) != step.actions:
            self.actions_field.show_text("\n".join(one.replace("\n", _LINE_END) for one in step.actions))
        self._mark()

    def show_faults(self, faults: tuple[Fault, ...]) -> None:
        self._faults = faults
        self._mark()

    def go_to(self, part: str, nth: int) -> None:
        """Move the cursor to a fault."""
        if part in ("action", "actions"):
            self.actions_field.go_to_line(nth)
            self.actions_field.setFocus()
        elif part == "thought":
            self.thought.setFocus()
        else:
            self.pages.setCurrentIndex(1 if part == "whole page" else 0)
            (self.raw if part == "whole page" else self.observation).setFocus()

    @property
    def _step(self) -> DraftStep | None:
        steps = self._edits.now.steps
        return steps[self._at] if 0 <= self._at < len(steps) else None

    def _field(
        self, theme: Theme, name: str, label: str, words: str, *, machine: bool = True
    ) -> EditorTextField:
        field = EditorTextField(theme, label, machine=machine, parent=self)
        field.setPlaceholderText(words)
        field.edited.connect(lambda text: self._on_edited(name, label, text))
        field.left.connect(self._edits.seal)
        return field

    def _on_edited(self, name: str, label: str, text: str) -> None:
        if self._step is None:
            return
        value: Any = _actions(text) if name == "actions" else text
        steps = self._edits.now.steps
        step = steps[self._at].replace(**{name: value})
        draft = self._edits.now.replace(steps=replaced(steps, self._at, step))
        words = f"edit the {label.lower()} of look {self._at + 1}"
        self._edits.do(words, draft, key=f"{self._at} {name}")
        self._mark()

    def _mark(self) -> None:
        """Mark the elements of the actions in the page, and the actions with errors."""
        step = self._step
        if step is None:
            return
        current, marks, meant = self.action, list[LineMark](), ""
        shown = step.observation.split("\n")
        for at, text in enumerate(step.actions):
            lines = _lines_of(text, step.observation)
            marks += [LineMark(line, "current" if at == current else "meant") for line in lines]
            if at == current:
                meant = " and ".join(shown[line].strip() for line in lines)
        # The one of the cursor is drawn last, above the others.
        self.observation.mark(sorted(marks, key=lambda one: one.kind == "current"))
        self.meant.show_text(f"Action {current + 1} is on {meant}" if meant else "")
        here = faults_at(self._faults, "look", self._at)
        places = _places(self.actions_field.toPlainText())
        self.actions_field.mark(
            LineMark(places[place.nth], "wrong")
            for place, one in here
            if place.part == "action" and place.nth < len(places) and one.level != "note"
        )
        texts = [
            f"Action {place.nth + 1}: {one.text}" if place.part == "action" else one.text
            for place, one in here
        ]
        self.problem.show_text("\n".join(texts))


def _actions(text: str) -> tuple[str, ...]:
    return tuple(line.strip().replace(_LINE_END, "\n") for line in text.split("\n") if line.strip())


def _places(text: str) -> list[int]:
    """Return the lines that contain an action."""
    return [at for at, line in enumerate(text.split("\n")) if line.strip()]


def _lines_of(text: str, observation: str) -> list[int]:
    """Return the lines of an observation that show the elements of an action."""
    try:
        action = parse_action(text)
    except ActionSyntaxError:
        return []
    return [at for target in action.targets for at, shown in _shown(observation) if _is_it(shown, target)]


def _is_it(shown: Shown, target: object) -> bool:
    if isinstance(target, RefTarget):
        return shown.ref == target.ref
    if isinstance(target, RoleTarget):
        return shown.role == target.role and (not target.name or shown.name == target.name)
    return False


@lru_cache(maxsize=4)
def _shown(observation: str) -> tuple[tuple[int, Shown], ...]:
    """Return the elements of an observation, each with its line."""
    return tuple(
        (at, shown) for at, line in enumerate(observation.split("\n")) for shown in elements(line)[:1]
    )
