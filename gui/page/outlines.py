"""What is outlined in the page, and where the numbers go: beside their box, never over each other."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRectF, QSizeF

from core.debugger.snapshots import OutlineView, StepView
from core.schema.observation import Box, Ref

_CELL = 48.0


class Outline:
    """A box in widget pixels with the place of its number, or None where there is no room for it."""

    __slots__ = ("box", "chosen", "label", "ref", "text")

    def __init__(self, view: OutlineView, box: QRectF, text: str) -> None:
        self.ref: Ref = view.ref
        self.chosen = view.chosen
        self.box = box
        self.text = text
        self.label: QRectF | None = None


def place(views: Sequence[OutlineView], room: QRectF, size: Callable[[str, bool], QSizeF]) -> list[Outline]:
    """Return the outlines that lie in `room`, the chosen one first.

    Boxes are moved by the corner of `room`. A number stands above its box at
    the left; where that is outside or taken, at the right, inside, or below.
    One that fits nowhere is left out rather than laid over another.
    """
    outlines: list[Outline] = []
    for view in sorted(views, key=lambda view: not view.chosen):
        box = QRectF(view.box.x, view.box.y, view.box.width, view.box.height).translated(room.topLeft())
        if box.intersects(room):
            text = f"{view.ref} next" if view.chosen else str(view.ref)
            outlines.append(Outline(view, box, text))
    taken = _Taken()
    for outline in outlines:
        label = size(outline.text, outline.chosen)
        for spot in _spots(outline.box, label, room):
            if room.contains(spot) and taken.is_free(spot):
                outline.label = spot
                taken.add(spot)
                break
    return outlines


def kept_boxes(step: StepView | None) -> tuple[Box, ...]:
    """Return where the elements lie that the abstraction kept; none once the page is another one."""
    if step is None or not step.live or step.action.outcome not in ("none", "thinking", "pending"):
        return ()
    kept = frozenset(step.observation.kept)
    return tuple(one.box for one in step.action.elements if one.ref in kept and one.in_viewport)


def _spots(box: QRectF, label: QSizeF, room: QRectF) -> list[QRectF]:
    seen = box.intersected(room)
    width, height = label.width(), label.height()
    left = min(max(seen.left() - 1, room.left()), room.right() - width)
    right = min(max(seen.right() + 1 - width, room.left()), room.right() - width)
    above, below = seen.top() - height - 1, seen.bottom() + 1
    spots = [
        (left, above),
        (right, above),
        (left, seen.top()),
        (right, seen.top()),
        (left, below),
        (right, below),
    ]
    spots += [(seen.left() - width - 2, seen.top()), (seen.right() + 2, seen.top())]
    return [QRectF(x, y, width, height) for x, y in spots]


class _Taken:
    """Which places are in use, by cells of a grid so that thousands stay quick."""

    def __init__(self) -> None:
        self._cells: dict[tuple[int, int], list[QRectF]] = {}

    def is_free(self, spot: QRectF) -> bool:
        return not any(
            spot.intersects(other) for cell in self._over(spot) for other in self._cells.get(cell, ())
        )

    def add(self, spot: QRectF) -> None:
        for cell in self._over(spot):
            self._cells.setdefault(cell, []).append(spot)

    def _over(self, spot: QRectF) -> list[tuple[int, int]]:
        columns = range(int(spot.left() // _CELL), int(spot.right() // _CELL) + 1)
        rows = range(int(spot.top() // _CELL), int(spot.bottom() // _CELL) + 1)
        return [(column, row) for column in columns for row in rows]
