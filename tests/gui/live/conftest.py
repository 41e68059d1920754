"""Runs the suite of core/browser in the embedded browser: Qt in this thread, the tests in a worker's loop."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from gui.live.embedded_host import EmbeddedHost
from gui.live.page_area import PageArea
from tests.core.browser.browsing import Browsing, Worker, impatient
from tests.core.browser.site import Site
from tests.core.conftest import llm_server
from tests.gui.live.engine_plugin import ENDPOINT
from tests.gui.live.person import person

__all__ = ["llm_server"]

_SECONDS = 240
_SHARE = 3
"""Of so many tests that already ran in an installed Chromium one is repeated, and each that is about frames."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Repeat a part of the tests of core/browser here; all of them where BACKSTEP_REPEATS is ``all``."""
    if os.environ.get("BACKSTEP_REPEATS") == "all":
        return
    repeated: dict[Path, int] = {}
    left_out = []
    for item in items:
        here = item.path.parent == Path(__file__).parent and isinstance(item, pytest.Function)
        if not here or not item.function.__module__.startswith("tests.core.browser."):
            continue
        number = repeated[item.path] = repeated.get(item.path, -1) + 1
        if number % _SHARE and "frame" not in item.nodeid:
            left_out.append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        gone = set(map(id, left_out))
        items[:] = [item for item in items if id(item) not in gone]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Take the page from the person before Qt's events are processed: a failed test's question would wait forever."""
    desk = item.funcargs.get("desk") if isinstance(item, pytest.Function) else None
    if desk is not None:
        desk.area.questions.person_has_page = False
        desk.area.questions.end()
    return (yield)


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


def serve_until_done(future: "Future[Any]", at_end: Callable[[], object] = lambda: None) -> Any:
    """Serve Qt until the worker has finished, and return its result."""
    loop = QEventLoop()
    poll = QTimer()

    def look() -> None:
        if future.done():
            poll.stop()
            at_end()
            loop.quit()

    poll.timeout.connect(look)
    poll.start(2)
    QTimer.singleShot(_SECONDS * 1000, loop, loop.quit)
    if not future.done():
        loop.exec()
    return future.result(0)


@pytest.fixture(scope="session")
def area(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageArea]:
    area = PageArea(profiles=str(tmp_path_factory.mktemp("profiles")))
    area.resize(1000, 780)
    area.show()
    yield area
    area.close_pages()
    area.deleteLater()


@pytest.fixture(scope="session")
def started(area: PageArea) -> Iterator[Browsing]:
    # A question left open by a failed test would keep its loop from ending.
    worker = Worker(partial(serve_until_done, at_end=area.questions.end))
    browsing = Browsing(EmbeddedHost(area, ENDPOINT, ["shop.account-1"]), worker)
    yield browsing
    browsing.close()
    worker.close()


@pytest.fixture
def browser(started: Browsing) -> Browsing:
    started.begin()
    return started


__all__ = ["area", "browser", "impatient", "person", "site", "started"]
