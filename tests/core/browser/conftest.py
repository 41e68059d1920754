"""The suite in an installed Chromium: one process for all tests, a clean profile for each."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.browser.chromium import ChromiumHost, find_chromium
from tests.core.browser.browsing import Browsing, Worker, impatient
from tests.core.browser.site import Site
from tests.core.stage import need_chromium


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


@pytest.fixture(scope="session")
def whole_chromium() -> str:
    """The path of a whole Chromium, for what the headless shell does otherwise or has not."""
    path = os.environ.get("BACKSTEP_CHROMIUM") or find_chromium()
    if path is None or path.endswith("headless-shell") or shutil.which(path) is None:
        pytest.skip("no whole Chromium is installed; set BACKSTEP_CHROMIUM to the path of one")
    return path


@contextmanager
def browsing_in(executable: str, profiles: Path) -> Iterator[Browsing]:
    worker = Worker()
    browsing = Browsing(ChromiumHost(executable, profiles=str(profiles)), worker)
    yield browsing
    browsing.close()
    worker.close()


@pytest.fixture(scope="session")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browsing]:
    executable = os.environ.get("BACKSTEP_CHROMIUM") or need_chromium()
    with browsing_in(executable, tmp_path_factory.mktemp("profiles")) as browsing:
        yield browsing


@pytest.fixture(scope="session")
def whole_started(whole_chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browsing]:
    with browsing_in(whole_chromium, tmp_path_factory.mktemp("profiles")) as browsing:
        yield browsing


@pytest.fixture
def browser(request: pytest.FixtureRequest) -> Browsing:
    whole = request.node.get_closest_marker("whole_chromium") is not None
    browsing: Browsing = request.getfixturevalue("whole_started" if whole else "started")
    browsing.begin()
    return browsing


__all__ = ["browser", "impatient", "site", "started", "whole_chromium", "whole_started"]
