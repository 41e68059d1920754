"""When the main thread of a window stands still, and in which functions.

The main thread writes its own stack, by faulthandler at a signal: another thread
that looked at its frames would keep painters alive that their functions have
left, and Qt fails then.
"""

import faulthandler
import re
import signal
import tempfile
import threading
import time
from collections import Counter

from PySide6.QtCore import QObject, Qt, QTimer

LIMIT_MS = 50.0
_EVERY_MS = 10
_LOOK_SECONDS = 0.01
_STACK = "Stack (most recent"
_FRAME = re.compile(r'File "(?:.*/)?((?:gui|core)/[^"]+)", line (\d+) in (\S+)')


class Stalls:
    """Watches the main thread, in which it is made, from now on; `parent` lives as long."""

    def __init__(self, parent: QObject) -> None:
        self._found: list[tuple[float, float, str]] = []
        self._main = threading.get_ident()
        self._stacks = tempfile.TemporaryFile()  # noqa: SIM115 - faulthandler writes to it until the end
        self._begin()
        faulthandler.register(signal.SIGUSR2, file=self._stacks, all_threads=False)
        beats = QTimer(parent, timerType=Qt.TimerType.PreciseTimer, interval=_EVERY_MS)
        beats.timeout.connect(self._on_beat)
        beats.start()
        threading.Thread(target=self._look, daemon=True).start()

    def take(self) -> list[tuple[float, float, str]]:
        """Return what was found since this was last asked, and begin anew now.

        That is for each stall how many milliseconds it took, for how many the thread ran, and what held.
        """
        found, self._found = self._found, []
        self._begin()
        return found

    def _on_beat(self) -> None:
        late = (time.perf_counter() - self._beaten) * 1000 - _EVERY_MS
        if late > LIMIT_MS:
            self._stacks.seek(0)
            stacks = self._stacks.read().decode().split(_STACK)[1:]
            seen = Counter(_where(one) for one in stacks)
            held = [f"{where} ({count}x)" for where, count in seen.most_common(4)]
            spent = (time.thread_time() - self._spent) * 1000
            self._found.append((late, spent, " | ".join(held)))
        self._begin()

    def _begin(self) -> None:
        self._stacks.seek(0)
        self._stacks.truncate()
        self._beaten, self._spent = time.perf_counter(), time.thread_time()

    def _look(self) -> None:
        while True:
            time.sleep(_LOOK_SECONDS)  # The main thread is looked at from outside, at intervals.
            if time.perf_counter() - self._beaten > 2 * _EVERY_MS / 1000:
                signal.pthread_kill(self._main, signal.SIGUSR2)


def _where(stack: str) -> str:
    """Return the innermost functions of the project's own on a stack, the innermost first."""
    found = [f"{file}:{line} {name}" for file, line, name in _FRAME.findall(stack)[:3]]
    return " < ".join(found) or "outside Python"
