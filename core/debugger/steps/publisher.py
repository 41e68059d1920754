"""Sends the views of steps: the current one while it runs, or a recorded one in its place."""

import asyncio
from collections.abc import Callable
from typing import Any

from core.agent.llm_calls import Asked
from core.agent.loop import AgentRun
from core.agent.prompt_builder import targets
from core.agent.spaces.macros import element_of
from core.browser.channel import PageGone
from core.debugger.background_read import LatestRead, TraceReader
from core.debugger.live_page import LivePageView, OutlineView
from core.debugger.services import Current
from core.debugger.steps.view import MadeParts, recorded_step, ref_of, step_view
from core.debugger.steps.views import ActionView, Side, StepView
from core.schema.errors import BackstepError
from core.schema.messages import CHOOSING
from core.schema.signal import Signal
from core.trace.store import TraceStore

_Change = Callable[[StepView], StepView]


class StepPublisher:
    """Makes views of steps outside the loop and sends them; the current step includes data that is not stored yet.

    The current step is made from data in this process, a recorded one is read from the trace.
    """

    def __init__(
        self,
        current: Current,
        reader: TraceReader,
        *,
        complain: Callable[[str], None],
        crash: Callable[[Exception], None],
    ) -> None:
        """`complain` is called with why a step could not be read, `crash` with what is our own mistake."""
        self.step_changed: Signal[StepView] = Signal()
        self.live_page_changed: Signal[LivePageView] = Signal()
        self._current = current
        self._reader = reader
        self._complain = complain
        self._live, self._recorded = LatestRead(crash), LatestRead(crash)
        self._step: StepView | None = None
        """The current step, as it was made last."""
        self._made, self._made_of = MadeParts(), (0, 0)
        """What was made of it, with its run and number."""
        self._marking: asyncio.Task[None] | None = None
        self._following: asyncio.Task[None] | None = None
        self.live_page = LivePageView()
        """The live page as it was sent last, with its outlines where the agent saw them."""
        self._streaming: str | None = None
        """What the LLM has said of its next action since that was asked for."""
        self._streaming_call = 0
        """The call that says it: of several that are out at once the first."""
        self._retried = ""
        """Which attempt it says it in, and why it is not the first; before it says anything, what it waits for."""
        self._problem = ""
        """Why the action that a person wrote since cannot be taken."""
        self._shows_recorded = False
        self._side: Side = "before"
        self._recorded_of = (0, 0)
        """Run and number of the recorded step that was asked for last."""

    # The current step

    def publish(self, run: AgentRun, *, editable: bool) -> None:
        """Send the current step, unless a recorded one is being looked at.

        `editable` says whether a person may change an action under review.
        """
        store, id = self._current.store, run.state.run
        if self._shows_recorded and self._side == "after" and self._recorded_of == (id, run.begun - 1):
            self.show_recorded(*self._recorded_of)  # The page after it may have been observed by now.
        number = run.begun  # Until the next step has begun, the one before it is what there is to see.
        if store is None or number == 0:
            return
        with_pending, live_page = _with_pending(run, editable=editable), _live_page(run)
        self._streaming, self._streaming_call, self._problem = None, 0, ""

        step, told = store.under_way(id), not run.has_preset
        if self._made_of != (id, number):
            self._made, self._made_of = MadeParts(), (id, number)
        made = self._made

        def read(file: TraceStore) -> StepView:
            if step is not None and step.detail.row.number == number:
                view = step_view(step.over(file), id, step.detail, made, live=True, told=told)
            else:  # A step that was begun before the run was taken up.
                view = step_view(file, id, file.step(id, number), made, live=True, told=told)
            return with_pending(view)

        def send(view: StepView) -> None:
            self._step = view
            self._send()
            page = live_page(view)
            if page is not None:
                self._send_page(run, page)
                self._marking = asyncio.create_task(self._mark(run, view, page))

        if self._marking is not None:
            self._marking.cancel()
        self._live.ask(lambda: self._reader.ask(store, read), send, self._complain)

    async def _mark(self, run: AgentRun, view: StepView, page: LivePageView) -> None:
        """Draw what a state's action under review acts on first as chosen, which the page alone may know."""
        state = run.state
        action, own = state.pending.action, state.space_state
        if run.next_phase != "review" or run.ended or action is None or own is None:
            return
        try:
            ref = await element_of(
                own[1], state.permissible, state.observation, run.world.tabs.current, action
            )
        except (PageGone, BackstepError):
            return  # It stays without a mark; what is wrong with the page is told where it is used.
        if ref is not None and self._step is view:
            outlines = [outline.replace(chosen=outline.ref == ref) for outline in page.outlines]
            if all(outline.ref != ref for outline in outlines) and (
                element := state.observation.element(ref)
            ):
                outlines.append(
                    OutlineView(ref=ref, box=element.box, chosen=True, hidden=not element.in_viewport)
                )
            self._send_page(run, page.replace(outlines=tuple(outlines)))

    def _send_page(self, run: AgentRun, page: LivePageView) -> None:
        self.live_page = page
        if run.world.peek.active:
            self._following = asyncio.create_task(self.follow_peek(run))
        else:
            self.live_page_changed.send(page)

    def clear_outlines(self) -> None:
        """Draw no outlines from now on: the action that is carried out may open another page below them."""
        self.live_page = self.live_page.replace(outlines=())
        self.send_live_page()

    def send_live_page(self) -> None:
        """Send the page as it is known, such as after it was scrolled back."""
        self.live_page_changed.send(self.live_page)

    async def follow_peek(self, run: AgentRun) -> None:
        """Draw the outlines where they lie in a page that was scrolled for the person to look at."""
        page = self.live_page
        try:
            places = await run.world.peek.places(
                run.world.tabs.current, [outline.ref for outline in page.outlines]
            )
        except (PageGone, BackstepError):
            places = {}  # Better no outlines than in wrong places.
        outlines = tuple(
            outline.replace(box=places[outline.ref][0], hidden=not places[outline.ref][1])
            for outline in page.outlines
            if outline.ref in places
        )
        if page is self.live_page and run.world.peek.active:
            self.live_page_changed.send(page.replace(outlines=outlines, scrolled=True))

    def show_problem(self, problem: str) -> None:
        """Say why an action that a person wrote cannot be taken."""
        self._problem, self._streaming = problem, None
        self._send_changed()

    def streamed(self, asked: Asked) -> None:
        """The LLM has said more."""
        number = asked.record.number
        if asked.record.purpose not in CHOOSING or 0 < self._streaming_call < number:
            return
        self._streaming_call = 0 if asked.ended else number
        if asked.ended:
            return
        self._streaming = asked.text
        why = asked.why_again
        self._retried = f"Attempt {asked.attempt}. {why}" if asked.attempt > 1 else "" if asked.text else why
        self._send_changed()

    def _send_changed(self) -> None:
        """Send the current step again, unless it is being read: then it is sent all the same."""
        if not self._live.pending:
            self._send()

    def _send(self) -> None:
        """Send the current step with what has come since it was stored."""
        if self._step is None or self._shows_recorded:
            return
        action = self._step.action
        if self._streaming is not None:
            action = ActionView(
                outcome="thinking",
                streaming=self._streaming,
                message=self._retried,
                form=action.form,
                elements=action.elements,
            )
        elif self._problem:
            action = action.replace(problem=self._problem)
        self.step_changed.send(self._step.replace(action=action))

    # Recorded steps

    def show_recorded(self, run: int, number: int, side: Side | None = None) -> None:
        """Show a stored step over the live page; of several asked for in a row only the last is sent.

        Without a `side` it is the one that was shown last since the live page was.
        """
        store = self._current.store
        if store is None:
            return
        shown = self._side = side or self._side
        self._recorded_of = (run, number)

        def send(view: StepView) -> None:
            self._shows_recorded = True
            self.step_changed.send(view)

        self._recorded.withdraw()
        self._recorded.ask(
            lambda: self._reader.ask(store, lambda file: recorded_step(file, run, number, shown)),
            send,
            self._complain,
        )

    def show_live(self) -> None:
        """Show no recorded step any more: the next that is sent is the current one."""
        self._recorded.withdraw()
        self._shows_recorded, self._side = False, "before"

    # The end

    def forget(self) -> None:
        """Send nothing of the run that was current."""
        self._live.withdraw()
        self.show_live()
        self._step, self._streaming, self._problem = None, None, ""

    async def settled(self) -> None:
        """Wait until everything that was asked for has been sent."""
        await self._live.settled()
        if self._marking is not None:
            await asyncio.wait([self._marking])
        await self._recorded.settled()


def _with_pending(run: AgentRun, *, editable: bool) -> _Change:
    """Return what shows the action under review, and what could be permitted, as they are now, in a step."""
    state = run.state
    beside: tuple[str, ...] = ()
    if not run.ended and state.unacted and state.has_done("recognise"):
        beside = tuple(name for name in state.offered if state.permissible.action(name) is None)
    if run.next_phase != "review" or run.ended:
        return lambda view: view.replace(permissible=view.permissible.replace(beside=beside))
    pending = run.state.pending
    text = str(pending.action) if pending.action is not None else ""
    proposed = str(pending.proposed) if pending.edited and pending.proposed is not None else ""
    changes: dict[str, Any] = {
        "action": text,
        "proposed": proposed,
        "origin": pending.origin,
        "message": pending.problem or pending.own_remark,
        "editable": editable,
        "outcome": "pending",
        "queue": tuple(str(one) for one in run.state.queue),
    }
    chosen: dict[str, Any] = {"chosen": text, "chosen_ref": ref_of(pending.action), "beside": beside}

    def change(view: StepView) -> StepView:
        return view.replace(
            action=view.action.replace(**changes), permissible=view.permissible.replace(**chosen)
        )

    return change


def _live_page(run: AgentRun) -> Callable[[StepView], LivePageView | None]:
    """Return what draws, over the page as it is now, the elements that can be chosen in a step."""
    capture = run.state.capture
    shown = run.next_phase in ("recall", "abstract", "decide", "anticipate", "review") and not run.ended
    wanted = set(targets(run.state)) if shown and capture is not None else set()

    def draw(view: StepView) -> LivePageView | None:
        if capture is None:
            return None
        observation = capture.observation
        chosen = view.permissible.chosen_ref
        outlines = tuple(
            OutlineView(
                ref=element.ref,
                box=element.box,
                chosen=element.ref == chosen,
                hidden=not element.in_viewport,
            )
            for element in observation.elements
            if (element.in_viewport and element.ref in wanted) or (shown and element.ref == chosen)
        )
        return LivePageView(
            tabs=observation.tabs, url=observation.url, outlines=outlines, viewport=observation.viewport
        )

    return draw
