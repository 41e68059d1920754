from pathlib import Path

import pytest

from core.agent.spaces.file import StateSpace, read_space
from tests.core.agent.spaces.pages import SHOP


@pytest.fixture
def space_path(tmp_path: Path) -> Path:
    path = tmp_path / "corner.toml"
    path.write_text(SHOP, encoding="utf-8")
    return path


@pytest.fixture
def space(space_path: Path) -> StateSpace:
    return read_space(space_path)
