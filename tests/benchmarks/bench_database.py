"""How long a database of very many runs takes to list, filter, search and open, and the tree of runs to show it.

Run with ``python -m tests.benchmarks.bench_database``: 10 000 runs of 30 steps, or ``--runs`` of them;
``--data`` uses the folder of an earlier time, which is kept. Twenty runs are written as runs are, with a
picture of 500 bytes in place of some kilobytes; the others are copies of their rows, with a picture of each step's
own. The tree is shown offscreen; its rounds are how long the window does nothing else.
"""

import argparse
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication

from core.debugger.listed_runs import PAGE, ListedRuns, RunsView
from core.trace.store import TraceStore
from gui.panels.runs.panel import RunsPanel
from gui.theme.theme import Theme
from tests.benchmarks import bench_trace
from tests.benchmarks.bench_trace import Author, fill, median

WRITTEN = 20
STEPS = 30
RARE = "zebra"
TABLES = ("steps", "phases", "phases_begun", "calls", "interventions", "events", "page_logs")
"""The tables whose rows are copied with a run."""


def make(path: Path, runs: int) -> None:
    """Write twenty runs, and copy them until there are `runs`."""
    bench_trace.PICTURE = 500
    store = TraceStore.open(path)
    fill(store, Author(seed=7), WRITTEN, STEPS)
    store.close()
    with closing(sqlite3.connect(path)) as database:
        columns = {
            table: [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            for table in ("runs", *TABLES)
        }
        for copy in range(1, runs // WRITTEN):
            values = {"run": copy * WRITTEN, "step": copy * WRITTEN * STEPS}
            for table in ("runs", *TABLES):
                _copy(database, table, columns[table], values)
            database.commit()
        # Each step has a picture of its own, as steps have.
        last = database.execute("SELECT max(id) FROM blobs").fetchone()[0]
        database.execute(
            "INSERT INTO blobs (id, hash, media_type, encoding, size, data)"
            " SELECT ? + id, lower(hex(randomblob(32))), 'image/webp', 'identity', 500, randomblob(500) FROM steps",
            (last,),
        )
        database.execute("UPDATE steps SET screenshot = ? + id", (last,))
        database.execute(
            f"UPDATE steps SET thought = thought || ' {RARE}' WHERE run % 1000 = 7 AND number = 3"
        )
        database.commit()


def _copy(database: sqlite3.Connection, table: str, columns: list[str], shift: dict[str, int]) -> None:
    """Copy the rows of the twenty runs, with the numbers of run and step moved on."""
    steps_are_rows = table in ("phases", "phases_begun")
    moved = {
        "run": f"run + {shift['run']}",
        "id": f"id + {shift['step']}" if table == "steps" else "NULL",
        "step": f"step + {shift['step']}" if steps_are_rows else "step",
        "started": f"started + {shift['run']}",
    }
    made = ", ".join(moved.get(name, name) for name in columns)
    where = f"step <= {WRITTEN * STEPS}" if steps_are_rows else f"run <= {WRITTEN}"
    database.execute(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {made} FROM {table} WHERE {where}")


def figures(path: Path) -> list[tuple[str, float]]:
    """Return what reading takes, in milliseconds."""
    with closing(TraceStore.open(path, read_only=True)) as store:
        middle = len(store.find_runs()) // 2
        step = store.steps(middle)[-1].number

        def opened() -> None:
            store.run(middle)
            store.steps(middle)
            store.step(middle, 1)

        work: list[tuple[str, Callable[[], object]]] = [
            ("list the newest 200", store.runs),
            ("filter by task", lambda: store.runs(task="miniwob/email-inbox")),
            ("search, a rare word", lambda: store.runs(RARE)),
            ("search, a common word", lambda: store.runs("cheapest")),
            ("search, a word of every step", lambda: store.runs("click")),
            ("search, three words", lambda: store.runs("Oslo aisle morn")),
            ("open a run of 30 steps", opened),
            ("open a step", lambda: store.step(middle, step)),
        ]
        return [(what, median(9, one)) for what, one in work]


def tree_figures(path: Path, folder: Path) -> list[tuple[str, float]]:
    """Return how long the tree of runs stands still, in milliseconds, with a page of runs and with all of them."""
    application = QApplication([])
    listed, panel = (
        ListedRuns(),
        RunsPanel(Theme(QSettings(str(folder / "bench.ini"), QSettings.Format.IniFormat))),
    )
    panel.resize(320, 700)
    panel.show()
    rounds: list[tuple[str, float]] = []

    def shown(work: Callable[[], object]) -> float:
        began = time.perf_counter()
        work()
        application.processEvents()
        panel.tree.viewport().repaint()
        return (time.perf_counter() - began) * 1000

    def scrolled() -> list[float]:
        bar = panel.tree.verticalScrollBar()
        return [shown(lambda at=at: bar.setValue(bar.maximum() * at // 100)) for at in range(100)]  # type: ignore[misc]

    with closing(TraceStore.open(path, read_only=True)) as store:

        def read(current: int | None = None, expanded: tuple[int, ...] = ()) -> tuple[float, RunsView]:
            began = time.perf_counter()
            view = listed.read(store, current, expanded)
            return (time.perf_counter() - began) * 1000, view

        took, view = read()
        rounds += [("read the first page", took), ("show it", shown(lambda: panel.show_runs(view)))]
        rounds.append(("scroll in it, the longest round", max(scrolled())))
        reading, showing = [], []
        while view.more:
            listed.list_more(len(view.runs))
            took, view = read()
            reading.append(took)
            showing.append(shown(partial(panel.show_runs, view)))
        rounds += [
            (f"read one more page of {PAGE}, median", statistics.median(reading)),
            ("the longest", max(reading)),
            ("show one more page, median", statistics.median(showing)),
            ("the longest", max(showing)),
        ]
        times = scrolled()
        rounds += [
            (f"scroll in {len(view.runs)} runs, median round", statistics.median(times)),
            ("the longest", max(times)),
        ]
        last = view.runs[0].run
        panel.tree.expand(panel.model.run_index(last))
        took, view = read(last, (last,))
        rounds += [
            ("read all with the steps of one", took),
            ("show them", shown(lambda: panel.show_runs(view))),
            ("show one more step of it", shown(lambda: panel.show_runs(_with_a_step(view, last)))),
        ]
        listed.look_for("cheapest")
        view = read()[1]
        rounds += [
            ("read what a common word finds", median(9, read)),
            ("show it", shown(lambda: panel.show_runs(view))),
        ]
        listed.look_for("")
        took, view = read()
        rounds += [("read the first page again", took), ("show it", shown(lambda: panel.show_runs(view)))]
    return rounds


def _with_a_step(view: RunsView, run: int) -> RunsView:
    steps = view.steps[run]
    return view.replace(steps={run: (*steps, steps[-1].replace(number=steps[-1].number + 1))})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--data", type=Path, help="A folder to use and to keep.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path = (given.data or Path(name)) / "traces.db"
        if not path.exists():
            began = time.perf_counter()
            path.parent.mkdir(parents=True, exist_ok=True)
            make(path, given.runs)
            print(f"made in {time.perf_counter() - began:.0f} s")
        print(f"{given.runs} runs of {STEPS} steps, {path.stat().st_size / 1e9:.2f} GB, medians")
        for what, took in figures(path):
            print(f"  {what:<44}{took:>10.1f} ms")
        print("The tree of runs in the window")
        for what, took in tree_figures(path, Path(name)):
            print(f"  {what:<44}{took:>10.1f} ms")


if __name__ == "__main__":
    main()
