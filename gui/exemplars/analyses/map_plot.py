"""The map itself: points that can be zoomed, panned, gone through by keys, and opened."""

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from core.debugger.exemplars.analyses.views import MapView
from gui.exemplars.analyses.map_colours import Look, looks_of
from gui.exemplars.analyses.map_painting import Places, draw_points
from gui.theme.theme import Theme

_MARGIN = 34.0
_REACH = 10.0
"""How far from a point a click still means it."""
_NAMED = 24
"""Families whose names are written at their middles."""
_STEP = 1.25
_IDLE_MS = 60
_KEYS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}


class MapPlot(QWidget):
    """Draws `MapView`; the picture is drawn once for each zoom, and moved and stretched until it rests."""

    opened = Signal(str)
    """The exemplar of the point that was pressed."""
    current_changed = Signal(str)
    """What the current point says."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._view = MapView()
        self._points = np.zeros((0, 2), np.float32)
        self._families = np.zeros(0, np.int32)
        self.looks: tuple[tuple[Look, int], ...] = ()
        """The look and the number of members of each family."""
        self._middles: list[tuple[int, Places]] = []
        self._family = ""
        self._scale = 1.0
        """Pixels for one unit."""
        self._origin = QPointF()
        """Where the middle of the plane lies on the widget."""
        self.place: int | None = None
        """The current point."""
        self._picture: QPixmap | None = None
        self._drawn: tuple[float, QPointF] = (1.0, QPointF())
        self._pressed: QPointF | None = None
        self._moved = False
        self._fitted = True
        self._idle = QTimer(self)
        self._idle.setSingleShot(True)
        self._idle.setInterval(_IDLE_MS)
        self._idle.timeout.connect(self._redraw)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(280, 220)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Map of the exemplars")
        theme.changed.connect(self._redraw)

    def sizeHint(self) -> QSize:
        return QSize(760, 560)

    def show_view(self, view: MapView) -> None:
        """Replace what is drawn; zoom and current point stay while the points do."""
        before, self._view = self._view, view
        if (view.points, view.families) != (before.points, before.families):
            current = before.ids[self.place] if self.place is not None else ""
            self._points = np.frombuffer(view.points, "<f4").reshape(-1, 2)
            self._families = np.frombuffer(view.families, "<i4")
            self.looks = looks_of(self._families.tolist(), len(view.names))
            ranked = sorted(range(len(view.names)), key=lambda one: -self.looks[one][1])[:_NAMED]
            self._middles = [(one, np.median(self._points[self._families == one], axis=0)) for one in ranked]
            self.place = view.ids.index(current) if current in view.ids else None
            self.fit()
        if view.task != before.task and self._fitted:
            self.fit()
        self.update()

    def show_family(self, family: str) -> None:
        """Draw those of other families in the background; an empty name draws all alike."""
        self._family = family
        self._redraw()

    # Where things lie

    def fit(self) -> None:
        """Show all points and the task."""
        corners = self._points
        if self._view.task is not None:
            corners = np.vstack([corners, [[self._view.task.across, self._view.task.up]]])
        if len(corners):
            low, high = corners.min(axis=0), corners.max(axis=0)
            wide, tall = (max(float(size), 1e-6) for size in high - low)
            room = max(10.0, self.width() - 2 * _MARGIN), max(10.0, self.height() - 2 * _MARGIN)
            self._scale = min(room[0] / wide, room[1] / tall)
            middle = (low + high) / 2
            self._origin = QPointF(
                self.width() / 2 - float(middle[0]) * self._scale,
                self.height() / 2 + float(middle[1]) * self._scale,
            )
        self._fitted = True
        self._redraw()

    def point_at(self, across: float, up: float) -> QPointF:
        """Return where a place of the plane lies on the widget."""
        return QPointF(self._origin.x() + across * self._scale, self._origin.y() - up * self._scale)

    def place_of(self, number: int) -> QPointF:
        """Return where a point lies on the widget."""
        return self.point_at(float(self._points[number, 0]), float(self._points[number, 1]))

    def near(self, place: QPointF) -> int | None:
        """Return the point that a click there means, of the family that is shown."""
        places = self._places()
        if not len(places):
            return None
        away = (places[:, 0] - place.x()) ** 2 + (places[:, 1] - place.y()) ** 2
        if (faint := self._faint()) is not None:
            away = np.where(faint, np.inf, away)
        nearest = int(away.argmin())
        return nearest if away[nearest] <= _REACH**2 else None

    def _places(self) -> Places:
        signs = np.array([self._scale, -self._scale], np.float32)
        origin = np.array([self._origin.x(), self._origin.y()], np.float32)
        places: Places = self._points * signs + origin
        return places

    def _faint(self) -> NDArray[np.bool_] | None:
        """Return which points are of other families than the one that is shown; None where all are."""
        if self._family not in self._view.names:
            return None
        faint: NDArray[np.bool_] = self._families != self._view.names.index(self._family)
        return faint

    def zoom(self, factor: float, about: QPointF | None = None) -> None:
        """Come nearer, or go further away, with one place where it is."""
        about = about or QPointF(self.width() / 2, self.height() / 2)
        self._origin = about + (self._origin - about) * factor
        self._scale *= factor
        self._fitted = False
        self._idle.start()
        self.update()

    def pan(self, by: QPointF) -> None:
        self._origin += by
        self._fitted = False
        self._idle.start()
        self.update()

    def choose(self, number: int | None) -> None:
        """Make a point current; it is told in words."""
        self.place = number
        words = self.words_of(number) if number is not None else ""
        self.setAccessibleDescription(words)
        if self.hasFocus():
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))
        self.current_changed.emit(words)
        self.update()

    def words_of(self, number: int) -> str:
        """Return what a point says."""
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
        """Go to the nearest point in a direction, in a quarter of the plane."""
        places = self._places()
        middle = np.array([self.width() / 2, self.height() / 2], np.float32)
        here = middle if self.place is None else places[self.place]
        away = places - here
        ahead = away[:, 0] * across + away[:, 1] * down
        beside = np.abs(away[:, 0] * down) + np.abs(away[:, 1] * across)
        cost = np.where((ahead > 0.5) & (beside <= ahead), ahead + 2 * beside, np.inf)
        if self.place is None:
            cost = (away**2).sum(axis=1)
        if (faint := self._faint()) is not None:
            cost = np.where(faint, np.inf, cost)
        to = int(cost.argmin())
        if np.isfinite(cost[to]):
            self.choose(to)
            if not self.rect().adjusted(20, 20, -20, -20).contains(self.place_of(to).toPoint()):
                self.pan(QPointF(self.width() / 2, self.height() / 2) - self.place_of(to))

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned = event.angleDelta().y() or event.pixelDelta().y()
        if turned:
            self.zoom(_STEP ** (turned / 120), event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed, self._moved = event.position(), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is not None and event.buttons() & Qt.MouseButton.LeftButton:
            by = event.position() - self._pressed
            if self._moved or by.manhattanLength() > 4:
                self._moved = True
                self._pressed = event.position()
                self.pan(by)
            return
        number = self.near(event.position())
        self.setCursor(Qt.CursorShape.ArrowCursor if number is None else Qt.CursorShape.PointingHandCursor)
        words = "" if number is None else self.words_of(number)
        QToolTip.showText(event.globalPosition().toPoint(), words, self)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        if pressed is None or self._moved or event.button() != Qt.MouseButton.LeftButton:
            return
        number = self.near(event.position())
        if number is not None:
            self.choose(number)
            self.opened.emit(self._view.ids[number])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._fitted:
            self.fit()
        else:
            self._idle.start()

    # Drawing

    def _redraw(self) -> None:
        self._picture = None
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), self._theme.colour("panel"))
        if self._picture is None:
            looks = [look for look, _ in self.looks]
            self._picture = draw_points(
                self._theme, self.size(), self.devicePixelRatioF(), self._places(), self._families, looks, self._faint()
            )  # fmt: skip
            self._drawn = (self._scale, QPointF(self._origin))
        scale, origin = self._drawn
        grown = self._scale / scale
        painter.save()
        painter.translate(self._origin - origin * grown)
        painter.scale(grown, grown)
        painter.drawPixmap(QPoint(0, 0), self._picture)
        painter.restore()
        self._paint_names(painter)
        self._paint_task(painter)
        if self.place is not None:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._theme.colour("text"), 2))
            painter.drawEllipse(self.place_of(self.place), 8.5, 8.5)
        if self.hasFocus():
            painter.setPen(QPen(self._theme.colour("agent"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))

    def _paint_names(self, painter: QPainter) -> None:
        painter.setFont(self._theme.small_font(bold=True))
        metrics = QFontMetricsF(painter.font())
        taken: list[QRectF] = []
        if (task := self._view.task) is not None:
            here = self.point_at(task.across, task.up)
            taken.append(QRectF(here.x() - 32, here.y() - 10, 64, 36))
        for family, middle in self._middles:
            name = self._view.names[family]
            if self._family and name != self._family:
                continue
            at = self.point_at(float(middle[0]), float(middle[1]))
            wide, tall = metrics.horizontalAdvance(name) + 8, metrics.height() + 2
            room = QRectF(at.x() - wide / 2, at.y() - tall - 6, wide, tall)
            if any(room.intersects(one) for one in taken) or not QRectF(self.rect()).contains(room):
                continue
            taken.append(room)
            ground = self._theme.colour("panel")
            ground.setAlpha(205)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ground)
            painter.drawRoundedRect(room, 3, 3)
            painter.setPen(self._theme.colour("text"))
            painter.drawText(room, int(Qt.AlignmentFlag.AlignCenter), name)

    def _paint_task(self, painter: QPainter) -> None:
        task = self._view.task
        if task is None:
            return
        here, colour = self.point_at(task.across, task.up), self._theme.colour("agent")
        painter.setFont(self._theme.small_font())
        for one in task.near:
            if one.place is None:
                continue
            there = self.place_of(one.place)
            painter.setPen(QPen(colour, 1.2, Qt.PenStyle.DashLine))
            painter.drawLine(here, there)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(colour, 1.4))
            painter.drawEllipse(there, 6.5, 6.5)
            self._paint_word(painter, (here + there * 2) / 3, f"{one.distance:.2f}")
        painter.setPen(QPen(self._theme.colour("panel"), 1.5))
        painter.setBrush(colour)
        painter.drawEllipse(here, 7.0, 7.0)
        painter.setPen(QPen(self._theme.colour("on_accent"), 1.8))
        painter.drawLine(here - QPointF(3.5, 0), here + QPointF(3.5, 0))
        painter.drawLine(here - QPointF(0, 3.5), here + QPointF(0, 3.5))
        painter.setFont(self._theme.small_font(bold=True))
        self._paint_word(painter, here + QPointF(0, 16), "the task")

    def _paint_word(self, painter: QPainter, at: QPointF, word: str) -> None:
        metrics = QFontMetricsF(painter.font())
        wide, tall = metrics.horizontalAdvance(word) + 6, metrics.height()
        room = QRectF(at.x() - wide / 2, at.y() - tall / 2, wide, tall)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour("raised"))
        painter.drawRoundedRect(room, 3, 3)
        painter.setPen(self._theme.colour("text"))
        painter.drawText(room, int(Qt.AlignmentFlag.AlignCenter), word)
