"""Reads a server's answer with limits: nothing is parsed before its size is checked.

The openai package sends the request and reads refusals. Answers are read here: its own reader has no limits, and
makes objects of each piece that cost more than the piece.
"""

import asyncio
import contextlib
import html
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any

import httpx2

from core.llm.errors import REDIRECT, TooLargeError, WebPageError
from core.llm.replies import load_json

LARGEST_ANSWER = 2 << 20
"""Bytes of an answer that comes in one piece."""
LARGEST_LIST = 4 << 20
"""Bytes of a list of models, of which some servers have thousands."""
LARGEST_VECTORS = 16 << 20
"""Bytes of the embeddings of one request."""
_LARGEST_EVENT = 1 << 20
_LARGEST_ERROR = 64 << 10
"""Bytes of a refusal's body; what is beyond is not read."""
_LARGEST_HEAD = 16 << 10
"""Bytes of a web page in which its title is sought."""
_TITLE = re.compile("<title[^>]*>([^<]*)", re.IGNORECASE)
_AFTER_DONE = 0.1
"""Seconds that a server gets to end its answer after it has called it done; without that the connection is lost."""

HEADERS = {"Accept-Encoding": "identity"}
"""A few compressed bytes can be gigabytes."""


async def check_response(response: httpx2.Response) -> None:
    """Refuse a compressed answer, and cut the body of a refusal; a hook of the HTTP client.

    The address of a redirect moves to the extension `REDIRECT`: the clients would read it, and may ask again.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity"):
        raise httpx2.DecodingError(f"compressed as {encoding}")
    if 300 <= response.status_code < 400:
        response.extensions[REDIRECT] = response.headers.pop("location", "")
        response.headers.pop("x-should-retry", None)
    if not response.is_success and isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Beginning(response.stream)


class _Beginning(httpx2.AsyncByteStream):
    """The first bytes of a body."""

    def __init__(self, whole: httpx2.AsyncByteStream) -> None:
        self._whole = whole

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = _LARGEST_ERROR
        async for piece in self._whole:
            yield piece[:left]
            left -= len(piece)
            if left <= 0:
                return

    async def aclose(self) -> None:
        await self._whole.aclose()


class _NoPage(httpx2.AsyncByteStream):
    """A body that may not be HTML: a login or a proxy answers so, with a status of success."""

    def __init__(self, whole: httpx2.AsyncByteStream) -> None:
        self._whole = whole

    async def __aiter__(self) -> AsyncIterator[bytes]:
        first = b""
        is_page = None
        async for piece in self._whole:
            if is_page is None or is_page:
                first += piece
                begin = first.lstrip(b"\xef\xbb\xbf \t\r\n")
                is_page = begin.startswith(b"<") if begin else None
            if is_page and len(first) < _LARGEST_HEAD:
                continue
            if is_page:
                break
            yield piece
        if is_page:
            title = _TITLE.search(first.decode(errors="replace"))
            raise WebPageError(html.unescape(title[1]) if title else "")

    async def aclose(self) -> None:
        await self._whole.aclose()


def _refuse_pages(response: httpx2.Response) -> None:
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _NoPage(response.stream)


class _Copied(httpx2.AsyncByteStream):
    """A body whose bytes somebody else gets as well."""

    def __init__(self, whole: httpx2.AsyncByteStream, pass_on: Callable[[bytes], None]) -> None:
        self._whole = whole
        self._pass_on = pass_on

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._whole:
            self._pass_on(piece)
            yield piece

    async def aclose(self) -> None:
        await self._whole.aclose()


def copy_to(response: httpx2.Response, pass_on: Callable[[bytes], None]) -> None:
    """Give each piece of the body to `pass_on` before it is read here."""
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Copied(response.stream, pass_on)


def is_whole(response: httpx2.Response) -> bool:
    """Return whether the answer comes in one piece, though a stream was asked for."""
    return "json" in response.headers.get("content-type", "")


async def read_whole(response: httpx2.Response, largest: int) -> Any:
    """Return the JSON value that is the answer.

    Raises ValueError if it is none, its TooLargeError beyond `largest` bytes, and httpx2.HTTPError.
    """
    body = bytearray()
    _refuse_pages(response)
    async with contextlib.aclosing(response.aiter_raw()) as pieces:
        async for piece in pieces:
            body += piece
            if len(body) > largest:
                raise TooLargeError(f"more than {largest >> 20} MB")
    return _load(body.decode("utf-8-sig", "replace"))


async def read_answer(response: httpx2.Response) -> AsyncGenerator[Any, None]:
    """Yield the JSON values of a stream of server-sent events until it is called done or ends, or of a whole answer.

    Raises as `read_whole` does; after an event that cannot be read nothing more comes.
    """
    if is_whole(response):
        yield await read_whole(response, LARGEST_ANSWER)
        return
    # Some servers name another type or none, or an encoding; events are always in UTF-8.
    response.headers["content-type"] = "text/event-stream"
    _refuse_pages(response)
    source = httpx2.EventSource(response, max_event_size=_LARGEST_EVENT)
    async with contextlib.aclosing(aiter(source)) as events:  # type: ignore[type-var]
        try:
            async for event in events:
                if event.data.startswith("[DONE]"):
                    break
                if event.data:
                    yield _load(event.data)
        except httpx2.SSEError as error:
            raise TooLargeError(f"a piece of more than {_LARGEST_EVENT >> 20} MB") from error
        with contextlib.suppress(TimeoutError, httpx2.HTTPError):
            async with asyncio.timeout(_AFTER_DONE):
                async for _ in events:
                    pass


def _load(text: str) -> Any:
    # Servers write NaN where a number is unknown, such as a probability that nobody asked for.
    return load_json(text, constants=True)
