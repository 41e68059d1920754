"""The diagram of a state space: states as boxes, the transitions between them, and the state of the run."""

import itertools

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFontMetricsF,
    QKeyEvent,
    QPainter,
    QPainterPath,
    QPen,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsItem,
    QGraphicsScene,
    QGraphicsSceneHoverEvent,
    QGraphicsView,
    QStyleOptionGraphicsItem,
    QWidget,
)

from core.debugger.steps.views import DiagramEdgeView, DiagramState
from core.schema.formats import count
from gui.panels.state.diagram_layout import BoxPlace, Layout, Pair, lay_out
from gui.theme.theme import Theme

_LABEL_WIDTH = 128.0
_SMALLEST, _LARGEST = 0.3, 4.0
_READABLE = 0.75
"""The smallest initial zoom of a diagram that is too wide."""
_LOWEST = 140
"""Height of the view when space is short; it scrolls then."""
_ARROW = 6.0
_MARGIN = 12.0


class StateDiagram(QGraphicsView):
    """Shows states and edges. Plus, minus and 0 zoom, as Ctrl and the wheel do, and arrow keys scroll.

    Zoom and position stay while the same states are shown; only a new current state is scrolled into view.
    """

    menu_wanted = Signal(str, QPoint)
    """The name of the state under the pointer, or of the current one, and a screen position."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._states: tuple[DiagramState, ...] = ()
        self._edges: tuple[DiagramEdgeView, ...] = ()
        self._fitted = True
        self.drawing: Drawing | None = None
        self._scene = QGraphicsScene(self)
        self.setScene(self._scene)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.setDragMode(QGraphicsView.DragMode.ScrollHandDrag)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.AnchorUnderMouse)
        self.setMinimumHeight(_LOWEST)
        self.setMinimumWidth(80)
        self.setAccessibleName("Diagram of the states")
        self.setToolTip("")
        theme.changed.connect(self._draw)

    @property
    def zoom(self) -> float:
        return self.transform().m11()

    def state_at(self, place: QPoint) -> str:
        """Return the name of the state whose box is at a position of the view; empty outside of all boxes."""
        return self.drawing.state_at(self.mapToScene(place)) if self.drawing is not None else ""

    def show_states(self, states: tuple[DiagramState, ...], edges: tuple[DiagramEdgeView, ...]) -> None:
        """Replace the diagram; ends of edges that are not states also get a box."""
        known = {state.name for state in states}
        ends = dict.fromkeys(name for edge in edges for name in (edge.source, edge.target))
        states = (*states, *(DiagramState(name=name) for name in ends if name not in known))
        if (states, edges) == (self._states, self._edges):
            return
        same = [state.name for state in states] == [state.name for state in self._states]
        self._states, self._edges = states, edges
        self._draw()
        self.setAccessibleDescription(spoken(states, edges))
        if not same:
            self._fitted = True
        if self._fitted:
            self.fit()
        self.show_current()

    def show_current(self) -> None:
        """Scroll the current state into view."""
        for state in self._states:
            if state.current:
                self.show_state(state.name)

    def show_state(self, name: str) -> None:
        """Scroll a state into view."""
        if self.drawing is not None and name in self.drawing.layout.boxes:
            self.ensureVisible(_rect(self.drawing.layout.boxes[name]), 30, 26)

    def fit(self) -> None:
        """Show the full width at normal size, or as small as is still readable."""
        self._fitted = True
        wide = self._scene.sceneRect().width()
        room = self.viewport().width() - 2
        self._zoom_to(min(1.0, max(_READABLE, room / wide)) if wide > 0 else 1.0)

    def zoom_by(self, factor: float) -> None:
        self._fitted = False
        self._zoom_to(self.zoom * factor)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_mouse = event.reason() == QContextMenuEvent.Reason.Mouse
        state = self.state_at(event.pos()) if by_mouse else self._current
        if state:
            self.menu_wanted.emit(state, event.globalPos())

    @property
    def _current(self) -> str:
        return next((state.name for state in self._states if state.current), "")

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), _LOWEST)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._fitted:
            self.fit()
            self.show_current()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom_by(1.15 ** (event.angleDelta().y() / 120))
            event.accept()
        else:
            super().wheelEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom_by(1.25)
        elif event.key() == Qt.Key.Key_Minus:
            self.zoom_by(0.8)
        elif event.key() == Qt.Key.Key_0:
            self.fit()
            self.show_current()
        else:
            super().keyPressEvent(event)

    def _zoom_to(self, zoom: float) -> None:
        zoom = min(_LARGEST, max(_SMALLEST, zoom))
        self.scale(zoom / self.zoom, zoom / self.zoom)

    def _draw(self) -> None:
        if self.drawing is not None:
            self._scene.removeItem(self.drawing)
        self.drawing = Drawing(self._theme, self._states, self._edges)
        self._scene.addItem(self.drawing)
        self._scene.setSceneRect(self.drawing.boundingRect())


class Drawing(QGraphicsItem):
    """The whole diagram as one item."""

    def __init__(
        self, theme: Theme, states: tuple[DiagramState, ...], edges: tuple[DiagramEdgeView, ...]
    ) -> None:
        super().__init__()
        self.setAcceptHoverEvents(True)
        self._theme = theme
        self._states = {state.name: state for state in states}
        self._edges = {(edge.source, edge.target): edge for edge in edges}
        self._title = theme.text_font(bold=True)
        self._small = theme.small_font()
        self._metrics = QFontMetricsF(self._small)
        self.words = {state.name: self._words(state) for state in states}
        self.labels: dict[Pair, str] = {
            pair: self._metrics.elidedText(edge_words(edge), Qt.TextElideMode.ElideRight, _LABEL_WIDTH)
            for pair, edge in self._edges.items()
        }
        self.layout: Layout = lay_out(
            {state.name: self._size(state) for state in states},
            {
                pair: (self._metrics.horizontalAdvance(text) + 6, self._metrics.height() + 1)
                for pair, text in self.labels.items()
            },
        )

    def boundingRect(self) -> QRectF:
        room = QRectF(0, 0, self.layout.width, self.layout.height)
        return room.adjusted(-_MARGIN, -_MARGIN, _MARGIN, _MARGIN)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        taken_last = sorted(self.layout.lines, key=lambda pair: self._edges[pair].taken > 0)
        for pair in taken_last:
            self._paint_edge(painter, pair)
        for name, place in self.layout.boxes.items():
            self._paint_box(painter, self._states[name], _rect(place))

    def hoverMoveEvent(self, event: QGraphicsSceneHoverEvent) -> None:
        self.setToolTip(self.words_at(event.pos()))
        super().hoverMoveEvent(event)

    def state_at(self, point: QPointF) -> str:
        return next((name for name, place in self.layout.boxes.items() if _rect(place).contains(point)), "")

    def words_at(self, point: QPointF) -> str:
        """Return the full text at a position; empty outside of all boxes and labels."""
        for pair, place in self.layout.labels.items():
            if _rect(place).contains(point):
                return spoken_edge(self._edges[pair])
        if not (name := self.state_at(point)):
            return ""
        loop = self._edges.get((name, name))
        return spoken((self._states[name],), (loop,) if loop else ())

    def _words(self, state: DiagramState) -> tuple[str, str]:
        """Return a box's title and the text below it."""
        below = []
        if state.current:
            below.append("now")
        if state.visits:
            below.append(f"×{state.visits}")
        if state.stops:
            below.append("ends the run")
        if loop := self._edges.get((state.name, state.name)):
            text = f"↻ {edge_words(loop)}"
            below.append(self._metrics.elidedText(text, Qt.TextElideMode.ElideRight, _LABEL_WIDTH))
        title = state.title or state.name
        wide = QFontMetricsF(self._title).elidedText(title, Qt.TextElideMode.ElideRight, 1.4 * _LABEL_WIDTH)
        return f"▸ {wide}" if state.current else wide, " · ".join(below)

    def _size(self, state: DiagramState) -> tuple[float, float]:
        title, below = self.words[state.name]
        metrics = QFontMetricsF(self._title)
        wide = max(metrics.horizontalAdvance(title), self._metrics.horizontalAdvance(below), 34.0)
        tall = metrics.height() + (self._metrics.height() if below else 0)
        return wide + 20, tall + 9

    def _paint_box(self, painter: QPainter, state: DiagramState, rect: QRectF) -> None:
        theme = self._theme
        painter.setBrush(theme.colour("agent" if state.current else "raised"))
        border = "agent" if state.current else "dim" if state.visits else "line"
        pen = QPen(theme.colour(border), 1.6 if state.visits or state.current else 1.0)
        painter.setPen(pen)
        painter.drawRoundedRect(rect, 7, 7)
        if state.stops:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.colour("on_accent" if state.current else "dim"), 1))
            painter.drawRoundedRect(rect.adjusted(3, 3, -3, -3), 5, 5)
        title, below = self.words[state.name]
        strong = "on_accent" if state.current else "text" if state.visits else "dim"
        painter.setPen(theme.colour(strong))
        painter.setFont(self._title)
        top = QRectF(rect.left(), rect.top() + 4, rect.width(), QFontMetricsF(self._title).height())
        painter.drawText(top, int(Qt.AlignmentFlag.AlignCenter), title)
        painter.setFont(self._small)
        painter.setPen(theme.colour("on_accent" if state.current else "dim"))
        under = QRectF(QPointF(rect.left(), top.bottom()), QSizeF(rect.width(), self._metrics.height()))
        painter.drawText(under, int(Qt.AlignmentFlag.AlignCenter), below)

    def _paint_edge(self, painter: QPainter, pair: Pair) -> None:
        edge, theme = self._edges[pair], self._theme
        points = [QPointF(*point) for point in self.layout.lines[pair]]
        colour = theme.colour("agent" if edge.taken else "faint")
        style = Qt.PenStyle.SolidLine if edge.taken else Qt.PenStyle.DashLine
        painter.setPen(QPen(colour, 2.6 if edge.last else 1.7 if edge.taken else 1.0, style))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(_curve(points))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawPolygon(_arrow(points[-1], down=points[-1].y() > points[0].y()))
        place = _rect(self.layout.labels[pair])
        painter.setBrush(theme.colour("panel"))
        painter.drawRect(place)
        painter.setFont(self._small)
        painter.setPen(theme.colour("text" if edge.taken else "dim"))
        painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), self.labels[pair])


def edge_words(edge: DiagramEdgeView) -> str:
    """Return, for example, ``×2 select_item +1``: the count, the first action, and how many more there are."""
    shown = edge.actions[0] if edge.actions else ""
    if len(edge.actions) > 1:
        shown += f" +{len(edge.actions) - 1}"
    counted = f"×{edge.taken}" if edge.taken else ""
    return " ".join(part for part in (counted, "last" if edge.last else "", shown) if part) or "–"


def spoken(states: tuple[DiagramState, ...], edges: tuple[DiagramEdgeView, ...]) -> str:
    """Return the diagram as text for screen readers."""
    said = []
    for state in states:
        facts = [count(state.visits, "visit")] if state.visits else ["not visited"]
        facts += ["the run is here"] if state.current else []
        facts += ["ends the run"] if state.stops else []
        said.append(f"{state.title or state.name}: {', '.join(facts)}.")
    return " ".join([*said, *(spoken_edge(edge) for edge in edges)])


def spoken_edge(edge: DiagramEdgeView) -> str:
    """Return a transition with all of its actions as a sentence."""
    taken = f"taken {count(edge.taken, 'time')}" if edge.taken else "not taken"
    by = f" by {', '.join(edge.actions)}" if edge.actions else ""
    return f"{edge.source} to {edge.target}{by}: {taken}{', the last one' if edge.last else ''}."


def _rect(place: BoxPlace) -> QRectF:
    size = QSizeF(place.width, place.height)
    return QRectF(QPointF(place.x - place.width / 2, place.y - place.height / 2), size)


def _curve(points: list[QPointF]) -> QPainterPath:
    path = QPainterPath(points[0])
    for before, after in itertools.pairwise(points):
        middle = (before.y() + after.y()) / 2
        path.cubicTo(QPointF(before.x(), middle), QPointF(after.x(), middle), after)
    return path


def _arrow(tip: QPointF, *, down: bool) -> QPolygonF:
    back = -_ARROW if down else _ARROW
    return QPolygonF([tip, tip + QPointF(-_ARROW * 0.55, back), tip + QPointF(_ARROW * 0.55, back)])
