"""A browser whose pages are offline: every request gets its recorded answer or fails."""

import json
import logging
import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Any
from urllib.parse import urljoin

from playwright.async_api import BrowserContext, Error, Route

from core.browser.channel import script
from core.browser.recorded.exchange import Answers, Exchange, hash_of
from core.schema.errors import BackstepError

log = logging.getLogger(__name__)

Body = Callable[[str], bytes]
"""Returns the content of a hash; raises TraceError if it is not there."""
_KEY = "backstep-sealed"
_TO_SERVERS = re.compile("^https?:")
_MOST_REMARKS = 20
_ABORTS = {
    "net::ERR_ABORTED": "aborted",
    "net::ERR_ACCESS_DENIED": "accessdenied",
    "net::ERR_ADDRESS_UNREACHABLE": "addressunreachable",
    "net::ERR_BLOCKED_BY_CLIENT": "blockedbyclient",
    "net::ERR_BLOCKED_BY_RESPONSE": "blockedbyresponse",
    "net::ERR_CONNECTION_ABORTED": "connectionaborted",
    "net::ERR_CONNECTION_CLOSED": "connectionclosed",
    "net::ERR_CONNECTION_REFUSED": "connectionrefused",
    "net::ERR_CONNECTION_RESET": "connectionreset",
    "net::ERR_INTERNET_DISCONNECTED": "internetdisconnected",
    "net::ERR_NAME_NOT_RESOLVED": "namenotresolved",
    "net::ERR_TIMED_OUT": "timedout",
}
_CLOSED = re.compile(r"has been closed|is already handled")


class Seal:
    """Blocks all requests of a browser's pages and gives them the recorded answers.

    This includes frames of other sites, workers, popups, and requests that a page sends while it unloads.
    Sockets do not open, and service and shared workers do not start, because their requests are out of reach.
    So is a socket that a worker opens.
    """

    def __init__(
        self, exchanges: Sequence[Exchange], body: Body, *, stable: Callable[[str], str] = str
    ) -> None:
        """`stable` returns a URL without what changes by itself."""
        self._recorded, self._stable = exchanges, stable
        self._answers = Answers(exchanges, stable=stable)
        self._body = body
        self._remarks: dict[str, None] = {}
        self._context: BrowserContext | None = None
        self._script: Any = None
        self.on_remark: Callable[[str], None] = lambda remark: None
        """Called at once with what is not answered as recorded."""

    async def put_on(self, context: BrowserContext) -> None:
        """Seal the context, whose task is about to be opened: every answer is due again.

        Raises playwright's Error where the browser has ended.
        """
        self._answers = Answers(self._recorded, stable=self._stable)
        self._remarks.clear()
        if context is self._context:
            return
        self._script = await context.add_init_script(f"({script('sealed')})({json.dumps(_KEY)})")
        await context.route(_TO_SERVERS, self._answer)
        self._context = context

    async def take_off(self, *, free: bool = True) -> None:
        """Let requests go to their servers again; the documents get back what they lacked if `free`."""
        context, self._context = self._context, None
        if context is None:
            return
        try:
            await context.unroute(_TO_SERVERS, self._answer)
            await self._script.close()
            for frame in [frame for page in context.pages for frame in page.frames] if free else ():
                await _free(frame)
        except Error as error:
            log.info("The browser ended while it went offline: %s", error.message)

    def catch_up(self, other: "Seal") -> None:
        """Count as given what another seal has given meanwhile."""
        for exchange in other._answers.given:
            self._answers.use(exchange)

    def _remark(self, remark: str) -> None:
        if remark not in self._remarks:
            self._remarks[remark] = None
            self.on_remark(remark)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was not answered as recorded, in the order it came up."""
        all_remarks = tuple(self._remarks)
        more = len(all_remarks) - _MOST_REMARKS
        return (
            (*all_remarks[:_MOST_REMARKS], f"{more} more requests did not get a recorded answer.")
            if more > 0
            else all_remarks
        )

    async def _answer(self, route: Route) -> None:
        """Give a request what was recorded for it."""
        try:
            await self._give(route)
        except Error as error:
            # The page has gone on meanwhile, and no longer waits for it.
            if not _CLOSED.search(error.message):
                log.warning("A recorded answer was not taken: %s", error.message)

    async def _give(self, route: Route) -> None:
        request = route.request
        found = self._answers.take(request.method, request.url, hash_of(request.post_data_buffer or b""))
        exchange = found.exchange
        document = request.is_navigation_request()
        if exchange is not None and exchange.location and not document:
            found = self._answers.follow(exchange)
            exchange = found.exchange
        if found.remark:
            self._remark(found.remark)
        if exchange is None:
            await route.abort("blockedbyclient")
            return
        if exchange.location:
            # A redirect that is given here would be followed past every hold: the page continues by itself.
            await route.fulfill(
                status=200,
                headers=_headers(exchange, only=("set-cookie",)),
                content_type="text/html; charset=utf-8",
                body=_sends_on(urljoin(exchange.url, exchange.location)),
            )
        elif not exchange.status:
            await route.abort(_ABORTS.get(exchange.error, "failed"))
        elif exchange.missing:
            self._remark(
                f"The answer to {exchange.method} {exchange.url} was not recorded: {exchange.missing}"
            )
            await route.abort("failed")
        else:
            await self._fulfil(route, exchange)

    async def _fulfil(self, route: Route, exchange: Exchange) -> None:
        try:
            body = self._body(exchange.body) if exchange.body else b""
        except BackstepError as error:
            self._remark(str(error))
            await route.abort("failed")
            return
        await route.fulfill(status=exchange.status, headers=_headers(exchange), body=body)


async def _free(frame: Any) -> None:
    try:
        await frame.evaluate(f"globalThis[Symbol.for({json.dumps(_KEY)})]?.()")
    except Error as error:
        log.info("A document was closed while the browser went online again: %s", error.message)


def _headers(exchange: Exchange, only: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the headers, or `only` those, as Playwright takes them: several of one name joined."""
    found: dict[str, str] = {}
    for name, value in exchange.headers:
        name = name.lower()
        if only and name not in only:
            continue
        separator = "\n" if name == "set-cookie" else ", "
        found[name] = f"{found[name]}{separator}{value}" if name in found else value
    return found


def _sends_on(url: str) -> str:
    target = json.dumps(url).replace("<", "\\u003c")
    return (
        f"<!doctype html><title>{escape(url)}</title><script>location.replace({target})</script>"
        "<noscript>It redirects by a script.</noscript>"
    )
