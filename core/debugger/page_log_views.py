"""What the window draws of the log of the page in a step."""

from core.browser.page_log import LogPart
from core.model import Record


class PageLogView(Record):
    """The log of one step."""

    run: int = 0
    step: int = 0
    parts: tuple[LogPart, ...] = ()
    message: str = ""
    """In place of the rest: why there is none, or that it is being read."""
