"""Playback of a run: its recorded steps are shown one after another; nothing is done in the live page."""

from PySide6.QtCore import QTimer, Slot

from core.debugger.steps.views import StepView
from core.debugger.timeline.playing import seconds_shown
from gui.shell.feature import FeatureController
from gui.shell.main_window import MainWindow

_PATIENCE_MS = 10_000
"""Maximum time to show a step; then the playback ends."""


class Playback(FeatureController):
    """Requests the next step after the current one was shown for its time."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._wanted: int | None = None
        """The index of the step that was requested and is not shown yet."""
        self._shown = 0
        """The index of the step that was shown last."""
        self._wait = QTimer(self, singleShot=True)
        self._wait.timeout.connect(lambda: self._ask(self._shown + 1))
        self._patience = QTimer(self, singleShot=True, interval=_PATIENCE_MS)
        self._patience.timeout.connect(window.time.stop_playing)
        window.time.playing_changed.connect(self._on_playing)
        window.step_shown.connect(self._on_step)
        window.closed.connect(window.time.stop_playing)

    @Slot(bool)
    def _on_playing(self, on: bool) -> None:
        self._wait.stop()
        self._patience.stop()
        if on:
            film = self.window.time.film
            at = film.currentIndex().row()
            # At its end, playback restarts at the beginning.
            self._ask(at if 0 <= at < len(film.view.steps) - 1 else 0)

    def _ask(self, at: int) -> None:
        steps = self.window.time.film.view.steps
        if at >= len(steps):
            self.window.time.stop_playing()
            return
        self._wanted = at
        self._patience.start()
        self.window.session.trace.show_step(steps[at].run, steps[at].number)

    @Slot(object)
    def _on_step(self, step: StepView) -> None:
        if not self.window.time.is_playing:
            return
        view = self.window.time.film.view
        at = view.position(step.run, step.number)
        if self._wanted is not None:
            if at == self._wanted:
                self._shown, self._wanted = at, None
                self._patience.stop()
                speed = self.window.remembered.play_speed
                self._wait.start(round(seconds_shown(view, at, speed) * 1000))
        elif at != self._shown:
            self.window.time.stop_playing()  # The person has gone to another step.
