"""Making and changing breakpoints and watches while the window is open, and going backwards by them."""

from collections.abc import Callable, Coroutine
from typing import Any

from core.debugger.background_read import ask_file
from core.debugger.breakpoints.collection import Breakpoints
from core.debugger.breakpoints.kinds.breakpoint import Breakpoint
from core.debugger.breakpoints.reverse import last_change, last_hit
from core.debugger.breakpoints.views import BreakpointView, BreaksView, WatchView
from core.debugger.breakpoints.watch import Watch
from core.debugger.breakpoints.watches import Watches
from core.debugger.runner import Driver
from core.schema.errors import BackstepError, UsageError
from core.schema.signal import Signal


class BreakDesk:
    """The `BreakDeskCommands` of the window; `post` queues work on the worker's loop, where the driver is."""

    def __init__(self, driver: Driver, post: Callable[[Coroutine[Any, Any, None]], None]) -> None:
        self.changed: Signal[BreaksView] = Signal()
        self.answered: Signal[str] = Signal()
        self._driver = driver
        self._post = post
        self._sent = BreaksView()
        driver.breaking.looked.connect(lambda _: self._send())

    def announce(self) -> None:
        """Send the list once more, for a window that came later."""

        async def work() -> None:
            self._send(always=True)

        self._post(work())

    # The list

    def add(self, breakpoint: Breakpoint) -> None:
        self._change(lambda: self._breakpoints.add(breakpoint))

    def replace(self, breakpoint: Breakpoint) -> None:
        self._change(lambda: self._breakpoints.replace(breakpoint))

    def remove(self, number: int) -> None:
        self._change(lambda: self._breakpoints.remove(number))

    def enable(self, number: int, on: bool) -> None:
        self._change(lambda: self._breakpoints.enable(number, on))

    def add_watch(self, watch: Watch) -> None:
        self._change(lambda: self._watches.add(watch), look=True)

    def replace_watch(self, watch: Watch) -> None:
        self._change(lambda: self._watches.replace(watch), look=True)

    def remove_watch(self, number: int) -> None:
        self._change(lambda: self._watches.remove(number))

    def _change(self, change: Callable[[], object], *, look: bool = False) -> None:
        async def work() -> None:
            try:
                change()
            except BackstepError as error:
                self.answered.send(str(error))
                return
            if look:
                await self._look()
            self.answered.send("")
            self._send()

        self._post(work())

    async def _look(self) -> None:
        """Read the watches at once where the run rests, so that a new one shows its value."""
        driver = self._driver
        if driver.agent_run is not None and not driver.agent_run.ended and not driver.busy:
            await driver.breaking.look_at_page(driver.agent_run)
            driver.breaking.look_again(driver.agent_run)

    @property
    def _breakpoints(self) -> Breakpoints:
        if self._driver.breaking.breakpoints is None:
            raise UsageError("The database is not open yet; wait a moment and try again.")
        return self._driver.breaking.breakpoints

    @property
    def _watches(self) -> Watches:
        if self._driver.breaking.watches is None:
            raise UsageError("The database is not open yet; wait a moment and try again.")
        return self._driver.breaking.watches

    def _send(self, *, always: bool = False) -> None:
        breaking = self._driver.breaking
        if breaking.breakpoints is None or breaking.watches is None:
            return
        values = {one.watch.number: one for one in breaking.values}
        view = BreaksView(
            breakpoints=tuple(
                BreakpointView(breakpoint=one, hits=breaking.breakpoints.hits_of(one.number))
                for one in breaking.breakpoints.all
            ),
            watches=tuple(
                WatchView(watch=one, text=value.text, error=value.error, changed=value.changed)
                if (value := values.get(one.number)) is not None
                else WatchView(watch=one)
                for one in breaking.watches.all
            ),
            problems=(*breaking.breakpoints.problems, *breaking.watches.problems),
        )
        if always or view != self._sent:
            self._sent = view
            self.changed.send(view)

    # Backwards

    def back_to_hit(self, run: int, step: int) -> None:
        async def work() -> None:
            asked = self._breakpoints.all
            found = await ask_file(self._driver.store, lambda store: last_hit(store, asked, run, step))
            if found is None:
                self._driver.change(message=f"No breakpoint stops before step {step} of run {run}.")
                return
            self._driver.show_recorded(run, found.step)
            self._driver.change(message=f"Step {found.step}, after {found.phase}: {found.sentence}")

        self._going(work)

    def back_to_change(self, number: int, run: int, step: int) -> None:
        async def work() -> None:
            watch = next((one for one in self._watches.all if one.number == number), None)
            if watch is None:
                raise UsageError(f"There is no watch {number}.")
            found = await ask_file(self._driver.store, lambda store: last_change(store, run, step, watch))
            if found is None:
                self._driver.change(message=f"{watch.text} has not changed before step {step} of run {run}.")
                return
            self._driver.show_recorded(run, found.step)
            before, after = (value.error or value.text for value in (found.before, found.after))
            told = f"{watch.text}: {before} → {after}"
            self._driver.change(message=f"Step {found.step}, after {found.phase}: {told}")

        self._going(work)

    def _going(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        async def whole() -> None:
            self._driver.change(message="Going backwards…")
            try:
                await work()
            except BackstepError as error:
                self._driver.complain(str(error))

        self._post(whole())
