"""The legend of the map: the colour, shape and size of each family."""

from collections import Counter
from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QIcon, QPen, QPixmap
from PySide6.QtWidgets import QFrame, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from gui.theme.theme import Theme
from gui.widgets.formats import count, thousands
from gui.widgets.item_views import RowMenu

SYMBOLS = {"circle": ("o", 1.0), "square": ("s", 0.88), "triangle": ("t1", 1.1), "diamond": ("d", 1.3)}
"""The shapes, with their pyqtgraph names and a factor that makes them look equally large."""
_HUES = (212, 28, 140, 330, 52, 265, 178, 0, 88, 300, 195, 16)
"""Neighbours are far apart on the colour wheel, so the most frequent families are easiest to distinguish."""
_LIGHT = {"dark": (150, 165), "light": (185, 95)}
"""Saturation and lightness, of 255, by theme."""
_LISTED = 300
_TALLEST = 12
"""Maximum number of visible rows."""
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


class Legend(QTreeWidget):
    """Lists families, the largest first; a click or Enter chooses one."""

    chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown: tuple[tuple[str, ...], tuple[tuple[MarkStyle, int], ...]] = ((), ())
        self.setAccessibleName("Families")
        self.setColumnCount(2)
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setIconSize(QSize(_MARK, _MARK))
        self.setFont(theme.text_font())
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.header().setStretchLastSection(False)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        RowMenu(self)
        self.itemActivated.connect(self._on_item)
        self.itemClicked.connect(self._on_item)
        theme.changed.connect(self._fill)

    def show_families(self, names: Sequence[str], looks: Sequence[tuple[MarkStyle, int]]) -> None:
        self._shown = (tuple(names), tuple(looks))
        self._fill()

    def _fill(self) -> None:
        names, looks = self._shown
        self.clear()
        order = sorted(range(len(names)), key=lambda one: (-looks[one][1], names[one]))
        for one in order[:_LISTED]:
            look, members = looks[one]
            item = QTreeWidgetItem([names[one], thousands(members)])
            item.setIcon(0, mark_icon(self._theme, look))
            item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            words = f"{names[one]}: {count(members, 'exemplar')}, a {look.shape}"
            item.setToolTip(0, f"{words}. Show this family alone (Enter), and again for all.")
            item.setData(0, Qt.ItemDataRole.AccessibleTextRole, words)
            item.setData(0, Qt.ItemDataRole.UserRole, names[one])
            self.addTopLevelItem(item)
        if len(order) > _LISTED:
            more = QTreeWidgetItem([f"and {count(len(order) - _LISTED, 'family', 'families')} more"])
            more.setFlags(Qt.ItemFlag.NoItemFlags)
            self.addTopLevelItem(more)
        rows = min(_TALLEST, max(1, self.topLevelItemCount()))
        self.setFixedHeight(rows * max(22, self.sizeHintForRow(0)) + 4)

    def _on_item(self, item: QTreeWidgetItem) -> None:
        name = item.data(0, Qt.ItemDataRole.UserRole)
        if name:
            self.chosen.emit(str(name))


def mark_icon(theme: Theme, look: MarkStyle) -> QIcon:
    """Return the mark of a family as an icon."""
    from pyqtgraph.graphicsItems.ScatterPlotItem import renderSymbol  # The map has already imported it.

    picture = QPixmap(2 * _MARK, 2 * _MARK)
    picture.setDevicePixelRatio(2.0)
    picture.fill(Qt.GlobalColor.transparent)
    renderSymbol(look.symbol, 11 * look.size, pen_for(theme), QBrush(look.colour(theme)), picture, 2.0)
    return QIcon(picture)
