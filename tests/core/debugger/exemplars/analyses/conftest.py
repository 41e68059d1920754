"""Services over a real memory, without a browser: what they queue is done on the test's own loop."""

import asyncio
from types import SimpleNamespace

import pytest

from core.agent.presets import Presets
from core.exemplars.library.records import LIBRARY_NAME
from core.exemplars.memory import Memory
from core.schema.signal import Signal
from tests.core.exemplars.clusters import Clusters


class FakeSession:
    """What a service needs of a session."""

    def __init__(self, folder):
        self.memory = Memory(
            (folder / "files",),
            index_folder=folder / "index",
            library=folder / LIBRARY_NAME,
            embedding=lambda: Clusters(4, 256),
        )
        self.store = None
        self.closers = []
        self.worked = Signal()
        self.resources = SimpleNamespace(memory=self.memory, presets=Presets())
        self._queued = set()

    def queue(self, work):
        self._queued.add(asyncio.ensure_future(work))

    def services(self):
        return SimpleNamespace(resources=self.resources)

    async def close(self):
        for close in self.closers:
            await close()
        self.memory.close()


class Watched:
    """Keeps every view of a service, and waits for one."""

    def __init__(self, service):
        self.views = []
        self._met = asyncio.Event()
        service.changed.connect(self._keep)

    def _keep(self, view):
        self.views.append(view)
        self._met.set()

    async def until(self, condition):
        """Return the first view from now on that meets it, or the last one where that does."""
        async with asyncio.timeout(30):
            while not (self.views and condition(self.views[-1])):
                self._met.clear()
                await self._met.wait()
        return self.views[-1]

    async def after(self, ask, condition):
        """Ask for something and return the first view of what came of it."""
        self.views.clear()
        ask()
        return await self.until(condition)


@pytest.fixture
async def session(tmp_path):
    session = FakeSession(tmp_path)
    yield session
    await session.close()
