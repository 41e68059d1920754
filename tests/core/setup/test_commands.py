import signal
import subprocess
import sys
from pathlib import Path

import pytest

from core.setup.commands import CommandError, run


def test_what_a_command_prints_goes_to_stderr_after_the_command(capfd):
    run(["sh", "-c", "echo details; echo more >&2"])
    out, err = capfd.readouterr()
    assert out == ""
    assert err.splitlines()[-2:] == ["details", "more"]
    assert err.startswith("$ sh -c ")


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["sh", "-c", "exit 7"], "failed with exit code 7"),
        (["no-such-command"], "no-such-command cannot start"),
    ],
)
def test_a_command_that_fails_is_an_error(command, sentence):
    with pytest.raises(CommandError, match=sentence):
        run(command)


def test_an_interrupt_is_passed_on_and_the_end_of_the_command_awaited():
    source = Path(__file__).resolve().parents[3]
    # An interrupt while the command starts is another case, so it takes a moment to say that it has.
    command = "trap 'echo cleaned up; exit 1' INT; sleep 0.5; echo started; while :; do sleep 0.05; done"
    program = (
        f"import sys; sys.path.insert(0, {str(source)!r})\n"
        f"from core.setup.commands import run; run(['sh', '-c', {command!r}])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("$ sh")
    assert process.stderr.readline() == "started\n"
    process.send_signal(signal.SIGINT)
    _, shown = process.communicate(timeout=30)
    assert "waiting for sh to end" in shown
    assert "cleaned up" in shown
