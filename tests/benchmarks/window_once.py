"""One start of the window, for bench_window: opens a task, runs it with the built-in LLM, prints figures as JSON.

python -m tests.benchmarks.window_once STARTED TASK SEED DATABASE
"""

import json
import sys
import time
from pathlib import Path

from core.debugger.snapshots import SessionView


def descendants() -> dict[str, str]:
    """Return the processes below this one, each with its command line (Linux)."""
    parents: dict[str, list[str]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        parents.setdefault(text.rsplit(")", 1)[1].split()[1], []).append(stat.parent.name)
    found: dict[str, str] = {}
    waiting = [Path("/proc/self").resolve().name]
    while waiting:
        for child in parents.get(waiting.pop(), []):
            waiting.append(child)
            try:
                found[child] = Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
    return found


def pss_mb() -> float:
    """Return the proportional memory of this process and all below it, in MB (Linux)."""
    total = 0
    for process in ("self", *descendants()):
        try:
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def main() -> None:
    started, task, seed, database = float(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
    sys.argv = sys.argv[:1]
    from core.cli.window import WindowArguments, make_session
    from core.debugger.features import Features
    from core.settings.settings import load_settings
    from gui.application import Application

    settings = load_settings({"db": database, "llm": "rules"})
    application = Application()
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    opening = WindowArguments(task=task, seed=seed, chosen=True)
    session = make_session(settings, application.host, application.screen, opening)
    figures: dict[str, object] = {"stalls_ms": []}
    state = {"asked": False}

    def window():  # type: ignore[no-untyped-def]
        return next(w for w in QApplication.topLevelWidgets() if type(w).__name__ == "MainWindow")

    def look() -> None:
        view: SessionView = session.session
        if "shown_ms" not in figures and window().isVisible():
            figures["shown_ms"] = (time.time() - started) * 1000
        if view.mode == "waiting" and not state["asked"]:
            state["asked"] = True
            figures["ready_ms"] = (time.time() - started) * 1000
            figures["memory_mb"] = pss_mb()
            window().heartbeat.stalled.connect(figures["stalls_ms"].append)  # type: ignore[union-attr]
            session.run_commands.run()
        if view.mode in ("ended", "failed"):
            figures.update(steps=view.step, outcome=view.mode, message=view.message)
            figures["memory_after_mb"] = pss_mb()
            timer.stop()
            window().close()

    timer = QTimer()
    timer.timeout.connect(look)
    timer.start(5)
    application.show_window(session, Features(session), opening)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
