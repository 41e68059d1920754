"""Success by prefix, drawn: a point with its interval for each step that was gone on from."""

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from core.debugger.experiments.bisect_records import Bisection, PrefixResult
from gui.theme.theme import Theme

_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 16, 14, 38
_LINES = (0.0, 0.25, 0.5, 0.75, 1.0)
_POINT = 5.0
_CAP = 5.0
_REACH = 40.0
"""How far from a point a click still means it."""


def result_words(result: PrefixResult | None, step: int) -> str:
    """Return what came of a step in a sentence."""
    if result is None:
        return f"From step {step}: not tried yet."
    if result.share is None:
        made = len(result.branches)
        return f"From step {step}: {made} {'branch' if made == 1 else 'branches'}, none of them judged."
    return (
        f"From step {step}: {result.successes} of {result.judged} came to success ({result.share:.0%}), "
        f"95 % interval {result.low:.0%} to {result.high:.0%}."
    )


class BisectPlot(QWidget):
    """Draws a bisection; the arrow keys go from point to point, and each is told in words.

    The steps stand in their own order and at equal distances; nothing joins the
    points, since nothing is known of what lies between them.
    """

    chosen = Signal(int)
    """The step whose point is current now."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._bisection: Bisection | None = None
        self._steps: tuple[int, ...] = ()
        self._results: dict[int, PrefixResult] = {}
        self.step: int | None = None
        """The step of the current point."""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(260, 170)
        self.setAccessibleName("Success by step")
        self.setMouseTracking(True)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(480, 260)

    def show_bisection(self, bisection: Bisection | None) -> None:
        """Replace what is drawn; the current point stays where it is still there."""
        self._bisection = bisection
        self._steps = tuple(sorted(bisection.chosen)) if bisection is not None else ()
        self._results = {one.step: one for one in bisection.results} if bisection is not None else {}
        if self.step not in self._steps:
            self.step = self._steps[0] if self._steps else None
        self._tell()
        self.update()

    def choose(self, step: int) -> None:
        """Make the point of a step current."""
        if step in self._steps and step != self.step:
            self.step = step
            self._tell()
            self.update()
            self.chosen.emit(step)

    @property
    def words(self) -> str:
        """What the current point says."""
        return "" if self.step is None else result_words(self._results.get(self.step), self.step)

    def place_of(self, step: int) -> QPointF:
        """Return where the point of a step is drawn; at the bottom where nothing was judged."""
        result = self._results.get(step)
        share = result.share if result is not None and result.share is not None else 0.0
        return QPointF(self._x(self._steps.index(step)), self._y(share))

    def _room(self) -> QRectF:
        return QRectF(self.rect()).adjusted(_LEFT, _TOP, -_RIGHT, -_BOTTOM)

    def _x(self, at: int) -> float:
        room = self._room()
        return room.left() + room.width() * (at + 0.5) / max(1, len(self._steps))

    def _y(self, share: float) -> float:
        room = self._room()
        return room.bottom() - room.height() * share

    def _tell(self) -> None:
        self.setAccessibleDescription(self.words)
        if self.hasFocus():
            event = QAccessibleEvent(self, QAccessible.Event.DescriptionChanged)
            QAccessible.updateAccessibility(event)

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

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if (step := self._step_at(event.position())) is not None:
            self.choose(step)
        self.setFocus(Qt.FocusReason.MouseFocusReason)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        step = self._step_at(event.position())
        words = "" if step is None else result_words(self._results.get(step), step)
        QToolTip.showText(event.globalPosition().toPoint(), words, self)

    def _step_at(self, place: QPointF) -> int | None:
        nearest = min(
            self._steps, key=lambda one: abs(self._x(self._steps.index(one)) - place.x()), default=None
        )
        if nearest is None or abs(self._x(self._steps.index(nearest)) - place.x()) > _REACH:
            return None
        return nearest

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._tell()
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    # Drawing

    def paintEvent(self, event: object) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), self._theme.colour("panel"))
        self._paint_axes(painter)
        for at, step in enumerate(self._steps):
            self._paint_step(painter, self._x(at), step)
        if self.hasFocus():
            painter.setPen(QPen(self._theme.colour("agent"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))

    def _paint_axes(self, painter: QPainter) -> None:
        room = self._room()
        painter.setFont(self._theme.small_font())
        for share in _LINES:
            y = self._y(share)
            painter.setPen(QPen(self._theme.colour("line"), 1))
            painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))
            painter.setPen(self._theme.colour("dim"))
            label = QRect(0, round(y) - 8, _LEFT - 8, 16)
            painter.drawText(
                label, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), f"{share:.0%}"
            )
        foot = QRect(_LEFT, self.height() - 18, round(room.width()), 16)
        painter.drawText(foot, int(Qt.AlignmentFlag.AlignCenter), "the first step that is not replayed")

    def _paint_step(self, painter: QPainter, x: float, step: int) -> None:
        result, current = self._results.get(step), step == self.step
        room = self._room()
        wide = min(46.0, room.width() / max(1, len(self._steps)))
        column = QRectF(x - wide / 2, room.top() - 6, wide, room.height() + 28)
        if current:
            painter.fillRect(column, self._theme.colour("selected"))
        painter.setFont(self._theme.small_font(bold=current))
        painter.setPen(self._theme.colour("text" if current else "dim"))
        every = max(1, round(26 / max(1.0, room.width() / max(1, len(self._steps)))))
        if current or self._steps.index(step) % every == 0:
            place = QRectF(x - 30, room.bottom() + 4, 60, 16)
            painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), str(step))
        if result is None:
            return
        if result.share is None:
            painter.setPen(self._theme.colour("remedy"))
            painter.drawText(
                QRectF(x - 30, room.bottom() - 20, 60, 16), int(Qt.AlignmentFlag.AlignCenter), "?"
            )
            return
        top, low, high = self._y(result.share), self._y(result.low), self._y(result.high)
        bar = QRectF(x - wide / 5, top, wide / 2.5, room.bottom() - top)
        painter.fillRect(bar, self._theme.colour("line"))
        painter.setPen(QPen(self._theme.colour("text"), 1.4))
        painter.drawLine(QPointF(x, low), QPointF(x, high))
        for y in (low, high):
            painter.drawLine(QPointF(x - _CAP, y), QPointF(x + _CAP, y))
        painter.setBrush(self._theme.colour("agent"))
        painter.setPen(QPen(self._theme.colour("panel"), 1.2))
        painter.drawEllipse(QPointF(x, top), _POINT, _POINT)
