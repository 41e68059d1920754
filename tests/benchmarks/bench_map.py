"""The map of the exemplars: how long it takes to draw all of it, to move it, and to zoom.

    python -m tests.benchmarks.bench_map [--rounds 15] [--counts 1000 10000 100000]

Offscreen, on a plot of 930 by 650 pixels, each figure the median of the rounds.
`shown` is the first time of a new map, `drawn` all of it once more as after a
change of the theme, `moved` and `zoomed` one step of either while it goes on.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QPointF, QSettings
from PySide6.QtWidgets import QApplication, QWidget

from core.debugger.exemplars.analyses.views import ExemplarMap
from gui.theme.theme import Theme

FAMILIES = 60


def view_of(count: int) -> ExemplarMap:
    """Return a map of so many points in clouds, one for each family."""
    random = np.random.default_rng(count)
    families = (np.arange(count) % FAMILIES).astype(np.int32)
    middles = 3 * random.standard_normal((FAMILIES, 2))
    points = (middles[families] + random.standard_normal((count, 2)) / 2).astype(np.float32)
    ids = tuple(str(number) for number in range(count))
    names = tuple(f"family-{number}" for number in range(FAMILIES))
    return ExemplarMap(points=points.tobytes(), families=families.tobytes(), names=names, ids=ids, tasks=ids)


def measure(
    make: Callable[[Theme], QWidget], theme: Theme, view: ExemplarMap, rounds: int
) -> dict[str, float]:
    """Return the median milliseconds of each kind of drawing."""
    plot = make(theme)
    plot.resize(930, 650)
    plot.show()
    taken: dict[str, list[float]] = {}

    def draw(name: str, change: Callable[[], object]) -> None:
        begun = time.perf_counter()
        change()
        plot.grab()
        taken.setdefault(name, []).append((time.perf_counter() - begun) * 1000)
        QApplication.processEvents()

    for at in range(rounds):
        plot.show_map(ExemplarMap())
        draw("shown", lambda: plot.show_map(view))
        draw("drawn", lambda: plot.show_family(""))
        draw("moved", lambda: plot.pan(QPointF(5, 3)))
        draw("zoomed", lambda at=at: plot.zoom(1.25 if at % 2 else 0.8))
    plot.deleteLater()
    return {name: statistics.median(times) for name, times in taken.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--counts", type=int, nargs="+", default=[1000, 10_000, 100_000])
    options = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QApplication([])
    from gui.exemplars.analyses.map_plot import MapPlot

    with tempfile.TemporaryDirectory() as folder:
        theme = Theme(QSettings(f"{folder}/bench.ini", QSettings.Format.IniFormat))
        for count in options.counts:
            figures = measure(MapPlot, theme, view_of(count), options.rounds)
            line = "".join(f"  {name} {figure:7.1f} ms" for name, figure in figures.items())
            print(f"{count:>8} points{line}")
    application.quit()


if __name__ == "__main__":
    main()
