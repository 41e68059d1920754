"""The memory of this process: its size, and the collection of cyclic garbage in one thread only."""

import gc
import os
import time
from pathlib import Path


def resident_bytes() -> int | None:
    """Return the resident memory of this process; None where the system does not tell (other than Linux)."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None


_MOST_SHARE = 0.01


class GarbageCollector:
    """Replaces Python's automatic collection of cyclic garbage: it happens only in `collect`.

    Python collects in any thread that allocates, but a Qt object must be destroyed in its own thread: a timer
    that is destroyed elsewhere stays registered in its thread, which crashes when the timer is due.
    """

    def __init__(self) -> None:
        gc.disable()
        self._next_full = 0.0

    def keep_all(self) -> None:
        """Never look again at what there is now: modules, classes and the window stay until `close`."""
        gc.freeze()

    def collect(self) -> None:
        """Collect the oldest generation that is due by Python's thresholds, in this thread.

        Full collections look at every other object: they take at most a hundredth of the time.
        """
        due = [count > threshold for count, threshold in zip(gc.get_count(), gc.get_threshold(), strict=True)]
        began = time.monotonic()
        if due[2] and began >= self._next_full:
            gc.collect()
            now = time.monotonic()
            self._next_full = now + (now - began) / _MOST_SHARE
        elif due[1]:
            gc.collect(1)
        elif due[0]:
            gc.collect(0)

    def close(self) -> None:
        """Leave it to Python again."""
        gc.unfreeze()
        gc.enable()
