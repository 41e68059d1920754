"""What the main window is made of: the page, the panels in their docks, menus, bars and the signals of features."""

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSettings, Qt, Signal
from PySide6.QtGui import QShortcut
from PySide6.QtWidgets import QMainWindow

from gui.page.page_stack import PageStack
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
from gui.panels.runs.card import RunCard
from gui.panels.runs.panel import RunsPanel
from gui.panels.stack import StackPanel
from gui.panels.state.panel import StatePanel
from gui.panels.timeline.strip import TimeStrip
from gui.shell.actions import make_actions
from gui.shell.bars import StatusLine, ToolBar
from gui.shell.docks import PLACES, Docks
from gui.shell.menus import Menus
from gui.shell.panel_dock import PanelDock
from gui.shell.undo import UndoHistory
from gui.shell.window_frame import WindowFrame
from gui.task_chooser.opening import TaskOpening
from gui.theme.theme import Theme
from gui.widgets.formats import cut
from gui.widgets.remembered import Remembered

if TYPE_CHECKING:
    from core.debugger.session import Session
    from gui.shell.chosen_settings import ChosenSettings

_TAB_FACT = 18
"""Letters of a fact that stand in a tab."""


class WindowParts(QMainWindow):
    """The main window without what happens in it; see `MainWindow`."""

    llm_settings_requested = Signal()
    attach_requested = Signal()
    file_requested = Signal(str)
    """The path of a file that agents go by, to be edited."""
    setting_requested = Signal(str)
    """The key of the settings file at which it is to be edited."""
    docs_requested = Signal(str)
    """The file name of a page of the documentation."""
    # What one feature asks of another, which it does not know.
    compare_requested = Signal(int, int)
    """Two runs, to be shown beside each other."""
    exemplar_requested = Signal(str)
    """The id of an exemplar, to be shown in the library."""
    worth_requested = Signal(str)
    """The id of an exemplar whose effect is to be evaluated."""
    replay_requested = Signal(object)
    """A tuple of ids of exemplars, to be replayed on their tasks."""
    library_made = Signal(object)
    """The `LibraryWindow`, once, when it is first opened: other features add their pages."""
    why_requested = Signal(int, int, str)
    """Run and step, and words of it that are to be looked for; no words ask what can be."""
    deciding_step_requested = Signal(int)
    """A run whose deciding step is to be shown."""
    step_shown = Signal(object)
    """A `StepView`, once all panels show it."""
    closing = Signal(object)
    """A `QCloseEvent`, before anything has ended; whoever ignores it keeps the window open."""
    closed = Signal()
    """The window has closed; nothing is relayed to it any more."""

    session: "Session"
    """What the window shows and asks; it is there from `MainWindow.begin` on."""
    chosen: "ChosenSettings"
    """Asks the session for what is chosen of the agent; it is there from `MainWindow.begin` on."""

    def __init__(self, page_area: Any, settings: QSettings) -> None:
        super().__init__()
        self.theme = Theme(settings, self)
        self.remembered = Remembered(settings)
        self.frame = WindowFrame(self, self.remembered)
        self.history = UndoHistory(self)
        """What the person has changed; features record their changes there."""
        self.theme.dress(self)
        self.setWindowTitle("Backstep")
        self.setMinimumSize(520, 320)
        self.tasks = TaskOpening(self.remembered, self.theme, self)
        self._build(page_area)

    def _build(self, page_area: Any) -> None:
        theme = self.theme
        self.actions_by_name = make_actions(theme, self)
        self.addActions(list(self.actions_by_name.values()))
        page_area.equip(theme, self.remembered)
        self.page_area = page_area
        """The browser of the live page, as `PageStack` says."""
        self.page = PageStack(theme, page_area, self)
        self.setCentralWidget(self.page)
        self.run_card = RunCard(theme, self.page)
        self.page.lay_over(self.run_card)
        self.docks = Docks(theme, self)
        self._name_panels()
        self.menus = Menus(self.actions_by_name, self.docks, theme, self)
        self.setMenuBar(self.menus.bar)
        self.tool_bar = ToolBar(theme, self.actions_by_name, self.menus.pace, self.menus.mechanisms, self)
        self.addToolBar(self.tool_bar)
        self.tool_bar.show_recent(self.remembered.recent)
        self.time = TimeStrip(theme, self.remembered, self)
        self.addToolBar(Qt.ToolBarArea.BottomToolBarArea, self.time)
        self.time.hide()  # At first the page has the room.
        self.status = StatusLine(theme, self)
        self.setStatusBar(self.status)
        for place in PLACES:
            QShortcut(place.key, self, lambda name=place.name: self.docks.reach(name))
            panel = self.dock(place.name).widget()
            if hasattr(panel, "fact_changed"):
                panel.fact_changed.connect(lambda fact, name=place.name: self._show_fact(name, fact))

    def _name_panels(self) -> None:
        """Name the panels that the window or a feature speaks to."""
        panel = self.docks.panel
        self.runs = panel(RunsPanel)
        self.breakpoints = panel(BreakpointsPanel)
        self.state = panel(StatePanel)
        self.permissible = panel(PermissiblePanel)
        self.action = panel(ActionPanel)
        self.stack = panel(StackPanel)
        self.plan = panel(PlanPanel)
        self.exemplars = panel(ExemplarsPanel)
        self.observation = panel(ObservationPanel)
        self.prompt = panel(PromptPanel)
        self.diff = panel(DiffPanel)
        self.calls = panel(CallsPanel)
        self.page_log = panel(PageLogPanel)
        self.log = panel(LogPanel)
        self.devtools = panel(DevToolsPanel)

    def _show_fact(self, name: str, fact: str) -> None:
        """Put a panel's fact in its dock's title and, for tabs, in the tab."""
        dock = self.docks.by_name[name]
        dock.show_fact(fact)
        if name in ("State", "Prompt", "Calls"):
            dock.setWindowTitle(f"{name} {cut(fact, _TAB_FACT)}".rstrip().replace("&", "&&"))

    def dock(self, name: str) -> PanelDock:
        """Return the dock of that name, as the View menu has it."""
        return self.docks.by_name[name]
