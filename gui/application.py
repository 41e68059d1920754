"""The desktop application: Qt, the embedded browser and the window, begun and ended in the right order."""

import sys
import time
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from core.debugger.ask_again.views import AskDeskCommands
from core.debugger.branching.views import ForkDeskCommands
from core.debugger.breakpoints.views import BreakDeskCommands
from core.debugger.commands import TaskDeskCommands
from core.debugger.compare.views import CompareDeskCommands
from core.debugger.experiments.bisect_views import BisectDeskCommands
from core.debugger.llms.views import LLMDeskCommands
from gui.features.exemplar_desks import ExemplarDesks
from gui.live.engine import loud_engine, prepare_engine, quiet_engine
from gui.theme.theme import Choice

if TYPE_CHECKING:
    from core.debugger.provenance.service import ReadingDeskCommands
    from core.debugger.session import Session

_CLOSE_SECONDS = 15.0


class BreakDesk(BreakDeskCommands, Protocol):
    """Breakpoints and watches, which can be told once more."""

    def announce(self) -> None: ...


class Opening(Protocol):
    """What the window begins with."""

    task: str
    seed: int
    url: str
    instruction: str
    chosen: bool
    preset: str
    llm: str


@dataclass(frozen=True)
class Desks:
    """What the parts of the window ask of the session beside the run itself."""

    llms: LLMDeskCommands
    tasks: TaskDeskCommands
    breaks: BreakDesk
    asks: AskDeskCommands
    compares: CompareDeskCommands
    diffs: CompareDeskCommands
    """The same for the Diff tab: neither takes the other's turn."""
    reading: "ReadingDeskCommands"
    forks: ForkDeskCommands
    bisects: BisectDeskCommands
    exemplars: ExemplarDesks


class Application:
    """Owns the QApplication and the live page; make one, before anything else of Qt."""

    def __init__(self, *, theme: Choice = "system", accept_dialogs: bool = True, profiles: str = "") -> None:
        endpoint = prepare_engine()
        quiet_engine()
        from PySide6.QtWidgets import QApplication

        self._qt = QApplication.instance() or QApplication(sys.argv[:1])
        self._qt.setApplicationName("backstep")
        self._qt.setOrganizationName("backstep")
        self._theme = theme
        from gui.live.embedded_host import EmbeddedHost
        from gui.live.page_area import PageArea

        self.area = PageArea(accept_dialogs=accept_dialogs, profiles=profiles)
        self.host = EmbeddedHost(self.area, endpoint)

    def show_window(
        self,
        session: "Session",
        desks: Desks,
        opening: Opening,
    ) -> int:
        """Show the window on a session until it is closed; returns the exit code."""
        import shiboken6
        from PySide6.QtCore import QSettings

        from gui.breakpoints.controller import Breaks
        from gui.features.branch_windows import BranchWindows
        from gui.features.exemplar_windows import ExemplarWindows
        from gui.features.side_windows import SideWindows
        from gui.llms.controller import LLMSettingsController
        from gui.provenance.controller import Reading
        from gui.shell.main_window import MainWindow
        from gui.tasks.controller import TaskFiles
        from gui.widgets.remembered import OpenedTask

        session.start()  # The browser's driver starts in the worker while the window is built.
        window = MainWindow(session, self.area, QSettings())
        if self._theme != "system":
            window.theme.choose(self._theme)
        controller = LLMSettingsController(desks.llms, window)
        window.llm_settings_requested.connect(controller.open)
        TaskFiles(desks.tasks, window.tasks)
        Breaks(desks.breaks, window)
        side = SideWindows(desks.asks, desks.compares, window)
        Reading(desks.reading, desks.diffs, window)
        BranchWindows(desks.forks, desks.bisects, window)
        exemplars = ExemplarWindows(desks.exemplars, window)
        exemplars.compare_requested.connect(side.comparing.compare_runs)
        window.show_at_first()
        session.announce()
        desks.breaks.announce()
        window.restore_choices(preset=opening.preset, llm=opening.llm)
        task = OpenedTask(
            task=opening.task, seed=opening.seed, url=opening.url, instruction=opening.instruction
        )
        window.open_task(task)
        if not opening.chosen:
            window.welcome_at_first_start()
        code = int(self._qt.exec())
        self._end(session.close())
        session.stop_worker()
        self.area.close_pages()
        shiboken6.delete(window)
        loud_engine()
        return code

    def _end(self, closing: "Future[None]") -> None:
        # The browser is served by this thread: it goes on serving while the session lets go of it.
        deadline = time.monotonic() + _CLOSE_SECONDS
        while not closing.done() and time.monotonic() < deadline:
            self._qt.processEvents()
            time.sleep(0.005)
