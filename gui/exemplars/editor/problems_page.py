"""What is wrong with the draft, each to be gone to."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from core.memory.editing.faults import Fault
from gui.theme.theme import Theme
from gui.widgets.layouts import in_column
from gui.widgets.rows import Row, Rows
from gui.widgets.section import scrolled
from gui.widgets.words import OrWords

_NONE = (
    "Nothing is wrong, as far as can be told without running anything. Try the program in the Parser tab, and "
    "replay the exemplar on its task from the library."
)
_LEVELS = {
    "stops": ("error", "bad", "must be mended to save"),
    "fault": ("warning", "remedy", "should be mended"),
    "note": ("info", "dim", "may be meant so"),
}


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
