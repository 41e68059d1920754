"""What is drawn over the live page: numbered outlines, dots around what was kept, and who has the page.

A transparent sibling above the view: the page's own DOM and picture are not
touched, and the mouse goes through to whatever lies beneath.
"""

from PySide6.QtCore import QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from core.debugger.snapshots import LivePageView, OutlineView, Picked
from core.schema.observation import Box, Ref
from gui.page.outlines import Outline, place
from gui.theme.theme import Theme


class Overlay(QWidget):
    """Draws `LivePageView.outlines` into `view_rect`; one CSS pixel is one widget pixel."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName("Outlines of permissible actions")
        self._theme = theme
        self._views: tuple[OutlineView, ...] = ()
        self._outlines: list[Outline] = []
        self._kept: tuple[Box, ...] = ()
        self._highlighted: Ref | None = None
        self._picked: Box | None = None
        self._picked_label = ""
        self._handed_over = False
        theme.changed.connect(self.update)

    @property
    def outlines(self) -> list[Outline]:
        """What lies in the view now, the chosen one first."""
        return self._outlines

    def show_live_page(self, view: LivePageView) -> None:
        """Draw these outlines in place of the last."""
        if view.outlines != self._views:
            self._views = view.outlines
            self._place()

    @property
    def kept(self) -> tuple[Box, ...]:
        """The places of the elements that the abstraction kept, as they are drawn now."""
        return self._kept

    def show_kept(self, boxes: tuple[Box, ...]) -> None:
        """Draw a thin dotted line around what the abstraction kept; an empty tuple takes it away."""
        if boxes != self._kept:
            self._kept = boxes
            self.update()

    def highlight(self, ref: Ref | None) -> None:
        """Let the outline of that ref stand out; None for none."""
        if ref != self._highlighted:
            self._highlighted = ref
            self.update()

    def show_picked(self, picked: Picked | None) -> None:
        """Frame the element under the pointer; None, or no element, takes the frame away."""
        self._picked = picked.box if picked is not None and picked.ref is not None else None
        self._picked_label = (
            "" if picked is None or picked.ref is None else f"[{picked.ref}] {picked.label}".rstrip()
        )
        self.update()

    def show_handed_over(self, on: bool) -> None:
        """Frame the whole view in the person's colour while the page is theirs; outlines step back."""
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
        self._paint_kept(painter, visible)
        for outline in reversed(self._outlines):  # the chosen one last, on top
            reach = outline.box if outline.label is None else outline.box.united(outline.label)
            if reach.adjusted(-4, -4, 4, 4).intersects(visible):
                self._paint_outline(painter, outline)
        if self._picked is not None:
            self._paint_picked(painter, self._picked)
        painter.end()

    def _paint_kept(self, painter: QPainter, visible: QRectF) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for box in self._kept:
            frame = QRectF(box.x, box.y, box.width, box.height).adjusted(-4.5, -4.5, 4.5, 4.5)
            if frame.intersects(visible):
                painter.setPen(QPen(QColor("white"), 1.4))  # so that the dots are seen on any ground
                painter.drawRect(frame)
                painter.setPen(QPen(QColor(_KEPT), 1.4, Qt.PenStyle.DotLine))
                painter.drawRect(frame)

    def _paint_outline(self, painter: QPainter, outline: Outline) -> None:
        # The page is light or dark by its own design, so these colours do not follow the theme.
        colour = QColor(_CHOSEN if outline.chosen else _PERMISSIBLE)
        lit = outline.ref == self._highlighted
        if lit or outline.chosen:
            fill = QColor(colour)
            fill.setAlpha(46 if lit else 26)
            painter.setBrush(fill)
        else:
            painter.setBrush(Qt.BrushStyle.NoBrush)
        pen = QPen(colour, 2.6 if lit or outline.chosen else 1.3)
        painter.setPen(pen)
        painter.drawRoundedRect(outline.box.adjusted(-1.5, -1.5, 1.5, 1.5), 3, 3)
        if outline.label is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawRoundedRect(outline.label, 2, 2)
            painter.setPen(QColor(_ON_CHOSEN if outline.chosen else _ON_PERMISSIBLE))
            painter.drawText(outline.label, int(Qt.AlignmentFlag.AlignCenter), outline.text)

    def _paint_picked(self, painter: QPainter, box: Box) -> None:
        frame = QRectF(box.x, box.y, box.width, box.height)
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
        self._outlines = place(self._views, QRectF(self.rect()), self._label_size)
        self.update()


_PERMISSIBLE = "#1f6feb"
_ON_PERMISSIBLE = "#ffffff"
_CHOSEN = "#f2a313"
_ON_CHOSEN = "#241a02"
_PICKED = "#8440d1"
_KEPT = "#0b6b4a"
