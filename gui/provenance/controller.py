"""Joins the page's log, the time bar, Diff and the window of origins to the desks that read for them."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from core.debugger.compare.views import CompareDeskCommands
from core.debugger.provenance.views import Place, WhyView
from core.debugger.snapshots import SessionView, StepView
from core.debugger.timeline.views import TimeView
from gui.provenance.leads import WhyLeads
from gui.provenance.window import WhyWindow
from gui.shell.main_window import MainWindow
from gui.widgets.relay import Relay

if TYPE_CHECKING:
    from core.debugger.provenance.service import ReadingDeskCommands

_REST_MS = 150
"""Rest after a step was shown before the time of the run is read again."""


class Reading(QObject):
    """Asks for what can be seen, and for nothing else."""

    def __init__(self, desk: "ReadingDeskCommands", diffs: CompareDeskCommands, window: MainWindow) -> None:
        super().__init__(window)
        self._desk = desk
        self._window = window
        self._step: StepView | None = None
        self._timed = 0
        """The run whose times were asked for last."""
        self.why: WhyWindow | None = None
        """The window of origins, once it was opened."""
        self.leads = WhyLeads(window)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._read_times)
        wired = (
            (desk.logged, window.page_log.show_log),
            (desk.timed, self._show_times),
            (desk.explained, self._show_why),
            (diffs.paired, window.diff.show_pair),
            (window.commands.session_changed, self._show_session),
        )
        for source, slot in wired:
            relay = Relay(source, keep="latest", parent=self)
            relay.received.connect(slot)
            window.closed.connect(relay.close)
        window.step_shown.connect(self._on_step)
        window.dock("Page log").visibilityChanged.connect(self._on_log_seen)
        window.dock("Diff").visibilityChanged.connect(window.diff.set_seen)
        window.diff.set_seen(window.docks.is_in_front("Diff"))
        window.diff.pair_requested.connect(diffs.pair)
        window.time.shown_changed.connect(self._read_times)
        window.why_requested.connect(self.explain)

    @Slot(int, int, str)
    def explain(self, run: int, step: int, text: str) -> None:
        """Open the window of origins for a step, and look for `text` where there is one."""
        if self.why is None:
            self.why = WhyWindow(self._window.theme, self._window)
            self.why.asked.connect(self._desk.explain)
            self.why.lead_requested.connect(self._on_lead)
            self.why.left.connect(self.leads.clear)
            # Over the docks at the right: page and prompt, where it leads to, stay in sight.
            corner = self._window.mapToGlobal(self._window.rect().topRight())
            self.why.move(corner.x() - self.why.width() - 8, corner.y() + 90)
        self.why.begin(run, step, text)
        self.why.show()
        self.why.raise_()
        self.why.activateWindow()

    @Slot(object)
    def _on_step(self, step: StepView) -> None:
        self._step = step if step.number else None
        window = self._window
        window.page_log.wait(step.run, step.number)
        window.time.bar.show_viewed(step.run, step.number)
        window.diff.show_viewed(step.run, step.number, again=step.live)
        if window.docks.is_in_front("Page log"):
            self._read_log()
        if step.run != self._timed:
            self._read_times()
        elif step.live:
            self._rest.start()

    @Slot(object)
    def _show_session(self, view: SessionView) -> None:
        """Read the time again where the run rests or has ended."""
        if view.mode in ("waiting", "ended", "failed"):
            self._rest.start()

    @Slot(bool)
    def _on_log_seen(self, on: bool) -> None:
        if on:
            self._read_log()

    @Slot()
    def _read_log(self) -> None:
        if self._step is not None:
            self._desk.read_log(self._step.run, self._step.number)

    @Slot()
    def _read_times(self) -> None:
        """Read the time of the run in view; also while the strip is hidden, for Diff offers its steps."""
        self._rest.stop()
        run = self._step.run if self._step is not None else 0
        self._timed = run
        if run:
            self._desk.read_times(run)
        else:
            self._show_times(TimeView())

    @Slot(object)
    def _show_times(self, view: TimeView) -> None:
        if view.run == self._timed:
            self._window.time.show_times(view)
            self._window.diff.show_steps(view.steps)

    @Slot(object)
    def _show_why(self, view: WhyView) -> None:
        if self.why is not None:
            self.why.show_view(view)

    @Slot(object)
    def _on_lead(self, place: Place) -> None:
        self.leads.follow(place)
