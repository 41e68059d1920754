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
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browsing]:
    path = os.environ.get("BACKSTEP_CHROMIUM") or find_chromium()
    if path is None or shutil.which(path) is None:
        pytest.skip("no Chromium is installed; set BACKSTEP_CHROMIUM to the path of one")
    profiles = str(tmp_path_factory.mktemp("profiles"))
    worker = Worker()
    browsing = Browsing(ChromiumHost(path, profiles=profiles), worker)
    yield browsing
    browsing.close()
    worker.close()


@pytest.fixture
def browser(started: Browsing) -> Browsing:
    started.begin()
    return started


__all__ = ["browser", "impatient", "site", "started"]
