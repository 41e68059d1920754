"""The map beside a lookup: all exemplars in a plane, with the task that was looked up and its neighbours."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from core.debugger.exemplars.analyses.views import ExemplarMap
from core.schema.formats import count
from gui.exemplars.analyses.map_marks import FamilyBox
from gui.exemplars.analyses.page import NO_EXEMPLARS
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.layouts import holding, in_column, in_row, on_panel
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords

if TYPE_CHECKING:
    from gui.exemplars.analyses.map_plot import MapPlot

_START = (
    "The map places similar exemplars close to each other. Look up a task (Ctrl+Enter) to see it among them. "
    "Families that lie apart are easy to distinguish. In empty areas, tasks find nothing similar."
)
_HINT = (
    "Wheel or +/−: zoom. Drag or Shift+arrows: move. Arrows: from point to point. A click or Enter opens one."
)


class MapPane(QWidget):
    """Shows an `ExemplarMap`; zoom, current point and family stay when it changes."""

    exemplar_opened = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._map: ExemplarMap | None = None
        self.plot: MapPlot | None = None
        """Created when there is something to draw."""
        self.family = FamilyBox(theme, self)
        self.family.chosen.connect(self._on_family)
        self.fit_button = key_button(
            "Show all", "Zoom to show all (0 in the map)", "Ctrl+0", self._on_fit, self
        )
        self.current = ElidedLabel("", self)
        self.caption = NoteLabel("dim", parent=self)
        head = in_row(None, (self.family, 1), self.fit_button, margins=(10, 8, 10, 6), spacing=8)
        foot = in_column(None, self.current, self.caption, margins=(10, 4, 10, 8), spacing=4)
        self._column: QVBoxLayout = in_column(None, head, foot, spacing=0)
        self.body = OrWords(holding(self._column), self, words=_START)
        in_column(self, self.body)
        on_panel(self)

    def show_map(self, drawn: ExemplarMap | None, *, busy: bool = False) -> None:
        """Replace the map; None if it was not drawn yet, because of a job if `busy`."""
        before, self._map = self._map, drawn
        if drawn is None or not drawn.ids:
            nothing = _START if drawn is None else NO_EXEMPLARS
            self.body.say("Drawing the exemplars…" if busy and drawn is None else nothing)
            return
        self.body.say("")
        if drawn is before:
            return
        if self.plot is None:
            self.plot = self._make_plot()
        self.plot.show_map(drawn)
        if before is None or (drawn.names, drawn.families) != (before.names, before.families):
            self.family.show_families(drawn.names, self.plot.looks)
        self.caption.show_text(
            f"{count(len(drawn.ids), 'exemplar')} of {count(len(drawn.names), 'family', 'families')} "
            f"by {drawn.embedding}. The plane shows {drawn.share:.0%} of the differences. The numbers on the lines "
            f"are distances as they count, by the weights. {_HINT}"
        )

    def _make_plot(self) -> "MapPlot":
        from gui.exemplars.analyses.map_plot import MapPlot  # Imports pyqtgraph, which is slow.

        plot = MapPlot(self._theme, self)
        plot.opened.connect(self.exemplar_opened)
        plot.current_changed.connect(self.current.setText)
        self._column.insertWidget(1, plot, 1)
        self.setTabOrder(self.fit_button, plot)
        return plot

    def _on_fit(self) -> None:
        if self.plot is not None:
            self.plot.fit()

    def _on_family(self, name: str) -> None:
        if self.plot is not None:
            self.plot.show_family(name)
