"""One look: what the page was, whole and as the LLM saw it, what was thought, and what was done."""

from functools import lru_cache
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QStackedWidget, QTabBar, QWidget

from core.memory.editing.changes import Shown, elements
from core.memory.editing.draft import replaced
from core.memory.editing.faults import Fault, place_of
from core.schema.action import RefTarget, RoleTarget, parse_action
from core.schema.errors import ActionSyntaxError
from core.schema.exemplar import DraftStep
from gui.exemplars.editor.edits import Edits
from gui.exemplars.editor.fields import EditorTextField, LineMark
from gui.theme.theme import Theme
from gui.widgets.layouts import in_column, in_row, splitter
from gui.widgets.words import NoteLabel, OrWords, set_tone

_LINE_END = "\u2424"
"""Stands for the end of a line inside an action, as each line of the field is an action."""


class LookForm(QWidget):
    """Shows the look of `edits` at `show_look` and changes it."""

    def __init__(self, theme: Theme, edits: Edits, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._edits = edits
        self._at = -1
        self._faults: tuple[Fault, ...] = ()
        self.title = QLabel(self)
        self.title.setFont(theme.heading_font())
        self.pages = QTabBar(self)
        self.pages.addTab("Observation")
        self.pages.addTab("Whole page")
        self.pages.setTabToolTip(0, "What the LLM saw: in the prompt")
        self.pages.setTabToolTip(1, "The page before abstraction: for you, in no prompt")
        self.pages.setExpanding(False)
        self.pages.setDrawBase(False)
        self.pages.setAccessibleName("Which text of the page")
        self.observation = self._field(theme, "observation", "Observation")
        self.observation.setPlaceholderText('The page as the LLM saw it, such as: [3] button "Save"')
        self.raw = self._field(theme, "raw", "Whole page")
        self.raw.setPlaceholderText("The page before abstraction; it need not be kept")
        self.thought = self._field(theme, "thought", "Thought", machine=False)
        self.thought.setPlaceholderText("Why, in a sentence")
        self.deeds = self._field(theme, "actions", "Actions")
        self.deeds.setPlaceholderText("One action a line, such as: click [3]")
        self.stack = QStackedWidget(self)
        self.stack.addWidget(self.observation)
        self.stack.addWidget(self.raw)
        self.pages.currentChanged.connect(self.stack.setCurrentIndex)
        self.meant = NoteLabel("dim", parent=self)
        self.problem = NoteLabel("bad", parent=self)
        self.deeds.line_changed.connect(lambda _line: self._mark())
        head = in_row(None, self.title, 1, self.pages)
        upper = QWidget(self)
        in_column(upper, head, (self.stack, 1), margins=(0, 0, 0, 4), spacing=4)
        lower = QWidget(self)
        in_column(
            lower,
            _label("Thought"),
            (self.thought, 2),
            _label("Actions, one a line"),
            (self.deeds, 3),
            margins=(0, 4, 0, 0),
            spacing=4,
        )
        split = splitter(Qt.Orientation.Vertical, upper, lower, sizes=(300, 220), stretch=(3, 2))
        inside = QWidget(self)
        in_column(inside, (split, 1), self.meant, self.problem, spacing=4)
        self.or_words = OrWords(inside, self)
        in_column(self, self.or_words, margins=(8, 6, 8, 8))
        edits.changed.connect(self.refresh)

    @property
    def action(self) -> int:
        """The action with the cursor, from 0; lines that are empty do not count."""
        lines = self.deeds.toPlainText().split("\n")[: self.deeds.line]
        return sum(1 for line in lines if line.strip())

    def show_look(self, at: int) -> None:
        """Show another look."""
        if at != self._at:
            self._at = at
            self._edits.seal()
            self.deeds.go_to_line(0)
            self.refresh()

    def refresh(self) -> None:
        """Show the look as the draft has it now."""
        step = self._step
        if step is None:
            self.or_words.say("No look is in view. Insert one at the left (Insert).")
            return
        self.or_words.say("")
        self.title.setText(f"Look {self._at + 1} of {len(self._edits.now.steps)}")
        self.pages.setTabText(1, "Whole page" if step.raw else "Whole page (none)")
        self.observation.show_text(step.observation)
        self.raw.show_text(step.raw)
        self.thought.show_text(step.thought)
        if _actions(self.deeds.toPlainText()) != step.actions:
            self.deeds.show_text("\n".join(one.replace("\n", _LINE_END) for one in step.actions))
        self._mark()

    def show_faults(self, faults: tuple[Fault, ...]) -> None:
        self._faults = faults
        self._mark()

    def go_to(self, part: str, nth: int) -> None:
        """Put the cursor where a fault is."""
        if part in ("action", "actions"):
            self.deeds.go_to_line(nth)
            self.deeds.setFocus()
        elif part == "thought":
            self.thought.setFocus()
        else:
            self.pages.setCurrentIndex(1 if part == "whole page" else 0)
            (self.raw if part == "whole page" else self.observation).setFocus()

    @property
    def _step(self) -> DraftStep | None:
        steps = self._edits.now.steps
        return steps[self._at] if 0 <= self._at < len(steps) else None

    def _field(self, theme: Theme, name: str, label: str, *, machine: bool = True) -> EditorTextField:
        field = EditorTextField(theme, label, machine=machine, parent=self)
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
        """LineMark the elements of the actions in the page, and the actions at fault."""
        step = self._step
        if step is None:
            return
        current, marks = self.action, list[LineMark]()
        meant = ""
        for at, text in enumerate(step.actions):
            lines = _lines_of(text, step.observation)
            marks += [LineMark(line, "current" if at == current else "meant") for line in lines]
            if at == current:
                shown = step.observation.split("\n")
                meant = " and ".join(shown[line].strip() for line in lines)
        # The one of the cursor is drawn last, above the others.
        self.observation.mark(sorted(marks, key=lambda one: one.kind == "current"))
        self.meant.show_text(f"Action {current + 1} is on {meant}" if meant else "")
        here = [
            (place_of(one.where), one)
            for one in self._faults
            if place_of(one.where).kind == "look" and place_of(one.where).number == self._at
        ]
        places = _places(self.deeds.toPlainText())
        self.deeds.mark(
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
    """Return the lines that hold an action."""
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


def _label(text: str) -> QLabel:
    label = QLabel(text)
    set_tone(label, "dim")
    return label
