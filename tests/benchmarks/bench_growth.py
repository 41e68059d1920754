"""Whether a long run gets slower: a step's time, the memory and the bytes of its steps, early and late in one run.

    python -m tests.benchmarks.bench_growth [--steps 500] [--with window,embedded,PATH] [--preset plain]

Each click changes a page that stays as large as it is, and a server on loopback answers at once. ``window``
is the whole window with the embedded browser, ``embedded`` that browser without a window, PATH an
installed one. A step is from its beginning to that of the next, the LLM left out; processor time and memory (the
resident set) are of the process with the loop in it, without the browser's own ones; bytes are what the database
file has grown by. On a machine with other work the processor time says more than the clock.
"""

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from core.settings.settings import LLMSettings, Settings, config_folder
from tests.benchmarks.pages import PageServer
from tests.benchmarks.watched_window import run_watched
from tests.llm_server import LLMServer, Reply, call

PARTS = ((10, 30), (100, 120), (480, 500))
"""The steps that are compared, as parts of 500."""


class Samples:
    """Memory and processor time of this process and size of the database file at each step."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self.by_step: dict[int, tuple[float, int, float]] = {}

    def take(self, step: int) -> None:
        """Look, once a step."""
        if step not in self.by_step:
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            with closing(sqlite3.connect(f"file:{self._database}?mode=ro", uri=True)) as file:
                (size,) = file.execute(
                    "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
                ).fetchone()
            memory = pages * os.sysconf("SC_PAGE_SIZE") / 1e6
            self.by_step[step] = (memory, size, time.process_time() * 1000)


def run_once(browser: str, database: Path, server: str, url: str, steps: int, preset: str) -> None:
    """Do one run in this process, and print its samples as JSON."""
    entry = LLMSettings(base_url=server, model="test-model")
    settings = Settings(
        database=database,
        llm="scripted",
        llms={"scripted": entry},
        preset=preset,
        max_steps=steps,
        max_llm_calls=steps * 4,
        on_gate="allow",
        browser="embedded" if browser == "window" else browser,
    )
    samples = Samples(database)
    stalls = _in_window(settings, url, samples) if browser == "window" else _alone(settings, url, samples)
    print(json.dumps({"samples": samples.by_step, "stalls": stalls}))


def _alone(settings: Settings, url: str, samples: Samples) -> list[tuple[float, float, str]]:
    from core.agent.state import Budget
    from core.browser.host import BrowserHost
    from core.cli.surroundings import open_unattended, services_in
    from core.debugger.headless import run_headless
    from core.environments.registry import Environments
    from tests.benchmarks.bench_steps import in_browser

    async def work(host: BrowserHost) -> None:
        environments, llms = Environments(), open_unattended(settings, settings.llm)
        async with services_in(host, settings, llms, environments) as services:
            await run_headless(
                services,
                environments.find("web/open", url=url, instruction="Click Next."),
                0,
                preset=settings.preset,
                llm=llms.routed(settings.llm),
                budget=Budget(settings.max_steps, settings.max_llm_calls),
                on_gate=settings.on_gate,
                on_step=lambda step: samples.take(step.number),
            )

    in_browser(settings.browser, work)
    return []


def _in_window(settings: Settings, url: str, samples: Samples) -> list[tuple[float, float, str]]:
    server = settings.llms["scripted"]
    file = config_folder() / "settings.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        f'max_steps = {settings.max_steps}\nmax_llm_calls = {settings.max_llm_calls}\non_gate = "allow"\n'
        f'[llms.scripted]\nbase_url = "{server.base_url}"\nmodel = "{server.model}"\n'
    )
    watch: list[Any] = []

    def look(window: Any) -> None:
        view = window.view
        if view.mode == "waiting" and not watch:
            from tests.benchmarks.stalls import Stalls

            watch.append(Stalls(window))
            window.session.run_commands.run()
        if watch and view.run is not None:
            samples.take(view.step)
        if view.mode in ("ended", "failed"):
            print(view.message, file=sys.stderr)
            window.close()

    words = ["--url", url, "--instruction", "Click Next.", "--llm", settings.llm, "--preset", settings.preset]
    with suppress(SystemExit):
        run_watched([*words, "--db", str(settings.database)], look, every_ms=20)
    found: list[tuple[float, float, str]] = watch[0].take()
    return found


def figures_of(
    database: Path, samples: dict[int, tuple[float, int, float]], steps: int
) -> list[dict[str, float]]:
    """Return, for each part of the run, the medians of its steps."""
    with closing(sqlite3.connect(database)) as file:
        rows = file.execute("SELECT number, begun, seconds_in_llm FROM steps ORDER BY number").fetchall()
    begun = {number: (at, in_llm) for number, at, in_llm in rows}
    took = {
        number: (begun[number + 1][0] - at - in_llm) * 1000
        for number, (at, in_llm) in begun.items()
        if number + 1 in begun
    }
    found = []
    for first, last in ((max(1, first * steps // 500), last * steps // 500) for first, last in PARTS):
        within = [one for one in sorted(samples) if first <= one <= last]
        count = max(1, within[-1] - within[0])
        grown, cpu = (samples[within[-1]][at] - samples[within[0]][at] for at in (1, 2))
        found.append(
            {
                "first": first,
                "last": last,
                "ms": statistics.median(took[one] for one in range(first, last) if one in took),
                "mb": statistics.median(samples[one][0] for one in within),
                "cpu": cpu / count,
                "bytes": grown / count,
            }
        )
    return found


def measure(browser: str, steps: int, preset: str) -> dict[str, Any]:
    """Do a run in a process of its own, and return its figures."""
    with tempfile.TemporaryDirectory() as name, PageServer() as pages, LLMServer() as llm:
        folder = Path(name)
        llm.otherwise = Reply("Once more.", (call("click", target=1),))
        environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ}
        environment["BACKSTEP_CONFIG_DIR"] = str(folder / "config")
        environment["BACKSTEP_DATA_DIR"] = str(folder / "data")
        environment["XDG_CONFIG_HOME"] = str(folder / "qt")
        database = folder / "bench.db"
        once = [browser, str(database), llm.base_url, f"{pages}/changing", str(steps), preset]
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.bench_growth", "--once", *once],
            env=environment,
            capture_output=True,
            text=True,
        )
        if done.returncode != 0 or not done.stdout:
            raise SystemExit(f"The run with {browser} failed:\n{done.stderr[-2000:]}")
        answer = json.loads(done.stdout.splitlines()[-1])
        samples = {int(step): tuple(one) for step, one in answer["samples"].items()}
        parts = figures_of(database, samples, steps)
        return {
            "parts": parts,
            "stalls": answer["stalls"],
            "seconds": time.perf_counter() - began,
        }


def print_table(browser: str, result: dict[str, Any]) -> None:
    print(f"\n{browser} ({result['seconds']:.0f} s in all)")
    print(f"{'steps':>12}{'a step':>12}{'processor':>12}{'memory':>12}{'bytes a step':>16}")
    for part in result["parts"]:
        span = f"{part['first']}-{part['last']}"
        print(
            f"{span:>12}{part['ms']:>9.0f} ms{part['cpu']:>9.0f} ms{part['mb']:>9.0f} MB{part['bytes']:>16.0f}"
        )
    first, last = result["parts"][0], result["parts"][-1]
    ratios = [last[key] / max(first[key], 1e-9) for key in ("ms", "cpu", "mb", "bytes")]
    print(f"{'late / early':>12}{ratios[0]:>12.2f}{ratios[1]:>12.2f}{ratios[2]:>12.2f}{ratios[3]:>16.2f}")
    if result["stalls"]:
        print(f"{len(result['stalls'])} stalls of the main thread, the longest:")
        for late, _, where in sorted(result["stalls"], reverse=True)[:8]:
            print(f"{late:>12.0f} ms  {where}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--with", dest="browsers", default="window,embedded")
    parser.add_argument("--preset", default="plain")
    parser.add_argument("--once", nargs=6, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.once:
        browser, database, server, url, steps, preset = given.once
        run_once(browser, Path(database), server, url, int(steps), preset)
        return
    for name in given.browsers.split(","):
        print_table(name, measure(name, given.steps, given.preset))


if __name__ == "__main__":
    main()
