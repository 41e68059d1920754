"""One setup at a time for a project folder, across processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(folder: Path, on_wait: Callable[[], None]) -> Iterator[tuple[int, ...]]:
    """Hold the lock of `folder`; calls `on_wait` once if another process has it, then waits.

    Gives the descriptors that hold the lock: handed on to a command, they
    keep it until that command ends too, even if this process is killed
    before. The lock is on the folder itself, so it leaves no file behind.
    Where the file system knows no locks, goes on without one and gives none.
    """
    try:
        import fcntl
    except ImportError:
        yield ()
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:
            yield ()
            return
        yield (descriptor,)
    finally:
        os.close(descriptor)
