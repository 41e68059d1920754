"""The program for implicit abstraction, and its result for a recorded page."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QPlainTextEdit,
    QWidget,
)

from core.debugger.exemplars.editor.views import EditorView, PageChoice, ParserTrial
from gui.exemplars.editor.fields import EditorTextField, Edits
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.choices import choice_box
from gui.widgets.formats import count, seconds, thousands
from gui.widgets.layouts import holding, in_column, in_row, splitter
from gui.widgets.text_view import TextView
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords

_NO_PAGE = "no page"
_HOW = (
    "parse(html) gets the page's HTML, in which elements have their refs as data-ref, and returns the clean "
    "observation. Test run (Ctrl+Enter) runs it here, confined, on the page chosen above."
)
_NO_PAGES = (
    "There is no page to run it on, because the exemplar's run is not available. Add a pair in the Pairs tab."
)


class ParserPage(QWidget):
    """Shows the program of `edits` and changes it; requests a test run with a signal."""

    test_requested = Signal(object)
    """A `PageChoice`."""
    cancel_requested = Signal()

    def __init__(self, theme: Theme, edits: Edits, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._edits = edits
        self._pages: tuple[PageChoice, ...] = ()
        self._trial: ParserTrial | None = None
        self.code = EditorTextField(theme, "Program", parent=self)
        self.code.setPlaceholderText('def parse(html):\n    return "…"')
        self.code.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.code.edited.connect(self._on_edited)
        self.code.left.connect(edits.seal)
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
        code = in_column(None, self.code, margins=(8, 0, 8, 6))
        fact = in_row(None, self.fact, margins=(10, 0, 10, 0))
        result = in_column(
            None, fact, self.error, self.note, (self.or_words, 1), margins=(0, 4, 0, 0), spacing=2
        )
        split = splitter(Qt.Orientation.Vertical, holding(code), holding(result), sizes=(260, 200))
        in_column(self, head, (split, 1), spacing=0)
        edits.changed.connect(self.refresh)
        self.show_view(EditorView())

    def refresh(self) -> None:
        self.code.show_text(self._edits.now.parser)
        self._enable()

    def show_view(self, view: EditorView) -> None:
        if view.pages != self._pages or not self.page.count():
            self._pages = view.pages
            before = self.page.currentText()
            with QSignalBlocker(self.page):
                self.page.clear()
                self.page.addItems([one.title for one in view.pages] or [_NO_PAGE])
                self.page.setCurrentIndex(max(0, self.page.findText(before)))
        self._trial = view.trial
        self._show_trial(view)
        self._enable()

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

    def _enable(self) -> None:
        running = self._trial is not None and self._trial.running
        has_code = bool(self._edits.now.parser.strip())
        self.test_button.setEnabled(not running and bool(self._pages) and has_code)
        self.cancel_button.setEnabled(running)

    def _on_edited(self, text: str) -> None:
        draft = self._edits.now.replace(parser=text)
        self._edits.do("edit the program", draft, key="parser")

    def _on_test(self) -> None:
        at = self.page.currentIndex()
        if self.test_button.isEnabled() and 0 <= at < len(self._pages):
            self.test_requested.emit(self._pages[at])
