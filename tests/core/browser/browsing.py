"""A browser under test: what acts in it, what reads it, and the loop in a thread of its own that drives it.

The same tests run in every host. They are coroutines under `in_browser`, which
runs them in the browser's loop while the test's own thread waits, or serves Qt.
"""

import asyncio
import functools
import inspect
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

import pytest

from core.browser.actor import Actor
from core.browser.capturer import Capturer
from core.browser.driver import TabDriver
from core.browser.host import BrowserHost
from core.browser.locating import Located
from core.browser.settling import DEFAULT_BOUNDS, Bounds, Settled
from core.browser.tabs import Tabs
from core.schema.action_text import parse_action
from core.schema.events import BrowserEvent
from core.schema.observation import Element, Observation

T = TypeVar("T")
Wait = Callable[["Future[Any]"], Any]
"""Waits for a future in the test's thread and returns its result."""


class Worker:
    """An asyncio loop in a thread of its own."""

    def __init__(self, wait: Wait = lambda future: future.result(240)) -> None:
        self._wait = wait
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="browser tests", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return self._wait(future)  # type: ignore[no-any-return]
        finally:
            future.cancel()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


class Browsing:
    """One browser, started once; `begin` gives a clean profile."""

    def __init__(self, host: BrowserHost, worker: Worker | None = None) -> None:
        """Without a worker, whoever drives it starts and closes its `tabs` in a loop of their own."""
        self.host = host
        self.worker = worker
        self.tabs = Tabs(host)
        self.actor = Actor(self.tabs)
        self.capturer = Capturer(pictures=False)
        self.driver = TabDriver(self.tabs)
        if worker is not None:
            worker.run(self.tabs.browser.start())

    def begin(self) -> None:
        self.worker.run(self._begin())

    async def _begin(self) -> None:
        self.tabs.border.set(None)
        await self.tabs.open_profile()
        self.tabs.browser.take_events()

    def close(self) -> None:
        self.worker.run(self.tabs.browser.close())

    # What a step does

    async def open(self, url: str) -> Settled:
        return await self.tabs.goto(url)

    async def do(self, text: str, bounds: Bounds = DEFAULT_BOUNDS) -> Located | None:
        """Carry out an action written as text and wait for what it sets off; `said` is what a step would tell of it."""
        before = self.tabs.mark()
        located = await self.actor.act(parse_action(text))
        self.settled = await self.tabs.settle(before, bounds)
        note = located.note if located is not None else ""
        self.said = " ".join(filter(None, (note, await self.actor.difference(located))))
        return located

    async def see(self) -> Observation:
        """Read the page; a crashed one is brought back first."""
        if self.tabs.current.crashed:
            await self.tabs.revive()
        capture = await self.capturer.capture(self.tabs.current, await self.tabs.list())
        return capture.observation

    async def find(self, role: str, name: str = "") -> Element:
        """Return the one element of that role, and of that name where one is given."""
        seen = await self.see()
        found = [e for e in seen.elements if e.role == role and (not name or e.name == name)]
        assert len(found) == 1, f"{len(found)} of {role} {name!r} in\n{seen.lines()}"
        return found[0]

    async def words(self) -> str:
        """Return everything the page shows, as lines."""
        return (await self.see()).lines()

    async def js(self, expression: str) -> Any:
        """Evaluate in the page's own world."""
        return await self.tabs.current.evaluate(expression, main_world=True)

    def events(self) -> list[BrowserEvent]:
        return list(self.tabs.browser.take_events())


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a page to hang much sooner than a person's is."""
    monkeypatch.setattr("core.browser.page_protocol.HANG_SECONDS", 1.0)
    monkeypatch.setattr("core.browser.page_protocol._WALK_SECONDS", 3.0)
    monkeypatch.setattr("core.browser.hanging._ALIVE_SECONDS", 0.8)
    monkeypatch.setattr("core.browser.hanging.ScriptPatience.seconds", 7.5)
    monkeypatch.setattr("core.browser.hanging._SILENT_SECONDS", 5.0)
    monkeypatch.setattr("core.browser.settling._SILENCE", 1.0)
    monkeypatch.setattr("core.browser.floods.ENDLESS", 4.0)
    monkeypatch.setattr("core.browser.recovery.DRIVER_SECONDS", 1.0)
    monkeypatch.setattr("core.browser.hanging._FLOOD_BYTES", 100_000_000)
    for place in ("hanging", "recovery"):
        monkeypatch.setattr(f"core.browser.{place}.FLOOD_WAIT", 10.0)


def in_browser(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a coroutine test in the loop of its `browser`."""
    assert "browser" in inspect.signature(test).parameters

    @functools.wraps(test)
    def run(**fixtures: Any) -> None:
        fixtures["browser"].worker.run(test(**fixtures))

    return run
