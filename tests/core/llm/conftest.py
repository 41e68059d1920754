import pytest

from tests.core.llm.asking import make
from tests.llm_server import llm_server

__all__ = ["llm_server"]


@pytest.fixture
async def llm(llm_server):
    llm = make(llm_server)
    yield llm
    await llm.close()
