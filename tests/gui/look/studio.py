"""The window that is drawn, and the code that draws it in both themes.

Every script of this folder takes the same options: `--text 160` draws with that text size in percent, `--scale 2`
as on a screen of double density, `--size 1600x1000` a window of that size, and `--theme dark` only that theme.
"""

import argparse
import inspect
import os
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEvent, QSettings, QSize
from PySide6.QtWidgets import QApplication, QWidget

from gui.breakpoints.controller import BreakpointsController
from gui.compare.controller import CompareController
from gui.provenance.controller import ProvenanceController
from gui.shell.main_window import MainWindow
from gui.shell.places import StackSection
from gui.theme.theme import TEXT_SIZES
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


def take_pictures(stages: dict[str, Any]) -> None:
    """Draw the stages of a module, or those named on the command line, in both themes into its folder."""
    made = {name: one for name, one in stages.items() if _is_stage(one, "__main__")}

    def draw(application: QApplication, settings: QSettings, size: QSize, name: str, file: str) -> None:
        studio = Studio(application, settings, size)
        shown = made[name](studio)
        studio.settle()
        (shown or studio.window).grab().save(file)
        studio.window.close()
        studio.window.deleteLater()

    draw_all(made, draw)


def draw_all(names: Iterable[str], draw: Callable[[QApplication, QSettings, QSize, str, str], None]) -> None:
    """Call `draw` in both themes for each name of the command line, or for all `names`, with the file to write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="STAGE")
    parser.add_argument("--text", type=int, choices=TEXT_SIZES, default=100, help="percent")
    parser.add_argument("--scale", default="1", help="device pixels for each pixel")
    parser.add_argument("--size", default="1280x800", help="of the window")
    parser.add_argument("--theme", choices=("light", "dark"))
    given = parser.parse_args()
    os.environ["QT_SCALE_FACTOR"] = given.scale
    given.folder.mkdir(parents=True, exist_ok=True)
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    for choice in (given.theme,) if given.theme else ("light", "dark"):
        for name in given.names or names:
            with tempfile.TemporaryDirectory() as data:
                settings = QSettings(f"{data}/look.ini", QSettings.Format.IniFormat)
                settings.setValue("theme", choice)
                settings.setValue("text size", given.text)
                size = QSize(*(int(part) for part in given.size.split("x")))
                draw(application, settings, size, name, str(given.folder / f"{name}-{choice}.png"))
                # Without a loop that runs, nothing else deletes what was left for later.
                application.sendPostedEvents(None, QEvent.Type.DeferredDelete)
                application.processEvents()
            print(f"{name}-{choice}.png")


def stages_of(module: ModuleType) -> dict[str, Callable[[Studio], QWidget | None]]:
    """Return the stages that a module draws, by name."""
    return {name: one for name, one in vars(module).items() if _is_stage(one, module.__name__)}


def _is_stage(one: object, module: str) -> bool:
    own = inspect.isfunction(one) and one.__module__ == module and not one.__name__.startswith("_")
    return own and list(inspect.signature(one).parameters) == ["studio"]
