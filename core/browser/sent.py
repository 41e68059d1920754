"""What a page sends that going back does not take back: requests other than reading ones, and WebSocket messages."""

from collections.abc import Sequence

from core.model import Record

READING = ("GET", "HEAD", "OPTIONS")
"""Methods that change nothing."""
_LONGEST = 2000
"""Characters of an address that are kept."""


def cut(url: str) -> str:
    """Return an address as it is kept."""
    return url[:_LONGEST]


class Sent(Record):
    """Something that a page began to send."""

    method: str
    url: str
    socket: bool = False
    """Whether it went over a WebSocket that was open already."""

    def __str__(self) -> str:
        return f"a message to {self.url}" if self.socket else f"{self.method} {self.url}"


class SentAt(Record):
    """Something that was sent, with the step it was sent in."""

    step: int
    sent: Sent


def told_of(lasting: Sequence[SentAt], *, most: int = 3) -> str:
    """Return such as ``POST https://… (step 4) and 2 more``."""
    words = [f"{one.sent} (step {one.step})" for one in lasting[:most]]
    more = f" and {len(lasting) - most} more" if len(lasting) > most else ""
    return ", ".join(words) + more


class SentLog:
    """Collects what the documents of a tab send, by the events of the protocol."""

    def __init__(self) -> None:
        self._sockets: dict[str, str] = {}
        self._sent: list[Sent] = []

    def on_request(self, event: dict[str, object]) -> None:
        request = event["request"]
        assert isinstance(request, dict)
        # A redirected request comes again under its id, and is sent again.
        if request["method"] not in READING:
            self._sent.append(Sent(method=request["method"], url=cut(str(request["url"]))))

    def on_socket(self, event: dict[str, object]) -> None:
        self._sockets[str(event["requestId"])] = cut(str(event["url"]))

    def on_socket_closed(self, event: dict[str, object]) -> None:
        self._sockets.pop(str(event["requestId"]), None)

    def on_frame_sent(self, event: dict[str, object]) -> None:
        url = self._sockets.get(str(event["requestId"]), "a WebSocket")
        self._sent.append(Sent(method="SEND", url=url, socket=True))

    def take(self) -> tuple[Sent, ...]:
        """Return what was sent since the last call."""
        sent, self._sent = tuple(self._sent), []
        return sent
