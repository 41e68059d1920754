"""A debugging session: commands in, snapshots out; it decides when the loop goes on and when it stops.

Commands may come from any thread and only queue work on the worker's loop;
everything else here runs in that loop.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Literal

from core.action import parse_action
from core.agent.asking import Asked
from core.agent.loop import AgentRun, open_run
from core.agent.phases import gate_reason
from core.agent.state import Budget
from core.browser.host import BrowserEvent
from core.browser.page import PageGone
from core.debugger import exporting
from core.debugger.publisher import Publisher
from core.debugger.snapshots import Mode, Picked
from core.debugger.worker import Worker
from core.debugger.workshop import Workshop
from core.errors import (
    ActionError,
    ActionSyntaxError,
    BackstepError,
    UsageError,
)
from core.llm.encode import as_tool_call
from core.llm.protocol import LLMRequest
from core.observation import Box
from core.task import Verdict
from core.trace.records import Intervention

Until = Literal["phase", "review", "step", "end"]


class Session(Publisher):
    """The `SessionCommands` of the window."""

    def __init__(self, open_workshop: Callable[[], Awaitable[Workshop]], *, who: str = "person") -> None:
        super().__init__()
        self._open_workshop = open_workshop
        self._who = who
        self._worker = Worker(self._on_worker_failure)
        self._workshop: Workshop | None = None
        self._going: asyncio.Task[None] | None = None
        self._pause = False
        self._gate_shown: tuple[int, int] | None = None
        self._question: LLMRequest | None = None
        self._lock: asyncio.Lock | None = None
        self._started = asyncio.Event()

    # Beginning and end, from the window's thread

    def start(self) -> None:
        """Begin: connect to the browser and the trace; what fails shows as the session's message."""
        self._worker.start()
        self._worker.post(self._start())

    def close(self) -> "Future[None]":
        """Begin to end the run and to let go of everything.

        Returns at once: until the future is done the worker may still need
        the GUI thread to answer for the browser. Then call `stop`.
        """
        return self._worker.post(self._close())

    def stop_worker(self) -> None:
        """End the worker's thread; nothing can be asked of the session any more."""
        self._worker.stop()

    async def _start(self) -> None:
        try:
            await self._connect()
        finally:
            self._started.set()

    async def _connect(self) -> None:
        self._lock = asyncio.Lock()
        self.set_mode("opening", "Starting the browser…")
        try:
            workshop = await self._open_workshop()
        except BackstepError as error:
            self.set_mode("failed", str(error))
            self.log("error", "session", str(error))
            return
        self._workshop = workshop
        self.store = workshop.store
        workshop.tabs.on_event(self._on_browser_event)
        workshop.llms.person.connect(self._on_question)
        settings = workshop.settings
        self.change(
            preset=settings.preset, llm=settings.llm, max_steps=settings.max_steps, pace=settings.pace
        )
        self.send_catalogue(workshop)
        self.send_runs()
        self.set_mode("empty", "Choose a task (Ctrl+N).")

    async def _close(self) -> None:
        await self._halt()
        if self.agent_run is not None and not self.agent_run.ended:
            await self.agent_run.finish("stopped")
        if self._workshop is not None:
            await self._workshop.close()
            self._workshop = None

    def _on_worker_failure(self, error: BaseException) -> None:
        self.set_mode("failed", f"{type(error).__name__}: {error}. The log has the details; open the task anew.")
        self.log("error", "session", f"{type(error).__name__}: {error}")

    def _post(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            self._worker.post(self._guarded(work))
        except RuntimeError:
            return  # The session is over; a last click has nothing to reach.

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        await self._started.wait()
        try:
            await work
        except BackstepError as error:
            self.fail(str(error))

    def _now(self, change: Callable[[], None]) -> None:
        async def work() -> None:
            change()

        self._post(work())

    # Commands: tasks and choices

    def open_task(self, task: str, seed: int, *, url: str = "", instruction: str = "") -> None:
        self._post(self._open(task, seed, url, instruction))

    async def _open(self, task_id: str, seed: int, url: str, instruction: str) -> None:
        workshop = self._need_workshop()
        assert self._lock is not None
        async with self._lock:
            await self._halt()
            if self.agent_run is not None and not self.agent_run.ended:
                await self.agent_run.finish("stopped")
            self.agent_run = None
            self.begin(task_id, seed)
            try:
                task = workshop.environments.find(task_id, url=url, instruction=instruction)
                self.agent_run = await open_run(
                    workshop.store,
                    workshop.world(task),
                    task,
                    seed,
                    preset=workshop.presets.get(self.session.preset),
                    llm=workshop.llms.routed(self.session.llm),
                    prompts=workshop.prompts,
                    budget=Budget(self.session.max_steps, workshop.settings.max_llm_calls),
                    browser=workshop.host.name,
                    on_asked=self._on_asked,
                )
            except (BackstepError, PageGone) as error:
                self.fail(f"{task_id} could not be opened: {error}")
                return
            self.opened(self.agent_run)
        self._go("decide")

    def set_preset(self, name: str) -> None:
        async def work() -> None:
            preset = self._need_workshop().presets.get(name)
            if self.agent_run is not None:
                self.agent_run.use(preset=preset)
            self.change(preset=name)

        self._post(work())

    def set_llm(self, name: str) -> None:
        async def work() -> None:
            llm = self._need_workshop().llms.routed(name)
            if self.agent_run is not None:
                self.agent_run.use(llm=llm)
            self.change(llm=name)

        self._post(work())

    def set_pace(self, seconds: float) -> None:
        self._now(lambda: self.change(pace=max(0.0, seconds)))

    def set_max_steps(self, count: int) -> None:
        def work() -> None:
            if self.agent_run is not None:
                self.agent_run.state.budget.page_actions = max(1, count)
            self.change(max_steps=max(1, count))

        self._now(work)

    # Commands: going on and stopping

    def step(self) -> None:
        self._now(lambda: self._go("review"))

    def phase(self) -> None:
        self._now(lambda: self._go("phase"))

    def run(self) -> None:
        self._now(lambda: self._go("end"))

    def accept(self) -> None:
        self._now(lambda: self._go("step"))

    def pause(self) -> None:
        def work() -> None:
            if self._pause and self._going is not None and self.session.mode in ("asking", "answering"):
                self._going.cancel()
                return
            self._pause = True
            if self._going is not None:
                self.change(message="Pausing at the end of this phase; pause again to cancel the LLM call.")

        self._now(work)

    def stop(self) -> None:
        async def work() -> None:
            await self._halt()
            if self.agent_run is not None and not self.agent_run.ended:
                await self.agent_run.finish("stopped")
                self.ended(self.agent_run)

        self._post(work())

    def end(self, success: bool) -> None:
        async def work() -> None:
            await self._halt()
            if self.agent_run is None:
                return
            verdict = Verdict(success=success, judge="person", reason="The person at the window said so.")
            self._store().save_intervention(self._intervention("end", "", "success" if success else "failure"))
            if self.agent_run.ended:
                self._store().set_verdict(self.agent_run.state.run, verdict)
                self.agent_run.verdict = verdict
            else:
                await self.agent_run.finish("stopped", verdict=verdict)
            self.ended(self.agent_run)

        self._post(work())

    async def _halt(self) -> None:
        """Stop going on, in the middle of a call if need be."""
        going, self._going = self._going, None
        if going is not None and not going.done():
            going.cancel()
            try:
                await going
            except asyncio.CancelledError:
                pass

    def _go(self, until: "Until | Literal['decide']") -> None:
        if self.agent_run is None or self._workshop is None:
            self.change(message="Open a task first (Ctrl+N).")
            return
        if self.agent_run.ended:
            self.change(message="This run has ended; open the task again (Ctrl+R) or choose another (Ctrl+N).")
            return
        if self._going is not None and not self._going.done():
            return
        if self.session.handed_over:
            self.change(message="You have the page: give it back first (F6).")
            return
        self._pause = False
        self.show_live()
        self._going = asyncio.ensure_future(self._drive(self.agent_run, until))

    async def _drive(self, run: AgentRun, until: "Until | Literal['decide']") -> None:
        try:
            await self._phases(run, until)
        except asyncio.CancelledError:
            self.set_mode("waiting", "Cancelled; step to ask again.")
            self.publish_step(run)
            raise
        except (BackstepError, PageGone) as error:
            self.fail(str(error))
            self.publish_step(run)
            return
        if run.ended:
            self.ended(run)

    async def _phases(self, run: AgentRun, until: "Until | Literal['decide']") -> None:
        first = True
        while not run.ended:
            phase = run.next_phase
            if not first and (self._pause or self._stops(run, until)):
                break
            if phase == "review" and self._held_by_gate(run, until):
                return
            self.set_mode(self._mode_of(phase, run))
            record = await run.advance()
            first = False
            self.advanced(run, record)
            if phase == "commit" and until == "end" and not run.ended and self.session.pace > 0:
                await asyncio.sleep(self.session.pace)  # The pace that the person asked for.
            if until == "phase" and not run.ended:
                break
        if not run.ended:
            self.set_mode("waiting")
            self.publish_step(run)

    @staticmethod
    def _stops(run: AgentRun, until: "Until | Literal['decide']") -> bool:
        phase = run.next_phase
        return (
            (until == "review" and phase == "review")
            or (until == "step" and phase == "observe")
            or (until == "decide" and phase == "decide")
        )

    def _held_by_gate(self, run: AgentRun, until: "Until | Literal['decide']") -> bool:
        """Stop before an action that cannot be undone, until the person takes it knowingly."""
        reason = gate_reason(run.state, run.world)
        here = (run.state.run, run.state.number)
        if reason is None or run.state.pending.skip:
            return False
        if self._gate_shown == here and until in ("step", "review", "phase"):
            run.state.pending.note = f"Gate: {reason}; the person let it pass."
            return False
        self._gate_shown = here
        self.set_mode("waiting", f"This action cannot be undone: {reason}. Accept to carry it out, or skip it.")
        self.publish_step(run)
        return True

    @staticmethod
    def _mode_of(phase: str, run: AgentRun) -> Mode:
        if phase == "decide" and not run.state.queue:
            return "answering" if run.state.llm == "person" else "asking"
        return "acting" if phase == "act" else "running"

    # Commands: correcting

    def edit_action(self, text: str) -> None:
        self._now(lambda: self._edit(text))

    def _edit(self, text: str) -> None:
        run = self._reviewing()
        if run is None:
            return
        pending = run.state.pending
        try:
            action = parse_action(text)
        except ActionSyntaxError as error:
            self.show_problem(text, str(error))
            return
        problem = run.state.permissible.problem(action)
        if problem:
            self.show_problem(text, problem)
            return
        before = str(pending.action) if pending.action is not None else ""
        if action == pending.action:
            self.show_problem("", "")
            return
        pending.action, pending.origin, pending.problem = action, "person", ""
        run.state.queue.clear()
        same_kind = pending.proposed is not None and pending.proposed.kind == action.kind
        self._store().save_intervention(self._intervention("edit" if same_kind else "replace", before, str(action)))
        self.publish_step(run)

    def skip(self) -> None:
        def work() -> None:
            run = self._reviewing()
            if run is None:
                return
            pending = run.state.pending
            before = str(pending.action) if pending.action is not None else ""
            pending.skip, pending.origin = True, "person"
            run.state.queue.clear()
            self._store().save_intervention(self._intervention("skip", before, ""))
            self._go("step")

        self._now(work)

    def ask_again(self) -> None:
        def work() -> None:
            run = self._reviewing()
            if run is not None:
                run.decide_again()
                self._go("review")

        self._now(work)

    def _reviewing(self) -> AgentRun | None:
        run = self.agent_run
        busy = self._going is not None and not self._going.done()
        if run is None or run.ended or busy or run.next_phase != "review":
            self.change(message="There is no action to change now: step to the next one (F10).")
            return None
        return run

    def answer(self, thought: str, action: str) -> None:
        self._now(lambda: self._answer(thought, action))

    def _answer(self, thought: str, text: str) -> None:
        request, run = self._question, self.agent_run
        if request is None or run is None:
            self.change(message="No question is open.")
            return
        person = self._need_workshop().llms.person
        if not request.tools and request.purpose in ("rationale", "judge"):
            person.answer(thought)
            return
        try:
            action = parse_action(text)
        except ActionSyntaxError as error:
            self.show_problem(text, str(error))
            return
        problem = run.state.permissible.problem(action)
        if problem:
            self.show_problem(text, problem)
            return
        self._store().save_intervention(self._intervention("answer", "", str(action)))
        if request.tools:
            person.answer(thought, (as_tool_call(action),))
        else:
            person.answer(f"REASON: {thought}\nACTION: {action}")

    def _on_question(self, request: LLMRequest | None) -> None:
        self._question = request
        self.send_question(request)
        if request is not None:
            self.set_mode("answering", "You are the LLM: choose an action, or point at one.")

    # Commands: the live page

    def set_handover(self, on: bool) -> None:
        async def work() -> None:
            if on == self.session.handed_over:
                return
            if on and self._going is not None and not self._going.done():
                self.change(message="Pause first: the agent is acting.")
                return
            self.change(handed_over=on)
            run = self.agent_run
            if run is None or run.ended:
                return
            if on:
                self._store().save_intervention(self._intervention("handover", "", ""))
            else:
                await self._need_workshop().tabs.follow()
                run.look_again()
                self._go("decide")

        self._post(work())

    def point(self, x: float, y: float, *, final: bool) -> None:
        self._post(self._point(x, y, final))

    async def _point(self, x: float, y: float, final: bool) -> None:
        try:
            found = await self._need_workshop().tabs.current.element_at(x, y)
        except (PageGone, ActionError):
            found = None
        if found is None:
            self.picked.send(Picked(ref=None, final=final))
        else:
            self.picked.send(
                Picked(ref=found["ref"], label=found["label"], box=Box.model_validate(found["box"]), final=final)
            )

    # Commands: what is stored

    def show_step(self, run: int, number: int) -> None:
        self._now(lambda: self.show_recorded(run, number))

    def show_now(self) -> None:
        def work() -> None:
            self.show_live()
            if self.agent_run is not None:
                self.publish_step(self.agent_run)

        self._now(work)

    def open_run(self, run: int) -> None:
        self._now(lambda: self.expand(run))

    def search_runs(self, query: str) -> None:
        self._now(lambda: self.send_runs(query))

    def export_run(self, run: int, form: str, path: str) -> None:
        async def work() -> None:
            await asyncio.to_thread(exporting.export_run, self._store().path, run, form, path)
            self.log("info", "export", f"Run {run} was written to {path}.")
            self.change(message=f"Run {run} was written to {path}.")

        self._post(work())

    # What happens

    def _on_asked(self, asked: Asked) -> None:
        if asked.retry is not None:
            self.log("warning", "LLM", f"{asked.retry.reason}; asked again after {asked.retry.waited:.1f} s.")
        if asked.ended and asked.record.error:
            self.log("error", "LLM", f"Call {asked.record.number}: {asked.record.error}")
        self.streamed(asked)

    def _on_browser_event(self, event: BrowserEvent) -> None:
        level: Literal["info", "warning", "error"] = (
            "error" if event.kind in ("crash", "hang") else "info" if event.kind == "popup" else "warning"
        )
        self.log(level, "browser", event.text)

    # Small things

    def fail(self, message: str) -> None:
        self.set_mode("failed", message)
        self.log("error", "session", message)

    def _need_workshop(self) -> Workshop:
        if self._workshop is None:
            raise UsageError("The browser is not ready yet; wait a moment and try again.")
        return self._workshop

    def _store(self):  # type: ignore[no-untyped-def]
        return self._need_workshop().store

    def _intervention(self, kind: Any, before: str, after: str) -> Intervention:
        assert self.agent_run is not None
        state = self.agent_run.state
        return Intervention(
            run=state.run, step=state.number, kind=kind, who=self._who, when=time.time(), before=before, after=after
        )
