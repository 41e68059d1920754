"""Recording a demonstration at the window: the page is the person's, and what they do is to become an exemplar."""

import contextlib
from collections.abc import Callable, Coroutine
from typing import Any

from core.debugger.exemplars.saving.views import Recorded, RecordView
from core.debugger.human_actions import Demonstrating
from core.debugger.service import telling
from core.debugger.session import Session
from core.debugger.snapshots import SessionView
from core.schema.errors import TraceError, UsageError
from core.schema.signal import Signal
from core.trace.records import StepRow

_NOTHING = "Nothing was recorded: you did nothing in the page that could be done again."
_GIVEN_UP = "The recording was given up: another page was opened. What you did stays in its run."


class RecordDesk:
    """The `RecordDeskCommands` of the window; giving the page back by hand ends a recording as well."""

    def __init__(self, session: Session) -> None:
        self.changed: Signal[RecordView] = Signal()
        self.recorded: Signal[Recorded] = Signal()
        self._session = session
        self._view = RecordView()
        self._demonstrating: Demonstrating | None = None
        self._first = 0
        """The first step that may be of the recording."""
        session.session_changed.connect(self._on_session)

    def record(self, *, fresh: bool) -> None:
        async def work() -> None:
            if self._view.recording or self._view.starting:
                return
            session = self._session
            if session.session.mode == "opening":
                raise UsageError("The task is being opened: wait a moment, then record.")
            run = session.agent_run
            if run is None:
                raise UsageError(
                    "Open a task first (Ctrl+N), then record how you do it: every step of yours is kept."
                )
            self._send(RecordView(starting=True, run=run.state.run))
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
            self._send(RecordView(recording=True, run=run.state.run))

        async def whole() -> None:
            try:
                await work()
            finally:
                if self._view.starting:
                    self._send(RecordView())

        self._post(whole)

    def stop(self) -> None:
        async def work() -> None:
            if self._view.recording:
                await self._session.hand_over(False)
                self._finish()

        self._post(work)

    def cancel(self) -> None:
        async def work() -> None:
            if self._view.recording:
                self._send(RecordView())
                self._demonstrating = None
                await self._session.hand_over(False)
                self._session.change(message="The recording was thrown away; what you did stays in the run.")

        self._post(work)

    def _finish(self) -> None:
        """Hand over what was recorded, or say that nothing was."""
        view, self._demonstrating = self._view, None
        if not view.recording:
            return
        self._send(RecordView())
        steps = tuple(one.number for one in self._steps(view.run))
        if not steps:
            self._session.change(message=_NOTHING)
            return
        self.recorded.send(Recorded(run=view.run, steps=steps))

    def _steps(self, run: int) -> list[StepRow]:
        """Return the steps of the recording, raising TraceError."""
        rows = self._session.workshop().store.own_steps(run)
        return [one for one in rows if one.number >= self._first and one.sealed and one.origin == "person"]

    def _on_session(self, view: SessionView) -> None:
        """Follow the run: count its steps, and end with it."""
        if not self._view.recording:
            return
        if view.run != self._view.run:
            self._demonstrating = None
            self._send(RecordView())
            self._session.log("warning", "recording", _GIVEN_UP)
            return
        if not view.handed_over or (self._demonstrating is not None and self._demonstrating.over):
            # The page is being given back, or the task is over: the rest is done once that is.
            self.stop()
            return
        with contextlib.suppress(TraceError, UsageError):
            steps = self._steps(view.run)
            if len(steps) != self._view.steps:
                last = steps[-1] if steps else None
                self._send(self._view.replace(steps=len(steps), last=last))

    def _send(self, view: RecordView) -> None:
        self._view = view
        self.changed.send(view)

    def _post(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._session.queue(telling(work, self._session.complain))
