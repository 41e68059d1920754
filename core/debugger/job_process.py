"""Runs `main.py` in a process of its own, with the keys that it needs."""

import asyncio
import contextlib
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Mapping, Sequence

from core.debugger.services import Services
from core.schema.record import Record
from core.schema.viewport import size_text
from core.system.program import ROOT

_FLAGS = {"tasks": "--tasks-file", "webarena": "--webarena"}
_PATIENCE = 8.0
"""Seconds that a process may take to end in order before it is killed."""
_LAST_LINES = 3
"""Lines of stderr that say why a process failed."""
_MAIN = ROOT / "main.py"
_LONGEST_LINE = 16 * 1024 * 1024
"""Bytes."""


def shared_flags(services: Services) -> list[str]:
    """Return the flags that say which database, browser and tasks a session uses."""
    files = [
        (_FLAGS[source.kind], str(source.path)) for source in services.environments.sources if source.given
    ]
    settings = services.settings
    flags = [("--db", str(services.store.path)), ("--browser", settings.browser), *files]
    flags.append(("--viewport", size_text(settings.viewport)))
    return [word for flag in flags for word in flag]


def server_flags(services: Services) -> list[str]:
    """Return the flag of the LLM server, if the session was started with it."""
    settings = services.settings
    given = bool(settings.base_url) and settings.base_url_origin == "flag"
    return ["--base-url", settings.base_url] if given else []


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

    async def run(
        self,
        arguments: Sequence[str],
        on_line: Callable[[str], None],
        on_error: Callable[[str], None] = lambda _line: None,
        *,
        keys: Mapping[str, str],
    ) -> ProcessEnd:
        """Start the process, pass on the lines of its stdout and stderr, and return how it ended; raises OSError.

        `keys` are added to its environment. The process is ended where this is cancelled.
        """
        self._cancelled = False
        errors: list[str] = []
        try:
            self._process = process = await asyncio.create_subprocess_exec(
                *(*self.program, *arguments),
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=PIPE,
                limit=_LONGEST_LINE,
                env={**os.environ, **keys},
            )
            assert process.stdout is not None
            assert process.stderr is not None
            reading = asyncio.ensure_future(_read_errors(process.stderr, errors, on_error))
            async for line in process.stdout:
                on_line(line.decode(errors="replace"))
            code = await process.wait()
            await reading
            error = " ".join(errors) or f"it ended with code {code}"
            return ProcessEnd(code=code, cancelled=self._cancelled, error=error if code else "")
        finally:
            await self._end()

    def cancel(self) -> None:
        """Ask the process to end in order; does nothing if none is running."""
        if self._process is not None and self._process.returncode is None and not self._cancelled:
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


async def _read_errors(
    stream: asyncio.StreamReader, lines: list[str], on_error: Callable[[str], None]
) -> None:
    async for line in stream:
        lines.append(line.decode(errors="replace").strip())
        del lines[:-_LAST_LINES]
        on_error(lines[-1])
