"""Recording a demonstration: the page is the person's, and what they do is to become an exemplar."""

import contextlib
from typing import TYPE_CHECKING

from core.debugger.exemplars.recording.views import RecordedSteps, RecordingView
from core.debugger.human_actions import HumanActionRecorder
from core.debugger.service import Service, command
from core.debugger.snapshots import SessionView
from core.schema.errors import TraceError, UsageError
from core.schema.signal import Signal
from core.trace.records import StepRow

if TYPE_CHECKING:
    from core.debugger.session import Session

_NOTHING = "Nothing was recorded: you did nothing in the page that could be done again."
_GIVEN_UP = "The recording was given up: another page was opened. What you did stays in its run."


class RecordingService(Service[RecordingView]):
    """Records what a person does in the page; giving the page back by hand ends a recording as well."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session, RecordingView())
        self.recorded: Signal[RecordedSteps] = Signal()
        self._demonstrating: HumanActionRecorder | None = None
        self._first = 0
        """The first step that may be of the recording."""
        session.session_changed.connect(self._on_session)

    def failed(self, problem: str) -> None:
        self.session.complain(problem)

    @command
    async def record(self, *, fresh: bool) -> None:
        """Give the page to the person and record what they do, with `fresh` from the start of the task."""
        if self.view.recording or self.view.starting:
            return
        session = self.session
        if session.session.mode == "opening":
            raise UsageError("The task is being opened: wait a moment, then record.")
        run = session.agent_run
        if run is None:
            raise UsageError(
                "Open a task first (Ctrl+N), then record how you do it: every step of yours is kept."
            )
        self.send(RecordingView(starting=True, run=run.state.run))
        try:
            if fresh or run.ended:
                await session.hand_over(False)
                run = await session.open_anew()
                if run is None:
                    return
            if session.busy:
                raise UsageError("Pause first (F5): the agent is acting. Then record.")
            self._demonstrating = await session.hand_over(True)
            if self._demonstrating is None:
                await session.hand_over(False)
                raise UsageError("What you do in this page cannot be recorded; the Log (Alt+-) says why.")
            self._first = run.state.number
            self.send(RecordingView(recording=True, run=run.state.run))
        finally:
            if self.view.starting:
                self.send(RecordingView())

    @command
    async def finish(self) -> None:
        """Take the page back and hand over what was recorded; a task that is over is ended."""
        if self.view.recording:
            await self.session.hand_over(False)
            self._finish()

    @command
    async def cancel(self) -> None:
        """Take the page back and keep nothing; the steps stay in the run."""
        if self.view.recording:
            self.send(RecordingView())
            self._demonstrating = None
            await self.session.hand_over(False)
            self.session.change(message="The recording was thrown away; what you did stays in the run.")

    def _finish(self) -> None:
        """Hand over what was recorded, or say that nothing was."""
        view, self._demonstrating = self.view, None
        if not view.recording:
            return
        self.send(RecordingView())
        steps = tuple(one.number for one in self._steps(view.run))
        if not steps:
            self.session.change(message=_NOTHING)
            return
        self.recorded.send(RecordedSteps(run=view.run, steps=steps))

    def _steps(self, run: int) -> list[StepRow]:
        """Return the steps of the recording, raising TraceError."""
        rows = self.services.store.own_steps(run)
        return [one for one in rows if one.number >= self._first and one.sealed and one.origin == "person"]

    def _on_session(self, view: SessionView) -> None:
        """Follow the run: count its steps, and end with it."""
        if not self.view.recording:
            return
        if view.run != self.view.run:
            self._demonstrating = None
            self.send(RecordingView())
            self.session.log("warning", "recording", _GIVEN_UP)
            return
        if not view.handed_over or (self._demonstrating is not None and self._demonstrating.over):
            # The page is being given back, or the task is over: the rest is done once that is.
            self.finish()
            return
        with contextlib.suppress(TraceError, UsageError):
            steps = self._steps(view.run)
            if len(steps) != self.view.steps:
                last = steps[-1] if steps else None
                self.show(steps=len(steps), last=last)
