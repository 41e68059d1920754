"""Events outside the steps of a run: in the browser (dialogs, downloads, crashes), and in the log."""

from typing import Literal

from core.schema.record import Record

TabId = str
"""The CDP target id of a tab."""


BrowserEventKind = Literal[
    "dialog",
    "popup",
    "tab_closed",
    "download",
    "crash",
    "hang",
    "certificate",
    "load_failed",
    "console",  # In traces from before there were page logs.
    "held_back",
    "replaced",
    "refused",  # A page that is outside of the task's sites was not opened.
]


class BrowserEvent(Record):
    """Something that happened in the browser without being requested."""

    kind: BrowserEventKind
    text: str
    """One sentence with what happened and what was done about it."""
    tab: TabId = ""
    url: str = ""


class ScriptWait(Record):
    """A page whose script keeps it from answering."""

    url: str
    seconds: int
    """So long it has not answered."""
    left: int | None
    """In about so many seconds its script is ended; None if the person waits for it."""


class LogLine(Record):
    """One line of the log."""

    time: float
    """Seconds since the epoch."""
    level: Literal["info", "warning", "error"] = "info"
    source: str
    text: str
