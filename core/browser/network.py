"""What a tab is loading: its pending requests and the state of its navigation."""

import asyncio
import time
from typing import Any, NamedTuple
from urllib.parse import urldefrag, urlsplit

from core.system.patience import Limit

_POLL = 10.0
"""Seconds from which a request that is answered at last was a long poll, and no slow answer."""
_REFRESHES = frozenset({"metaTagRefresh", "httpHeaderRefresh"})
_REFRESH_SECONDS = 5.0
"""A page that opens another one after longer is one to be read, or used, first."""
_LATE_SECONDS = 2.0
"""So much later than announced the other page may begin."""
_SAME_DOCUMENT = frozenset({"sameDocument", "historySameDocument"})


class _Open(NamedTuple):
    number: int
    address: str
    began: float


class Requests:
    """The requests of a tab that began after a given moment and are still pending."""

    WAITED_FOR = frozenset({"Document", "XHR", "Fetch", "Script", "Stylesheet"})

    def __init__(self) -> None:
        self.begun = 0
        self.changed = asyncio.Event()
        self._open: dict[str, _Open] = {}
        self._documents: dict[str, str] = {}
        self._long: set[str] = set()

    def begin(self, event: dict[str, Any]) -> None:
        # That of a worker's script ends unseen: the worker is told, and not its page.
        of_worker = event.get("type") == "Script" and not event.get("loaderId")
        if event.get("type") in self.WAITED_FOR and not of_worker:
            self.begun += 1
            begun = _Open(self.begun, _address(event["request"]["url"]), time.monotonic())
            self._open.setdefault(event["requestId"], begun)
            if event["type"] == "Document":
                self._documents[event.get("frameId", "")] = event["requestId"]
            self.changed.set()

    def end(self, event: dict[str, Any]) -> None:
        ended = self._open.pop(event["requestId"], None)
        if ended is None:
            return
        if time.monotonic() - ended.began < _POLL:
            self._long.discard(ended.address)
        self.changed.set()

    def end_document(self, event: dict[str, Any]) -> None:
        """Note that a frame has its document, or moved to another process, where its request ends unseen."""
        self.end({"requestId": self._documents.pop(event["frameId"], "")})

    def forget(self) -> None:
        """Drop what is open: the document that asked for it is gone."""
        self._open.clear()
        self._documents.clear()
        self.changed.set()

    def open_since(self, mark: int) -> int:
        """Return how many requests begun after `mark` (an earlier `begun`) are awaited still."""
        return sum(1 for one in self._open.values() if one.number > mark and one.address not in self._long)

    def give_up(self, mark: int) -> None:
        """Stop waiting for addresses that kept a request open this long, until they answer in ordinary time."""
        self._long.update(one.address for one in self._open.values() if one.number > mark)


def _address(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"


class Loading:
    """The state of the navigation of a tab's main frame, by the protocol's events."""

    def __init__(self) -> None:
        self.main_frame = ""
        self.navigations = 0
        """Counts documents begun in the main frame, so that a wait can tell whether one was."""
        self.requested = False
        """The page asked to navigate, and nothing has been begun yet."""
        self.loaded = asyncio.Event()
        self.loaded.set()
        self.interactive = asyncio.Event()
        """The document has been read; its pictures may still be coming."""
        self.interactive.set()
        self.changed = asyncio.Event()
        self.announced: dict[str, Limit] = {}
        """By frame, how long the other page is waited for that its document has announced (``Refresh``)."""
        self._urls: dict[str, str] = {}
        self.reloading = False
        self._under_way = False

    def on_requested(self, event: dict[str, Any]) -> None:
        if event["frameId"] == self.main_frame and event.get("disposition") == "currentTab":
            self.requested = True
            self.changed.set()

    def on_scheduled(self, event: dict[str, Any]) -> None:
        frame, delay = event["frameId"], float(event["delay"])
        # A page that opens itself again does so to stay up to date.
        itself = urldefrag(event["url"])[0] == urldefrag(self._urls.get(frame, ""))[0]
        if event["reason"] in _REFRESHES and delay <= _REFRESH_SECONDS and not itself:
            self.announced[frame] = Limit(delay + _LATE_SECONDS)

    def on_cleared(self, event: dict[str, Any]) -> None:
        self.announced.pop(event["frameId"], None)
        if event["frameId"] == self.main_frame:
            self.requested = False
        self.changed.set()

    def on_started(self, event: dict[str, Any]) -> None:
        kind = event.get("navigationType", "")
        if event["frameId"] != self.main_frame or kind in _SAME_DOCUMENT:
            return
        self.reloading = kind.startswith("reload")
        self._begin()

    def _begin(self) -> None:
        self.navigations += 1
        self.announced.clear()
        self.requested = False
        self._under_way = True
        self.loaded.clear()
        self.interactive.clear()
        self.changed.set()

    def on_navigated(self, event: dict[str, Any]) -> bool:
        """Take note of a new document; returns whether it is the main frame's."""
        self._urls[event["frame"]["id"]] = event["frame"]["url"]
        if event["frame"]["id"] != self.main_frame:
            return False
        if not self._under_way:
            self._begin()
        if event.get("type") == "BackForwardCacheRestore":
            self.stop()
        self.changed.set()
        return True

    def on_content(self, event: dict[str, Any]) -> None:
        self.interactive.set()
        self.changed.set()

    def on_stopped(self, event: dict[str, Any]) -> None:
        # Comes at the end of a load, and where a navigation came to nothing: a download, an empty answer.
        if event["frameId"] == self.main_frame:
            self.stop()

    def stop(self) -> None:
        """Stop waiting for the current navigation."""
        self._under_way = False
        self.requested = False
        self.interactive.set()
        self.loaded.set()
        self.changed.set()
