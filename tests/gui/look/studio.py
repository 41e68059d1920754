"""The window that is drawn."""

import inspect
import os
import time
from collections.abc import Callable
from types import ModuleType

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSettings, QSize
from PySide6.QtWidgets import QApplication, QWidget

from gui.breakpoints.controller import BreakpointsController
from gui.compare.controller import CompareController
from gui.provenance.controller import ProvenanceController
from gui.shell.main_window import MainWindow
from gui.shell.places import StackSection
from gui.timeline.controller import install as install_timeline
from tests.gui import samples
from tests.gui.stand_ins import AskedService, AskedSession, DrawnPage, PicturingService


class Studio:
    """A window with a session that sends what the picture needs."""

    def __init__(self, application: QApplication, settings: QSettings, size: QSize) -> None:
        self.application = application
        self.session = AskedSession()
        self.breakpoints = AskedService("answered", "made")
        self.provenance = AskedService()
        self.timeline = PicturingService()
        self.compare = AskedService("paired", "diffed")
        self.window = MainWindow(DrawnPage(), settings)
        self.window.begin(self.session)
        self.breaks = BreakpointsController(self.window, self.breakpoints)
        self.origins = ProvenanceController(self.window, self.provenance)
        install_timeline(self.window, self.timeline)
        CompareController(self.window, self.compare)
        self.window.resize(size)
        self.window.show()
        self.session.catalogue_changed.send(samples.CATALOGUE)

    def settle(self) -> None:
        end = time.process_time() + 0.5  # Of this process, so that a busy machine does not cut it short.
        while time.process_time() < end:
            self.application.processEvents()

    def review(self) -> None:
        self.session.session_changed.send(samples.SESSION)
        self.session.runs_changed.send(samples.RUNS)
        self.session.live_page_changed.send(samples.LIVE)
        self.session.step_changed.send(samples.STEP)
        for line in samples.log_lines(12):
            self.session.logged.send(line)


def large(studio: Studio, name: str, width: int, height: int) -> QWidget:
    """Float the dock of a panel at this size, with the other sections folded, as a person would to read it."""
    studio.review()
    studio.settle()
    docks = studio.window.docks
    dock = next(dock for dock in docks.docks.values() if dock.isAncestorOf(docks.places[name]))
    for other in docks.places.values():
        if isinstance(other, StackSection) and dock.isAncestorOf(other):
            other.fold_wanted.emit(other.name != name)
    docks.places[name].bring()
    dock.setFloating(True)
    dock.resize(width, height)
    dock.show()
    return dock


def stages_of(module: ModuleType) -> dict[str, Callable[[Studio], QWidget | None]]:
    """Return the stages that a module draws, by name."""
    return {
        name: one
        for name, one in vars(module).items()
        if inspect.isfunction(one)
        and one.__module__ == module.__name__
        and not name.startswith("_")
        and list(inspect.signature(one).parameters) == ["studio"]
    }
