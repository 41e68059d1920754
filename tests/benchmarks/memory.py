"""Processes below another one, and what memory and processor time they take (Linux)."""

import os
from contextlib import suppress
from pathlib import Path

from core.system.patience import family


def descendants() -> dict[int, str]:
    """Return the processes below this one, each with its command line."""
    found: dict[int, str] = {}
    for process in list(family(os.getpid()))[1:]:
        with suppress(OSError):  # It has just ended.
            found[process] = Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")
    return found


def pss_mb(root: int | None = None) -> float:
    """Return the proportional memory of a process, by default this one, and all below it, in MB."""
    total = 0
    for process in family(root or os.getpid()):
        with suppress(OSError):
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def ticks(process: int) -> list[int]:
    """Return what a process took of the processors: in user mode and the kernel, then its children that have ended."""
    with suppress(OSError):
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return [int(word) for word in words[11:15]]
    return [0] * 4
