"""Questions to the database that take a while, asked in a thread of their own beside the run."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from core.schema.errors import UsageError
from core.trace.store import TraceStore

T = TypeVar("T")


async def ask_file(store: TraceStore | None, question: Callable[[TraceStore], T]) -> T:
    """Ask the file of `store` through a reader of its own, which the run's writing does not wait for.

    Raises UsageError where there is no store yet, and what the question raises.
    """
    if store is None:
        raise UsageError("The database is not open yet; wait a moment and try again.")
    path = store.path

    def read() -> T:
        reader = TraceStore.open(path, read_only=True)
        try:
            return question(reader)
        finally:
            reader.close()

    return await asyncio.to_thread(read)
