"""A debugging session: commands in, snapshots out; it decides when the loop goes on and when it stops.

Commands may come from any thread and only queue work on the worker's loop;
everything else here runs in that loop.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Literal

from core.action import Action, parse_action
from core.agent.asking import Asked
from core.agent.loop import AgentRun, open_run
from core.agent.state import Budget
from core.browser.host import BrowserEvent
from core.browser.page import PageGone
from core.debugger import exporting
from core.debugger.driving import Driver
from core.debugger.publisher import needs_action
from core.debugger.snapshots import Picked
from core.debugger.worker import Worker
from core.debugger.workshop import Workshop
from core.errors import ActionError, ActionSyntaxError, BackstepError, BrowserError, TraceError, UsageError
from core.llm.encode import as_json, as_lines, as_tool_call
from core.llm.protocol import LLMRequest
from core.llm.registry import LLMs
from core.observation import Box
from core.task import Verdict
from core.trace.records import Intervention
from core.trace.store import TraceStore


class Session(Driver):
    """The `SessionCommands` of the window."""

    def __init__(self, open_workshop: Callable[[], Awaitable[Workshop]], *, who: str = "person") -> None:
        super().__init__()
        self._open_workshop = open_workshop
        self._who = who
        self._worker = Worker(self._on_worker_failure)
        self._workshop: Workshop | None = None
        self._opening: asyncio.Task[Any] | None = None
        self._asked_to_open = 0
        """How often a task, or a stop, was asked for: only the last one counts."""
        self._question: LLMRequest | None = None
        self._lock = asyncio.Lock()
        """Held by whoever opens, ends or hands over a run."""
        self._started = asyncio.Event()
        self._failure = ""
        """Why the browser or the trace is not there."""
        self._closed = False

    # Beginning and end, from the window's thread

    def start(self) -> None:
        """Begin: connect to the browser and the trace; what fails shows as the session's message."""
        self._worker.start()
        self._worker.post(self._start())

    def announce(self) -> None:
        """Send every snapshot once more, for a window that came later."""

        async def work() -> None:
            if self._workshop is not None:
                self.send_catalogue(self._workshop)
                self.send_runs()
            self.change()

        self._worker.post(work())

    def close(self) -> "Future[None]":
        """Begin to end the run and to let go of everything.

        Returns at once: until the future is done the worker may still need
        the GUI thread to answer for the browser. Then call `stop_worker`.
        """
        try:
            return self._worker.post(self._close())
        except RuntimeError:
            over: Future[None] = Future()
            over.set_result(None)
            return over

    def stop_worker(self) -> None:
        """End the worker's thread; nothing can be asked of the session any more."""
        self._worker.stop()

    async def _start(self) -> None:
        try:
            async with self._lock:
                await self._connect()
        finally:
            self._started.set()

    async def _connect(self) -> None:
        self.set_mode("opening", "Starting the browser…")
        try:
            workshop = await self._open_workshop()
        except BackstepError as error:
            self._failure = str(error)
            self.fail(self._failure)
            return
        self._failure = ""
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
        self._closed = True
        await self._stop_opening()
        async with self._lock:
            await self._halt()
            workshop, self._workshop, self.store = self._workshop, None, None
            if workshop is None:
                return
            try:
                if self.agent_run is not None:
                    await self.agent_run.finish("stopped")
            finally:
                await workshop.close()

    def _on_worker_failure(self, error: BaseException) -> None:
        self.fail(f"{type(error).__name__}: {error}. The log has the details; open the task anew.")

    def _post(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            self._worker.post(self._guarded(work))
        except RuntimeError:
            return  # The session is over; a last click has nothing to reach.

    async def _guarded(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        await self._started.wait()
        if self._closed:
            return
        try:
            await work()
        except BackstepError as error:
            self.complain(str(error))

    def _now(self, change: Callable[[], None]) -> None:
        async def work() -> None:
            change()

        self._post(work)

    # For those beside the session that need its loop

    def queue(self, work: Coroutine[Any, Any, None]) -> None:
        """Queue work on the session's loop, from any thread; a BackstepError of it becomes the message."""
        self._post(lambda: work)

    def llms(self) -> LLMs:
        """Return the LLMs in use; raises UsageError before the session has begun."""
        return self._need_workshop().llms

    async def use_llms(self, llms: LLMs) -> None:
        """Go on with these LLMs from the next call on, and offer them."""
        workshop = self._need_workshop()
        old, workshop.llms = workshop.llms, llms
        if self.agent_run is not None and not self.agent_run.ended:
            self.agent_run.use(llm=llms.routed(self.session.llm))
        self.send_catalogue(workshop)
        self._withdrawn = self.busy  # A question put to the old ones is withdrawn with them.
        await old.close()

    # Commands: tasks and choices

    def open_task(self, task: str, seed: int, *, url: str = "", instruction: str = "") -> None:
        self._post(lambda: self._open(task, seed, url, instruction))

    async def _open(self, task_id: str, seed: int, url: str, instruction: str) -> None:
        self._asked_to_open += 1
        mine = self._asked_to_open
        await self._stop_opening()
        if mine != self._asked_to_open:
            return  # Another task was asked for meanwhile.
        self._opening = asyncio.current_task()
        try:
            async with self._lock:
                run = await self._open_run(task_id, seed, url, instruction)
        finally:
            if self._opening is asyncio.current_task():
                self._opening = None
        if run is not None and run is self.agent_run:
            self._go("decide")

    async def _open_run(self, task_id: str, seed: int, url: str, instruction: str) -> AgentRun | None:
        if self._workshop is None:
            await self._connect()
        if self._workshop is None:
            return None
        workshop = self._workshop
        await self._halt()
        await self._finish_stopped()
        self.agent_run = None
        self.begin(task_id, seed)
        try:
            task = workshop.environments.find(task_id, url=url, instruction=instruction)
            run = await open_run(
                workshop.store,
                workshop.world(task),
                task,
                seed,
                preset=workshop.presets.get(self.session.preset),
                presets=workshop.presets,
                llm=workshop.llms.routed(self.session.llm),
                prompts=workshop.prompts,
                budget=Budget(self.session.max_steps, workshop.settings.max_llm_calls),
                browser=workshop.host.name,
                on_asked=self._on_asked,
            )
        except BackstepError as error:
            self.fail(f"{task_id} could not be opened: {error}")
            return None
        self.agent_run = run
        self.opened(run)
        return run

    async def _stop_opening(self) -> bool:
        """Cancel the opening of a task that is under way; return whether there was one."""
        opening, self._opening = self._opening, None
        if opening is None or opening.done():
            return False
        opening.cancel()
        await asyncio.wait([opening])
        return True

    async def _finish_stopped(self) -> None:
        """End the run under way as stopped; one that the trace cannot end is found as interrupted later."""
        if self.agent_run is None or self.agent_run.ended:
            return
        try:
            await self.agent_run.finish("stopped")
        except TraceError as error:
            self.log("error", "trace", str(error))

    def set_preset(self, name: str) -> None:
        def work() -> None:
            preset = self._need_workshop().presets.get(name)
            if self.agent_run is not None and not self.agent_run.ended:
                self.agent_run.use(preset=preset)
            self.change(preset=name, **self.figures())

        self._now(work)

    def set_llm(self, name: str) -> None:
        def work() -> None:
            llm = self._need_workshop().llms.routed(name)
            if self.agent_run is not None and not self.agent_run.ended:
                self.agent_run.use(llm=llm)
            self.change(llm=name)

        self._now(work)

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
        self._now(self._pause_or_cancel)

    def stop(self) -> None:
        async def work() -> None:
            self._asked_to_open += 1
            if await self._stop_opening():
                self.set_mode("empty", "Opening the task was stopped; choose a task (Ctrl+N).")
                return
            async with self._lock:
                await self._halt()
                if self.agent_run is not None and not self.agent_run.ended:
                    await self.agent_run.finish("stopped")
                    self.ended(self.agent_run)

        self._post(work)

    def end(self, success: bool) -> None:
        async def work() -> None:
            async with self._lock:
                await self._halt()
                run = self.agent_run
                if run is None:
                    self.change(message="Open a task first (Ctrl+N).")
                    return
                verdict = Verdict(success=success, judge="person", reason="The person at the window said so.")
                before = _verdict_words(run.verdict) if run.ended else ""
                self._store().save_intervention(self._intervention("end", before, _verdict_words(verdict)))
                if run.ended:
                    self._store().set_verdict(run.state.run, verdict)
                    run.verdict = verdict
                else:
                    await run.finish("stopped", verdict=verdict)
                self.ended(run)

        self._post(work)

    # Commands: correcting

    def edit_action(self, text: str) -> None:
        self._now(lambda: self._edit(text))

    def _edit(self, text: str) -> None:
        run = self._reviewing()
        if run is None:
            return
        action = self._permissible_action(run, text)
        if action is None:
            return
        pending = run.state.pending
        if action == pending.action:
            self.publish_step(run)
            return
        kind: Literal["edit", "replace"] = (
            "edit" if pending.proposed is not None and pending.proposed.kind == action.kind else "replace"
        )
        self._store().save_intervention(self._intervention(kind, _words(pending.action), str(action)))
        pending.action, pending.problem = action, ""
        pending.origin = "agent" if action == pending.proposed else "person"
        run.state.queue.clear()
        self.set_mode("waiting", self._gate_message(run))
        self.publish_step(run)

    def skip(self) -> None:
        def work() -> None:
            run = self._reviewing()
            if run is None:
                return
            pending = run.state.pending
            self._store().save_intervention(self._intervention("skip", _words(pending.action), ""))
            pending.skip, pending.origin = True, "person"
            run.state.queue.clear()
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
        if self.session.handed_over:
            self.change(message="You have the page: give it back first (F6).")
            return None
        if run is None or run.ended or self.busy or run.next_phase != "review":
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
        if not needs_action(request):
            self._store().save_intervention(self._intervention("answer", "", thought))
            person.answer(thought)
            return
        action = self._permissible_action(run, text)
        if action is None:
            return
        self._store().save_intervention(self._intervention("answer", "", str(action)))
        if request.tools:
            person.answer(thought, (as_tool_call(action),))
        elif run.state.preset.reply_format == "json":
            person.answer(as_json(thought, (action,)))
        else:
            person.answer(as_lines(" ".join(thought.split()), (action,)))

    def _permissible_action(self, run: AgentRun, text: str) -> Action | None:
        """Return the action a person wrote, or None with the problem shown."""
        try:
            action = parse_action(text)
        except ActionSyntaxError as error:
            self.show_problem(str(error))
            return None
        problem = run.state.permissible.problem(action)
        if problem:
            self.show_problem(problem)
            return None
        return action

    def _on_question(self, request: LLMRequest | None) -> None:
        self._question = request
        self.send_question(request)
        if request is not None:
            self.set_mode("answering", "You are the LLM: choose an action, or point at one.")
        elif self.session.mode == "answering":
            self.set_mode("running")

    # Commands: the live page

    def set_handover(self, on: bool) -> None:
        async def work() -> None:
            async with self._lock:
                if on == self.session.handed_over:
                    return
                if on and self.busy:
                    self.change(message="Pause first: the agent is acting.")
                    return
                run = self.agent_run
                if run is not None and not run.ended:
                    tabs = self._need_workshop().tabs
                    if not on:
                        await tabs.follow()
                    url = await tabs.current.url()
                    told = self._intervention("handover", url if on else "", "" if on else url)
                    self._store().save_intervention(told)
                self.change(handed_over=on)
                if not on:
                    await self._given_back()

        self._post(work)

    async def _given_back(self) -> None:
        """Go on with the page as the person left it; an episode that they ended ends the run."""
        run = self.agent_run
        if run is None or run.ended:
            return
        if await run.check_ended():
            self.ended(run)
            return
        run.look_again()
        self._go("decide")

    def point(self, x: float, y: float, *, final: bool) -> None:
        self._post(lambda: self._point(x, y, final))

    async def _point(self, x: float, y: float, final: bool) -> None:
        found = None
        if self.agent_run is not None:
            try:
                found = await self._need_workshop().tabs.current.element_at(x, y)
            except (PageGone, ActionError, BrowserError):
                found = None
        if found is None:
            self.picked.send(Picked(ref=None, final=final))
        else:
            box = Box.model_validate(found["box"])
            self.picked.send(Picked(ref=found["ref"], label=found["label"], box=box, final=final))

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

        self._post(work)

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

    def _need_workshop(self) -> Workshop:
        if self._workshop is None:
            raise UsageError(self._failure or "The browser is not ready yet; wait a moment and try again.")
        return self._workshop

    def _store(self) -> TraceStore:
        return self._need_workshop().store

    def _intervention(
        self, kind: Literal["edit", "replace", "skip", "answer", "end", "handover"], before: str, after: str
    ) -> Intervention:
        assert self.agent_run is not None
        state = self.agent_run.state
        return Intervention(
            run=state.run,
            step=state.number,
            kind=kind,
            who=self._who,
            when=time.time(),
            before=before,
            after=after,
        )


def _words(action: Action | None) -> str:
    return "" if action is None else str(action)


def _verdict_words(verdict: Verdict) -> str:
    return {True: "success", False: "no success", None: "not judged"}[verdict.success]
