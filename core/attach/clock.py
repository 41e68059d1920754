"""The clock of an attached program, which stands still while the program is held.

The hooks in ``resources/attach`` put it into each Python and Node program that
is started with `environment`.
"""

import mmap
import os
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from core.storage.resources import RESOURCES

HOOKS = RESOURCES / "attach"
_BOTH = struct.Struct("dd")


class HeldClock:
    """Tells programs how long they have been held, through a memory-mapped file."""

    def __init__(self, path: Path) -> None:
        """Make the file `path`; raises OSError."""
        self.path = path
        path.write_bytes(_BOTH.pack(0.0, 0.0))
        with path.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), _BOTH.size)
        self.on_change: Callable[[], object] = lambda: None
        """Is called when the programs begin to be held, and when they are no more."""
        self._holds = 0
        self._total = 0.0
        self._since = 0.0

    @property
    def holds(self) -> bool:
        """Whether the programs are held now."""
        return self._holds > 0

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the programs until left; holds may overlap."""
        self._holds += 1
        if self._holds == 1:
            self._since = time.monotonic()
            self._tell(self._since)
            self.on_change()
        try:
            yield
        finally:
            self._holds -= 1
            if not self._holds:
                self._total += time.monotonic() - self._since
                self._tell(0.0)
                self.on_change()

    def _tell(self, since: float) -> None:
        if not self._shared.closed:  # A call may be held longer than its agent is attached.
            _BOTH.pack_into(self._shared, 0, self._total, since)

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the variables that a program is started with besides `given`, so that its clock is this one."""
        python = [str(HOOKS), given.get("PYTHONPATH", "")]
        node = [given.get("NODE_OPTIONS", ""), f'--require "{HOOKS / "clock.js"}"']
        return {
            "BACKSTEP_CLOCK": str(self.path),
            "PYTHONPATH": os.pathsep.join(filter(None, python)),
            "NODE_OPTIONS": " ".join(filter(None, node)),
        }

    def close(self) -> None:
        """Release the file, which stays where it is."""
        self._shared.close()
