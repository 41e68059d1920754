"""Joins Fork and Bisect, which are windows of their own, to the main window."""

from PySide6.QtCore import QObject

from core.debugger.branching.views import ForkDeskCommands
from core.debugger.experiments.bisect_views import BisectDeskCommands
from gui.branching.controller import ForkController
from gui.experiments.bisect_controller import BisectController
from gui.shell.main_window import MainWindow
from gui.widgets.relay import Relay


class BranchWindows(QObject):
    """Opens them from the tree of runs and by their keys."""

    def __init__(self, forks: ForkDeskCommands, bisects: BisectDeskCommands, window: MainWindow) -> None:
        super().__init__(window)
        self.forking = ForkController(forks, window.theme, window.remembered, window)
        self.bisecting = BisectController(bisects, window.theme, window.remembered, window)
        catalogue = Relay(window.commands.catalogue_changed, keep="latest", parent=self)
        catalogue.received.connect(self.forking.show_catalogue)
        catalogue.received.connect(self.bisecting.show_catalogue)
        window.closed.connect(catalogue.close)
        window.runs.fork_requested.connect(self.forking.open)
        window.runs.bisect_requested.connect(self.bisecting.open)
        self.bisecting.run_opened.connect(window.show_run)
