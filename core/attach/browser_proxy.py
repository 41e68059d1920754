"""The browser proxy: looks like a browser's debugging port to an attached agent.

Any client of the DevTools protocol connects here (Playwright, Puppeteer, cdp-use); each gets its own
connection to the engine, whose port stays secret. Messages that the engine refuses, or that crash it, are
answered in `emulated`. A browser that was restarted is another engine, so each connection asks for its
address.
"""

import re
import secrets
from typing import Any

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.websockets import WebSocket

from core.attach.agent_connection import AgentConnection, OnAct, connected
from core.attach.emulated import chrome_version, emulated_by
from core.attach.launched import LaunchedBrowsers
from core.attach.tab_names import NamedSocket, TabNames
from core.browser.host import BrowserHost
from core.schema.errors import BrowserError

_ADDRESS = re.compile(r"^(ws|http)://[^/]+")
Message = dict[str, Any]
_GONE = (BrowserError, httpx2.HTTPError)
"""What asking a browser raises that has ended."""
_LONGEST_REASON = 120
"""Letters of the reason that a socket is closed with."""


class BrowserProxy:
    """Serves the engine's debugging address below ``/cdp/TOKEN`` of a server."""

    def __init__(self, host: BrowserHost, on_act: OnAct) -> None:
        self.host = host
        self.on_act = on_act
        self.token = secrets.token_urlsafe(24)
        self.connections: set[AgentConnection] = set()
        self.connected = False
        """Whether there ever was a connection."""
        self.launches = LaunchedBrowsers(host)
        self._names = TabNames()
        self._http = httpx2.AsyncClient(trust_env=False)

    @property
    def path(self) -> str:
        """If it is served."""
        return f"/cdp/{self.token}"

    def app(self) -> Starlette:
        """Return the application; it belongs below `path`."""
        routes = [
            Route("/json/version/", self._version),
            Route("/json/version", self._version),
            Route("/json/{kind:path}", self._others, methods=["GET", "PUT"]),
            Route("/json", self._others),
            WebSocketRoute("/devtools/{kind}/{id}", self._connect),
        ]
        # The stand-in for a launched browser connects here.
        return Starlette(
            routes=[*routes, Mount("/launched/{begins}/{launch}", routes=routes)],
            exception_handlers=dict.fromkeys(_GONE, _not_there),
        )

    async def close(self) -> None:
        """End the agents' connections."""
        for connection in tuple(self.connections):
            await connection.close()
        await self._http.aclose()

    # Discovery

    async def _version(self, request: Request) -> Response:
        said = await self._asked("/json/version")
        return JSONResponse(
            {
                **said,
                "Browser": f"Chrome/{chrome_version(said['User-Agent'])}",
                "webSocketDebuggerUrl": _own(request, said["webSocketDebuggerUrl"]),
            }
        )

    async def _others(self, request: Request) -> Response:
        launched = self.launches.find(request.path_params.get("launch", ""))
        kind, _, rest = request.path_params.get("kind", "").rstrip("/").partition("/")
        tab = self._names.meant(rest)
        match kind:
            case "" | "list":
                return JSONResponse(await self._targets(request))
            case "new":
                tab = await self.launches.open_tab(launched) if launched else await self.host.open_tab()
                name = self._names.name(tab)
                opened = next(
                    (target for target in await self._targets(request) if target["id"] == name), None
                )
                return JSONResponse(opened or {"id": name})
            case "activate":
                await self.host.activate_tab(tab)
                return PlainTextResponse("Target activated")
            case "close":
                await self.host.close_tab(tab)
                return PlainTextResponse("Target is closing")
            case "protocol":
                return JSONResponse(await self._asked("/json/protocol"))
        return PlainTextResponse(f"There is no {kind} here.", 404)

    async def _pages_of_others(self) -> frozenset[str]:
        """Return the ids of pages that are no tabs of the host: they are none of the agent's."""
        tabs = await self.host.tabs()
        pages = (one for one in await self._asked("/json/list") if one["type"] == "page")
        return frozenset(page["id"] for page in pages if page["id"] not in tabs)

    async def _targets(self, request: Request) -> list[Message]:
        found = []
        others = await self._pages_of_others()
        launched = self.launches.find(request.path_params.get("launch", ""))
        for target in await self._asked("/json/list"):
            if target["id"] in others or (launched and not await self.launches.sees(launched, target["id"])):
                continue
            target.pop("devtoolsFrontendUrl", None)
            if target["type"] == "page":
                self._names.name(target["id"])
            address = self._names.told(_own(request, target["webSocketDebuggerUrl"]))
            found.append({**target, "id": self._names.told(target["id"]), "webSocketDebuggerUrl": address})
        return found

    async def _asked(self, path: str) -> Any:
        return (await self._http.get(f"{await self.host.protocol_address()}{path}")).json()

    # Connections

    async def _connect(self, socket: WebSocket) -> None:
        kind, id = socket.path_params["kind"], self._names.meant(socket.path_params["id"])
        try:
            engine = (await self._asked("/json/version"))["webSocketDebuggerUrl"]
            pages = f"{(await self.host.protocol_address()).replace('http', 'ws')}/devtools/page"
            others = await self._pages_of_others()
        except _GONE as error:
            await socket.close(reason=str(error)[:_LONGEST_REASON])
            return
        if kind == "page":
            engine = f"{pages}/{id}"
        await socket.accept()
        self.connected = True
        launch, empty = socket.path_params.get("launch"), socket.path_params.get("begins") == "empty"
        launched = self.launches.enter(launch, empty=empty) if launch else None
        try:
            async with connected(engine) as link:
                connection = AgentConnection(
                    NamedSocket(socket, self._names),
                    link,
                    self.host,
                    pages,
                    self.on_act,
                    emulated_by(self.host.engine),
                    others,
                    self.launches,
                    page=id if kind == "page" else "",
                    launched=launched,
                )
                self.connections.add(connection)
                try:
                    await connection.serve()
                finally:
                    self.connections.discard(connection)
        finally:
            if launch:
                await self.launches.leave(launch)


async def _not_there(request: Request, error: Exception) -> Response:
    return PlainTextResponse(str(error) or "The browser does not answer.", 503)


def _own(request: Request, url: str) -> str:
    """Return the address here that stands for one of the engine's."""
    return _ADDRESS.sub(f"ws://{request.headers['host']}{request.scope['root_path']}", url)
