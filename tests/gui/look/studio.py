"""The window that is drawn, and what draws it in both themes."""

import inspect
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication, QWidget

from gui.breakpoints.controller import BreakpointsController
from gui.compare.controller import CompareController
from gui.provenance.controller import ProvenanceController
from gui.shell.main_window import MainWindow
from gui.timeline.controller import install as install_timeline
from tests.gui import samples
from tests.gui.stand_ins import AskedService, AskedSession, DrawnPage, PicturingService


class Studio:
    """A window with a session that says what the picture needs."""

    def __init__(self, application: QApplication, choice: str) -> None:
        self.application = application
        self.session = AskedSession()
        self.breakpoints = AskedService("answered", "made")
        self.provenance = AskedService()
        self.timeline = PicturingService()
        self.compare = AskedService("paired", "diffed")
        folder = tempfile.mkdtemp()
        settings = QSettings(f"{folder}/look.ini", QSettings.Format.IniFormat)
        settings.setValue("theme", choice)
        self.window = MainWindow(DrawnPage(), settings)
        self.window.begin(self.session)
        self.breaks = BreakpointsController(self.window, self.breakpoints)
        self.origins = ProvenanceController(self.window, self.provenance)
        install_timeline(self.window, self.timeline)
        CompareController(self.window, self.compare)
        self.window.resize(1280, 800)
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
    """Float a dock at this size, as a person would to read it."""
    studio.review()
    studio.settle()
    dock = studio.window.dock(name)
    dock.setFloating(True)
    dock.resize(width, height)
    dock.show()
    return dock


def take_pictures(stages: dict[str, Any]) -> None:
    """Draw the stages of a module in both themes into the folder of the command line, or those named after it."""
    made = {name: one for name, one in stages.items() if _is_stage(one)}
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    for choice in ("light", "dark"):
        for name in sys.argv[2:] or made:
            studio = Studio(application, choice)
            shown = made[name](studio)
            studio.settle()
            (shown or studio.window).grab().save(str(folder / f"{name}-{choice}.png"))
            studio.window.close()
            studio.window.deleteLater()
            application.processEvents()
            print(f"{name}-{choice}.png")


def _is_stage(one: object) -> bool:
    own = inspect.isfunction(one) and one.__module__ == "__main__" and not one.__name__.startswith("_")
    return own and list(inspect.signature(one).parameters) == ["studio"]
