from collections.abc import AsyncIterator

import pytest_asyncio

from core.environments.airline.environment import Airline


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def airline() -> AsyncIterator[Airline]:
    environment = Airline()
    yield environment
    await environment.close()
