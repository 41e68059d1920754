"""Drawn over the live page: numbered outlines, dots around what was kept, and who has the page.

A transparent sibling above the view. It does not change the page's DOM and picture, and mouse events pass through
to the widget below.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from core.debugger.live_page import LivePageView, OutlineView, Picked
from core.debugger.steps.views import StepView
from core.schema.observation import Box, Ref
from gui.theme.theme import Theme

# The page has its own light or dark design, so these colours do not follow the theme.
_PERMISSIBLE, _ON_PERMISSIBLE = "#1f6feb", "#ffffff"
_CHOSEN, _ON_CHOSEN = "#f2a313", "#241a02"
_PICKED = "#8440d1"
_KEPT = "#0b6b4a"
_CELL = 48.0


@dataclass(slots=True)
class Outline:
    """A box in widget pixels with the position of its number, or None if there is no space for the number."""

    ref: Ref
    chosen: bool
    box: QRectF
    text: str
    label: QRectF | None = None


def place(
    views: Sequence[OutlineView],
    room: QRectF,
    size: Callable[[str, bool], QSizeF],
    scale: float = 1.0,
) -> list[Outline]:
    """Return the outlines in `room`, the chosen one first.

    Boxes are scaled, and moved by the corner of `room`. A number is above its box at the left; if that is outside
    or taken, at the right, inside, or below. A number that fits nowhere is left out and never covers another.
    """
    outlines: list[Outline] = []
    for view in sorted(views, key=lambda view: not view.chosen):
        if view.hidden:
            continue
        box = _rect(view.box, scale).translated(room.topLeft())
        if box.intersects(room):
            text = f"{view.ref} next" if view.chosen else str(view.ref)
            outlines.append(Outline(view.ref, view.chosen, box, text))
    taken = _Taken()
    for outline in outlines:
        label = size(outline.text, outline.chosen)
        for spot in _spots(outline.box, label, room):
            if room.contains(spot) and taken.is_free(spot):
                outline.label = spot
                taken.add(spot)
                break
    return outlines


def way_to(view: OutlineView, room: QRectF, scale: float) -> str:
    """Return the direction of an element that is out of view, as an arrow and a word."""
    box = _rect(view.box, scale).translated(room.topLeft())
    if box.top() >= room.bottom():
        return "↓ below"
    if box.bottom() <= room.top():
        return "↑ above"
    if box.left() >= room.right():
        return "→ to the right"
    if box.right() <= room.left():
        return "← to the left"
    return "↕ scrolled out of view"


def kept_boxes(step: StepView | None) -> tuple[Box, ...]:
    """Return where the elements are that the abstraction kept; empty if the page has changed."""
    if step is None or not step.live or step.action.outcome not in ("none", "thinking", "pending"):
        return ()
    kept = frozenset(step.observation.kept)
    return tuple(
        element.box for element in step.action.elements if element.ref in kept and element.in_viewport
    )


def _spots(box: QRectF, label: QSizeF, room: QRectF) -> list[QRectF]:
    seen = box.intersected(room)
    width, height = label.width(), label.height()
    left = min(max(seen.left() - 1, room.left()), room.right() - width)
    right = min(max(seen.right() + 1 - width, room.left()), room.right() - width)
    above, below = seen.top() - height - 1, seen.bottom() + 1
    spots = [(x, y) for y in (above, seen.top(), below) for x in (left, right)]
    spots += [(seen.left() - width - 2, seen.top()), (seen.right() + 2, seen.top())]
    return [QRectF(x, y, width, height) for x, y in spots]


def _rect(box: Box, scale: float) -> QRectF:
    return QRectF(box.x * scale, box.y * scale, box.width * scale, box.height * scale)


class _Taken:
    """Which areas are in use, in cells of a grid so that thousands of checks are fast."""

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


class Overlay(QWidget):
    """Draws `LivePageView.outlines` into `view_rect`; a CSS pixel is `scale` pixels of the widget."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName("Outlines of permissible actions")
        self._theme = theme
        self._views: tuple[OutlineView, ...] = ()
        self.outlines: list[Outline] = []
        """What is visible now, with the chosen one first."""
        self._scrolled = False
        self.kept: tuple[Box, ...] = ()
        """The positions of the elements that the abstraction kept, as drawn now."""
        self._highlighted: Ref | None = None
        self._framed: Box | None = None
        self._picked: Box | None = None
        self._picked_label = ""
        self._handed_over = False
        self._scale = 1.0

    def set_scale(self, scale: float) -> None:
        """Set the scale at which the page is shown."""
        if scale != self._scale:
            self._scale = scale
            self._place()

    def show_live_page(self, view: LivePageView) -> None:
        """Replace the outlines."""
        if view.outlines != self._views or view.scrolled != self._scrolled:
            self._views, self._scrolled = view.outlines, view.scrolled
            self._place()

    def is_in_view(self, view: OutlineView) -> bool:
        """Return whether any part of an element's box is visible."""
        return _rect(view.box, self._scale).intersects(QRectF(self.rect()))

    def show_kept(self, boxes: tuple[Box, ...]) -> None:
        """Draw a thin dotted line around what the abstraction kept; an empty tuple removes it."""
        if boxes != self.kept:
            self.kept = boxes
            self.update()

    def highlight(self, ref: Ref | None) -> None:
        """Highlight the outline of that ref; None for none."""
        if ref != self._highlighted:
            self._highlighted = ref
            self.update()

    def show_picked(self, picked: Picked | None) -> None:
        """Frame the element under the pointer; None, or a result without an element, removes the frame."""
        self._picked, self._picked_label = None, ""
        if picked is not None and picked.ref is not None:
            self._picked, self._picked_label = picked.box, f"[{picked.ref}] {picked.label}".rstrip()
        self.update()

    def frame(self, box: Box | None) -> None:
        """Frame one element; None removes the frame."""
        if box != self._framed:
            self._framed = box
            self.update()

    def framed(self) -> QRectF | None:
        """Return the visible part of the framed element."""
        box = _rect(self._framed, self._scale) if self._framed is not None else QRectF()
        return box if box.intersects(QRectF(self.rect())) else None

    def show_handed_over(self, on: bool) -> None:
        """Frame the whole view in the person's colour and dim the outlines while the person has the page."""
        self._handed_over = on
        self.update()

    def resizeEvent(self, event) -> None:  # type: ignore[no-untyped-def]
        super().resizeEvent(event)
        self._place()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._handed_over:
            painter.setPen(QPen(self._theme.colour("person"), 4))
            painter.drawRect(QRectF(self.rect()).adjusted(2, 2, -2, -2))
            painter.end()
            return
        painter.setFont(self._theme.small_font())
        visible = QRectF(event.rect())
        if not self._scrolled:  # They are where the agent saw them.
            self._paint_kept(painter, visible)
        for outline in reversed(self.outlines):  # the chosen one last, on top
            reach = outline.box if outline.label is None else outline.box.united(outline.label)
            if reach.adjusted(-4, -4, 4, 4).intersects(visible):
                self._paint_outline(painter, outline)
        if (framed := self.framed()) is not None:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(_PICKED), 3, Qt.PenStyle.DashLine))
            painter.drawRoundedRect(framed.adjusted(-4, -4, 4, 4), 4, 4)
        if self._picked is not None:
            self._paint_picked(painter, self._picked)
        painter.end()

    def _paint_kept(self, painter: QPainter, visible: QRectF) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for box in self.kept:
            frame = _rect(box, self._scale).adjusted(-4.5, -4.5, 4.5, 4.5)
            if frame.intersects(visible):
                painter.setPen(QPen(QColor("white"), 1.4))  # so that the dots are visible on any background
                painter.drawRect(frame)
                painter.setPen(QPen(QColor(_KEPT), 1.4, Qt.PenStyle.DotLine))
                painter.drawRect(frame)

    def _paint_outline(self, painter: QPainter, outline: Outline) -> None:
        colour = QColor(_CHOSEN if outline.chosen else _PERMISSIBLE)
        lit = outline.ref == self._highlighted
        if lit or outline.chosen:
            fill = QColor(colour)
            fill.setAlpha(46 if lit else 26)
            painter.setBrush(fill)
        else:
            painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(colour, 2.6 if lit or outline.chosen else 1.3))
        painter.drawRoundedRect(outline.box.adjusted(-1.5, -1.5, 1.5, 1.5), 3, 3)
        if outline.label is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawRoundedRect(outline.label, 2, 2)
            painter.setPen(QColor(_ON_CHOSEN if outline.chosen else _ON_PERMISSIBLE))
            painter.drawText(outline.label, int(Qt.AlignmentFlag.AlignCenter), outline.text)

    def _paint_picked(self, painter: QPainter, box: Box) -> None:
        frame = _rect(box, self._scale)
        colour = QColor(_PICKED)
        fill = QColor(colour)
        fill.setAlpha(50)
        painter.setPen(QPen(colour, 2.5))
        painter.setBrush(fill)
        painter.drawRoundedRect(frame.adjusted(-2, -2, 2, 2), 3, 3)
        size = self._label_size(self._picked_label, True)
        width = min(size.width(), max(40.0, self.width() - 8.0))
        x = min(max(2.0, frame.left() - 2), max(2.0, self.width() - width - 2))
        y = frame.top() - size.height() - 4
        if y < 2:
            y = min(frame.bottom() + 4, self.height() - size.height() - 2)
        label = QRectF(x, y, width, size.height())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawRoundedRect(label, 2, 2)
        painter.setPen(QColor(_ON_PERMISSIBLE))
        text = painter.fontMetrics().elidedText(
            self._picked_label, Qt.TextElideMode.ElideRight, int(width) - 6
        )
        painter.drawText(label, int(Qt.AlignmentFlag.AlignCenter), text)

    def _label_size(self, text: str, chosen: bool) -> QSizeF:
        metrics = QFontMetricsF(self._theme.small_font())
        return QSizeF(metrics.horizontalAdvance(text) + 8, metrics.height() + 1)

    def _place(self) -> None:
        self.outlines = place(self._views, QRectF(self.rect()), self._label_size, self._scale)
        self.update()
