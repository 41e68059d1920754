import pytest

from tests.core.debugger.exemplars.opened_library import OpenedLibrary


@pytest.fixture
def library(tmp_path):
    library = OpenedLibrary(tmp_path)
    yield library
    library.close()
