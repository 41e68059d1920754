"""The filmstrip: a picture of each step, with its events; scrubbed by mouse and keys."""

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolTip, QWidget

from core.debugger.timeline.views import StepSpan, TimeMark, TimeView
from gui.panels.timeline import text as time_words
from gui.panels.timeline.thumbnails import Thumbnails
from gui.theme.theme import Theme
from gui.widgets.formats import step_text
from gui.widgets.item_views import LEFT, draw_cut
from gui.widgets.origin import paint_origin

_CAPTION = 17
_GAP = 6
_CHIP = 15
_RATIO = 1.6
"""Width of a picture's cell relative to its height. A picture with another shape is fitted into it."""
_REST_MS = 220
"""How long keyboard scrubbing pauses on a step before all panels show it."""
_DRAG_MS = 60
_LONGEST = 200


class FilmStrip(QAbstractScrollArea):
    """Draws the steps of a `TimeView` side by side; only visible steps are drawn and have their pictures loaded."""

    scrubbed = Signal(int, int)
    """Run and number of a step to show large at once, while the mouse or the keys keep moving."""
    step_requested = Signal(int, int)
    """Run and number of a step on which scrubbing pauses."""
    scrub_ended = Signal()
    """Scrubbing ended without a step: Esc was pressed, or another run replaced the one being scrubbed."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.view = TimeView()
        self.thumbnails = Thumbnails(self)
        self.thumbnails.changed.connect(self.viewport().update)
        self._marks: dict[int, list[TimeMark]] = {}
        self._at: int | None = None
        """Index of the framed step."""
        self._viewed = (0, 0)
        """Run and number of the step that the panels show."""
        self._pressed = False
        self._pointer = 0
        self._rest = QTimer(self, singleShot=True, interval=_REST_MS)
        self._rest.timeout.connect(self._request)
        self._dragging = QTimer(self, interval=_DRAG_MS)
        self._dragging.timeout.connect(lambda: self._scrub_to(self._pointer))
        self._loading = QTimer(self, singleShot=True, interval=0)
        self._loading.timeout.connect(self._load)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # The pictures fill the height. A scroll bar that appears and disappears would change whether it is needed.
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setAccessibleName("Filmstrip")
        self.viewport().setMouseTracking(True)
        theme.text_resized.connect(self._lay_out)
        theme.changed.connect(self.viewport().update)

    @property
    def at(self) -> StepSpan | None:
        """The framed step."""
        return self.view.steps[self._at] if self._at is not None else None

    @property
    def is_scrubbing(self) -> bool:
        """Whether the framed step is one that the panels do not show yet."""
        return self._pressed or self._rest.isActive()

    def show_times(self, view: TimeView) -> None:
        """Replace the steps; the position stays if it is the same run."""
        same, shown, scrubbing = view.run == self.view.run, self.at, self.is_scrubbing
        self.view = view
        self._marks = {}
        for mark in view.marks:
            self._marks.setdefault(mark.step, []).append(mark)
        self._at = view.position(shown.run, shown.number) if shown is not None else None
        self._lay_out()
        if not same and scrubbing:
            self.end_scrubbing()
        if not self.is_scrubbing and self._at is None:
            self.show_viewed(*self._viewed)
        self.setAccessibleDescription(time_words.description(view))

    def show_viewed(self, run: int, number: int) -> None:
        """Frame the step that the panels show and scroll it into view; not while another one is being scrubbed."""
        self._viewed = (run, number)
        if not self.is_scrubbing:
            self._frame(self.view.position(run, number))

    def go(self, offset: int) -> None:
        """Scrub to the step that is `offset` steps further."""
        last = len(self.view.steps) - 1
        if last < 0:
            return
        at = last if self._at is None else min(max(self._at + offset, 0), last)
        self._scrub(at)
        self._rest.start()

    def end_scrubbing(self) -> None:
        """End scrubbing without a step: frame the step that the panels show again."""
        self._pressed = False
        self._rest.stop()
        self._dragging.stop()
        self.scrub_ended.emit()
        self.show_viewed(*self._viewed)

    def cell(self, at: int) -> QRect:
        """Return where a step is drawn in the viewport."""
        left = at * self._pitch - self.horizontalScrollBar().value() + _GAP // 2
        return QRect(left, 2, self._pitch - _GAP, self.viewport().height() - 4)

    def step_at(self, x: int) -> int | None:
        """Return the index of the step at a position of the viewport."""
        at = (x + self.horizontalScrollBar().value()) // self._pitch
        return at if 0 <= at < len(self.view.steps) else None

    def words_at(self, place: QPoint) -> str:
        """Return a description of what is at a position of the viewport; empty if there is nothing."""
        at = self.step_at(place.x())
        if at is None:
            return ""
        step = self.view.steps[at]
        for mark, chip in self._chips(at):
            if chip.contains(place):
                return time_words.mark_words(mark)
        lines = [time_words.step_words(step, timed=not self.view.untimed)]
        if not step.picture:
            lines.append("No picture was taken or kept (pictures in the settings, --pictures)")
        lines += [time_words.mark_words(mark) for mark in self._marks.get(step.number, ())[:8]]
        return "\n".join(lines)

    @property
    def _pitch(self) -> int:
        return max(round(self._picture_height * _RATIO), 64) + _GAP

    @property
    def _picture_height(self) -> int:
        return max(self.viewport().height() - self._theme.scaled(_CAPTION) - 4, 20)

    def _seen(self) -> range:
        """Return the indexes of the visible steps."""
        left = self.horizontalScrollBar().value()
        first, last = left // self._pitch, (left + self.viewport().width()) // self._pitch
        return range(max(first, 0), min(last + 1, len(self.view.steps)))

    def _lay_out(self) -> None:
        bar, room = self.horizontalScrollBar(), self.viewport().width()
        bar.setRange(0, max(len(self.view.steps) * self._pitch - room, 0))
        bar.setPageStep(room)
        bar.setSingleStep(self._pitch)
        ratio = self.devicePixelRatioF()
        self.thumbnails.set_size(QSize(self._pitch - _GAP, self._picture_height) * ratio)
        self.viewport().update()
        self._loading.start()

    def _load(self) -> None:
        if self.isVisible():
            names = (self.view.steps[at].picture for at in self._seen())
            self.thumbnails.want(name for name in names if name)

    def _frame(self, at: int | None) -> None:
        self._at = at
        step = self.at
        if at is not None and step is not None:
            bar, cell = self.horizontalScrollBar(), self.cell(at)
            if cell.left() < 0 or cell.right() > self.viewport().width():
                bar.setValue(at * self._pitch - (self.viewport().width() - self._pitch) // 2)
            self.setAccessibleName(f"Filmstrip. {time_words.step_words(step)}".replace("\n", ". "))
        self.viewport().update()

    def _scrub(self, at: int) -> None:
        if at != self._at:
            self._frame(at)
            step = self.view.steps[at]
            self.scrubbed.emit(step.run, step.number)

    def _scrub_to(self, x: int) -> None:
        """Scrub to the step at a position; one outside of the viewport scrolls."""
        bar, room = self.horizontalScrollBar(), self.viewport().width()
        outside = min(x, 0) + max(x - room, 0)
        if outside:
            bar.setValue(bar.value() + (self._pitch if outside > 0 else -self._pitch))
        if not self.view.steps:
            return
        at = self.step_at(min(max(x, 0), room - 1))
        self._scrub(len(self.view.steps) - 1 if at is None else at)

    def _request(self) -> None:
        self._rest.stop()
        if (step := self.at) is not None:
            self.step_requested.emit(step.run, step.number)

    # Drawing

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.fillRect(self.viewport().rect(), self._theme.colour("window"))
        painter.setFont(self._theme.small_font())
        for at in self._seen():
            self._paint_cell(painter, at)
        if self.hasFocus():
            painter.setPen(QPen(self._theme.colour("agent"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.viewport().rect().adjusted(0, 0, -1, -1))
        painter.end()

    def _paint_cell(self, painter: QPainter, at: int) -> None:
        step, cell, viewed = self.view.steps[at], self.cell(at), at == self._at
        room = QRect(cell.left(), cell.top(), cell.width(), self._picture_height)
        painter.fillRect(cell, self._theme.colour("selected" if viewed else "raised"))
        self._paint_picture(painter, room, step)
        self._paint_caption(painter, cell.adjusted(4, room.height(), -3, 0), step, viewed=viewed)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        width = 3 if viewed else 1
        painter.setPen(QPen(self._theme.colour("agent" if viewed else "line"), width))
        inset = width // 2
        painter.drawRect(cell.adjusted(inset, inset, -inset - 1, -inset - 1))
        for mark, chip in self._chips(at):
            sign, tone, _ = time_words.MARKS[mark.kind]
            painter.fillRect(chip, self._theme.colour("panel"))
            painter.setPen(self._theme.colour("line"))
            painter.drawRect(chip.adjusted(0, 0, -1, -1))
            painter.setPen(self._theme.colour(tone))
            painter.drawText(chip, int(Qt.AlignmentFlag.AlignCenter), sign)

    def _paint_picture(self, painter: QPainter, room: QRect, step: StepSpan) -> None:
        image = self.thumbnails.of(step.picture) if step.picture else None
        if image is not None and not image.isNull():
            painter.drawImage(_place(image, room, self.devicePixelRatioF()), image)
            return
        words = "The picture cannot be read" if image is not None else ""
        if not step.picture:
            words = step_text(step)
        if words:
            painter.setPen(self._theme.colour("dim"))
            flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap
            painter.save()
            inside = room.adjusted(6, 4, -6, -4)
            painter.setClipRect(inside)
            painter.drawText(inside, int(flags | Qt.TextFlag.TextWrapAnywhere), words[:_LONGEST])
            painter.restore()

    def _paint_caption(self, painter: QPainter, room: QRect, step: StepSpan, *, viewed: bool) -> None:
        failed, struck = step.outcome == "failed", step.outcome in ("failed", "skipped")
        colour = self._theme.colour("bad") if failed else QColor(self._theme.tokens.of(step.origin))
        mark = QRectF(room.left(), room.center().y() - 4, 9, 9)
        paint_origin(painter, mark, step.origin, colour, hollow=struck or step.outcome == "pending")
        painter.setPen(self._theme.colour("bad" if failed else "text" if viewed else "dim"))
        words = f"{step.number}{' ✗' if failed else ''} {step_text(step) if step.picture else ''}"
        draw_cut(painter, room.adjusted(13, 0, 0, 0), words.rstrip(), LEFT)

    def _chips(self, at: int) -> list[tuple[TimeMark, QRect]]:
        """Return the marks of a step, one of each kind, with their positions."""
        cell, chip = self.cell(at), self._theme.scaled(_CHIP)
        kinds = {mark.kind: mark for mark in reversed(self._marks.get(self.view.steps[at].number, ()))}
        found = []
        for place, mark in enumerate(sorted(kinds.values(), key=lambda mark: mark.time)):
            left = cell.left() + 4 + place * (chip + 2)
            if left + chip > cell.right():
                break
            found.append((mark, QRect(left, cell.top() + 4, chip, chip)))
        return found

    # Qt's events

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        self.viewport().update()
        self._loading.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()
        if not self._pressed:
            self._frame(self._at)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            if words := self.words_at(event.pos()):
                QToolTip.showText(event.globalPos(), words, self)
            else:
                QToolTip.hideText()
            return True
        return super().viewportEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned = event.angleDelta()
        bar = self.horizontalScrollBar()
        bar.setValue(bar.value() - (turned.x() or turned.y()))
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        x = event.position().toPoint().x()
        if event.button() == Qt.MouseButton.LeftButton and self.step_at(x) is not None:
            self._rest.stop()
            self._pressed, self._pointer = True, x
            self._scrub_to(x)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not self._pressed:
            return
        self._pointer = event.position().toPoint().x()
        outside = not 0 <= self._pointer < self.viewport().width()
        if outside and not self._dragging.isActive():
            self._dragging.start()
        elif not outside:
            self._dragging.stop()
        self._scrub_to(self._pointer)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._pressed and event.button() == Qt.MouseButton.LeftButton:
            self._pressed = False
            self._dragging.stop()
            self._request()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        page = max(self.viewport().width() // self._pitch - 1, 1)
        offsets = {
            Qt.Key.Key_Left: -1,
            Qt.Key.Key_Right: 1,
            Qt.Key.Key_PageUp: -page,
            Qt.Key.Key_PageDown: page,
            Qt.Key.Key_Home: -len(self.view.steps),
            Qt.Key.Key_End: len(self.view.steps),
        }
        if (offset := offsets.get(Qt.Key(event.key()))) is not None:
            self.go(offset)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._request()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event) -> None:  # type: ignore[no-untyped-def]
        super().showEvent(event)
        self._loading.start()


def _place(image: QImage, room: QRect, ratio: float) -> QRect:
    """Return where a picture fits completely into a cell, never larger than its own size."""
    size = image.size() / ratio
    size = size.scaled(size.boundedTo(room.size()), Qt.AspectRatioMode.KeepAspectRatio)
    left = room.left() + (room.width() - size.width()) // 2
    return QRect(QPoint(left, room.top() + (room.height() - size.height()) // 2), size)
