"""Opening tasks in haste: each opening takes the place of the one before, and only the last one stays."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Openings:
    """Lets one opening at a time go on; `lock` is held while it does."""

    def __init__(self, lock: asyncio.Lock) -> None:
        self._lock = lock
        self._asked = 0
        """How often an opening, or a stop, was asked for: only the last one counts."""
        self._under_way: asyncio.Task[Any] | None = None

    async def only(self, work: Callable[[], Awaitable[T]]) -> T | None:
        """Cancel the opening under way and do this one, in the current task.

        Returns None where another one, or a stop, was asked for meanwhile.
        """
        self._asked += 1
        mine = self._asked
        await self._cancel()
        if mine != self._asked:
            return None
        self._under_way = asyncio.current_task()
        try:
            async with self._lock:
                return await work()
        finally:
            if self._under_way is asyncio.current_task():
                self._under_way = None

    async def stop(self) -> bool:
        """Cancel the opening under way and those that wait for it; return whether there was one."""
        self._asked += 1
        return await self._cancel()

    async def _cancel(self) -> bool:
        opening, self._under_way = self._under_way, None
        if opening is None or opening.done():
            return False
        opening.cancel()
        await asyncio.wait([opening])
        return True
