"""Breakpoints and watches: lists and changes them, and finds where they last hit."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from core.debugger.breakpoints.collection import Breakpoints
from core.debugger.breakpoints.kinds.breakpoint import Breakpoint
from core.debugger.breakpoints.stored_events import last_change, last_hit
from core.debugger.breakpoints.views import BreakChange, BreakpointView, BreaksView, Watch, WatchValue
from core.debugger.breakpoints.watches import Watches, change_in_words
from core.debugger.commands import command
from core.debugger.service import ChangeAnswer, Service
from core.schema.errors import BackstepError, UsageError
from core.schema.signal import Signal

if TYPE_CHECKING:
    from core.debugger.session import Session


class BreakpointsService(Service[BreaksView]):
    """Changes breakpoints and watches (`changed`); each change is answered (`answered`), with its token."""

    view = BreaksView()

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self.answered: Signal[ChangeAnswer] = Signal()
        self.made: Signal[BreakChange] = Signal()
        """What was added, replaced, removed or switched; `exchange` tells nothing of it."""
        session.breaking.looked.connect(lambda _: self._send())

    def failed(self, problem: str) -> None:
        self.session.tell(problem, done=False)

    @command
    async def announce(self) -> None:
        """Send the list again, for a window that was opened later."""
        self._send(always=True)

    # The list

    @command
    async def add(self, breakpoint: Breakpoint, *, token: int = 0) -> None:
        self._change(token, lambda: self._breakpoints.add(breakpoint))

    @command
    async def replace(self, breakpoint: Breakpoint, *, token: int = 0) -> None:
        """Put it in place of the one of its number."""
        self._change(token, lambda: self._breakpoints.replace(breakpoint))

    @command
    async def remove(self, number: int, *, token: int = 0) -> None:
        self._change(token, lambda: self._breakpoints.remove(number))

    @command
    async def enable(self, number: int, on: bool, *, token: int = 0) -> None:
        self._change(token, lambda: self._breakpoints.enable(number, on))

    @command
    async def add_watch(self, watch: Watch, *, token: int = 0) -> None:
        await self._change_watch(token, lambda: self._watches.add(watch))

    @command
    async def replace_watch(self, watch: Watch, *, token: int = 0) -> None:
        """Put it in place of the one of its number."""
        await self._change_watch(token, lambda: self._watches.replace(watch))

    @command
    async def remove_watch(self, number: int, *, token: int = 0) -> None:
        self._change(token, lambda: self._watches.remove(number))

    @command
    async def exchange(
        self, now: Breakpoint | Watch | None, wanted: Breakpoint | Watch | None, *, token: int = 0
    ) -> None:
        """Put `wanted` in place of `now`, to undo or redo a change; refused where it was changed meanwhile."""
        if isinstance(now or wanted, Watch):
            await self._change_watch(token, lambda: self._watches.exchange(now, wanted), tell=False)  # type: ignore[arg-type]
        else:
            self._change(token, lambda: self._breakpoints.exchange(now, wanted), tell=False)  # type: ignore[arg-type]

    def _change(self, token: int, change: Callable[[], object], *, tell: bool = True) -> bool:
        """Make a change, answer it and send the list; return whether it went well."""
        try:
            before = self._entries()
            change()
        except BackstepError as error:
            self.answered.send(ChangeAnswer(token, str(error)))
            return False
        if tell:
            after = self._entries()
            for one in before.keys() | after.keys():
                if before.get(one) != after.get(one):
                    self.made.send(BreakChange(before.get(one), after.get(one)))
        self.answered.send(ChangeAnswer(token, ""))
        self._send()
        return True

    def _entries(self) -> dict[tuple[type, int], Breakpoint | Watch]:
        """Return all breakpoints and watches by list and number."""
        return {
            **{(Breakpoint, one.number): one for one in self._breakpoints.all},
            **{(Watch, one.number): one for one in self._watches.all},
        }

    async def _change_watch(self, token: int, change: Callable[[], object], *, tell: bool = True) -> None:
        """Make a change and read the watches at once where the run rests, so that a new one shows its value."""
        run = self.session.agent_run
        if (
            self._change(token, change, tell=tell)
            and run is not None
            and not run.ended
            and not self.session.busy
        ):
            await self.session.breaking.look_at_page(run)
            self.session.breaking.look_again(run)
            self._send()

    @property
    def _breakpoints(self) -> Breakpoints:
        if self.session.breaking.breakpoints is None:
            raise UsageError("The database is not open yet. Wait a moment and try again.")
        return self.session.breaking.breakpoints

    @property
    def _watches(self) -> Watches:
        if self.session.breaking.watches is None:
            raise UsageError("The database is not open yet. Wait a moment and try again.")
        return self.session.breaking.watches

    def _send(self, *, always: bool = False) -> None:
        breaking = self.session.breaking
        if breaking.breakpoints is None or breaking.watches is None:
            return
        values = {value.watch.number: value for value in breaking.values}
        view = BreaksView(
            breakpoints=tuple(
                BreakpointView(breakpoint=one, hits=breaking.breakpoints.hits_of(one.number))
                for one in breaking.breakpoints.all
            ),
            watches=tuple(
                values.get(one.number, WatchValue(watch=one)).replace(watch=one)
                for one in breaking.watches.all
            ),
            problems=(*breaking.breakpoints.problems, *breaking.watches.problems),
        )
        if always or view != self.view:
            self.send(view)

    # Backwards

    @command
    async def back_to_hit(self, run: int, step: int) -> None:
        """Show the last step before this one at which a breakpoint stops, and say why."""
        self.session.tell("Going backwards…")
        asked = self._breakpoints.all
        found = await self.read(lambda store: last_hit(store, asked, run, step))
        if found is None:
            self.session.tell(f"No breakpoint stops before step {step} of run {run}.")
            return
        self.session.show_recorded(run, found.step)
        self.session.tell(f"Step {found.step}, after {found.phase}: {found.sentence}")

    @command
    async def back_to_change(self, number: int, run: int, step: int) -> None:
        """Show the last step before this one at which the watch of this number has changed."""
        self.session.tell("Going backwards…")
        watch = next((one for one in self._watches.all if one.number == number), None)
        if watch is None:
            raise UsageError(f"There is no watch {number}.")
        found = await self.read(lambda store: last_change(store, run, step, watch))
        if found is None:
            self.session.tell(f"{watch.text} has not changed before step {step} of run {run}.")
            return
        self.session.show_recorded(run, found.step)
        changed = change_in_words(found.before, found.after)
        self.session.tell(f"Step {found.step}, after {found.phase}: {watch.text}: {changed}")


make_service = BreakpointsService
