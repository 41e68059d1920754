"""Time limits for busy machines: time in which other programs had the processors does not count.

Linux tells for each thread how long it ran, and how long it was ready to run
and waited for a processor (``schedstat``). What several processes do together
has lost at least as much as the thread that waited longest. A process that keeps
the processors busy by itself, as a page with many workers does, is not waited
for longer: only the share that it left to others is taken off. Elsewhere the
limits are the clock's; whether a page hangs is told by the processor time of its
script on every system (`core.browser.hanging`).
"""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from typing import NamedTuple

_GRACE = 0.25
"""Seconds that count in full: nothing is asked of the system for what is done by then."""
_MOST_SHARE = 0.05
"""How much of the time may go into asking the system, however many limits there are and threads to ask for."""


class _Given(NamedTuple):
    """What some processes had of the processors so far, in nanoseconds."""

    ran: dict[int, int]
    """By process."""
    waited: dict[str, int]
    """By thread."""
    when: float = 0.0
    """On the monotonic clock."""
    until: float = 0.0
    """Until then it is not asked for again."""


_known: dict[int | None, _Given] = {}
"""What was asked for last, by process."""


class Limit:
    """A number of seconds from now, not counting those in which other programs had the processors.

    `process` is the process whose threads are measured; by default this process and its children.
    """

    def __init__(self, seconds: float, process: int | None = None) -> None:
        self._seconds = seconds
        self._process = process
        self._began = time.monotonic()
        self._before: _Given | None = None
        self._after: _Given | None = None
        self._left = seconds

    def left(self) -> float:
        """Return the seconds that are left, at least; 0 or less when they are over.

        What the system has not been asked about yet does not count so far.
        """
        now = time.monotonic()
        if self._before is None:
            left = self._seconds - (now - self._began)
            if now - self._began >= min(_GRACE, self._seconds / 2):
                self._seconds, self._before = left, _latest(self._process)
            return left
        if (latest := _latest(self._process)) is not self._after:
            self._after, self._left = latest, self._seconds - _counted(self._before, latest)
        return self._left

    def first(self) -> float:
        """Return after how many seconds `left` is to be asked for the first time."""
        return min(_GRACE, self._seconds / 2)


@asynccontextmanager
async def within(seconds: float) -> AsyncGenerator[asyncio.Timeout, None]:
    """Like `asyncio.timeout`, by a `Limit`: raises TimeoutError when it is over."""
    loop = asyncio.get_running_loop()
    limit = Limit(seconds)
    async with asyncio.timeout(None) as timeout:
        timer = loop.call_later(limit.first(), lambda: check())

        def check() -> None:
            nonlocal timer
            left = limit.left()
            if left > 0:
                timer = loop.call_later(max(left, 0.01), check)
            else:
                timeout.reschedule(loop.time())

        try:
            yield timeout
        finally:
            timer.cancel()


def _counted(before: _Given, after: _Given) -> float:
    elapsed = after.when - before.when
    waited = (
        max((time - before.waited.get(thread, 0) for thread, time in after.waited.items()), default=0) / 1e9
    )
    ran = max((time - before.ran.get(one, 0) for one, time in after.ran.items()), default=0) / 1e9
    others = 1 - ran / max(elapsed * (os.cpu_count() or 1), 1e-6)
    return elapsed - min(waited, elapsed) * min(max(others, 0.0), 1.0)


def _latest(process: int | None) -> _Given:
    """Return what was asked for last, or ask again if that has taken little of the time since."""
    began = time.monotonic()
    known = _known.get(process)
    if known is not None and began < known.until:
        return known
    given = _read(process)
    now = time.monotonic()
    for other in [one for one, old in _known.items() if old.until < began]:
        del _known[other]
    _known[process] = given._replace(when=now, until=now + (now - began) / _MOST_SHARE)
    return _known[process]


def _read(process: int | None) -> _Given:
    given = _Given({}, {})
    for one in (process,) if process is not None else family(os.getpid()):
        for thread in _listed(f"/proc/{one}/task"):
            ran, waited, *_ = _words(f"/proc/{one}/task/{thread}/schedstat") or ("0", "0")
            given.ran[one] = given.ran.get(one, 0) + int(ran)
            given.waited[thread] = int(waited)
    return given


def family(process: int) -> Iterator[int]:
    """Yield a process and all that it and its descendants have started."""
    yield process
    for thread in _listed(f"/proc/{process}/task"):
        for child in _words(f"/proc/{process}/task/{thread}/children"):
            yield from family(int(child))


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []  # It has ended, or this is not Linux.


def _words(path: str) -> list[str]:
    try:
        with open(path, encoding="ascii") as file:
            return file.read().split()
    except OSError:
        return []
