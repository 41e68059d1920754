"""The process of Playwright's driver. It starts slowly, so it can be started ahead of its use."""

import asyncio
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from playwright.async_api import Playwright
    from playwright.async_api._context_manager import PlaywrightContextManager


class Driver(NamedTuple):
    """A driver that has started."""

    manager: "PlaywrightContextManager"
    playwright: "Playwright"


_begun: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Task[Driver]] = WeakKeyDictionary()


async def begin_driver() -> None:
    """Begin to start the driver that the next `take_driver` of this loop returns."""
    _begun[asyncio.get_running_loop()] = asyncio.ensure_future(_start())


async def take_driver() -> Driver:
    """Return a driver that is the caller's from now on; raises Playwright's Error if none starts."""
    begun = _begun.pop(asyncio.get_running_loop(), None)
    return await (begun or _start())


async def drop_driver() -> None:
    """End the driver that was begun in this loop if nothing has taken it."""
    begun = _begun.pop(asyncio.get_running_loop(), None)
    if begun is not None:
        await (await begun).playwright.stop()


async def _start() -> Driver:
    from playwright.async_api import async_playwright

    manager = async_playwright()
    return Driver(manager, await manager.start())
