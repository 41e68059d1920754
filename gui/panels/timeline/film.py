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
)
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QStyle, QStyleOptionViewItem, QWidget

from core.debugger.timeline.views import StepSpan, TimeMark, TimeView
from gui.panels.timeline import text as time_words
from gui.panels.timeline.thumbnails import Thumbnails
from gui.theme.theme import Theme
from gui.widgets.item_views import LEFT, Index, RowDelegate, RowMenu, RowsModel, draw_cut
from gui.widgets.origin import paint_origin
from gui.widgets.words import show_words

_CAPTION = 17
_GAP = 6
_CHIP = 15
_SIGN = 17
"""Space that the sign of the action's origin takes in the caption, with the margin before it."""
_RATIO = 1.6
"""Width of a picture's cell relative to its height. A picture with another shape is fitted into it."""
_REST_MS = 220
"""How long keyboard scrubbing pauses on a step before all panels show it."""
_DRAG_MS = 60
_LONGEST = 200


class FilmStrip(QListView):
    """Shows the steps of a `TimeView` side by side; only visible steps have their pictures loaded.

    The current row is the framed step.
    """

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
        self._viewed = (0, 0)
        """Run and number of the step that the panels show."""
        self._pressed = False
        self._pointer = 0
        self._rest = QTimer(self, singleShot=True, interval=_REST_MS)
        self._rest.timeout.connect(self._request)
        self._dragging = QTimer(self, interval=_DRAG_MS)
        self._dragging.timeout.connect(lambda: self._scrub_to(self._pointer))
        self._rows = RowsModel({Qt.ItemDataRole.AccessibleTextRole: time_words.step_words}, self)
        self.setModel(self._rows)
        self.setItemDelegate(_Cells(theme, self))
        RowMenu(self)
        self.setFlow(QListView.Flow.LeftToRight)
        self.setUniformItemSizes(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setAutoScroll(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Filmstrip")
        self.setProperty("film", True)
        self.viewport().setMouseTracking(True)
        theme.text_resized.connect(self._lay_out)

    @property
    def at(self) -> StepSpan | None:
        """The framed step."""
        step: StepSpan | None = self._rows.row(self.currentIndex())
        return step

    @property
    def is_scrubbing(self) -> bool:
        """Whether the framed step is one that the panels do not show yet."""
        return self._pressed or self._rest.isActive()

    def show_times(self, view: TimeView) -> None:
        """Replace the steps; the position stays if it is the same run."""
        same, shown, scrubbing = view.run == self.view.run, self.at, self.is_scrubbing
        scrolled = self.horizontalScrollBar().value()
        self.view = view
        self._marks = {}
        for mark in view.marks:
            self._marks.setdefault(mark.step, []).append(mark)
        self._rows.show_rows(view.steps)
        self._lay_out()
        self.horizontalScrollBar().setValue(scrolled)
        at = view.position(shown.run, shown.number) if shown is not None else None
        if at is not None:
            self._set_current(at)
        if not same and scrubbing:
            self.end_scrubbing()
        if not self.is_scrubbing and at is None:
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
        at = self.currentIndex().row()
        self._scrub(last if at < 0 else min(max(at + offset, 0), last))
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
        return _inside(self.visualRect(self._rows.index(at)))

    def words_at(self, place: QPoint) -> str:
        """Return a description of what is at a position of the viewport; empty if there is nothing."""
        index = self.indexAt(place)
        step: StepSpan | None = self._rows.row(index)
        if step is None:
            return ""
        for mark, chip in self.chips(step, self.cell(index.row())):
            if chip.contains(place):
                return time_words.mark_words(mark)
        lines = [time_words.step_words(step, timed=not self.view.untimed)]
        if not step.picture:
            lines.append("No picture was taken or kept (pictures in the settings, --pictures)")
        lines += [time_words.mark_words(mark) for mark in self._marks.get(step.number, ())[:8]]
        return "\n".join(lines)

    def chips(self, step: StepSpan, cell: QRect) -> list[tuple[TimeMark, QRect]]:
        """Return the marks of a step, one of each kind, with their positions at the right of its caption."""
        chip = self._theme.scaled(_CHIP)
        kinds = {mark.kind: mark for mark in reversed(self._marks.get(step.number, ()))}
        number = _SIGN + self.fontMetrics().horizontalAdvance(f"{step.number} ")
        shown = sorted(kinds.values(), key=lambda mark: mark.time)[
            : max((cell.width() - number) // (chip + 1), 0)
        ]
        left, top = cell.right() - 2 - len(shown) * (chip + 1), cell.bottom() - chip - 1
        return [(mark, QRect(left + at * (chip + 1), top, chip, chip)) for at, mark in enumerate(shown)]

    @property
    def picture_height(self) -> int:
        """Height of a picture's cell in pixels."""
        # There is always room for the scroll bar: else its appearance would change whether it is needed.
        room = self.height() - self.horizontalScrollBar().sizeHint().height()
        return max(room - self._theme.scaled(_CAPTION) - 4, 20)

    @property
    def pitch(self) -> int:
        """Width of a cell and the gap beside it in pixels."""
        return max(round(self.picture_height * _RATIO), 64) + _GAP

    def _lay_out(self) -> None:
        ratio = self.devicePixelRatioF()
        self.thumbnails.set_size(QSize(self.pitch - _GAP, self.picture_height) * ratio)
        self.doItemsLayout()

    def _set_current(self, at: int) -> None:
        self.setCurrentIndex(self._rows.index(at))

    def _frame(self, at: int | None) -> None:
        self._set_current(-1 if at is None else at)
        if (step := self.at) is not None:
            cell = self.cell(self.currentIndex().row())
            if cell.left() < 0 or cell.right() > self.viewport().width():
                self.scrollTo(self.currentIndex(), QAbstractItemView.ScrollHint.PositionAtCenter)
            self.setAccessibleName(f"Filmstrip. {time_words.step_words(step)}".replace("\n", ". "))
        self.viewport().update()

    def _scrub(self, at: int) -> None:
        if at != self.currentIndex().row():
            self._frame(at)
            step = self.view.steps[at]
            self.scrubbed.emit(step.run, step.number)

    def _scrub_to(self, x: int) -> None:
        """Scrub to the step at a position; one outside of the viewport scrolls."""
        bar, room = self.horizontalScrollBar(), self.viewport().width()
        if not 0 <= x <= room:
            bar.setValue(bar.value() + (self.pitch if x > 0 else -self.pitch))
        if self.view.steps:
            at = self.indexAt(QPoint(min(max(x, 0), room - 1), 1)).row()
            self._scrub(len(self.view.steps) - 1 if at < 0 else at)

    def _request(self) -> None:
        self._rest.stop()
        if (step := self.at) is not None:
            self.step_requested.emit(step.run, step.number)

    # Qt's events

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        first, last = (self.indexAt(QPoint(x, 1)).row() for x in (0, self.viewport().width() - 1))
        seen = self.view.steps[max(first, 0) : last + 1 if last >= 0 else None]
        self.thumbnails.want(step.picture for step in seen if step.picture)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()
        if not self._pressed and self.at is not None:
            self._frame(self.currentIndex().row())

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            return show_words(event, self.words_at(event.pos()), self)
        return super().viewportEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        if event.button() == Qt.MouseButton.LeftButton and self.indexAt(place).isValid():
            self._rest.stop()
            self._pressed, self._pointer = True, place.x()
            self._scrub_to(place.x())

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
        page = max(self.viewport().width() // self.pitch - 1, 1)
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
            event.ignore()


class _Cells(RowDelegate):
    """Draws a step of the filmstrip: its picture or its action, a caption, and its marks."""

    def __init__(self, theme: Theme, film: FilmStrip) -> None:
        super().__init__(theme, QSize(), film)
        self._film = film

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(self._film.pitch, self._film.picture_height + self.theme.scaled(_CAPTION) + 4)

    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        step: StepSpan = self._film.view.steps[index.row()]
        cell, viewed = _inside(rect), index == self._film.currentIndex()
        colour = self.theme.colour
        room = QRect(cell.topLeft(), QSize(cell.width(), self._film.picture_height))
        painter.setFont(self.theme.small_font())
        painter.fillRect(cell, colour("selected" if viewed else "raised"))
        self._paint_picture(painter, room, step)
        chips = self._film.chips(step, cell)
        taken = cell.right() - chips[0][1].left() + 3 if chips else 3
        self._paint_caption(painter, cell.adjusted(4, room.height(), -taken, 0), step, viewed=viewed)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        width = 3 if viewed else 1
        painter.setPen(QPen(colour("agent" if viewed else "line"), width))
        inset = width // 2
        painter.drawRect(cell.adjusted(inset, inset, -inset - 1, -inset - 1))
        for mark, chip in chips:
            sign, tone, _ = time_words.MARKS[mark.kind]
            painter.fillRect(chip, colour("panel"))
            painter.setPen(colour("line"))
            painter.drawRect(chip.adjusted(0, 0, -1, -1))
            painter.setPen(colour(tone))
            painter.drawText(chip, int(Qt.AlignmentFlag.AlignCenter), sign)

    def _paint_picture(self, painter: QPainter, room: QRect, step: StepSpan) -> None:
        image = self._film.thumbnails.of(step.picture) if step.picture else None
        if image is not None and not image.isNull():
            painter.drawImage(_place(image, room, self._film.devicePixelRatioF()), image)
            return
        words = "The picture cannot be read" if image is not None else ""
        if not step.picture:
            words = step.in_words
        if words:
            painter.setPen(self.theme.colour("dim"))
            flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap
            painter.save()
            inside = room.adjusted(6, 4, -4, -2)
            lines = max(inside.height() // painter.fontMetrics().lineSpacing(), 1)  # None is cut in half.
            inside.setHeight(lines * painter.fontMetrics().lineSpacing())
            painter.setClipRect(inside)
            painter.drawText(inside, int(flags | Qt.TextFlag.TextWrapAnywhere), words[:_LONGEST])
            painter.restore()

    def _paint_caption(self, painter: QPainter, room: QRect, step: StepSpan, *, viewed: bool) -> None:
        failed, struck = step.outcome == "failed", step.outcome in ("failed", "skipped")
        colour = self.theme.colour("bad") if failed else QColor(self.theme.tokens.of(step.origin))
        mark = QRectF(room.left(), room.center().y() - 4, 9, 9)
        paint_origin(painter, mark, step.origin, colour, hollow=struck or step.outcome == "pending")
        painter.setPen(self.theme.colour("bad" if failed else "text" if viewed else "dim"))
        words = f"{step.number}{' ✗' if failed else ''} {step.in_words if step.picture else ''}"
        draw_cut(painter, room.adjusted(_SIGN - 4, 0, 0, 0), words.rstrip(), LEFT)


def _inside(rect: QRect) -> QRect:
    """Return the part of a row in which its step is drawn, without the gap."""
    return rect.adjusted(_GAP // 2, 2, -_GAP // 2, -2)


def _place(image: QImage, room: QRect, ratio: float) -> QRect:
    """Return where a picture fits completely into a cell, never larger than its own size."""
    size = image.size() / ratio
    size = size.scaled(size.boundedTo(room.size()), Qt.AspectRatioMode.KeepAspectRatio)
    left = room.left() + (room.width() - size.width()) // 2
    return QRect(QPoint(left, room.top() + (room.height() - size.height()) // 2), size)
