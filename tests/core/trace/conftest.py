from collections.abc import Iterator
from pathlib import Path

import pytest

from core.trace.store import TraceStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "traces" / "traces.db"


@pytest.fixture
def store(path: Path) -> Iterator[TraceStore]:
    store = TraceStore.open(path, busy_seconds=0)
    yield store
    store.close()
