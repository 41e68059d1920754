"""Whom the addresses of an agent answer: programs of this machine, and no web page."""

from collections.abc import AsyncIterator

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from core.attach.server import AgentServer


async def _socket(socket) -> None:
    await socket.accept()
    await socket.send_text("hello")
    await socket.close()


@pytest.fixture
async def server() -> AsyncIterator[AgentServer]:
    async def answer(request):
        return PlainTextResponse("hello")

    routes = [Route("/", answer, methods=["GET", "POST", "OPTIONS"]), WebSocketRoute("/", _socket)]
    server = AgentServer(Starlette(routes=routes))
    await server.start()
    yield server
    await server.close()


async def status(server: AgentServer, method: str = "GET", **headers: str) -> int:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with httpx2.AsyncClient(trust_env=False) as client:
        return (await client.request(method, f"http://127.0.0.1:{server.port}/", headers=named)).status_code


async def test_programs_are_answered_whatever_they_call_this_machine(server):
    assert await status(server) == 200
    for host in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        assert await status(server, host=f"{host}:{server.port}") == 200
    # Node's fetch says how it asks, but not from where; some clients name the server as their origin.
    assert await status(server, sec_fetch_mode="cors") == 200
    assert await status(server, origin=f"http://127.0.0.1:{server.port}") == 200


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
async def test_a_name_that_was_made_to_point_here_is_refused(server, method):
    for host in (
        "rebound.example",
        f"rebound.example:{server.port}",
        "127.0.0.1",
        "localhost.",
        "127.0.0.1:1",
    ):
        assert await status(server, method, host=host) == 403


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
async def test_web_pages_are_refused(server, method):
    for origin in ("null", "https://page.example", "http://127.0.0.1:1", "http://localhost"):
        assert await status(server, method, origin=origin) == 403
    for site in ("cross-site", "same-site"):
        assert await status(server, method, sec_fetch_site=site) == 403


async def test_sockets_of_programs_are_accepted_and_those_of_pages_refused(server):
    address = f"ws://127.0.0.1:{server.port}/"
    for origin in (None, f"http://127.0.0.1:{server.port}"):
        async with connect(address, origin=origin, proxy=None) as socket:
            assert await socket.recv() == "hello"
    for origin in ("https://page.example", "null"):
        with pytest.raises(InvalidStatus, match="403"):
            await connect(address, origin=origin, proxy=None)
