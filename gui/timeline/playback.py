"""Playback of a run: its recorded steps are shown one after another; nothing is done in the live page."""

from PySide6.QtCore import QTimer, Slot

from core.debugger.snapshots import StepView
from core.debugger.timeline.playing import seconds_shown
from gui.shell.feature import FeatureController
from gui.shell.main_window import MainWindow

_PATIENCE_MS = 10_000
"""Maximum time to show a step; then the playback ends."""


class Playback(FeatureController):
    """Requests the next step after the current one was shown for its time."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._wanted: tuple[int, int] | None = None
        """The step that was requested and is not shown yet."""
        self._shown: tuple[int, int] | None = None
        self._wait = QTimer(self, singleShot=True)
        self._wait.timeout.connect(self._go_on)
        self._patience = QTimer(self, singleShot=True, interval=_PATIENCE_MS)
        self._patience.timeout.connect(window.time.stop_playing)
        window.time.playing_changed.connect(self._on_playing)
        window.step_shown.connect(self._on_step)
        window.closed.connect(window.time.stop_playing)

    @Slot(bool)
    def _on_playing(self, on: bool) -> None:
        self._wait.stop()
        self._patience.stop()
        self._wanted = self._shown = None
        if not on:
            return
        steps = self.window.time.film.view.steps
        at = self.window.time.film.at
        if not steps:
            self.window.time.stop_playing()
        elif at is None or at is steps[-1]:  # At its end, playback restarts at the beginning.
            self._ask(0)
        else:
            self._ask(steps.index(at))

    def _ask(self, at: int) -> None:
        step = self.window.time.film.view.steps[at]
        self._wanted = (step.run, step.number)
        self._patience.start()
        self.window.session.trace.show_step(*self._wanted)

    @Slot(object)
    def _on_step(self, step: StepView) -> None:
        if not self.window.time.is_playing:
            return
        place = (step.run if step.row is None else step.row.run, step.number)
        if self._wanted is not None:
            if place == self._wanted:
                self._shown, self._wanted = place, None
                self._patience.stop()
                self._rest()
        elif place != self._shown:
            self.window.time.stop_playing()  # The person has gone to another step.

    def _rest(self) -> None:
        view, at = self.window.time.film.view, self._position()
        if at is None or at + 1 >= len(view.steps):
            self.window.time.stop_playing()
        else:
            speed = self.window.remembered.play_speed
            self._wait.start(round(seconds_shown(view, at, speed) * 1000))

    def _go_on(self) -> None:
        at = self._position()
        if at is None or at + 1 >= len(self.window.time.film.view.steps):
            self.window.time.stop_playing()
        else:
            self._ask(at + 1)

    def _position(self) -> int | None:
        return None if self._shown is None else self.window.time.film.view.position(*self._shown)
