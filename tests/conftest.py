"""What holds for every test."""

import os
import signal
import sys
import tempfile
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest
from hypothesis import settings

from core.system.memory import GarbageCollector

# An example may take any time: the machine has other work. Each run of the suite tries other examples.
settings.register_profile("backstep", deadline=None, max_examples=40)
settings.load_profile("backstep")

# A job in the background begins with interrupts ignored, and so would every program that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Playwright's driver is one large script: Node keeps it compiled, where it does so by itself too.
os.environ.setdefault("NODE_COMPILE_CACHE", str(Path(tempfile.gettempdir()) / "node-compile-cache"))

_GARBAGE = GarbageCollector()
_START_A_BROWSER = frozenset({"area", "browser", "started_live", "whole_chromium", "whole_stage"})
"""Fixtures that start a browser: what asks for one of them, in any way, is marked `browser`."""


_MAY_BE_SKIPPED = (
    "python -m tests.campaigns.adapters",  # It installs the packages of others, and runs these.
    "BACKSTEP_LLM_SERVER names no LLM server",
    "BACKSTEP_GGUF names no model",  # A real one is large; see the README of the tests.
    "xllamacpp is not installed",  # The extra `local`, which is large too.
    "Qt answers dialogs before anyone could wait",
    "cannot be had",  # A package of others that is out of reach.
    "could not be installed",
)
"""Reasons for which a test is skipped where all is to run (the variable CI), by a part of their words."""
_SKIPPED: set[str] = set()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and isinstance(report.longrepr, tuple):
        _SKIPPED.add(f"{report.nodeid}: {report.longrepr[2]}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail where a test was skipped for a reason that nobody has listed; in a worker its reports go elsewhere."""
    unlisted = [said for said in _SKIPPED if not any(reason in said for reason in _MAY_BE_SKIPPED)]
    if unlisted and os.environ.get("CI") and not hasattr(session.config, "workerinput"):
        print("\nSkipped for no listed reason:", *sorted(unlisted), sep="\n", file=sys.stderr)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and not _START_A_BROWSER.isdisjoint(item.fixturenames):
            item.add_marker("browser")


def pytest_collection_finish() -> None:
    """Leave what was imported out of each collection of garbage: it stays until the end."""
    _GARBAGE.keep_all()


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
