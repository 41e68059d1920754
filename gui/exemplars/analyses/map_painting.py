"""Drawing the points of a map into a picture: as marks with smooth edges, or where they are many as pixels."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPixmap

from gui.exemplars.analyses.map_colours import SHAPES, Look, draw_mark, pen_for
from gui.theme.theme import Theme

FEW = 3000
"""Points up to which each is a mark of its own."""
RADIUS = 4.2
_SPRITE = 16

Places = NDArray[np.float32]
"""A row for each point: x and y on the widget."""


def draw_points(
    theme: Theme,
    size: QSize,
    ratio: float,
    places: Places,
    families: NDArray[np.int32],
    looks: Sequence[Look],
    dimmed: NDArray[np.bool_] | None = None,
) -> QPixmap:
    """Return a picture of the points on a clear ground; `dimmed` says which are in the background."""
    inside = (
        (places[:, 0] > -10)
        & (places[:, 0] < size.width() + 10)
        & (places[:, 1] > -10)
        & (places[:, 1] < size.height() + 10)
    )
    shown = np.flatnonzero(inside)
    if dimmed is not None:
        shown = np.concatenate([shown[dimmed[shown]], shown[~dimmed[shown]]])
    if len(shown) <= FEW:
        return _marks(theme, size, ratio, places, families, looks, dimmed, shown)
    return _pixels(theme, size, ratio, places, families, looks, dimmed, shown)


def _colour(theme: Theme, look: Look, *, dimmed: bool) -> QColor:
    return theme.colour("line") if dimmed else look.colour(theme)


def _marks(
    theme: Theme,
    size: QSize,
    ratio: float,
    places: Places,
    families: NDArray[np.int32],
    looks: Sequence[Look],
    dimmed: NDArray[np.bool_] | None,
    shown: NDArray[np.int64],
) -> QPixmap:
    picture = _clear(size, ratio)
    painter = QPainter(picture)
    sprites: dict[tuple[int, bool], QPixmap] = {}
    half = _SPRITE / 2
    for at in shown.tolist():
        family, faint = int(families[at]), dimmed is not None and bool(dimmed[at])
        sprite = sprites.get((family, faint))
        if sprite is None:
            sprite = sprites[family, faint] = _sprite(theme, looks[family], ratio, faint=faint)
        painter.drawPixmap(QPointF(float(places[at, 0]) - half, float(places[at, 1]) - half), sprite)
    painter.end()
    return picture


def _sprite(theme: Theme, look: Look, ratio: float, *, faint: bool) -> QPixmap:
    sprite = _clear(QSize(_SPRITE, _SPRITE), ratio)
    painter = QPainter(sprite)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(pen_for(theme))
    painter.setBrush(_colour(theme, look, dimmed=faint))
    draw_mark(painter, look.shape, QPointF(_SPRITE / 2, _SPRITE / 2), RADIUS)
    painter.end()
    return sprite


def _pixels(
    theme: Theme,
    size: QSize,
    ratio: float,
    places: Places,
    families: NDArray[np.int32],
    looks: Sequence[Look],
    dimmed: NDArray[np.bool_] | None,
    shown: NDArray[np.int64],
) -> QPixmap:
    width, height = max(1, round(size.width() * ratio)), max(1, round(size.height() * ratio))
    canvas = np.zeros((height, width), np.uint32)
    colours = np.array([_colour(theme, look, dimmed=False).rgba() for look in looks], np.uint32)
    shapes = np.array([SHAPES.index(look.shape) for look in looks], np.int8)
    own = families[shown]
    values = colours[own]
    if dimmed is not None:
        values = np.where(dimmed[shown], np.uint32(theme.colour("line").rgba()), values)
    columns = np.rint(places[shown, 0] * ratio).astype(np.int64)
    rows = np.rint(places[shown, 1] * ratio).astype(np.int64)
    reach = max(1, round(2 * ratio))
    offsets = [(dx, dy) for dx in range(-reach, reach + 1) for dy in range(-reach, reach + 1)]
    for shape, name in enumerate(SHAPES):
        members = shapes[own] == shape
        x, y, value = columns[members], rows[members], values[members]
        for dx, dy in offsets:
            if not _covers(name, dx / reach, dy / reach):
                continue
            to, down = x + dx, y + dy
            fits = (to >= 0) & (to < width) & (down >= 0) & (down < height)
            canvas[down[fits], to[fits]] = value[fits]
    image = QImage(canvas.tobytes(), width, height, width * 4, QImage.Format.Format_ARGB32)
    picture = QPixmap.fromImage(image.copy())
    picture.setDevicePixelRatio(ratio)
    return picture


def _covers(shape: str, x: float, y: float) -> bool:
    match shape:
        case "circle":
            return x * x + y * y <= 1.05
        case "square":
            return max(abs(x), abs(y)) <= 0.75
        case "triangle":
            return abs(x) <= (y + 1) / 2
        case _:
            return abs(x) + abs(y) <= 1.05


def _clear(size: QSize, ratio: float) -> QPixmap:
    picture = QPixmap(max(1, round(size.width() * ratio)), max(1, round(size.height() * ratio)))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    return picture
