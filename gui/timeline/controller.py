"""The steps of the run in view and their times, its page log where it can be seen, and the playback of a run."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QTimer, Slot

from core.debugger.session_view import RunsView, SessionView
from core.debugger.steps.views import StepView
from core.debugger.timeline.views import TimeView, seconds_shown
from core.trace.records import RunRow
from gui.shell.feature import FeatureController
from gui.shell.main_window import MainWindow
from gui.timeline.pictures import StepPicturesController

_PATIENCE_MS = 10_000
"""Maximum time to show a step; then the playback ends."""


class Playback(FeatureController):
    """Requests the next step after the current one was shown for its time."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._at = 0
        """The index of the step that was requested last."""
        self._wait = QTimer(self, singleShot=True)
        """Runs while that step is shown."""
        self._wait.timeout.connect(lambda: self._ask(self._at + 1))
        self._patience = QTimer(self, singleShot=True, interval=_PATIENCE_MS)
        """Runs while that step is not shown yet."""
        self._patience.timeout.connect(self._stop)
        window.time.play.toggled.connect(self._on_playing)
        window.step_shown.connect(self._on_step)
        window.closed.connect(self._stop)

    @Slot()
    def _stop(self) -> None:
        self.window.time.play.setChecked(False)

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
            self._stop()
            return
        self._at = at
        self._patience.start()
        self.window.session.trace.show_step(steps[at].run, steps[at].number)

    @Slot(object)
    def _on_step(self, step: StepView) -> None:
        view = self.window.time.film.view
        at = view.position(step.run, step.number)
        if self._patience.isActive() and at == self._at:
            self._patience.stop()
            speed = self.window.remembered.play_speed
            self._wait.start(round(seconds_shown(view, at, speed) * 1000))
        elif self._wait.isActive() and at != self._at:
            self._stop()  # The person has gone to another step.


if TYPE_CHECKING:
    from core.debugger.timeline.service import TimelineService

_REST_MS = 150
"""Pause after a step is shown before the time of the run is read again."""
_SHARE = 10
"""The pause is at least this many times the duration of the last read, so a long run is read less often."""


class TimelineController(FeatureController):
    """Requests the steps of the run in view, which are always shown, and the page log where it can be seen."""

    def __init__(self, window: MainWindow, service: "TimelineService") -> None:
        super().__init__(window)
        self._service = service
        self._timed = 0
        """The run whose times were requested last."""
        self._row: RunRow | None = None
        """That run as it was when its times were read."""
        self._reading = QElapsedTimer()
        self._pause = _REST_MS
        self._rest = QTimer(self, singleShot=True)
        self._rest.timeout.connect(self._read_times)
        self.follow(service.changed, self._show_times)
        self.follow(service.logged, window.log.show_log)
        self.follow(window.session.session_changed, self._show_session)
        self.follow(window.session.runs_changed, self._show_runs)
        window.step_shown.connect(self._on_step)
        window.place("Log").seen_changed.connect(lambda on: self._read_log() if on else None)

    @Slot(object)
    def _on_step(self, step: StepView) -> None:
        self.window.log.wait(step.run, step.number)
        if self.window.place("Log").is_seen:
            self._read_log()
        if step.run != self._timed:
            self._read_times()
        elif step.live and not self._rest.isActive():
            self._rest.start(self._pause)

    @Slot(object)
    def _show_session(self, view: SessionView) -> None:
        """Read the time again if the run is paused or has ended."""
        if view.mode in ("waiting", "ended", "failed"):
            self._rest.start(_REST_MS)

    @Slot(object)
    def _show_runs(self, view: RunsView) -> None:
        """Read the time again if the run in view has gone on: here, or in another program."""
        changed = any(row.run == self._timed and row != self._row for row in view.runs)
        if changed and not self._rest.isActive():
            self._rest.start(self._pause)

    def _read_log(self) -> None:
        step = self.window.step_in_view
        if step is not None and step.number:
            self._service.read_log(step.run, step.number)

    @Slot()
    def _read_times(self) -> None:
        """Read the time of the run in view."""
        self._rest.stop()
        step = self.window.step_in_view
        self._timed = step.run if step is not None else 0
        if self._timed:
            self._reading.start()
            self._service.read_times(self._timed)
        else:
            self._show_times(TimeView())

    @Slot(object)
    def _show_times(self, view: TimeView) -> None:
        if view.run == self._timed:
            self._row = view.row
            self.window.time.show_times(view)
            self.window.diff.show_steps(view.steps)
            self.window.commands.refresh()
            if self._reading.isValid():
                self._pause = max(_REST_MS, _SHARE * self._reading.elapsed())
                self._reading.invalidate()


def install(window: MainWindow, service: "TimelineService") -> None:
    TimelineController(window, service)
    StepPicturesController(window, service)
    Playback(window)
