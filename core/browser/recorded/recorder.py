"""Records the answers of servers to a browser's tabs without slowing the run."""

import asyncio
import logging
from contextlib import suppress

from playwright.async_api import BrowserContext, Error, Page, Request, WebSocket

from core.browser.recorded.exchange import SOCKET, Exchange, Taken, hash_of
from core.schema.hiding import Secrets
from core.system.patience import within

log = logging.getLogger(__name__)

LARGEST = 8 * 1024 * 1024
"""Bytes of one content that are kept."""
MOST = 200 * 1024 * 1024
"""Bytes of all contents of one run that are kept."""
AT_ONCE = 500
"""Answers that are fetched from the browser at one time; of others that end meanwhile the content is left out."""
PATIENCE = 5.0
"""Seconds that contents which are still being fetched are waited for."""
_TOO_LARGE = "It is larger than the limit for one answer."
_TOO_FAST = "Too many requests ended at once."
_TOO_MUCH = "The answers of this run are larger than the limit for one run."
_OF_THE_TRANSPORT = frozenset(
    {"content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive", "alt-svc"}
)
"""Headers that tell how an answer travelled; its content is kept unpacked."""
_WITH_LOGINS = frozenset({"set-cookie"})


class NetworkRecorder:
    """Follows the contexts of a browser, one at a time; everything here runs in the worker's loop."""

    def __init__(self) -> None:
        self.wanted = False
        """Whether to record; holds from the next `follow` on."""
        self._context: BrowserContext | None = None
        self._opening = False
        self._logins = True
        self._numbers: dict[Request, int] = {}
        self._next = 0
        self._done: list[tuple[int, Taken]] = []
        self._fetching: set[asyncio.Task[None]] = set()
        self._kept = 0

    def follow(self, context: BrowserContext, *, logins: bool) -> None:
        """Begin again with the tabs of `context`, whose task is about to be opened.

        Without `logins` the cookies that servers set are left out.
        """
        self._let_go()
        self.drop()
        self._opening, self._logins, self._kept = True, logins, 0
        if not self.wanted:
            return
        self._context = context
        context.on("request", self._on_request)
        context.on("requestfinished", self._on_finished)
        context.on("requestfailed", self._on_failed)
        context.on("page", self._on_page)
        for page in context.pages:
            self._on_page(page)

    def drop(self) -> None:
        """Discard the answers that were not taken yet."""
        for task in self._fetching:
            task.cancel()
        self._fetching.clear()
        self._done.clear()
        self._numbers.clear()
        self._opening = False

    async def take(self) -> tuple[Taken, ...]:
        """Return the answers since the last call, in the order of the requests.

        Waits a limited time for contents that are still loading.
        """
        if self._fetching:
            with suppress(TimeoutError):
                async with within(PATIENCE):
                    await asyncio.wait(tuple(self._fetching))
        done, self._done = sorted(self._done, key=lambda one: one[0]), []
        self._opening = False
        return tuple(taken for _, taken in done)

    def _let_go(self) -> None:
        context, self._context = self._context, None
        if context is None:
            return
        context.remove_listener("request", self._on_request)
        context.remove_listener("requestfinished", self._on_finished)
        context.remove_listener("requestfailed", self._on_failed)
        context.remove_listener("page", self._on_page)
        for page in context.pages:
            page.remove_listener("websocket", self._on_socket)

    def _number(self) -> int:
        self._next += 1
        return self._next

    def _on_page(self, page: Page) -> None:
        page.on("websocket", self._on_socket)

    def _on_socket(self, socket: WebSocket) -> None:
        exchange = Exchange(method="GET", url=socket.url, kind=SOCKET, opening=self._opening)
        self._done.append((self._number(), Taken(exchange, b"")))

    @staticmethod
    def _from_server(request: Request) -> bool:
        return request.url.startswith(("http:", "https:"))

    def _on_request(self, request: Request) -> None:
        if self._from_server(request):
            self._numbers[request] = self._number()

    def _on_failed(self, request: Request) -> None:
        if not self._from_server(request):
            return
        number = self._numbers.pop(request, None) or self._number()
        exchange = self._asked(request).replace(error=request.failure or "The request failed.")
        self._done.append((number, Taken(exchange, b"")))

    def _on_finished(self, request: Request) -> None:
        if not self._from_server(request):
            return
        number = self._numbers.pop(request, None) or self._number()
        if len(self._fetching) >= AT_ONCE:
            exchange = self._asked(request).replace(missing=_TOO_FAST)
            self._done.append((number, Taken(exchange, b"")))
            return
        task = asyncio.ensure_future(self._fetch(number, request, self._asked(request)))
        self._fetching.add(task)
        task.add_done_callback(self._fetching.discard)

    def _asked(self, request: Request) -> Exchange:
        return Exchange(
            method=request.method,
            url=request.url,
            kind=request.resource_type,
            sent=hash_of(request.post_data_buffer or b""),
            opening=self._opening,
        )

    async def _fetch(self, number: int, request: Request, asked: Exchange) -> None:
        """Add the answer of a request that has ended."""
        body, missing = b"", ""
        try:
            response = await request.response()
            if response is None:
                return
            status, headers = response.status, await response.headers_array()
            if not 300 <= status < 400:
                try:
                    body = await response.body()
                except Error as error:
                    missing = f"The browser did not provide it: {error.message.splitlines()[0]}"
        except Error as error:
            url = Secrets().text_of_places(asked.url)
            log.info("The answer to %s is not known: %s", url, error.message)
            return
        if len(body) > LARGEST:
            body, missing = b"", _TOO_LARGE
        elif self._kept + len(body) > MOST:
            body, missing = b"", _TOO_MUCH
        self._kept += len(body)
        exchange = asked.replace(
            status=status,
            headers=self._plain([(header["name"], header["value"]) for header in headers]),
            body=hash_of(body),
            missing=missing,
        )
        self._done.append((number, Taken(exchange, body)))

    def _plain(self, headers: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        left_out = _OF_THE_TRANSPORT if self._logins else _OF_THE_TRANSPORT | _WITH_LOGINS
        return tuple((name, value) for name, value in headers if name.lower() not in left_out)
