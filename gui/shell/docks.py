"""The panels of the window in their docks: which there are, where they stand at first, their keys and their titles."""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import TypeVar

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QDockWidget, QLabel, QMainWindow, QWidget

from gui.panels.action.panel import ActionPanel
from gui.panels.action_space import PermissiblePanel
from gui.panels.breakpoints.panel import BreakpointsPanel
from gui.panels.calls import CallsPanel
from gui.panels.devtools import DevToolsPanel
from gui.panels.diff import DiffPanel
from gui.panels.exemplars import ExemplarsPanel
from gui.panels.log import LogPanel
from gui.panels.observation import ObservationPanel
from gui.panels.page_log import PageLogPanel
from gui.panels.plan.panel import PlanPanel
from gui.panels.prompt import PromptPanel
from gui.panels.runs.panel import RunsPanel
from gui.panels.stack import StackPanel
from gui.panels.state.panel import StatePanel
from gui.shell.folding import Folding
from gui.theme.theme import Theme
from gui.widgets.buttons import icon_button
from gui.widgets.layouts import in_row
from gui.widgets.words import ElidedLabel, labelled

Panel = TypeVar("Panel", bound=QWidget)
FOLD_KEY = "Ctrl+Alt+F"
_HIGHEST = 16_777_215
"""The height of a widget that has no limit, as Qt has it."""
LEFT = Qt.DockWidgetArea.LeftDockWidgetArea
RIGHT = Qt.DockWidgetArea.RightDockWidgetArea
BOTTOM = Qt.DockWidgetArea.BottomDockWidgetArea
_LEAST_BELOW = 110
"""Pixels that the docks below the page keep when the page needs room."""


class _Title(QWidget):
    """Name, fact, and the buttons of a dock; the mouse is left to the dock, which drags by it."""

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
        return QSize(super().sizeHint().width(), 27)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, 27)


class PanelDock(QDockWidget):
    """Holds one panel; in a group of tabs the tab names it and the title line is left out.

    Folded, it is its title line alone, which a click unfolds.
    """

    fold_wanted = Signal(bool)
    """The person wants it folded or unfolded."""

    def __init__(self, theme: Theme, name: str, key: str, panel: QWidget, parent: QWidget) -> None:
        super().__init__(name.replace("&", "&&"), parent)
        self.name = name
        self.key = key
        self.folded = False
        self.unfolded_height = 0
        """How high it was when it was folded."""
        self._fact = ""
        self._grouped = False
        self._pressed: QPoint | None = None
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
        return self._fact

    @property
    def is_docked(self) -> bool:
        return not self.isHidden() and not self.isFloating()

    @property
    def is_in_front(self) -> bool:
        """Whether it is shown and not behind another tab."""
        return self.isVisible() and not self.visibleRegion().isEmpty()

    def show_fact(self, text: str) -> None:
        """Put the fact that matters at the right of the title."""
        self._fact = text
        if not self.folded:
            self._title.fact.setText(text)

    def show_folded(self, folded: bool, why: str) -> bool:
        """Fold to the title, which then says why, or unfold; returns whether it was unfolded now."""
        self._title.fact.setText((why or "folded") if folded else self._fact)
        before, self.folded = self.folded, folded
        if folded == before:
            return False
        if folded:
            self.unfolded_height = self.height()
        self._title.show_folded(folded)
        self.show_grouped(self._grouped)
        # Hidden, it would leave the dock no width; disabled, the Tab key passes over what is in it.
        self.widget().setMaximumHeight(0 if folded else _HIGHEST)
        self.widget().setEnabled(not folded)
        return not folded

    def bring(self) -> None:
        """Show it unfolded, in front of the other tabs of its group."""
        self.show()
        self.raise_()
        if self.folded:
            self.fold_wanted.emit(False)

    def toggle_floating(self) -> None:
        self.setFloating(not self.isFloating())

    def show_grouped(self, grouped: bool) -> None:
        """Leave the title line out while a tab names the dock."""
        self._grouped = grouped
        titled = self.folded or self.isFloating() or not grouped
        wanted = self._title if titled else self._no_title
        if self.titleBarWidget() is not wanted:
            self.titleBarWidget().hide()
            self.setTitleBarWidget(wanted)
            wanted.show()

    def event(self, event: QEvent) -> bool:
        # QDockWidget takes the mouse's events for dragging before any of its handlers is asked.
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


@dataclass(frozen=True)
class DockPlace:
    """A dock's name, key, panel and first place; docks of one `group` are tabs over each other.

    A panel with `show_step` is given each `StepView`; what its signal `fact_changed` sends stands in the title.
    """

    name: str
    key: str
    panel: Callable[[Theme], QWidget]
    area: Qt.DockWidgetArea
    group: str
    height: int = 0
    hidden: bool = False
    """Whether it is shown only once it is asked for."""


PLACES: tuple[DockPlace, ...] = (
    DockPlace("Runs & steps", "Alt+1", RunsPanel, LEFT, "runs"),
    DockPlace("Breakpoints", "Alt+=", BreakpointsPanel, LEFT, "breaks", 262),
    DockPlace("State", "Alt+2", StatePanel, RIGHT, "page", 206),
    DockPlace("Permissible actions", "Alt+3", PermissiblePanel, RIGHT, "page"),
    DockPlace("Next action", "Alt+4", ActionPanel, RIGHT, "action", 289),
    DockPlace("Policy stack", "Alt+5", StackPanel, RIGHT, "agent", 218),
    DockPlace("Plan & remedies", "Alt+6", PlanPanel, RIGHT, "agent"),
    DockPlace("Exemplars", "Alt+7", ExemplarsPanel, RIGHT, "agent"),
    DockPlace("Observation", "Alt+8", ObservationPanel, BOTTOM, "reading"),
    DockPlace("Prompt", "Alt+9", PromptPanel, BOTTOM, "reading"),
    DockPlace("Diff", "Alt+;", DiffPanel, BOTTOM, "reading"),
    DockPlace("Calls", "Alt+0", CallsPanel, BOTTOM, "reading"),
    DockPlace("Page log", "Alt+'", PageLogPanel, BOTTOM, "reading"),
    DockPlace("Log", "Alt+-", LogPanel, BOTTOM, "reading"),
    DockPlace("DevTools", "Ctrl+Shift+J", DevToolsPanel, BOTTOM, "reading", hidden=True),
)


class Docks(QObject):
    """Makes the panels of `window`, holds them in docks and keeps their titles right as they move."""

    def __init__(self, theme: Theme, window: QMainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._regrouping = QTimer(self, singleShot=True, interval=0)
        self._regrouping.timeout.connect(self.regroup)
        self.by_name: dict[str, PanelDock] = {}
        window.setDockOptions(
            QMainWindow.DockOption.AllowTabbedDocks
            | QMainWindow.DockOption.AllowNestedDocks
            | QMainWindow.DockOption.AnimatedDocks
        )
        window.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, window.tabPosition(LEFT).North)
        window.setCorner(Qt.Corner.BottomLeftCorner, LEFT)
        window.setCorner(Qt.Corner.BottomRightCorner, RIGHT)
        for place in PLACES:
            dock = PanelDock(theme, place.name, place.key, place.panel(theme), window)
            self.by_name[place.name] = dock
            for moved in (dock.dockLocationChanged, dock.topLevelChanged, dock.visibilityChanged):
                moved.connect(lambda *_: self._regrouping.start())
        self.folding = Folding(window, self.by_name)

    @property
    def panels(self) -> list[QWidget]:
        return [dock.widget() for dock in self.by_name.values()]

    def panel(self, kind: type[Panel]) -> Panel:
        """Return the one panel of a class."""
        (found,) = (panel for panel in self.panels if isinstance(panel, kind))
        return found

    def arrange(self, shown: Set[str], moved: Mapping[str, tuple[Qt.DockWidgetArea, str]]) -> None:
        """Dock every panel where `PLACES` has it, else in the area and group of `moved`, and show the `shown` ones."""
        first: dict[str, PanelDock] = {}
        for place in PLACES:
            dock = self.by_name[place.name]
            area, group = moved.get(place.name, (place.area, place.group))
            dock.setFloating(False)  # one taken out while it floats would go on floating
            self._window.removeDockWidget(dock)
            self._window.addDockWidget(area, dock)
            if group in first:
                self._window.tabifyDockWidget(first[group], dock)
            else:
                first[group] = dock
            dock.setVisible(place.name in shown)
        for dock in first.values():
            if dock.name in shown:
                dock.raise_()
        self._regrouping.start()

    def give_page_room(self, least: int) -> None:
        """Make the docks below the page lower where the page is lower than `least` pixels."""
        page = self._window.centralWidget()
        missing = least - page.height() if page is not None else 0
        below = [
            dock
            for dock in self.by_name.values()
            if self._window.dockWidgetArea(dock) == BOTTOM and not dock.isFloating() and dock.isVisible()
        ]
        if missing > 0 and below:
            height = max(below[0].height() - missing, _LEAST_BELOW)
            self._window.resizeDocks(below[:1], [height], Qt.Orientation.Vertical)

    def is_in_front(self, name: str) -> bool:
        """Return whether a panel is shown and not behind another tab."""
        dock = self.by_name[name]
        return dock.is_in_front and not dock.folded

    def reach(self, name: str) -> None:
        """Show a dock and give it the focus; hide it where it has the focus already."""
        dock = self.by_name[name]
        focus = self._window.focusWidget()
        if dock.isVisible() and focus is not None and dock.isAncestorOf(focus) and self.is_in_front(name):
            dock.hide()
        else:
            self.go_to(name)

    def go_to(self, name: str) -> None:
        """Show a dock and give it the focus."""
        dock = self.by_name[name]
        dock.bring()
        target = dock.widget()
        inside = [
            w
            for w in target.findChildren(QWidget)
            if w.focusPolicy() & Qt.FocusPolicy.TabFocus and w.isVisible()
        ]
        (inside[0] if inside else target).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def fold_focused(self) -> None:
        """Fold or unfold the dock that has the focus."""
        focus = self._window.focusWidget()
        for dock in self.by_name.values():
            if focus is not None and dock.isAncestorOf(focus):
                dock.fold_wanted.emit(not dock.folded)

    def regroup(self) -> None:
        """Fold what is to be, and leave out title lines that a tab makes needless, after each move of a dock."""
        self.folding.apply()
        for dock in self.by_name.values():
            grouped = any(not other.isHidden() for other in self._window.tabifiedDockWidgets(dock))
            dock.show_grouped(grouped)
