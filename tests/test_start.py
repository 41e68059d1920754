"""How the program starts: what is loaded when, and what happens where the start does not come to its end."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.program
_WATCHED = """
import json, signal, sys, threading, time
import gui.shell.main_window
from tests.benchmarks.watched_window import run_watched
seen, sent = {"modes": []}, []
show = gui.shell.main_window.MainWindow.show_at_first
def show_at_first(window):
    seen["loaded"] = [name for name in ("core.agent.loop", "core.debugger.session") if name in sys.modules]
    show(window)
gui.shell.main_window.MainWindow.show_at_first = show_at_first
def send(count):
    sent.append(count)
    for number in range(count):
        # To this thread: of several that wait for another thread, the system keeps one.
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
def look(window):
    if window.view.mode not in seen["modes"]:
        seen["modes"].append(window.view.mode)
    if sent or HOW != "at once" and window.view.mode != "waiting":
        return
    if HOW == "at once":
        return window.close()
    if HOW != "free":
        window.closing.connect(lambda event: event.ignore())
    if HOW == "stuck":
        threading.Thread(target=send, args=(3,)).start()
        time.sleep(1000)
    send(1 if HOW == "free" else 2)
try:
    run_watched(["--task", "miniwob/click-test-2", "--llm", "rules"], look, every_ms=5)
finally:
    print(json.dumps(seen))
"""
"""Starts the window, and closes it at once, or by interrupts from the terminal when it is ready to step."""


def run(code: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run code in a Python of its own, with the program's files in `folder`."""
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "BACKSTEP_CONFIG_DIR": str(folder / "config"),
    }
    environment |= {"BACKSTEP_DATA_DIR": str(folder / "data"), "XDG_CONFIG_HOME": str(folder / "qt")}
    environment["BACKSTEP_REPAIRED"] = "1"  # Nothing is to be installed.
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=180
    )


def watch(how: str, folder: Path, before: str = "") -> "subprocess.CompletedProcess[str]":
    return run(before + _WATCHED.replace("HOW", repr(how)), folder)


def test_the_window_shows_before_the_agent_is_loaded_gets_ready_and_closes_at_an_interrupt(tmp_path: Path):
    done = watch("free", tmp_path)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["loaded"] == []
    assert seen["modes"][-1] == "waiting"
    assert "Traceback" not in done.stderr
    assert "Closing. Press Ctrl+C again" in done.stderr


def test_a_window_that_is_closed_as_soon_as_it_shows_ends_in_order(tmp_path: Path):
    done = watch("at once", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_a_package_that_is_missing_when_the_session_is_loaded_is_told_in_a_sentence(tmp_path: Path):
    done = watch("free", tmp_path, "import sys; sys.modules['jinja2'] = None\n")
    assert done.returncode == 3
    assert "jinja2" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_commands_that_only_read_load_neither_browser_nor_agent(tmp_path: Path):
    unwanted = ("playwright", "openai", "mcp", "numpy", "jinja2", "core.agent.loop", "PySide6")
    code = f"""
import contextlib, sys
import main
for command in (["runs", "--json"], ["show", "1"], ["tasks", "--json"]):
    sys.argv = ["main.py", *command]
    with contextlib.suppress(SystemExit):
        main.entry()
print([name for name in {unwanted!r} if name in sys.modules], file=sys.stderr)
"""
    done = run(code, tmp_path)
    assert done.stderr.splitlines()[-1] == "[]"
    assert "miniwob/click-test-2" in done.stdout


@pytest.mark.parametrize("how", ["asking", "stuck"])
def test_further_interrupts_close_a_window_that_does_not(how: str, tmp_path: Path):
    """The second one closes without an answer where something would ask, the third where Qt does not answer."""
    done = watch(how, tmp_path)
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
    if how == "asking":
        assert "Closing. Press Ctrl+C again" in done.stderr
