"""What the program for implicit abstraction leaves of a recorded page."""

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QWidget

from core.debugger.exemplars.editor.views import EditorView, PageChoice
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.choices import choice_box
from gui.widgets.formats import count, seconds, thousands
from gui.widgets.layouts import in_column, in_row
from gui.widgets.text_view import TextView
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords

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
                self.page.addItems([one.title for one in view.pages] or [_NO_PAGE])
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
        self.note.show_text("\n".join(one for one in notes if one))

    def _on_test(self) -> None:
        at = self.page.currentIndex()
        if self.test_button.isEnabled() and 0 <= at < len(self._pages):
            self.test_requested.emit(self._pages[at])
