import pytest

from core.exemplars.library.store import Library


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data" / "exemplars.db"


@pytest.fixture
def library(path):
    library = Library.open(path, busy_seconds=0)
    yield library
    library.close()
