"""One process for one parser: starts it, sends its input, reads its output, and ends it.

Everything here blocks and is meant for a thread. A process is used once, so
that nothing of one parser reaches the next; it is killed with its session
whatever happened, also when another thread says stop, and when this program
dies.
"""

import contextlib
import importlib.util
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from functools import cache
from pathlib import Path

from pydantic import Field

from core.schema.record import Record
from core.system.patience import Limit

MIB = 1024 * 1024


class SandboxLimits(Record):
    """What a parser may use. Reaching a limit ends the run with an error that names it."""

    seconds: float = Field(default=5.0, gt=0)
    """On the clock, from the moment the code starts; loading Python before it does not count."""
    memory: int = Field(default=512 * MIB, ge=128 * MIB)
    """Bytes of address space, of which Python with bs4 and lxml takes about 60 MiB."""
    output: int = Field(default=64_000, gt=0)
    """Bytes of the result in UTF-8."""


class Parsed(Record):
    """What a parser made of a page: a text or an error, never both and never neither."""

    text: str = ""
    seconds: float = 0.0
    """How long the code ran; 0 if it was never started."""
    error: str = ""
    """One sentence for the person and the LLM, or nothing."""


class Confinement(Record):
    """Whether this system can keep a parser from everything but its input and its answer."""

    is_confined: bool
    means: str = ""
    """What confines it, for example "seccomp filter, Landlock 7, resource limits"."""
    reason: str = ""
    """Why parsers cannot run here, in one sentence; nothing if they can."""


_SECONDS_TO_START = 30.0
"""A loaded machine with cold disks needs some; an idle one a fifth of a second."""
_START = (
    "import sys; sys.path += sys.argv[1:]; "
    "sys.argv.clear(); from core.sandbox.inside.main import main; main()"
)
_PACKAGES = ("core", "bs4", "lxml", "soupsieve", "typing_extensions")
_ERROR_LENGTH = 600
_STOPPED = "The run of the code was stopped."


class ParserProcess:
    """Runs one parser once.

    `guarded` False leaves out the checks inside Python, so that the
    confinement by the system can be tried alone; `modules` are then loaded
    for the code besides the usual ones.
    """

    def __init__(
        self,
        code: str,
        html: str,
        *,
        task: str = "",
        limits: SandboxLimits,
        guarded: bool = True,
        modules: tuple[str, ...] = (),
    ) -> None:
        self.means = ""
        """What confined the process, as it said itself before any code of the parser ran."""
        self.refusal = ""
        """Why the process could not be confined, if that is so."""
        self._limits = limits
        self._longest = 1 + limits.output + _ERROR_LENGTH
        """Bytes of an answer: its letter and a text or an error."""
        self._request = {
            "code": code,
            "html": html,
            "task": task,
            "seconds": limits.seconds,
            "memory": limits.memory,
            "output": limits.output,
            "guarded": guarded,
            "modules": modules,
            "parent": os.getpid(),
        }
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_stopped = False

    def stop(self) -> None:
        """End the run from another thread; `run` then returns soon."""
        with self._lock:
            self._is_stopped = True
            if self._process is not None and self._process.returncode is None:
                _kill(self._process)

    def run(self) -> Parsed:
        """Return what the parser made of the page, at the latest when its time is over."""
        with tempfile.TemporaryDirectory(prefix="backstep-parser-", ignore_cleanup_errors=True) as empty:
            try:
                process = self._begin(empty)
            except OSError as error:
                self.refusal = f"The process for parsers could not be started ({error})."
                return Parsed(error=self.refusal)
            if process is None:
                return Parsed(error=_STOPPED)
            try:
                return self._converse(process)
            finally:
                with self._lock:
                    _kill(process)
                    process.wait()
                for pipe in (process.stdin, process.stdout):
                    if pipe is not None:
                        with contextlib.suppress(OSError):
                            pipe.close()

    def _begin(self, folder: str) -> subprocess.Popen[bytes] | None:
        command = [sys.executable, "-I", "-S", "-W", "ignore", "-X", "utf8", "-c", _START, *_paths()]
        with self._lock:
            if self._is_stopped:
                return None
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                cwd=folder,
                env={},
                start_new_session=True,
            )
            return self._process

    def _converse(self, process: subprocess.Popen[bytes]) -> Parsed:
        assert process.stdout is not None
        output = process.stdout.fileno()
        limit = Limit(_SECONDS_TO_START, process.pid)
        _feed(process, json.dumps(self._request).encode("ascii"), limit)
        first = _read(output, 1, limit)
        if first != b"R":
            return Parsed(error=self._why_not_ready(process, first, output, limit))
        self.means = _read_line(output, limit)
        started = time.monotonic()
        limit = Limit(self._limits.seconds, process.pid)
        # The one byte more tells an answer that is too long.
        answer = _read(output, self._longest + 1, limit)
        if len(answer) > self._longest:
            return Parsed(
                seconds=time.monotonic() - started,
                error=f"The code returned more than {self._limits.output} bytes of text.",
            )
        while process.poll() is None and (left := limit.left()) > 0:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(left)
        seconds = time.monotonic() - started
        with self._lock:
            if self._is_stopped:
                return Parsed(seconds=seconds, error=_STOPPED)
        return self._judge(answer, process.returncode, seconds)

    def _judge(self, answer: bytes, returned: int | None, seconds: float) -> Parsed:
        """Make a result of an answer that the code may have forged."""
        limits = self._limits
        if returned is None:
            return Parsed(seconds=seconds, error=_too_long(limits))
        if returned < 0:
            return Parsed(seconds=seconds, error=_sentence_of_signal(-returned, limits))
        kind, text = answer[:1], answer[1:].decode("utf-8", "replace")
        if returned != 0 or kind not in (b"T", b"E"):
            return Parsed(seconds=seconds, error="The code ended its process before it returned a text.")
        if kind == b"T" and len(answer) <= limits.output + 1 and text.strip():
            return Parsed(text=text, seconds=seconds)
        if kind == b"T":
            return Parsed(seconds=seconds, error="The code returned a text that is empty or too long.")
        sentence = " ".join(text.split())[:_ERROR_LENGTH]
        return Parsed(seconds=seconds, error=sentence or "The code failed without an error message.")

    def _why_not_ready(
        self, process: subprocess.Popen[bytes], first: bytes, output: int, limit: Limit
    ) -> str:
        with self._lock:
            if self._is_stopped:
                return _STOPPED
        if first == b"F":
            message = _read(output, 4 * _ERROR_LENGTH, limit).decode("utf-8", "replace")
            self.refusal = " ".join(message.split())[:_ERROR_LENGTH]
        elif limit.left() <= 0:
            self.refusal = f"The process for parsers was not ready after {_SECONDS_TO_START:g} seconds."
        else:
            returned = process.wait()
            self.refusal = f"The process for parsers ended with {returned} before it was ready."
        return self.refusal


@cache
def _paths() -> tuple[str, ...]:
    """Return the folders that hold this program and the packages parsers use, without those of others."""
    found: dict[str, None] = {}
    for name in _PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            path = Path(spec.origin)
            found[str(path.parents[1] if path.name == "__init__.py" else path.parent)] = None
    return tuple(found)


def _feed(process: subprocess.Popen[bytes], data: bytes, limit: Limit) -> None:
    """Write all of `data` and close the pipe; stops early if nobody reads any more."""
    assert process.stdin is not None
    descriptor = process.stdin.fileno()
    os.set_blocking(descriptor, False)
    view = memoryview(data)
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    while view and (left := limit.left()) > 0:
        if poll.poll(left * 1000):
            try:
                view = view[os.write(descriptor, view) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                break
    with contextlib.suppress(OSError):
        process.stdin.close()


def _read(descriptor: int, count: int, limit: Limit) -> bytes:
    """Read up to `count` bytes; fewer where the other side ends or the time is over."""
    data = bytearray()
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while len(data) < count and (left := limit.left()) > 0:
        if poll.poll(left * 1000):
            piece = os.read(descriptor, min(65536, count - len(data)))
            if not piece:
                break
            data += piece
    return bytes(data)


def _read_line(descriptor: int, limit: Limit) -> str:
    line = b""
    while len(line) < 200 and (byte := _read(descriptor, 1, limit)) not in (b"", b"\n"):
        line += byte
    return line.decode("utf-8", "replace")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and its session, unless it has been waited for and its number may be another's."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()


def _too_long(limits: SandboxLimits) -> str:
    return f"The code took longer than {limits.seconds:g} second{'' if limits.seconds == 1 else 's'}."


def _sentence_of_signal(number: int, limits: SandboxLimits) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    if number == signal.SIGXCPU:
        return _too_long(limits)
    if number == signal.SIGSYS:
        return "The code called the system in a way that is not allowed, and was killed (SIGSYS)."
    if number == signal.SIGKILL:
        return "The process of the code was killed from outside (SIGKILL)."
    return f"The code crashed its process ({name})."
