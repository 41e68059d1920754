"""Opening tasks: each opening takes the place of the one before, and only the last one stays."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from core.agent.loop import AgentRun, open_run
from core.agent.state import Budget
from core.debugger.agent_settings import AgentSettings
from core.debugger.command_queue import CommandQueue
from core.debugger.current import Current
from core.debugger.publisher import Publisher
from core.debugger.runner import Runner
from core.schema.errors import BackstepError, UsageError

T = TypeVar("T")


class Openings:
    """Lets one opening, of a task or of a branch, go on at a time."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        """Held by whoever opens, ends or hands over a run."""
        self._asked = 0
        """How often an opening, or a stop, was asked for: only the last one counts."""
        self._under_way: asyncio.Task[Any] | None = None

    async def only(self, work: Callable[[], Awaitable[T]]) -> T | None:
        """Cancel the opening under way and do this one, in the current task.

        Returns None where another one, or a stop, was asked for meanwhile.
        """
        self._asked += 1
        mine = self._asked
        await self._cancel()
        if mine != self._asked:
            return None
        self._under_way = asyncio.current_task()
        try:
            async with self.lock:
                return await work()
        finally:
            if self._under_way is asyncio.current_task():
                self._under_way = None

    async def stop(self) -> bool:
        """Cancel the opening under way and those that wait for it; return whether there was one."""
        self._asked += 1
        return await self._cancel()

    async def _cancel(self) -> bool:
        opening, self._under_way = self._under_way, None
        if opening is None or opening.done():
            return False
        opening.cancel()
        await asyncio.wait([opening])
        return True


class TaskCommands:
    """Opens tasks in the place of the run under way."""

    def __init__(
        self,
        current: Current,
        publisher: Publisher,
        runner: Runner,
        agent: AgentSettings,
        openings: Openings,
        commands: CommandQueue,
        connect: Callable[[], Awaitable[None]],
    ) -> None:
        """`connect` opens the services, or tells why it cannot."""
        self._current = current
        self._publisher = publisher
        self._runner = runner
        self._agent = agent
        self._openings = openings
        self._commands = commands
        self._connect = connect

    # Commands, from any thread

    def open(self, task: str, seed: int, *, url: str = "", instruction: str = "", profile: str = "") -> None:
        """Open a task in a clean profile, or in the named one; a run under way is ended as stopped."""
        self._commands.post(lambda: self._open(task, seed, url, instruction, profile))

    def stop_opening(self) -> None:
        """Give up an opening, or a move, that is under way; a run that goes on goes on."""

        async def work() -> None:
            if await self._openings.stop():
                self._publisher.set_mode(
                    "empty", "It was given up; choose a task (Ctrl+N), or a step to go back to."
                )

        self._commands.post(work)

    # In the worker's loop

    async def open_anew(self) -> AgentRun | None:
        """Open the task of the current run from its start, and return the run once its page has been read.

        None where it could not be opened, or another was asked for meanwhile. Raises UsageError without a run.
        """
        if self._current.run is None:
            raise UsageError("Open a task first (Ctrl+N).")
        row = self._current.need_services().store.run(self._current.run.state.run)
        url, instruction = (row.start_url, row.instruction) if row.environment == "web" else ("", "")
        await self._open(row.task, row.seed, url, instruction, row.profile or "")
        run = self._current.run
        await self._runner.rested()
        return run if run is self._current.run else None

    async def _open(self, task_id: str, seed: int, url: str, instruction: str, profile: str) -> None:
        run = await self._openings.only(lambda: self._open_run(task_id, seed, url, instruction, profile))
        if run is not None and run is self._current.run:
            self._runner.go("decide")

    async def _open_run(
        self, task_id: str, seed: int, url: str, instruction: str, profile: str
    ) -> AgentRun | None:
        current, publisher = self._current, self._publisher
        if current.services is None:
            await self._connect()
        services = current.services
        if services is None:
            return None
        await self._runner.halt()
        await self._runner.finish_stopped()
        current.run = None
        publisher.moving(task_id, seed, f"Opening {task_id}…")
        chosen = publisher.session
        try:
            if await asyncio.to_thread(services.environments.refresh, task_id):
                publisher.send_catalogue(services)
            task = services.environments.find(task_id, url=url, instruction=instruction)
            run = await open_run(
                services.store,
                services.world(task),
                task,
                seed,
                preset=services.knowledge.presets.get(chosen.preset),
                llm=services.llms.routed(chosen.llm),
                knowledge=services.knowledge,
                budget=Budget(chosen.max_steps, services.settings.max_llm_calls),
                browser=services.host.name,
                profile=profile or None,
                on_asked=publisher.on_asked,
            )
        except BackstepError as error:
            publisher.fail(f"{task_id} could not be opened: {error}")
            publisher.send_runs(publisher.query)  # The run before has ended, though no other has begun.
            return None
        self._runner.adopt(run)
        if profile:
            publisher.send_catalogue(services)  # A new profile is offered from now on.
        # What was chosen while the task was being opened holds from its first step on.
        run.state.budget.page_actions = publisher.session.max_steps
        if publisher.session.preset != chosen.preset:
            self._agent.use_preset(publisher.session.preset, before=chosen.preset)
        await self._agent.use_llm(services.llms.routed(publisher.session.llm), before=chosen.llm)
        publisher.opened(run)
        return run
