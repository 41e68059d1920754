"""Backstep's own command line in a subprocess, which has a browser of its own and reports by lines."""

import asyncio
import contextlib
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence
from pathlib import Path

from core.schema.record import Record

_MAIN = Path(__file__).resolve().parents[3] / "main.py"
_LONGEST_LINE = 16 * 1024 * 1024
"""Bytes."""
_PATIENCE = 8.0
"""Seconds that a process may take to end in order before it is killed."""
_LAST_LINES = 3
"""Lines of stderr that say why a process failed."""


class ProcessEnd(Record):
    """How a process ended."""

    code: int
    cancelled: bool = False
    error: str = ""
    """The last lines of its stderr, where the code is not 0."""


class JobProcess:
    """Runs one process at a time."""

    def __init__(self) -> None:
        self.program: tuple[str, ...] = (sys.executable, str(_MAIN))
        self._process: Process | None = None
        self._cancelled = False

    async def run(self, arguments: Sequence[str], on_line: Callable[[str], None]) -> ProcessEnd:
        """Start the process, pass on the lines of its stdout, and return how it ended; raises OSError.

        The process is ended where this is cancelled.
        """
        self._cancelled = False
        errors: list[str] = []
        try:
            self._process = process = await asyncio.create_subprocess_exec(
                *self.program, *arguments, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, limit=_LONGEST_LINE
            )
            assert process.stdout is not None
            assert process.stderr is not None
            reading = asyncio.ensure_future(_read_errors(process.stderr, errors))
            async for line in process.stdout:
                on_line(line.decode(errors="replace"))
            code = await process.wait()
            await reading
            error = " ".join(errors) or f"it ended with code {code}"
            return ProcessEnd(code=code, cancelled=self._cancelled, error=error if code else "")
        finally:
            await self._end()

    def cancel(self) -> None:
        """Ask the process to end in order; does nothing where none is running."""
        if self._process is not None and self._process.returncode is None:
            self._cancelled = True
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)

    async def _end(self) -> None:
        """End the process if it is still running, and kill it if that takes too long."""
        self.cancel()
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        try:
            await asyncio.wait_for(process.wait(), _PATIENCE)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
                await process.wait()


async def _read_errors(stream: asyncio.StreamReader, lines: list[str]) -> None:
    async for line in stream:
        lines.append(line.decode(errors="replace").strip())
        del lines[:-_LAST_LINES]
