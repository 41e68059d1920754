"""The plot of the map: points that can be zoomed, panned, selected by keys, and opened."""

from typing import Any

import numpy as np
import pyqtgraph
from numpy.typing import NDArray
from pyqtgraph.GraphicsScene.mouseEvents import MouseClickEvent
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QBrush, QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QWidget

from core.debugger.exemplars.analyses.views import ExemplarMap
from gui.exemplars.analyses.map_marks import SYMBOLS, MarkStyle, looks_of, pen_for
from gui.theme.theme import Theme
from gui.widgets.plot import Plot

Places = NDArray[np.floating[Any]]
"""A row for each point: x and y on the viewport, in pixels."""

FEW = 3000
"""Maximum number of visible points drawn as pyqtgraph marks; more are drawn as one picture."""
_SIZE = 8.4
_MARGIN = 0.06
"""Share of the view that stays free around the points."""
_REACH = 10.0
"""Distance from a point, in pixels, within which a click hits it."""
_NAMED = 24
"""Maximum number of families whose names are drawn at their centres."""
_STEP = 1.25
_IDLE_MS = 60
_KEYS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}


class MapPlot(Plot):
    """Draws an `ExemplarMap`. With many points, it stretches and moves their picture until the view stops changing."""

    opened = Signal(str)
    """The exemplar of the clicked point."""
    current_changed = Signal(str)
    """The description of the current point."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "Map of the exemplars", QSize(420, 420), parent)
        self._view = ExemplarMap()
        self._points = np.zeros((0, 2), np.float32)
        self._families = np.zeros(0, np.int32)
        self.looks: tuple[tuple[MarkStyle, int], ...] = ()
        """The style and the number of members of each family."""
        self._middles: list[tuple[int, tuple[float, float]]] = []
        self._names: list[pyqtgraph.TextItem] = []
        self._task: list[pyqtgraph.GraphicsObject] = []
        self._family = ""
        self.place: int | None = None
        """The current point."""
        self._fitted = True
        self._idle = QTimer(self, singleShot=True, interval=_IDLE_MS)
        self._idle.timeout.connect(self._draw_points)
        self._picture = pyqtgraph.ImageItem(axisOrder="row-major")
        self._marks = pyqtgraph.ScatterPlotItem()
        self._ring = pyqtgraph.ScatterPlotItem(size=17, brush=None)
        self._ring.setZValue(3)
        for item in (self._picture, self._marks, self._ring):
            self.addItem(item, ignoreBounds=True)
        self.setMinimumSize(220, 200)
        self.hideAxis("left")
        self.hideAxis("bottom")
        self.setAspectLocked()
        self.box.sigRangeChanged.connect(self._on_range)
        self.box.sigRangeChangedManually.connect(self._on_moved_by_hand)
        self.box.sigResized.connect(self._on_resized)
        self.scene().sigMouseClicked.connect(self._on_clicked)
        self.scene().sigMouseMoved.connect(self._on_moved)
        self._on_theme()

    def show_map(self, view: ExemplarMap) -> None:
        """Replace what is drawn; zoom and current point stay while the points are the same."""
        before, self._view = self._view, view
        moved = (view.points, view.families) != (before.points, before.families)
        if moved:
            current = before.ids[self.place] if self.place is not None else ""
            self._points = np.frombuffer(view.points, "<f4").reshape(-1, 2)
            self._families = np.frombuffer(view.families, "<i4")
            self.looks = looks_of(self._families.tolist(), len(view.names))
            ranked = sorted(range(len(view.names)), key=lambda one: -self.looks[one][1])[:_NAMED]
            middles = [np.median(self._points[self._families == one], axis=0) for one in ranked]
            self._middles = [(one, tuple(middle)) for one, middle in zip(ranked, middles, strict=True)]
            self.place = view.ids.index(current) if current in view.ids else None
        if moved or (view.task != before.task and self._fitted):
            self.fit()
        if moved:
            self._draw()
        elif view.task != before.task:
            self._draw_task()
            self._part_names()

    def show_family(self, family: str) -> None:
        """Dim all families except this one; an empty name draws all alike."""
        self._family = family
        self._draw_points()
        self._part_names()

    # Positions

    def fit(self) -> None:
        """Show all points and the task."""
        corners = self._points
        if self._view.task is not None:
            corners = np.vstack([corners, [[self._view.task.across, self._view.task.up]]])
        if len(corners):
            low, high = corners.min(axis=0), corners.max(axis=0)
            room = QRectF(0, 0, *np.maximum(high - low, 1e-6).tolist())
            room.moveCenter(QPointF(*((low + high) / 2).tolist()))
            self.setRange(room, padding=_MARGIN)
        self._fitted = True

    def place_of(self, number: int) -> QPointF:
        """Return the position of a point on the viewport, in pixels."""
        return self.point_at(*self._points[number].tolist())

    def near(self, place: QPointF) -> int | None:
        """Return the point of the shown family that a click at this position hits."""
        away = ((self._places() - (place.x(), place.y())) ** 2).sum(axis=1)
        away[self._faint()] = np.inf
        nearest = int(away.argmin()) if len(away) else 0
        return nearest if len(away) and away[nearest] <= _REACH**2 else None

    def _places(self) -> Places:
        origin, unit = self.point_at(0, 0).toTuple(), self.point_at(1, 1).toTuple()
        places: Places = self._points * np.subtract(unit, origin) + origin
        return places

    def _faint(self) -> NDArray[np.bool_]:
        """Return which points belong to other families than the one that is shown."""
        if self._family not in self._view.names:
            return np.zeros(len(self._points), bool)
        faint: NDArray[np.bool_] = self._families != self._view.names.index(self._family)
        return faint

    def zoom(self, factor: float) -> None:
        """Zoom in or out around the centre."""
        self._fitted = False
        self.box.scaleBy((1 / factor, 1 / factor))

    def pan(self, by: QPointF) -> None:
        """Move the points by this number of pixels."""
        self._fitted = False
        self.box.translateBy(self.box.mapSceneToView(QPointF()) - self.box.mapSceneToView(by))

    def choose(self, number: int | None) -> None:
        """Make a point current and announce its description."""
        self.place = number
        words = self.words_of(number) if number is not None else ""
        self.tell(words)
        self.current_changed.emit(words)
        self._draw_ring()

    def words_of(self, number: int) -> str:
        """Return the description of a point."""
        family = self._view.names[int(self._families[number])]
        return f"{self._view.ids[number]}, of the family {family}: {self._view.tasks[number]}"

    # Keys and mouse

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, shift = Qt.Key(event.key()), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(_STEP)
        elif key == Qt.Key.Key_Minus:
            self.zoom(1 / _STEP)
        elif key == Qt.Key.Key_0:
            self.fit()
        elif key in _KEYS and shift:
            across, down = _KEYS[key]
            self.pan(QPointF(-60.0 * across, -60.0 * down))
        elif key in _KEYS and len(self._points):
            self._go(*_KEYS[key])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.place is not None:
            self.opened.emit(self._view.ids[self.place])
        else:
            super().keyPressEvent(event)

    def _go(self, across: int, down: int) -> None:
        """Go to the nearest point in a direction, within a quarter of the plane."""
        places, middle = self._places(), QPointF(self.rect().center())
        if self.place is None:
            cost = ((places - middle.toTuple()) ** 2).sum(axis=1)
        else:
            away = places - places[self.place]
            ahead = away @ (across, down)
            beside = np.abs(away @ (down, across))
            cost = np.where((ahead > 0.5) & (beside <= ahead), ahead + 2 * beside, np.inf)
        cost[self._faint()] = np.inf
        to = int(cost.argmin())
        if np.isfinite(cost[to]):
            self.choose(to)
            if not self.rect().adjusted(20, 20, -20, -20).contains(self.place_of(to).toPoint()):
                self.pan(middle - self.place_of(to))

    def _on_clicked(self, event: MouseClickEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and not event.double():
            number = self.near(event.scenePos())
            if number is not None:
                self.choose(number)
                self.opened.emit(self._view.ids[number])

    def _on_moved(self, place: QPointF) -> None:
        if QGuiApplication.mouseButtons() == Qt.MouseButton.NoButton:
            number = self.near(place)
            self.setCursor(
                Qt.CursorShape.ArrowCursor if number is None else Qt.CursorShape.PointingHandCursor
            )
            self.show_tip(place, "" if number is None else self.words_of(number))

    def _on_moved_by_hand(self) -> None:
        self._fitted = False

    def _on_resized(self) -> None:
        if self._fitted:
            self.fit()
        self._on_range()

    def _on_range(self) -> None:
        self._part_names()
        if len(self._points) > FEW:
            self._idle.start()

    # Drawing

    def _draw(self) -> None:
        self._draw_points()
        self._draw_task()
        self._draw_ring()
        for item in self._names:
            self.removeItem(item)
        self._names = [
            self.add_words(self._view.names[family], middle, anchor=(0.5, 1.3), ground="panel", bold=True)
            for family, middle in self._middles
        ]
        self._part_names()

    def _draw_points(self) -> None:
        """Draw the points: all if they are few, otherwise only the visible ones; dimmed ones are below the others."""
        self._idle.stop()
        theme, places, faint = self._theme, self._places(), self._faint()
        size = np.array(self.viewport().size().toTuple())
        inside = ((places >= 0) & (places < size)).all(axis=1) | (len(places) <= FEW)
        shown = np.concatenate([np.flatnonzero(inside & faint), np.flatnonzero(inside & ~faint)])
        many = len(shown) > FEW
        self._picture.setVisible(many)
        self._marks.setVisible(not many)
        families = self._families[shown]
        colours = [look.colour(theme) for look, _ in self.looks] + [theme.colour("line")]
        coloured = np.where(faint[shown], len(self.looks), families)
        if many:
            ratio = self.devicePixelRatioF()
            wide, tall = np.rint(size * ratio).astype(int).tolist()
            shapes = np.array([list(SYMBOLS).index(look.shape) for look, _ in self.looks])[families]
            values = np.array([colour.getRgb() for colour in colours], np.uint8)[coloured]
            self._picture.setImage(
                picture_of(places[shown], shapes, values, (wide, tall), ratio), levels=None
            )
            near, far = QPointF(0, 0), QPointF(wide, tall) / ratio
            self._picture.setRect(QRectF(self.box.mapSceneToView(near), self.box.mapSceneToView(far)))
        else:
            self._marks.setData(
                pos=self._points[shown],
                pen=pen_for(theme),
                brush=np.array([QBrush(colour) for colour in colours], object)[coloured],
                symbol=np.array([look.symbol for look, _ in self.looks], object)[families],
                size=_SIZE * np.array([look.size for look, _ in self.looks])[families],
            )

    def _draw_ring(self) -> None:
        place = self._points[:0] if self.place is None else self._points[[self.place]]
        self._ring.setData(pos=place, pen=pyqtgraph.mkPen(self._theme.colour("text"), width=2))

    def _draw_task(self) -> None:
        for item in self._task:
            self.removeItem(item)
        self._task = []
        task = self._view.task
        if task is None:
            return
        here, agent, pen = np.array([task.across, task.up]), self._theme.colour("agent"), pyqtgraph.mkPen
        there = self._points[[place for place, _ in task.near]].reshape(-1, 2)
        ends = np.stack([np.broadcast_to(here, there.shape), there], axis=1).reshape(-1, 2)
        dashes = pen(agent, width=1.2, style=Qt.PenStyle.DashLine)
        ground = pen(self._theme.colour("panel"), width=1.5)
        cross = pen(self._theme.colour("on_accent"), width=1.8)
        scatter = pyqtgraph.ScatterPlotItem
        self._task = [
            pyqtgraph.PlotCurveItem(*ends.T, connect="pairs", pen=dashes),
            scatter(pos=there, size=13, brush=None, pen=pen(agent, width=1.4)),
            scatter(pos=[here], size=14, brush=agent, pen=ground),
            scatter(pos=[here], size=7, symbol="+", brush=cross.color(), pen=None),
        ]
        for item in self._task:
            self.addItem(item, ignoreBounds=True)
        for end, (_, distance) in zip(there, task.near, strict=True):
            at = (here + 2 * end) / 3
            self._task.append(self.add_words(f"{distance:.2f}", tuple(at), ground="raised"))
        self._task.append(
            self.add_words("the task", tuple(here), anchor=(0.5, -0.5), ground="raised", bold=True)
        )
        for item in self._task:
            item.setZValue(2)

    def _part_names(self) -> None:
        """Show the names of families that have space, larger families first."""
        taken: list[QRectF] = []
        if (task := self._view.task) is not None:
            taken.append(QRectF(-32, -10, 64, 36).translated(self.point_at(task.across, task.up)))
        for item in self._names:
            room = QRectF(QPointF(), item.boundingRect().size())
            at = self.point_at(item.pos().x(), item.pos().y())
            room.translate(at.x() - room.width() / 2, at.y() - 1.3 * room.height())
            fits = (
                self._family in ("", item.toPlainText())
                and QRectF(self.rect()).contains(room)
                and not any(room.intersects(one) for one in taken)
            )
            item.setVisible(fits)
            if fits:
                taken.append(room)


def picture_of(
    places: Places, shapes: NDArray[np.intp], colours: NDArray[np.uint8], size: tuple[int, int], ratio: float
) -> NDArray[np.uint8]:
    """Return the points as an image of four bytes per pixel (RGBA) on a transparent background.

    `shapes` are indexes in `SYMBOLS`, `colours` has a row of four bytes for each point; `size` is the image's width
    and height in screen pixels, `ratio` of which make one pixel of the viewport. All points are inside of it, later
    ones above earlier ones.
    """
    reach = max(1, round(2 * ratio))
    x, y = np.meshgrid(*[np.linspace(-1, 1, 2 * reach + 1)] * 2)
    circle, diamond = x * x + y * y <= 1.05, abs(x) + abs(y) <= 1.05
    stamps = np.stack([circle, np.maximum(abs(x), abs(y)) <= 0.75, abs(x) <= (y + 1) / 2, diamond])
    width, height = size[0] + 2 * reach, size[1] + 2 * reach
    above = np.zeros(width * height, np.int32)
    """The number of the topmost point of each pixel, from 1; 0 is the background."""
    columns, rows = (places * ratio).astype(np.intp).T
    at, numbers = rows * width + columns, np.arange(1, len(places) + 1, dtype=np.int32)
    for down, along in np.ndindex(stamps.shape[1:]):
        covers = stamps[shapes, down, along]
        to = at[covers] + down * width + along
        above[to] = np.maximum(above[to], numbers[covers])
    with_ground = np.vstack([np.zeros((1, 4), np.uint8), colours])
    return with_ground[above.reshape(height, width)[reach:-reach, reach:-reach]]
