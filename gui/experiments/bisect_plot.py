"""A plot of success by prefix: a point with its confidence interval for each step from which runs were continued."""

import numpy as np
import pyqtgraph
from pyqtgraph.GraphicsScene.mouseEvents import MouseClickEvent
from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from core.debugger.experiments.bisect import Bisection, PrefixResult
from gui.theme.theme import Theme
from gui.widgets.plot import Plot

_FOOT = "the first step that is not replayed"
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
_COLUMN, _BAR, _BEAM = 46, 18, 10
"""Width in pixels of the current column, a bar and the ends of an interval, if there is space."""
_LABEL = 26
"""Width in pixels that the number of a step needs."""
_REACH = 40
"""Distance from a point, in pixels, within which a click hits it."""


def result_words(result: PrefixResult | None, step: int) -> str:
    """Return the result for a step as a sentence."""
    if result is None:
        return f"From step {step}: not tried yet."
    if result.share is None:
        made = len(result.branches)
        return f"From step {step}: {made} {'branch' if made == 1 else 'branches'}, none of them judged."
    return (
        f"From step {step}: {result.successes} of {result.judged} succeeded ({result.share:.0%}), "
        f"95 % interval {result.low:.0%} to {result.high:.0%}."
    )


class BisectPlot(Plot):
    """Draws a bisection; the arrow keys go from point to point, and each is described as text.

    The steps are in order and at equal distances. No lines join the points, because nothing is known of what is
    between them.
    """

    chosen = Signal(int)
    """The step whose point is now current."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "Success by step", QSize(480, 260), parent)
        self._steps: tuple[int, ...] = ()
        self._results: dict[int, PrefixResult] = {}
        self.step: int | None = None
        """The step of the current point."""
        self.setMinimumSize(260, 170)
        self.setMouseEnabled(x=False, y=False)
        self.setYRange(-0.02, 1.04, padding=0)
        self.plotItem.layout.setContentsMargins(6, 8, 16, 4)
        self.getAxis("left").setTicks([[(share, f"{share:.0%}") for share in _SHARES]])
        self.getAxis("left").setGrid(255)
        self.getAxis("left").setZValue(-1)  # Its lines are below the points.
        self._column = pyqtgraph.BarGraphItem(x=[], y0=-0.02, y1=1.04, width=1)
        self._bars = pyqtgraph.BarGraphItem(x=[], height=[], width=1)
        self._intervals = pyqtgraph.ErrorBarItem()
        self._points = pyqtgraph.ScatterPlotItem(size=11)
        self._unjudged: list[pyqtgraph.TextItem] = []
        for item in (self._column, self._bars, self._intervals, self._points):
            self.addItem(item)
        self.box.sigResized.connect(self._draw)
        self.scene().sigMouseClicked.connect(self._on_clicked)
        self.scene().sigMouseMoved.connect(self._on_moved)
        self._on_theme()

    def show_bisection(self, bisection: Bisection | None) -> None:
        """Replace what is drawn; the current point stays if it still exists."""
        self._steps = tuple(sorted(bisection.chosen)) if bisection is not None else ()
        self._results = {one.step: one for one in bisection.results} if bisection is not None else {}
        if self.step not in self._steps:
            self.step = self._steps[0] if self._steps else None
        self.setXRange(-0.5, max(1, len(self._steps)) - 0.5, padding=0)
        self.tell(self.words)
        self._draw()

    def choose(self, step: int) -> None:
        """Make the point of a step current."""
        if step in self._steps and step != self.step:
            self.step = step
            self.tell(self.words)
            self._draw()
            self.chosen.emit(step)

    @property
    def words(self) -> str:
        """The description of the current point."""
        return "" if self.step is None else result_words(self._results.get(self.step), self.step)

    def place_of(self, step: int) -> QPointF:
        """Return where the point of a step is drawn, in pixels; at the bottom if nothing was judged."""
        result = self._results.get(step)
        share = result.share if result is not None and result.share is not None else 0.0
        return self.point_at(self._steps.index(step), share)

    # Keys and mouse

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.step is None:
            super().keyPressEvent(event)
            return
        at, last = self._steps.index(self.step), len(self._steps) - 1
        to = {
            Qt.Key.Key_Left: at - 1,
            Qt.Key.Key_Right: at + 1,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }.get(Qt.Key(event.key()))
        if to is None:
            super().keyPressEvent(event)
            return
        self.choose(self._steps[min(max(to, 0), last)])

    def _on_clicked(self, event: MouseClickEvent) -> None:
        if (step := self._step_at(event.scenePos())) is not None:
            self.choose(step)

    def _on_moved(self, place: QPointF) -> None:
        step = self._step_at(place)
        self.show_tip(place, "" if step is None else result_words(self._results.get(step), step))

    def _step_at(self, place: QPointF) -> int | None:
        away = {step: abs(self.place_of(step).x() - place.x()) for step in self._steps}
        nearest = min(away, key=lambda step: away[step], default=None)
        return nearest if nearest is not None and away[nearest] <= _REACH else None

    # Drawing

    def _draw(self) -> None:
        theme, pen = self._theme, pyqtgraph.mkPen
        across = max(1.0, self.box.width() / max(1, len(self._steps)))  # Pixels for one step.
        self._draw_axes(max(1, round(_LABEL / across)))
        current = [] if self.step is None else [self._steps.index(self.step)]
        self._column.setOpts(
            x=current, width=min(1.0, _COLUMN / across), brush=theme.colour("selected"), pen=None
        )
        tried = [(at, self._results[step]) for at, step in enumerate(self._steps) if step in self._results]
        for item in self._unjudged:
            self.removeItem(item)
        self._unjudged = [
            self.add_words("?", (at, 0.0), anchor=(0.5, 1.2), tone="remedy")
            for at, one in tried
            if one.share is None
        ]
        judged = [(at, one.share, one.low, one.high) for at, one in tried if one.share is not None]
        x, shares, lows, highs = np.array(judged, float).reshape(-1, 4).T
        self._bars.setOpts(
            x=x, height=shares, width=min(0.4, _BAR / across), brush=theme.colour("line"), pen=None
        )
        self._intervals.setData(
            x=x,
            y=shares,
            top=highs - shares,
            bottom=shares - lows,
            beam=min(0.8, _BEAM / across),
            pen=pen(theme.colour("text"), width=1.4),
        )
        self._points.setData(
            x=x, y=shares, brush=theme.colour("agent"), pen=pen(theme.colour("panel"), width=1.2)
        )

    def _draw_axes(self, every: int) -> None:
        """Number every n-th step, and the current one."""
        numbers = [
            (at, str(step)) for at, step in enumerate(self._steps) if at % every == 0 or step == self.step
        ]
        self.getAxis("bottom").setTicks([numbers])
        size = f"{self._theme.small_font().pointSizeF()}pt"
        self.setLabel("bottom", _FOOT, color=self._theme.colour("dim").name(), **{"font-size": size})
        for side in ("left", "bottom"):
            axis = self.getAxis(side)
            axis.setStyle(tickLength=0, tickFont=self._theme.small_font())
            axis.setPen(None)
            axis.setTextPen(self._theme.colour("dim"))
            axis.setTickPen(self._theme.colour("line"))
