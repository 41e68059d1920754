"""Limits the number and size of what pages cause, before it crosses a thread.

`BrowserEvents` takes what a host sees in a page, in whichever thread. `thin` takes the messages of
Playwright's driver before they are parsed. Both count with a `FloodLimit` and report what they leave out.
"""

import asyncio
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from core.browser.dialogs import AgentDialogs
from core.browser.log.records import LONGEST, LogKind, cut
from core.schema.events import BrowserEvent, BrowserEventKind, TabId

WHILE = 5.0
"""Seconds in which so many of a kind are let through."""
MOST = 100
"""Events of one kind that are told in a while."""
LARGEST = 4_000_000
"""Bytes of a message of the driver that are parsed."""
_NEVER_LEFT_OUT = frozenset({"crash", "replaced"})
"""Pages do not cause these in numbers, and what goes on after them depends on them."""
Place = Callable[[], tuple[TabId, str]]


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return a text of a page as it is passed on, with how much of it is left out."""
    kept, more = cut(text, longest)
    return f"{kept} (… {more:,} more characters left out)" if more else kept


@dataclass
class _Count:
    began: float
    most: int
    before: int = 0
    """How many were too many in the while before."""
    came: int = 0

    @property
    def excess(self) -> int:
        return max(self.came - self.most, 0)


class FloodLimit:
    """Lets some of each kind through in 5 s; if there were more, only a tenth as many in the next 5 s.

    May be asked from any thread.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: dict[str, _Count] = {}

    def admits(self, kind: str, most: int) -> bool:
        """Count one more of a kind, and return whether it is among the first `most` of its period."""
        with self._lock:
            now = self._clock()
            count = self._counts.get(kind)
            if count is None or now - count.began >= WHILE:
                before = count.excess if count is not None and now - count.began < 2 * WHILE else 0
                count = self._counts[kind] = _Count(now, max(most // 10, 1) if before else most, before)
            count.came += 1
            return count.came <= count.most

    @property
    def excess(self) -> int:
        """How many more came than were let through, in this while or the one before, whichever had more of a kind."""
        with self._lock:
            ages = ((self._clock() - one.began, one) for one in self._counts.values())
            return sum(
                max(one.excess, one.before if age < WHILE else 0) for age, one in ages if age < 2 * WHILE
            )

    def forget(self) -> None:
        with self._lock:
            self._counts.clear()


class BrowserEvents:
    """Carries events of pages to the worker's loop."""

    def __init__(self) -> None:
        self.dialogs = AgentDialogs()
        """The attached agents that answer the pages' dialogs."""
        self._limit = FloodLimit()
        self._lock = threading.Lock()
        self._left_out: Counter[BrowserEventKind] = Counter()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._receive: Callable[[BrowserEvent], None] = lambda _: None

    def follow(self, receive: Callable[[BrowserEvent], None]) -> None:
        """Call `receive` in the running loop; earlier events are not sent."""
        self._loop, self._receive = asyncio.get_running_loop(), receive

    def admits(self, kind: BrowserEventKind) -> bool:
        """Count an event, and return whether to send it; the number of those left out is sent later."""
        if kind in _NEVER_LEFT_OUT or self._limit.admits(kind, MOST):
            return True
        with self._lock:
            first = not self._left_out
            self._left_out[kind] += 1
        if first:
            self._call(self._tell_later)
        return False

    def tell(self, kind: BrowserEventKind, text: str, place: Place) -> bool:
        """Tell of an event from any thread; `place` gives tab and URL and is asked only where it is told."""
        if not self.admits(kind):
            return False
        tab, url = place()
        self._call(
            lambda event: self._receive(event),
            BrowserEvent(kind=kind, text=shortened(text), tab=tab, url=cut(url)[0]),
        )
        return True

    def _call(self, function: Callable[..., None], *arguments: object) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function, *arguments)

    def _tell_later(self) -> None:
        assert self._loop is not None
        self._loop.call_later(WHILE, self.tell_left_out)

    def tell_left_out(self) -> None:
        """Tell now how many events were left out since this was told; call it in the loop."""
        with self._lock:
            left_out, self._left_out = self._left_out, Counter()
        for kind, number in left_out.items():
            words = kind.replace("_", " ")
            plural = "event was" if number == 1 else "events were"
            text = f"Too many events at once: {number:,} more {plural} only counted ({words})."
            self._receive(BrowserEvent(kind=kind, text=text))

    def forget(self) -> None:
        """Begin again with other pages."""
        self.tell_left_out()
        self._limit.forget()


# Messages of the driver

LeaveOut = Callable[[LogKind, bytes], None]
TooLong = Callable[[str, int], None]

_MESSAGE = re.compile(rb'\{"guid":"[^"]*","method":"(?:event","params":\{"method":")?([A-Za-z.]+)"')
_REQUEST_ID = re.compile(rb'"params":\{"requestId":"([^"]*)"')
_THINNED: dict[bytes, tuple[LogKind, int]] = {
    b"Runtime.consoleAPICalled": ("console", 1000),
    b"Log.entryAdded": ("console", 1000),
    b"Runtime.exceptionThrown": ("error", 500),
    b"Network.requestWillBeSent": ("request", 3000),
    b"Network.webSocketCreated": ("request", 1000),
    b"Network.webSocketFrameSent": ("request", 1000),
    b"Network.webSocketFrameReceived": ("request", 1000),
    b"Network.webSocketFrameError": ("request", 1000),
    b"Page.javascriptDialogOpening": ("dialog", 500),
}
"""What pages can have sent in any number: which kind of the page log, and how many of it in a while."""
_OF_A_REQUEST = frozenset({b"Network.responseReceived", b"Network.loadingFinished", b"Network.loadingFailed"})
_UNHEARD = frozenset(
    {
        b"frameSent",
        b"frameReceived",
        b"Network.dataReceived",
        b"Network.requestServedFromCache",
        b"Network.requestWillBeSentExtraInfo",
        b"Network.resourceChangedPriority",
        b"Network.responseReceivedExtraInfo",
        b"Network.policyUpdated",
        b"Network.webSocketWillSendHandshakeRequest",
    }
)
"""What nobody here listens to."""
_MOST_IDS = 20_000
_FLOOD = 1500
"""The number of messages left out from which a page that does not answer is considered the cause. The driver
passes on only a few thousand a second.
"""
ENDLESS = 60.0
"""Seconds by the page's own clock from which a flood without a pause is taken to have no end. Reading a shorter
one can take much longer.
"""
_WHEN = re.compile(rb'"timestamp":([0-9.]+)')
# The protocol tells some times in milliseconds since 1970, and the others in seconds.
_MILLISECONDS = frozenset({b"Runtime.consoleAPICalled", b"Log.entryAdded", b"Runtime.exceptionThrown"})


class MessageFilter:
    """Decides which messages of Playwright's driver are parsed, since parsing blocks all threads of Python.

    Requests that change something on a server, and documents, are never left out: going back and the state of
    a navigation depend on them.
    """

    def __init__(self, leave_out: LeaveOut, too_long: TooLong) -> None:
        self._limit = FloodLimit()
        self._leave_out = leave_out
        self._too_long = too_long
        self._requests: set[bytes] = set()
        """Of requests that were left out and are open, whose answers are left out too."""
        self._spans: dict[bytes, tuple[float, float]] = {}
        """By the page's clock, when it has sent the first and the last that was left out of a flood."""

    @property
    def flooded(self) -> bool:
        """Whether pages send much more than is read."""
        return self._limit.excess > _FLOOD

    @property
    def endless(self) -> bool:
        """Whether pages have sent more than is read for so long that they are taken not to stop."""
        return self.flooded and any(last - first > ENDLESS for first, last in self._spans.values())

    @property
    def open_requests(self) -> int:
        """How many requests that were left out are not answered yet."""
        return len(self._requests)

    def give_up_requests(self) -> None:
        """Do not wait for the requests that were left out and are open."""
        self._requests.clear()

    def forget(self) -> None:
        """Begin again with other pages."""
        self._limit.forget()
        self._requests.clear()
        self._spans.clear()

    def admits(self, data: bytes) -> bool:
        """Return whether a message is to be parsed; has the others told."""
        found = _MESSAGE.match(data)
        if found is None:
            return True
        name = found[1]
        if name in _UNHEARD:
            return False
        if name in _OF_A_REQUEST:
            if not self._requests or (request := self._request(data, found)) not in self._requests:
                return True
            if name != b"Network.responseReceived":
                self._requests.remove(request)
            self._limit.admits(name.decode(), 1)  # These keep the driver as busy.
            return False
        if name not in _THINNED:
            return True
        kind, most = _THINNED[name]
        if len(data) > LARGEST:
            self._too_long(name.decode(), len(data))
        elif self._limit.admits(name.decode(), most) or _must_be_told(name, data):
            return True
        else:
            self._leave_out(kind, data)
            self._note_time(name, data)
        if kind == "request":
            if len(self._requests) >= _MOST_IDS:
                self._requests.clear()
            self._requests.add(self._request(data, found))
        return False

    def _note_time(self, name: bytes, data: bytes) -> None:
        # Of what a page writes, the quotation marks are escaped: this is never found in it.
        if (told := _WHEN.search(data)) is None:
            return
        when = float(told[1]) / (1000 if name in _MILLISECONDS else 1)
        first, last = self._spans.get(name, (when, when))
        self._spans[name] = (when if when - last > WHILE else first, when)

    @staticmethod
    def _request(data: bytes, found: "re.Match[bytes]") -> bytes:
        number = _REQUEST_ID.search(data, found.start(), found.end() + 300)
        return number[1] if number is not None else b""


def _must_be_told(name: bytes, data: bytes) -> bool:
    # What a page writes has its quotation marks escaped there.
    return name == b"Network.requestWillBeSent" and (
        b'"method":"GET"' not in data or b'"type":"Document"' in data
    )


def thin(transport: Any, messages: MessageFilter, on_message: Callable[[bytes], None]) -> None:
    """Have the driver's messages go through a filter; `on_message` is called with each that comes."""
    # WORKAROUND: Playwright cannot be told which events of a session to send, and parses each (1.65).
    parse, handle = transport.deserialize_message, transport.on_message

    def parse_admitted(data: bytes) -> Any:
        on_message(data)
        return parse(data) if messages.admits(data) else None

    def handle_parsed(message: Any) -> None:
        if message is not None:
            handle(message)

    transport.deserialize_message, transport.on_message = parse_admitted, handle_parsed
