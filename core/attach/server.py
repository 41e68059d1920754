"""The loopback server for the addresses of an attached program."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Iterator

import uvicorn
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from core.schema.errors import BackstepError
from core.system.loopback import foreign_request

_LARGEST_MESSAGE = 256 << 20
"""Bytes of a message of the browser's protocol: a picture of a long page has some."""


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.begun = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.begun.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # Signals are the program's own to handle.


_NOT_CROSS_SITE = ("same-origin", "none", "")
"""Of the header by which browsers tell from where they ask, where they send no origin."""


def _is_failure(record: logging.LogRecord) -> bool:
    return "without completing response" not in record.getMessage()


class AgentServer:
    """Serves an application on a port of this machine, on the running loop, and to no web page."""

    def __init__(self, app: ASGIApp, *, port: int = 0) -> None:
        self.port = port
        self._app = app
        # With its protocol named, asyncio sends small messages at once: else each waits for 40 ms.
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        config = uvicorn.Config(
            self._serve_programs,
            interface="asgi3",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
            ws="websockets-sansio",
            ws_max_size=_LARGEST_MESSAGE,
            ws_per_message_deflate=False,
            ws_ping_interval=None,
        )
        self._server = _Server(config)
        # An answer that is broken off is meant to be.
        logging.getLogger("uvicorn.error").addFilter(_is_failure)
        self._serving: asyncio.Task[None] | None = None

    async def _serve_programs(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what programs ask; refuse web pages, whatever they know."""
        headers = Headers(scope=scope)
        why = foreign_request(headers.getlist("host"), headers.getlist("origin"), self.port)
        if not why and headers.get("sec-fetch-site", "") not in _NOT_CROSS_SITE:
            why = "This server answers no requests of web pages."
        if not why:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": why})
        else:
            await PlainTextResponse(why, 403)(scope, receive, send)

    async def start(self) -> None:
        """Begin to serve; raises BackstepError if no port can be had."""
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # It may just have been left.
            self._socket.bind(("127.0.0.1", self.port))
        except OSError as error:
            self._socket.close()
            why = f"Port {self.port} cannot be used" if self.port else "No free port was found"
            raise BackstepError(f"{why} on this machine: {error.strerror}.") from error
        self.port = self._socket.getsockname()[1]
        self._serving = asyncio.ensure_future(self._server.serve(sockets=[self._socket]))
        await self._server.begun.wait()

    async def close(self) -> None:
        """End the connections and stop."""
        self._server.should_exit = True
        if self._serving is not None:
            await asyncio.wait([self._serving])
        self._socket.close()
