"""Records of a page's log: console, errors, requests and dialogs.

`core.browser.log.listener` collects them from the browser.
"""

from collections.abc import Iterable
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from core.schema.record import Record

Level = Literal["debug", "info", "warning", "error"]
Moment = Literal["before the action", "in the action", "after the last action"]
"""When in its step something happened: since the action of the step before, or in the step's own."""
LogKind = Literal["console", "error", "request", "dialog"]
KINDS: tuple[LogKind, ...] = ("console", "error", "request", "dialog")
LONGEST = 2000
"""Characters of a text or an address that are kept."""


class _Entry(Record):
    time: float
    """Seconds since the epoch."""
    text: str
    """What was said; for a request what a message held, or why it failed."""
    cut: int = 0
    """Characters of the text that were left out at its end."""


class ConsoleEntry(_Entry):
    """A line of the page's console."""

    kind: Literal["console"] = "console"
    level: Level = "info"
    place: str = ""
    """Address, line and column it was written at."""


class ErrorEntry(_Entry):
    """An uncaught error of the page's scripts."""

    kind: Literal["error"] = "error"
    place: str = ""


class RequestEntry(_Entry):
    """A request, or a message over a WebSocket."""

    kind: Literal["request"] = "request"
    text: str = ""
    method: str
    """As HTTP has it; SEND and RECEIVE for a message over a WebSocket."""
    url: str
    type: str = ""
    """What it was for, as the browser names it: Document, XHR, Image, Ping (a beacon), WebSocket …"""
    status: int | None = None
    failed: bool = False
    milliseconds: float | None = None
    bytes: int | None = None
    """What came over the network, headers among it; for a message its length. None if it is not known."""
    ended: bool = False
    """False if it was still open when the log of the step was closed: its end is in a later step's."""
    began_before: bool = False
    """Whether it was begun in an earlier part of the log, which has it as not ended."""


class DialogEntry(_Entry):
    """Something the page asked the person at the browser."""

    kind: Literal["dialog"] = "dialog"
    dialog: str
    """alert, confirm, prompt, beforeunload, or what else it asked for."""
    answer: str = ""
    """How it was answered, in words; empty if that is not known."""
    place: str = ""
    """The address of the page that asked."""


LogEntry: TypeAlias = Annotated[
    ConsoleEntry | ErrorEntry | RequestEntry | DialogEntry, Field(discriminator="kind")
]


class LogGap(Record):
    """Entries of one kind that came too many at once.

    The first and the last are kept; of requests and dialogs that come faster than they are read, only the first.
    """

    kind: LogKind
    count: int
    after: float
    """The time of the last entry before the gap."""


class PageLog(Record):
    """What happened in the pages of a run in a period, in order."""

    entries: tuple[LogEntry, ...] = ()
    left_out: tuple[LogGap, ...] = ()

    @property
    def empty(self) -> bool:
        return not self.entries and not self.left_out


class LogPart(Record):
    """A part of a step's log."""

    moment: Moment
    log: PageLog


def cut(text: str, longest: int = LONGEST) -> tuple[str, int]:
    """Return the text as it is kept, and how many characters of it are not."""
    return (text, 0) if len(text) <= longest else (text[:longest], len(text) - longest)


def counts(parts: Iterable[LogPart]) -> dict[LogKind, int]:
    """Return how many of each kind there were, those left out among them."""
    found: dict[LogKind, int] = dict.fromkeys(KINDS, 0)
    for part in parts:
        for entry in part.log.entries:
            found[entry.kind] += 1
        for gap in part.log.left_out:
            found[gap.kind] += gap.count
    return found
