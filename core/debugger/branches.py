"""Going back by hand: to any step of any run, on a branch of its own, and from branch to branch.

Everything here runs in the worker's loop, and while nothing else goes on.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from core.agent.asking import Asked
from core.agent.branching import Conduct, open_branch, reopen_task, take_up
from core.agent.loop import AgentRun
from core.agent.state import Budget
from core.agent.world import World
from core.browser.checkpoints.outcome import Restored
from core.browser.sent import told_of
from core.debugger.driving import Driver
from core.debugger.workshop import Workshop
from core.errors import UsageError
from core.task import Episode
from core.trace.records import RunRow

_RESUMABLE = ("left", "interrupted")


class Branches:
    """Makes branches of the runs in the trace the current run of a driver."""

    def __init__(
        self, driver: Driver, workshop: Callable[[], Workshop], on_asked: Callable[[Asked], None]
    ) -> None:
        self._driver = driver
        self._workshop = workshop
        self._on_asked = on_asked
        self._told_effects: tuple[int, int] | None = None
        """The run and step that the person was last told of what stays done."""

    async def go_back(self, run: int, step: int) -> AgentRun:
        """Go back to a step of a run, whose branch is the current run from then on.

        Where something was sent since that stays done, it is told first, and
        asking a second time goes back all the same. Raises UsageError, TraceError
        and DataError with nothing changed, and BrowserError, ActionError or
        LLMError where the page is not to be had: no run is current then.
        """
        store = self._workshop().store
        store.owner_of(run, step)
        store.agent(run, step)
        self._ask_about_effects(run, step)
        return await self._move(
            store.run(run),
            f"Going back to step {step} of run {run}",
            lambda world, episode, conduct: open_branch(
                store, world, episode, run=run, step=step, conduct=conduct
            ),
        )

    def _ask_about_effects(self, run: int, step: int) -> None:
        """Raise UsageError where something stays done that was sent since the step, until asked a second time."""
        current = self._driver.agent_run
        told, self._told_effects = self._told_effects, None
        if current is None or current.state.run != run or told == (run, step):
            return
        lasting = current.world.lasting(current.state.sent, step, current.state.episode)
        if lasting:
            self._told_effects = (run, step)
            raise UsageError(
                f"Going back to step {step} does not take back {told_of(lasting)}. "
                "Ask for it once more to go back all the same."
            )

    async def make_current(self, run: int) -> AgentRun | None:
        """Take up a run that was left; None where it is current already. Raises as `go_back` does."""
        store, current = self._workshop().store, self._driver.agent_run
        if current is not None and current.state.run == run and not current.ended:
            return None
        row = store.run(run)
        if row.outcome not in _RESUMABLE:
            raise UsageError(
                f"Run {run} has ended ({row.outcome}): go back to one of its steps (Ctrl+B) to go on from there."
            )
        steps = store.own_steps(run)
        if not steps or steps[-1].sealed:
            last = f"step {steps[-1].number}" if steps else "a step"
            raise UsageError(
                f"Run {run} was cut off between two steps, where it cannot go on: "
                f"go back to {last} (Ctrl+B) to go on from there."
            )
        return await self._move(
            row,
            f"Going to run {run}",
            lambda world, episode, conduct: take_up(store, world, episode, run=run, conduct=conduct),
        )

    async def _move(
        self,
        row: RunRow,
        what: str,
        bring: Callable[[World, Episode, Conduct], Awaitable[tuple[AgentRun, Restored]]],
    ) -> AgentRun:
        driver, workshop = self._driver, self._workshop()
        conduct = self._conduct(row, what)
        world, episode = self._at_hand(row)
        await self._leave()
        driver.moving(row.task, row.seed, f"{what}…")
        if world is None or episode is None:
            task = workshop.task_of(row)
            world = workshop.world(task)
            episode = await reopen_task(workshop.store, world, task, row, offline=row.offline)
            conduct = replace(conduct, fresh=True)
        run, restored = await bring(world, episode, conduct)
        driver.adopt(run)
        driver.arrived(run, restored)
        driver.notice = _told(restored)
        return run

    def _conduct(self, row: RunRow, what: str) -> Conduct:
        driver, workshop = self._driver, self._workshop()
        chosen = driver.session
        return Conduct(
            preset=workshop.knowledge.presets.get(chosen.preset),
            llm=workshop.llms.routed(chosen.llm),
            knowledge=workshop.knowledge,
            browser=workshop.host.name,
            budget=Budget(chosen.max_steps, workshop.settings.max_llm_calls),
            on_asked=self._on_asked,
            on_attempt=lambda way: driver.change(message=f"{what}: {way}…"),
        )

    def _at_hand(self, row: RunRow) -> tuple[World | None, Episode | None]:
        """Return the browser and the episode of the current run, where the row is a run of the same task."""
        current = self._driver.agent_run
        if current is None:
            return None, None
        mine = self._workshop().store.run(current.state.run)
        same = (row.task, row.seed, row.instruction, row.profile, row.offline) == (
            mine.task,
            mine.seed,
            mine.instruction,
            mine.profile,
            mine.offline,
        )
        return (current.world, current.state.episode) if same else (None, None)

    async def _leave(self) -> None:
        """Leave the current run as it is, to be taken up again."""
        driver = self._driver
        await driver.halt()
        current, driver.agent_run = driver.agent_run, None
        if current is not None and not current.ended:
            await current.keep_network()
            current.leave()


def _told(restored: Restored) -> str:
    """Return how going back ended, and what is to be thought of it where it is not verified."""
    if restored.verified:
        return restored.sentence
    return f"{restored.sentence} The page is not as recorded: look at it before you go on."
