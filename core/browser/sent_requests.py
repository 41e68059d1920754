"""What a page sends that going back does not take back: requests other than reading ones, and WebSocket messages."""

from core.schema.restore import Sent

READING = ("GET", "HEAD", "OPTIONS")
"""Methods that change nothing."""
_LONGEST = 2000
"""Characters of an address that are kept."""


def cut(url: str) -> str:
    """Return an address as it is kept."""
    return url[:_LONGEST]


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
