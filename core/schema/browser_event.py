"""Events of the browser that no command asked for, such as dialogs, downloads and crashes."""

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
    "console",
    "held_back",
]


class BrowserEvent(Record):
    """Something that happened in the browser beside what was asked of it."""

    kind: BrowserEventKind
    text: str
    """One sentence with what happened and what was done about it."""
    tab: TabId = ""
    url: str = ""
