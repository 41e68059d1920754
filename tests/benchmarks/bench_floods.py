"""Stalls of the main thread and memory while hostile pages flood the window.

    python -m tests.benchmarks.bench_floods ["console errors" "titles" …] [--seconds 10]

Each page of tests/core/browser/hostile_pages.py that is named, or each that
floods, is opened at full strength in a window of a process of its own, on the
offscreen platform or on the display that QT_QPA_PLATFORM names. What the main
thread does in a stall is sampled by a second thread. In milliseconds: `median`
and `worst` as a person would see them, which on a busy machine are its own;
`ours` is the most time of the processor that the thread took in a stall in
which it ran Python code of ours, `engine` the most in one in which it did not.
"""

import argparse
import faulthandler
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.memory import descendants
from tests.benchmarks.watched_window import run_watched

FLOODS = (
    "console errors",
    "console errors without end",
    "exceptions",
    "requests",
    "requests that stay here",
    "requests that fail",
    "posts",
    "messages",
    "titles",
    "anchors",
    "history without end",
    "icons",
    "questions",
    "questions without end",
    "requests for permission",
    "downloads",
    "windows",
    "windows without end",
    "windows that close",
    "frames",
    "frames of its own protocol",
    "navigation without end",
    "changes without end",
    "a long title",
    "a long address",
    "a long console line",
    "a long question",
    "a long message",
    "one long word",
)
_STALL = 0.05
"""Seconds from which a late beat of the main thread is a stall."""
_ROOT = str(Path(__file__).parents[2])
_OF_THE_LOOP = (
    "show_window show_watched on_beat on_time open_window run_app entry run_watched run_once main <module>"
)
_BETWEEN = tuple(f" {name}" for name in _OF_THE_LOOP.split())


class Sampler:
    """Watches the beat of the main thread, and notes what runs there while it is late."""

    def __init__(self) -> None:
        self.beat = time.monotonic()
        self.stalls: list[tuple[float, float, str]] = []
        """How late each beat came, the processor's time of the thread meanwhile, and the code of ours that ran."""
        self._spent = 0.0
        self._seen = ""
        self._main = threading.main_thread().ident or 0
        self._stacks = io.FileIO(os.memfd_create("stacks"), "r+")
        threading.Thread(target=self._watch, daemon=True).start()

    def on_beat(self) -> None:
        now, spent = time.monotonic(), time.thread_time()
        if now - self.beat > _STALL:
            self.stalls.append((now - self.beat, spent - self._spent, self._seen))
        self.beat, self._spent, self._seen = now, spent, ""

    def _watch(self) -> None:
        while True:
            time.sleep(0.01)  # Looks at the main thread from outside, at intervals.
            if time.monotonic() - self.beat <= _STALL / 2:
                continue
            self._seen = self._runs() or self._seen

    def _runs(self) -> str:
        """Return the innermost code of ours that the main thread runs, if any.

        A frame object would keep the painter of a paint event alive: it is not asked for.
        """
        self._stacks.seek(0)
        self._stacks.truncate()
        faulthandler.dump_traceback(self._stacks)
        self._stacks.seek(0)
        _, _, stack = (
            self._stacks.read().decode().partition(f"{self._main:#018x} (most recent call first):\n")
        )
        for line in stack.partition("\n\n")[0].splitlines():
            place = line.strip().removeprefix(f'File "{_ROOT}/')
            # The main loop itself is no work of ours.
            if place != line.strip() and not place.endswith(_BETWEEN):
                return place.replace('", line ', ":")
        return ""


def rss_mb(process: int | str) -> int:
    """Return the resident memory of a process in MB, 0 where it is gone (Linux)."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmRSS:")), 0)


def run_once(url: str, seconds: float, database: str) -> None:
    """Open the page in a window, look at it for `seconds` and print the figures as JSON."""
    figures: dict[str, object] = {}
    sampler = Sampler()
    state = {"phase": "start", "since": time.monotonic()}

    def memory() -> dict[str, int]:
        found = {"own": rss_mb("self"), "renderers": 0, "driver": 0}
        for process, command in descendants().items():
            # The embedded browser's renderers keep the command line of the zygote they are forked from.
            if "--type=renderer" in command or "--type=zygote" in command:
                found["renderers"] += rss_mb(process)
            elif "run-driver" in command:
                found["driver"] += rss_mb(process)
        return found

    beats: list[Any] = []

    def look(window: Any) -> None:
        view, now = window.view, time.monotonic()
        spent = now - float(str(state["since"]))
        if state["phase"] == "start" and view.mode == "waiting":
            beats.append(beating(sampler))
            figures["before"] = memory()
            state.update(phase="opening", since=now)
            sampler.beat, sampler.stalls = time.monotonic(), []
            window.session.tasks.open("web/open", 0, url=url, instruction="Look at it.")
        elif state["phase"] == "opening" and spent > 1 and view.mode in ("waiting", "failed"):
            figures.update(opened_s=round(spent, 1), mode=view.mode, message=view.message)
            state.update(phase="looking", since=now)
        elif state["phase"] == "opening" and spent > 90:
            figures.update(opened_s=round(spent, 1), mode=f"{view.mode} still", message=view.message)
            state.update(phase="looking", since=now)
        elif state["phase"] == "looking" and spent > seconds:
            figures["stalls"] = list(sampler.stalls)
            figures["after"] = memory()
            print(json.dumps(figures), flush=True)
            # Closing is not what is measured.
            for process in descendants():
                try:
                    os.kill(int(process), 9)
                except OSError:
                    continue
            os._exit(0)

    run_watched(["--task", "miniwob/click-test", "--db", database, "--llm", "rules"], look, every_ms=50)


def beating(sampler: Sampler) -> Any:
    """Return a timer of the window's thread that tells the sampler that it stands still."""
    from PySide6.QtCore import QTimer

    beat = QTimer(interval=10)
    beat.timeout.connect(sampler.on_beat)
    beat.start()
    return beat


def flood(url: str, seconds: float) -> dict[str, object]:
    """Run one window on the page and return its figures."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ}
        environment |= {"BACKSTEP_CONFIG_DIR": f"{folder}/config", "BACKSTEP_DATA_DIR": f"{folder}/data"}
        environment["XDG_CONFIG_HOME"] = f"{folder}/qt"
        arguments = [sys.executable, "-m", "tests.benchmarks.bench_floods", "--once", url]
        arguments += ["--seconds", str(seconds), "--database", f"{folder}/bench.db"]
        try:
            done = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=240)
        except subprocess.TimeoutExpired:
            return {"failed": "no end in 240 s"}
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        return json.loads(lines[-1]) if lines else {"failed": done.stderr.strip().splitlines()[-1:]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--once", default="", help=argparse.SUPPRESS)
    parser.add_argument("--database", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.once:
        run_once(options.once, options.seconds, options.database)
        return
    from tests.core.browser.hostile_pages import HOSTILE
    from tests.core.browser.site import Site

    names = ("open s", "stalls", "median", "worst", "engine", "ours")
    print(
        f"{'page':<27} {' '.join(f'{one:>6}' for one in names)}  own MB       renderers    driver", flush=True
    )
    with Site() as site:
        for name in options.names or FLOODS:
            figures = flood(HOSTILE[name].serve(site), options.seconds)
            if "failed" in figures:
                print(f"{name:<27} {figures['failed']}", flush=True)
                continue
            print(f"{name:<27} {_line(figures)}", flush=True)


def _line(figures: dict[str, object]) -> str:
    stalls: list[tuple[float, float, str]] = figures["stalls"]  # type: ignore[assignment]
    before: dict[str, int] = figures["before"]  # type: ignore[assignment]
    after: dict[str, int] = figures["after"]  # type: ignore[assignment]
    late, where = max(((spent, where) for _, spent, where in stalls if where), default=(0.0, ""))
    engine = max((spent for _, spent, where in stalls if not where), default=0.0)
    worst = max((late for late, _, _ in stalls), default=0.0)
    median = statistics.median([late for late, _, _ in stalls]) if stalls else 0.0
    memory = "  ".join(f"{before[part]:>4} → {after[part]:<4}" for part in ("own", "renderers", "driver"))
    times = "".join(f" {one * 1000:>6.0f}" for one in (median, worst, engine, late))
    return f"{figures['opened_s']:>6} {len(stalls):>6}{times}  {memory}  {figures['mode']} {where} {figures['message']}"


if __name__ == "__main__":
    main()
