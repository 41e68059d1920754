"""Reads the database in a separate thread, without slowing the run."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from core.schema.errors import BackstepError, UsageError
from core.trace.store import TraceStore

T = TypeVar("T")


async def ask_file(store: TraceStore | None, question: Callable[[TraceStore], T]) -> T:
    """Ask the file of `store` a question that takes a while, through a reader of its own.

    The run's writing does not wait for it. Raises UsageError if there is
    no store yet, and what the question raises.
    """
    if store is None:
        raise UsageError("The database is not open yet. Wait a moment and try again.")
    path = store.path

    def read() -> T:
        reader = TraceStore.open(path, read_only=True)
        try:
            return question(reader)
        finally:
            reader.close()

    return await asyncio.to_thread(read)


class TraceReader:
    """Runs short queries one after another, in one thread and over one connection."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="backstep reader")
        self._file: TraceStore | None = None

    async def ask(self, store: TraceStore, question: Callable[[TraceStore], T]) -> T:
        """Ask the file of `store`, always the same one; raises TraceError, and what the question raises."""

        def read() -> T:
            if self._file is None:
                self._file = TraceStore.open(store.path, read_only=True)
            return question(self._file)

        return await asyncio.get_running_loop().run_in_executor(self._thread, read)

    async def close(self) -> None:
        """Close the connection, once what was asked has been answered."""

        def close() -> None:
            if self._file is not None:
                self._file.close()

        await asyncio.get_running_loop().run_in_executor(self._thread, close)
        self._thread.shutdown()


class LatestRead:
    """Runs one query at a time; of those that wait, only the newest is run.

    So results are sent in the order of the requests. Only for use in the worker's loop.
    """

    def __init__(self, crashed: Callable[[Exception], None]) -> None:
        """`crashed` is given what reading or sending has raised that is our own mistake."""
        self._crashed = crashed
        self._next: (
            tuple[Callable[[], Awaitable[Any]], Callable[[Any], None], Callable[[str], None]] | None
        ) = None
        self._withdrawn = 0
        self._reading: asyncio.Task[None] | None = None

    @property
    def pending(self) -> bool:
        """Whether something that was asked for has not been sent yet."""
        return self._reading is not None and not self._reading.done()

    def ask(
        self, read: Callable[[], Awaitable[T]], send: Callable[[T], None], failed: Callable[[str], None]
    ) -> None:
        """Read outside the loop, then `send` in it; `failed` gets a sentence why nothing was read."""
        self._next = (read, send, failed)
        if not self.pending:
            self._reading = asyncio.ensure_future(self._read())

    def withdraw(self) -> None:
        """Send nothing of what was asked for so far."""
        self._next = None
        self._withdrawn += 1

    async def settled(self) -> None:
        """Wait until everything that was asked for has been sent."""
        while self._reading is not None and not self._reading.done():
            await asyncio.wait([self._reading])

    async def _read(self) -> None:
        while self._next is not None:
            (read, send, failed), self._next = self._next, None
            before = self._withdrawn
            try:
                found = await read()
                if before == self._withdrawn:
                    send(found)
            except BackstepError as error:
                if before == self._withdrawn:
                    failed(str(error))
            except Exception as error:
                self._crashed(error)


async def finish_in_thread(work: Callable[[], T], on_cancel: Callable[[], None] = lambda: None) -> T:
    """Do work in a thread, and wait for its end even where the task is cancelled: it leaves nothing half done."""
    working = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        on_cancel()
        return await working
