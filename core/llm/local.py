"""A local LLM: a GGUF file that llama.cpp's server answers for, in a process that starts and ends with the program.

LLMs of the same file share one process. It starts with their first call and ends when all of them are closed.
"""

import asyncio
import contextlib
import json
import re
import secrets
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.llm.errors import LLMFailure, clean
from core.llm.openai_compatible import OpenAICompatibleLLM
from core.schema.errors import LLMError, LLMRefused, UsageError
from core.schema.messages import LLMReply, LLMRequest, Retry
from core.settings.settings import LOCAL_PREFIX, LocalSettings
from core.system.program import IS_INSTALLED, ROOT

if TYPE_CHECKING:
    from openai import AsyncOpenAI

PACKAGE = "xllamacpp"
_PROCESS = Path(__file__).with_name("llama_process.py")
_CODE_WITHOUT_PACKAGE = 3
_KILLED = -9
_STAMP = re.compile(r"[\d.]+ [A-Z] +")
_WARNING = re.compile(r"[\d.]+ W ")
_ERROR = re.compile(r"[\d.]+ E ")
_NO_MEMORY = re.compile(r"alloc|out of memory", re.IGNORECASE)
_SECONDS_TO_END = 5.0


def model_file(name: str) -> Path:
    """Return the file of ``gguf:FILE``; raises UsageError if it is no model, or llama.cpp is not installed."""
    path = Path(name.removeprefix(LOCAL_PREFIX)).expanduser().absolute()
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise UsageError(
            f"The model file {path} cannot be read ({error.strerror}); correct the path in {name}."
        ) from error
    if magic != b"GGUF":
        raise UsageError(f"{path} is not a GGUF file; give a model in that format.")
    if find_spec(PACKAGE) is None:
        raise UsageError(f"A local LLM needs the package {PACKAGE}, which is not installed; {_install()}.")
    return path


def _install() -> str:
    if IS_INSTALLED:
        return 'run: pip install "backstep-debugger[local]"'
    return f'run in {ROOT}: "{sys.executable}" -m pip install -e ".[local]"'


class LocalServer:
    """The process that serves one file. What it does blocks, and is meant for a thread."""

    def __init__(self, path: Path, settings: LocalSettings) -> None:
        self.users = 0
        """The LLMs that may ask it."""
        self.address = ""
        """Where it answers, once it has been started."""
        self.key = secrets.token_hex(16)
        """What a page or another program of this machine does not know."""
        self._path = path
        self._settings = settings
        self._starting = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._said: deque[str] = deque(maxlen=50)
        self._is_ended = False

    @property
    def is_up(self) -> bool:
        return bool(self.address) and self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Load the model, unless it is loaded; raises LLMRefused if it cannot be."""
        with self._starting:
            if self.is_up:
                return
            self._end_process()
            try:
                self._process = process = subprocess.Popen(
                    [sys.executable, "-P", str(_PROCESS)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    encoding="utf-8",
                    errors="replace",
                    start_new_session=True,
                )
            except OSError as error:
                raise LLMRefused(f"No process for {self._path} can be started ({error}).") from error
            listening = threading.Thread(target=self._listen, args=(process,), daemon=True)
            listening.start()
            if self._is_ended:
                process.kill()  # Meanwhile: it was not there yet.
            asked = {"path": str(self._path), "name": self._path.name, "key": self.key}
            assert process.stdin is not None
            assert process.stdout is not None
            with contextlib.suppress(OSError):  # If it has ended, what it said tells why.
                process.stdin.write(json.dumps({**asked, **self._settings.model_dump()}) + "\n")
                process.stdin.flush()
            with contextlib.suppress(ValueError):  # `end` has closed it.
                self.address = process.stdout.readline().strip()
            if self._is_ended:
                self._end_process()
                raise LLMError(f"{self._path} was closed while it was loaded; try again.")
            if not self.address:
                code = process.wait()
                listening.join(_SECONDS_TO_END)
                raise LLMRefused(self._why_not_loaded(code))

    def end(self) -> None:
        """End the process, also while it loads."""
        self._is_ended = True
        self._end_process()

    def why_ended(self) -> str:
        """Return how it ended and what it said last, as the end of a sentence; empty while it lives."""
        code = None if self._process is None else self._process.poll()
        if code is None:
            return ""
        how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
        said = f'; its last line: "{clean(_plain(self._said[-1]))}"' if self._said else ""
        return how + said

    def _end_process(self) -> None:
        process, self._process = self._process, None
        self.address = ""
        self._said.clear()
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()

    def _listen(self, process: "subprocess.Popen[str]") -> None:
        assert process.stderr is not None
        with process.stderr as lines:
            for line in lines:
                if line.strip() and not _WARNING.match(line):
                    self._said.append(line)

    def _why_not_loaded(self, code: int) -> str:
        said = list(self._said)
        errors = [line for line in said if _ERROR.match(line)]
        told = clean(_plain((errors or said[-1:] or [f"exit code {code}"])[0]))
        if code == _CODE_WITHOUT_PACKAGE:
            return f"The package {PACKAGE} cannot be loaded ({told}); {_install()}."
        if code == _KILLED or any(map(_NO_MEMORY.search, errors)):
            return (
                f"There is too little memory for {self._path} ({told}); choose a smaller model, or lower context in "
                "[local] of the settings."
            )
        return f"llama.cpp cannot load {self._path} ({told}); choose another model file."


def _plain(line: str) -> str:
    return _STAMP.sub("", line.strip(), count=1)


_lock = threading.Lock()
_servers: dict[tuple[Path, LocalSettings], LocalServer] = {}
"""Those that LLMs of this program use."""


class LocalLLM(OpenAICompatibleLLM):
    """Asks the model of a GGUF file. What the server was seen to support is kept by the file."""

    def __init__(self, name: str, path: Path, settings: LocalSettings, **more: Any) -> None:
        """`more` is what `OpenAICompatibleLLM` takes."""
        super().__init__(
            name, base_url=f"{LOCAL_PREFIX}{path}", model=path.name, key=lambda: self._key_now, **more
        )
        self._path = path
        self._place = (path, settings)
        self._server: LocalServer | None = None
        self._asked_at = ""
        self._loading = asyncio.Lock()

    @property
    def server(self) -> str:
        return f"The server of the local LLM {self.model}"

    @property
    def address(self) -> str:
        return f"{self._asked_at}/v1"

    @property
    def loading(self) -> str:
        if self._server is not None and self._server.is_up:
            return ""
        megabytes = self._path.stat().st_size / 1e6 if self._path.exists() else 0
        return f"llama.cpp loads {self.model} ({megabytes:.0f} MB); the call waits."

    async def reply(
        self,
        request: LLMRequest,
        *,
        on_text: Callable[[str], None] | None = None,
        on_retry: Callable[[Retry], None] | None = None,
    ) -> LLMReply:
        """Answer as any server does; loading the model is announced as a wait."""
        loading = self.loading
        if not loading:
            return await super().reply(request, on_text=on_text, on_retry=on_retry)
        if on_retry is not None:
            on_retry(Retry(reason=loading, waited=0.0))
        began = time.perf_counter()
        await self._open()
        waited = Retry(reason=loading, waited=time.perf_counter() - began)
        reply = await super().reply(request, on_text=on_text, on_retry=on_retry)
        return reply.replace(seconds=reply.seconds + waited.waited, retries=(waited, *reply.retries))

    def secrets(self) -> dict[str, str]:
        """Return nothing: the same LLM in another process has a server of its own."""
        return {}

    async def close(self) -> None:
        await super().close()
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
            if self._server is None:
                with _lock:
                    self._server = _servers.setdefault(self._place, LocalServer(*self._place))
                    self._server.users += 1
            server = self._server
            if not server.is_up:
                await asyncio.to_thread(server.start)
            if self._asked_at != server.address:
                await super().close()
                self._asked_at = server.address
        return await super()._open()

    @property
    def _key_now(self) -> str | None:
        return None if self._server is None else self._server.key

    def _failure(self, error: Exception, silence: float) -> LLMFailure:
        why = "" if self._server is None else self._server.why_ended()
        return LLMFailure(reason=why, kind="ended") if why else super()._failure(error, silence)
