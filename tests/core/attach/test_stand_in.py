"""The stand-in for Chromium, alone: a client on one side, a small browser address on the other."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from threading import Event

import pytest
from playwright._impl._driver import compute_driver_executable
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.sync.client import connect

from core.attach.clock import HOOKS
from core.attach.server import AgentServer
from core.attach.stand_in import StandIn
from tests.core.browser.browsing import Worker

pytestmark = pytest.mark.program
NODE = compute_driver_executable()[0]


class Address:
    """A browser address whose browser sends back what it is told; what it is told ``close`` ends the connection."""

    def __init__(self, worker: Worker) -> None:
        self.paths: list[str] = []
        self.left = Event()
        self._worker = worker
        routes = [
            Route("/cdp/token/json/version", self._version),
            Route("/cdp/token/launched/{rest:path}", self._version),
            WebSocketRoute("/cdp/token/launched/{begins}/{launch}/devtools/browser/launched", self._echo),
        ]
        self._server = AgentServer(Starlette(routes=routes))
        worker.run(self._server.start())
        self.url = f"http://127.0.0.1:{self._server.port}/cdp/token"

    def close(self) -> None:
        self._worker.run(self._server.close())

    async def _version(self, request: Request) -> Response:
        self.paths.append(request.url.path)
        return JSONResponse({"Browser": "Chrome/140.0.7339.225"})

    async def _echo(self, socket: WebSocket) -> None:
        self.paths.append(socket.url.path)
        await socket.accept()
        try:
            while (text := await socket.receive_text()) != "close":
                await socket.send_text(text)
            await socket.close()
        except WebSocketDisconnect:
            self.left.set()


@pytest.fixture
def address() -> Iterator[Address]:
    worker = Worker(lambda future: future.result(60))
    address = Address(worker)
    yield address
    address.close()
    worker.close()


@pytest.fixture
def program(address: Address, tmp_path: Path) -> str:
    return str(StandIn(tmp_path / "browsers", address.url, {}).program)


PIPED = """
import os, sys
read, write = (os.dup(int(one)) for one in sys.argv[1:3])
os.dup2(read, 3)
os.dup2(write, 4)
os.set_inheritable(3, True)
os.set_inheritable(4, True)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Starts a program with its pipe at the numbers that Chromium has it at."""


class Piped:
    """A browser that is driven through a pipe."""

    def __init__(self, program: str, *options: str) -> None:
        (read, self._in), (out, write) = os.pipe(), os.pipe()
        self._out = os.fdopen(out, "rb")
        command = [sys.executable, "-c", PIPED, str(read), str(write), program, "--remote-debugging-pipe"]
        self.process = subprocess.Popen([*command, *options], pass_fds=(read, write))
        os.close(read)
        os.close(write)

    def tell(self, text: str) -> None:
        left = text.encode() + b"\0"
        while left:
            left = left[os.write(self._in, left) :]

    def told(self) -> str:
        found = b""
        while (one := self._out.read(1)) not in (b"", b"\0"):
            found += one
        return found.decode()

    def close(self) -> int:
        """Close the pipe, and return with which exit code it ends."""
        os.close(self._in)
        self._out.close()
        return self.process.wait(60)


def test_through_a_pipe_messages_of_any_length_come_and_go(address: Address, program: str) -> None:
    browser = Piped(program, "--no-startup-window")
    for text in ("{}", "short é" * 3, "x" * 200, "y" * 100_000):
        browser.tell(text)
        assert browser.told() == text
    assert address.paths[0].startswith("/cdp/token/launched/empty/")
    assert browser.close() == 0
    assert address.left.wait(60)


def test_it_ends_with_the_browser(address: Address, program: str) -> None:
    browser = Piped(program)
    browser.tell("close")
    assert browser.told() == ""
    assert browser.process.wait(60) == 0
    assert address.paths[0].startswith("/cdp/token/launched/open/")
    browser.close()


def test_a_browser_that_is_killed_is_over_for_the_window(address: Address, program: str) -> None:
    browser = Piped(program)
    browser.tell("here")
    assert browser.told() == "here"
    browser.process.kill()
    assert address.left.wait(60)
    browser.close()


def test_at_a_port_it_is_found_asked_and_connected_to(address: Address, program: str, tmp_path: Path) -> None:
    folder = tmp_path / "profile"
    with subprocess.Popen(
        [program, "--remote-debugging-port=0", f"--user-data-dir={folder}"], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "\n"
        url = process.stderr.readline().removeprefix("DevTools listening on ").strip()
        port, path = (folder / "DevToolsActivePort").read_text().split("\n")
        assert url == f"ws://127.0.0.1:{port}{path}"
        asking = HTTPConnection("127.0.0.1", int(port))
        asking.request("GET", "/json/version")
        assert json.load(asking.getresponse())["Browser"].startswith("Chrome/")
        assert address.paths[-1] == f"{path.removesuffix('/devtools/browser/launched')}/json/version"
        with connect(url) as socket:
            socket.send("x" * 100_000)
            assert socket.recv() == "x" * 100_000
        for foreign in ({"Origin": "https://page.example"}, {"Host": f"rebound.example:{port}"}):
            asking = HTTPConnection("127.0.0.1", int(port))
            asking.request("GET", "/json/version", headers=foreign)
            assert asking.getresponse().status == 403
        process.terminate()
    assert address.left.wait(60)


def test_it_says_its_version(program: str) -> None:
    said = [
        subprocess.run([program, option], capture_output=True, text=True, check=True).stdout
        for option in ("--version", "--product-version")
    ]
    assert said == ["Chromium 140.0.7339.225\n", "140.0.7339.225\n"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--headless", "--screenshot"], "give the path of another Chromium"),
        (["--remote-debugging-port=any"], "--remote-debugging-port=any is no port"),
    ],
)
def test_what_it_cannot_stand_in_for_is_said(program: str, options: list[str], said: str) -> None:
    done = subprocess.run([program, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_window_that_has_gone_is_said(address: Address, program: str) -> None:
    address.close()
    done = subprocess.run([program, "--remote-debugging-port=0"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "cannot be reached" in done.stderr


LOOKS = "require('fs').accessSync(process.argv[1])"


@pytest.fixture
def looking(tmp_path: Path) -> Callable[[str], int]:
    installed = tmp_path / "installed"
    (installed / "firefox-1").mkdir(parents=True)
    (installed / "chromium-1").mkdir()
    given = {**os.environ, "PLAYWRIGHT_BROWSERS_PATH": str(installed)}
    stand_in = StandIn(tmp_path / "browsers", "http://127.0.0.1:1/cdp/token", given)
    environment = given | stand_in.environment(given)

    def look(file: str) -> int:
        return subprocess.run(
            [NODE, "-e", LOOKS, str(tmp_path / "browsers" / file)],
            env=environment,
            check=False,
            stderr=subprocess.DEVNULL,
        ).returncode

    return look


def test_each_version_of_playwright_finds_it(looking: Callable[[str], int], tmp_path: Path) -> None:
    for file in (
        "chromium-1117/chrome-linux/chrome",
        "chromium_headless_shell-1255/chrome-headless-shell-linux64/chrome-headless-shell",
        "chromium-1300/INSTALLATION_COMPLETE",
    ):
        assert looking(file) == 0
    made = tmp_path / "browsers" / "chromium-1117" / "chrome-linux" / "chrome"
    assert made.resolve() == tmp_path / "browsers" / "backstep-chromium"


def test_browsers_of_other_kinds_are_the_agents_own(looking: Callable[[str], int], tmp_path: Path) -> None:
    assert looking("firefox-1") == 0
    assert looking("firefox-2/firefox/firefox") == 1
    assert looking("chromium-1") == 1
    assert not (tmp_path / "installed" / "chromium-1" / "chrome-linux").exists()


def test_a_folder_of_the_agents_own_is_left_alone(tmp_path: Path) -> None:
    script = f"process.env.PLAYWRIGHT_BROWSERS_PATH = '{tmp_path}'; {LOOKS}"
    environment = os.environ | {"NODE_OPTIONS": f'--require "{HOOKS / "chromium.js"}"'}
    looked = [NODE, "-e", script, str(tmp_path / "chromium-1" / "chrome-linux" / "chrome")]
    assert subprocess.run(looked, env=environment, check=False, stderr=subprocess.DEVNULL).returncode == 1


def test_programs_that_search_find_it(program: str, tmp_path: Path) -> None:
    found = list((tmp_path / "browsers").glob("chromium-*/chrome-*/**/[cC]hrom*"))
    assert [one.resolve() for one in found if one.is_file()] == [Path(program)]
    assert sys.executable in Path(program).read_text()
