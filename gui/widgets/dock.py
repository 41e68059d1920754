"""A dock with one line of title: its name, and the fact that matters at the right."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QDockWidget, QHBoxLayout, QLabel, QToolButton, QWidget

from gui.theme.theme import Theme
from gui.widgets.words import ElidedLabel, set_tone


class _Title(QWidget):
    """Name, fact, and the two buttons of a dock; the mouse is left to the dock, which drags by it."""

    def __init__(self, theme: Theme, dock: "PanelDock") -> None:
        super().__init__(dock)
        self.setProperty("dockTitle", True)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.name = QLabel(dock.name, self)
        self.name.setFont(theme.heading_font())
        self.fact = ElidedLabel("", self)
        self.fact.setFont(theme.small_font())
        self.fact.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        set_tone(self.fact, "dim")
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 3, 4, 3)
        row.setSpacing(4)
        row.addWidget(self.name)
        row.addWidget(self.fact, 1)
        for icon, words, slot in (
            ("multiple-windows", f"Float or dock {dock.name} (double-click the title)", dock.toggle_floating),
            ("close", f"Hide {dock.name}; View shows it again ({dock.key})", dock.close),
        ):
            button = QToolButton(self)
            button.setIcon(theme.icon(icon))
            button.setIconSize(QSize(12, 12))
            button.setFixedSize(20, 20)
            button.setToolTip(words)
            button.setAccessibleName(words)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(slot)
            row.addWidget(button)
            theme.changed.connect(button.update)

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), 27)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, 27)


class PanelDock(QDockWidget):
    """Holds one panel; in a group of tabs the tab names it and the title line is left out."""

    reached = Signal()
    """The person asked for it by its key or from the menu."""

    def __init__(self, theme: Theme, name: str, key: str, panel: QWidget, parent: QWidget) -> None:
        super().__init__(name.replace("&", "&&"), parent)
        self.name = name
        self.key = key
        self.setObjectName(f"dock.{name}")
        self.setAccessibleName(name)
        panel.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setWidget(panel)
        self._title = _Title(theme, self)
        self._no_title = QWidget(self)
        self._no_title.setFixedHeight(0)
        self.setTitleBarWidget(self._title)

    @property
    def fact(self) -> str:
        return self._title.fact.text()

    def show_fact(self, text: str) -> None:
        """Put the fact that matters at the right of the title."""
        self._title.fact.setText(text)

    def toggle_floating(self) -> None:
        self.setFloating(not self.isFloating())

    def show_grouped(self, grouped: bool) -> None:
        """Leave the title line out while a tab names the dock."""
        wanted = self._no_title if grouped and not self.isFloating() else self._title
        if self.titleBarWidget() is not wanted:
            self.titleBarWidget().hide()
            self.setTitleBarWidget(wanted)
            wanted.show()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self._title.isVisible() and self._title.geometry().contains(event.position().toPoint()):
            self.toggle_floating()
        else:
            super().mouseDoubleClickEvent(event)
