"""The suite in an installed Chromium: one process for all tests, a clean profile for each."""

import os
import shutil
from collections.abc import Iterator

import pytest

from core.browser.chromium import ChromiumHost, find_chromium
from tests.core.browser.browsing import Browsing, Worker, impatient
from tests.core.browser.site import Site


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a whole Chromium: the headless shell has no pages of the browser's own."""
    path = os.environ.get("BACKSTEP_CHROMIUM") or find_chromium()
    if path is None or path.endswith("headless-shell") or shutil.which(path) is None:
        pytest.skip("no whole Chromium is installed; set BACKSTEP_CHROMIUM to the path of one")
    return path


@pytest.fixture(scope="session")
def started(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browsing]:
    profiles = str(tmp_path_factory.mktemp("profiles"))
    worker = Worker()
    browsing = Browsing(ChromiumHost(chromium, profiles=profiles), worker)
    yield browsing
    browsing.close()
    worker.close()


@pytest.fixture
def browser(started: Browsing) -> Browsing:
    started.begin()
    return started


__all__ = ["browser", "chromium", "impatient", "site", "started"]
