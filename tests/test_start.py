"""How the program starts: what is loaded when, and what happens where the start does not come to its end."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.program
_WATCHED = """
import json, sys
import gui.shell.main_window
from tests.benchmarks.watched_window import run_watched
seen = {"modes": []}
show = gui.shell.main_window.MainWindow.show_at_first
def show_at_first(window):
    seen["loaded"] = [name for name in ("core.agent.loop", "core.debugger.session") if name in sys.modules]
    show(window)
gui.shell.main_window.MainWindow.show_at_first = show_at_first
def look(window):
    if window.view.mode not in seen["modes"]:
        seen["modes"].append(window.view.mode)
    if window.view.mode == UNTIL or UNTIL == "shown":
        window.close()
try:
    run_watched(["--task", "miniwob/click-test-2", "--llm", "rules"], look, every_ms=5)
finally:
    print(json.dumps(seen))
"""


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


def watch(until: str, folder: Path) -> "tuple[dict[str, Any], subprocess.CompletedProcess[str]]":
    """Start the window, close it once its mode is `until` (or ``shown``: at once), and return what was seen."""
    done = run(_WATCHED.replace("UNTIL", repr(until)), folder)
    return json.loads(done.stdout.splitlines()[-1]), done


def test_the_window_shows_before_the_agent_is_loaded_and_gets_ready_to_step(tmp_path: Path):
    seen, done = watch("waiting", tmp_path)
    assert done.returncode == 0, done.stderr
    assert seen["loaded"] == []
    assert seen["modes"][-1] == "waiting"
    assert "Traceback" not in done.stderr


def test_a_window_that_is_closed_as_soon_as_it_shows_ends_in_order(tmp_path: Path):
    _, done = watch("shown", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_a_package_that_is_missing_when_the_session_is_loaded_is_told_in_a_sentence(tmp_path: Path):
    done = run(
        f"import sys; sys.modules['jinja2'] = None\n{_WATCHED.replace('UNTIL', repr('waiting'))}", tmp_path
    )
    assert done.returncode == 3
    assert "jinja2" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", [["runs", "--json"], ["show", "1"], ["tasks", "--json"]])
def test_commands_that_only_read_load_neither_browser_nor_agent(command: list[str], tmp_path: Path):
    unwanted = ("playwright", "openai", "mcp", "numpy", "jinja2", "core.agent.loop", "PySide6")
    code = f"""
import sys
sys.argv = ["main.py", *{command!r}]
import main
try:
    main.entry()
finally:
    print([name for name in {unwanted!r} if name in sys.modules], file=sys.stderr)
"""
    assert run(code, tmp_path).stderr.splitlines()[-1] == "[]"


_SIGNALLED = """
import signal, threading, time
from tests.benchmarks.watched_window import run_watched
sent = []
def send(count):
    sent.append(count)
    for number in range(count):
        # To this thread: of several that wait for another thread, the system keeps one.
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
def look(window):
    if sent or window.view.mode != "waiting":
        return
    if HOW != "free":
        window.closing.connect(lambda event: event.ignore())
    if HOW == "stuck":
        threading.Thread(target=send, args=(3,)).start()
        time.sleep(1000)
    send(1 if HOW == "free" else 2)
run_watched(["--task", "miniwob/click-test-2", "--llm", "rules"], look, every_ms=5)
"""


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("free", 0),
        ("asking", 130),  # Something would ask whether to close: the second one closes without an answer.
        ("stuck", 130),  # Qt's thread does not answer: the third one ends the process.
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot send itself an interrupt there")
def test_interrupts_from_the_terminal_close_the_window(how: str, code: int, tmp_path: Path):
    done = run(_SIGNALLED.replace("HOW", repr(how)), tmp_path)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    if how != "stuck":
        assert "Closing. Press Ctrl+C again" in done.stderr
