"""Going on, stopping and ending, as the window asks for it."""

from collections.abc import Callable

from core.agent.loop import AgentRun
from core.debugger.command_queue import CommandQueue
from core.debugger.current import Current
from core.debugger.publisher import Publisher
from core.debugger.run_goal import GoalKind, RunGoal, out, over
from core.debugger.runner import Runner
from core.debugger.task_opening import Openings
from core.schema.task import Verdict


class RunCommands:
    """Commands from any thread, each of which only queues work."""

    def __init__(
        self,
        current: Current,
        publisher: Publisher,
        runner: Runner,
        openings: Openings,
        commands: CommandQueue,
    ) -> None:
        self._current = current
        self._publisher = publisher
        self._runner = runner
        self._openings = openings
        self._commands = commands

    def step(self) -> None:
        """Do one step; at review, take the action and go on to the next review: into a policy that it calls."""
        self._go("review")

    def over(self) -> None:
        """Go on to the next review in this frame of the policy stack, or in one that called it."""
        self._go_by(over)

    def out(self) -> None:
        """Go on until the policy at work has returned."""
        self._go_by(out)

    def phase(self) -> None:
        """Do one phase."""
        self._go("phase")

    def run(self) -> None:
        """Go on by itself until the end, a pause, or something that stops."""
        self._go("end")

    def run_to_step(self, number: int) -> None:
        """Go on to the review of that step."""
        self._go(RunGoal("to step", step=number))

    def run_to_subtask(self, subtask: int) -> None:
        """Go on until that subtask (from 0), or a later one, is current."""
        self._go(RunGoal("to subtask", subtask=subtask))

    def pause(self) -> None:
        """Stop at the next phase boundary; a second call cancels a waiting LLM call."""
        self._commands.now(self._runner.pause_or_cancel)

    def stop(self) -> None:
        """End the run, or give up the opening under way."""

        async def work() -> None:
            if await self._openings.stop():
                self._publisher.set_mode("empty", "Opening the task was stopped; choose a task (Ctrl+N).")
                return
            async with self._openings.lock:
                await self._runner.halt()
                if self._current.under_way is not None:
                    await self._runner.end(self._current.under_way)

        self._commands.post(work)

    def end(self, success: bool) -> None:
        """Say how a run without a judge ended."""

        async def work() -> None:
            async with self._openings.lock:
                await self._runner.halt()
                if self._current.run is None:
                    self._publisher.change(message="Open a task first (Ctrl+N).")
                    return
                reason = "The person at the window said so."
                verdict = Verdict(success=success, judge="person", reason=reason)
                await self._runner.end(self._current.run, verdict)

        self._commands.post(work)

    def set_pace(self, seconds: float) -> None:
        """Wait this long between the steps of a run."""
        self._commands.now(lambda: self._publisher.change(pace=max(0.0, seconds)))

    def set_max_steps(self, count: int) -> None:
        """End runs after this many page actions, the one under way too."""

        def work() -> None:
            if self._current.run is not None:
                self._current.run.state.budget.page_actions = max(1, count)
            self._publisher.change(max_steps=max(1, count))

        self._commands.now(work)

    def _go(self, until: GoalKind | RunGoal) -> None:
        self._commands.now(lambda: self._runner.go(until))

    def _go_by(self, goal: Callable[[AgentRun], RunGoal]) -> None:
        def work() -> None:
            run = self._current.under_way
            self._runner.go(goal(run) if run is not None else "review")

        self._commands.now(work)
