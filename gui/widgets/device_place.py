"""Where a page of a fixed size is drawn: scaled to fit, the same for the live page and for its pictures."""

from PySide6.QtCore import QRectF, QSize, QSizeF

_MARGIN = 8
_LARGEST = 2.0


def device_place(room: QRectF, size: QSizeF, largest: float = _LARGEST) -> QRectF:
    """Return where a page of this size in CSS pixels is drawn in `room`, at the top and in whole pixels.

    `largest` is the scale up to which a small page is enlarged. An empty rectangle if there is no room or no page.
    """
    free = room.adjusted(_MARGIN, _MARGIN, -_MARGIN, -_MARGIN)
    if size.isEmpty() or free.width() < 1 or free.height() < 1:
        return QRectF()
    scale = min(largest, free.width() / size.width(), free.height() / size.height())
    width, height = round(size.width() * scale), round(size.height() * scale)
    return QRectF(round(free.left() + (free.width() - width) / 2), round(free.top()), width, height)


def device_room(size: QSize) -> QSize:
    """Return the room that a page needs to be drawn at its own size; an empty one for no page."""
    return QSize() if size.isEmpty() else size + QSize(2 * _MARGIN, 2 * _MARGIN)
