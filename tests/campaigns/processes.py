"""Programs that are started and killed, and what is left of them: no process of theirs can hide (Linux).

A process that has called `adopt_orphans` becomes the parent of each orphan below
it, whatever session or process group that is in, and with an environment or
without: what a killed program leaves is always below.
"""

import ctypes
import os
import signal
import subprocess
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_PR_SET_CHILD_SUBREAPER = 36
_LOOK_SECONDS = 0.02
"""How often it is looked whether something has ended."""


class Found(NamedTuple):
    """A process that is not dead."""

    pid: int
    command: str


class Started:
    """A program that writes what it tells to a file, and is killed at a moment of its life or ends before."""

    def __init__(
        self, command: Sequence[str], folder: Path, environment: dict[str, str], said: Path, *, last: str = ""
    ) -> None:
        """What it writes goes into the file `said`; with the words `last` it has nothing more to do."""
        self._said = said
        self._last = last
        with said.open("wb") as file:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long ago it was started."""
        return time.monotonic() - self._began

    @property
    def code(self) -> int | None:
        """What it ended with, negative for a signal; None while it runs."""
        return self._process.poll()

    def wait_until(self, moment: float) -> bool:
        """Wait until it is so many seconds old; returns whether it has come to its end before."""
        while not self._is_over():
            if (left := moment - self.seconds) <= 0:
                return False
            time.sleep(min(left, _LOOK_SECONDS))  # What it has told is in a file, and tells nobody.
        return True

    def _is_over(self) -> bool:
        return self.code is not None or (bool(self._last) and self._last in self.told())

    def kill(self) -> int:
        """Kill it as the system does, unless it has ended, and return what it ended with."""
        self._process.kill()
        return self._process.wait()

    def told(self) -> str:
        """Return the whole lines that it has written so far."""
        text = self._said.read_text(encoding="utf-8", errors="replace")
        return text[: text.rfind("\n") + 1]


def adopt_orphans() -> None:
    """Have this process be given the orphans of all processes below it; raises OSError where it cannot be."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def below() -> list[Found]:
    """Return the processes below this one that are not dead; the dead that were orphans are reaped."""
    children: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # It has just ended.
            state, parent = stat.read_text(errors="replace").rsplit(")", 1)[1].split()[:2]
            children[int(parent)].append((int(stat.parent.name), state))
    found, parents = [], [os.getpid()]
    while parents:
        parent = parents.pop()
        for pid, state in children[parent]:
            parents.append(pid)
            if state != "Z":
                found.append(Found(pid, _command(pid)))
            elif parent == os.getpid():
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
    return found


def wait_for_all_to_end(seconds: float) -> tuple[list[Found], float]:
    """Wait until nothing is below this process; return what is there after so long, killed, and how long it took."""
    began = time.monotonic()
    while (left := below()) and time.monotonic() - began < seconds:
        time.sleep(_LOOK_SECONDS)  # The system tells of the end of children alone, not of theirs.
    took = time.monotonic() - began
    for process in left:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    while below():
        time.sleep(_LOOK_SECONDS)  # As above: the end of what they have started is told to nobody.
    return left, took


def _command(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return "?"
    return b" ".join(words[:6]).decode(errors="replace")[:200].strip()
