"""The origin of an action: always a colour, a shape and a word together."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.schema.step import Origin
from gui.theme.theme import Theme

_CORNERS: dict[Origin, tuple[tuple[float, float], ...]] = {
    "person": ((0, -1), (1, 0), (0, 1), (-1, 0)),
    "remedy": ((0, -1), (1, 0.8), (-1, 0.8)),
    "replay": ((-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8)),
}
"""The shapes, as x and y in a square of side 2; the agent's is a disc."""
_MEANINGS: dict[Origin, str] = {
    "agent": "The agent's own action",
    "person": "Chosen or changed by a person",
    "remedy": "An alternative prepared before",
    "replay": "Taken over from a recorded run",
}


def paint_origin(
    painter: QPainter, room: QRectF, origin: Origin, colour: QColor, *, hollow: bool = False
) -> None:
    """Draw an origin's shape into `room`: disc, diamond, triangle or square.

    `hollow` leaves the inside empty, for an action that failed or was skipped.
    """
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = painter.pen()
    pen.setColor(colour)
    pen.setWidthF(1.8)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush if hollow else colour)
    centre, radius = room.center(), min(room.width(), room.height()) / 2 - 1
    corners = [centre + QPointF(across, down) * radius for across, down in _CORNERS.get(origin, ())]
    if corners:
        painter.drawPolygon(QPolygonF(corners))
    else:
        painter.drawEllipse(centre, radius * 0.85, radius * 0.85)
    painter.restore()


def paint_chosen(painter: QPainter, room: QRectF, colour: QColor) -> None:
    """Draw the mark of the chosen action: a triangle that points at it."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    room = room.adjusted(1, 0, 0, 0)
    tip = QPointF(room.right(), room.center().y())
    painter.drawPolygon(QPolygonF([room.topLeft(), tip, room.bottomLeft()]))
    painter.restore()


class OriginMark(QWidget):
    """An origin's shape with a word next to it."""

    def __init__(self, theme: Theme, origin: Origin = "agent", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._origin: Origin = origin
        self._text: str = origin
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.show_origin(origin)

    @property
    def text(self) -> str:
        return self._text

    def show_origin(self, origin: Origin, text: str = "") -> None:
        """Show this origin, with its own name or `text` as the word."""
        self._origin = origin
        self._text = text or origin
        self.setAccessibleName(self._text)
        self.setToolTip(_MEANINGS[origin])
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(16 + metrics.horizontalAdvance(self._text) + 2, metrics.height() + 2)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        room = QRectF(0, (self.height() - 11) / 2, 11, 11)
        paint_origin(painter, room, self._origin, QColor(self._theme.tokens.of(self._origin)))
        painter.setPen(self._theme.colour("dim"))
        painter.drawText(
            self.rect().adjusted(16, 0, 0, 0),
            int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft),
            self._text,
        )
