"""The panels of the window in their docks: initial places, keys and titles, and when they show a step."""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import TypeVar

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QMainWindow, QTabBar, QWidget

from core.debugger.steps.views import StepView
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
from gui.shell.folding import DockFolding
from gui.shell.panel_dock import PanelDock
from gui.theme.theme import Theme

Panel = TypeVar("Panel", bound=QWidget)
LEFT = Qt.DockWidgetArea.LeftDockWidgetArea
RIGHT = Qt.DockWidgetArea.RightDockWidgetArea
BOTTOM = Qt.DockWidgetArea.BottomDockWidgetArea
_FIRST_WIDTH = 1280
_LEAST_BELOW = 110
"""Minimum height in pixels of the docks below the page when the page needs space."""


def _share(width: int) -> float:
    """Return how much wider than in a window of the first size docks are in one of this width."""
    return min(max(width / _FIRST_WIDTH, 0.7), 1.5)


@dataclass(frozen=True)
class DockPlace:
    """A dock's name, key, panel and initial place; docks of the same `group` are tabs of one another.

    A panel with `show_step` receives each `StepView`. The title shows what its signal `fact_changed` sends.
    """

    name: str
    key: str
    panel: Callable[[Theme], QWidget]
    area: Qt.DockWidgetArea
    group: str
    height: int = 0
    hidden: bool = False
    """Whether it is hidden until it is requested."""


PLACES: tuple[DockPlace, ...] = (
    DockPlace("Runs & steps", "Alt+1", RunsPanel, LEFT, "runs"),
    DockPlace("Breakpoints", "Alt+=", BreakpointsPanel, LEFT, "breaks", 262),
    DockPlace("State", "Alt+2", StatePanel, RIGHT, "page", 206),
    DockPlace("Permissible actions", "Alt+3", PermissiblePanel, RIGHT, "page"),
    DockPlace("Action", "Alt+4", ActionPanel, RIGHT, "action", 289),
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
    """Creates the panels of `window`, puts them in docks, and keeps the dock titles correct when docks move."""

    def __init__(self, theme: Theme, window: QMainWindow) -> None:
        super().__init__(window)
        self._theme = theme
        self._window = window
        self._regrouping = QTimer(self, singleShot=True, interval=0)
        self._regrouping.timeout.connect(self.regroup)
        self._noting = QTimer(self, singleShot=True, interval=0)
        self._noting.timeout.connect(self.note_sizes)
        self.by_name: dict[str, PanelDock] = {}
        self._widths: dict[Qt.DockWidgetArea, float] = {}
        """How wide the docks at each side are in a window of the first size."""
        self._height = 0
        """The height of the docks below the page if it has room enough."""
        theme.text_resized.connect(self.widen)
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
        self.folding = DockFolding(window, self.by_name)

    @property
    def panels(self) -> list[QWidget]:
        return [dock.widget() for dock in self.by_name.values()]

    def panel(self, kind: type[Panel]) -> Panel:
        """Return the only panel of a class."""
        (found,) = (panel for panel in self.panels if isinstance(panel, kind))
        return found

    def arrange(self, shown: Set[str], moved: Mapping[str, tuple[Qt.DockWidgetArea, str]]) -> None:
        """Dock every panel where `PLACES` or `moved` (area and group) puts it, and show those in `shown`."""
        first: dict[str, PanelDock] = {}
        for place in PLACES:
            dock = self.by_name[place.name]
            area, group = moved.get(place.name, (place.area, place.group))
            dock.setFloating(False)  # a dock that is removed while floating would stay floating
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

    def follow_width(self, now: int) -> None:
        """Widen or narrow the docks next to the page after the window has another width, as far as that is useful."""
        sides = {dock: self._widths[area] for area, dock in self._sides().items() if area in self._widths}
        widths = [round(width * _share(now)) for width in sides.values()]
        self._window.resizeDocks(list(sides), widths, Qt.Orientation.Horizontal)

    def note_sizes(self) -> None:
        """Take the sizes that the person has given to the docks next to and below the page."""
        share = _share(self._window.width())
        self._widths = {area: dock.width() / share for area, dock in self._sides().items()}
        self._height = below.height() if (below := self._below()) is not None else 0

    def forget_sizes(self) -> None:
        """Take the sizes of another layout as they will be."""
        self._widths.clear()
        self._height = 0
        self._noting.start()

    def _sides(self) -> dict[Qt.DockWidgetArea, PanelDock]:
        """Return a dock for each side of the page that has any."""
        beside = [dock for dock in self.by_name.values() if dock.is_in_front and not dock.isFloating()]
        first = {self._window.dockWidgetArea(dock): dock for dock in beside}
        return {area: first[area] for area in (LEFT, RIGHT) if area in first}

    def give_page_room(self, least: int) -> None:
        """Shrink the docks below the page while they would leave it less than `least` pixels."""
        page, below = self._window.centralWidget(), self._below()
        if page is None or below is None:
            return
        self._height = max(self._height, below.height())
        room = page.height() + below.height() - least
        height = min(max(room, self._theme.scaled(_LEAST_BELOW)), self._height)
        if height != below.height():
            self._set_height(below, height)

    def _set_height(self, dock: PanelDock, height: int) -> None:
        """Make a dock this high; Qt counts the tabs above it too."""
        bars = self._window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
        above = (bar.height() for bar in bars if bar.isVisible() and bar.geometry().bottom() + 1 == dock.y())
        self._window.resizeDocks([dock], [height + next(above, 0)], Qt.Orientation.Vertical)

    def _below(self) -> PanelDock | None:
        """Return a dock below the page, if there is one."""
        shown = (dock for dock in self.by_name.values() if dock.is_in_front and dock.is_docked)
        return next((dock for dock in shown if self._window.dockWidgetArea(dock) == BOTTOM), None)

    def resize(self, sizes: Mapping[str, int], orientation: Qt.Orientation) -> None:
        """Set the widths or heights of docks, given for the normal text size."""
        docks = [self.by_name[name] for name in sizes]
        self._window.resizeDocks(docks, [self._theme.scaled(size) for size in sizes.values()], orientation)

    def widen(self, ratio: float) -> None:
        """Resize the docks next to and below the page after the text size changed."""
        sides = list(self._sides().values())
        widths = [round(dock.width() * ratio) for dock in sides]
        self._window.resizeDocks(sides, widths, Qt.Orientation.Horizontal)
        if (below := self._below()) is not None:
            self._set_height(below, round(below.height() * ratio))
        self.forget_sizes()

    def make_room(self, name: str, height: int) -> None:
        """Make a docked panel at least this high."""
        dock = self.by_name[name]
        if not dock.isFloating() and dock.height() < height:
            self._window.resizeDocks([dock], [height], Qt.Orientation.Vertical)

    def is_in_front(self, name: str) -> bool:
        """Return whether a panel is visible and not behind another tab."""
        dock = self.by_name[name]
        return dock.is_in_front and not dock.folded

    def reach(self, name: str) -> None:
        """Show a dock and focus it; hide it if it already has the focus."""
        dock = self.by_name[name]
        focus = self._window.focusWidget()
        if dock.isVisible() and focus is not None and dock.isAncestorOf(focus) and self.is_in_front(name):
            dock.hide()
        else:
            self.go_to(name)

    def go_to(self, name: str) -> None:
        """Show a dock and focus it."""
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
        """After each move of a dock, fold the docks as needed, and hide title lines that a tab makes redundant."""
        self.folding.apply()
        for dock in self.by_name.values():
            grouped = any(not other.isHidden() for other in self._window.tabifiedDockWidgets(dock))
            dock.show_grouped(grouped)
        self._put_away_tabs()

    def _put_away_tabs(self) -> None:
        """Move the tab bars of hidden docks out of view.

        If all docks of a group are hidden at once, Qt leaves the group's tab bar where it was. Qt places it again
        when it is needed.
        """
        shown = {dock.windowTitle() for dock in self.by_name.values() if not dock.isHidden()}
        for bar in self._window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly):
            if not any(bar.tabText(at) in shown for at in range(bar.count())):
                bar.move(-bar.width() - 1, -bar.height() - 1)


_REST_MS = 120
"""How long a panel behind others waits while the run continues, because most steps are soon replaced by the next."""


class PanelUpdates(QObject):
    """Gives each panel the latest step.

    While the run continues, hidden panels wait and are updated one per turn of the event loop. When the run stops,
    all are updated at once, because keys act on them.
    """

    def __init__(self, docks: Docks, parent: QObject) -> None:
        super().__init__(parent)
        self._docks = docks
        self._waiting: dict[PanelDock, StepView] = {}
        self._turn = QTimer(self, singleShot=True)
        self._turn.timeout.connect(self._show_next)
        for dock in docks.by_name.values():
            dock.visibilityChanged.connect(lambda on, dock=dock: self._show(dock) if on else None)

    def show_step(self, step: StepView, *, going_on: bool) -> None:
        """Show a step; `going_on` means that more steps follow automatically."""
        for dock in self._docks.by_name.values():
            if hasattr(dock.widget(), "show_step"):
                self._waiting[dock] = step
                if not going_on or self._docks.is_in_front(dock.name):
                    self._show(dock)
        if self._waiting and not self._turn.isActive():
            self._turn.start(_REST_MS)

    def _show_next(self) -> None:
        if self._waiting:
            self._show(next(iter(self._waiting)))
        if self._waiting:
            self._turn.start(0)

    def _show(self, dock: PanelDock) -> None:
        step = self._waiting.pop(dock, None)
        if step is not None:
            dock.widget().show_step(step)  # type: ignore[attr-defined]
