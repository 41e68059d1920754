import io
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from core.setup.console import CommandError, Console


def test_what_a_command_prints_goes_to_the_log_and_not_to_the_screen(tmp_path):
    screen = io.StringIO()
    Console(tmp_path / "log", screen).run(["sh", "-c", "echo details; echo more >&2"], label="work")
    assert "details\nmore\n" in (tmp_path / "log").read_text()
    assert "details" not in screen.getvalue()
    assert "work: done" in screen.getvalue()


def test_a_failure_has_the_last_lines_of_this_command_alone(tmp_path):
    console = Console(tmp_path / "log", io.StringIO())
    console.run(["sh", "-c", "echo before"], label="first")
    with pytest.raises(CommandError, match="exit code 7") as caught:
        console.run(["sh", "-c", "echo reason; exit 7"], label="second")
    assert caught.value.tail == "reason"


def test_a_command_that_is_not_there_is_a_failure(tmp_path):
    with pytest.raises(CommandError, match="no-such-command"):
        Console(tmp_path / "log", io.StringIO()).run(["no-such-command"], label="work")


def test_the_log_keeps_what_earlier_commands_printed(tmp_path):
    for word in ("one", "two"):
        Console(tmp_path / "log", io.StringIO()).run(["echo", word], label="work")
    assert "one\n" in (tmp_path / "log").read_text()


def test_an_interrupt_is_passed_on_and_the_end_of_the_command_awaited(tmp_path):
    source = Path(__file__).resolve().parents[3]
    command = "trap 'echo cleaned up; exit 1' INT; echo started; while :; do sleep 0.05; done"
    program = (
        f"import sys; sys.path.insert(0, {str(source)!r})\n"
        "from pathlib import Path; from core.setup.console import Console\n"
        f"Console(Path({str(tmp_path / 'log')!r})).run(['sh', '-c', {command!r}], label='work')\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stderr is not None
    assert "work" in process.stderr.readline()
    while "started\n" not in (tmp_path / "log").read_text():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, shown = process.communicate(timeout=30)
    assert "waiting for work to end" in shown
    assert (tmp_path / "log").read_text().endswith("cleaned up\n")
