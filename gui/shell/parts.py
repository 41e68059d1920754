"""The parts of the main window: the page, the panels in their docks, menus, bars and the signals of features."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QSettings, Signal
from PySide6.QtGui import QShortcut
from PySide6.QtWidgets import QMainWindow

from core.debugger.session_view import SessionView
from core.debugger.steps.views import StepView
from gui.page.page_stack import PageStack
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
from gui.panels.runs.card import RunCard
from gui.panels.runs.panel import RunsPanel
from gui.panels.stack import StackPanel
from gui.panels.state.panel import StatePanel
from gui.panels.timeline.strip import TimeStrip
from gui.shell.bars import StatusLine, ToolBar
from gui.shell.command_set import CommandSet
from gui.shell.docks import PANELS, Docks
from gui.shell.layouts import Layouts
from gui.shell.menus import Menus
from gui.shell.places import PanelPlace
from gui.shell.undo import UndoHistory
from gui.shell.window_frame import WindowFrame
from gui.task_chooser.opening import TaskOpening
from gui.theme.theme import Theme
from gui.widgets.remembered import Remembered

if TYPE_CHECKING:
    from core.debugger.session import Session
    from gui.shell.chosen_settings import ChosenSettings


class WindowParts(QMainWindow):
    """The main window without its behaviour; see `MainWindow`."""

    llm_settings_requested = Signal()
    file_requested = Signal(str)
    """The path of a file that agents use, to open in the editor."""
    setting_requested = Signal(str)
    """The key of the settings file at which to open it in the editor."""
    docs_requested = Signal(str)
    """The file name of a page of the documentation."""
    # Requests from one feature to another that it does not know.
    compare_requested = Signal(int, int)
    """Two runs to show side by side."""
    exemplar_requested = Signal(str)
    """The id of an exemplar to show in the library."""
    retire_requested = Signal(str)
    """The id of an exemplar that no run is to recall any more."""
    worth_requested = Signal(object)
    """A `Subject` whose effect to measure, or None to choose one."""
    evaluation_requested = Signal(int)
    """The number of an evaluation to show."""
    library_made = Signal(object)
    """The `LibraryWindow`, sent once when it is first opened, so that other features can add their pages."""
    why_requested = Signal(int, int, str)
    """Run, step, and words to look for in the step; without words, the window asks for them."""
    deciding_step_requested = Signal(int)
    """A run whose deciding step to show."""
    step_shown = Signal(object)
    """A `StepView`, sent after all panels show it."""
    closing = Signal(object)
    """A `QCloseEvent`, sent before anything is closed; a receiver that ignores it keeps the window open."""
    closed = Signal()
    """The window has closed; nothing is relayed to it any longer."""

    session: "Session"
    """What the window shows and asks; available after `MainWindow.begin`."""
    layouts: Layouts
    chosen: "ChosenSettings"
    """Asks the session to apply the chosen agent settings; available after `MainWindow.begin`."""

    def __init__(self, page_area: Any, settings: QSettings) -> None:
        super().__init__()
        self.theme = Theme(settings, self)
        self.remembered = Remembered(settings)
        self.frame = WindowFrame(self, self.remembered)
        self.history = UndoHistory(self)
        """The changes that are undone in the main window; features record theirs here."""
        self.exemplar_history = UndoHistory(self)
        """The changes of exemplars, undone in their windows."""
        self.theme.prepare()
        self.setWindowTitle("Backstep")
        self.setMinimumSize(520, 320)
        self.view = SessionView()
        """The last view that the session sent."""
        self._step: StepView | None = None
        self.controllers: dict[str, QObject] = {}
        """The controller of each feature that is installed, by the feature's name."""
        self.tasks = TaskOpening(self.remembered, self.theme, self)
        self._build(page_area)
        self.theme.dress(self)

    def _build(self, page_area: Any) -> None:
        theme = self.theme
        page_area.equip(theme, self.remembered)
        self.page_area = page_area
        """The browser of the live page, as `PageStack` describes."""
        self.page = PageStack(theme, page_area, self)
        self.setCentralWidget(self.page)
        self.run_card = RunCard(theme, self.page)
        self.page.lay_over(self.run_card)
        self.docks = Docks(theme, self)
        self._name_panels()
        self.time = TimeStrip(theme, self.remembered, self)
        self.commands = CommandSet(theme, self.command_owners(), self)
        self.actions_by_name = {bound.record.id: bound.action for bound in self.commands}
        self.addActions(list(self.actions_by_name.values()))
        self.menus = Menus(self.commands, self.docks, theme, self)
        self.setMenuBar(self.menus.bar)
        self.tool_bar = ToolBar(theme, self.commands, self.menus.pace, self.menus.mechanisms, self)
        self.addToolBar(self.tool_bar)
        self.tool_bar.show_recent(self.remembered.recent)
        self.addToolBarBreak()
        self.addToolBar(self.time)
        self.status = StatusLine(theme, self)
        self.setStatusBar(self.status)
        for record in PANELS:
            QShortcut(record.key, self, lambda name=record.name: self.docks.reach(name))
            place = self.place(record.name)
            if (fact_changed := getattr(place.widget(), "fact_changed", None)) is not None:
                fact_changed.connect(place.show_fact)

    def _name_panels(self) -> None:
        """Set names for the panels that the window or a feature uses."""
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
        self.causes = panel(CausesPanel)
        self.log = panel(LogPanel)
        self.devtools = panel(DevToolsPanel)

    @property
    def step_in_view(self) -> StepView | None:
        """The view of the step that the panels show: the current one or a recorded one."""
        return self._step

    def command_owners(self) -> Iterable[tuple[object, str]]:
        """Return the objects that declare commands, each with its page and heading of the documentation."""
        return [(place.widget(), place.help) for place in self.docks.places.values()]

    def place(self, name: str) -> PanelPlace:
        """Return where a panel is, by its name in the View menu."""
        return self.docks.places[name]
