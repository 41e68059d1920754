"""Policy stack: who is acting, and on whose behalf."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from core.debugger.snapshots import FrameView, StackView
from gui.theme import Theme
from gui.widgets.formats import count
from gui.widgets.words import OrWords

_NONE = (
    "No policy is on the stack. Presets with policies show here which one is acting; "
    "plain and laser act without."
)


class _Frame(QWidget):
    """One call: the policy, its argument and how many steps it took."""

    def __init__(self, theme: Theme, frame: FrameView, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._frame = frame
        self.setFixedHeight(26)
        words = (
            f"{frame.policy} {f'[{frame.argument}]' if frame.argument else ''} {count(frame.steps, 'step')}"
        )
        self.setAccessibleName(words + (", acting" if frame.current else ""))
        self.setToolTip(words + (" – acting now" if frame.current else ""))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme, frame = self._theme, self._frame
        painter.fillRect(self.rect(), QColor(theme.tokens.raised))
        painter.fillRect(0, 0, 3, self.height(), theme.colour("agent" if frame.current else "line"))
        flags = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        room = self.rect().adjusted(10, 0, -10, 0)
        steps = count(frame.steps, "step") + (" · acting" if frame.current else "")
        painter.setFont(theme.small_font())
        painter.setPen(theme.colour("dim"))
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), steps)
        room.setRight(room.right() - painter.fontMetrics().horizontalAdvance(steps) - 10)
        painter.setFont(theme.text_font(bold=frame.current))
        painter.setPen(theme.colour("text"))
        painter.drawText(room, flags, frame.policy)
        room.setLeft(room.left() + painter.fontMetrics().horizontalAdvance(frame.policy) + 8)
        if frame.argument:
            painter.setFont(theme.text_font())
            text = f"[{frame.argument}]".replace("\n", " ")
            cut = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, max(0, room.width()))
            painter.drawText(room, flags, cut)


class StackPanel(QWidget):
    """Shows `StackView`, the current frame on top."""

    fact_changed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._view = StackView()
        self._area = QScrollArea(self)
        self._area.setWidgetResizable(True)
        self._area.setAccessibleName("Policy stack")
        self.or_words = OrWords(self._area, self)
        self.or_words.say(_NONE)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.or_words)
        theme.changed.connect(self.update)

    @Slot(object)
    def show_stack(self, view: StackView) -> None:
        """Replace what is on screen with `view`."""
        self.or_words.say("" if view.frames else _NONE)
        self.fact_changed.emit(f"depth {len(view.frames)}" if view.frames else "")
        if view == self._view:
            return
        self._view = view
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(10, 6, 10, 6)
        column.setSpacing(6)
        for frame in view.frames:
            column.addWidget(_Frame(self._theme, frame, inside))
        column.addStretch(1)
        self._area.setWidget(inside)
