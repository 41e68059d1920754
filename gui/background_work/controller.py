"""Background work: its window, its place in the status bar, and its desktop notifications."""

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QApplication, QToolButton

from core.debugger.background_work.views import BackgroundWorkView, WorkRow
from core.debugger.jobs import Job
from core.debugger.session_view import SessionView
from core.schema.formats import count
from gui.background_work.notifying import Notifier
from gui.background_work.window import BackgroundWorkWindow
from gui.shell.feature import FeatureController
from gui.shell.main_window import MainWindow

if TYPE_CHECKING:
    from core.debugger.background_work.service import BackgroundWorkService

_LONG = 10.0
"""Minimum duration in seconds of a run whose end is notified."""
_GOING_ON = ("opening", "running", "asking", "acting")


class BackgroundWorkController(FeatureController):
    """Opens the window, passes on its requests, and shows the results."""

    def __init__(self, window: MainWindow, service: "BackgroundWorkService") -> None:
        super().__init__(window)
        self._service = service
        self._view = BackgroundWorkView()
        self._session = SessionView()
        self._began = time.monotonic()
        """When the run started to continue on its own."""
        self.notifier = Notifier(window)
        self.shown: BackgroundWorkWindow | None = None
        """The window, after it was opened."""
        self.button = QToolButton(window)
        self.button.setToolTip(window.actions_by_name["background_work"].toolTip())
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.clicked.connect(lambda: self.open())
        self.button.setFont(window.theme.small_font())
        window.status.insertPermanentWidget(1, self.button)  # Left of the legend; the facts have index 0.
        self.button.hide()
        self.follow(service.changed, self._show_view)
        self.follow(window.session.session_changed, self._show_session)

    def open(self) -> None:
        """Show the list."""
        if self.shown is None:
            self.shown = BackgroundWorkWindow(self.window.theme, self.window)
            self.shown.end_requested.connect(self._service.end)
            self.shown.forget_requested.connect(self._service.forget_ended)
            self.shown.show_requested.connect(self._on_show)
            self.shown.show_view(self._view)
        self.window.frame.show_beside(self.shown, "background_work/geometry")

    @Slot(object)
    def _show_view(self, view: BackgroundWorkView) -> None:
        before, self._view = self._view, view
        under_way = view.under_way
        self.button.setText(_button_words(under_way))
        self.button.setVisible(bool(under_way))
        if self.shown is not None:
            self.shown.show_view(view)
        was_going = {row.number for row in before.under_way}
        for row in view.rows:
            if row.number in was_going and row.state in ("ended", "failed"):
                self._tell(f"{row.job.title} {'failed' if row.state == 'failed' else 'has ended'}", row.words)

    @Slot(object)
    def _show_session(self, view: SessionView) -> None:
        before, self._session = self._session, view
        if view.mode in _GOING_ON and before.mode not in _GOING_ON:
            self._began = time.monotonic()
        if view.stopped_at and view.stopped_at != before.stopped_at:
            self._tell("The run has stopped", view.stopped_at)
        elif view.mode == "ended" and before.mode in _GOING_ON and time.monotonic() - self._began > _LONG:
            self._tell("The run has ended", view.message)

    def _tell(self, title: str, text: str) -> None:
        """Notify, unless a window of the program is in front."""
        if self.window.remembered.notifies and QApplication.activeWindow() is None:
            self.notifier.notify(title, text)

    def _on_show(self, job: Job) -> None:
        if job.opens == "fix":
            self.window.runs.fix_requested.emit(job.run, 0)
        elif job.opens == "saving":
            self.window.runs.keep_requested.emit(job.run, ())
        else:
            self.window.actions_by_name[job.opens].trigger()


def _button_words(rows: tuple[WorkRow, ...]) -> str:
    """Return, for example, ``2 jobs, 40 %``."""
    known = [row.job for row in rows if row.job.of]
    share = f", {sum(one.done for one in known) * 100 // sum(one.of for one in known)} %" if known else ""
    return f"{count(len(rows), 'job')}{share}"


install = BackgroundWorkController
