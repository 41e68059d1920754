"""One start of the window, for bench_window: opens a task, runs it with the built-in LLM, prints figures as JSON.

python -m tests.benchmarks.window_once STARTED TASK SEED DATABASE
"""

import json
import sys
import time
from typing import Any

from core.debugger.session_view import SessionView
from tests.benchmarks.memory import pss_mb
from tests.benchmarks.watched_window import run_watched

WORDS = "click"
"""What is searched for in the end: a word of every run."""


def main() -> None:
    started, task, seed, database = float(sys.argv[1]), *sys.argv[2:5]
    figures: dict[str, Any] = {}
    typed = 0.0
    watch: list[Any] = []

    def look(window: Any) -> None:
        nonlocal typed
        view: SessionView = window.view
        if "shown_ms" not in figures and window.isVisible():
            figures["shown_ms"] = (time.time() - started) * 1000
            from tests.benchmarks.stalls import Stalls

            watch.append(Stalls(window))
        if view.mode == "waiting" and "ready_ms" not in figures:
            figures["ready_ms"] = (time.time() - started) * 1000
            figures["start_stalls"] = watch[0].take()
            figures["memory_mb"] = pss_mb()
            watch[0].take()
            window.session.run_commands.run()
        if view.mode in ("ended", "failed") and "stalls" not in figures:
            figures["stalls"] = watch[0].take()
            figures.update(steps=view.step, outcome=view.mode, message=view.message)
            figures["memory_after_mb"] = pss_mb()
            window.tool_bar.search.setText(WORDS)
            typed = time.perf_counter()
        elif "stalls" in figures and window.place("Runs & steps").fact.endswith("found"):
            window.runs.tree.viewport().repaint()
            figures["search_ms"] = (time.perf_counter() - typed) * 1000
            window.close()

    try:
        run_watched(["--task", task, "--seed", seed, "--db", database, "--llm", "rules"], look, every_ms=5)
    finally:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
