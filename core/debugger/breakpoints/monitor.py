"""Checks breakpoints and watches at each event of a live run."""

import asyncio
from collections.abc import Callable

from core.agent.loop import AgentRun
from core.debugger.breakpoints.collection import Breakpoints
from core.debugger.breakpoints.debug_event import DebugEvent, EventTracker
from core.debugger.breakpoints.kinds.actions import RequestBegins
from core.debugger.breakpoints.stored_events import track_stored
from core.debugger.breakpoints.views import PageValue, Watch, WatchValue
from core.debugger.breakpoints.watches import Watches, read_page_watches
from core.schema.events import BrowserEvent
from core.schema.record import Record
from core.schema.restore import Sent
from core.schema.signal import Signal
from core.schema.step import Acted, CallRecord, Decided, Phase, PhaseRecord
from core.trace.records import Hit
from core.trace.store import TraceStore


class BreakpointMonitor:
    """Follows the current run; everything here runs in the worker's loop.

    Without breakpoints and watches nothing is tracked. When the first one is created, earlier events are read
    from the trace.
    """

    def __init__(self, on_hit: Callable[[Hit], None]) -> None:
        self.breakpoints: Breakpoints | None = None
        self.watches: Watches | None = None
        self.values: tuple[WatchValue, ...] = ()
        """The last values of the watches."""
        self.page_values: dict[Watch, PageValue] = {}
        """The values of the watches of the page when it was last read in the current run."""
        self.looked: Signal[None] = Signal()
        """Sent when breakpoints and watches were checked."""
        self._on_hit = on_hit
        self._tracker: EventTracker | None = None
        self._run: int | None = None
        self._place: tuple[int, int, Phase] | None = None
        """The phase that the run was last asked about before it began."""
        self._hit_here: set[int | None] = set()
        """The breakpoints that have hit there: they do not again when the run goes on."""
        self._unsaid: list[str] = []
        """Why to stop at the end of the phase, since something happened within it."""
        self._checked_requests: list[Sent] = []
        """Requests of the current action that were checked before they left."""
        self.refused = False
        """Whether the request that was held last must not leave."""
        self._go_on = asyncio.Event()
        self._go_on.set()

    def open(self, store: TraceStore) -> None:
        """Read what is stored; raises TraceError."""
        self.breakpoints, self.watches = Breakpoints(store), Watches(store)

    @property
    def held(self) -> bool:
        """Whether the run is paused within a phase."""
        return not self._go_on.is_set()

    def let_go(self, *, refuse: bool = False) -> None:
        """Continue; with `refuse` without the request that was held."""
        self.refused = refuse
        self._go_on.set()

    async def wait(self) -> None:
        """Wait until the person continues."""
        self.refused = False
        self._go_on.clear()
        try:
            await self._go_on.wait()
        finally:
            self._go_on.set()

    def before(self, run: AgentRun, phase: Phase) -> str:
        """Return why to stop before this phase, or nothing."""
        self._unsaid = []
        tracker = self._tracking(run)
        if tracker is None:
            return ""
        here = (run.state.run, run.state.number, phase)
        if self._place != here:
            self._place, self._hit_here = here, set()
        tracker.begin_step(run.state.number, run.state.trial)
        pending = run.state.pending
        overruled = phase == "review" and (pending.skip or pending.edited)
        return self._check(tracker.before(phase, overruled=overruled), self._hit_here)

    def after(self, run: AgentRun, record: PhaseRecord) -> str:
        """Return why to stop after this phase, or nothing."""
        self._place = None
        tracker = self._tracking(run, record)
        if tracker is None:
            return ""
        recognised = run.state.recognised
        if isinstance(record, Decided) and recognised is not None:
            tracker.revise(recognised)  # An attached agent may have said more of it until it acts.
        reasons, self._unsaid = self._unsaid, []
        if isinstance(record, Acted):
            checked, self._checked_requests = self._checked_requests, []
            for sent in record.sent:
                if sent in checked:
                    checked.remove(sent)
                else:
                    reasons.append(self._check(tracker.request(sent)))
        reasons.append(self._check(tracker.after(record)))
        return " ".join(filter(None, reasons))

    async def look_at_page(self, run: AgentRun) -> None:
        """Read the watches of the live page, for the next check."""
        if self.watches is not None and any(one.kind != "expression" for one in self.watches.all):
            self.page_values = await read_page_watches(run.world.tabs.current, self.watches.all)

    def look_again(self, run: AgentRun) -> None:
        """Read the watches where the run is paused, without checking whether to stop."""
        tracker = self._tracking(run)
        if tracker is not None and tracker.last is not None and self.watches is not None:
            self.values = self.watches.read(tracker.last, self.page_values)

    def call(self, run: AgentRun, call: CallRecord, *, over: bool) -> str:
        """Return why to stop before this LLM call, or `over`, after it."""
        followed, tracker = self._tracker, self._tracking(run, call)
        if tracker is None:
            return ""
        if over and tracker is not followed:
            tracker.before_call(call)
        return self._check(tracker.after_call(call) if over else tracker.before_call(call))

    def failed(self, run: AgentRun, call: CallRecord) -> None:
        """An LLM call has ended without a reply. The run stops for it at the end of the phase, if it gets there."""
        self._unsaid.append(self.call(run, call, over=True))

    def happened(self, run: AgentRun, event: BrowserEvent) -> None:
        """Something happened in the browser outside of an action; the run stops for it as for a call that failed."""
        if (tracker := self._tracking(run, event)) is not None:
            self._unsaid.append(self._check(tracker.browser_event(event)))

    @property
    def holds_replies(self) -> bool:
        """Whether an LLM call may be held with its reply."""
        return self.breakpoints is not None and any(
            one.enabled and one.then == "stop" and not isinstance(one, RequestBegins)
            for one in self.breakpoints.all
        )

    @property
    def holds_requests(self) -> bool:
        """Whether a request may be held before it leaves."""
        return self.breakpoints is not None and any(
            one.enabled and one.then == "stop"
            for one in self.breakpoints.all
            if isinstance(one, RequestBegins)
        )

    def request(self, run: AgentRun, sent: Sent) -> str:
        """Return why to hold a request that is about to leave, or nothing; it is not checked again after the action."""
        tracker = self._tracking(run, sent)
        if tracker is None:
            return ""
        self._checked_requests.append(sent)
        return self._check(tracker.request(sent))

    def _check(self, event: DebugEvent, hit_here: set[int | None] | None = None) -> str:
        assert self.breakpoints is not None
        assert self.watches is not None
        self.values, changed = self.watches.check(event, self.page_values)
        hits = (*self.breakpoints.check(event, hit_here or ()), *changed)
        if hit_here is not None:
            hit_here.update(hit.breakpoint for hit in hits)
        for hit in hits:
            self._on_hit(hit)
        self.looked.send(None)
        return " ".join(hit.sentence for hit in hits if hit.stopped)

    def _tracking(self, run: AgentRun, untold: Record | None = None) -> EventTracker | None:
        """Return the tracker of the run, or None if there is nothing to check.

        `untold` is what the phase in progress tells next; None if no phase is in progress.
        """
        if self.breakpoints is None or self.watches is None:
            return None
        if not any(one.enabled for one in self.breakpoints.all) and not self.watches.all:
            self._tracker = None
            return None
        state = run.state
        if self._tracker is None or self._run != state.run:
            self._tracker, self._run = EventTracker(run.store.run(state.run)), state.run
            track_stored(self._tracker, run.store, state.run, untold)
        return self._tracker
