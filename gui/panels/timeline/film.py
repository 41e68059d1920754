"""The filmstrip: a picture of each step, with its events; scrubbed by mouse and keys."""

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSignalBlocker,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QHelpEvent,
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

    The current row is the framed step: the one that the panels show, or the one that is being scrubbed.
    """

    scrubbed = Signal(int, int)
    """Run and number of a step to show large at once, while the mouse or the keys keep moving."""
    step_requested = Signal(int, int)
    """Run and number of a step on which scrubbing pauses."""
    scrub_ended = Signal()
    """Scrubbing ended without a step: Esc was pressed, or another run replaced the one being scrubbed."""
    framed = Signal()
    """Another step is framed."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.view = TimeView()
        self.thumbnails = Thumbnails(self)
        self.thumbnails.changed.connect(self.viewport().update)
        self._marks: dict[int, list[TimeMark]] = {}
        self._shown = (0, 0)
        """Run and number of the step that the panels show."""
        self.is_scrubbing = False
        """Whether the framed step is one that the panels do not show yet."""
        self._pointer: int | None = None
        """Where the pointer is, from the left of the viewport, while the mouse button is held."""
        self._rest = QTimer(self, singleShot=True, interval=_REST_MS)
        self._rest.timeout.connect(self.rest)
        self._dragging = QTimer(self, singleShot=True, interval=_DRAG_MS)
        self._dragging.timeout.connect(self._drag)
        self._rows = RowsModel({Qt.ItemDataRole.AccessibleTextRole: time_words.step_words}, self)
        self.setModel(self._rows)
        self.setItemDelegate(_Cells(theme, self))
        RowMenu(self)
        self.setFlow(QListView.Flow.LeftToRight)
        self.setUniformItemSizes(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Filmstrip")
        self.setProperty("film", True)
        self.viewport().setMouseTracking(True)
        self.setAutoScroll(False)

    @property
    def at(self) -> StepSpan | None:
        """The framed step."""
        step: StepSpan | None = self._rows.row(self.currentIndex())
        return step

    @property
    def viewed(self) -> tuple[int, int]:
        """Run and number of the framed step, also of one that is not listed yet."""
        step = self.at if self.is_scrubbing else None
        return self._shown if step is None else (step.run, step.number)

    @property
    def words(self) -> str:
        """Why there are no steps, and what to do; empty if there are some or they are still being read."""
        return "" if self.view.steps or self.view.run != self._shown[0] else time_words.no_steps(self.view)

    def show_times(self, view: TimeView) -> None:
        """Replace the steps; the position stays if it is the same run."""
        before = self.at if view.run == self.view.run else None
        scrolled, self.view = self.horizontalScrollBar().value(), view
        self._marks = {}
        for mark in view.marks:
            self._marks.setdefault(mark.step, []).append(mark)
        with QSignalBlocker(self.selectionModel()):
            self._rows.show_rows(view.steps)
            # If none is set, not even an invalid one, Qt takes the first step when the filmstrip gets the focus.
            self.setCurrentIndex(QModelIndex() if before is None else self._index(before.run, before.number))
        self.doItemsLayout()
        self.horizontalScrollBar().setValue(scrolled)
        if self.at is None and self.is_scrubbing:
            self.end_scrubbing()
        elif self.at is None:
            self.show_viewed(*self._shown)

    def show_viewed(self, run: int, number: int) -> None:
        """Frame the step that the panels show and scroll it into view; not while another one is being scrubbed.

        Nothing moves if it is framed already: a person may look around while the step is updated.
        """
        before, self._shown = self._shown, (run, number)
        index = self._index(run, number)
        if not self.is_scrubbing and (before != self._shown or index != self.currentIndex()):
            self.setCurrentIndex(index)
            self._show_framed()

    def scrub_to(self, at: int) -> None:
        """Scrub to the step with this index."""
        self._rest.stop()
        self.is_scrubbing = True
        if at != self.currentIndex().row():
            self.setCurrentIndex(self._rows.index(at))
            self._show_framed()
            self.scrubbed.emit(*self.viewed)

    def rest(self) -> None:
        """Request the framed step."""
        self._rest.stop()
        self.is_scrubbing = False
        if (step := self.at) is not None:
            self._shown = (step.run, step.number)
            self._show_framed()
            self.step_requested.emit(*self._shown)

    def end_scrubbing(self) -> None:
        """End scrubbing without a step: frame the step that the panels show again."""
        self._rest.stop()
        self._pointer, self.is_scrubbing = None, False
        self.scrub_ended.emit()
        self.show_viewed(*self._shown)

    def cell(self, at: int) -> QRect:
        """Return where a step is drawn in the viewport."""
        return _inside(self.visualRect(self._rows.index(at)))

    def words_at(self, place: QPoint) -> str:
        """Return a description of what is at a position of the viewport; empty if there is nothing."""
        index = self.indexAt(place)
        step: StepSpan | None = self._rows.row(index)
        if step is None:
            return self.words
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
        room = self.height() - 2 * self.frameWidth() - self.horizontalScrollBar().sizeHint().height()
        return max(room - self._theme.scaled(_CAPTION) - 4, 20)

    @property
    def pitch(self) -> int:
        """Width of a cell and the gap beside it in pixels."""
        return max(round(self.picture_height * _RATIO), 64) + _GAP

    def _index(self, run: int, number: int) -> QModelIndex:
        at = self.view.position(run, number)
        return self._rows.index(-1 if at is None else at)

    def _reveal(self) -> None:
        """Scroll the framed step into the middle, unless it is in view."""
        cell = self.visualRect(self.currentIndex())
        if cell.left() < 0 or cell.right() >= self.viewport().width():
            self.scrollTo(self.currentIndex(), QAbstractItemView.ScrollHint.PositionAtCenter)

    def _show_framed(self) -> None:
        """Bring the framed step into view, except below the pointer, and tell that it is framed."""
        if self._pointer is None:
            self._reveal()
        self.viewport().update()
        self.framed.emit()

    def _drag(self) -> None:
        """Scrub to the step below the pointer; a pointer outside of the viewport scrolls, again and again."""
        if self._pointer is None or not self.view.steps:
            return
        bar, room = self.horizontalScrollBar(), self.viewport().width()
        if not 0 <= self._pointer < room:
            bar.setValue(bar.value() + (self.pitch if self._pointer > 0 else -self.pitch))
            self._dragging.start()
        at = self.indexAt(QPoint(min(max(self._pointer, 0), room - 1), 1)).row()
        self.scrub_to(len(self.view.steps) - 1 if at < 0 else at)

    # Qt's events

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.view.steps:
            paint_words(self.viewport(), self._theme, self.words)
        first, last = (self.indexAt(QPoint(x, 1)).row() for x in (0, self.viewport().width() - 1))
        seen = self.view.steps[max(first, 0) : last + 1 if last >= 0 else None]
        ratio = self.devicePixelRatioF()
        self.thumbnails.set_size(QSize(self.pitch - _GAP, self.picture_height) * ratio)
        self.thumbnails.want(step.picture for step in seen if step.picture)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.doItemsLayout()
        if self._pointer is None:
            self._reveal()

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            return show_words(event, self.words_at(event.pos()), self)
        return super().viewportEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        if event.button() == Qt.MouseButton.LeftButton and self.indexAt(place).isValid():
            self._pointer = place.x()
            self._drag()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pointer is not None:
            self._pointer = event.position().toPoint().x()
            self._drag()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._pointer is not None and event.button() == Qt.MouseButton.LeftButton:
            self._pointer = None
            self.rest()

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
        if event.key() in offsets and self.view.steps:
            last, at = len(self.view.steps) - 1, self.currentIndex().row()
            self.scrub_to(last if at < 0 else min(max(at + offsets[Qt.Key(event.key())], 0), last))
            self._rest.start()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.rest()
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
            size = image.size() / self._film.devicePixelRatioF()
            middle, across = Qt.AlignmentFlag.AlignCenter, Qt.LayoutDirection.LeftToRight
            painter.drawImage(QStyle.alignedRect(across, middle, size, room), image)
            return
        words = "The picture cannot be read" if image is not None else ""
        if not step.picture:
            words = step.in_words
        if words:
            painter.setPen(self.theme.colour("dim"))
            flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap
            inside = room.adjusted(6, 4, -4, -2)
            lines = max(inside.height() // painter.fontMetrics().lineSpacing(), 1)  # None is cut in half.
            inside.setHeight(lines * painter.fontMetrics().lineSpacing())
            painter.drawText(inside, int(flags | Qt.TextFlag.TextWrapAnywhere), words[:_LONGEST])

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


def paint_words(widget: QWidget, theme: Theme, words: str) -> None:
    """Write in a widget that has nothing else to show."""
    painter = QPainter(widget)
    painter.setFont(theme.text_font())
    painter.setPen(theme.colour("dim"))
    painter.drawText(widget.rect().adjusted(10, 8, -10, -8), int(Qt.TextFlag.TextWordWrap), words)
    painter.end()
