"""What holds for every test."""

import sys
from collections.abc import Generator, Sequence

import pytest
from hypothesis import settings

from core.system.garbage import GarbageCollector

# An example may take any time: the machine has other work.
settings.register_profile("backstep", deadline=None)
settings.load_profile("backstep")

_GARBAGE = GarbageCollector()
_START_A_BROWSER = frozenset({"area", "browser", "started_live", "whole_chromium", "whole_stage"})
"""Fixtures that start a browser: what asks for one of them, in any way, is marked `browser`."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and not _START_A_BROWSER.isdisjoint(item.fixturenames):
            item.add_marker("browser")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown() -> None:
    """Collect garbage between the tests, in their thread: threads of a test would collect what others left of Qt."""
    _GARBAGE.collect()


@pytest.fixture(autouse=True)
def _keys_are_forgotten() -> Generator[None]:
    """Forget the keys that a test has had in the environment."""
    yield
    if "core.llm.endpoints" in sys.modules:
        sys.modules["core.llm.endpoints"].TAKEN.clear()
