"""The views of breakpoints and watches."""

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from core.debugger.breakpoints.kinds.breakpoint import Breakpoint
from core.schema.record import Record

WatchKind = Literal["expression", "css", "xpath", "script"]


class Watch(Record):
    """Something whose value is shown."""

    number: int = 0
    """Given by the list that it is added to."""
    kind: WatchKind = "expression"
    """``expression`` is over the snapshot; the others are read in the live page."""
    text: str = Field(min_length=1)
    on_change: bool = False
    """Whether the run is to stop where the value changes."""


class WatchValue(Record):
    """The value of a watch at an event."""

    watch: Watch
    text: str = ""
    error: str = ""
    """Why there is no value, in a sentence."""
    whole: int = 0
    """A hash of the value as text, without what `text` leaves out."""
    changed: bool = False
    """Whether it is another value than at the event before."""


class PageValue(Record):
    """The value of a watch of the page, as read there."""

    text: str = ""
    error: str = ""
    whole: int = 0


class BreakpointView(Record):
    """One breakpoint of the list."""

    breakpoint: Breakpoint
    hits: int = 0


class BreaksView(Record):
    """All breakpoints and watches of the database."""

    breakpoints: tuple[BreakpointView, ...] = ()
    watches: tuple[WatchValue, ...] = ()
    problems: tuple[str, ...] = ()
    """What could not be read of what is stored, a sentence each."""


@dataclass(frozen=True)
class BreakChange:
    """The change of one breakpoint or watch: before and after, None if there is none."""

    before: Breakpoint | Watch | None
    after: Breakpoint | Watch | None
