"""Returns memory that a flood of data from a page has used to the system; otherwise the C library keeps it."""

import ctypes
import sys
import threading

from PySide6.QtCore import QObject, QTimer

from core.system.memory import resident_bytes

_LOOK_MS = 5000
_GROWN = 100_000_000
"""Growth of the process in bytes at which memory is released."""


class SpareMemory(QObject):
    """Releases free memory in a separate thread each time the process has grown by 100 MB.

    The engine keeps what a page sends in this process until it is read: hundreds of MB in small blocks, which glibc
    does not return by itself. Does nothing without glibc.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._least = 0
        self._trim = _trim_function()
        self._timer = QTimer(self, interval=_LOOK_MS)
        self._timer.timeout.connect(self._look)
        if self._trim is not None:
            self._least = resident_bytes() or 0
            self._timer.start()

    def _look(self) -> None:
        size = resident_bytes() or 0
        self._least = min(self._least, size)
        if size - self._least > _GROWN:
            # Memory in use cannot be released, so this runs again only after the same growth.
            threading.Thread(target=self._give_back, name="spare memory", daemon=True).start()

    def _give_back(self) -> None:
        assert self._trim is not None
        self._trim(0)
        self._least = resident_bytes() or 0


def _trim_function() -> "ctypes._NamedFuncPointer | None":
    if sys.platform != "linux":
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)
