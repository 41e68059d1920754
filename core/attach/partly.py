"""Notices where an agent is attached only in part: where its LLM calls or its browser are not Backstep's.

Each is said once, when it is certain: an agent may act before it asks its LLM, or ask before it has a browser.
"""

import asyncio
import os
import re
from collections.abc import Callable
from typing import Any

from core.attach.page_acts import ActKind
from core.attach.wire_formats import error_body
from core.system.patience import family

_ACTS: tuple[ActKind, ...] = ("click", "type", "press", "scroll", "drag", "select", "upload")
"""What is done to a page by choice; its address may be given."""
_ENOUGH_ACTS = 2
_ENOUGH_CALLS = 3
_LOOK_SECONDS = 1.0
_BROWSERS = re.compile(
    r"(?:chrome|chromium|google-chrome|msedge|brave|opera|vivaldi|firefox|camoufox)(?:-(?!driver)[a-z-]+)?"
    r"|headless_shell|MiniBrowser"
)
_TO_BROWSER = (
    "connect to the address in BACKSTEP_CDP_URL, or launch Chromium without executable_path and channel."
)
_FORMATS = {
    r"(?:/v1)?/messages(?:/.*)?": "Anthropic",
    r"(?:/v1(?:beta|alpha)?)?/(?:.*/)?models/[^/]+:\w+": "Gemini",
    r"/api/(?:chat|generate|embed|embeddings)": "Ollama",
    r"/v2/(?:chat|embed|rerank)|(?:/v1)?/(?:chat|generate|rerank|embed)": "Cohere",
    r"(?:/v1)?/completions": "OpenAI's older completions",
}
"""The paths of formats that are not served, after the base URL or what clients take for one."""


def format_of(path: str) -> str:
    """Return whose format of LLM calls a path belongs to; empty if it is not known."""
    return next((name for paths, name in _FORMATS.items() if re.fullmatch(f"(?:/v1)?(?:{paths})", path)), "")


def refusal(format: str, message: str) -> dict[str, Any]:
    """Return an error as clients of a format read it."""
    match format:
        case "Anthropic":
            return {"type": "error", "error": {"type": "not_found_error", "message": message}}
        case "Gemini":
            return {"error": {"code": 404, "message": message, "status": "NOT_FOUND"}}
        case "Ollama":
            return {"error": message}
        case "Cohere":
            return {"message": message}
    return error_body(message, "invalid_request_error")


class Partly:
    """Counts the calls and acts of one agent."""

    def __init__(self, connected: Callable[[], bool]) -> None:
        """`connected` returns whether the agent has ever connected to the browser."""
        self.llm = ""
        """The base URL of the gateway, once it is known."""
        self.on_notice: Callable[[str], object] = lambda text: None
        """Is called with each sentence that is to be said."""
        self._connected = connected
        self._calls = self._acts = 0
        self._said: set[str] = set()

    def called(self) -> None:
        """The agent has called its LLM."""
        self._calls += 1
        if self._calls == _ENOUGH_CALLS and not self._connected():
            self._say_browser(f"The agent has called its LLM {self._calls} times, and has not connected to")

    def acted(self, kind: ActKind) -> None:
        """The agent has begun an act in the page."""
        self._acts += kind in _ACTS
        if self._acts == _ENOUGH_ACTS and not self._calls:
            self._say_llm(
                "The agent has acted in the page, and has not called an LLM through Backstep so far."
            )

    def unserved(self, method: str, path: str) -> str:
        """Return the sentence on a request that the gateway does not serve, which is said too if it was to ask."""
        format = format_of(path)
        what = f"a call in the format of {format}, which" if format else "a request that"
        sentence = (
            f"{method} {path[:100]} is {what} Backstep does not serve. The agent can use OpenAI's chat completions or "
            f"responses: {self._to_llm}"
        )
        if method == "POST":
            self.say(format or path, sentence)
            self._said |= {"llm"} if format else set()
        return sentence

    def ended(self, *, failed: bool) -> None:
        """The agent's program has ended by itself; one that failed early is not asked for what it had not begun."""
        connected = self._connected()
        if not self._calls and (connected or not failed):
            self._say_llm("The agent's program has made no LLM call through Backstep.")
        if not connected and (self._calls or not failed):
            self._say_browser("The agent's program has not connected to")

    async def watch(self, process: int) -> None:
        """Look for a browser of its own among what a process has started, until one is found (Linux)."""
        # What is looked for is another program's process.
        while not (found := next(filter(_BROWSERS.fullmatch, map(_program_of, family(process))), "")):  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_SECONDS)
        self._said.add("browser")
        begin = f"The agent has started a browser of its own ({found}), whose pages Backstep does not see."
        self.say("own", f"{begin} To use Backstep's, {_TO_BROWSER}")

    def say(self, what: str, sentence: str) -> None:
        """Say a sentence, unless one on the same has been said."""
        if what not in self._said:
            self._said.add(what)
            self.on_notice(sentence)

    def _say_llm(self, begin: str) -> None:
        self.say("llm", f"{begin} If it uses one, {self._to_llm}")

    def _say_browser(self, begin: str) -> None:
        self.say("browser", f"{begin} Backstep's browser. If it is to use one, {_TO_BROWSER}")

    @property
    def _to_llm(self) -> str:
        return f"set its base URL to OPENAI_BASE_URL ({self.llm}) and its key to OPENAI_API_KEY."


def _program_of(process: int) -> str:
    """Return the name of the file that a process runs; empty if it has ended."""
    try:
        return os.path.basename(os.readlink(f"/proc/{process}/exe"))
    except OSError:
        return ""
