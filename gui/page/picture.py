"""The picture of a recorded page with the target of the action, and two pictures with a slider between them."""

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.debugger.steps.views import ScreenshotView
from core.schema.observation import Box
from gui.theme.theme import Theme
from gui.widgets.decoding import read_picture
from gui.widgets.device_place import device_place, device_room

_NO_PICTURE = (
    "This step has no picture: none was taken or kept (see pictures in the settings, or --pictures). "
    "The panels show everything else that was recorded."
)
_BAD_PICTURE = "The picture of this step cannot be read. The panels show everything else that was recorded."
# The page has its own light or dark design, so these colours do not follow the theme.
_MARK = "#f2a313"
_FOUND = "#8440d1"
_LINE, _ON_LINE = "#1f6feb", "#ffffff"
_STEP = 0.02
"""The share of the picture by which a key moves the slider."""
_NEAR = 12.0


class Picture(QWidget):
    """A screenshot, drawn like the live page, with a frame around the target of the action."""

    hovered = Signal(float, float)
    """x and y in the viewport of the screenshot."""
    hover_ended = Signal()
    pressed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._view = ScreenshotView()
        self._found: Box | None = None
        self._fitted = True
        self.image = QImage()
        """The picture as decoded; null if there is none."""
        self._scaled = QImage()
        self.words = ""
        """The text that is shown instead of the picture."""
        self.set_fitted(True)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def show_screenshot(self, view: ScreenshotView, image: QImage | None = None) -> None:
        """Show a picture, given as `image` if it was decoded before, or why there is none."""
        if image is not None or view.data != self._view.data or (self.image.isNull() and not self.words):
            self.image = read_picture(view.data) if image is None else image
            self._scaled = QImage()
        self._view = view
        self.words = (
            "" if not self.image.isNull() else _BAD_PICTURE if view.data else view.missing or _NO_PICTURE
        )
        self.setAccessibleName(self.words or f"Picture of the recorded step. {view.caption}")
        self.set_fitted(self._fitted)
        self.update()

    def set_fitted(self, on: bool) -> None:
        """Draw the picture scaled to fit, or take at least the space of its own size."""
        self._fitted = on
        least = device_room(self._size())
        self.setMinimumSize(QSize(80, 60) if on or least.isEmpty() else least)

    def show_found(self, box: Box | None) -> None:
        """Also frame another element; None removes the frame."""
        if box != self._found:
            self._found = box
            self.update()

    def place(self) -> QRectF:
        """Return where the picture is, in widget pixels."""
        room, size = QRectF(self.rect()), QSizeF(self._size())
        return device_place(room, size) if self._fitted else device_place(room, size, largest=1.0)

    def marked(self) -> QRectF | None:
        """Return where the target of the action is, in widget pixels."""
        return self._drawn(self._view.box)

    def found(self) -> QRectF | None:
        """Return where the other framed element is, in widget pixels."""
        return self._drawn(self._found)

    def _drawn(self, box: Box | None) -> QRectF | None:
        place, size = self.place(), self._size()
        if box is None or place.isEmpty():
            return None
        scale = place.width() / size.width()
        return QRectF(
            place.left() + box.x * scale, place.top() + box.y * scale, box.width * scale, box.height * scale
        )

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place, size = self.place(), self._size()
        if place.contains(event.position()):
            inside, scale = event.position() - place.topLeft(), size.width() / place.width()
            self.hovered.emit(inside.x() * scale, inside.y() * scale)
        else:
            self.hover_ended.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.pressed.emit()

    def leaveEvent(self, event: QEvent) -> None:
        self.hover_ended.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.colour("window"))
        if self.words:
            painter.setPen(self._theme.colour("dim"))
            room = self.rect().adjusted(24, 24, -24, -24)
            painter.drawText(room, int(Qt.AlignmentFlag.AlignHCenter | Qt.TextFlag.TextWordWrap), self.words)
            painter.end()
            return
        place = self.place()
        painter.drawImage(place, self._crisp(place))
        self.paint_over(painter, place)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.colour("line"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(place.adjusted(-0.5, -0.5, 0.5, 0.5))
        box = self.marked()
        if box is not None:
            painter.setClipRect(place.adjusted(-3, -3, 3, 3))
            fill = QColor(_MARK)
            fill.setAlpha(40)
            painter.setBrush(fill)
            painter.setPen(QPen(QColor(_MARK), 3))
            painter.drawRoundedRect(box.adjusted(-3, -3, 3, 3), 4, 4)
        found = self.found()
        if found is not None:
            painter.setClipRect(place.adjusted(-3, -3, 3, 3))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(_FOUND), 3, Qt.PenStyle.DashLine))
            painter.drawRoundedRect(found.adjusted(-5, -5, 5, 5), 4, 4)
        painter.end()

    def paint_over(self, painter: QPainter, place: QRectF) -> None:
        """Draw on the picture but below its frames; does nothing here."""

    def _size(self) -> QSize:
        """Return the picture's size in CSS pixels: that of its viewport."""
        width, height = self._view.viewport
        return QSize(width, height) if width and height else self.image.size()

    def _crisp(self, place: QRectF) -> QImage:
        """Return the picture scaled once, smoothly, to the pixels that it fills on this screen."""
        ratio = self.devicePixelRatioF()
        size = QSize(round(place.width() * ratio), round(place.height() * ratio))
        if size == self.image.size():
            return self.image
        if self._scaled.size() != size:
            self._scaled = self.image.scaled(
                size, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
            )
        return self._scaled


class SliderPicture(Picture):
    """The page before a step and, right of a movable line, the page after it, if there is one."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._after = QImage()
        self._after_scaled = QImage()
        self._dragged = False
        self.share = 0.5
        """The position of the line, as a share of the picture's width."""

    @property
    def slides(self) -> bool:
        return not self._after.isNull() and not self.words

    def show_after(self, after: QImage | None) -> None:
        """Show the page after the step over the one before; None removes it."""
        self._after = QImage() if after is None else after
        self._after_scaled = QImage()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if self.slides else Qt.FocusPolicy.NoFocus)
        self.unsetCursor()
        self.update()

    def move_to(self, share: float) -> None:
        """Move the line to this share of the width."""
        self.share = min(max(share, 0.0), 1.0)
        self.setAccessibleDescription(f"Slider: the page before the step up to {self.share:.0%} of the width")
        self.update()

    def paint_over(self, painter: QPainter, place: QRectF) -> None:
        if not self.slides:
            return
        x = place.left() + place.width() * self.share
        right = QRectF(x, place.top(), place.right() - x, place.height())
        painter.save()
        painter.setClipRect(right.intersected(place))
        painter.fillRect(place, self.palette().window())
        shape = self.image.size()  # A page of another size is drawn at the same scale.
        after = QRectF(
            place.topLeft(),
            QSizeF(
                place.width() * self._after.width() / shape.width(),
                place.height() * self._after.height() / shape.height(),
            ),
        )
        size = (after.size() * self.devicePixelRatioF()).toSize()
        if self._after_scaled.size() != size:
            self._after_scaled = self._after.scaled(
                size, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
            )
        painter.drawImage(after, self._after_scaled)
        painter.restore()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(_LINE), 4 if self.hasFocus() else 2))
        painter.drawLine(QPointF(x, place.top()), QPointF(x, place.bottom()))
        self._paint_knob(painter, QPointF(x, place.center().y()))
        for text, left, room in (
            ("Before", True, QRectF(place.left(), place.top(), x - place.left(), place.height())),
            ("After", False, right),
        ):
            wide = painter.fontMetrics().horizontalAdvance(text) + 12.0
            if room.width() > wide + 8:
                at = room.left() + 4 if left else room.right() - wide - 4
                chip = QRectF(at, room.bottom() - 24, wide, 20)
                painter.fillRect(chip, QColor(_LINE))
                painter.setPen(QColor(_ON_LINE))
                painter.drawText(chip, int(Qt.AlignmentFlag.AlignCenter), text)

    def _paint_knob(self, painter: QPainter, centre: QPointF) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(_LINE))
        painter.drawEllipse(centre, _NEAR, _NEAR)
        painter.setBrush(QColor(_ON_LINE))
        for way in (-1, 1):
            tip = centre + QPointF(way * 8, 0)
            painter.drawPolygon(QPolygonF([tip, centre + QPointF(way * 3, -4), centre + QPointF(way * 3, 4)]))
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.slides and event.button() == Qt.MouseButton.LeftButton:
            self._dragged = True
            self._follow(event)
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._dragged:
            self._follow(event)
        elif self.slides:
            self.setCursor(Qt.CursorShape.SplitHCursor)
        else:
            super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._dragged = False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        moves = {
            Qt.Key.Key_Left: self.share - _STEP,
            Qt.Key.Key_Right: self.share + _STEP,
            Qt.Key.Key_PageUp: self.share - 5 * _STEP,
            Qt.Key.Key_PageDown: self.share + 5 * _STEP,
            Qt.Key.Key_Home: 0.0,
            Qt.Key.Key_End: 1.0,
        }
        share = moves.get(Qt.Key(event.key()))
        if share is not None and self.slides:
            self.move_to(share)
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def _follow(self, event: QMouseEvent) -> None:
        place = self.place()
        if place.width() > 0:
            self.move_to((event.position().x() - place.left()) / place.width())
