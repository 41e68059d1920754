"""A colour and a shape for each family: the same two for no two of the first 48."""

from collections import Counter
from collections.abc import Sequence

from PySide6.QtGui import QColor, QPen

from gui.theme.theme import Theme

SYMBOLS = {"circle": ("o", 1.0), "square": ("s", 0.88), "triangle": ("t1", 1.1), "diamond": ("d", 1.3)}
"""The shapes, with what pyqtgraph calls each and the factor that makes them seem equally large."""
_HUES = (212, 28, 140, 330, 52, 265, 178, 0, 88, 300, 195, 16)
"""Neighbours are far apart on the wheel, so the most frequent families are told apart best."""
_LIGHT = {"dark": (150, 165), "light": (185, 95)}
"""Saturation and lightness, of 255, by theme."""


class MarkStyle:
    """How one family is drawn."""

    def __init__(self, rank: int) -> None:
        self.hue = _HUES[rank % len(_HUES)]
        self.shape = tuple(SYMBOLS)[(rank + rank // len(_HUES)) % len(SYMBOLS)]
        self.symbol, self.size = SYMBOLS[self.shape]

    def colour(self, theme: Theme) -> QColor:
        saturation, lightness = _LIGHT[theme.scheme]
        return QColor.fromHsl(self.hue, saturation, lightness)


def looks_of(families: Sequence[int], count: int) -> tuple[tuple[MarkStyle, int], ...]:
    """Return the look and the number of members of each family, by its number."""
    counts = Counter(families)
    order = sorted(range(count), key=lambda family: (-counts[family], family))
    ranks = {family: rank for rank, family in enumerate(order)}
    return tuple((MarkStyle(ranks[family]), counts[family]) for family in range(count))


def pen_for(theme: Theme) -> QPen:
    """Return the thin edge that keeps marks apart where they overlap."""
    pen = QPen(theme.colour("panel"), 0.8)
    pen.setCosmetic(True)
    return pen
