"""Runs and stops: one asyncio task at a time runs the phases."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from core.agent.llm_calls import HeldCall, HeldReply, cancel_call
from core.agent.loop import AgentRun
from core.browser.boundary import Crossing
from core.browser.channel import PageGone
from core.debugger.breakpoints.monitor import BreakpointMonitor
from core.debugger.publisher import Publisher
from core.debugger.services import Current
from core.debugger.session_view import EditMade, Mode
from core.schema.errors import BackstepError, TraceError
from core.schema.restore import Sent
from core.schema.step import Acted, Aligned, Phase, PhaseRecord
from core.schema.task import Verdict
from core.trace.records import Hit

GoalKind = Literal[
    "phase",  # after one phase
    "decide",  # before an LLM is first asked in the step
    "review",  # before the next review
    "call",  # before an LLM call is sent, at the latest before the next review
    "step",  # before the next step
    "over",  # at the next review in which the policy at work, or one that called it, acts again
    "out",  # at the next review after the policy at work has returned
    "to step",  # at the review of a step
    "to subtask",  # at the first review in which a subtask, or a later one, is current
    "end",  # at the end of the run
]


@dataclass(frozen=True)
class RunGoal:
    """Where to stop, relative to the moment of the command."""

    kind: GoalKind
    step: int = 0
    """The step that was in progress, or for ``to step`` the one to stop at."""
    depth: int = 0
    frame: int = 0
    subtask: int = 0
    """From 0."""

    def reached(self, phase: Phase, run: AgentRun) -> bool:
        """Return whether to stop before this phase, after at least one has been done."""
        state = run.state
        review = phase == "review"
        match self.kind:
            case "phase":
                return True
            case "decide":
                # An LLM is not asked before the person steps.
                return phase == "decide" or (phase == "abstract" and run.next_asks_llm)
            case "review" | "call":
                return review
            case "step":
                return phase == "observe"
            case "over":
                return review and state.number > self.step and len(state.stack.frames) <= self.depth
            case "out":
                at_work = [frame.number for frame in state.stack.frames]
                return review and self.frame not in at_work
            case "to step":
                return review and state.number >= self.step
            case "to subtask":
                plan = state.reflection.plan
                at = None if plan is None else plan.index
                return review and at is not None and at >= self.subtask
            case "end":
                return False


def over(run: AgentRun) -> RunGoal:
    number, stack = run.state.number, run.state.stack
    if not run.has_preset and stack.top is not None and stack.top.step == number:
        return out(
            run
        )  # An attached agent calls a policy by no step of its own: this is the first one in it.
    return RunGoal("over", step=number, depth=len(stack.frames))


def out(run: AgentRun) -> RunGoal:
    return RunGoal("out", step=run.state.number, frame=run.state.frame)


class Runner:
    """Continues the current run until it has to stop. It runs in the worker's loop."""

    def __init__(self, current: Current, publisher: Publisher) -> None:
        self._current = current
        self._publisher = publisher
        self._going: asyncio.Task[None] | None = None
        self._until = RunGoal("phase")
        """Where the current run is to stop."""
        self.breaking = BreakpointMonitor(self._on_hit)
        """Breakpoints and watches."""
        self._pause = asyncio.Event()
        self._withdrawn = False
        """Whether a pause has cancelled the LLM call."""
        self.held: list[HeldCall | HeldReply] = []
        """The LLM calls that wait for the person, before they are made or with their reply, the latest last."""
        self.notice = ""
        """What is to be said where the run rests next."""
        self._gate_shown: tuple[int, int, str] | None = None
        self._take_page_back: Callable[[], Awaitable[None]] = _nothing

    def take_page_back_by(self, take_back: Callable[[], Awaitable[None]]) -> None:
        """Call this before the run is halted: it takes the page back from a person who has it."""
        self._take_page_back = take_back

    @property
    def busy(self) -> bool:
        """Whether the run is going on."""
        return self._going is not None and not self._going.done()

    def go(self, until: GoalKind | RunGoal) -> None:
        """Continue from the phase that is next, or say why not; what goes on already continues."""
        until = until if isinstance(until, RunGoal) else RunGoal(until)
        run, publisher = self._current.run, self._publisher
        if run is None:
            publisher.tell("Open a task first (Ctrl+N).", done=False)
            return
        if run.ended:
            publisher.tell(
                "This run has ended. Open the task again (Ctrl+R), or choose another one (Ctrl+N).",
                done=False,
            )
            return
        if self.busy:
            if self._until.kind == "decide" or self.breaking.held:
                self._until = until  # The page is still being read: continue from there as asked.
            self.breaking.let_go()
            return
        if publisher.session.handed_over:
            publisher.tell("You have the page: give it back first (F6).", done=False)
            return
        self._pause.clear()
        publisher.steps.show_live()
        self._set_going(run, until)

    async def rested(self) -> None:
        """Wait until the run has ended."""
        if self._going is not None and not self._going.done():
            await asyncio.wait([self._going])

    def _set_going(self, run: AgentRun, until: RunGoal) -> None:
        self._withdrawn = False
        self._until = until
        self._going = asyncio.ensure_future(self._drive(run))

    def pause_or_cancel(self) -> None:
        """Stop at the end of this phase; asked a second time, in the middle of an LLM call."""
        run, going = self._current.run, self._going
        if run is None or going is None or going.done():
            return
        if self._pause.is_set() and run.asking is not None:
            self._withdrawn = True
            going.cancel()
            return
        self._pause.set()
        self._publisher.change(
            message="Pausing at the end of this phase. Pause again to cancel the LLM call."
        )

    async def ask_anew(self, why: str) -> None:
        """Withdraw the LLM call that is out and ask whoever is the LLM now; without one nothing happens.

        `why` is shown in the log and as the end of the withdrawn call.
        """
        run, going = self._current.run, self._going
        if run is None or run.asking is None or going is None or going.done() or going.cancelling():
            return
        self._publisher.log("info", "LLM", f"Call {run.asking.number} was withdrawn and is repeated: {why}.")
        cancel_call(going, f"cancelled: {why}")
        await asyncio.wait([going])
        # A pause, a stop or a task that was opened meanwhile goes before.
        undisturbed = self._going is going and self._current.run is run and not self._withdrawn
        if undisturbed and not run.ended and not self._publisher.session.handed_over:
            self._set_going(run, self._until)

    async def halt(self) -> None:
        """Stop going on, in the middle of a call if need be, and take the page back from the person."""
        going, self._going = self._going, None
        if self._current.services is not None:
            self._current.services.tabs.holding.refuse_waiting()
        if going is not None and not going.done():
            going.cancel()
            await asyncio.wait([going])
        if self._current.services is not None:
            # A browser that waits for what its page asks the person would keep the run from ending.
            await self._current.services.tabs.browser.host.end_questions()
        try:
            await self._take_page_back()
        except BackstepError as error:
            self._publisher.log("warning", "handover", str(error))

    async def finish_stopped(self) -> None:
        """End the current run as stopped; one that the trace cannot end is found as interrupted later."""
        run = self._current.under_way
        if run is None:
            return
        try:
            await run.finish("stopped")
        except TraceError as error:
            self._publisher.log("error", "trace", str(error))

    async def end(self, run: AgentRun, verdict: Verdict | None = None) -> None:
        """End the run, or give an ended one its verdict; one that the trace cannot end rests as it is."""
        try:
            if verdict is not None:
                before = _verdict_words(run.verdict) if run.ended else ""
                self._current.store_intervention("end", before, _verdict_words(verdict))
            if run.ended and verdict is not None:
                run.store.set_verdict(run.state.run, verdict)
                run.verdict = verdict
            await run.finish("stopped", verdict=verdict)
        except TraceError as error:
            self._publisher.log("error", "trace", str(error))
            self._publisher.change(saved=False)
            self.rest(run, "failed", str(error))
            return
        self._publisher.ended(run)

    async def _drive(self, run: AgentRun) -> None:
        try:
            await self._phases(run)
            if run.ended:
                self._publisher.ended(run)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            given_up = task is not None and not task.cancelling()  # by whoever was asked, not by us
            if self._withdrawn or given_up:
                self.rest(run, "waiting", "The LLM call was cancelled. Step to repeat it.")
            raise
        except (BackstepError, PageGone) as error:
            message = _lost(run) or str(error) or "The page went away; step again."
            self._publisher.log("error", "session", message)
            if isinstance(error, TraceError):
                self._publisher.change(saved=False)
            self.rest(run, "failed", message)
        except Exception as error:
            self._publisher.crash(error)
            self._publisher.publish_step(run)

    def _on_hit(self, hit: Hit) -> None:
        """Tell of a breakpoint that was hit, also of one that only logs."""
        self._publisher.log(
            "info" if not hit.stopped else "warning", "breakpoint", f"Step {hit.step}: {hit.sentence}"
        )

    def adopt(self, run: AgentRun) -> None:
        """Make a run the current one."""
        self._current.run = run
        self.notice = ""  # It was about the run before.
        self.breaking.page_values = {}
        run.hold_calls(lambda held: self._hold_call(run, held), lambda: self.breaking.holds_replies)
        breaking = self.breaking
        run.tell(lambda call: breaking.failed(run, call), lambda event: breaking.happened(run, event))
        run.world.ask = lambda crossing: self._hold_crossing(run, crossing)
        self._publisher.change(sites=run.world.tabs.border.sites)

    async def _hold_call(self, run: AgentRun, held: HeldCall | HeldReply) -> None:
        """Stop before or after an LLM call where a breakpoint or the command says so, until the person continues."""
        call = held.record
        stopped = self.breaking.call(run, call, over=isinstance(held, HeldReply))
        if isinstance(held, HeldCall) and self._until.kind == "call" and not stopped:
            stopped = f"Call {call.number} ({call.purpose}) has not been sent yet."
        if not stopped:
            return
        what, verb = ("prompt", "sent") if isinstance(held, HeldCall) else ("reply", "read")
        edits = f"Edit the {what} (Ctrl+P, P) changes what is {verb}."
        message = f"{stopped} {edits} Continue with Run (F5) or Step (F10)."
        self.held.append(held)
        self.tell_held()
        self.rest(run, "waiting", message, stopped_at=message)
        try:
            with run.state.clock.hold():
                await self.breaking.wait()
        finally:
            self.held.remove(held)
            self.tell_held()
        self._publisher.set_mode("asking")

    def tell_held(self) -> None:
        """Show which call is held."""
        held = self.held[-1] if self.held else None
        number = 0 if held is None else held.record.number
        kind: Literal["prompt", "reply"] = "prompt" if isinstance(held, HeldCall) else "reply"
        edits, undone = (0, 0) if held is None else (held.rewritten, held.undone)
        run = self._publisher.session.run
        made = tuple(
            EditMade(key=f"{kind} {run}.{number}.{edit}", kind=kind) for edit in range(1, edits + undone + 1)
        )
        self._publisher.change(
            held_call=number if isinstance(held, HeldCall) else 0,
            held_reply=number if isinstance(held, HeldReply) else 0,
            held_edits=made[:edits],
            held_undone=made[edits:][::-1],
        )

    async def _advance(self, run: AgentRun, phase: Phase) -> PhaseRecord:
        if phase != "act" or not self.breaking.holds_requests:
            return await run.advance()
        async with run.world.tabs.held(lambda sent: self._hold_request(run, sent)):
            return await run.advance()

    async def _hold_request(self, run: AgentRun, sent: Sent) -> bool:
        """Stop before something leaves where a breakpoint says so; return whether the person lets it go."""
        stopped = self.breaking.request(run, sent)
        if not stopped:
            return True
        message = f"{stopped} It is held. Run (F5) or Step (F10) sends it, Skip (Ctrl+J) refuses it."
        return await self._let_by_person(run, str(sent), message)

    async def _hold_crossing(self, run: AgentRun, crossing: Crossing) -> bool:
        """Stop before something leads out of what the task allows; return whether the person lets it."""
        if self._publisher.session.handed_over:
            return True  # It is the person who acts.
        if not self.busy:
            self._publisher.log(
                "warning", "sites", f"{crossing.why} It was refused: the agent was not at work."
            )
            return False
        lets = (
            "uploads it"
            if crossing.kind == "file"
            else f"opens it, and {crossing.host} from now on in this run"
        )
        message = f"{crossing.why} Run (F5) or Step (F10) {lets}; Skip (Ctrl+J) refuses it."
        self._publisher.change(crossing=crossing.host if crossing.kind != "file" else "")
        let = False
        try:
            let = await self._let_by_person(run, crossing.what, message)
        finally:
            new = (crossing.host,) if let and crossing.kind != "file" else ()
            self._publisher.change(crossing="", sites=(*run.world.tabs.border.sites, *new))
        return let

    async def _let_by_person(self, run: AgentRun, what: str, message: str) -> bool:
        """Hold something until the person continues; return whether they let it go."""
        self._publisher.change(held_request=what)
        self.rest(run, "waiting", message, stopped_at=message)
        try:
            with run.state.clock.hold():
                await self.breaking.wait()
        finally:
            self._publisher.change(held_request="")
        self._publisher.set_mode("acting")
        if self.breaking.refused:
            self._publisher.log("warning", "breakpoint", f"{what} was refused.")
        return not self.breaking.refused

    def rest(self, run: AgentRun, mode: Mode, message: str, *, stopped_at: str = "") -> None:
        """Wait for the person, with the step so far."""
        self._publisher.set_mode(mode, message, stopped_at=stopped_at)
        self._publisher.publish_step(run)

    async def _phases(self, run: AgentRun) -> None:
        first = True
        while not run.ended:
            until = self._until
            phase = run.next_phase
            if not first and (self._pause.is_set() or until.reached(phase, run)):
                break
            if stopped := self.breaking.before(run, phase):
                self._rest_at(run, stopped)
                return
            if phase == "review" and self._held_by_gate(run, until):
                return
            run.state.overlap = until.kind == "end"
            if until.kind == "decide":  # What is pressed meanwhile says how it continues.
                self._publisher.set_mode("opening", "Reading the page…")
            else:
                self._publisher.set_mode(_mode_of(run))
            if phase == "act":
                self._publisher.steps.clear_outlines()
            record = await self._advance(run, phase)
            first = False
            if phase in ("observe", "act"):
                await self.breaking.look_at_page(run)
            self._publisher.advanced(run, record)
            if stopped := self.breaking.after(run, record):
                if run.ended:
                    self._publisher.log("info", "breakpoint", stopped)
                    return
                self._rest_at(run, stopped)
                return
            if problem := _unverified(record) or _unclear(run, record):
                self._rest_at(run, problem)
                return
            if phase == "commit" and self._until.kind == "end" and not run.ended:
                await self._keep_pace()
        if not run.ended:
            self._publisher.set_mode("waiting", self._with_notice(self.gate_message(run)))
            self._publisher.publish_step(run)

    def _rest_at(self, run: AgentRun, why: str) -> None:
        """Stop for a breakpoint or a watch, and say why."""
        why = self._with_notice(why)
        self.rest(run, "waiting", why, stopped_at=why)

    def _with_notice(self, why: str) -> str:
        """Return why the run rests, and what else is to be said where it does."""
        notice, self.notice = self.notice, ""
        return " ".join(filter(None, (why, notice)))

    async def _keep_pace(self) -> None:
        """Wait between steps as long as the person asked for; a pause ends it."""
        try:
            async with asyncio.timeout(self._publisher.session.pace):
                await self._pause.wait()
        except TimeoutError:
            return

    def gate_message(self, run: AgentRun) -> str:
        """Return what is to be known of the action under review, which counts as shown from then on."""
        if run.next_phase != "review":
            return ""
        gate = run.gate()
        if gate is None:
            return ""
        self._gate_shown = (run.state.run, run.state.number, str(run.state.pending.action))
        if gate.kind == "loop":
            return f"{gate.reason} Accept to call it anyway, or change the action."
        if gate.kind == "effects":
            return f"{gate.reason}. Accept to do it anyway, or skip it."
        if gate.kind == "hint":
            return f"It may be impossible to undo this action: {gate.reason}. Accept to carry it out, or skip it."
        return f"This action cannot be undone: {gate.reason}. Accept to carry it out, or skip it."

    def _held_by_gate(self, run: AgentRun, until: RunGoal) -> bool:
        """Stop at a gate, until the person takes just this action knowingly."""
        shown_before = self._gate_shown
        message = self.gate_message(run)
        if not message:
            return False
        if self._gate_shown == shown_before and until.kind != "end":
            gate = run.gate()
            assert gate is not None
            run.state.pending.note = f"Gate: {gate.reason}; the person accepted it."
            return False
        self.rest(run, "waiting", self._with_notice(message))
        return True


async def _nothing() -> None:
    return


def _lost(run: AgentRun) -> str:
    """Return how a run whose browser was replaced can continue, or nothing if it has its page."""
    if not (lost := run.world.tabs.browser.lost):
        return ""
    # A step can be gone back to once its page has been read.
    step = run.state.number - (run.next_phase == "observe")
    if step < 1:
        return f"{lost} Open the task again (Ctrl+R) to start again in it."
    return f"{lost} Go back to step {step} (Ctrl+B) to continue from there in it."


def _mode_of(run: AgentRun) -> Mode:
    if run.next_asks_llm:
        return "asking"
    return "acting" if run.next_phase == "act" else "running"


def _unverified(record: PhaseRecord) -> str:
    """Return what is to be said where going back for a remedy has not led to the page as it was."""
    if not isinstance(record, Acted) or record.restored is None or record.restored.verified:
        return ""
    if record.outcome == "failed":
        return ""  # The remedy is dropped: the agent continues without it.
    return f"{record.restored.sentence} Step to try the remedy there, or skip it."


def _unclear(run: AgentRun, record: PhaseRecord) -> str:
    """Return what is to be said where the LLM has not said whether a step was right, and the person is to be asked."""
    if not isinstance(record, Aligned) or run.state.judgement_settings.unclear != "ask":
        return ""
    if "aligned" not in record.unclear and not (record.stop_refused and record.unclear):
        return ""
    open_still = "The LLM did not give a complete judgement, even when asked again."
    return f"{open_still} Answer in Plan & remedies. If you continue without an answer, it counts as no."


def _verdict_words(verdict: Verdict) -> str:
    return {True: "success", False: "no success", None: "not judged"}[verdict.success]
