"""What is found in the text: the exemplar in a prompt, the result of its program on a page, and its problems."""

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QWidget

from core.debugger.exemplars.editor.views import Checked, EditorView, PageChoice
from core.exemplars.editing.reading import TextProblem
from core.schema.formats import count, seconds, thousands
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.choices import choice_box, titled_box
from gui.widgets.layouts import in_column, in_row, scrolled
from gui.widgets.rows import Row, Rows
from gui.widgets.search import Finder
from gui.widgets.text_view import Piece, TextView
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords, dim_label

_WAITING = "Building the prompt…"
_BEFORE = "The text cannot be read. This is the prompt of the last text that could."
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
        names = [preset.name for preset in view.presets]
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
        before = _BEFORE if checked.draft is None else ""
        prompt = checked.prompt
        self.note.show_text(before or (prompt.note if prompt.messages else ""))
        self.or_words.say("" if prompt.messages else prompt.note or "There is no prompt yet.")
        self.fact.setText(count(prompt.tokens, "token") if prompt.messages else "")
        pieces: list[Piece] = []
        for number, one in enumerate(prompt.messages, start=1):
            pieces += [Piece(f"{number}. {one.role}", heading=number), Piece(one.text)]
        at = self.text.verticalScrollBar().value()
        self.text.show_pieces(pieces)
        self.text.verticalScrollBar().setValue(at)
        self.finder.refresh()


class ProblemList(QWidget):
    """Shows problems; a click or Enter requests to go to one. Hidden if there are none."""

    place_wanted = Signal(int, int)
    """Line and column, both from 1."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = Rows(theme, "Problems")
        self.rows.pressed_on.connect(lambda key: self.place_wanted.emit(*key[1:]))
        self.title = dim_label("")
        head = in_row(None, self.title, margins=(10, 6, 10, 2))
        in_column(self, head, (scrolled("Problems", self.rows), 1), spacing=0)
        self.hide()

    def show_problems(self, problems: tuple[TextProblem, ...]) -> None:
        self.setVisible(bool(problems))
        self.title.setText(f"{count(len(problems), 'problem')}. F8 goes to the next")
        self.rows.show_rows(_row(number, one) for number, one in enumerate(problems))


def _row(number: int, problem: TextProblem) -> Row:
    icon, tone, word = _LEVELS[problem.level]
    return Row(
        problem.text,
        icon=icon,
        tone=tone,
        detail=f"Line {problem.line}, column {problem.column}: {word}",
        link=True,
        key=(number, problem.line, problem.column),
    )


_NO_PAGE = "no page"
_HOW = (
    "The key parser has the program. Its function parse(html) gets the page's HTML, in which elements have their "
    "refs as data-ref, and returns the clean observation. Test run (Ctrl+Enter) runs it, confined, on this page."
)
_NO_PAGES = (
    "There is no page to run it on, because the exemplar's run is not available. Add a pair (Ctrl+Alt+A)."
)


class ParserPage(QWidget):
    """Shows the trial of an `EditorView`; requests a test run with a signal."""

    test_requested = Signal(object)
    """A `PageChoice`."""
    cancel_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pages: tuple[PageChoice, ...] = ()
        self.page = choice_box("Page of the test run", "The page to run the program on", parent=self)
        self.test_button = key_button(
            "Test run", "Run the program, confined, on this page", "Ctrl+Return", self._on_test, self
        )
        self.cancel_button = key_button(
            "Cancel", "Kill the program", "Alt+C", self.cancel_requested.emit, self
        )
        self.fact = ElidedLabel("", self, tone="dim")
        self.note = NoteLabel("dim", parent=self, margins=(10, 0, 10, 4))
        self.error = NoteLabel("bad", parent=self, margins=(10, 0, 10, 4))
        self.output = TextView(theme, "The result of the program", self)
        self.or_words = OrWords(self.output, self)
        head = in_row(
            None, (self.page, 1), self.test_button, self.cancel_button, margins=(10, 6, 8, 4), spacing=6
        )
        fact = in_row(None, self.fact, margins=(10, 0, 10, 0))
        in_column(self, head, fact, self.error, self.note, (self.or_words, 1), spacing=2)
        self.show_view(EditorView())

    def show_view(self, view: EditorView) -> None:
        if view.pages != self._pages or not self.page.count():
            self._pages = view.pages
            before = self.page.currentText()
            with QSignalBlocker(self.page):
                self.page.clear()
                self.page.addItems([page.title for page in view.pages] or [_NO_PAGE])
                self.page.setCurrentIndex(max(0, self.page.findText(before)))
        self._show_trial(view)
        running = view.trial is not None and view.trial.running
        draft = view.checked.draft
        has_code = draft is not None and bool(draft.parser.strip())
        self.test_button.setEnabled(not running and bool(self._pages) and has_code)
        self.cancel_button.setEnabled(running)

    def _show_trial(self, view: EditorView) -> None:
        trial = view.trial
        notes = [view.pages_note]
        self.error.show_text(trial.error if trial is not None else "")
        if trial is None:
            self.fact.setText("")
            self.or_words.say(_HOW if self._pages else f"{_HOW}\n\n{_NO_PAGES}")
        elif trial.running:
            self.fact.setText(f"{trial.page}: running the program…")
            self.or_words.say(" ")
        else:
            took = seconds(trial.seconds) if trial.seconds else "not started"
            left = f"{thousands(trial.tokens)} of the page's {count(trial.page_tokens, 'token')}"
            parts = [took, left if trial.text else "", trial.page]
            self.fact.setText(" · ".join(part for part in parts if part))
            self.or_words.say("" if trial.text else " ")
            self.output.show_text(trial.text)
            notes.append(trial.note)
        self.note.show_text("\n".join(note for note in notes if note))

    def _on_test(self) -> None:
        at = self.page.currentIndex()
        if self.test_button.isEnabled() and 0 <= at < len(self._pages):
            self.test_requested.emit(self._pages[at])
