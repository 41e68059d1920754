"""All figures of the program's speed in one go, each beside what it is measured against in the same round.

    python -m tests.benchmarks [--rounds 5] [--only PART]... [--browsergym PYTHON] [--record]

Prints a table in Markdown and what is worse by a fifth than recorded (the exit code is 1 then); --record keeps
the figures for the next time. An idle machine is wanted: ratios hold on a busy one, milliseconds do not.
BrowserGym's rows need --browsergym, an interpreter that has browsergym-miniwob. The whole takes half an hour.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from core.environments.miniwob import html_root
from core.environments.static_server import StaticServer
from core.trace.store import TraceStore
from tests.benchmarks import (
    bench_database,
    bench_growth,
    bench_reflection,
    bench_steps,
    bench_trace,
    bench_window,
    figures,
)
from tests.benchmarks.figures import Figure

PAGE = "click-checkboxes-large"
ROOT = Path(__file__).parents[2]


def quiet(folder: Path) -> dict[str, str]:
    """Return an environment in which the program keeps its files in `folder`."""
    names = ("BACKSTEP_CONFIG_DIR", "BACKSTEP_DATA_DIR", "XDG_CONFIG_HOME")
    kept = {name: str(folder / name) for name in names}
    return {"QT_QPA_PLATFORM": "offscreen", **bench_steps.with_bytecode(**kept)}


def median(values: Iterable[float]) -> float:
    return statistics.median(values)


def start(options: argparse.Namespace) -> Iterable[Figure]:
    """The window: beside a view that Playwright drives, and with 10 000 runs in its database."""
    least, beside, ours, full = [], [], [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bench_database.make(folder / "many" / "traces.db", options.runs)
        server = StaticServer(html_root())
        url = f"{server.origin}/miniwob/{PAGE}.html"
        try:
            for seed in range(options.rounds):
                least.append(floor_once(url))
                ours.append(bench_window.start_once(f"miniwob/{PAGE}", seed, folder / "none.db"))
                beside.append(floor_once(url, "--beside"))
                full.append(bench_window.start_once(f"miniwob/{PAGE}", seed, folder / "many" / "traces.db"))
        finally:
            server.close()
    view, at_once = "a view driven by Playwright", "the same, all begun at once"
    for what, key, unit, aim in (
        ("window shown", "shown_ms", "ms", "≤ 1.3"),
        ("window ready to step", "ready_ms", "ms", "≤ 1.3"),
        ("memory of the window", "memory_mb", "MB", ""),
    ):
        mine, theirs, other = (median(one[key] for one in some) for some in (ours, least, beside))
        yield Figure(what, mine, unit, theirs, view, aim)
        yield Figure(f"{what}, beside the other", mine, unit, other, at_once)
        if unit == "ms":
            filled = median(one[key] for one in full)
            yield Figure(f"{what}, {options.runs} runs", filled, unit, mine, "no runs", "≤ 1.1")


def floor_once(url: str, *words: str) -> dict[str, float]:
    """Start the least window once, and return its figures."""
    command = [sys.executable, "-m", "tests.benchmarks.floor_once", str(time.time()), url, *words]
    environment = {"QT_QPA_PLATFORM": "offscreen", **bench_steps.with_bytecode()}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def commands(options: argparse.Namespace) -> Iterable[Figure]:
    """Commands without a browser beside Python with the libraries that all of them need, and one run."""
    with tempfile.TemporaryDirectory() as name:
        environment = quiet(Path(name))
        database = Path(name) / "traces.db"
        store = TraceStore.open(database)
        bench_trace.fill(store, bench_trace.Author(seed=7), 20, 30)
        store.close()
        took: dict[str, list[float]] = {}
        lines = {
            "floor": ["-c", "import typer, pydantic; pydantic.BaseModel"],
            "runs --json": ["main.py", "runs", "--json", "--db", str(database)],
            "show 1 --json": ["main.py", "show", "1", "--json", "--db", str(database)],
            "tasks --json": ["main.py", "tasks", "--json"],
            "run, one step": ["main.py", "run", "--task", "miniwob/click-test-2", "--llm", "rules"],
        }
        for _ in range(options.rounds):
            for what, words in lines.items():
                began = time.perf_counter()
                subprocess.run(
                    [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, check=True
                )
                took.setdefault(what, []).append((time.perf_counter() - began) * 1000)
    floor = median(took.pop("floor"))
    for what, values in took.items():
        aim = "≤ 400 ms" if "--json" in what else ""
        yield Figure(f"`{what}`", median(values), "ms", floor, "Python with typer and pydantic", aim)


def steps(options: argparse.Namespace) -> Iterable[Figure]:
    """Steps beside bare calls of Playwright and, where there is one, BrowserGym, alternating in blocks."""
    browsers = bench_steps.browsers_here()
    ours: dict[str, bench_steps.Samples] = {}
    gym: dict[str, bench_steps.Samples] = {}
    for block in bench_steps.in_blocks(browsers, options.rounds, 3, options.browsergym or "", ours, gym):
        print(f"  block {block + 1} of {options.rounds}", file=sys.stderr)
    for browser in browsers:
        yield from _steps_in(browser, ours[browser], bench_steps.beside(browser, gym))


def _steps_in(browser: str, ours: bench_steps.Samples, gym: bench_steps.Samples) -> Iterable[Figure]:
    shell = browser.endswith("headless-shell")
    name = "embedded" if browser == "embedded" else "headless shell" if shell else "Chromium"
    pages = [page for page in ours if page in bench_steps.MINIWOB]

    def taken(samples: bench_steps.Samples, part: str) -> float:
        return median(median(samples[page][part]) for page in pages)

    bare = "click, two frames, tree and picture by Playwright"
    step = taken(ours, "step")
    yield Figure(f"click step, MiniWoB++, {name}", step, "ms", taken(ours, "bare"), bare, "≤ 0.45")
    for page in ours:
        if page not in pages:
            found = ours[page]
            yield Figure(
                f"click step, {page}, {name}", median(found["step"]), "ms", median(found["bare"]), bare
            )
    for part, way, theirs, aim in (
        ("step", "click", "click by id", "≤ 0.29"),
        ("step", "mouse_click", "click by the mouse", "≤ 0.29"),
        ("noop", "noop", "step with nothing done", "≤ 0.25"),
        ("reset", "reset", "reset", ""),
    ):
        what = {"step": "click step", "noop": "step with nothing done", "reset": "reset"}[part]
        how = ", mouse" if way == "mouse_click" else ""
        beside = f"BrowserGym without waits, {theirs}"
        yield Figure(
            f"{what}, {name}{how}", taken(ours, part), "ms", taken(gym, way) if gym else None, beside, aim
        )


def growth(options: argparse.Namespace) -> Iterable[Figure]:
    """One long run: its last steps beside its first."""
    result = bench_growth.measure("embedded", options.steps, "plain")
    first, last = result["parts"][0], result["parts"][-1]
    for what, key, unit, scale in (
        ("a step", "ms", "ms", 1.0),
        ("memory", "mb", "MB", 1.0),
        ("bytes a step", "bytes", "kB", 1000.0),
    ):
        beside = f"at steps {first['first']} to {first['last']}"
        yield Figure(
            f"{what} at step {options.steps}", last[key] / scale, unit, first[key] / scale, beside, "≤ 1.1"
        )


def database(options: argparse.Namespace) -> Iterable[Figure]:
    """Reading a database of many runs."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "traces.db"
        bench_database.make(path, options.runs)
        for what, took in bench_database.figures(path):
            yield Figure(f"{options.runs} runs: {what}", took, "ms", aim="≤ 200 ms")


def commits(options: argparse.Namespace) -> Iterable[Figure]:
    """Storing a step in a database of 30 000 steps."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "traces.db"
        store = TraceStore.open(path)
        took = bench_trace.fill(store, bench_trace.Author(seed=7), 1000, 30)
        store.close()
        early, late = median(took[:300]) * 1000, median(took[-300:]) * 1000
        yield Figure("commit of a step among 30 000", late, "ms", early, "among the first 300")
        yield Figure("a step in the database", path.stat().st_size / 30_000 / 1000, "kB")


def reflection(options: argparse.Namespace) -> Iterable[Figure]:
    """LLM calls that wait for one another, with every mechanism of reflection and a server that takes its time."""
    for mode, later in bench_reflection.measure(max(3, options.rounds)).items():
        theirs = bench_reflection.SECONDS * 1000
        yield Figure(f"step with reflection, {mode}", later * 1000, "ms", theirs, "one LLM call")


PARTS: dict[str, Callable[[argparse.Namespace], Iterable[Figure]]] = {
    one.__name__: one for one in (start, commands, steps, reflection, growth, database, commits)
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", action="append", choices=PARTS, default=[])
    parser.add_argument("--browsergym", metavar="PYTHON")
    parser.add_argument("--runs", type=int, default=10_000, help="Runs in the large database.")
    parser.add_argument("--steps", type=int, default=500, help="Steps of the long run.")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    found: list[Figure] = []
    print(f"{figures.machine()}\n", flush=True)
    for part in options.only or PARTS:
        print(f"{part}…", file=sys.stderr)
        new = list(PARTS[part](options))
        found += new
        print(f"{figures.table(new)}\n", flush=True)
    before = figures.recorded()
    if options.record:
        written = json.dumps(figures.as_json(found), indent=2, ensure_ascii=False)
        figures.RECORDED.write_text(written + "\n", encoding="utf-8")
    worse = figures.worse_than(before, found) if before and not options.record else []
    for sentence in worse:
        print(f"Worse by a fifth: {sentence}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
