"""Credit: by how much exemplars moved the LLM, summed over the steps that were asked again without them."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from core.debugger.experiments.attribution import AttributionSum
from core.debugger.experiments.views import EvaluationView
from gui.theme.theme import Theme
from gui.widgets.layouts import on_panel
from gui.widgets.plain_table import Column, PlainTable, TableLine
from gui.widgets.words import NoteLabel, OrWords

_NONE = (
    "No step was asked again without one of its exemplars yet. Open a step that had exemplars in its prompt in "
    "Ask again and press Credit; each exemplar's share is summed here."
)
_WHAT = (
    "By how much likelier the step's own action is answered with the exemplar than without it: 1 is that only "
    "with it, 0 that it makes no difference. What helps a wrong action has credit, too."
)
_COLUMNS = (
    Column("Exemplar"),
    Column("Family"),
    Column("Steps", number=True, tooltip="Steps that were asked again without it"),
    Column("Credit", number=True, tooltip="Summed over these steps"),
    Column("Each", number=True, tooltip="On average"),
)


class AttributionPage(QWidget):
    """Shows the attributions of `EvaluationView`."""

    exemplar_opened = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.table = PlainTable(theme, "Credits", _COLUMNS, self)
        self.table.opened.connect(lambda key: self.exemplar_opened.emit(str(key)))
        note = NoteLabel("dim", parent=self)
        note.setContentsMargins(12, 8, 12, 8)
        note.show_text(_WHAT)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(note)
        column.addWidget(self.table, 1)
        on_panel(inside)
        self.or_words = OrWords(inside, self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.or_words)
        self.show_view(EvaluationView())

    @Slot(object)
    def show_view(self, view: EvaluationView) -> None:
        self.or_words.say("" if view.attributions else _NONE)
        self.table.show_lines([_line(one) for one in view.attributions])


def _line(one: AttributionSum) -> TableLine:
    return TableLine(
        cells=(one.id, one.family, str(one.steps), f"{one.total:+.2f}", f"{one.mean:+.2f}"),
        values=(one.id, one.family, one.steps, one.total, one.mean),
        key=one.id,
    )
