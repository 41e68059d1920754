"""Carries announcements of core to the GUI thread: the only connection between them.

A core `Signal` is sent from the worker's thread; the relay takes the value there, returns at once, and emits
`received` on its own thread. Bursts are thinned out here and nowhere else.
"""

import threading
import time
from typing import Any, Literal

from PySide6 import QtCore
from PySide6.QtCore import QObject, QTimer

from core.schema.signal import Signal


class _Inbox:
    """Values that were sent but not yet delivered; lives as long as either side needs it.

    It is a plain object, so that a send that races with the relay's destruction meets a closed inbox and not a
    deleted QObject.
    """

    def __init__(self, source: Signal[Any], keep: Literal["latest", "every"], wake: "Relay") -> None:
        self._source = source
        self._keep = keep
        self._wake: Relay | None = wake
        self._lock = threading.Lock()
        self._values: list[Any] = []
        self._woken = False
        source.connect(self.put)

    def put(self, value: Any) -> None:
        with self._lock:
            if self._wake is None:
                return
            if self._keep == "latest":
                self._values.clear()
            self._values.append(value)
            if self._woken:
                return
            self._woken = True
            self._wake._woken.emit()

    def take(self) -> list[Any]:
        with self._lock:
            values, self._values = self._values, []
            self._woken = False
            return values

    def close(self) -> None:
        with self._lock:
            if self._wake is None:
                return
            self._wake = None
            self._values.clear()
        try:
            self._source.disconnect(self.put)
        except ValueError:
            pass  # the sender was emptied first


class Relay(QObject):
    """Emits what `source` sends, on the thread that created the relay.

    If it keeps the latest, `received` carries one value, at most one every `interval_ms`; values replaced in
    between are never seen. If it keeps all, it carries a tuple of all values since the last time, in order.

    Nothing arrives after `close`, which also happens when the relay or its parent is destroyed.
    """

    received = QtCore.Signal(object)
    _woken = QtCore.Signal()

    def __init__(
        self,
        source: Signal[Any],
        *,
        keep: Literal["latest", "every"] = "latest",
        interval_ms: int = 16,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._keep = keep
        self._interval = interval_ms / 1000
        self._last = 0.0
        self._timer = QTimer(self, singleShot=True, timerType=QtCore.Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._deliver)
        self._woken.connect(self._on_woken, QtCore.Qt.ConnectionType.QueuedConnection)
        self._inbox = _Inbox(source, keep, self)
        self.destroyed.connect(self._inbox.close)

    def close(self) -> None:
        """Stop listening; a value that was not delivered yet is dropped."""
        self._timer.stop()
        self._inbox.close()

    def _on_woken(self) -> None:
        remaining = self._last + self._interval - time.monotonic()
        if remaining <= 0:
            self._deliver()
        else:
            self._timer.start(max(1, round(remaining * 1000)))

    def _deliver(self) -> None:
        values = self._inbox.take()
        if not values:
            return
        self._last = time.monotonic()
        self.received.emit(tuple(values) if self._keep == "every" else values[-1])
