"""A recorded step over the live page: its picture with what was acted on."""

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QPushButton, QSizePolicy, QWidget

from core.debugger.snapshots import ScreenshotView, StepView
from core.schema.observation import Box
from gui.theme.theme import Theme
from gui.widgets.layouts import in_column, in_row
from gui.widgets.words import ElidedLabel, set_tone

_NO_PICTURE = (
    "This step has no picture: none was taken, or none kept (pictures in the settings, --pictures). "
    "The panels show all else that was recorded of it."
)
_BAD_PICTURE = "The picture of this step cannot be read. The panels show all else that was recorded of it."
_MARK = "#f2a313"
_FOUND = "#8440d1"


class Picture(QWidget):
    """A screenshot, never larger than it was taken, with a frame around the acted element."""

    hovered = Signal(float, float)
    """x and y in the viewport that was taken."""
    hover_ended = Signal()
    pressed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._view = ScreenshotView()
        self._found: Box | None = None
        self._image = QImage()
        self._scaled = QImage()
        self.words = ""
        """What is said in place of the picture."""
        self.setMinimumSize(80, 60)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)

    def show_screenshot(self, view: ScreenshotView) -> None:
        if view.data != self._view.data or (self._image.isNull() and not self.words):
            self._image = QImage.fromData(view.data) if view.data else QImage()
            self._scaled = QImage()
        self._view = view
        self.words = "" if not self._image.isNull() else _BAD_PICTURE if view.data else _NO_PICTURE
        self.setAccessibleName(self.words or f"Picture of the recorded step. {view.caption}")
        self.update()

    def show_found(self, box: Box | None) -> None:
        """Frame another element as well; None takes the frame away."""
        if box != self._found:
            self._found = box
            self.update()

    def place(self) -> QRectF:
        """Return where the picture lies, in widget pixels."""
        room = QRectF(self.rect()).adjusted(12, 12, -12, -12)
        size = self._size()
        if size.isEmpty() or room.width() < 1 or room.height() < 1:
            return QRectF()
        scale = min(1.0, room.width() / size.width(), room.height() / size.height())
        width, height = size.width() * scale, size.height() * scale
        left = room.left() + (room.width() - width) / 2
        return QRectF(round(left), round(room.top()), round(width), round(height))

    def marked(self) -> QRectF | None:
        """Return where the acted element lies, in widget pixels."""
        return self._drawn(self._view.box)

    def found(self) -> QRectF | None:
        """Return where the other framed element lies, in widget pixels."""
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

    def _size(self) -> QSize:
        """Return the picture's size in CSS pixels: that of the viewport it was taken of."""
        width, height = self._view.viewport
        return QSize(width, height) if width and height else self._image.size()

    def _crisp(self, place: QRectF) -> QImage:
        """Return the picture scaled once, smoothly, to the pixels it fills on this screen."""
        ratio = self.devicePixelRatioF()
        size = QSize(round(place.width() * ratio), round(place.height() * ratio))
        if size == self._image.size():
            return self._image
        if self._scaled.size() != size:
            self._scaled = self._image.scaled(
                size, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
            )
        return self._scaled


class StepCover(QWidget):
    """Opaque, over the live page, which stays shown beneath; a bar says what is seen and leads back."""

    back_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent, False)
        self.setAutoFillBackground(True)
        bar = QFrame(self)
        bar.setProperty("coverBar", True)
        self.title = ElidedLabel("", bar)
        self.title.setFont(theme.text_font(bold=True))
        self.back_button = QPushButton("Back to now (Esc)", bar)
        self.back_button.setToolTip("Show the live page and the step under way again (Esc)")
        self.back_button.setProperty("accent", True)
        self.back_button.clicked.connect(self.back_requested)
        in_row(bar, (self.title, 1), self.back_button, margins=(12, 4, 8, 4), spacing=10)
        self.picture = Picture(theme, self)
        self.caption = ElidedLabel("", self)
        self.caption.setContentsMargins(12, 4, 12, 6)
        set_tone(self.caption, "dim")
        in_column(self, bar, (self.picture, 1), self.caption, spacing=0)
        self.hide()

    @Slot(object)
    def show_step(self, step: StepView) -> None:
        """Cover the page where `step` is recorded, uncover it where it is the one under way."""
        if step.live:
            self.hide()
            return
        url = step.row.url if step.row else ""
        self.title.setText(f"Step {step.number} of run {step.run}, recorded" + (f" · {url}" if url else ""))
        self.picture.show_screenshot(step.screenshot)
        caption = step.screenshot.caption or step.action.action
        self.caption.setText(caption)
        self.caption.setVisible(bool(caption))
        self.show()
        self.raise_()
