import pytest

from tests.core.llm.asking import make


@pytest.fixture
async def llm(llm_server):
    llm = make(llm_server)
    yield llm
    await llm.close()
