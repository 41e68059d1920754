"""One request of a page with what was answered, as far as it can be given again."""

import hashlib

from core.schema.record import Record

SOCKET = "websocket"
"""The kind of a connection that stays open: what went over it is not recorded."""


class Exchange(Record):
    """A request and its answer; the answer's content is kept under its hash."""

    method: str
    url: str
    kind: str = ""
    """What asked for it, in Playwright's words: document, script, fetch, …"""
    sent: str = ""
    """The hash of what was sent with it; empty for nothing."""
    status: int = 0
    """0 where no answer came; `error` says why."""
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""
    """The hash of the content; empty for none."""
    missing: str = ""
    """Why the content was not kept."""
    error: str = ""
    opening: bool = False
    """Whether it came while the task was being opened."""
    step: int = 0
    """The step it came in; 0 before the first."""

    @property
    def location(self) -> str:
        """Where it sends on to; empty where it does not."""
        if self.status not in (301, 302, 303, 307, 308):
            return ""
        return next((value for name, value in self.headers if name.lower() == "location"), "")


def hash_of(data: bytes) -> str:
    """Return what content is named by: SHA-256 in hex, nothing for no content."""
    return hashlib.sha256(data).hexdigest() if data else ""
