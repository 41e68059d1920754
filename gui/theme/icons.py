"""Icons in the theme's colours, drawn from the codicon font that qtawesome carries.

Only that one font and its table of names are read, when the first icon is
asked for: importing qtawesome itself would load a dozen fonts and a layer
over Qt, 170 ms before the window shows.
"""

import importlib.util
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QIconEngine, QPainter, QPixmap


@cache
def _codicon() -> tuple[str, dict[str, str]]:
    """Return the font's family and its characters by name; both empty where it is missing."""
    spec = importlib.util.find_spec("qtawesome")
    for place in (spec.submodule_search_locations or []) if spec else []:
        fonts = Path(place) / "fonts"
        for font in sorted(fonts.glob("codicon-*.ttf")):
            charmap = fonts / f"{font.stem.replace('codicon-', 'codicon-charmap-')}.json"
            families = QFontDatabase.applicationFontFamilies(QFontDatabase.addApplicationFont(str(font)))
            if families and charmap.is_file():
                names = json.loads(charmap.read_text(encoding="utf-8"))
                return families[0], {name: chr(int(code, 16)) for name, code in names.items()}
    return "", {}


class _Glyph(QIconEngine):
    """Draws one character of the icon font in the colour it is told each time it paints."""

    def __init__(self, name: str, colour: Callable[[QIcon.Mode], str]) -> None:
        super().__init__()
        self._name = name
        self._colour = colour

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        family, names = _codicon()
        if self._name not in names:
            return
        font = QFont(family)
        font.setPixelSize(max(1, min(rect.width(), rect.height())))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(font)
        painter.setPen(QColor(self._colour(mode)))
        painter.drawText(QRectF(rect), Qt.AlignmentFlag.AlignCenter, names[self._name])
        painter.restore()

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        pixmap = QPixmap(size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return pixmap

    def clone(self) -> QIconEngine:
        return _Glyph(self._name, self._colour)


def glyph_icon(name: str, colour: Callable[[QIcon.Mode], str]) -> QIcon:
    """Return the icon of that codicon name; empty where the font lacks it.

    `colour` is asked at each painting, so the icon follows the theme.
    """
    return QIcon(_Glyph(name, colour))
