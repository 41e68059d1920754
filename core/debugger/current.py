"""What a session is at: the current run, and what it is worked on with."""

import time

from core.agent.loop import AgentRun
from core.debugger.services import Services
from core.schema.errors import UsageError
from core.trace.records import Intervention, InterventionKind
from core.trace.store import TraceStore


class Current:
    """Shared by the parts of a session; read and changed in the worker's loop only."""

    def __init__(self, who: str) -> None:
        """`who` is what the trace calls the person."""
        self.run: AgentRun | None = None
        """The run that is shown and gone on with; it may have ended."""
        self.services: Services | None = None
        self.failure = ""
        """Why there are none, where they could not be opened."""
        self._who = who

    @property
    def store(self) -> TraceStore | None:
        return self.services.store if self.services is not None else None

    @property
    def under_way(self) -> AgentRun | None:
        """The current run, unless it has ended."""
        return self.run if self.run is not None and not self.run.ended else None

    def need_services(self) -> Services:
        """Return the services; raises UsageError where they are not open."""
        if self.services is None:
            raise UsageError(self.failure or "The browser is not ready yet; wait a moment and try again.")
        return self.services

    def need_run(self, why: str) -> AgentRun:
        """Return the run under way; raises UsageError that says `why` one is needed."""
        if self.under_way is None:
            raise UsageError(f"{why} Open a task first (Ctrl+N).")
        return self.under_way

    def store_intervention(self, kind: InterventionKind, before: str, after: str) -> None:
        """Store what the person changed in the step under way; raises TraceError."""
        assert self.run is not None
        self.run.store.save_intervention(
            Intervention(
                run=self.run.state.run,
                step=self.run.state.number,
                kind=kind,
                who=self._who,
                when=time.time(),
                before=before,
                after=after,
            )
        )
