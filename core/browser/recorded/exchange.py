"""The requests of a page with their answers, and which recorded answer a request gets: each in turn, and the
last one again when they are used up.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from core.schema.record import Record

SOCKET = "websocket"
"""The kind of a connection that stays open: what went over it is not recorded."""


class Exchange(Record):
    """A request and its answer; the answer's content is stored under its hash."""

    method: str
    url: str
    kind: str = ""
    """What asked for it, in Playwright's words: document, script, fetch, …"""
    sent: str = ""
    """The hash of what was sent with it; empty for nothing."""
    status: int = 0
    """0 if no answer came; `error` says why."""
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""
    """The hash of the content; empty for none."""
    missing: str = ""
    """Why the content was not kept."""
    error: str = ""
    opening: bool = False
    """Whether it came while the task was being opened."""
    step: int = 0
    """The step it came in; 0 before the first."""

    @property
    def location(self) -> str:
        """Where it sends on to; empty if it does not."""
        if self.status not in (301, 302, 303, 307, 308):
            return ""
        return next((value for name, value in self.headers if name.lower() == "location"), "")

    @property
    def media_type(self) -> str:
        """What its content is, as the server said it."""
        content_type = next((value for name, value in self.headers if name.lower() == "content-type"), "")
        return content_type.partition(";")[0].strip().lower() or "application/octet-stream"


class Taken(NamedTuple):
    """An exchange with its content, for whoever stores it."""

    exchange: Exchange
    body: bytes


def hash_of(data: bytes) -> str:
    """Return what content is named by: SHA-256 in hex, nothing for no content."""
    return hashlib.sha256(data).hexdigest() if data else ""


_HOPS = 20
"""How often an answer may send on before that is taken for a circle."""


class RecordedAnswer(Record):
    """The answer that a request gets; empty if none was recorded."""

    exchange: Exchange | None = None
    remark: str = ""
    """What is not known for certain about it."""


class Answers:
    """The exchanges of a run up to a step, as a server would give them.

    A request is recognised by its method, URL and body. If nothing matches all three, the body is ignored,
    and then also the URL parameters that change by themselves.
    """

    def __init__(self, exchanges: Sequence[Exchange], *, stable: Callable[[str], str] = str) -> None:
        """`stable` returns a URL without what changes by itself."""
        self._stable = stable
        self._exact: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self._by_url: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self._by_stable: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self._exchanges = _with_content([exchange for exchange in exchanges if exchange.kind != SOCKET])
        self._used: set[int] = set()
        for index, one in enumerate(self._exchanges):
            url = _plain(one.url)
            self._exact[one.method, url, one.sent].append(index)
            self._by_url[one.method, url].append(index)
            self._by_stable[one.method, stable(url)].append(index)

    def take(self, method: str, url: str, sent: str = "") -> RecordedAnswer:
        """Return what the next such request gets."""
        url = _plain(url)
        if (found := self._next(self._exact.get((method, url, sent), ()))) is not None:
            return RecordedAnswer(exchange=found)
        if (found := self._next(self._by_url.get((method, url), ()))) is not None:
            return RecordedAnswer(
                exchange=found,
                remark=f"{method} {url} sent other data than recorded; it got the recorded answer.",
            )
        if (found := self._next(self._by_stable.get((method, self._stable(url)), ()))) is not None:
            return RecordedAnswer(
                exchange=found, remark=f"{method} {url} got the recorded answer to {found.url}."
            )
        return RecordedAnswer(remark=f"{method} {url} was not recorded; it was blocked.")

    def follow(self, exchange: Exchange) -> RecordedAnswer:
        """Return the last answer of a chain of redirects; the answer itself if it does not redirect."""
        url, remark = exchange.url, ""
        for _ in range(_HOPS):
            if not exchange.location:
                return RecordedAnswer(exchange=exchange, remark=remark)
            url = urljoin(url, exchange.location)
            method = exchange.method if exchange.status in (307, 308) else "GET"
            answer = self.take(method, url)
            if answer.exchange is None:
                return answer
            exchange, remark = answer.exchange, remark or answer.remark
        return RecordedAnswer(remark=f"{url} redirects in a circle; it was blocked.")

    def use(self, exchange: Exchange) -> None:
        """Count an answer as given, if it is one of these and not given yet."""
        for index in self._exact.get((exchange.method, _plain(exchange.url), exchange.sent), ()):
            if index not in self._used and self._exchanges[index] == exchange:
                self._used.add(index)
                return

    @property
    def given(self) -> tuple[Exchange, ...]:
        """What was given, in the order it was recorded."""
        return tuple(self._exchanges[index] for index in sorted(self._used))

    def _next(self, indices: Sequence[int]) -> Exchange | None:
        if not indices:
            return None
        index = next((one for one in indices if one not in self._used), indices[-1])
        self._used.add(index)
        return self._exchanges[index]


def _with_content(exchanges: Sequence[Exchange]) -> tuple[Exchange, ...]:
    """Return the exchanges with the content that the browser took from its cache, as its request had a 304.

    A browser offline has none of it in its cache. Such an answer is missing where no earlier one has the whole content.
    """
    last: dict[tuple[str, str], Exchange] = {}
    found: list[Exchange] = []
    for one in exchanges:
        place = one.method, _plain(one.url)
        if one.status == 304 and (cached := last.get(place)) is not None:
            one = cached.replace(sent=one.sent, opening=one.opening, step=one.step)
        elif one.status == 304:
            one = one.replace(
                missing="It had not changed since an earlier answer, which is not in the recording."
            )
        elif one.status == 200:
            last[place] = one
        found.append(one)
    return tuple(found)


def _plain(url: str) -> str:
    """Return the URL as servers see it, without its fragment."""
    return urlsplit(url)._replace(fragment="").geturl()
