"""The panels of the window in their docks: which there are, where they stand at first, their keys and their titles."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from PySide6.QtCore import QObject, QSize, Qt, QTimer
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QDockWidget, QLabel, QMainWindow, QWidget

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
from gui.theme.theme import Theme
from gui.widgets.buttons import icon_button
from gui.widgets.layouts import in_row
from gui.widgets.words import ElidedLabel

Panel = TypeVar("Panel", bound=QWidget)
LEFT = Qt.DockWidgetArea.LeftDockWidgetArea
RIGHT = Qt.DockWidgetArea.RightDockWidgetArea
BOTTOM = Qt.DockWidgetArea.BottomDockWidgetArea


class _Title(QWidget):
    """Name, fact, and the two buttons of a dock; the mouse is left to the dock, which drags by it."""

    def __init__(self, theme: Theme, dock: "PanelDock") -> None:
        super().__init__(dock)
        self.setProperty("dockTitle", True)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.name = QLabel(dock.name, self)
        self.name.setFont(theme.heading_font())
        self.fact = ElidedLabel("", self, tone="dim")
        self.fact.setFont(theme.small_font())
        self.fact.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        float_words = f"Float or dock {dock.name} (double-click the title)"
        hide_words = f"Hide {dock.name}; View shows it again ({dock.key})"
        buttons = (
            icon_button(theme, "multiple-windows", float_words, dock.toggle_floating, self, size=12),
            icon_button(theme, "close", hide_words, dock.close, self, size=12),
        )
        for button in buttons:
            button.setFixedSize(20, 20)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        in_row(self, self.name, (self.fact, 1), *buttons, margins=(10, 3, 4, 3), spacing=4)

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), 27)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, 27)


class PanelDock(QDockWidget):
    """Holds one panel; in a group of tabs the tab names it and the title line is left out."""

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

    def bring(self) -> None:
        """Show it, in front of the other tabs of its group."""
        self.show()
        self.raise_()

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
        self.arrange()

    @property
    def panels(self) -> list[QWidget]:
        return [dock.widget() for dock in self.by_name.values()]

    def panel(self, kind: type[Panel]) -> Panel:
        """Return the one panel of a class."""
        (found,) = (panel for panel in self.panels if isinstance(panel, kind))
        return found

    def arrange(self) -> None:
        """Put every dock where it stands at first, docked, and shown unless it is hidden at first."""
        first: dict[str, PanelDock] = {}
        for place in PLACES:
            dock = self.by_name[place.name]
            dock.setFloating(False)  # one taken out while it floats would go on floating
            self._window.removeDockWidget(dock)
            self._window.addDockWidget(place.area, dock)
            if place.group in first:
                self._window.tabifyDockWidget(first[place.group], dock)
            else:
                first[place.group] = dock
            dock.setVisible(not place.hidden)
        for dock in first.values():
            dock.raise_()
        self.size_at_first()
        self._regrouping.start()

    def size_at_first(self) -> None:
        docks = self.by_name
        horizontal, vertical = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        self._window.resizeDocks([docks["Runs & steps"], docks["State"]], [280, 330], horizontal)
        self._window.resizeDocks([docks["Observation"]], [232], vertical)
        tall = [place for place in PLACES if place.height]
        self._window.resizeDocks(
            [docks[place.name] for place in tall], [place.height for place in tall], vertical
        )

    def make_room(self, name: str, height: int) -> None:
        """Give a docked panel at least this height."""
        dock = self.by_name[name]
        if not dock.isFloating() and dock.height() < height:
            self._window.resizeDocks([dock], [height], Qt.Orientation.Vertical)

    def is_in_front(self, name: str) -> bool:
        """Return whether a dock is shown and not behind another tab."""
        dock = self.by_name[name]
        return dock.isVisible() and not dock.visibleRegion().isEmpty()

    def reach(self, name: str) -> None:
        """Show a dock and give it the focus; hide it where it has the focus already."""
        dock = self.by_name[name]
        focus = self._window.focusWidget()
        if dock.isVisible() and focus is not None and dock.isAncestorOf(focus) and self.is_in_front(name):
            dock.hide()
            return
        dock.bring()
        target = dock.widget()
        inside = [
            w
            for w in target.findChildren(QWidget)
            if w.focusPolicy() & Qt.FocusPolicy.TabFocus and w.isVisible()
        ]
        (inside[0] if inside else target).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def regroup(self) -> None:
        """Leave out the title lines of docks that a tab names, as it is done after each move of one."""
        for dock in self.by_name.values():
            grouped = any(not other.isHidden() for other in self._window.tabifiedDockWidgets(dock))
            dock.show_grouped(grouped)
