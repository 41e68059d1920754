"""What the window draws of breakpoints and watches, and what it may ask for them."""

from typing import Protocol

from core.debugger.breakpoints.kinds.breakpoint import Breakpoint
from core.debugger.breakpoints.watch import Watch
from core.schema.record import Record
from core.schema.signal import Signal


class BreakpointView(Record):
    """One breakpoint of the list."""

    breakpoint: Breakpoint
    hits: int = 0


class WatchView(Record):
    """One watch with its value."""

    watch: Watch
    text: str = ""
    error: str = ""
    """Why there is no value."""
    changed: bool = False
    """Whether it is another value than at the event before."""


class BreaksView(Record):
    """All breakpoints and watches of the database."""

    breakpoints: tuple[BreakpointView, ...] = ()
    watches: tuple[WatchView, ...] = ()
    problems: tuple[str, ...] = ()
    """What could not be read of what is stored, a sentence each."""


class BreakDeskCommands(Protocol):
    """Breakpoints and watches, seen from the window.

    Safe to call from any thread; the changed list comes with `changed`, and
    `answered` is sent from the worker's thread.
    """

    changed: Signal[BreaksView]
    answered: Signal[str]
    """Empty where the last adding or replacing went well; else what is wrong with it, in a sentence."""

    def add(self, breakpoint: Breakpoint) -> None: ...

    def replace(self, breakpoint: Breakpoint) -> None:
        """Put it in place of the one of its number."""

    def remove(self, number: int) -> None: ...

    def enable(self, number: int, on: bool) -> None: ...

    def add_watch(self, watch: Watch) -> None: ...

    def replace_watch(self, watch: Watch) -> None:
        """Put it in place of the one of its number."""

    def remove_watch(self, number: int) -> None: ...

    def back_to_hit(self, run: int, step: int) -> None:
        """Show the last step before this one at which a breakpoint stops, and say why."""

    def back_to_change(self, number: int, run: int, step: int) -> None:
        """Show the last step before this one at which the watch of this number has changed."""
