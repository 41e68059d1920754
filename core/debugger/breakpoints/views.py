"""What the window draws of breakpoints and watches."""

from core.debugger.breakpoints.kinds.breakpoint import Breakpoint
from core.debugger.breakpoints.watch import Watch
from core.schema.record import Record


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
