"""The map of the exemplars: neighbours, sparse areas, and the position of the current task."""

from operator import attrgetter
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from core.debugger.exemplars.analyses.views import MapView
from gui.exemplars.analyses.map_legend import Legend
from gui.exemplars.analyses.page import AnalysisPage, panel
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.choices import choice_box
from gui.widgets.formats import count
from gui.widgets.layouts import Section, in_column, scrolled, splitter
from gui.widgets.rows import Row, Rows
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords

if TYPE_CHECKING:
    from gui.exemplars.analyses.map_plot import MapPlot

_START = (
    "The map places similar exemplars close to each other. Press Draw (Ctrl+Enter). Families that lie "
    "apart are easy to distinguish. In empty areas, tasks find nothing similar."
)
_LISTED = 200
_ALL = "All families"


class MapPage(AnalysisPage):
    """Shows `MapView`; requests go out only as signals."""

    draw_requested = Signal()
    task_requested = Signal(str, str)
    """A task and its page; an empty task shows none."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "End it", parent)
        self._view = MapView()
        self._observation = ""
        self._wanted = ""
        self.draw_button = key_button(
            "Draw",
            "Draw the current exemplars",
            "Ctrl+Return",
            self.draw_requested.emit,
            self,
            accent=True,
        )
        self.fit_button = key_button(
            "Show all",
            "Zoom to show all (0 in the map)",
            "Ctrl+0",
            self._on_fit,
            self,
        )
        self.family = choice_box("Family", "Draw those of other families in the background", parent=self)
        self.family.setMinimumWidth(150)
        self.family.currentIndexChanged.connect(self._on_family)
        self.task = QLineEdit(self, clearButtonEnabled=True)
        self.task.setPlaceholderText("Show a task among the exemplars (Enter)")
        self.task.setMinimumWidth(120)
        self.task.returnPressed.connect(self._on_task)
        self.task.textChanged.connect(self._on_text)
        self.add(self.draw_button, self.cancel_button, self.fit_button)
        self.add_labelled("&Family", self.family)
        self.add_labelled("&Task", self.task)
        self.bar.setStretchFactor(self.task, 2)
        self.add(self.progress)
        self.plot: MapPlot | None = None
        """Created when there is something to draw."""
        self.caption = NoteLabel("dim", parent=self, margins=(12, 4, 12, 4))
        self.current = ElidedLabel("", self, tone="dim")
        self.current.setContentsMargins(12, 0, 12, 6)
        self.legend = Legend(theme)
        self.near = Rows(theme, "Nearest to the task")
        self.alone = Rows(theme, "Families of one exemplar")
        self.lonely = Rows(theme, "Furthest from all others")
        self._lay_out(theme)
        self.show_view(self._view)
        self._show_near()
        self._show_thin()

    def _lay_out(self, theme: Theme) -> None:
        self.sections = {
            "near": Section(theme, "Nearest to the task", self.near),
            "legend": Section(theme, "Families", self.legend),
            "alone": Section(theme, "Alone in their family", self.alone),
            "lonely": Section(theme, "Furthest from all others", self.lonely),
        }
        self.legend.chosen.connect(self._on_legend)
        for rows in (self.near, self.alone, self.lonely):
            rows.pressed_on.connect(lambda id: self.exemplar_opened.emit(str(id)))
        self._plot_panel = panel(self.caption, self.current)
        side = panel(scrolled("About the map", *self.sections.values()))
        split = splitter(Qt.Orientation.Horizontal, self._plot_panel, side, sizes=(930, 350), stretch=(1,))
        self.or_words = OrWords(split, self)
        self.column.addWidget(self.or_words, 1)
        self.column.addLayout(in_column(None, self.words, margins=(12, 4, 12, 6)))

    def _make_plot(self) -> "MapPlot":
        from gui.exemplars.analyses.map_plot import MapPlot  # Imports pyqtgraph, which is slow.

        plot = MapPlot(self.theme, self)
        plot.opened.connect(self.exemplar_opened)
        plot.current_changed.connect(self.current.setText)
        column = self._plot_panel.layout()
        assert isinstance(column, QVBoxLayout)
        column.insertWidget(0, plot, 1)
        self.setTabOrder(self.task, plot)
        return plot

    def show_task(self, task: str, observation: str = "") -> None:
        """Use this as the current task."""
        self._observation = observation
        self.task.setText(task)
        self._wanted = task
        self.task_requested.emit(task, observation)

    @Slot(object)
    def show_view(self, view: MapView) -> None:
        """Replace what is shown; zoom, current point and family stay."""
        before, self._view = self._view, view
        self.show_working(view, self._hint())
        self.draw_button.setEnabled(not view.busy)
        self.or_words.say(self._nothing())
        if view.names and self.plot is None:
            self.plot = self._make_plot()
        if self.plot is not None:
            self.plot.show_view(view)
        if view.points != before.points or view.names != before.names:
            self._show_choice()
            self._show_families()
        self.caption.show_text(self._share())
        if (view.task, view.wanted_task) != (before.task, before.wanted_task):
            self._show_near()
        thin = attrgetter("alone", "lonely", "lonely_known", "busy")
        if thin(view) != thin(before):
            self._show_thin()

    def _nothing(self) -> str:
        if self._view.ids:
            return ""
        if self._view.busy:
            return "Drawing the exemplars…"
        if self._view.asked and not self._view.problem:
            return "There are no exemplars yet: save one from the tree of runs, or import some."
        return _START

    def _hint(self) -> str:
        if not self._view.ids:
            return ""
        return (
            "Wheel or +/−: zoom. Drag or Shift+arrows: move. Arrows: from point to point. "
            "A click or Enter opens the exemplar."
        )

    def _share(self) -> str:
        view = self._view
        if not view.ids:
            return ""
        words = (
            f"{count(len(view.ids), 'exemplar')} of {count(len(view.names), 'family', 'families')} "
            f"by {view.embedding}. "
            f"The plane shows {view.share:.0%} of the differences, so neighbours here may not be similar. "
            "The numbers on the lines are the real distances."
        )
        return words + (" Exemplars were added or archived since. Draw the map again." if view.stale else "")

    def _show_choice(self) -> None:
        chosen = self.family.currentText()
        with QSignalBlocker(self.family):
            self.family.clear()
            self.family.addItems([_ALL, *sorted(self._view.names)])
            self.family.setCurrentIndex(max(0, self.family.findText(chosen)))
        self._on_family()

    def _show_families(self) -> None:
        names, looks = self._view.names, self.plot.looks if self.plot is not None else ()
        self.legend.show_families(names, looks)
        self.sections["legend"].show_fact(count(len(names), "family", "families") if names else "")

    def _show_near(self) -> None:
        view, task = self._view, self._view.task
        self.sections["near"].setVisible(bool(view.wanted_task))
        rows = []
        for one in task.near if task is not None else ():
            missing = "" if one.place is not None else ", not on the map yet"
            detail = f"{one.id}, of {one.family}{missing}"
            rows.append(_link(one.id, one.task or one.id, detail, f"{one.distance:.3f}"))
        self.near.show_rows(rows or [Row("There is none." if task else "Looking it up…", quiet=True)])

    def _show_thin(self) -> None:
        view = self._view
        alone = [_link(id, family, id) for family, id in view.alone]
        self.alone.show_rows(alone[:_LISTED] or [Row("No family has only one exemplar.", quiet=True)])
        self.sections["alone"].show_fact(str(len(alone)) if alone else "")
        lonely = [
            _link(one.id, one.id, f"{one.family}; the nearest is {one.nearest}", f"{one.distance:.3f}")
            for one in view.lonely
        ]
        waiting = "Searching…" if view.busy else "Not available. Draw the map again."
        few = "There is no other one." if view.lonely_known else waiting
        self.lonely.show_rows(lonely or [Row(few, quiet=True)])

    # Input of the person

    def _on_fit(self) -> None:
        if self.plot is not None:
            self.plot.fit()

    def _on_family(self) -> None:
        name = self.family.currentText()
        if self.plot is not None:
            self.plot.show_family("" if name == _ALL else name)

    def _on_legend(self, name: object) -> None:
        at = self.family.findText(str(name))
        self.family.setCurrentIndex(0 if at == self.family.currentIndex() else max(0, at))

    def _on_task(self) -> None:
        task = self.task.text().strip()
        if task != self._wanted:
            self._observation = ""
        self._wanted = task
        self.task_requested.emit(task, self._observation)

    def _on_text(self, text: str) -> None:
        if not text and self._wanted:
            self._on_task()


def _link(id: str, text: str, detail: str, word: str = "") -> Row:
    return Row(text, word=word, detail=detail, link=True, key=id, tooltip="Open it (Enter)")
