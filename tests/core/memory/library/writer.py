"""A program that keeps exemplars and indexes them until it is killed: ``python -m … FOLDER FIRST``.

It says on stdout the member it has kept, a line each, before it is indexed.
"""

import asyncio
import sys
from pathlib import Path

from core.memory.library.records import LIBRARY_NAME
from core.memory.memory import Memory
from tests.core.memory.clusters import Clusters, clustered


async def main() -> None:
    folder, first = Path(sys.argv[1]), int(sys.argv[2])
    embedding = Clusters(5, 64)
    memory = Memory(
        (), index_folder=folder / "index", embedding=lambda: embedding, library=folder / LIBRARY_NAME
    )
    for member in range(first, first + 100_000):
        memory.library().save(clustered(member % 5, member))
        print(member, flush=True)
        await memory.refreshed()


if __name__ == "__main__":
    asyncio.run(main())
