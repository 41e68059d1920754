"""The panels of the window, one of each, and the docks they go into."""

from PySide6.QtWidgets import QWidget

from gui.panels.action.panel import ActionPanel
from gui.panels.action_space import PermissiblePanel
from gui.panels.breakpoints.panel import BreakpointsPanel
from gui.panels.calls import CallsPanel
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


class Panels:
    """Makes the panels; `by_name` has each under the name of its dock."""

    def __init__(self, theme: Theme) -> None:
        self.runs = RunsPanel(theme)
        self.breakpoints = BreakpointsPanel(theme)
        self.state = StatePanel(theme)
        self.permissible = PermissiblePanel(theme)
        self.action = ActionPanel(theme)
        self.stack = StackPanel(theme)
        self.plan = PlanPanel(theme)
        self.exemplars = ExemplarsPanel(theme)
        self.observation = ObservationPanel(theme)
        self.prompt = PromptPanel(theme)
        self.diff = DiffPanel(theme)
        self.calls = CallsPanel(theme)
        self.page_log = PageLogPanel(theme)
        self.log = LogPanel(theme)
        self.by_name: dict[str, QWidget] = {
            "Runs & steps": self.runs,
            "Breakpoints": self.breakpoints,
            "State": self.state,
            "Permissible actions": self.permissible,
            "Next action": self.action,
            "Policy stack": self.stack,
            "Plan & remedies": self.plan,
            "Exemplars": self.exemplars,
            "Observation": self.observation,
            "Prompt": self.prompt,
            "Diff": self.diff,
            "Calls": self.calls,
            "Page log": self.page_log,
            "Log": self.log,
        }
