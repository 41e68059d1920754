"""The agent's program: starts it with our addresses, reads its output, and ends it with all its child processes."""

import asyncio
import contextlib
import re
import shutil
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from pathlib import Path

from core.attach.last_words import KEPT, last_words
from core.schema.errors import UsageError

GUARD = Path(__file__).with_name("guard.py")
_LONGEST = 4000
"""Letters of a line that are passed on."""
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
"""What terminals take for colours, for moving about and for links."""
_SIGNAL = 128
_NAMES = 5
"""Processes that a sentence names."""
_WAIT_SECONDS = 10.0


def found_program(command: Sequence[str], folder: Path) -> str:
    """Return the path of the program of a command; raises UsageError if there is none."""
    if not command:
        raise UsageError("Give the agent's program, as in: attach -- python my_agent.py")
    found = shutil.which(command[0]) or shutil.which(folder / command[0])
    if found is None:
        raise UsageError(f"There is no program {command[0]}; give its path, or a name that is on the PATH.")
    if not folder.is_dir():
        raise UsageError(f"The folder to start the agent in does not exist: {folder}.")
    return found


class AgentProgram:
    """One program; `run` starts it, once."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
        """`environment` is all of it; `folder` is where the program is started."""
        self._command = tuple(command)
        self._environment = dict(environment)
        self._folder = folder
        self._process: Process | None = None
        self._ended_by_us = False
        self.failed: bool | None = None
        """Whether it ended with an error; None while it runs, or if it was stopped."""

    async def start(self) -> None:
        """Start it; raises UsageError if it cannot be."""
        found = found_program(self._command, self._folder)
        try:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", str(GUARD), found, *self._command[1:]),
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                cwd=self._folder,
                env=self._environment,
                start_new_session=True,  # What a terminal sends to us is not for it.
            )
        except OSError as error:
            raise UsageError(
                f"{self._command[0]} cannot be started in {self._folder}: {error.strerror}."
            ) from error

    @property
    def process(self) -> int:
        """The number of the process that all of it descends from."""
        assert self._process is not None
        return self._process.pid

    async def followed(self, on_line: Callable[[str], None]) -> str:
        """Pass on what it writes until it ends, and return how it has ended, in a sentence."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        assert process.stderr is not None
        leaving = asyncio.ensure_future(process.stderr.read())
        last = deque[str](maxlen=KEPT)
        async for line in _lines(process.stdout):
            on_line(line)
            last.append(line)
        code = await process.wait()
        left = _left_running((await leaving).decode(errors="replace").splitlines())
        if self._ended_by_us:
            return "The agent's program was stopped."
        self.failed = code != 0
        if code == 0:
            return f"The agent's program has ended.{left}"
        how = (
            f"was ended by signal {code - _SIGNAL}" if code > _SIGNAL else f"has ended with exit code {code}"
        )
        said = last_words(tuple(last), self._folder)
        return f"The agent's program {how}.{left}{f' Its last output: {said}' if said else ''}"

    async def end(self) -> None:
        """End it and all that it has started; waits for that."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        self._ended_by_us = True
        assert process.stdin is not None
        process.stdin.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_WAIT_SECONDS):
                await process.wait()
                return
        process.kill()
        await process.wait()


def _left_running(names: Sequence[str]) -> str:
    """Return a sentence on the processes of these names that the program has left and the guard has ended."""
    if not names:
        return ""
    known = list(dict.fromkeys(names))
    shown = ", ".join([*known[:_NAMES], *(["and others"] if len(known) > _NAMES else [])])
    which = (
        "1 process that it had left running was"
        if len(names) == 1
        else f"{len(names)} processes that it had left running were"
    )
    return f" {which} ended: {shown}."


async def _lines(stream: asyncio.StreamReader) -> AsyncGenerator[str, None]:
    """Yield lines without their ends, long ones cut."""
    kept = b""
    while piece := await stream.read(65536):
        *whole, kept = (kept + piece).split(b"\n")
        for line in whole:
            yield _text(line)
        if len(kept) > 16 * _LONGEST:
            yield _text(kept)
            kept = b""
    if kept:
        yield _text(kept)


def _text(line: bytes) -> str:
    text = _COLOURS.sub("", line.decode(errors="replace")).rstrip("\r")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
