"""Measures when the main thread does not come round in time."""

from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer, Signal


class Heartbeat(QObject):
    """Beats every `interval_ms` and tells of each beat that came more than `limit_ms` late.

    `stalled` is sent after the stall, with how late the beat was in
    milliseconds; `worst` is the longest since `reset`.
    """

    stalled = Signal(float)

    def __init__(self, parent: QObject | None = None, *, interval_ms: int = 20, limit_ms: float = 50) -> None:
        super().__init__(parent)
        self._limit = limit_ms
        self._clock = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(interval_ms)
        self._timer.timeout.connect(self._on_beat)
        self.worst = 0.0

    def start(self) -> None:
        """Begin measuring from now; what happened before does not count."""
        self.reset()
        self._clock.start()
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()

    def reset(self) -> None:
        self.worst = 0.0

    def _on_beat(self) -> None:
        late = self._clock.nsecsElapsed() / 1e6 - self._timer.interval()
        self._clock.restart()
        self.worst = max(self.worst, late)
        if late > self._limit:
            self.stalled.emit(late)
