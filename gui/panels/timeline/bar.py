"""The time bar: steps, phases, LLM calls and waits of a run to scale, with marks for events."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from core.debugger.timeline.views import HeldSpan, MarkKind, StepSpan, TimeMark, TimeView
from core.schema.formats import dollars, seconds
from core.schema.step import RECORDS
from gui.panels.timeline import text as time_words
from gui.panels.timeline.film import FilmStrip, paint_words
from gui.theme.theme import Theme
from gui.theme.tokens import ORIGIN_SHAPES
from gui.widgets.item_views import LEFT
from gui.widgets.words import show_words

_SIDE = 6
"""Pixels on both sides of the bar."""
_NEAR = 6.0
"""Distance in pixels within which the pointer hits a mark."""
_BEYOND = 20.0
"""Pixels outside of the view at which what is drawn is cut: large coordinates draw incorrectly."""
_WAITS = 0.22
"""Maximum share of the bar that all folded waits take together."""
_CLOSEST = 4000.0
"""Pixels per second at the closest zoom."""
_LONGEST = 1e9
"""Maximum length of the bar in pixels, for scroll bars."""
_NARROW = 10.0
"""Width of a step in pixels below which it has no number and its phases are one grey band."""
_LEAST = 2.0
"""Minimum width of a call in pixels, so that it can be seen and clicked."""


class TimeScale:
    """The position of each moment of a run in the view, in pixels; waits are short while they are folded."""

    def __init__(
        self, begun: float = 0.0, ended: float = 0.0, waits: Sequence[HeldSpan] = (), *, folded: bool = True
    ) -> None:
        self.left = 0.0
        """Pixels of the bar to the left of the view."""
        self._times = [begun]
        """Moments between which time passes evenly: the beginning, where waits begin and end, and the end."""
        self._units = [0.0]
        """Where these moments are, in units of the bar."""
        ended = max(ended, begun + 1e-3)
        active = max(ended - begun - sum(wait.seconds for wait in waits), 1e-3)
        most = active * _WAITS / max(len(waits), 1) if folded else ended - begun
        for wait in waits:
            self._add(wait.begun)
            self._add(wait.ended, most)
        self._add(ended)
        self.stretch(1.0)

    @property
    def units(self) -> float:
        """Length of the bar in units: seconds, unless waits are folded."""
        return self._units[-1]

    @property
    def longest(self) -> float:
        """Length of the bar in pixels at the closest zoom."""
        return min(_CLOSEST * self.units, _LONGEST)

    def stretch(self, length: float) -> None:
        """Make the whole bar this many pixels long."""
        self._places = [unit / self.units * length for unit in self._units]

    def x(self, time: float) -> float:
        """Return the position of a moment; outside of the view if the moment is not visible."""
        return _between(time, self._times, self._places) - self.left

    def time(self, x: float) -> float:
        """Return the moment at a position of the view."""
        return _between(self.left + x, self._places, self._times)

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


class _Box(NamedTuple):
    """A rectangle of the bar: how it is drawn, with tokens of colours, and what it says under the pointer."""

    room: QRectF
    words: Callable[[], str]
    fill: str = ""
    alpha: int = 255
    hatch: str = ""
    line: str = ""
    text: str = ""
    tone: str = "text"
    tiny: bool = True
    """Whether the text is drawn in the smallest size."""


class TimeBar(QAbstractScrollArea):
    """Draws a `TimeView`; the mouse and the keys go through the steps of the filmstrip."""

    def __init__(self, theme: Theme, film: FilmStrip, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._film = theme, film
        self.view = TimeView()
        self.scale = TimeScale()
        self.zoom = 1.0
        """1 if the whole bar fits."""
        self._unmoved = 0.0
        """The part of a pixel by which the bar is still to be moved."""
        self.folded = True
        self._colours: dict[tuple[str, int], QColor] = {}
        """Colours of the theme, read once because there are thousands of strokes."""
        self._pressed = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setProperty("film", True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.horizontalScrollBar().setAccessibleName("Place in the time bar")
        film.framed.connect(self._on_framed)
        film.scrub_ended.connect(self._on_scrub_ended)
        theme.text_resized.connect(self._on_text_resized)
        theme.changed.connect(self._colours.clear)
        self._on_text_resized()

    def show_times(self, view: TimeView) -> None:
        """Replace what is drawn; a zoomed bar of the same run stays where it is, also while the run goes on."""
        scale = TimeScale(view.begun, view.ended, view.held, folded=self.folded)
        is_zoomed = view.run == self.view.run and self.horizontalScrollBar().maximum() > _SIDE
        self.zoom *= scale.units / self.scale.units if is_zoomed else 1 / self.zoom
        self.view = view
        self._lay_out(scale)

    def set_folded(self, on: bool) -> None:
        """Draw waits short, or to scale."""
        self.folded = on
        self._lay_out(TimeScale(self.view.begun, self.view.ended, self.view.held, folded=on))

    def fit(self) -> None:
        """Show the whole run."""
        self.zoom = 1.0
        self._lay_out()

    def zoom_by(self, factor: float, x: float | None = None) -> None:
        """Zoom and keep the moment at `x` in place, or that in the middle."""
        self.zoom *= factor
        self._lay_out(x=self.viewport().width() / 2 if x is None else x)

    def words_at(self, x: float, y: float) -> str:
        """Return a description of what is at a position; empty if there is nothing."""
        if not self.view.steps:
            return self._film.words
        if near := self._marks_at(x, y):
            return "\n".join(time_words.mark_words(mark) for mark in near[:8])
        if y >= self.rows.cost and self.view.costs:
            at = bisect_right(self.view.costs, self.scale.time(x), key=lambda cost: cost[0])
            return f"${self.view.costs[at - 1][1] if at else 0.0:.4g} so far"
        place = QPointF(x, y)
        boxes = [box for box in self._boxes(x, x) if box.room.adjusted(-2, 0, 2, 2).contains(place)]
        return boxes[-1].words() if boxes else time_words.summary(self.view)

    def step_at(self, x: float) -> int:
        """Return the index of the step at a position; for a wait, that of the step before it."""
        return max(bisect_right(self.view.steps, self.scale.time(x), key=lambda step: step.begun) - 1, 0)

    def _marks_at(self, x: float, y: float) -> list[TimeMark]:
        if y >= self.rows.steps:
            return []
        return [mark for mark in self.view.marks if abs(self.scale.x(mark.time) - x) <= _NEAR]

    def _lay_out(self, scale: TimeScale | None = None, x: float | None = None) -> None:
        """Place everything anew, by another scale if one is given, and keep the moment at `x` in place.

        Without `x`, the end of the run stays in view if it is, or else the moment at the left stays.
        """
        bar = self.horizontalScrollBar()
        at_end = x is None and bar.value() >= bar.maximum() - _SIDE
        x = _SIDE if x is None else x
        time = self.scale.time(x)
        room = max(self.viewport().width() - 2 * _SIDE, 1)
        self.scale = scale or self.scale
        self.zoom = max(min(self.zoom, self.scale.longest / room), 1.0)
        self.scale.stretch(room * self.zoom)
        bar.setRange(0, round(room * self.zoom) - room)
        bar.setPageStep(room)
        bar.setSingleStep(max(room // 10, 1))
        scrolled = bar.sizeHint().height() if bar.maximum() else 0
        self.setFixedHeight(self.rows.height + scrolled + 2 * self.frameWidth())
        self.scrollContentsBy(0, 0)
        if at_end:
            bar.setValue(bar.maximum())
        else:
            self._move_by(self.scale.x(time) - x)

    def _move_by(self, pixels: float) -> None:
        pixels += self._unmoved
        self._unmoved = pixels - round(pixels)
        self.horizontalScrollBar().setValue(self.horizontalScrollBar().value() + round(pixels))

    def _on_text_resized(self) -> None:
        self._metrics = QFontMetrics(self._theme.small_font())
        self.rows = TimelineRows(*map(self._theme.scaled, ROWS))
        self._lay_out()

    def _on_framed(self) -> None:
        """Bring the framed step into view, with its beginning first."""
        step = self._film.at
        if step is not None and not self._pressed:
            left, right = self.scale.x(step.begun) - 8, self.scale.x(step.ended) + 8
            self._move_by(min(left, max(right - self.viewport().width(), 0)))
        self.viewport().update()

    def _on_scrub_ended(self) -> None:
        self._pressed = False

    # What is drawn

    def _boxes(self, left: float, right: float) -> Iterator[_Box]:
        """Yield what is drawn between two positions, the uppermost last."""
        rows, view, viewed, x = self.rows, self.view, self._film.at, self.scale.x
        since, until = self.scale.time(left), self.scale.time(right)
        steps = view.steps[
            self.step_at(left) : bisect_left(view.steps, until, key=lambda step: step.begun) + 1
        ]
        for step in steps:
            yield from self._step_boxes(step, viewed=step is viewed)
        first = bisect_left(view.held, since, key=lambda held: held.ended)
        for held in view.held[first : bisect_right(view.held, until, key=lambda held: held.begun)]:
            begun, ended = x(held.begun), x(held.ended)
            if ended - begun >= 1:
                yield from self._held_boxes(held, begun, ended)
        drawn = -_BEYOND
        for step in steps:
            for call in step.calls:
                begun, ended = x(call.started), x(call.ended)
                if max(ended, begun + _LEAST) <= drawn and not call.error:
                    continue  # It is covered by others.
                begun, width = self._cut(begun, ended, _LEAST)
                drawn = begun + width
                room = QRectF(begun, rows.calls, width, rows.cost - rows.calls - 2)
                words = partial(time_words.call_words, step, call)
                if call.error:
                    yield _Box(room, words, hatch="bad", line="bad")
                else:
                    text = self._fitting(width, call.purpose)
                    yield _Box(room, words, "agent", text=text, tone="on_accent")

    def _held_boxes(self, held: HeldSpan, begun: float, ended: float) -> Iterator[_Box]:
        begun, width = self._cut(begun, ended)
        room = QRectF(begun, self.rows.phases, width, self.rows.cost - self.rows.phases - 1)
        words = partial(time_words.held_words, held, folded=self.folded)
        yield _Box(room, words, "panel", hatch="dim")
        lasted = seconds(held.seconds)
        if text := self._fitting(width - 2, f"held {lasted}", lasted):
            wide = self._metrics.horizontalAdvance(text) + 6
            label = QRectF(room.center().x() - wide / 2, room.top() + 3, wide, room.height() - 6)
            yield _Box(label, words, "panel", text=text, tone="dim", tiny=False)

    def _step_boxes(self, step: StepSpan, *, viewed: bool) -> Iterator[_Box]:
        rows, x, failed = self.rows, self.scale.x, step.outcome == "failed"
        words = partial(time_words.step_words, step, timed=not self.view.untimed)
        left, width = self._cut(x(step.begun), x(step.ended), 1.0)
        room = QRectF(left, rows.steps, width, rows.phases - rows.steps - 2)
        yield _Box(
            room,
            words,
            "selected" if viewed else "raised",
            line="agent" if viewed else "line" if width > 3 else "",
            text=self._step_text(step, width) if width >= _NARROW else "",
            tone="bad" if failed else "text",
            tiny=False,
        )
        height = rows.calls - rows.phases - 2
        if width < _NARROW:
            yield _Box(QRectF(left, rows.phases, width, height), words, "dim", 60)
            if failed:
                yield _Box(room.adjusted(0, room.height() - 4, 0, 0), words, "bad")
            return
        for phase in step.phases:
            left, width = self._cut(x(phase.begun), x(phase.ended))
            if width >= 0.4:
                gap = 1 if width > 2 else 0
                room = QRectF(left + gap, rows.phases, width - gap, height)
                words, tone = partial(time_words.phase_words, step, phase), RECORDS[phase.phase].tone
                text = self._fitting(width, phase.phase)
                yield _Box(room, words, tone, 60 if tone == "dim" else 95, text=text)

    def _step_text(self, step: StepSpan, width: float) -> str:
        """Return the number of a step and, if there is space, its action."""
        sign = (
            "✗" if step.outcome == "failed" else "" if step.origin == "agent" else ORIGIN_SHAPES[step.origin]
        )
        number = f"{step.number}{sign}"
        if self._metrics.horizontalAdvance(number) + 45 > width:
            return self._fitting(width, number)
        text = f"{number} {step.action}".rstrip()
        return self._metrics.elidedText(text, Qt.TextElideMode.ElideRight, int(width) - 5)

    def _fitting(self, width: float, *texts: str) -> str:
        """Return the first of the texts that fits into this many pixels; empty if none does."""
        if width < _NARROW:
            return ""
        return next((text for text in texts if self._metrics.horizontalAdvance(text) + 6 < width), "")

    def _cut(self, left: float, right: float, least: float = 0.0) -> tuple[float, float]:
        """Return the left side and the width of what is drawn between two positions, without what is far outside."""
        left = max(left, -_BEYOND)
        return left, max(min(right, self._right) - left, least)

    def _colour(self, token: str, alpha: int = 255) -> QColor:
        if (token, alpha) not in self._colours:
            colour = self._colours[token, alpha] = self._theme.colour(token)
            colour.setAlpha(alpha)
        return self._colours[token, alpha]

    def _paint_boxes(self, painter: QPainter, width: int) -> None:
        small, tiny = self._theme.small_font(), self._theme.small_font()
        tiny.setPointSizeF(tiny.pointSizeF() * 0.82)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for room, _words, fill, alpha, hatch, line, text, tone, is_tiny in self._boxes(0, width):
            if fill:
                painter.fillRect(room, self._colour(fill, alpha))
            if hatch:
                painter.fillRect(room, QBrush(self._colour(hatch), Qt.BrushStyle.BDiagPattern))
            if line:
                painter.setPen(QPen(self._colour(line), 2 if line == "agent" else 1))
                painter.drawRect(room.adjusted(0.5, 0.5, -0.5, -0.5))
            if text:
                painter.setFont(tiny if is_tiny else small)
                painter.setPen(self._colour(tone))
                painter.drawText(room.adjusted(3, -1, 0, 1), int(LEFT), text)
        painter.setFont(small)

    def _paint_costs(self, painter: QPainter, width: int) -> None:
        costs = self.view.costs
        if not costs or not costs[-1][1]:
            return
        top, bottom, whole = self.rows.cost + 2.0, self.rows.height - 3.0, costs[-1][1]
        height, line = bottom, [QPointF(self.scale.x(self.view.begun), bottom)]
        for time, cost in costs:
            x = self.scale.x(time)
            line.append(QPointF(x, height))
            height = bottom - cost / whole * (bottom - top)
            line.append(QPointF(x, height))
        line.append(QPointF(self.scale.x(self.view.ended), height))
        painter.setPen(QPen(self._colour("good"), 1.4))
        painter.drawPolyline(line)
        text = dollars(whole)
        wide = painter.fontMetrics().horizontalAdvance(text) + 6
        label = QRectF(width - wide, self.rows.cost - 1, wide, self.rows.height - self.rows.cost)
        painter.fillRect(label, self._colour("panel", 215))
        painter.setPen(self._colour("dim"))
        painter.drawText(label, int(Qt.AlignmentFlag.AlignCenter), text)

    def _paint_marks(self, painter: QPainter, width: int) -> None:
        last: dict[MarkKind, float] = {}
        for mark in self.view.marks:
            x = self.scale.x(mark.time)
            if not 0 <= x <= width or x - last.get(mark.kind, -100.0) < 3:
                continue  # Marks of one kind at the same position are drawn once; the tooltip lists all of them.
            last[mark.kind] = x
            sign, tone, _ = time_words.MARKS[mark.kind]
            painter.setPen(self._colour(tone))
            room = QRectF(x - 8, self.rows.marks, 16, self.rows.steps - self.rows.marks - 1)
            painter.drawText(room, int(Qt.AlignmentFlag.AlignCenter), sign)

    # Qt's events

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.view.steps:
            paint_words(self.viewport(), self._theme, self._film.words)
            return
        painter, width = QPainter(self.viewport()), self.viewport().width()
        self._paint_boxes(painter, width)
        self._paint_costs(painter, width)
        self._paint_marks(painter, width)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._lay_out()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        self.scale.left = self.horizontalScrollBar().value() - _SIDE
        self._right = self.viewport().width() + _BEYOND
        self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            return show_words(event, self.words_at(event.pos().x(), event.pos().y()), self)
        return super().viewportEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        sideways, turned = event.angleDelta().x(), event.angleDelta().y()
        if abs(sideways) > abs(turned):
            self._move_by(-sideways / 2)
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._move_by(-turned / 2)
        else:
            self.zoom_by(1.25 ** (turned / 120), event.position().x())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.view.steps:
            self._pressed = True
            x, near = event.position().x(), self._marks_at(event.position().x(), event.position().y())
            at = self.view.position(self.view.run, near[0].step) if near else None
            self._film.scrub_to(self.step_at(x) if at is None else at)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed:
            self._film.scrub_to(self.step_at(event.position().x()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._pressed and event.button() == Qt.MouseButton.LeftButton:
            self._pressed = False
            self._film.rest()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus):
            step = self._film.at
            middle = None if step is None else self.scale.x((step.begun + step.ended) / 2)
            self.zoom_by(1 / 1.5 if key == Qt.Key.Key_Minus else 1.5, middle)
        elif key == Qt.Key.Key_0:
            self.fit()
        else:
            self._film.keyPressEvent(event)
