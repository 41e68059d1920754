"""Start of the window, memory, stalls of the main thread, and bytes a step in the database.

    python -m tests.benchmarks.bench_window [--rounds 5] [--task TASK] [--data DATABASE]

Each round is a process of its own on the offscreen platform (or on the display
that QT_QPA_PLATFORM names), with a database that grows, or with a copy of --data.
`shown` is from the start of the process to the visible window, `ready` to the first
page read and the first action waiting to be stepped, `search` from the last letter
typed into the search field to the painted list, its rest of idleness included. Each stall comes with the
functions that the main thread was seen in.
"""

import argparse
import json
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.bench_steps import with_bytecode
from tests.benchmarks.stalls import LIMIT_MS

LONGEST = 8
"""Stalls that are listed."""


def start_once(task: str, seed: int, database: Path) -> dict[str, object]:
    """Run one window to the end of a task and return its figures."""
    environment = {"QT_QPA_PLATFORM": "offscreen", **with_bytecode()}
    environment["BACKSTEP_CONFIG_DIR"] = str(database.parent / "config")
    environment["BACKSTEP_DATA_DIR"] = str(database.parent / "data")
    environment["XDG_CONFIG_HOME"] = str(database.parent / "qt")
    arguments = [
        sys.executable,
        "-m",
        "tests.benchmarks.window_once",
        str(time.time()),
        task,
        str(seed),
        str(database),
    ]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=120, check=True)
    figures = json.loads(done.stdout.splitlines()[-1])
    if "ready_ms" not in figures:
        raise SystemExit(f"The window did not get ready: {figures['message']}")
    return figures


def bytes_per_step(database: Path) -> tuple[float, int]:
    """Return the file's bytes divided by its sealed steps, and their number."""
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("VACUUM")
    steps = connection.execute("SELECT count(*) FROM steps WHERE sealed = 1").fetchone()[0]
    connection.close()
    return database.stat().st_size / max(steps, 1), steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--task", default="miniwob/click-checkboxes-large")
    parser.add_argument("--data", type=Path, help="A database to begin with, such as bench_database makes.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "bench.db"
        if options.data:
            shutil.copy(options.data, database)
        rounds = [start_once(options.task, seed, database) for seed in range(options.rounds)]
        size, steps = bytes_per_step(database)
    for name, unit in (
        ("shown_ms", "ms"),
        ("ready_ms", "ms"),
        ("memory_mb", "MB"),
        ("memory_after_mb", "MB"),
        ("search_ms", "ms"),
    ):
        values = [float(str(one[name])) for one in rounds]
        print(f"{name:>16}  median {statistics.median(values):8.0f} {unit}  max {max(values):8.0f}")
    for key, when in (("start_stalls", "from shown to ready"), ("stalls", "in the runs")):
        stalls = sorted((stall for one in rounds for stall in one[key]), reverse=True)  # type: ignore[attr-defined]
        print(f"{len(stalls):>16}  stalls > {LIMIT_MS:.0f} ms {when}")
        for late, _, where in stalls[:LONGEST]:
            print(f"{late:>16.0f}  ms  {where}")
    print(f"{'bytes a step':>16}  {size:8.0f} over {steps} steps, screenshots included")


if __name__ == "__main__":
    main()
