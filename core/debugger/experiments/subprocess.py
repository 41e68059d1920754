"""Work in a process of its own, which has a browser of its own and tells by lines how far it is."""

import asyncio
import contextlib
import signal
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Callable, Sequence

from core.schema.record import Record

_LONGEST = 16 * 1024 * 1024
"""Bytes of a line that tells how far it is."""
_PATIENCE = 8.0
"""Seconds that a process may take to end in order before it is killed."""
_TOLD = 3
"""Lines of what a process complained of that are told."""


class Ended(Record):
    """How a process ended."""

    code: int
    cancelled: bool = False
    told: str = ""
    """The last of what it complained of."""


class ProcessApart:
    """One process at a time."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._cancelled = False

    async def run(self, words: Sequence[str], on_line: Callable[[str], None]) -> Ended:
        """Start the process, hand on what it tells, and return how it ended; raises OSError."""
        self._cancelled = False
        try:
            self._process = process = await asyncio.create_subprocess_exec(
                *words, stdin=asyncio.subprocess.DEVNULL, stdout=PIPE, stderr=PIPE, limit=_LONGEST
            )
            assert process.stdout is not None
            assert process.stderr is not None
            listening = asyncio.ensure_future(_last_lines(process.stderr))
            async for line in process.stdout:
                on_line(line.decode(errors="replace"))
            code = await process.wait()
            told = " ".join(await listening) or f"it ended with code {code}"
            return Ended(code=code, cancelled=self._cancelled, told=told if code else "")
        finally:
            await self.let_go()

    def cancel(self) -> None:
        """Ask the process to end in order; nothing where none goes on."""
        if self._process is not None and self._process.returncode is None:
            self._cancelled = True
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)

    async def let_go(self) -> None:
        """End the process where it goes on still, in order if that takes no longer than it may."""
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        self._cancelled = True
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), _PATIENCE)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
                await process.wait()


async def _last_lines(stream: asyncio.StreamReader) -> tuple[str, ...]:
    """Return the last lines of what a process complains of, once it has ended."""
    lines: deque[str] = deque(maxlen=_TOLD)
    async for line in stream:
        lines.append(line.decode(errors="replace").strip())
    return tuple(lines)
