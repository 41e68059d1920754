"""Errors of calls to an LLM server: temporary or permanent, with a sentence.

No text from here contains a key: messages of servers and libraries are cleaned first, and the library's own
exceptions, which contain the request, are not chained.
"""

import json
import re
import socket
import ssl
import traceback
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from difflib import get_close_matches
from email.utils import parsedate_to_datetime
from typing import Any

from core.llm.replies import is_deep, plain
from core.schema.errors import LLMError
from core.schema.record import Record
from core.schema.secrets import without_key_forms, without_keys

_PASSING = frozenset({408, 409, 425, 429})
_AWAY = frozenset({429, 502, 503, 504})
_REFUSED = frozenset({401, 402, 403, 404})
_SHORT = 300
_PATHS = ("/chat/completions", "/responses", "/embeddings", "/models")
"""What clients add to a base URL."""
REDIRECT = "redirect"
"""The extension of a response that has the address of a redirect, as the server wrote it."""
_CONTEXT = re.compile(
    r"context[ _](?:length|size|window)|maximum context|(?:prompt|input|request)(?: is)? too (?:long|large)"
    r"|too many (?:input |prompt )?tokens(?! per)|tokens? exceeds?\b.{0,40}\bcontext|reduce the length of the",
    re.IGNORECASE,
)
"""How servers say that a prompt is too long: OpenAI, vLLM, llama.cpp, llama-cpp-python, LiteLLM."""
_UNREADABLE = re.compile(
    r"peg-native|does not match the expected .{0,40}format|failed to parse input at pos|error parsing tool call"
    r"|failed to call a function|failed to generate json|tool_use_failed|json_validate_failed",
    re.IGNORECASE,
)
"""How servers say that they cannot read what their own model wrote: llama.cpp, Ollama, Groq."""
_TAG = re.compile(r"<(?:script|style).*?</(?:script|style)>|<[^<>]*>", re.DOTALL | re.IGNORECASE)
_STATUS = re.compile(r"[1-5][0-9]{2}")
_READ = 8000
"""Characters of what a server says that are looked at."""


class TooLargeError(ValueError):
    """More than is read of a server's answer; the text says how much that is."""


class WebPageError(ValueError):
    """An answer is HTML; the text is its title, which can be empty."""


class RelayError(LLMError):
    """The server refused the request of another program, or broke off."""

    def __init__(self, sentence: str, status: int) -> None:
        """`status` is that of the refusal; 0 if no whole answer came."""
        super().__init__(sentence)
        self.status = status


class LLMFailure(Record):
    """A call that failed."""

    reason: str
    """What happened, as the end of a sentence."""
    passing: bool = False
    """Whether it may go better the next time."""
    status: int = 0
    """HTTP status, or 0 if no whole answer came or it was a redirect."""
    parameter: str = ""
    """The argument the server names as the culprit."""
    retry_after: float | None = None
    """Seconds the server asks to wait."""
    kind: str = ""
    """refused · host · certificate · unconnected · timeout · page · redirect · slow · large · broken · stream ·
    status · quota · context · unreadable · ended."""

    @property
    def is_away(self) -> bool:
        """Whether the server as a whole does not answer, whatever it is asked."""
        return self.passing and (
            self.kind in ("refused", "host", "timeout", "unconnected") or self.status in _AWAY
        )

    @property
    def is_for_all(self) -> bool:
        """Whether every call comes to the same until the key, the account, the model or the address is mended."""
        mended = self.kind in ("quota", "host", "certificate", "page", "redirect") or self.status in _REFUSED
        return mended and not self.passing

    @property
    def words(self) -> str:
        """What the server said, without how it came."""
        return self.reason.partition(": ")[2] or self.reason


def clean(text: str, secrets: Iterable[str] = (), length: int = _SHORT) -> str:
    """Return `text` on one line, without the secrets or anything like a key, and not too long."""
    text = " ".join(without_key_forms(plain(without_keys(text, secrets)[:_READ])).split())
    return text if len(text) <= length else text[: length - 1] + "…"


def mistake(error: BaseException) -> str:
    """Return the sentence for an exception that nobody has foreseen."""
    what = clean(f"{type(error).__name__}: {error}").rstrip(":. ")
    return (
        f"{what}. This is an internal error, and the log has the details; step again, or open the task again."
    )


def call_errors() -> tuple[type[Exception], ...]:
    """Return what a call may raise through no fault of ours; the openai package must be loaded."""
    import httpx2
    import openai

    return (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL, ValueError, OSError)


def from_exception(error: Exception, *, name: str, secrets: Iterable[str], timeout: float) -> LLMFailure:
    """Read an exception of the openai package, of what lies beneath it, or of reading the answer.

    `name` is the LLM's; `timeout` is the silence in seconds after which it was given up.
    """
    import httpx2
    import openai

    if (failure := _unconnected(error)) is not None:
        return failure
    if isinstance(error, (openai.APITimeoutError, httpx2.TimeoutException)):
        return LLMFailure(reason=f"sent nothing for {timeout:g} seconds", passing=True, kind="timeout")
    if isinstance(error, (openai.APIConnectionError, httpx2.TransportError)):
        return _from_connection(error, secrets)
    if isinstance(error, openai.APIStatusError):
        if 300 <= error.status_code < 400:
            return _from_redirect(error.response, name, secrets)
        return _from_status(error, secrets)
    if isinstance(error, TooLargeError):
        return LLMFailure(reason=f"sent {error}, which is over the limit", kind="large")
    if isinstance(error, WebPageError):
        title = clean(str(error), secrets)
        return LLMFailure(reason=f"sent a web page{title and f' ({title})'} instead of JSON", kind="page")
    if isinstance(error, ValueError):
        return LLMFailure(
            reason=f"sent something that is not JSON ({clean(str(error), secrets)})",
            passing=True,
            kind="broken",
        )
    name = type(error).__name__
    return LLMFailure(reason=f"broke off ({clean(f'{name}: {error}', secrets)})", passing=True, kind="broken")


def from_body(body: object, *, secrets: Iterable[str]) -> LLMFailure:
    """Read an error that came inside an answer the server had begun as a success."""
    message = clean(_message(body, secrets), secrets)
    error = body.get("error") if isinstance(body, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    status = int(code) if isinstance(code, (int, str)) and _STATUS.fullmatch(str(code)) else 0
    parameter = error.get("param") if isinstance(error, dict) else None
    found = LLMFailure(
        reason=f"broke off with an error: {message}",
        passing=not 400 <= status < 500 or status in _PASSING,
        status=status,
        parameter=parameter if isinstance(parameter, str) else "",
        kind="stream",
    )
    return _told_apart(found, f"{message} {_code(code)}")


def nearest_model(model: str, served: tuple[str, ...]) -> str:
    """Return what to write in place of `model`, as the end of a sentence."""
    if not served:
        return "it serves no model; load one there first"
    close = get_close_matches(model, served, n=1, cutoff=0.4)
    names = ", ".join(served[:12]) + (f" and {len(served) - 12} more" if len(served) > 12 else "")
    hint = f"did you mean {close[0]}? " if close else ""
    return f"{hint}It serves: {names}"


def _unconnected(error: Exception) -> LLMFailure | None:
    """Return the failure of a connection that was not there in time, or None for any other."""
    import httpx2

    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, httpx2.ConnectTimeout):
        cause = cause.__cause__
    if cause is None:
        return None
    in_tls = False
    while cause is not None:  # The package does not tell the two apart otherwise.
        in_tls |= any(frame.name == "start_tls" for frame in traceback.extract_tb(cause.__traceback__))
        cause = cause.__cause__ or cause.__context__
    reason = (
        "accepted the connection but did not finish the TLS handshake"
        if in_tls
        else "did not accept the connection"
    )
    return LLMFailure(reason=f"{reason} in time", passing=True, kind="unconnected")


def _from_connection(error: Exception, secrets: Iterable[str]) -> LLMFailure:
    import httpx2

    chain = tuple(_chain_of(error))

    def has(*kinds: type[BaseException]) -> bool:
        return any(isinstance(cause, kinds) for cause in chain)

    if has(ssl.SSLCertVerificationError):
        return LLMFailure(reason="has a certificate that cannot be trusted", kind="certificate")
    if has(httpx2.DecodingError):
        return LLMFailure(reason="compressed its answer without being asked to", kind="large")
    if has(ssl.SSLError):
        return LLMFailure(reason="does not speak TLS there; check http or https", kind="certificate")
    if has(httpx2.UnsupportedProtocol, httpx2.InvalidURL):
        return LLMFailure(reason="is not a valid address", kind="host")
    if has(httpx2.LocalProtocolError, UnicodeEncodeError):
        return LLMFailure(
            reason="could not be sent the request: its key or address contains invalid characters",
            kind="host",
        )
    if has(socket.gaierror):
        return LLMFailure(reason="has a name that cannot be found", passing=True, kind="host")
    if has(httpx2.ConnectError, ConnectionRefusedError):
        return LLMFailure(reason="refused the connection", passing=True, kind="refused")
    return LLMFailure(
        reason=f"broke the connection ({clean(str(error), secrets)})", passing=True, kind="broken"
    )


def _chain_of(error: BaseException) -> Iterator[BaseException]:
    """Give an exception and what it came from, with the members of groups among it."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        cause = waiting.pop()
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        waiting += [one for one in (cause.__cause__, cause.__context__) if one is not None]
        if isinstance(cause, BaseExceptionGroup):
            waiting += cause.exceptions


def _from_redirect(response: Any, name: str, secrets: Iterable[str]) -> LLMFailure:
    """Read a redirect; to follow it would send the prompt and the key to an address that nobody has chosen."""
    import httpx2

    asked = response.request.url
    location = response.extensions.get(REDIRECT, "").strip()
    try:
        target = asked.join(location) if location else None
    except (httpx2.InvalidURL, ValueError):
        target = None
    if target is None or not target.host or target.scheme not in ("http", "https"):
        reason = f"sent a redirect ({response.status_code}) without a valid address"
        return LLMFailure(reason=f"{reason}; correct base_url of the LLM {name}", kind="redirect")
    shown = target.copy_with(username=None, password=None, query=None, fragment=None)
    where = clean(str(shown), secrets)
    advice = f"correct base_url of the LLM {name}"
    if base := _moved_to(asked, shown):
        advice = f"set base_url of the LLM {name} to {clean(base, secrets)}"
    elif target.host != asked.host:
        where, advice = f"{where} on another server", f"{advice} if the server has moved"
    return LLMFailure(
        reason=f"redirects to {where}, and redirects are not followed; {advice}", kind="redirect"
    )


def _moved_to(asked: Any, target: Any) -> str:
    """Return the base URL at which the same host answers by its own redirect, or "" if none would help."""
    path = next((path for path in _PATHS if asked.path.endswith(path)), None)
    less_safe = asked.scheme == "https" and target.scheme != "https"
    if path is None or asked.query or less_safe or asked.host != target.host:
        return ""
    same = (asked.scheme, asked.netloc, asked.path) == (target.scheme, target.netloc, target.path)
    return "" if same or not target.path.endswith(path) else str(target).removesuffix(path)


def _from_status(error: Any, secrets: Iterable[str]) -> LLMFailure:
    status = int(error.status_code)
    body = None if is_deep(error.body) else error.body
    message = clean(_message(body, secrets), secrets) or f"HTTP status {status}"
    spent = error.code == "insufficient_quota"
    parameter = error.param if isinstance(error.param, str) else ""
    found = LLMFailure(
        reason=f"answered {status}: {message}",
        passing=(status in _PASSING or status >= 500) and not spent,
        status=status,
        parameter=parameter,
        retry_after=_retry_after(error.response.headers),
        kind="quota" if spent else "status",
    )
    return _told_apart(found, f"{message} {_code(error.code)}")


def _code(code: object) -> str:
    return code[:_SHORT] if isinstance(code, str) else ""


def _told_apart(failure: LLMFailure, said: str) -> LLMFailure:
    """Return the failure as one for good where the server's words say that the same would come again."""
    if failure.status in _PASSING or failure.kind == "quota":
        return failure
    if _UNREADABLE.search(said):
        return failure.replace(kind="unreadable", passing=False)
    if _CONTEXT.search(said):
        return failure.replace(kind="context", passing=False)
    return failure


def _message(body: object, secrets: Iterable[str]) -> str:
    """Return the words of an error body, whose form differs from server to server."""
    if isinstance(body, str):
        return _TAG.sub(" ", without_keys(body, secrets)[:_READ])
    if isinstance(body, dict):
        for name in ("error", "message", "detail", "msg"):
            inner = body.get(name)
            if isinstance(inner, str) and inner:
                return inner
            if isinstance(inner, dict) and inner:
                return _message(inner, secrets)
            if isinstance(inner, list) and inner:
                return json.dumps(inner, ensure_ascii=False)
    return json.dumps(body, ensure_ascii=False, default=str) if body else ""


def _retry_after(headers: Any) -> float | None:
    try:
        if (milliseconds := headers.get("retry-after-ms")) is not None:
            return max(0.0, float(milliseconds) / 1000)
        if (given := headers.get("retry-after")) is None:
            return None
        if re.fullmatch(r"\s*[0-9]+(\.[0-9]+)?\s*", given):
            return float(given)
        when = parsedate_to_datetime(given)
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        return max(0.0, (when - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
