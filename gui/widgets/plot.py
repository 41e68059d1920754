"""A plot in the theme's colours that supports the keyboard, drawn by pyqtgraph.

Importing this module imports pyqtgraph, which must not delay the start of the main window. Import it only when a
page or window with a plot is first opened.
"""

from html import escape

import pyqtgraph
from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import QAccessible, QAccessibleEvent, QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from gui.theme.theme import Theme

pyqtgraph.setConfigOptions(antialias=True, exitCleanup=False)  # Qt deletes the views with their windows.


class Plot(pyqtgraph.PlotWidget):  # type: ignore[misc]  # pyqtgraph tells no types.
    """A `PlotWidget` without menu and buttons; a subclass redraws itself in `_draw` when the theme changes."""

    def __init__(self, theme: Theme, name: str, hint: QSize, parent: QWidget | None = None) -> None:
        super().__init__(parent, enableMenu=False)
        self._theme = theme
        self._hint = hint
        self.box: pyqtgraph.ViewBox = self.getViewBox()
        """The part between the axes, with zoom and position."""
        self.box.disableAutoRange()
        self.hideButtons()
        self.setAntialiasing(True)
        self.setAccessibleName(name)
        theme.changed.connect(self._on_theme)

    def sizeHint(self) -> QSize:
        return self._hint

    def point_at(self, x: float, y: float) -> QPointF:
        """Return the position of a plot coordinate on the viewport, in pixels."""
        place: QPointF = self.box.mapViewToScene(QPointF(x, y))
        return place

    def tell(self, words: str) -> None:
        """Announce what is current to screen readers."""
        self.setAccessibleDescription(words)
        if self.hasFocus():
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    def show_tip(self, at: QPointF, words: str) -> None:
        """Show a tooltip at a position of the viewport; tags in `words` are shown literally."""
        tip = f"<p>{escape(words)}</p>" if words else ""
        QToolTip.showText(self.viewport().mapToGlobal(at.toPoint()), tip, self)

    def add_words(
        self,
        words: str,
        at: tuple[float, float],
        *,
        anchor: tuple[float, float] = (0.5, 0.5),
        tone: str = "text",
        ground: str = "",
        bold: bool = False,
    ) -> pyqtgraph.TextItem:
        """Draw text at a plot coordinate; `anchor` is the part of the text at that coordinate, (0, 0) its top left."""
        fill = self._theme.colour(ground) if ground else None
        if fill is not None:
            fill.setAlpha(215)
        item = pyqtgraph.TextItem(words, self._theme.colour(tone), anchor=anchor, fill=fill)
        item.textItem.document().setDocumentMargin(2)
        item.setFont(self._theme.small_font(bold=bold))
        item.setPos(*at)
        self.addItem(item, ignoreBounds=True)
        return item

    def _draw(self) -> None:
        """Draw the content in the colours of the theme."""

    def _on_theme(self) -> None:
        self.setBackground(self._theme.colour("panel"))
        self._draw()

    # Qt's events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()  # The scene would take the keys of the window.

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.tell(self.accessibleDescription())
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self.viewport())
            painter.setPen(QPen(self._theme.colour("agent"), 1))
            painter.drawRect(self.viewport().rect().adjusted(0, 0, -1, -1))
