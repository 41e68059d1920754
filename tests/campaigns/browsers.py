"""The browser of a campaign, and a client of its own beside the product's: they share the browser and nothing else."""

import argparse
import asyncio
import json
import os
import signal
import socket
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, Literal, TypeVar

import websocket

from core.browser.chromium import ChromiumHost, find_chromium
from core.browser.host import BrowserHost
from core.schema.events import TabId

T = TypeVar("T")
BrowserKind = Literal["chromium", "embedded"]
_ANSWER_SECONDS = 60.0


class OtherClient:
    """Speaks the browser's protocol over its port, a connection for each question."""

    def __init__(self, address: str) -> None:
        """`address` is host and port."""
        self._address = address

    async def ask(self, tab: TabId, *commands: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
        """Send commands to a tab, one after the other, and return their results; raises RuntimeError."""
        return await asyncio.to_thread(self._ask, tab, commands)

    def _ask(self, tab: TabId, commands: tuple[tuple[str, dict[str, Any]], ...]) -> list[dict[str, Any]]:
        # Without an Origin, as from a program: pages, which have one, are refused.
        opened = websocket.create_connection(
            f"ws://{self._address}/devtools/page/{tab}", suppress_origin=True, timeout=_ANSWER_SECONDS
        )
        numbers = count(1)
        with closing(opened):
            return [self._result(opened, next(numbers), *command) for command in commands]

    @staticmethod
    def _result(opened: websocket.WebSocket, number: int, method: str, parameters: dict[str, Any]) -> Any:
        opened.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while (answer := json.loads(opened.recv())).get("id") != number:
            pass  # An event.
        if "error" in answer or "exceptionDetails" in answer["result"]:
            raise RuntimeError(f"{method}: {answer}")
        return answer["result"]


def in_browser(kind: BrowserKind, work: Callable[[BrowserHost, OtherClient], Awaitable[T]]) -> T:
    """Do the work in the installed Chromium or in the embedded browser; raises SystemExit where there is none.

    Ctrl+C cancels the work, which may return what has come of it so far.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)  # Shells have it ignored in the background.
    if kind == "embedded":
        from gui.live.engine import run_offscreen

        return run_offscreen(lambda host: work(host, OtherClient(os.environ["QTWEBENGINE_REMOTE_DEBUGGING"])))
    path = find_chromium()
    if path is None:
        raise SystemExit("No Chromium is installed here; take the embedded browser by --browser embedded.")
    with tempfile.TemporaryDirectory() as folder:
        program, client = with_port(path, Path(folder))

        async def begin() -> T:
            return await work(ChromiumHost(str(program)), client)

        return asyncio.run(begin())


def with_port(executable: str, folder: Path) -> tuple[Path, OtherClient]:
    """Return a program that starts the browser with a port beside the pipe of Playwright, and a client of the port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = folder / "chromium"
    program.write_text(
        f'#!/bin/sh\nexec "{executable}" --remote-debugging-port={port} "$@"\n', encoding="utf-8"
    )
    program.chmod(0o755)
    return program, OtherClient(f"127.0.0.1:{port}")


def add_browser_flag(parser: argparse.ArgumentParser) -> None:
    """Add the flag that says in which browser a campaign is done."""
    parser.add_argument("--browser", choices=("chromium", "embedded"), default="chromium")
