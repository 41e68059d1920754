import pytest

from core.exemplars.library.store import Library
from core.exemplars.library.tables import KIND
from core.storage.database import DatabaseFile


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data" / "exemplars.db"


@pytest.fixture
def library(path):
    library = Library(DatabaseFile.open(path, KIND, busy_seconds=0))
    yield library
    library.close()
