"""What was found in the draft: how a prompt of the chosen preset shows it, and what is wrong, each to be gone to."""

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QWidget

from core.debugger.exemplars.editor.views import Checked, EditorView
from core.memory.editing.faults import Fault
from gui.theme.theme import Theme
from gui.widgets.formats import count
from gui.widgets.layouts import in_column, in_row, scrolled
from gui.widgets.rows import Row, Rows
from gui.widgets.search import Finder
from gui.widgets.text_view import Piece, TextView
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords, set_tone

_WAITING = "The prompt is being made…"
_NONE = (
    "Nothing is wrong, as far as can be told without running anything. Try the program in the Parser tab, and "
    "replay the exemplar on its task from the library."
)
_LEVELS = {
    "stops": ("error", "bad", "must be mended to save"),
    "fault": ("warning", "remedy", "should be mended"),
    "note": ("info", "dim", "may be meant so"),
}


class PreviewPage(QWidget):
    """Shows the messages of `Checked`."""

    preset_chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.preset = QComboBox(self)
        self.preset.setAccessibleName("Preset of the preview")
        self.preset.setToolTip("By which preset's templates the exemplar is told")
        self.preset.activated.connect(lambda _at: self.preset_chosen.emit(self.chosen))
        self.fact = ElidedLabel("", self)
        set_tone(self.fact, "dim")
        self.text = TextView(theme, "The exemplar in the prompt", self)
        self.finder = Finder(theme, "Search the prompt", (self.text,), self)
        self.note = NoteLabel("dim", parent=self)
        self.note.setContentsMargins(10, 2, 10, 4)
        self.or_words = OrWords(self.text, self)
        head = in_row(None, self.preset, (self.fact, 1), (self.finder, 1), margins=(10, 6, 8, 4), spacing=8)
        in_column(self, head, self.note, (self.or_words, 1), spacing=0)
        self.or_words.say(_WAITING)

    @property
    def chosen(self) -> str:
        """The preset's name; empty for the one by default."""
        return self.preset.currentData() or ""

    def choose(self, name: str) -> None:
        """Choose a preset, offered or not yet, without telling."""
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
        self.or_words.say("" if checked.messages else checked.prompt_note or "There is nothing to tell yet.")
        self.fact.setText(count(checked.prompt_tokens, "token") if checked.messages else "")
        pieces: list[Piece] = []
        for number, one in enumerate(checked.messages, start=1):
            pieces += [Piece(f"{number}. {one.role}", heading=number), Piece(one.text)]
        at = self.text.verticalScrollBar().value()
        self.text.show_pieces(pieces)
        self.text.verticalScrollBar().setValue(at)
        self.finder.refresh()


class ProblemsPage(QWidget):
    """Shows faults; a click or Enter on one asks to go there."""

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
        rows: list[Row] = []
        for at, one in enumerate(faults):
            icon, tone, word = _LEVELS[one.level]
            rows.append(
                Row(
                    one.text,
                    icon=icon,
                    tone=tone,
                    detail=f"{one.where or 'the exemplar'}: {word}",
                    link=True,
                    key=(at, one.where),
                )
            )
        self.rows.show_rows(rows)
