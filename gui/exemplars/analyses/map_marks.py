"""The marks of the map: the colour, shape and size of each family, and the box that explains them."""

from collections import Counter
from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QIcon, QPen, QPixmap
from PySide6.QtWidgets import QComboBox, QWidget

from core.schema.formats import count, thousands
from gui.theme.theme import Theme
from gui.widgets.words import labelled

SYMBOLS = {"circle": ("o", 1.0), "square": ("s", 0.88), "triangle": ("t1", 1.1), "diamond": ("d", 1.3)}
"""The shapes, with their pyqtgraph names and a factor that makes them look equally large."""
_HUES = (212, 28, 140, 330, 52, 265, 178, 0, 88, 300, 195, 16)
"""Neighbours are far apart on the colour wheel, so the most frequent families are easiest to distinguish."""
_LIGHT = {"dark": (150, 165), "light": (185, 95)}
"""Saturation and lightness, of 255, by theme."""
_MARK = 18


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
    """Return the style and the number of members of each family, by its number."""
    counts = Counter(families)
    order = sorted(range(count), key=lambda family: (-counts[family], family))
    ranks = {family: rank for rank, family in enumerate(order)}
    return tuple((MarkStyle(ranks[family]), counts[family]) for family in range(count))


def pen_for(theme: Theme) -> QPen:
    """Return the thin edge that separates overlapping marks."""
    pen = QPen(theme.colour("panel"), 0.8)
    pen.setCosmetic(True)
    return pen


class FamilyBox(QComboBox):
    """Lists the families with their marks, the largest first, and chooses one of them or all."""

    chosen = Signal(str)
    """The name of a family; empty for all."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown: tuple[tuple[str, ...], tuple[tuple[MarkStyle, int], ...]] = ((), ())
        labelled(self, "Families", "Draw those of other families in the background")
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setIconSize(QSize(_MARK, _MARK))
        self.setMinimumWidth(120)
        self.currentIndexChanged.connect(lambda _at: self.chosen.emit(self.family))
        theme.changed.connect(self._fill)
        self._fill()

    @property
    def family(self) -> str:
        return str(self.currentData() or "")

    def show_families(self, names: Sequence[str], looks: Sequence[tuple[MarkStyle, int]]) -> None:
        """Replace the families; the chosen one stays if it is still there."""
        self._shown = (tuple(names), tuple(looks))
        self._fill()

    def _fill(self) -> None:
        names, looks = self._shown
        chosen = self.family
        with QSignalBlocker(self):
            self.clear()
            self.addItem("All families", "")
            for at in sorted(range(len(names)), key=lambda at: (-looks[at][1], names[at])):
                look, members = looks[at]
                self.addItem(mark_icon(self._theme, look), f"{names[at]} ({thousands(members)})", names[at])
                words = f"{names[at]}: {count(members, 'exemplar')}, a {look.shape}"
                self.setItemData(self.count() - 1, words, Qt.ItemDataRole.AccessibleTextRole)
            self.setCurrentIndex(max(0, self.findData(chosen)))
        self.chosen.emit(self.family)


def mark_icon(theme: Theme, look: MarkStyle) -> QIcon:
    """Return the mark of a family as an icon."""
    from pyqtgraph.graphicsItems.ScatterPlotItem import renderSymbol  # The map has already imported it.

    picture = QPixmap(2 * _MARK, 2 * _MARK)
    picture.setDevicePixelRatio(2.0)
    picture.fill(Qt.GlobalColor.transparent)
    renderSymbol(look.symbol, 11 * look.size, pen_for(theme), QBrush(look.colour(theme)), picture, 2.0)
    return QIcon(picture)
