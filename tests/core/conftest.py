import pytest

from tests.core.stage import Stage
from tests.llm_server import LLMServer


@pytest.fixture
def llm_server():
    with LLMServer() as server:
        yield server


@pytest.fixture(scope="session")
def whole_stage(tmp_path_factory):
    """One installed Chromium and one trace for all tests that drive runs."""
    stage = Stage(tmp_path_factory.mktemp("stage"))
    yield stage
    stage.close()


@pytest.fixture
def stage(whole_stage):
    """The stage, left without LLMs and files of one's own."""
    yield whole_stage
    whole_stage.clear()
