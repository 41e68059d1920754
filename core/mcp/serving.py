"""Serves the protocol: on stdin and stdout, or over HTTP on a port of this machine to whoever has the token."""

import asyncio
import os
import secrets
from collections.abc import Callable

from mcp.server.stdio import stdio_server
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from core.attach.server import AgentServer
from core.mcp.server import CommandServer
from core.setup import EXIT_INTERRUPTED

TOKEN = "BACKSTEP_MCP_TOKEN"
"""The environment variable that gives the token."""


async def serve_stdio(server: CommandServer) -> None:
    """Serve one client until it closes stdin; then end the runs in progress. An interruption also ends the process."""

    async def serve() -> None:
        async with stdio_server() as (read, write):
            await server.protocol.run(read, write, server.protocol.create_initialization_options())

    try:
        await asyncio.shield(asyncio.ensure_future(serve()))
        await server.close()
    except asyncio.CancelledError:
        await server.close()
        os._exit(EXIT_INTERRUPTED)  # A thread of the SDK waits for a line of stdin, which nothing can end.


async def serve_http(server: CommandServer, port: int, say: Callable[[str], None]) -> None:
    """Serve on 127.0.0.1 until cancelled, after saying where and with which token; raises BackstepError."""
    given = os.environ.get(TOKEN, "")
    token = given or secrets.token_urlsafe(32)
    listening = AgentServer(only_with(token, server.protocol.streamable_http_app()), port=port)
    await listening.start()
    address = f"http://127.0.0.1:{listening.port}/mcp"
    say(f"Backstep serves coding agents at {address}")
    say(f"Token: {f'the value of {TOKEN}' if given else token}")
    header = f"Authorization: Bearer {f'${TOKEN}' if given else token}"
    say(f'claude mcp add --transport http backstep {address} --header "{header}"')
    try:
        async with server.protocol.session_manager.run():
            try:
                await asyncio.Event().wait()
            finally:
                await server.close()
    finally:
        await listening.close()


def only_with(token: str, app: ASGIApp) -> ASGIApp:
    """Return the application for requests that carry the token; others get 401."""

    async def checked(scope: Scope, receive: Receive, send: Send) -> None:
        scheme, _, sent = Headers(scope=scope).get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and secrets.compare_digest(sent.encode(), token.encode()):
            await app(scope, receive, send)
            return
        why = "Send the token that Backstep printed when it started: Authorization: Bearer TOKEN."
        await PlainTextResponse(why, 401, {"WWW-Authenticate": "Bearer"})(scope, receive, send)

    return checked
