"""Paints the time bar: the position of each moment, and what is visible of it."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPolygonF

from core.debugger.timeline.views import HeldSpan, MarkKind, StepSpan, TimeView
from core.schema.formats import dollars, seconds
from core.schema.step import RECORDS, CallRecord, Phase
from gui.panels.timeline.text import MARKS
from gui.theme.theme import Theme
from gui.theme.tokens import ORIGIN_SHAPES
from gui.widgets.item_views import LEFT

_WAITS = 0.22
"""Maximum share of the bar that all folded waits take together."""
_CLOSEST = 4000.0
"""Pixels per second at the closest zoom."""
_NARROW = 10.0
"""Width of a step in pixels below which it has no number and its phases are one grey band."""
_LEAST = 2.0
"""Minimum width of a call in pixels, so that it can be seen and clicked."""


class TimeScale:
    """The position of each moment in a bar of a given width; waits are short while they are folded."""

    def __init__(self) -> None:
        self._times = [0.0]
        """Moments between which time passes evenly: the beginning, where waits begin and end, and the end."""
        self._units = [0.0]
        """Where these moments are, in units of the bar: seconds, unless waits are folded."""
        self._width = 1.0
        self.zoom = 1.0
        """1 if the whole bar fits."""
        self.left = 0.0
        """Pixels of the zoomed bar to the left of the view."""

    @property
    def length(self) -> float:
        """Length of the whole bar at this zoom, in pixels."""
        return self._width * self.zoom

    @property
    def is_whole(self) -> bool:
        """Whether the whole bar is in view."""
        return self.zoom <= 1.001

    def show(self, begun: float, ended: float, waits: Sequence[HeldSpan], *, folded: bool) -> None:
        """Show another period; zoom and position stay as far as possible."""
        ended = max(ended, begun + 1e-3)
        active = max(ended - begun - sum(wait.seconds for wait in waits), 1e-3)
        most = active * _WAITS / max(len(waits), 1) if folded else ended - begun
        self._times, self._units = [begun], [0.0]
        for wait in waits:
            self._add(wait.begun)
            self._add(wait.ended, most)
        self._add(ended)
        self._keep_inside()

    def resize(self, width: float) -> None:
        self._width = max(width, 1.0)
        self._keep_inside()

    def fit(self) -> None:
        self.zoom, self.left = 1.0, 0.0

    def zoom_by(self, factor: float, x: float) -> None:
        """Zoom and keep the moment at `x` in place."""
        place = (self.left + x) / self.length
        self.zoom = min(max(self.zoom * factor, 1.0), self._closest())
        self.left = place * self.length - x
        self._keep_inside()

    def move_by(self, pixels: float) -> None:
        self.left += pixels
        self._keep_inside()

    def move_to(self, left: float) -> None:
        self.left = left
        self._keep_inside()

    def reveal(self, begun: float, ended: float) -> None:
        """Scroll as little as needed to bring this period into view, with its beginning first."""
        left, right = self.x(begun), self.x(ended)
        if right > self._width:
            self.move_by(min(right - self._width + 8, left - 8))
        if self.x(begun) < 0:
            self.move_by(self.x(begun) - 8)

    def x(self, time: float) -> float:
        """Return the position of a moment in the view, in pixels; outside of the view if the moment is not visible."""
        whole = self._units[-1]
        return _between(time, self._times, self._units) / whole * self.length - self.left if whole else 0.0

    def time(self, x: float) -> float:
        """Return the moment at a position of the view."""
        unit = (self.left + x) / self.length * self._units[-1]
        return _between(unit, self._units, self._times)

    def _closest(self) -> float:
        return max(1.0, _CLOSEST * self._units[-1] / self._width)

    def _keep_inside(self) -> None:
        self.zoom = min(max(self.zoom, 1.0), self._closest())
        self.left = min(max(self.left, 0.0), self.length - self._width)

    def _add(self, time: float, most: float = float("inf")) -> None:
        """Add the next moment, at most so many units further."""
        passed = time - self._times[-1]
        if passed > 0:
            self._times.append(time)
            self._units.append(self._units[-1] + min(passed, most))


def _between(value: float, known: Sequence[float], wanted: Sequence[float]) -> float:
    """Return what corresponds to `value`, evenly between neighbours; both lists ascend and are as long."""
    at = bisect_right(known, value)
    if at == 0 or at == len(known):
        return wanted[0 if at == 0 else -1]
    share = (value - known[at - 1]) / (known[at] - known[at - 1])
    return wanted[at - 1] + share * (wanted[at] - wanted[at - 1])


class TimelineRows(NamedTuple):
    """The position of each row of the bar from the top, at normal text size."""

    marks: int = 1
    steps: int = 15
    phases: int = 32
    calls: int = 43
    cost: int = 54
    height: int = 66


ROWS = TimelineRows()


class TimePainter:
    """Draws a `TimeView` with a scale; x is 0 at the left of the view."""

    def __init__(self, theme: Theme, scale: TimeScale) -> None:
        self._theme = theme
        self._scale = scale
        self.fit()
        self._colours: dict[str, QColor] = {}
        """The theme's colours, read once per painting because there are thousands of strokes."""

    def fit(self) -> None:
        """Adapt the height of the rows to the text size."""
        self.rows = TimelineRows(*map(self._theme.scaled, ROWS))

    @property
    def _phase_height(self) -> int:
        return self.rows.calls - self.rows.phases - 2

    def paint(
        self,
        painter: QPainter,
        view: TimeView,
        steps: tuple[int, int],
        viewed: StepSpan | None,
        width: int,
    ) -> None:
        """Paint `view` within `width`; `steps` are the indexes of the first visible step and after the last."""
        self._colours.clear()
        painter.setFont(self._theme.small_font())
        seen = view.steps[slice(*steps)]
        for step in seen:
            self._step(painter, step, viewed is step, width)
        for held in view.held:
            self._held(painter, held, width)
        drawn = -1.0
        for step in seen:
            for call in step.calls:
                drawn = self._call(painter, call, width, drawn)
        self._costs(painter, view, width)
        self._marks(painter, view, width)

    def _step(self, painter: QPainter, step: StepSpan, viewed: bool, width: int) -> None:
        left, right = self._span(step.begun, step.ended, width)
        room = QRectF(left, self.rows.steps, max(right - left, 1.0), self.rows.phases - self.rows.steps - 2)
        failed = step.outcome == "failed"
        painter.fillRect(room, self._colour("selected" if viewed else "raised"))
        if room.width() > 3 or viewed:
            painter.setPen(QPen(self._colour("agent" if viewed else "line"), 2 if viewed else 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(room.adjusted(0.5, 0.5, -0.5, -0.5))
        if room.width() < _NARROW:
            painter.fillRect(
                QRectF(left, self.rows.phases, room.width(), self._phase_height), self._colour("dim", 60)
            )
            if failed:
                painter.fillRect(room.adjusted(0, room.height() - 4, 0, 0), self._colour("bad"))
            return
        sign = "✗" if failed else "" if step.origin == "agent" else ORIGIN_SHAPES[step.origin]
        text = f"{step.number}{sign}"
        inside = room.adjusted(3, 0, -2, 0)
        metrics = painter.fontMetrics()
        if metrics.horizontalAdvance(text) <= inside.width():
            whole = f"{text} {step.action}".rstrip()
            if metrics.horizontalAdvance(text) + 40 < inside.width():
                text = metrics.elidedText(whole, Qt.TextElideMode.ElideRight, int(inside.width()))
            painter.setPen(self._colour("bad" if failed else "text"))
            painter.drawText(inside, int(LEFT), text)
        for phase in step.phases:
            self._phase(painter, phase.phase, phase.begun, phase.ended, width)

    def _phase(self, painter: QPainter, phase: Phase, begun: float, ended: float, width: int) -> None:
        left, right = self._span(begun, ended, width)
        if right - left < 0.4:
            return
        room = QRectF(left, self.rows.phases, right - left, self._phase_height)
        tone = RECORDS[phase].tone
        painter.fillRect(room, self._colour(tone, 60 if tone == "dim" else 95))
        if room.width() > 2:
            painter.fillRect(QRectF(left, self.rows.phases, 1, room.height()), self._colour("panel"))
        self._name(painter, room, phase, "text")

    def _call(self, painter: QPainter, call: CallRecord, width: int, drawn: float) -> float:
        """Draw a call and return how far to the right calls are drawn; a call that is covered by others is skipped."""
        left, right = self._span(call.started, call.ended, width)
        if right < 0 or left > width or (max(right, left + _LEAST) <= drawn and not call.error):
            return drawn
        room = QRectF(left, self.rows.calls, max(right - left, _LEAST), self.rows.cost - self.rows.calls - 2)
        colour = self._colour("bad" if call.error else "agent")
        if call.error:
            painter.setPen(QPen(colour, 1))
            painter.setBrush(QBrush(colour, Qt.BrushStyle.BDiagPattern))
            painter.drawRect(room.adjusted(0.5, 0.5, -0.5, -0.5))
            return room.right()
        painter.fillRect(room, colour)
        self._name(painter, room, call.purpose, "on_accent")
        return room.right()

    def _held(self, painter: QPainter, held: HeldSpan, width: int) -> None:
        left, right = self._span(held.begun, held.ended, width)
        if right < 0 or left > width or right - left < 1:
            return
        room = QRectF(left, self.rows.phases, right - left, self.rows.cost - self.rows.phases - 1)
        painter.fillRect(room, self._colour("panel"))
        painter.fillRect(room, QBrush(self._colour("dim"), Qt.BrushStyle.BDiagPattern))
        if room.width() < 24:
            return
        metrics = painter.fontMetrics()
        texts = (f"held {seconds(held.seconds)}", seconds(held.seconds))
        text = next((one for one in texts if metrics.horizontalAdvance(one) + 8 < room.width()), "")
        wide = metrics.horizontalAdvance(text)
        if text:
            label = QRectF(room.center().x() - wide / 2 - 3, room.top() + 3, wide + 6, room.height() - 6)
            painter.fillRect(label, self._colour("panel"))
            painter.setPen(self._colour("dim"))
            painter.drawText(label, int(Qt.AlignmentFlag.AlignCenter), text)

    def _costs(self, painter: QPainter, view: TimeView, width: int) -> None:
        if not view.costs or not view.costs[-1].cost:
            return
        top, bottom, whole = self.rows.cost + 2.0, self.rows.height - 3.0, view.costs[-1].cost
        line = QPolygonF([QPointF(self._scale.x(view.begun), bottom)])
        height = bottom
        for point in view.costs:
            x = self._scale.x(point.time)
            line.append(QPointF(x, height))
            height = bottom - point.cost / whole * (bottom - top)
            line.append(QPointF(x, height))
        line.append(QPointF(self._scale.x(view.ended), height))
        painter.setPen(QPen(self._colour("good"), 1.4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setClipRect(QRect(0, 0, width, self.rows.height))
        painter.drawPolyline(line)
        text = dollars(whole)
        wide = painter.fontMetrics().horizontalAdvance(text)
        label = QRectF(width - wide - 6, self.rows.cost - 1, wide + 6, self.rows.height - self.rows.cost)
        painter.fillRect(label, self._colour("panel", 215))
        painter.setPen(self._colour("dim"))
        painter.drawText(label, int(Qt.AlignmentFlag.AlignCenter), text)
        painter.setClipping(False)

    def _marks(self, painter: QPainter, view: TimeView, width: int) -> None:
        last: dict[MarkKind, float] = {}
        for mark in view.marks:
            x = self._scale.x(mark.time)
            if not -6 <= x <= width + 6 or x - last.get(mark.kind, -100.0) < 3:
                continue  # Marks of one kind at the same position are drawn once; the tooltip lists all of them.
            last[mark.kind] = x
            sign, tone, _ = MARKS[mark.kind]
            painter.setPen(self._colour(tone))
            room = QRectF(x - 8, self.rows.marks, 16, self.rows.steps - self.rows.marks - 1)
            painter.drawText(room, int(Qt.AlignmentFlag.AlignCenter), sign)

    def _span(self, begun: float, ended: float, width: int) -> tuple[float, float]:
        """Return a span in pixels, clipped slightly outside of the view: large coordinates draw incorrectly."""
        return max(self._scale.x(begun), -20.0), min(self._scale.x(ended), width + 20.0)

    def _colour(self, token: str, alpha: int = 255) -> QColor:
        key = f"{token}{alpha}"
        if key not in self._colours:
            self._colours[key] = self._theme.colour(token)
            self._colours[key].setAlpha(alpha)
        return self._colours[key]

    def _name(self, painter: QPainter, room: QRectF, name: str, tone: str) -> None:
        """Draw the name of a phase or a call in the smallest text size, if there is space for it."""
        if room.width() <= 18 or painter.fontMetrics().horizontalAdvance(name) + 6 >= room.width():
            return
        font = painter.font()
        tiny = self._theme.small_font()
        tiny.setPointSizeF(tiny.pointSizeF() * 0.82)
        painter.setFont(tiny)
        painter.setPen(self._colour(tone))
        painter.drawText(room.adjusted(3, -1, 0, 1), int(LEFT), name)
        painter.setFont(font)
