"""Stalls of the main thread and memory while hostile pages flood the window.

    python -m tests.benchmarks.bench_floods ["console errors" "titles" …] [--seconds 10]

Each page of tests/core/browser/hostile_pages.py that is named, or each that
floods, is opened at full strength in a window of a process of its own, on the
offscreen platform or on the display that QT_QPA_PLATFORM names. In
milliseconds: `median` and `worst` as a person would see them, which on a busy
machine are its own; `ours` is the most time of the processor that the main
thread took in a stall in which it ran Python code of ours, `engine` the most in
one in which it did not.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
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
_ENGINE = re.compile(r"outside Python|gui/application\.py:\d+ show_window")
"""What the main thread is seen in while no code of ours runs: the loop itself is no work of ours."""


def ours(where: str) -> str:
    """Return the code of ours that ran most in a stall, if any."""
    return next((one for one in where.split(" | ") if one and not _ENGINE.match(one)), "")


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
    watch: list[Any] = []
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

    def look(window: Any) -> None:
        view, now = window.view, time.monotonic()
        spent = now - float(str(state["since"]))
        if state["phase"] == "start" and view.mode == "waiting":
            from tests.benchmarks.stalls import Stalls

            figures["before"] = memory()
            state.update(phase="opening", since=now)
            watch.append(Stalls(window))
            window.session.tasks.open("web/open", 0, url=url, instruction="Look at it.")
        elif state["phase"] == "opening" and spent > 1 and view.mode in ("waiting", "failed"):
            figures.update(opened_s=round(spent, 1), mode=view.mode, message=view.message)
            state.update(phase="looking", since=now)
        elif state["phase"] == "opening" and spent > 90:
            figures.update(opened_s=round(spent, 1), mode=f"{view.mode} still", message=view.message)
            state.update(phase="looking", since=now)
        elif state["phase"] == "looking" and spent > seconds:
            figures["stalls"] = [(late, spent, ours(where)) for late, spent, where in watch[0].take()]
            figures["after"] = memory()
            print(json.dumps(figures), flush=True)
            # Closing is not what is measured.
            for process in descendants():
                try:
                    os.kill(process, 9)
                except OSError:
                    continue
            os._exit(0)

    run_watched(["--task", "miniwob/click-test", "--db", database, "--llm", "rules"], look, every_ms=50)


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
    times = "".join(f" {one:>6.0f}" for one in (median, worst, engine, late))
    return f"{figures['opened_s']:>6} {len(stalls):>6}{times}  {memory}  {figures['mode']} {where} {figures['message']}"


if __name__ == "__main__":
    main()
