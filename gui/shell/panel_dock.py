"""A dock with one panel and a title line; when folded, only the title line."""

import re

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QDockWidget, QLabel, QWidget

from gui.theme.theme import Theme
from gui.widgets.buttons import icon_button
from gui.widgets.layouts import in_row
from gui.widgets.words import ElidedLabel, labelled

FOLD_KEY = "Ctrl+Alt+F"
_HIGHEST = 16_777_215
"""The height that Qt uses for a widget without a limit."""


class _Title(QWidget):
    """Name, fact and buttons of a dock. Mouse events go to the dock, which is dragged by its title."""

    def __init__(self, theme: Theme, dock: "PanelDock") -> None:
        super().__init__(dock)
        self.setProperty("dockTitle", True)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.name = QLabel(dock.name, self)
        self.name.setFont(theme.heading_font())
        self._theme = theme
        self._dock = dock
        self.fold = icon_button(theme, "chevron-down", "", self._on_fold, self, size=12)
        self.show_folded(False)
        self.fact = ElidedLabel("", self, tone="dim")
        self.fact.setFont(theme.small_font())
        self.fact.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        float_words = f"Float or dock {dock.name} (double-click the title)"
        hide_words = f"Hide {dock.name}; View shows it again ({dock.key})"
        buttons = (
            icon_button(theme, "multiple-windows", float_words, dock.toggle_floating, self, size=12),
            icon_button(theme, "close", hide_words, dock.close, self, size=12),
        )
        for button in (self.fold, *buttons):
            button.setFixedSize(20, 20)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        in_row(self, self.fold, self.name, (self.fact, 1), *buttons, margins=(3, 3, 4, 3), spacing=4)

    def show_folded(self, folded: bool) -> None:
        words = f"{'Unfold' if folded else 'Fold'} {self._dock.name} ({FOLD_KEY})"
        labelled(self.fold, words, words)
        self.fold.setIcon(self._theme.icon("chevron-right" if folded else "chevron-down"))

    def _on_fold(self) -> None:
        self._dock.fold_wanted.emit(not self._dock.folded)

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self._theme.scaled(27))

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self._theme.scaled(27))


class PanelDock(QDockWidget):
    """Holds one panel. In a group of tabs, the tab names it and the title line is hidden.

    When folded, it is only its title line; a click unfolds it.
    """

    fold_wanted = Signal(bool)
    """The person wants to fold or unfold it."""

    def __init__(self, theme: Theme, name: str, key: str, panel: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self.name = name
        self._tab = name
        self.key = key
        self.folded = False
        self.unfolded_height = 0
        """Its height before it was folded."""
        self._fact = ""
        self._grouped = False
        self._pressed: QPoint | None = None
        self.setObjectName(f"dock.{name}")
        self.setAccessibleName(name)
        panel.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setWidget(panel)
        self.topLevelChanged.connect(lambda _on: self.show_tab(self._tab))
        self.show_tab(name)
        self._title = _Title(theme, self)
        self._no_title = QWidget(self)
        self._no_title.setFixedHeight(0)
        self.setTitleBarWidget(self._title)

    @property
    def help(self) -> str:
        """Page and heading of the documentation for the panel."""
        return f"window.md#{anchor(self.name)}"

    @property
    def fact(self) -> str:
        return self._fact

    @property
    def is_docked(self) -> bool:
        return not self.isHidden() and not self.isFloating()

    @property
    def is_in_front(self) -> bool:
        """Whether it is visible and not behind another tab."""
        return self.isVisible() and not self.visibleRegion().isEmpty()

    def show_tab(self, text: str) -> None:
        """Name its tab, or its window while it floats, where an ampersand marks no key."""
        self._tab = text
        self.setWindowTitle(text if self.isFloating() else text.replace("&", "&&"))

    def show_fact(self, text: str) -> None:
        """Show the main fact at the right of the title."""
        self._fact = text
        if not self.folded:
            self._title.fact.setText(text)

    def show_folded(self, folded: bool, why: str) -> bool:
        """Fold to the title, which then shows the reason, or unfold; return whether it was unfolded just now."""
        self._title.fact.setText((why or "folded") if folded else self._fact)
        before, self.folded = self.folded, folded
        if folded == before:
            return False
        if folded:
            self.unfolded_height = self.height()
        self._title.show_folded(folded)
        self.show_grouped(self._grouped)
        # If hidden, the dock would have no width. If disabled, Tab skips its contents.
        self.widget().setMaximumHeight(0 if folded else _HIGHEST)
        self.widget().setEnabled(not folded)
        return not folded

    def bring(self) -> None:
        """Unfold it and bring it in front of the other tabs of its group."""
        self.show()
        self.raise_()
        if self.folded:
            self.fold_wanted.emit(False)

    def toggle_floating(self) -> None:
        self.setFloating(not self.isFloating())

    def show_grouped(self, grouped: bool) -> None:
        """Hide the title line while a tab names the dock."""
        self._grouped = grouped
        titled = self.folded or self.isFloating() or not grouped
        wanted = self._title if titled else self._no_title
        if self.titleBarWidget() is not wanted:
            self.titleBarWidget().hide()
            self.setTitleBarWidget(wanted)
            wanted.show()

    def event(self, event: QEvent) -> bool:
        # QDockWidget handles mouse events for dragging before it calls any of its handlers.
        if self.folded and isinstance(event, QMouseEvent) and event.button() == Qt.MouseButton.LeftButton:
            place = event.position().toPoint()
            if event.type() == QEvent.Type.MouseButtonPress:
                self._pressed = place if self._title.geometry().contains(place) else None
            elif event.type() == QEvent.Type.MouseButtonRelease and self._pressed is not None:
                moved, self._pressed = (place - self._pressed).manhattanLength(), None
                if moved < QApplication.startDragDistance():
                    self.fold_wanted.emit(False)
        return super().event(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self._title.isVisible() and self._title.geometry().contains(event.position().toPoint()):
            self.toggle_floating()
        else:
            super().mouseDoubleClickEvent(event)


def anchor(heading: str) -> str:
    """Return a heading's anchor in GitHub's notation."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
