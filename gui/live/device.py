"""The device: a page of a fixed size, drawn scaled to fit or at its own size with scrolling.

The page is laid out at its own size and only its picture is scaled, so the page does not depend on the window. A zoom
factor of the engine would keep the size of the viewport too, but not the layout: lines are as high as whole pixels, so
paragraphs were up to 9 % lower or higher from one zoom to another.
"""

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QHideEvent, QPainter, QResizeEvent, QShowEvent, QTransform
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QGraphicsProxyWidget,
    QGraphicsScene,
    QGraphicsView,
    QWidget,
)

from gui.widgets.device_place import device_place, device_room


class _Proxy(QGraphicsProxyWidget):
    def focusNextPrevChild(self, next: bool) -> bool:
        return False  # Tab belongs to the page, and does not lead from one of its widgets to another.


class Device(QGraphicsView):
    """Draws `content`; mouse and keys reach it at the place where they are."""

    moved = Signal()
    """The content is drawn elsewhere or at another scale."""
    watched = Signal(bool)
    """Whether it is visible."""

    def __init__(self, content: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self.fitted = True
        """Whether the page is scaled to fit; otherwise it has its own size and is scrolled."""
        self.page_size = content.size()
        """The size in which the page is laid out, in CSS pixels."""
        scene = QGraphicsScene(self)
        scene.setStickyFocus(True)  # A click beside the page leaves the keys with the page.
        self._proxy = _Proxy()
        self._proxy.setWidget(content)
        scene.addItem(self._proxy)
        self.setScene(scene)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        self.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignHCenter)
        self.setMinimumSize(80, 60)
        self.setAccessibleName("Live page")
        self.setProperty("device", True)
        for bar in (self.horizontalScrollBar(), self.verticalScrollBar()):
            bar.valueChanged.connect(lambda _value: self.moved.emit())
        self._fit()

    def set_page_size(self, size: QSize) -> None:
        """Lay the page out at this size in CSS pixels."""
        if size != self.page_size:
            self.page_size = size
            self._proxy.resize(QSizeF(size))
            self._fit()

    def set_fitted(self, on: bool) -> None:
        """Scale the page to fit, or show it at its own size with scrolling."""
        if on != self.fitted:
            self.fitted = on
            self._fit()
            for bar in (self.horizontalScrollBar(), self.verticalScrollBar()):
                bar.setValue(bar.minimum())

    @property
    def drawn_scale(self) -> float:
        """The number of this widget's pixels per CSS pixel."""
        return self.transform().m11()

    def place(self) -> QRect:
        """Return where the page is drawn in this widget; parts of it may lie outside."""
        return QRect(self.mapFromScene(QPointF()), (QSizeF(self.page_size) * self.drawn_scale).toSize())

    def reveal(self, box: QRectF) -> None:
        """Scroll to a place of the page, in CSS pixels, if it is out of view."""
        if not self.fitted:
            self.ensureVisible(box)

    def scroll_by(self, right: float, down: float) -> bool:
        """Scroll by this many pixels; return False if there is nothing left to scroll to."""
        if self.fitted:
            return False  # A pixel that rounding has left is none to scroll to.
        bars = self.horizontalScrollBar(), self.verticalScrollBar()
        before = [bar.value() for bar in bars]
        for bar, by in zip(bars, (right, down), strict=True):
            bar.setValue(bar.value() + round(by))
        return [bar.value() for bar in bars] != before

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._pass_on(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._pass_on(event)

    def _pass_on(self, event: QFocusEvent) -> None:
        """Tell the page that the device has got or lost the focus: the scene tells only of changes inside it."""
        if (target := self._proxy.widget().focusWidget()) is not None:
            QApplication.sendEvent(target, QFocusEvent(event.type(), event.reason()))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.watched.emit(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.watched.emit(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def focusNextPrevChild(self, next: bool) -> bool:
        # While the person has the page, Tab belongs to it; else `KeyGuard` takes it before.
        return False

    def _fit(self) -> None:
        policy = (
            Qt.ScrollBarPolicy.ScrollBarAlwaysOff if self.fitted else Qt.ScrollBarPolicy.ScrollBarAsNeeded
        )
        self.setHorizontalScrollBarPolicy(policy)
        self.setVerticalScrollBarPolicy(policy)
        size = QSizeF(self.page_size)
        if not self.fitted:
            room = QRectF(QPointF(), QSizeF(device_room(self.page_size)))
            room.moveCenter(QRectF(QPointF(), size).center())
            self.setSceneRect(room)
            self.setTransform(QTransform())
        else:
            room = QRectF(self.rect())
            place = device_place(room, size)
            if place.isEmpty():
                return
            scale = QTransform.fromScale(place.width() / size.width(), place.height() / size.height())
            # The scene is as large as the widget, with the page where it is to be drawn.
            self.setTransform(scale)
            self.setSceneRect(scale.inverted()[0].mapRect(room.translated(-place.topLeft())))
        self.moved.emit()
