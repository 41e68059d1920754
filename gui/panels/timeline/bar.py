"""The time bar: steps, phases, LLM calls and waits of a run to scale, with marks for events."""

from bisect import bisect_left, bisect_right

from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QScrollBar, QWidget

from core.debugger.timeline.views import StepSpan, TimeMark, TimeView
from gui.panels.timeline import text as time_words
from gui.panels.timeline.painter import TimelineRows, TimePainter, TimeScale
from gui.theme.theme import Theme
from gui.widgets.layouts import in_column
from gui.widgets.words import OrWords, labelled, show_words

_NONE = "No run is in view. F10 takes the first step; its steps, calls and waits appear here over time."
_BEGINNING = "The run has no steps yet. F10 takes the first one."
_SIDE = 6
_NEAR = 6.0
"""Distance in pixels within which the pointer hits a mark."""


def no_steps(view: TimeView) -> str:
    """Return why a view has no steps, and what to do."""
    return _BEGINNING if view.run else _NONE


class TimeBar(QWidget):
    """Draws a `TimeView` and requests the step that is clicked, or chosen with Left and Right."""

    step_requested = Signal(int, int)
    """Run and number of a step."""
    scrubbed = Signal(int, int)
    """The same while the mouse button is held and the mouse moves over the bar."""
    changed = Signal()
    """Zoom or position has changed."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.view = TimeView()
        self.scale = TimeScale()
        self._painter = TimePainter(theme, self.scale)
        self._begins: list[float] = []
        self._viewed = (0, 0)
        self.folded = True
        self._pressed: float | None = None
        self._moved = False
        self._scrubbed: StepSpan | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setFixedHeight(self.rows.height)
        self.setAccessibleName("Time bar")
        theme.text_resized.connect(self._on_text_resized)
        theme.changed.connect(self._repaint)

    @property
    def rows(self) -> TimelineRows:
        """The positions of the rows."""
        return self._painter.rows

    def sizeHint(self) -> QSize:
        return QSize(400, self.rows.height)

    def _on_text_resized(self) -> None:
        self._painter.fit()
        self.setFixedHeight(self.rows.height)
        self._repaint()

    @property
    def viewed(self) -> StepSpan | None:
        """The step whose content the panels show, if it belongs to this run."""
        at = self.view.position(*self._viewed)
        return None if at is None else self.view.steps[at]

    def show_times(self, view: TimeView) -> None:
        """Replace what is drawn; zoom and position stay if it is the same run."""
        if view.run != self.view.run:
            self.scale.fit()
        self.view = view
        self._begins = [step.begun for step in view.steps]
        self._lay_out()
        self.setAccessibleDescription(time_words.description(view))

    def show_viewed(self, run: int, number: int) -> None:
        """Mark the step whose content the panels show."""
        if (run, number) == self._viewed:
            return
        self._viewed = (run, number)
        step = self.viewed
        if step is not None:
            self.scale.reveal(step.begun, step.ended)
            self.setAccessibleName(f"Time bar. {time_words.step_words(step)}".replace("\n", ". "))
        self._repaint()

    def set_folded(self, on: bool) -> None:
        """Draw waits short, or to scale."""
        self.folded = on
        self._lay_out()

    def fit(self) -> None:
        self.scale.fit()
        self._repaint()

    def zoom_by(self, factor: float, x: float | None = None) -> None:
        self.scale.zoom_by(factor, self.width() / 2 if x is None else x)
        self._repaint()

    def move_to(self, left: float) -> None:
        """Scroll this position of the zoomed bar, in pixels, to the left edge."""
        self.scale.move_to(left)
        self._repaint()

    def go(self, offset: int) -> None:
        """Request the step that is `offset` steps after the one in view."""
        steps = self.view.steps
        if not steps:
            return
        at = self.view.position(*self._viewed)
        last = len(steps) - 1
        self._ask(steps[last if at is None else min(max(at + offset, 0), last)])

    def words_at(self, x: float, y: float) -> str:
        """Return a description of what is at a position; empty if there is nothing."""
        view, time = self.view, self.scale.time(x)
        if not view.steps:
            return ""
        if near := self._marks_at(x, y):
            return "\n".join(time_words.mark_words(mark) for mark in near[:8])
        held = next((one for one in view.held if one.begun <= time < one.ended), None)
        step = self.step_at(x)
        if held is not None and not (step is not None and y < self.rows.phases):
            return time_words.held_words(held, folded=self.folded)
        if step is None:
            return time_words.summary(view)
        if self.rows.phases <= y < self.rows.calls:
            phase = next((one for one in step.phases if one.begun <= time <= one.ended), None)
            if phase is not None:
                return time_words.phase_words(step, phase)
        if self.rows.calls <= y < self.rows.cost:
            since, until = self.scale.time(x - 2), self.scale.time(x + 2)
            call = next((one for one in step.calls if one.started <= until and since <= one.ended), None)
            if call is not None:
                return time_words.call_words(step, call)
        if y >= self.rows.cost and view.costs:
            at = bisect_right([point.time for point in view.costs], time) - 1
            spent = view.costs[at].cost if at >= 0 else 0.0
            return f"${spent:.4g} so far"
        return time_words.step_words(step, timed=not view.untimed)

    def step_at(self, x: float) -> StepSpan | None:
        """Return the step at a position; for a wait, the step before it."""
        at = bisect_right(self._begins, self.scale.time(x)) - 1
        return self.view.steps[at] if 0 <= at < len(self.view.steps) else None

    def _marks_at(self, x: float, y: float) -> list[TimeMark]:
        if y >= self.rows.steps:
            return []
        return [mark for mark in self.view.marks if abs(self.scale.x(mark.time) - x) <= _NEAR]

    def _ask(self, step: StepSpan) -> None:
        self.step_requested.emit(step.run, step.number)

    def _lay_out(self) -> None:
        view = self.view
        self.scale.resize(self.width() - 2 * _SIDE)
        self.scale.show(view.begun, view.ended, view.held, folded=self.folded)
        self._repaint()

    def _repaint(self) -> None:
        self.update()
        self.changed.emit()

    # Qt's events

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.translate(_SIDE, 0)
        first = max(bisect_right(self._begins, self.scale.time(0)) - 1, 0)
        last = bisect_left(self._begins, self.scale.time(self.width()))
        self._painter.paint(painter, self.view, (first, last + 1), self.viewed, self.width() - 2 * _SIDE)
        painter.resetTransform()
        if self.hasFocus():
            painter.setPen(self._theme.colour("agent"))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            return show_words(event, self.words_at(event.pos().x() - _SIDE, event.pos().y()), self)
        return super().event(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned = event.angleDelta()
        along = turned.x() or (turned.y() if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 0)
        if along:
            self.scale.move_by(-along / 2)
            self._repaint()
        elif turned.y():
            self.zoom_by(1.25 ** (turned.y() / 120), event.position().x() - _SIDE)
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed, self._moved, self._scrubbed = event.position().x(), False, None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None:
            return
        by = event.position().x() - self._pressed
        if self._moved or abs(by) >= QApplication.startDragDistance():
            self._moved = True
            self._pressed = event.position().x()
            if self.scale.is_whole:
                self._scrub(self._pressed - _SIDE)
            else:
                self.scale.move_by(-by)
                self._repaint()

    def _scrub(self, x: float) -> None:
        step = self.step_at(x)
        if step is not None and step is not self._scrubbed:
            self._scrubbed = step
            self.scrubbed.emit(step.run, step.number)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        if pressed is not None and self._scrubbed is not None:
            self._ask(self._scrubbed)
        if pressed is None or self._moved or event.button() != Qt.MouseButton.LeftButton:
            return
        x, y = event.position().x() - _SIDE, event.position().y()
        near = self._marks_at(x, y)
        at = self.view.position(self.view.run, near[0].step) if near else None
        step = self.step_at(x) if at is None else self.view.steps[at]
        if step is not None:
            self._ask(step)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Left:
                self.go(-1)
            case Qt.Key.Key_Right:
                self.go(1)
            case Qt.Key.Key_Home:
                self.go(-len(self.view.steps))
            case Qt.Key.Key_End:
                self.go(len(self.view.steps))
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal | Qt.Key.Key_Minus:
                step = self.viewed
                middle = None if step is None else self.scale.x((step.begun + step.ended) / 2)
                self.zoom_by(1 / 1.5 if event.key() == Qt.Key.Key_Minus else 1.5, middle)
            case Qt.Key.Key_0:
                self.fit()
            case _:
                super().keyPressEvent(event)


class TimeArea(QWidget):
    """The bar with a scroll bar below it while it is zoomed, or a message in its place."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bar = TimeBar(theme)
        self.slider = labelled(QScrollBar(Qt.Orientation.Horizontal, self), "Place in the time bar")
        self.slider.valueChanged.connect(self._on_scrolled)
        self.or_words = OrWords(self.bar, self)
        self._fit()
        theme.text_resized.connect(self._fit)  # After the bar's own handler.
        self.or_words.say(_NONE)
        in_column(self, self.or_words, self.slider, spacing=0)
        self.bar.changed.connect(self._follow)
        self._follow()

    @Slot(object)
    def show_times(self, view: TimeView) -> None:
        """Replace what is shown with `view`."""
        self.or_words.say(view.problem or ("" if view.steps else no_steps(view)))
        self.bar.show_times(view)

    def _fit(self) -> None:
        self.or_words.setFixedHeight(self.bar.rows.height)

    def _follow(self) -> None:
        scale = self.bar.scale
        room = self.bar.width()
        self.slider.setVisible(not scale.is_whole)
        with QSignalBlocker(self.slider):
            self.slider.setRange(0, max(round(scale.length) - room, 0))
            self.slider.setPageStep(room)
            self.slider.setSingleStep(max(room // 10, 1))
            self.slider.setValue(round(scale.left))

    def _on_scrolled(self, value: int) -> None:
        self.bar.move_to(float(value))
