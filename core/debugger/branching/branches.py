"""Goes back by hand to any step of any run on a new branch, and switches between branches."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from core.agent.branching import RunSetup, open_branch, reopen_task, stays_done_since, take_up
from core.agent.loop import AgentRun
from core.agent.presets import ATTACHED
from core.agent.resources import AgentResources
from core.agent.run_history import RunHistory
from core.agent.state import Budget
from core.agent.world import World
from core.debugger.commands import SessionCommands, SessionParts, command
from core.schema.changes import Changes
from core.schema.errors import BackstepError, TraceError, UsageError
from core.schema.restore import Restored, not_taken_back
from core.schema.task import Episode
from core.trace.records import RunRow

if TYPE_CHECKING:
    from core.attach.replay import RecordedCall

_RESUMABLE = ("left", "interrupted")


class _Unconfirmed(UsageError):
    """Going back does not undo something, or does something again, and the person has not agreed to that yet."""


@dataclass(frozen=True)
class _Moved:
    """The outcome of a move."""

    run: AgentRun | None = None
    """None if no run is current that was not before."""
    failure: BackstepError | None = None
    """Why the page was not brought back, which was reported."""


@dataclass(frozen=True)
class AgentReturn:
    """How an attached agent goes back to a step, and continues."""

    setup: RunSetup
    begun: Callable[[AgentRun, Restored], None]
    """Is called with the run that goes on, and how it was brought back."""
    given_up: Callable[[], Awaitable[None]]
    """Is awaited if none does."""


LeadBack: TypeAlias = "Callable[[RunRow, RunSetup, Sequence[RecordedCall]], Awaitable[AgentReturn]]"
"""Prepares to bring the attached agent of a run back; raises UsageError if it cannot be started.

It is given how the branch would continue otherwise, and the replies to the questions of its first step.
"""


class Branches(SessionCommands):
    """Opens branches of stored runs as the current run."""

    def __init__(self, parts: SessionParts) -> None:
        super().__init__(parts)
        self._lead_back: LeadBack | None = None
        self._told: tuple[int, int, Literal["effects", "repeats"], str] | None = None
        """What the person was last told, for which run and step: what is not undone, or what would be
        repeated. The last part is the sentence on what the steps have sent that is not undone.
        """
        self._requested: Callable[[], Awaitable[AgentRun]] | None = None
        """The last way back that a person requested."""

    def lead_attached_by(self, lead_back: LeadBack) -> None:
        """Bring attached agents back by this; without it their runs continue with the preset."""
        self._lead_back = lead_back

    @command
    async def go_back(self, run: int, step: int) -> None:
        """Go back to a step of any run: the page is brought back, and a branch continues from there."""
        await self._request(lambda: self._go_back(run, step))

    @command
    async def go_on_with(self, run: int, step: int, given: "Sequence[RecordedCall]") -> None:
        """Go back to a step of an attached agent's run, and on from there with these replies to its questions."""
        await self._request(lambda: self._go_back(run, step, given=given))

    @command
    async def go_back_anyway(self) -> None:
        """Go back as last requested, now that the person was told what that does not undo or does again."""
        if self._requested is not None:
            await self._request(self._requested)

    async def _request(self, move: Callable[[], Awaitable[AgentRun]]) -> None:
        self._requested = move
        try:
            await self._carry_out(move)
        except _Unconfirmed as question:
            self._publisher.tell(str(question), done=False, asks=True)

    @command
    async def make_current(self, run: int) -> None:
        """Take up a run or branch that was left; the page follows."""
        await self._carry_out(lambda: self._make_current(run))

    async def fork(self, run: int, step: int, changes: Changes) -> int | None:
        """Go back to a step of a run on a branch with `changes`, and return its number.

        Returns None if another move or task was requested meanwhile. The caller reports what is not undone.
        Raises as going back does.
        """
        moved = await self._carry_out(lambda: self._go_back(run, step, changes, confirmed=True))
        if moved.failure is not None:
            raise moved.failure
        return moved.run.state.run if moved.run is not None else None

    async def _carry_out(self, move: Callable[[], Awaitable[AgentRun | None]]) -> _Moved:
        """Carry out a move and continue where it has led to; raises what is wrong before anything has changed."""

        async def whole() -> _Moved:
            try:
                return _Moved(run=await move())
            except BackstepError as error:
                if self._publisher.session.mode != "opening":
                    raise
                self._publisher.fail(f"The page was not restored: {error}")
                self._publisher.send_runs()
                return _Moved(failure=error)

        moved = await self._openings.only(whole) or _Moved()
        if moved.run is None or moved.run is not self._current.run:
            return _Moved(failure=moved.failure)
        self._runner.go(self._openings.then or "decide")
        return moved

    async def _go_back(
        self,
        run: int,
        step: int,
        changes: Changes | None = None,
        *,
        confirmed: bool = False,
        given: "Sequence[RecordedCall]" = (),
    ) -> AgentRun:
        """Go back to a step of a run on a branch, which becomes the current run.

        With `changes`, the branch continues like the run except for these. Without, it continues with the
        session's settings if they belong to a branch of the same run, else with the preset and the LLM of the
        run. `given` are replies to an attached agent's questions there. `confirmed` means that the person
        accepts what is not undone. If something that was sent since is not undone, it is shown first, and a
        second command goes back anyway. The same applies if repeating the steps would repeat something that
        cannot be undone. Raises UsageError, TraceError and DataError with nothing changed, and BrowserError,
        ActionError or LLMError if the page cannot be restored: then no run is current.
        """
        store = self._current.need_services().store
        store.owner_of(run, step)
        store.agent(run, step)
        row = store.run(run)
        by_program = row.preset == ATTACHED.name and not (changes and changes.preset)
        may_repeat = not confirmed and self._ask_first(row, step, by_program=by_program)
        what = f"Going back to step {step} of run {run}"
        setup = replace(self._setup(row, what, changes), may_repeat=may_repeat)
        lead = None
        if by_program and self._lead_back is not None:
            lead = await self._lead_back(row, replace(setup, budget=None), given)
            setup = lead.setup
        try:
            branch, restored = await self._move(
                row,
                what,
                lambda world, episode, setup: open_branch(
                    store, world, episode, run=run, step=step, setup=setup
                ),
                setup,
            )
        except BaseException:
            if lead is not None:
                await lead.given_up()
            raise
        if lead is not None:
            lead.begun(branch, restored)
        if restored.not_repeated and not restored.verified:
            self._told = (run, step, "repeats", self.not_taken_back(run, step, late=False))
            self._runner.notice += f" To do that, go back to step {step} of run {run} once more."
        return branch

    def not_taken_back(self, run: int, step: int, *, late: bool = True) -> str:
        """Return the sentence on what was sent since a step and is not undone by going back to it, or nothing.

        Without `late`, it leaves out what pages have sent by themselves up to now, which may be more in a moment.
        """
        services = self._current.need_services()
        world = services.world(services.task_of(services.store.run(run)))
        current = self._current.run if late else None
        sent = stays_done_since(services.store, world, run, step, current)
        return not_taken_back(f"Going back to step {step}", sent)

    def _ask_first(self, row: RunRow, step: int, *, by_program: bool) -> bool:
        """Return whether the person was told what repeating inputs would do, and requests it again.

        Raises _Unconfirmed if something that was sent since the step is not undone, until requested a second time.
        An attached agent goes back only `by_program`, which repeats all that it did: if that cannot be undone, it
        is asked about as well, before anything is done.
        """
        told, self._told = self._told, None
        run, reason = row.run, self.not_taken_back(row.run, step)
        by_steps = self.not_taken_back(run, step, late=False)
        if told == (run, step, "repeats", by_steps):
            return True
        if reason and told != (run, step, "effects", by_steps):
            self._told = (run, step, "effects", by_steps)
            raise _Unconfirmed(f"{reason}. To do it anyway, go back once more.")
        if by_program and (again := self._repeated_by_program(row, step)):
            self._told = (run, step, "repeats", by_steps)
            raise _Unconfirmed(
                f"To go back to step {step}, the agent's program runs again from its start. {again} To do it anyway, "
                "go back once more."
            )
        return by_program

    def _repeated_by_program(self, row: RunRow, step: int) -> str:
        """Return what an attached agent would do again on its way to a step and cannot be undone, or nothing."""
        if row.offline:
            return ""
        services = self._current.need_services()
        task, history = services.task_of(row), RunHistory(services.store, row.run)
        began = Episode(task=task, seed=row.seed, instruction=row.instruction, start_url=row.start_url)
        inputs, sent = history.checkpoint(step).inputs, history.agent(step).sent
        return services.world(task).repeated(inputs, sent, began)

    async def _make_current(self, run: int) -> AgentRun | None:
        """Take up a run that was left; None if it is current already. Raises as `_go_back` does."""
        store, current = self._current.need_services().store, self._current.run
        if current is not None and current.state.run == run and not current.ended:
            return None
        row = store.run(run)
        if row.preset == ATTACHED.name:
            raise UsageError(
                f"Run {run} is of an attached agent, which cannot continue where it was left. Go back to one of its "
                "steps (Ctrl+B) to run its program again up to there."
            )
        if row.outcome not in _RESUMABLE:
            raise UsageError(
                f"Run {run} has ended ({row.outcome}). Go back to one of its steps (Ctrl+B) to continue from there."
            )
        steps = store.own_steps(run)
        if not steps or steps[-1].sealed:
            last = f"step {steps[-1].number}" if steps else "a step"
            raise UsageError(
                f"Run {run} was interrupted between two steps and cannot continue there. Go back to {last} "
                "(Ctrl+B) to continue."
            )
        taken_up, _ = await self._move(
            row,
            f"Going to run {run}",
            lambda world, episode, setup: take_up(store, world, episode, run=run, setup=setup),
            self._setup(row, f"Going to run {run}", None),
        )
        return taken_up

    async def _move(
        self,
        row: RunRow,
        what: str,
        bring: Callable[[World, Episode, RunSetup], Awaitable[tuple[AgentRun, Restored]]],
        setup: RunSetup,
    ) -> tuple[AgentRun, Restored]:
        """Leave the current run and bring another one's page; its preset and LLM become the session's."""
        publisher, services = self._publisher, self._current.need_services()
        offline = row.offline if setup.changes.offline is None else setup.changes.offline
        world, episode = self._at_hand(row, offline=offline)
        await self._leave()
        opening = {"task": row.task, "seed": row.seed, "instruction": row.instruction}
        url = row.start_url if row.environment == "web" else ""
        publisher.moving(f"{what}…", **opening, url=url, profile=row.profile or "")
        if world is None or episode is None:
            task = services.task_of(row)
            world = services.world(task)
            episode = await reopen_task(services.store, world, task, row, offline=offline)
            setup = replace(setup, fresh=True)
        if setup.make is None:
            publisher.change(preset=setup.preset.name)
        publisher.change(llm=setup.llm.name)
        run, restored = await bring(world, episode, setup)
        self._runner.adopt(run)
        publisher.arrived(run, restored)
        self._runner.notice = _sentence(restored)
        if row.preset == ATTACHED.name and setup.make is None:
            self._runner.notice += f" A built-in agent ({setup.preset.name}) continues from here."
        return run, restored

    def _setup(self, row: RunRow, what: str, changes: Changes | None) -> RunSetup:
        publisher, services = self._publisher, self._current.need_services()
        chosen = publisher.session
        wanted = changes or Changes()
        resources = services.resources_for(wanted.over(services.store.changes(row.run)))
        preset, llm = chosen.preset, chosen.llm
        if changes is not None:
            preset, llm = changes.preset or row.preset, changes.llm or row.llm
        elif row.preset != ATTACHED.name and not self._is_at(row):
            preset, llm = self._still_there(row, resources)
        return RunSetup(
            preset=ATTACHED if preset == ATTACHED.name else resources.presets.get(preset),
            llm=services.llms.routed(llm),
            resources=resources,
            browser=services.host.name,
            changes=wanted,
            budget=Budget(chosen.max_steps, services.settings.max_llm_calls),
            on_asked=publisher.on_asked,
            on_attempt=lambda way: publisher.change(message=f"{what}: {way}…"),
        )

    def _is_at(self, row: RunRow) -> bool:
        """Return whether the session is at this run, or at another branch of it."""
        current, store = self._current.run, self._current.need_services().store

        def root(one: RunRow) -> int:
            while one.parent_run is not None:
                one = store.run(one.parent_run)
            return one.run

        return current is not None and root(row) == root(store.run(current.state.run))

    def _still_there(self, row: RunRow, resources: AgentResources) -> tuple[str, str]:
        """Return preset and LLM of a run; what is chosen for the session, which is logged, if one is gone."""
        publisher, llms = self._publisher, self._current.need_services().llms
        preset, llm = row.preset, row.llm
        try:
            resources.presets.get(preset)
        except UsageError as error:
            preset = publisher.session.preset
            publisher.log("warning", "session", f"Run {row.run} continues with the preset {preset}: {error}")
        try:
            llms.routed(llm)
        except UsageError as error:
            llm = publisher.session.llm
            publisher.log("warning", "session", f"Run {row.run} continues with the LLM {llm}: {error}")
        return preset, llm

    def _at_hand(self, row: RunRow, *, offline: bool) -> tuple[World | None, Episode | None]:
        """Return the browser and the episode of the current run, where the row is a run of the same task.

        After the browser was replaced it is in no episode.
        """
        current = self._current.run
        if current is None or current.world.tabs.browser.lost:
            return None, None
        mine = self._current.need_services().store.run(current.state.run)
        same = (row.task, row.seed, row.instruction, row.profile, offline) == (
            mine.task,
            mine.seed,
            mine.instruction,
            mine.profile,
            mine.offline,
        )
        return (current.world, current.state.episode) if same else (None, None)

    async def _leave(self) -> None:
        """Leave the current run as it is, to be taken up again."""
        await self._runner.halt()
        current, self._current.run = self._current.run, None
        if current is None:
            return
        if current.ended:
            try:
                current.leave()
            except TraceError as error:  # Its run may be deleted by now.
                words = f"What pages sent after the end was not stored: {error}"
                self._publisher.log("warning", "session", words)
            return
        try:
            await current.keep_network()
        finally:  # Another move may cancel this one.
            current.leave()


def _sentence(restored: Restored) -> str:
    """Return how going back ended, and what is to be thought of it where it is not verified."""
    if restored.verified or restored.parted is not None:
        return restored.sentence
    parts = (
        restored.sentence,
        restored.not_repeated,
        "The page is not as recorded. Check it before you continue.",
    )
    return " ".join(filter(None, parts))
