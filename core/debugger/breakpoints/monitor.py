"""Breakpoints and watches of a run under way: told what happens, asked whether to stop."""

import asyncio
from collections.abc import Callable

from core.agent.loop import AgentRun
from core.debugger.breakpoints.collection import Breakpoints
from core.debugger.breakpoints.debug_event import Moment, Moments
from core.debugger.breakpoints.kinds import RequestBegins
from core.debugger.breakpoints.page_watches import read_page_watches
from core.debugger.breakpoints.stored_events import follow_stored
from core.debugger.breakpoints.watch import PageValue, WatchValue
from core.debugger.breakpoints.watches import Watches
from core.schema.restore import Sent
from core.schema.signal import Signal
from core.schema.step import Acted, CallRecord, Phase, PhaseRecord
from core.trace.records import Hit
from core.trace.store import TraceStore


class Breaking:
    """Follows the current run; everything here runs in the worker's loop.

    Where nothing is to be looked for, nothing is followed: what a run has
    done before is read from the trace when the first breakpoint is made.
    """

    def __init__(self, on_hit: Callable[[Hit], None]) -> None:
        self.breakpoints: Breakpoints | None = None
        self.watches: Watches | None = None
        self.values: tuple[WatchValue, ...] = ()
        """What the watches came to last."""
        self.page_values: dict[int, PageValue] = {}
        """What those of the page came to when it was last read."""
        self.looked: Signal[None] = Signal()
        """Sent when breakpoints and watches were asked."""
        self._on_hit = on_hit
        self._moments: Moments | None = None
        self._run: int | None = None
        self._step = 0
        self._passed: tuple[int, int, Phase] | None = None
        """The moment before a phase at which the run has stopped: it is not asked again."""
        self._asked: list[Sent] = []
        """What was asked about before it left, in the action under way."""
        self.refused = False
        """Whether what was held last is not to leave."""
        self._go_on = asyncio.Event()
        self._go_on.set()

    def open(self, store: TraceStore) -> None:
        """Read what is stored; raises TraceError."""
        self.breakpoints, self.watches = Breakpoints(store), Watches(store)

    @property
    def held(self) -> bool:
        """Whether the run stands in the middle of a phase, before or after an LLM call."""
        return not self._go_on.is_set()

    def let_go(self, *, refuse: bool = False) -> None:
        """Go on; with `refuse` without what was held."""
        self.refused = refuse
        self._go_on.set()

    async def wait(self) -> None:
        """Wait until the person goes on."""
        self.refused = False
        self._go_on.clear()
        try:
            await self._go_on.wait()
        finally:
            self._go_on.set()

    def before(self, run: AgentRun, phase: Phase) -> str:
        """Return why to stop before this phase, or nothing."""
        moments = self._following(run)
        if moments is None:
            return ""
        here = (run.state.run, run.state.number, phase)
        if self._passed == here:
            return ""
        self._begin_step(moments, run)
        why = self._ask(moments.before(phase))
        self._passed = here if why else None
        return why

    def after(self, run: AgentRun, record: PhaseRecord) -> str:
        """Return why to stop after this phase, or nothing."""
        self._passed = None
        moments = self._following(run)
        if moments is None:
            return ""
        reasons: list[str] = []
        if isinstance(record, Acted):
            for event in record.events:
                reasons.append(self._ask(moments.event(event)))
            asked, self._asked = self._asked, []
            for sent in record.sent:
                if sent in asked:
                    asked.remove(sent)
                else:
                    reasons.append(self._ask(moments.request(sent)))
        reasons.append(self._ask(moments.after(record)))
        return " ".join(filter(None, reasons))

    async def look_at_page(self, run: AgentRun) -> None:
        """Read the watches of the live page, for the next that asks."""
        if self.watches is not None and any(one.kind != "expression" for one in self.watches.all):
            self.page_values = await read_page_watches(run.world.tabs.current, self.watches.all)

    def look_again(self, run: AgentRun) -> None:
        """Look at the watches where the run rests, without asking whether to stop."""
        moments = self._following(run)
        if moments is not None and moments.last is not None and self.watches is not None:
            self.values = self.watches.look(moments.last, self.page_values)

    def call(self, run: AgentRun, call: CallRecord, *, over: bool) -> str:
        """Return why to stop before this LLM call, or `over`, after it."""
        moments = self._following(run)
        if moments is None:
            return ""
        return self._ask(moments.after_call(call) if over else moments.before_call(call))

    @property
    def holds_requests(self) -> bool:
        """Whether something that a page begins to send may be stopped at."""
        return self.breakpoints is not None and any(
            one.enabled and one.then == "stop"
            for one in self.breakpoints.all
            if isinstance(one, RequestBegins)
        )

    def request(self, run: AgentRun, sent: Sent) -> str:
        """Return why to hold what is about to leave, or nothing; it is not asked about once more after the action."""
        moments = self._following(run)
        if moments is None:
            return ""
        self._asked.append(sent)
        return self._ask(moments.request(sent))

    def _ask(self, moment: Moment) -> str:
        assert self.breakpoints is not None
        assert self.watches is not None
        self.values, changed = self.watches.ask(moment, self.page_values)
        hits = (*self.breakpoints.ask(moment), *changed)
        for hit in hits:
            self._on_hit(hit)
        self.looked.send(None)
        return " ".join(hit.sentence for hit in hits if hit.stopped)

    def _following(self, run: AgentRun) -> Moments | None:
        """Return the moments of the run, or None where nothing is to be looked for."""
        if self.breakpoints is None or self.watches is None:
            return None
        if not any(one.enabled for one in self.breakpoints.all) and not self.watches.all:
            self._moments = None
            return None
        state = run.state
        if self._moments is None or self._run != state.run:
            self._moments, self._run, self._step = Moments(run.store.run(state.run)), state.run, 0
            follow_stored(self._moments, run.store, state.run, before_step=max(run.begun, 1))
            if run.begun == state.number:
                self._begin_step(self._moments, run)
                for record in run.store.step(state.run, run.begun).records:
                    self._moments.after(record)
        return self._moments

    def _begin_step(self, moments: Moments, run: AgentRun) -> None:
        if self._step != run.state.number:
            self._step = run.state.number
            moments.begin_step(run.state.number, run.state.trial)
