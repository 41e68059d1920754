from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from core.browser.chromium import chromium_arguments
from core.environments.miniwob import MiniWob
from core.environments.static_server import StaticServer
from tests.core.environments.driver import PlaywrightDriver
from tests.core.stage import need_chromium


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=need_chromium(), args=chromium_arguments())
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[PlaywrightDriver]:
    """A page in a clean profile."""
    context = await browser.new_context(viewport={"width": 800, "height": 600})
    context.set_default_timeout(5000)
    yield PlaywrightDriver(await context.new_page())
    await context.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def used_page(browser: Browser) -> AsyncIterator[PlaywrightDriver]:
    """A page that other tests have used before: quicker, for tests that need no clean profile."""
    context = await browser.new_context()
    context.set_default_timeout(5000)
    yield PlaywrightDriver(await context.new_page())
    await context.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def miniwob() -> AsyncIterator[MiniWob]:
    environment = MiniWob()
    yield environment
    await environment.close()


@pytest.fixture
def site(tmp_path: Path):
    """A loopback site that serves the files of `site.root`."""
    root = tmp_path / "site"
    root.mkdir()
    server = StaticServer(root)
    yield server
    server.close()
