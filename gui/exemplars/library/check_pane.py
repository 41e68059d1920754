"""What a check of several exemplars has found, beneath the table."""

from PySide6.QtCore import QSize, Signal, Slot
from PySide6.QtWidgets import QToolButton, QWidget

from core.debugger.exemplars.library.views import CheckView
from gui.theme.theme import Theme
from gui.widgets.formats import count
from gui.widgets.layouts import in_column, in_row
from gui.widgets.plain_table import Column, PlainTable, TableLine
from gui.widgets.words import ElidedLabel, OrWords

_SOUND = "Nothing is wrong with them: their actions can be read, and what they name is in their observations."
_COLUMNS = (Column("Exemplar"), Column("Level"), Column("Where"), Column("What"))


class CheckPane(QWidget):
    """A line for each problem; a click or Enter on one shows its exemplar."""

    exemplar_chosen = Signal(object)
    """The id of an exemplar."""
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = ElidedLabel("", self)
        self.title.setFont(theme.text_font(bold=True))
        close = QToolButton(self)
        close.setIcon(theme.icon("close"))
        close.setIconSize(QSize(12, 12))
        close.setToolTip("Close what was found (Esc)")
        close.setAccessibleName("Close what was found")
        close.clicked.connect(self.closed)
        theme.changed.connect(close.update)
        self.table = PlainTable(theme, "Problems", _COLUMNS, self)
        self.table.opened.connect(lambda key: self.exemplar_chosen.emit(str(key)))
        self.or_words = OrWords(self.table, self)
        head = in_row(None, (self.title, 1), close, margins=(12, 5, 10, 3))
        in_column(self, head, (self.or_words, 1), spacing=0)

    @Slot(object)
    def show_check(self, view: CheckView) -> None:
        faults = sum(1 for one in view.problems if one.level == "fault")
        parts = [f"{count(view.checked, 'exemplar')} checked"]
        if view.cancelled:
            parts[0] += f" of {view.of}, then cancelled"
        parts.append(count(faults, "fault"))
        parts.append(count(len(view.problems) - faults, "note"))
        if view.more:
            parts.append(f"{view.more} more problems are not listed")
        self.title.setText(" · ".join(parts))
        self.or_words.say("" if view.problems else _SOUND)
        self.table.show_lines(
            TableLine(
                (one.id, one.level, one.where or "the whole", one.text),
                key=one.id,
                tone="bad" if one.level == "fault" else "",
                tooltip=f"{one.id}, {one.where or 'the whole'}: {one.text}",
            )
            for one in view.problems
        )
