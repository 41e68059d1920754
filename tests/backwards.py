"""Runs the tests of each file backwards, to find those that need others before them: ``pytest -p tests.backwards``."""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Reverse the tests of each file; the files keep their order."""
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.nodeid.partition("::")[0], []).append(item)
    items[:] = [item for tests in files.values() for item in reversed(tests)]
