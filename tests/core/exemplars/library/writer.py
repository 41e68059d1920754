"""Keeps exemplars and indexes them until its process is killed."""

import asyncio
from multiprocessing.connection import Connection
from pathlib import Path

from core.exemplars.library.records import LIBRARY_NAME
from core.exemplars.memory import Memory
from tests.core.exemplars.clusters import Clusters, clustered


def keep_until_killed(channel: Connection, folder: Path, first: int) -> None:
    """Send each member that was kept, from `first` on, before it is indexed."""
    asyncio.run(_keep(channel, folder, first))


async def _keep(channel: Connection, folder: Path, first: int) -> None:
    embedding = Clusters(5, 64)
    memory = Memory(
        (), index_folder=folder / "index", embedding=lambda: embedding, library=folder / LIBRARY_NAME
    )
    for member in range(first, first + 100_000):
        memory.library().save(clustered(member % 5, member))
        channel.send(member)
        await memory.refreshed()
