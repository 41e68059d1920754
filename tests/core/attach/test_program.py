"""The agent's program: what it writes, how it ends, and that nothing of it is left."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from core.attach.program import GUARD, AgentProgram, found_program
from core.schema.errors import UsageError

pytestmark = pytest.mark.program

CHILD = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(600)"
WAITS = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"


def started(code: str, folder: Path) -> tuple[AgentProgram, list[str]]:
    return AgentProgram((sys.executable, "-u", "-c", code), os.environ, folder), []


async def ran(code: str, folder: Path) -> tuple[str, list[str]]:
    program, lines = started(code, folder)
    await program.start()
    return await program.followed(lines.append), lines


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def until(condition) -> None:
    while not condition():  # noqa: ASYNC110 - what is waited for is another process
        await asyncio.sleep(0.02)


def test_what_it_writes_is_passed_on_by_lines(tmp_path):
    how, lines = asyncio.run(ran("import sys; print('one'); print('two', file=sys.stderr)", tmp_path))
    assert how == "The agent's program has ended."
    assert sorted(lines) == ["one", "two"]


def test_a_line_of_megabytes_is_cut(tmp_path):
    _, lines = asyncio.run(ran("print('x' * 3_000_000)", tmp_path))
    assert max(map(len, lines)) <= 4001


def test_it_works_in_its_folder_with_its_environment(tmp_path):
    program = AgentProgram(
        (sys.executable, "-c", "import os; print(os.getcwd(), os.environ['A_WORD'])"),
        {**os.environ, "A_WORD": "said"},
        tmp_path,
    )
    lines: list[str] = []

    async def whole() -> None:
        await program.start()
        await program.followed(lines.append)

    asyncio.run(whole())
    assert lines == [f"{tmp_path} said"]


def test_an_end_with_an_error_says_what_was_written_last(tmp_path):
    how, _ = asyncio.run(ran("import sys; print('so far'); sys.exit('no more')", tmp_path))
    assert how.startswith("The agent's program has ended with exit code 1. Its last output: ")
    assert "no more" in how


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no signals of that kind")
def test_an_end_by_a_signal_says_which(tmp_path):
    how, _ = asyncio.run(ran("import os; os.kill(os.getpid(), 9)", tmp_path))
    assert how == "The agent's program was ended by signal 9."


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no groups of processes")
def test_it_is_ended_with_what_it_has_started(tmp_path):
    async def whole() -> None:
        program, lines = started(CHILD.format(child=WAITS), tmp_path)
        await program.start()
        following = asyncio.ensure_future(program.followed(lines.append))
        await until(lambda: lines)
        await program.end()
        assert await following == "The agent's program was stopped."
        await until(lambda: not alive(int(lines[0])))

    asyncio.run(whole())


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no groups of processes")
def test_what_it_has_left_behind_is_ended_with_it(tmp_path):
    async def whole() -> None:
        code = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-uc', {WAITS!r}]); time.sleep(1)"
        program, lines = started(code, tmp_path)
        await program.start()
        assert (await program.followed(lines.append)).startswith("The agent's program has ended.")
        await until(lambda: not alive(int(lines[0])))

    asyncio.run(whole())


DEAF = """
import os, signal, time
for one in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    signal.signal(one, signal.SIG_IGN)
open("daemon", "w").write(str(os.getpid()))
time.sleep(600)
"""
DAEMONS = {
    "a session of its own": "subprocess.Popen(deaf, start_new_session=True)",
    "a group of its own": "subprocess.Popen(deaf, preexec_fn=os.setpgrp)",
    "setsid and nohup": "subprocess.Popen(['setsid', 'nohup', *deaf])",
    "a shell in the background": "subprocess.Popen(['sh', '-c', '(setsid \"$@\" &) ; exit 0', 'sh', *deaf])",
    "two forks": "os.fork() or (os.setsid(), os.fork() and os._exit(0), os.execv(deaf[0], deaf))",
}
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="there is nobody to adopt orphans")


def starts(daemon: str, then: str = "") -> str:
    """Return a program that starts a daemon which ignores signals, and goes on once that has written its number."""
    return f"""
import os, subprocess, sys, time
deaf = [sys.executable, "-uc", {DEAF!r}]
{daemon}
while not os.path.exists("daemon") or not open("daemon").read().strip():
    time.sleep(0.01)
print("started", flush=True)
{then}
"""


def number_of(folder: Path) -> int:
    return int((folder / "daemon").read_text())


@on_linux
@pytest.mark.parametrize("daemon", DAEMONS.values(), ids=DAEMONS)
def test_a_daemon_that_it_leaves_running_is_ended_and_named(tmp_path, daemon):
    how, _ = asyncio.run(ran(starts(daemon), tmp_path))
    name = Path(sys.executable).name
    assert how == f"The agent's program has ended. 1 process that it had left running was ended: {name}."
    assert not alive(number_of(tmp_path))


@on_linux
@pytest.mark.parametrize("daemon", DAEMONS.values(), ids=DAEMONS)
def test_a_daemon_is_ended_where_the_program_is_stopped(tmp_path, daemon):
    async def whole() -> None:
        program, lines = started(starts(daemon, "time.sleep(600)"), tmp_path)
        await program.start()
        following = asyncio.ensure_future(program.followed(lines.append))
        await until(lambda: lines)
        await program.end()
        assert await following == "The agent's program was stopped."

    asyncio.run(whole())
    assert not alive(number_of(tmp_path))


@on_linux
def test_a_daemon_is_ended_where_the_guard_s_owner_is_gone(tmp_path):
    code = starts(DAEMONS["two forks"], "time.sleep(600)")
    guarded = [sys.executable, "-I", str(GUARD), sys.executable, "-uc", code]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(guarded, cwd=tmp_path, **pipes) as guard:
        assert guard.stdout.readline() == "started\n"
        guard.stdin.close()
        assert guard.wait(60) == 128 + signal.SIGTERM
        assert guard.stderr.read() == ""
    assert not alive(number_of(tmp_path))


@on_linux
def test_processes_that_start_one_another_without_end_are_ended(tmp_path):
    chain = """
import os, signal, time
def go_on():
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        open("latest", "w").write(str(os.getpid()))
        if os.fork():
            os._exit(0)
os.fork() or go_on()
while not os.path.exists("latest"):
    time.sleep(0.01)
"""
    how, _ = asyncio.run(ran(chain, tmp_path))
    assert "left running" in how
    latest = (tmp_path / "latest").read_text()
    assert not latest or not alive(int(latest))


@on_linux
def test_what_ends_by_itself_soon_after_the_program_is_not_named(tmp_path):
    how, lines = asyncio.run(
        ran("import subprocess; subprocess.Popen(['sh', '-c', 'sleep 0.1; echo late'])", tmp_path)
    )
    assert (how, lines) == ("The agent's program has ended.", ["late"])


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="files have no mark that they can be run")
def test_a_file_that_is_no_program_is_told(tmp_path):
    file = tmp_path / "agent"
    file.write_text("no program")
    file.chmod(0o700)
    program = AgentProgram(("./agent",), os.environ, tmp_path)

    async def whole() -> str:
        await program.start()
        return await program.followed(lambda line: None)

    how = asyncio.run(whole())
    assert how.startswith("The agent's program has ended with exit code 126. Its last output: ")
    assert "agent cannot be started: Exec format error." in how


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no groups of processes")
def test_it_ends_though_whoever_started_it_was_killed(tmp_path):
    owner = f"""
import asyncio, os, sys
from pathlib import Path
from core.attach.program import AgentProgram

async def main():
    program = AgentProgram((sys.executable, "-u", "-c", {WAITS!r}), os.environ, Path("."))
    await program.start()
    await program.followed(lambda line: print(line, flush=True))

asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", owner], stdout=subprocess.PIPE, text=True) as started_by:
        assert started_by.stdout is not None
        process = int(started_by.stdout.readline())
        assert alive(process)
        started_by.send_signal(signal.SIGKILL)
    asyncio.run(asyncio.wait_for(until(lambda: not alive(process)), 60))


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no signals of that kind")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_to_whoever_guards_it_ends_it_too(number):
    deaf = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {WAITS}"
    guarded = [sys.executable, "-I", str(GUARD), sys.executable, "-uc", deaf]
    with subprocess.Popen(guarded, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as guard:
        assert guard.stdout is not None
        process = int(guard.stdout.readline())
        guard.send_signal(number)
        assert guard.wait(60) == 128 + signal.SIGKILL
    assert not alive(process)


def test_what_cannot_be_started_is_told(tmp_path):
    for command, said in (((), "Give the agent's program"), (("no-such-agent",), "no program no-such-agent")):
        with pytest.raises(UsageError, match=said):
            found_program(command, tmp_path)
    with pytest.raises(UsageError, match="The folder to start the agent in does not exist"):
        found_program((sys.executable,), tmp_path / "gone")
