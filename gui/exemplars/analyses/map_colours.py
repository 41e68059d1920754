"""A colour and a shape for each family: the same two for no two of the first 48."""

from collections import Counter
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from gui.theme.theme import Theme

SHAPES = ("circle", "square", "triangle", "diamond")
_HUES = (212, 28, 140, 330, 52, 265, 178, 0, 88, 300, 195, 16)
"""Neighbours are far apart on the wheel, so the most frequent families are told apart best."""
_LIGHT = {"dark": (150, 165), "light": (185, 95)}
"""Saturation and lightness, of 255, by theme."""


class Look:
    """How one family is drawn."""

    def __init__(self, rank: int) -> None:
        self.hue = _HUES[rank % len(_HUES)]
        self.shape = SHAPES[(rank + rank // len(_HUES)) % len(SHAPES)]

    def colour(self, theme: Theme) -> QColor:
        saturation, lightness = _LIGHT[theme.scheme]
        return QColor.fromHsl(self.hue, saturation, lightness)


def looks_of(families: Sequence[int], count: int) -> tuple[tuple[Look, int], ...]:
    """Return the look and the number of members of each family, by its number."""
    counts = Counter(families)
    order = sorted(range(count), key=lambda family: (-counts[family], family))
    ranks = {family: rank for rank, family in enumerate(order)}
    return tuple((Look(ranks[family]), counts[family]) for family in range(count))


def draw_mark(painter: QPainter, shape: str, middle: QPointF, radius: float) -> None:
    """Draw a mark with the pen and brush that are set."""
    x, y, r = middle.x(), middle.y(), radius
    if shape == "circle":
        painter.drawEllipse(middle, r, r)
    elif shape == "square":
        painter.drawRect(QRectF(x - r * 0.88, y - r * 0.88, r * 1.76, r * 1.76))
    elif shape == "triangle":
        painter.drawPolygon(
            QPolygonF(
                [
                    QPointF(x, y - r * 1.15),
                    QPointF(x + r * 1.1, y + r * 0.8),
                    QPointF(x - r * 1.1, y + r * 0.8),
                ]
            )
        )
    else:
        points = [
            QPointF(x, y - r * 1.25),
            QPointF(x + r * 1.25, y),
            QPointF(x, y + r * 1.25),
            QPointF(x - r * 1.25, y),
        ]
        painter.drawPolygon(QPolygonF(points))


def pen_for(theme: Theme) -> QPen:
    """Return the thin edge that keeps marks apart where they overlap."""
    return QPen(theme.colour("panel"), 0.8, Qt.PenStyle.SolidLine)
