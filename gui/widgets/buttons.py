"""Buttons that show their key, an icon, or the current choice."""

from collections.abc import Callable

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QAction, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QMenu,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStyleOptionToolButton,
    QStylePainter,
    QToolButton,
    QWidget,
)

from core.schema.formats import in_line
from gui.theme.theme import Theme
from gui.widgets.words import labelled, set_flag

_ICON = 14
ICON_BESIDE_TEXT = QSize(20, 15)
"""The icon size of a button with text, wide enough to leave a gap between them."""


class _KeyButton(QPushButton):
    """Keeps its key when its text changes, where Qt takes the key that the new text marks, or none."""

    key = ""

    def setText(self, text: str) -> None:
        super().setText(text)
        if self.key:
            self.setShortcut(self.key)


def key_button(
    text: str,
    words: str,
    key: str,
    do: Callable[[], object],
    parent: QWidget | None = None,
    *,
    accent: bool = False,
) -> QPushButton:
    """Return a button that is never a dialog's default button; `key` is optional.

    Esc is only shown: a dialog already handles that key.
    """
    button = _KeyButton(text, parent, autoDefault=False)
    if key and key != "Esc":
        button.key = key
        button.setShortcut(key)
    button.setToolTip(f"{words} ({key.replace('Return', 'Enter')})" if key else words)
    button.clicked.connect(lambda: do())
    if accent:
        set_flag(button, "accent", True)
    return button


def action_button(action: QAction, parent: QWidget | None = None) -> QPushButton:
    """Return a button that shows and does what an action does."""
    button = QPushButton(parent, autoDefault=False)
    button.setIconSize(ICON_BESIDE_TEXT)

    def show() -> None:
        button.setText(action.text())
        button.setIcon(action.icon())
        button.setToolTip(action.toolTip())
        button.setEnabled(action.isEnabled())

    action.changed.connect(show)
    button.clicked.connect(action.trigger)
    show()
    return button


def icon_button(
    theme: Theme,
    icon: str,
    words: str,
    do: Callable[[], object] | None = None,
    parent: QWidget | None = None,
    *,
    key: str = "",
    size: int = 14,
) -> QToolButton:
    """Return a button with an icon of this many pixels; name and tooltip describe it.

    The tooltip also shows the `key`, which is handled elsewhere.
    """
    button = labelled(QToolButton(parent), words, f"{words} ({key})" if key else words)
    button.setIcon(theme.icon(icon))
    button.setIconSize(QSize(size, size))
    if do is not None:
        button.clicked.connect(lambda: do())
    return button


class ElidedButton(QPushButton):
    """Shrinks when space is short; its tooltip begins with its full text."""

    def __init__(self, text: str, tooltip: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = tooltip
        self.setText(text)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        least = super().minimumSizeHint()
        return QSize(min(60, least.width()), least.height())

    def setText(self, text: str) -> None:
        super().setText(text)
        self.setToolTip("\n".join(filter(None, (text, self._words))))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QStylePainter(self)
        option = QStyleOptionButton()
        self.initStyleOption(option)
        missing = self.sizeHint().width() - self.width()
        if missing > 0:
            room = max(0, self.fontMetrics().horizontalAdvance(self.text()) - missing)
            option.text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room)
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)


class PickerButton(QToolButton):
    """Shows the picker's name in dim text or an icon for it, then the current choice and an arrow.

    Its width does not depend on the choice, so its neighbours do not move.
    """

    def __init__(
        self, theme: Theme, name: str, *, width: int, icon: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._name = name
        self._icon = icon
        self._value = ""
        self._width = width
        self.setProperty("picker", True)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setMenu(QMenu(self))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)

    @property
    def value(self) -> str:
        return self._value

    def show_value(self, value: str, tooltip: str) -> None:
        self._value = in_line(value)
        self.setAccessibleName(f"{self._name}: {self._value}")
        self.setToolTip(tooltip)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.scaled(self._width), self.fontMetrics().height() + 12)

    def minimumSizeHint(self) -> QSize:
        return QSize(min(96, self._width), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QStylePainter(self)
        option = QStyleOptionToolButton()
        self.initStyleOption(option)
        option.text = ""
        painter.drawComplexControl(QStyle.ComplexControl.CC_ToolButton, option)
        self._paint_words(painter)

    def _name_width(self) -> int:
        return _ICON if self._icon else self.fontMetrics().horizontalAdvance(self._name)

    def _paint_words(self, painter: QPainter) -> None:
        metrics = self.fontMetrics()
        room = self.rect().adjusted(10, 0, -24, 0)
        middle = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        if self._icon:
            place = QRect(room.left(), (self.height() - _ICON) // 2, _ICON, _ICON)
            self._theme.icon(self._icon, tone="dim").paint(painter, place)
        else:
            painter.setPen(self._theme.colour("dim"))
            painter.drawText(room, middle, self._name)
        room.setLeft(room.left() + self._name_width() + 7)
        painter.setPen(self._theme.colour("text" if self.isEnabled() else "faint"))
        painter.drawText(
            room, middle, metrics.elidedText(self._value, Qt.TextElideMode.ElideMiddle, max(0, room.width()))
        )
        arrow = QRect(self.width() - 21, (self.height() - 12) // 2, 12, 12)
        self._theme.icon("chevron-down").paint(painter, arrow)
