"""Observation: the page as it was read, what the prompt shows of it and how that was created, and its HTML."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QButtonGroup, QLabel, QPushButton, QSplitter, QWidget

from core.debugger.steps.views import ObservationView, PageChanges, StepView
from core.schema.formats import count, thousands
from core.schema.observation import Ref
from gui.theme.theme import Theme
from gui.widgets.buttons import icon_button
from gui.widgets.editable import EditablePanel, show_right
from gui.widgets.layouts import in_column, in_row
from gui.widgets.lined_text import LineSign
from gui.widgets.ref_links import ref_of_line
from gui.widgets.search import Finder
from gui.widgets.text_view import TextView
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords, set_tone, small_label

_NONE = "The page has not been read yet. F10 starts the first step, which reads the page."

_EDIT = "Edit the clean observation, and ask for the action with it (Ctrl+P, O)"
_AGAIN = "Make the clean observation again (Ctrl+P, 3)"
_PROGRAM = "Edit the program that makes the clean observation (Ctrl+P, G)"

_FACT_HEIGHT = 24
"""The height of an icon button: texts side by side begin at the same height, with buttons and without."""


class ObservationPanel(EditablePanel):
    """Shows `ObservationView`: raw and clean side by side where they differ, the HTML, or the parser."""

    fact_changed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.raw = TextView(theme, "Raw observation", signs=True)
        self.clean = TextView(theme, "Clean observation", signs=True)
        self.html = TextView(theme, "HTML")
        self.code = TextView(theme, "Parser code")
        self.raw_fact, self.clean_fact = _fact(theme), _fact(theme)
        self.html_fact, self.code_fact = _fact(theme), _fact(theme)
        self._split = QSplitter(Qt.Orientation.Horizontal, handleWidth=1, childrenCollapsible=False)
        self._raw_side = _under(self.raw_fact, self.raw)
        self._split.addWidget(self._raw_side)
        want = self.text_wanted.emit
        self.edit_button = icon_button(theme, "edit", _EDIT, lambda: want("observation"))
        self.again_button = icon_button(theme, "refresh", _AGAIN, self.ask_again)
        self.program_button = icon_button(theme, "edit", _PROGRAM, lambda: want("parser"))
        buttons = (self.again_button, self.edit_button)
        self._split.addWidget(_under(self.clean_fact, self.clean, *buttons))
        self._page = _under(self.html_fact, self.html)
        self._parser = _under(self.code_fact, self.code, self.program_button)
        self.raw_fact.setToolTip(
            "+ new, ~ changed, − gone since the step before. Reused: read once, at the end of the last action"
        )
        beside, written = (
            "what was read beside what the prompt shows",
            "the parser that the LLM wrote for this page",
        )
        self._lines: dict[TextView, dict[Ref, int]] = {self.raw: {}, self.clean: {}}
        """The line of each element, by its ref."""
        self._choice = QButtonGroup(self)
        self.sides = self._chip("Raw and clean", beside, "Alt+Q")
        self.source = self._chip("HTML", "the page's HTML", "Alt+W")
        self.parser = self._chip("Parser", written, "Alt+Y")
        self.sides.setChecked(True)
        self._choice.buttonToggled.connect(self._on_choice)
        self.finder = Finder(theme, "Search (Ctrl+F)", (self.raw, self.clean), self)
        self.where = small_label(theme, self)
        head = in_row(
            None,
            self.sides,
            self.source,
            self.parser,
            (self.where, 1),
            self.finder,
            margins=(10, 4, 8, 4),
            spacing=6,
        )
        body = QWidget(self)
        self.made, self.problem = NoteLabel(), NoteLabel("remedy")
        for note in (self.made, self.problem):
            note.setContentsMargins(12, 0, 12, 2)
        self._stack = in_column(
            body,
            head,
            self.made,
            self.problem,
            (self._split, 1),
            (self._page, 1),
            (self._parser, 1),
            spacing=0,
        )
        self._page.hide()
        self._parser.hide()
        self.or_words = OrWords(body, self, _NONE)
        in_column(self, self.or_words)

    @Slot(object)
    def show_step(self, step: StepView) -> None:
        self.show_observation(step.observation)
        self.show_liveness(step)

    def show_rights(self) -> None:
        show_right(self.edit_button, _EDIT, self.why_not("observation"))
        show_right(self.again_button, _AGAIN, self.why_not("AskQuestionAgain abstraction"))
        show_right(self.program_button, _PROGRAM, self.why_not("parser"))

    @Slot()
    def ask_again(self) -> None:
        """Create the clean observation again."""
        self.ask_edit("AskQuestionAgain", what="abstraction")

    def show_observation(self, view: ObservationView) -> None:
        """Replace what is shown with `view`."""
        there = bool(view.raw or view.clean or view.html or view.url)
        self.or_words.say("" if there else view.message or _NONE)
        self.raw.show_text(view.raw)
        self.clean.show_text(view.clean)
        for text, lines in self._lines.items():
            lines.clear()
            for number, line in enumerate(text.shown_lines):
                if (ref := ref_of_line(line)) is not None:
                    lines[ref] = number
            text.show_signs(_signs(view.changes, lines))
        self.html.show_text(view.html)
        self.code.show_text(view.code)
        self.parser.setVisible(bool(view.code))
        if not view.code and self.parser.isChecked():
            self.sides.setChecked(True)
        self.made.show_text(_made(view))
        self.problem.show_text(f"⚠ {view.problem}" if view.problem else "")
        reused = " · reused" if view.reused else ""
        self.raw_fact.setText(
            f"raw · {count(view.raw_elements, 'element')}{_changed(view.changes)}"
            f" · {count(view.raw_tokens, 'token')}{reused}"
        )
        same = bool(view.raw) and view.raw == view.clean
        self._raw_side.setHidden(same)
        both = self.raw_fact.text().replace("raw", "raw and clean, the same", 1)
        self.clean_fact.setText(both if same else _clean_fact(view))
        self.html_fact.setText(f"HTML · {count(len(view.html), 'character')}")
        written = len(view.code.splitlines())
        self.code_fact.setText(f"parser, written by the LLM · {count(written, 'line')}")
        self.where.setText(" · ".join(filter(None, (view.title, view.url))))
        self.finder.refresh()
        self.fact_changed.emit(
            f"{thousands(view.raw_tokens)} → {thousands(view.clean_tokens)} tokens" if there else ""
        )

    def show_place(self, found: str, nth: int, *, clean: bool) -> None:
        """Go to words in the raw or the clean observation and highlight them."""
        self.sides.setChecked(True)
        needle = found.strip().partition("\n")[0][:200]
        self.finder.show_needle(needle)
        (self.clean if clean else self.raw).seek(needle, nth=nth)

    def show_element(self, ref: Ref | None, *, reveal: bool) -> None:
        """Highlight the lines of an element, and scroll to them if requested; None highlights none."""
        for text, lines in self._lines.items():
            text.light([lines[ref]] if ref in lines else (), reveal=reveal)

    def focus_search(self) -> None:
        self.finder.focus_search()

    def _on_choice(self) -> None:
        self._split.setVisible(self.sides.isChecked())
        self._page.setVisible(self.source.isChecked())
        self._parser.setVisible(self.parser.isChecked())
        if self.source.isChecked():
            self.finder.search_in((self.html,))
        else:
            self.finder.search_in((self.code,) if self.parser.isChecked() else (self.raw, self.clean))

    def _chip(self, text: str, what: str, key: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setShortcut(key)
        button.setToolTip(f"Show {what} ({key})")
        button.setProperty("chip", True)
        button.setCheckable(True)
        self._choice.addButton(button)
        return button


def _made(view: ObservationView) -> str:
    """Return how the clean observation was created, and that its elements are marked in the page."""
    how = f"Made by {view.abstraction}" if view.abstraction[:1].islower() else view.abstraction
    dotted = "What was kept is dotted in the page." if view.kept else ""
    return " ".join(filter(None, (f"{how.rstrip('.')}." if how else "", dotted)))


def _signs(changes: PageChanges, lines: dict[Ref, int]) -> dict[int, LineSign]:
    """Return the signs of elements that are new or different since the previous step."""
    new = LineSign("good", "+", "New since the step before")
    signs = {lines[ref]: new for ref in changes.new if ref in lines}
    for ref, was in changes.changed.items():
        if ref in lines:
            signs[lines[ref]] = LineSign("remedy", "~", f"Changed since the step before. It was:\n{was}")
    return signs


def _changed(changes: PageChanges) -> str:
    """Return a short summary of the changes since the previous step."""
    if not changes.compared:
        return ""
    parts = (("+", len(changes.new)), ("~", len(changes.changed)), ("−", changes.gone))
    words = " ".join(f"{sign}{thousands(number)}" for sign, number in parts if number)
    return f" · {words or 'unchanged'}"


def _clean_fact(view: ObservationView) -> str:
    if not view.clean:
        return "clean · not made yet"
    smaller = ""
    if view.clean_tokens and view.raw_tokens >= 2 * view.clean_tokens:
        smaller = f" ({view.raw_tokens / view.clean_tokens:.0f}× smaller)"
    return f"clean · {thousands(view.clean_elements)} kept · {count(view.clean_tokens, 'token')}{smaller}"


def _fact(theme: Theme) -> ElidedLabel:
    label = ElidedLabel()
    label.setFont(theme.machine_font())
    label.setContentsMargins(12, 4, 8, 0)
    set_tone(label, "dim")
    return label


def _under(fact: QLabel, view: TextView, *buttons: QWidget) -> QWidget:
    both = QWidget()
    head = in_row(None, (fact, 1), *buttons, margins=(0, 0, 8, 0), spacing=6)
    head.addStrut(_FACT_HEIGHT)
    in_column(both, head, (view, 1), spacing=0)
    return both
