"""Finds what an eye would stumble over in a drawn window: cut text, weak contrast, overlaps, bare areas."""

from collections import Counter
from collections.abc import Iterator

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import (
    QAbstractButton,
    QCheckBox,
    QLabel,
    QRadioButton,
    QStackedLayout,
    QToolButton,
    QWidget,
)

LEAST_CONTRAST = 4.5
"""WCAG 2.2, 1.4.3, for text."""
_UNPLACED = QSize(100, 30)
"""The size of a widget that no layout has placed."""
_CELL = 16
_BARE = 1 / 3
"""Share of a window from which on one bare rectangle is told."""


def faults_of(window: QWidget, picture: QImage) -> Iterator[str]:
    """Yield what is wrong, each as a line; `picture` is the window as it was drawn."""
    scale = picture.devicePixelRatio()
    for widget in window.findChildren(QWidget):
        if not widget.isVisibleTo(window) or widget.window() is not window.window():
            continue
        if is_unplaced(widget):
            yield f"in no layout: {_named(widget, _text(widget))}"
        text = _text(widget)
        if not text or widget.visibleRegion().isEmpty():
            continue  # It is behind a tab, or scrolled out of view.
        yield from _cut(widget, text)
        place = QRect(widget.mapTo(window, QPoint(0, 0)), widget.size()) & window.rect()
        # Of what is half scrolled out of view, or is only a line between others, the colour of letters is not known.
        is_whole = widget.visibleRegion().boundingRect() == widget.rect()
        if widget.isEnabled() and is_whole and any(letter.isalnum() for letter in text):
            yield from _faint(widget, text, picture, place, scale)
    yield from _overlaps(window)
    yield from _bare(window, picture, scale)


def is_unplaced(widget: QWidget) -> bool:
    """Return whether a widget is seen where Qt puts what is in no layout."""
    return widget.pos().isNull() and widget.size() == _UNPLACED and not widget.visibleRegion().isEmpty()


def contrast(one: QColor, other: QColor) -> float:
    """Return the contrast ratio of two colours, from 1 to 21 (WCAG 2.2)."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: QColor) -> float:
    parts = (colour.redF(), colour.greenF(), colour.blueF())
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _text(widget: QWidget) -> str:
    if isinstance(widget, QLabel) and widget.pixmap().isNull():
        return widget.text()
    icon_only = (
        isinstance(widget, QToolButton) and widget.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly
    )
    return widget.text() if isinstance(widget, QAbstractButton) and not icon_only else ""


def _named(widget: QWidget, text: str) -> str:
    return f"{type(widget).__name__} “{' '.join(text.split())[:60]}”"


def _cut(widget: QWidget, text: str) -> Iterator[str]:
    metrics, room = widget.fontMetrics(), widget.contentsRect()
    is_wrapped = isinstance(widget, QLabel) and widget.wordWrap()
    mark = 22 if isinstance(widget, QCheckBox | QRadioButton) else 0
    plain = text.replace("&&", "&") if isinstance(widget, QAbstractButton) else text
    if isinstance(widget, QLabel) and widget.buddy() is not None:
        plain = text.replace("&", "", 1)  # It marks the letter of the key.
    if not is_wrapped and "<" not in text and metrics.horizontalAdvance(plain) + mark > room.width() + 1:
        told = "" if widget.toolTip() else ", and no tooltip has the rest"
        yield f"cut: {_named(widget, text)}{told}"
    needed = widget.heightForWidth(widget.width()) if is_wrapped else metrics.height()
    if widget.height() + 1 < min(needed, metrics.height() if not is_wrapped else needed):
        yield f"too low: {_named(widget, text)} has {widget.height()} of {needed} pixels"


def _faint(widget: QWidget, text: str, picture: QImage, place: QRect, scale: float) -> Iterator[str]:
    area = QRect(place.topLeft() * scale, place.size() * scale) & picture.rect()
    colours = Counter(
        picture.pixel(x, y)
        for y in range(area.top(), area.bottom() + 1)
        for x in range(area.left(), area.right() + 1)
    )
    if len(colours) < 3:
        return  # Nothing is drawn there: it is covered, or scrolled out of view.
    ground = QColor.fromRgb(colours.most_common(1)[0][0])
    best = max(contrast(QColor.fromRgb(one), ground) for one in colours)
    if best < LEAST_CONTRAST:
        yield f"contrast {best:.1f}: {_named(widget, text)}"


def _overlaps(window: QWidget) -> Iterator[str]:
    for parent in (window, *window.findChildren(QWidget)):
        layout = parent.layout()
        if layout is None or isinstance(layout, QStackedLayout) or parent.visibleRegion().isEmpty():
            continue
        laid = [layout.itemAt(at).widget() for at in range(layout.count())]
        shown = [
            one for one in laid if one is not None and one.isVisible() and not one.visibleRegion().isEmpty()
        ]
        for at, one in enumerate(shown):
            for other in shown[at + 1 :]:
                both = one.geometry() & other.geometry()
                if both.width() > 2 and both.height() > 2 and one.parent() is other.parent():
                    yield f"overlap: {_named(one, _text(one))} and {_named(other, _text(other))}"


def _bare(window: QWidget, picture: QImage, scale: float) -> Iterator[str]:
    """Find the largest rectangle of one colour, by cells: the largest rectangle below a histogram, row by row."""
    cell = max(round(_CELL * scale), 1)
    columns, rows = picture.width() // cell, picture.height() // cell
    colours = [[_colour(picture, x * cell, y * cell, cell) for x in range(columns)] for y in range(rows)]
    best, found = 0, QRect()
    heights = [0] * columns
    for y in range(rows):
        for x in range(columns):
            same = y and colours[y][x] is not None and colours[y][x] == colours[y - 1][x]
            heights[x] = heights[x] + 1 if same else int(colours[y][x] is not None)
        for x in range(columns):
            least = heights[x]
            for end in range(x, columns):
                if colours[y][end] != colours[y][x] or not heights[end]:
                    break
                least = min(least, heights[end])
                if least * (end - x + 1) > best:
                    best, found = least * (end - x + 1), QRect(x, y - least + 1, end - x + 1, least)
    share = best / max(columns * rows, 1)
    if share > _BARE:
        middle = found.center() * (cell / scale)
        inside = window.childAt(middle)
        yield f"bare: {share:.0%} of the window, at {type(inside or window).__name__}"


def _colour(picture: QImage, left: int, top: int, cell: int) -> int | None:
    """Return the only colour of a cell; None if it has several."""
    first: int = picture.pixel(left, top)
    for y in range(top, top + cell, 2):
        for x in range(left, left + cell, 2):
            if picture.pixel(x, y) != first:
                return None
    return first
