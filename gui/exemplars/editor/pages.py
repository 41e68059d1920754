"""What is found in the text: the exemplar in a prompt, and its problems."""

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QWidget

from core.debugger.exemplars.editor.views import Checked, EditorView
from core.memory.editing.reading import TextProblem
from gui.theme.theme import Theme
from gui.widgets.choices import titled_box
from gui.widgets.formats import count
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
        before = _BEFORE if checked.draft is None else ""
        self.note.show_text(before or (checked.prompt_note if checked.messages else ""))
        self.or_words.say("" if checked.messages else checked.prompt_note or "There is no prompt yet.")
        self.fact.setText(count(checked.prompt_tokens, "token") if checked.messages else "")
        pieces: list[Piece] = []
        for number, one in enumerate(checked.messages, start=1):
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
