"""What the browser keeps for a page beside the page itself: cookies, storage, its place in the history."""

from typing import Any
from urllib.parse import urlsplit

from core.schema.record import Record


class PageState(Record):
    """What was kept at a step."""

    touched: str = ""
    """Which touch of the browser was the last one then; the same now means that nobody touched it since."""
    tab: str = ""
    entry: int | None = None
    """The number that the browser gave to the page in its tab's history."""
    content: str = ""
    """A short number of the whole document with what its fields hold, seen and unseen; empty where not read."""
    behind: tuple[str, ...] | None = None
    """The URLs of the pages behind it in that history; None where they were not recorded."""
    cookies: tuple[dict[str, Any], ...] = ()
    """Those sent to the page, each with the fields of the protocol's Network.setCookie."""
    local: dict[str, str] | None = {}
    """None where it could not be read, as with the next two: it is not put back then, nor wiped."""
    session: dict[str, str] | None = {}
    databases: str | None = "[]"
    """IndexedDB as JSON, where it holds nothing else than JSON can."""
    whole: bool = True
    """False where cookies and storage were left out: they are not put back then."""
    unread: tuple[str, ...] = ()
    """What could not be read, and why."""
    server: str = ""
    """The environment's snapshot of its server; empty where it keeps none."""

    def without_logins(self) -> "PageState":
        """Return it as it is stored for a named profile, whose logins stay in the profile alone."""
        return self.replace(cookies=(), local={}, session={}, databases="[]", whole=False)


def origin_of(url: str) -> str:
    """Return ``scheme://host`` of a page that can keep storage, or nothing."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") else ""
