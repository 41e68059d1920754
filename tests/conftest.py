"""What holds for every test."""

from collections.abc import Sequence

import pytest

_START_A_BROWSER = frozenset({"area", "browser", "started_live", "whole_chromium", "whole_stage"})
"""Fixtures that start a browser: what asks for one of them, in any way, is marked `browser`."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and not _START_A_BROWSER.isdisjoint(item.fixturenames):
            item.add_marker("browser")
