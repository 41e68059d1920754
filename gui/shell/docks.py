"""The panels of the window: their names, keys and places in the docks, and when they show a step."""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import TypeVar

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from core.debugger.steps.views import StepView
from gui.panels.action.panel import ActionPanel
from gui.panels.action_space import PermissiblePanel
from gui.panels.breakpoints.panel import BreakpointsPanel
from gui.panels.causes import CausesPanel
from gui.panels.devtools import DevToolsPanel
from gui.panels.diff import DiffPanel
from gui.panels.exemplars import ExemplarsPanel
from gui.panels.log.panel import LogPanel
from gui.panels.observation import ObservationPanel
from gui.panels.plan.panel import PlanPanel
from gui.panels.prompt import PromptPanel
from gui.panels.runs.panel import RunsPanel
from gui.panels.stack import StackPanel
from gui.panels.state.panel import StatePanel
from gui.shell.folding import SectionFolding
from gui.shell.panel_dock import PagesDock, PanelDock, StackDock
from gui.shell.places import PanelPage, PanelPlace, StackSection
from gui.theme.theme import Theme

Panel = TypeVar("Panel", bound=QWidget)
RUNS, STEP, BELOW = "Runs", "Step", "What it saw"
"""The docks at the left of the live page, at its right, and below it."""
AREAS = {
    RUNS: Qt.DockWidgetArea.LeftDockWidgetArea,
    STEP: Qt.DockWidgetArea.RightDockWidgetArea,
    BELOW: Qt.DockWidgetArea.BottomDockWidgetArea,
}
_FIRST_WIDTH = 1280
_LEAST_BELOW = 110
"""Minimum height in pixels of the dock below the page when the page needs space."""


def _share(width: int) -> float:
    """Return how much wider than in a window of the first size docks are in one of this width."""
    return min(max(width / _FIRST_WIDTH, 0.7), 1.5)


@dataclass(frozen=True)
class PanelRecord:
    """A panel's name, key, class and place: a section of a dock beside the page, or a page of the dock below it.

    A panel with `show_step` receives each `StepView`. The title shows what its signal `fact_changed` sends.
    """

    name: str
    key: str
    panel: Callable[[Theme], QWidget]
    dock: str
    group: str = ""
    """The heading before the buttons of the pages that belong together."""
    stretched: bool = False
    on_request: bool = False
    """Whether it is hidden until it is requested."""


PANELS: tuple[PanelRecord, ...] = (
    PanelRecord("Runs & steps", "Alt+1", RunsPanel, RUNS, stretched=True),
    PanelRecord("Breakpoints", "Alt+=", BreakpointsPanel, RUNS),
    PanelRecord("State", "Alt+2", StatePanel, STEP),
    PanelRecord("Permissible actions", "Alt+3", PermissiblePanel, STEP),
    PanelRecord("Action", "Alt+4", ActionPanel, STEP),
    PanelRecord("Policy stack", "Alt+5", StackPanel, STEP),
    PanelRecord("Plan & remedies", "Alt+6", PlanPanel, STEP),
    PanelRecord("Exemplars", "Alt+7", ExemplarsPanel, STEP),
    PanelRecord("Observation", "Alt+8", ObservationPanel, BELOW, BELOW),
    PanelRecord("Prompt", "Alt+9", PromptPanel, BELOW, BELOW),
    PanelRecord("Diff", "Alt+;", DiffPanel, BELOW, BELOW),
    PanelRecord("Causes", "Alt+0", CausesPanel, BELOW),
    PanelRecord("Log", "Alt+-", LogPanel, BELOW),
    PanelRecord("DevTools", "Ctrl+Shift+J", DevToolsPanel, BELOW, on_request=True),
)


class Docks(QObject):
    """Creates the panels of `window` and the docks that hold them, and gives the docks their sizes."""

    def __init__(self, theme: Theme, window: QMainWindow) -> None:
        super().__init__(window)
        self._theme = theme
        self._window = window
        self._noting = QTimer(self, singleShot=True, interval=0)
        self._noting.timeout.connect(self.note_sizes)
        self._widths: dict[Qt.DockWidgetArea, float] = {}
        """How wide the docks at each side are in a window of the first size."""
        self._height = 0
        """The height of the dock below the page if it has room enough."""
        theme.text_resized.connect(self.widen)
        window.setDockOptions(
            QMainWindow.DockOption.AllowTabbedDocks
            | QMainWindow.DockOption.AllowNestedDocks
            | QMainWindow.DockOption.AnimatedDocks
        )
        window.setCorner(Qt.Corner.BottomLeftCorner, AREAS[RUNS])
        window.setCorner(Qt.Corner.BottomRightCorner, AREAS[STEP])
        self.places: dict[str, PanelPlace] = {}
        sections: dict[str, list[StackSection]] = {RUNS: [], STEP: []}
        groups: dict[str, list[PanelPage]] = {}
        for record in PANELS:
            panel = record.panel(theme)
            if record.dock == BELOW:
                page = PanelPage(record.name, record.key, panel, on_request=record.on_request)
                groups.setdefault(record.group, []).append(page)
                self.places[record.name] = page
            else:
                section = StackSection(theme, record.name, record.key, panel, stretched=record.stretched)
                sections[record.dock].append(section)
                self.places[record.name] = section
        self.below = PagesDock(theme, BELOW, groups, window)
        self.docks: dict[str, PanelDock] = {
            **{name: StackDock(theme, name, sections[name], window) for name in sections},
            BELOW: self.below,
        }
        self.folding = SectionFolding([section for column in sections.values() for section in column], self)

    @property
    def panels(self) -> list[QWidget]:
        return [place.widget() for place in self.places.values()]

    def panel(self, kind: type[Panel]) -> Panel:
        """Return the only panel of a class."""
        (panel,) = (panel for panel in self.panels if isinstance(panel, kind))
        return panel

    def arrange(self, shown: Set[str]) -> None:
        """Dock everything at its first place, and show the docks in `shown`."""
        for name, dock in self.docks.items():
            dock.setFloating(False)  # a dock that is removed while floating would stay floating
            self._window.removeDockWidget(dock)
            self._window.addDockWidget(AREAS[name], dock)
            dock.setVisible(name in shown)

    def follow_width(self, now: int) -> None:
        """Widen or narrow the docks next to the page after the window has another width, as far as that is useful."""
        for dock in self.docks.values():
            if isinstance(dock, StackDock):
                dock.allow_width(now // 3)
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
        by_area = {self._window.dockWidgetArea(dock): dock for dock in self.docks.values() if dock.is_docked}
        return {area: by_area[area] for area in (AREAS[RUNS], AREAS[STEP]) if area in by_area}

    def give_page_room(self, least: int) -> None:
        """Shrink the dock below the page while it would leave it less than `least` pixels."""
        page, below = self._window.centralWidget(), self._below()
        if page is None or below is None:
            return
        self._height = max(self._height, below.height())
        room = page.height() + below.height() - least
        height = min(max(room, self._theme.scaled(_LEAST_BELOW)), self._height)
        if height != below.height():
            self._window.resizeDocks([below], [height], Qt.Orientation.Vertical)

    def _below(self) -> PanelDock | None:
        """Return a dock below the page, if there is one."""
        docked = (dock for dock in self.docks.values() if dock.is_docked)
        return next((dock for dock in docked if self._window.dockWidgetArea(dock) == AREAS[BELOW]), None)

    def resize(self, sizes: Mapping[str, int], orientation: Qt.Orientation) -> None:
        """Set the heights of docks, or their widths in a window of the first size, given for the normal text size."""
        docks = [self.docks[name] for name in sizes]
        share = _share(self._window.width()) if orientation == Qt.Orientation.Horizontal else 1
        pixels = [round(self._theme.scaled(size) * share) for size in sizes.values()]
        self._window.resizeDocks(docks, pixels, orientation)

    def widen(self, ratio: float) -> None:
        """Resize the docks next to and below the page after the text size changed."""
        sides = list(self._sides().values())
        widths = [round(dock.width() * ratio) for dock in sides]
        self._window.resizeDocks(sides, widths, Qt.Orientation.Horizontal)
        if (below := self._below()) is not None:
            height = round(below.height() * ratio)
            self._window.resizeDocks([below], [height], Qt.Orientation.Vertical)
        self.forget_sizes()

    def make_room(self, name: str, height: int) -> None:
        """Make the dock of a panel at least this high."""
        dock = next(dock for dock in self.docks.values() if dock.isAncestorOf(self.places[name]))
        if not dock.isFloating() and dock.height() < height:
            self._window.resizeDocks([dock], [height], Qt.Orientation.Vertical)

    def reach(self, name: str) -> None:
        """Show a panel and focus it; put it away if it already has the focus."""
        place, focus = self.places[name], QApplication.focusWidget()
        if place.is_seen and focus is not None and place.widget().isAncestorOf(focus):
            place.put_away()
        else:
            self.go_to(name)

    def go_to(self, name: str) -> None:
        """Show a panel and focus it."""
        place = self.places[name]
        place.bring()
        target = place.widget()
        inside = [
            w
            for w in target.findChildren(QWidget)
            if w.focusPolicy() & Qt.FocusPolicy.TabFocus and w.isVisible() and w.window() is target.window()
        ]
        (inside[0] if inside else target).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def fold_focused(self) -> None:
        """Fold or unfold the section that has the focus, or hide the dock of the page that has it."""
        focus = QApplication.focusWidget()
        for place in self.places.values():
            if focus is not None and place.isAncestorOf(focus):
                if isinstance(place, StackSection):
                    place.fold_wanted.emit(not place.folded)
                else:
                    place.put_away()


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
        self._waiting: dict[PanelPlace, StepView] = {}
        self._turn = QTimer(self, singleShot=True)
        self._turn.timeout.connect(self._show_next)
        for place in docks.places.values():
            place.seen_changed.connect(lambda on, place=place: self._show(place) if on else None)

    def show_step(self, step: StepView, *, going_on: bool) -> None:
        """Show a step; `going_on` means that more steps follow automatically."""
        for place in self._docks.places.values():
            if hasattr(place.widget(), "show_step"):
                self._waiting[place] = step
                if not going_on or place.is_seen:
                    self._show(place)
        if self._waiting and not self._turn.isActive():
            self._turn.start(_REST_MS)

    def _show_next(self) -> None:
        if self._waiting:
            self._show(next(iter(self._waiting)))
        if self._waiting:
            self._turn.start(0)

    def _show(self, place: PanelPlace) -> None:
        step = self._waiting.pop(place, None)
        if step is not None:
            place.widget().show_step(step)  # type: ignore[attr-defined]
