"""A local LLM: a GGUF file that llama.cpp's server answers for, in a process that starts and ends with the program.

LLMs of the same file share one process. It starts with their first call and ends when all of them are closed.
"""

import asyncio
import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from core.llm.errors import LLMFailure, clean
from core.llm.llama_process import ASKED
from core.llm.openai_compatible import OpenAICompatibleLLM
from core.llm.repair import ReplyFormat
from core.schema.errors import LLMError, LLMRefused, UsageError
from core.schema.messages import LLMReply, LLMRequest, Retry
from core.settings.settings import LOCAL_PREFIX, LocalSettings
from core.setup.project import install_command
from core.system.paths import expanded

if TYPE_CHECKING:
    from openai import AsyncOpenAI

PACKAGE = "xllamacpp"
_PROCESS = Path(__file__).with_name("llama_process.py")
_STAMP = re.compile(r"^[\d.]+ [A-Z] +")
_WARNING = re.compile(r"[\d.]+ W ")
_NO_MEMORY = re.compile(r"to allocate|_alloc|allocate memory|(?:insufficient|out of) memory")


def model_file(name: str) -> Path:
    """Return the file of ``gguf:FILE``; raises UsageError if it is no model, or llama.cpp is not installed."""
    path = expanded(name.removeprefix(LOCAL_PREFIX)).absolute()
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(
            f"The model file {path} cannot be read ({why}); correct the path in {name}."
        ) from error
    if magic != b"GGUF":
        raise UsageError(f"{path} is not a GGUF file; give a model in that format.")
    if find_spec(PACKAGE) is None:
        raise UsageError(
            f"A local LLM needs the package {PACKAGE}, which is not installed; run: {install_command('local')}"
        )
    return path


class LocalServer:
    """The process that serves one file. What it does blocks, and is meant for a thread."""

    def __init__(self, path: Path, settings: LocalSettings) -> None:
        self.users = 0
        """The LLMs that may ask it."""
        self.address = ""
        """Where it answers, once it has been started."""
        self.key = secrets.token_hex(16)
        """What no page and no other user of this machine knows."""
        self.process: subprocess.Popen[str] | None = None
        self._path = path
        self._settings = settings
        self._starting = threading.Lock()
        self._log: IO[str] | None = None
        self._is_ended = False

    @property
    def is_up(self) -> bool:
        return bool(self.address) and self.process is not None and self.process.poll() is None

    def start(self) -> None:
        """Load the model, unless it is loaded; raises LLMRefused if it cannot be."""
        with self._starting:
            if self.is_up:
                return
            self._release()
            asked = {"path": str(self._path), "name": self._path.name, "key": self.key}
            try:
                self._log = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 - `_release` closes it
                self.process = process = subprocess.Popen(
                    [sys.executable, "-P", str(_PROCESS)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._log,
                    env={**os.environ, ASKED: json.dumps(asked | self._settings.model_dump())},
                    encoding="utf-8",
                    start_new_session=True,
                )
            except OSError as error:
                raise LLMRefused(f"No process for {self._path} can start ({error}); try again.") from error
            assert process.stdout is not None
            if self._is_ended:
                process.kill()
            self.address = process.stdout.readline().strip()
            if self._is_ended:
                self._release()
                raise LLMError(f"{self._path} was closed while it was loaded; try again.")
            if not self.address:
                raise LLMRefused(self._why_not_loaded(process.wait()))

    def end(self) -> None:
        """End the process, also while it loads."""
        self._is_ended = True
        if self.process is not None:
            self.process.kill()
        with self._starting:
            self._release()

    def why_ended(self) -> str:
        """Return how it ended and what it said last, as the end of a sentence; empty while it lives."""
        code = None if self.process is None else self.process.poll()
        if code is None:
            return ""
        how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
        said = self._said()
        return f'{how}; its last line: "{said[-1]}"' if said else how

    def _why_not_loaded(self, code: int) -> str:
        said = self._said()
        # Of an error of Python the last line tells most.
        told = next(
            reversed(said) if said[:1] == ["Traceback (most recent call last):"] else iter(said),
            f"exit code {code}",
        )
        if code == -9 or any(map(_NO_MEMORY.search, said)):
            return (
                f"There is too little memory for {self._path} ({told}); choose a smaller model, or lower context in "
                "[local] of the settings."
            )
        return f"llama.cpp cannot load {self._path} ({told}); choose another model file, or install {PACKAGE} again."

    def _said(self) -> list[str]:
        """Return what the process has written, once it has ended; warnings of llama.cpp tell nothing of use."""
        if self._log is None:
            return []
        self._log.seek(0)
        return [
            clean(_STAMP.sub("", line)) for line in self._log if line.strip() and not _WARNING.match(line)
        ]

    def _release(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout, self._log):
                with suppress(OSError):
                    pipe.close() if pipe is not None else None
        self.process, self._log, self.address = None, None, ""


_lock = threading.Lock()
_servers: dict[tuple[Path, LocalSettings], LocalServer] = {}
"""Those that LLMs of this program use."""


class LocalLLM(OpenAICompatibleLLM):
    """Asks the model of a GGUF file. What the server was seen to support is kept by the file."""

    def __init__(self, name: str, path: Path, settings: LocalSettings, **more: Any) -> None:
        """`more` is what `OpenAICompatibleLLM` takes."""
        super().__init__(
            name,
            base_url=f"{LOCAL_PREFIX}{path}",
            model=path.name,
            key=lambda: self._server.key if self._server is not None else None,
            **more,
        )
        self._place = (path, settings)
        self._server: LocalServer | None = None
        self._is_closed = False
        self._earlier: list[AsyncOpenAI] = []
        """Clients of a process that has ended, which calls may still hold."""
        self._loading = asyncio.Lock()

    @property
    def server(self) -> str:
        return f"The server of the local LLM {self.model}"

    @property
    def follows_schema(self) -> bool | None:
        """As a test has found; llama.cpp makes every model follow a schema."""
        follows = super().follows_schema
        return True if follows is None else follows

    @property
    def reply_format(self) -> ReplyFormat:
        """As a test has found; without one JSON, for the chat templates of many small models leave tools out."""
        if self.honoured.tested:
            return super().reply_format
        return "json" if self.follows_schema else "lines"

    @property
    def loading(self) -> str:
        """What the next call waits for before it can be sent, in a sentence; nothing if the model is loaded."""
        server = self._server or _servers.get(self._place)
        if server is not None and server.is_up:
            return ""
        return f"llama.cpp loads {self.model}; the call waits."

    async def reply(
        self,
        request: LLMRequest,
        *,
        on_text: Callable[[str], None] | None = None,
        on_retry: Callable[[Retry], None] | None = None,
    ) -> LLMReply:
        """Answer as any server does; loading the model is announced as a wait."""
        if not (loading := self.loading):
            return await super().reply(request, on_text=on_text, on_retry=on_retry)
        tell = on_retry or (lambda retry: None)
        tell(Retry(reason=loading, waited=0.0, attempt=False, held=True))
        began = time.perf_counter()
        await self._open()
        tell(Retry(reason=f"llama.cpp has loaded {self.model}.", waited=0.0, attempt=False))
        waited = time.perf_counter() - began
        reply = await super().reply(request, on_text=on_text, on_retry=on_retry)
        retries = (Retry(reason=loading, waited=waited, attempt=False), *reply.retries)
        return reply.replace(seconds=reply.seconds + waited, retries=retries)

    async def close(self) -> None:
        """End what is asked, and the process if no other LLM asks it; a call after that is refused."""
        self._is_closed = True
        await super().close()
        for client in self._earlier:
            await client.close()
        self._earlier.clear()
        server, self._server = self._server, None
        if server is None:
            return
        with _lock:
            server.users -= 1
            if server.users:
                return
            del _servers[self._place]
        await asyncio.to_thread(server.end)

    async def _open(self) -> "AsyncOpenAI":
        async with self._loading:
            if self._server is None and not self._is_closed:
                with _lock:
                    self._server = _servers.setdefault(self._place, LocalServer(*self._place))
                    self._server.users += 1
            server = self._server
            if server is not None and not server.is_up:
                await asyncio.to_thread(server.start)
            if server is None or self._is_closed:
                raise LLMError(f"{self.server} was closed; ask it again by its name.")
            if self.address != f"{server.address}/v1":
                if self._client is not None:
                    self._earlier.append(self._client)
                self._client, self.address = None, f"{server.address}/v1"
        return await super()._open()

    def _failure(self, error: Exception, silence: float) -> LLMFailure:
        why = "" if self._server is None else self._server.why_ended()
        return LLMFailure(reason=why, kind="ended") if why else super()._failure(error, silence)
