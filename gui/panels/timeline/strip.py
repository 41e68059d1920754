"""The strip of the window that holds the time bar: a line of facts, buttons, and the bar."""

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QToolBar, QToolButton, QVBoxLayout, QWidget

from core.debugger.timeline.views import TimeView
from gui.panels.timeline import text as time_words
from gui.panels.timeline.bar import TimeArea
from gui.theme.theme import Theme
from gui.widgets.remembered import Remembered
from gui.widgets.words import ElidedLabel, set_tone

_KEY = "Ctrl+T"


class TimeStrip(QToolBar):
    """Lies above the status line; it is hidden and shown as tool bars are, and stays as it was left."""

    shown_changed = Signal()
    """It was shown or hidden."""

    def __init__(self, theme: Theme, remembered: Remembered, parent: QWidget | None = None) -> None:
        super().__init__("Time bar", parent)
        self._remembered = remembered
        self.setObjectName("timeStrip")
        self.setMovable(False)
        self.setFloatable(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.area = TimeArea(theme)
        self.bar = self.area.bar
        self.facts = ElidedLabel("")
        self.facts.setFont(theme.small_font())
        set_tone(self.facts, "dim")
        head = QHBoxLayout()
        head.setContentsMargins(8, 0, 4, 0)
        head.setSpacing(2)
        head.addWidget(self.facts, 1)
        self.fold = self._button(
            theme, "fold", "Draw waits short, so that the work is seen; off draws all to scale"
        )
        self.fold.setCheckable(True)
        self.fold.setChecked(remembered.waits_folded)
        self.fold.toggled.connect(self._on_folded)
        self.bar.set_folded(remembered.waits_folded)
        closer = self._button(theme, "zoom-in", "Zoom in (+ in the bar, or the wheel)")
        closer.clicked.connect(lambda: self.bar.zoom_by(1.5))
        farther = self._button(theme, "zoom-out", "Zoom out (− in the bar, or the wheel)")
        farther.clicked.connect(lambda: self.bar.zoom_by(1 / 1.5))
        self.fit = self._button(theme, "screen-full", "Show the whole run (0 in the bar)")
        self.fit.clicked.connect(self.bar.fit)
        hide = self._button(theme, "close", f"Hide the time bar; {_KEY} shows it again")
        hide.clicked.connect(self.hide)
        for button in (self.fold, closer, farther, self.fit, hide):
            head.addWidget(button)
        inside = QWidget(self)
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 1, 0, 1)
        column.setSpacing(1)
        column.addLayout(head)
        column.addWidget(self.area)
        self.addWidget(inside)
        self.visibilityChanged.connect(lambda _on: self.shown_changed.emit())

    @Slot(object)
    def show_times(self, view: TimeView) -> None:
        """Replace what is on screen with `view`."""
        self.facts.setText(time_words.summary(view) or "Time bar")
        self.area.show_times(view)

    def reach(self) -> None:
        """Show it and give it the focus; hide it where it has the focus already."""
        if self.isVisible() and self.bar.hasFocus():
            self.hide()
            return
        self.show()
        self.bar.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _button(self, theme: Theme, icon: str, words: str) -> QToolButton:
        button = QToolButton(self)
        button.setIcon(theme.icon(icon))
        button.setIconSize(QSize(12, 12))
        button.setFixedSize(20, 18)
        button.setToolTip(words)
        button.setAccessibleName(words)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        theme.changed.connect(button.update)
        return button

    def _on_folded(self, on: bool) -> None:
        self._remembered.waits_folded = on
        self.bar.set_folded(on)
