"""A debugging session: commands in, snapshots out, from start to close.

Commands may come from any thread and only queue work on the worker's loop;
everything else runs in that loop.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from functools import partial
from typing import Any, Literal

from core.agent.loop import AgentRun
from core.browser.driver_process import drop_driver
from core.debugger.branching.branches import Branches
from core.debugger.commands import CommandQueue, Openings, SessionParts
from core.debugger.interventions.corrections import Corrections
from core.debugger.interventions.edits import RunEditing
from core.debugger.interventions.live_page import LivePage
from core.debugger.listed_runs import watch_others
from core.debugger.publisher import Publisher
from core.debugger.run_commands import AgentSettings, RunCommands, TaskCommands, TraceCommands
from core.debugger.runner import Runner
from core.debugger.services import Current, Services
from core.debugger.session_view import SessionView
from core.debugger.worker import Worker
from core.llm.errors import mistake
from core.schema.errors import BackstepError
from core.schema.events import BrowserEvent
from core.schema.signal import Signal
from core.storage.database import log as database_log
from core.trace.store import TraceStore


class _Told(logging.Handler):
    """Gives each line of a log to a listener."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__()
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        self._tell(record.getMessage())


class Session:
    """Connects the parts of a session, which share the current run and one worker.

    The window calls `tasks`, `run_commands`, `agent`, `corrections`, `edits`,
    `live_page`, `branches` and `trace`, and listens to the signals, which are
    sent from the worker's thread.
    """

    def __init__(
        self,
        open_services: Callable[[], Awaitable[Services]],
        *,
        who: str = "person",
        worker: Worker | None = None,
    ) -> None:
        """`who` is what the trace calls the person; `worker` may have started before there is a session."""
        self._open_services = open_services
        self._worker = worker or Worker()
        self._worker.on_failure = self._on_worker_failure
        self._waits = _Told(self._on_wait)
        current = self._current = Current(who)
        publisher = self._publisher = Publisher(current)
        commands = self._commands = CommandQueue(self._worker, partial(publisher.tell, done=False))
        runner = self._runner = Runner(current, publisher)
        openings = self._openings = Openings()
        parts = SessionParts(current, publisher, runner, openings, commands)
        self.breaking = runner.breaking
        self.agent = AgentSettings(parts)
        self.tasks = TaskCommands(parts, self.agent, self._connect)
        self.run_commands = RunCommands(parts)
        self.corrections = Corrections(parts)
        self.edits = RunEditing(parts)
        self.live_page = LivePage(parts)
        self.branches = Branches(parts)
        self.trace = TraceCommands(parts)
        self.catalogue_changed = publisher.catalogue_changed
        self.session_changed = publisher.session_changed
        self.live_page_changed = publisher.steps.live_page_changed
        self.runs_changed = publisher.runs_changed
        self.step_changed = publisher.steps.step_changed
        """The current step (`live`), or the recorded one that was asked for."""
        # What the features use.
        self.services = current.need_services
        self.change, self.log, self.tell, self.crash = (
            publisher.change,
            publisher.log,
            publisher.tell,
            publisher.crash,
        )
        self.send_runs, self.show_recorded = publisher.send_runs, publisher.show_recorded
        self.text_offered = self.edits.offered
        self.edit_refused = self.edits.refused
        self.question_asked = publisher.question_asked
        """A question for the person; None when it is answered or withdrawn."""
        self.picked = publisher.picked
        self.logged = publisher.logged
        self._watching: asyncio.Task[None] | None = None
        """Looks for what other processes write into the trace."""
        self.worked: Signal[Any] = Signal()
        """The `Service` whose work in the background has changed."""
        self.closers: list[Callable[[], Awaitable[None]]] = []
        """What is to be ended in order before the session is closed."""

    # From the window's thread

    def start(self) -> None:
        """Begin: connect to the browser and the trace; what fails shows as the session's message."""
        database_log.addHandler(self._waits)
        self._worker.start()
        self._worker.post(self._start())

    def announce(self) -> None:
        """Send every snapshot again, for listeners that were added later."""

        async def work() -> None:
            if self._current.services is not None:
                self.offer()
                self.send_runs()
            self.change()
            if self._current.run is not None:
                self._publisher.publish_step(self._current.run)

        self._worker.post(work())

    def close(self) -> "Future[None]":
        """Begin to end the run and to release everything.

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

    def queue(self, work: Coroutine[Any, Any, None]) -> None:
        """Queue work on the session's loop, from any thread; a BackstepError of it becomes the message."""
        self._commands.post(work)

    # In the worker's loop: what the features use

    @property
    def session(self) -> SessionView:
        """The last snapshot of the session."""
        return self._publisher.session

    @property
    def agent_run(self) -> AgentRun | None:
        """The current run; it may have ended."""
        return self._current.run

    @property
    def busy(self) -> bool:
        """Whether the run is going on."""
        return self._runner.busy

    @property
    def store(self) -> TraceStore | None:
        return self._current.store

    def offer(self) -> None:
        """Announce once more what can be chosen, after a change of it."""
        self._publisher.send_catalogue(self.services())

    # From start to close

    async def _start(self) -> None:
        try:
            async with self._openings.lock:
                await self._connect()
        finally:
            self._commands.start()

    async def _connect(self) -> None:
        current, publisher = self._current, self._publisher
        publisher.set_mode("opening", "Starting the browser…")
        try:
            services = await self._open_services()
        except BackstepError as error:
            current.failure = str(error)
            publisher.fail(current.failure)
            return
        current.failure = ""
        current.services = services
        services.tabs.browser.script_patience.waiting.connect(
            lambda wait: self._publisher.change(script=wait)
        )
        self.breaking.open(services.store)
        services.tabs.browser.on_event(self._on_browser_event)
        services.llms.person.connect(self.corrections.on_question)
        services.resources.memory.on_progress = self._on_embedded
        settings = services.settings
        publisher.change(
            preset=settings.preset, llm=settings.llm, max_steps=settings.max_steps, pace=settings.pace
        )
        publisher.send_catalogue(services)
        publisher.send_runs()
        if self._watching is not None:
            self._watching.cancel()
        self._watching = asyncio.create_task(watch_others(services.store, publisher.send_changed_run))
        publisher.set_mode("empty", "Choose a task (Ctrl+N).")

    async def _close(self) -> None:
        database_log.removeHandler(self._waits)
        self._commands.close()
        if self._watching is not None:
            self._watching.cancel()
        await self._openings.stop()
        for close in self.closers:
            await close()
        async with self._openings.lock:
            await self._runner.halt()
            services, self._current.services = self._current.services, None
            await self._publisher.close()
            if services is None:
                await drop_driver()  # It was begun before there was anything to open.
                return
            try:
                await self._runner.finish_stopped()
            finally:
                await services.close()

    def _on_worker_failure(self, error: BaseException) -> None:
        self._publisher.fail(mistake(error))

    def _on_wait(self, text: str) -> None:
        """Tell that another program's lock is waited for; the next phase takes the message away."""
        if self._worker.is_here:
            self.change(message=text)  # It is this thread that waits now.
        else:
            self._worker.loop.call_soon_threadsafe(lambda: self.change(message=text))

    def _on_embedded(self, done: int, total: int) -> None:
        """Tell how far the index of exemplars is; the next phase takes the message away."""
        is_at_work = self.session.mode in ("opening", "running", "asking", "acting")
        if is_at_work and (done % 50 == 0 or done == total):
            self.change(message=f"Embedding exemplars, {done} of {total}…")

    def _on_browser_event(self, event: BrowserEvent) -> None:
        level: Literal["info", "warning", "error"] = (
            "error"
            if event.kind in ("crash", "hang", "replaced")
            else "info"
            if event.kind == "popup"
            else "warning"
        )
        self.log(level, "browser", event.text)
