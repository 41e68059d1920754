"""How long the library's window takes to show its first rows, and whether it stands still while one scrolls.

Run with ``python -m tests.benchmarks.bench_library_window``: 100 000 exemplars,
or ``--size`` of them; ``--data`` uses the folder of an earlier time, which is
kept. Offscreen, with the real desk on its worker and without a browser.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication, QPushButton

from core.exemplars.library.records import LIBRARY_NAME
from core.exemplars.library.store import Library
from gui.exemplars.library.controller import LibraryController
from gui.theme.theme import Theme
from tests.benchmarks.bench_library import Table, fill
from tests.core.debugger.exemplars.opened_library import OpenedLibrary
from tests.gui.exemplars.stand_ins import PlainWindow

if TYPE_CHECKING:
    from gui.exemplars.library.row_table import RowTable  # The first opening loads it, as in the program.

_PATIENCE = 30.0


class Bench:
    """A window on the desk, and how long the event loop takes for each round meanwhile."""

    def __init__(self, application: QApplication, library: OpenedLibrary, folder: Path) -> None:
        self.application = application
        settings = QSettings(str(folder / "bench.ini"), QSettings.Format.IniFormat)
        theme = Theme(settings)
        self.parent = PlainWindow(theme, settings)
        theme.prepare()
        theme.dress(self.parent)
        # As in the program, a window with icons stands already.
        button = QPushButton(theme.icon("search"), "Search", self.parent)
        self.parent.show()
        button.repaint()
        self.controller = LibraryController(self.parent, library.service, library.imports)
        self.rounds: list[float] = []

    @property
    def table(self) -> "RowTable":
        assert self.controller.shown is not None
        return self.controller.shown.page.table

    def until(self, met: Callable[[], object]) -> None:
        end = time.perf_counter() + _PATIENCE
        while not met():
            begun = time.perf_counter()
            self.application.processEvents()
            self.rounds.append(time.perf_counter() - begun)
            if begun > end:
                raise TimeoutError("waited in vain")
            time.sleep(0.0005)  # Lets the worker's thread have Python between two rounds.

    def open(self) -> tuple[float, float]:
        """Return the seconds to the first painted rows, and to the counts of all filters."""
        begun = time.perf_counter()
        self.controller.open()
        self.until(lambda: self.table.rows_model.row(0) is not None)
        self.table.viewport().repaint()
        rows = time.perf_counter() - begun
        page = self.controller.shown.page  # type: ignore[union-attr]
        self.until(lambda: "families" in page.filters.words.text())
        return rows, time.perf_counter() - begun

    def scroll(self, stops: int) -> tuple[list[float], list[float]]:
        """Drag through the whole list; return the rounds of the event loop, and the wait for rows at each stop."""
        bar, model = self.table.verticalScrollBar(), self.table.rows_model
        self.rounds, waits = [], []
        for stop in range(1, stops + 1):
            target = bar.maximum() * stop // stops
            start = bar.value()
            for part in range(1, 11):
                bar.setValue(start + (target - start) * part // 10)
                begun = time.perf_counter()
                self.table.viewport().repaint()
                self.application.processEvents()
                self.rounds.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            first, end = model.visible()
            self.until(lambda first=first, end=end: model.row(first) and model.row(end - 1))  # type: ignore[misc]
            waits.append(time.perf_counter() - begun)
        return self.rounds, waits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--data", type=Path, help="A folder to use and to keep.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = given.data or Path(name)
        if not (folder / LIBRARY_NAME).exists():
            database = Library.open(folder / LIBRARY_NAME)
            fill(database, given.size, 400)
            database.close()
        application = QApplication([])
        table = Table()
        table.put("load of the machine", " ".join(f"{one:.1f}" for one in os.getloadavg()))
        times, counted = [], []
        for _ in range(5):
            library = OpenedLibrary(folder)
            bench = Bench(application, library, Path(name))
            # As in the program: the session looks for bad files as it begins, and the window's modules are
            # loaded while the person looks at the task.
            library.resources.problems()
            bench.controller.prepare()
            bench.until(lambda: "gui.exemplars.library.library_window" in sys.modules)
            rows, counts = bench.open()
            times.append(rows)
            counted.append(counts)
            held = bench.table.rows_model.held
            if len(times) == 5:
                break
            bench.controller.shown.close()  # type: ignore[union-attr]
            bench.parent.deleteLater()
            library.close()
        table.put("first opening, from the command to the painted rows", f"{times[0] * 1e3:.0f} ms")
        table.time("later openings, each with a new session", times[1:])
        table.put("until all filters are counted, median", f"{statistics.median(counted) * 1e3:.0f} ms")
        table.put("rows held at first", str(held))
        rounds, waits = bench.scroll(60)
        table.time("a round of the event loop while dragging", rounds)
        table.put("the longest round", f"{max(rounds) * 1e3:.1f} ms")
        table.time("rows in view after letting go", waits)
        table.put("rows held at last", str(bench.table.rows_model.held))
        bench.controller.shown.close()  # type: ignore[union-attr]
        library.close()


if __name__ == "__main__":
    main()
