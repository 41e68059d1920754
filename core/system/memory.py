"""The memory of this process."""

import os
from pathlib import Path


def resident_bytes() -> int | None:
    """Return the resident memory of this process; None where the system does not tell (other than Linux)."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None
