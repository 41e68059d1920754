"""Collects the log of a browser's pages. Its size is bounded, whatever a page does.

It keeps the first and last entries of each kind. It only uses events that are sent anyway, and never asks the page.
"""

import itertools
import json
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from core.browser.log.records import (
    LONGEST,
    ConsoleEntry,
    DialogEntry,
    ErrorEntry,
    Level,
    LogEntry,
    LogGap,
    LogKind,
    PageLog,
    RequestEntry,
    cut,
)

_KEPT: dict[LogKind, tuple[int, int]] = {
    "console": (200, 300),
    "error": (50, 50),
    "request": (300, 300),
    "dialog": (50, 50),
}
"""The first and the last of each kind that are kept."""
_MOST_OPEN = 2000
"""Requests that are waited for; of more, the oldest is given up."""
_MESSAGE = 500
"""Characters of a WebSocket's message that are kept."""
_ARGUMENTS = 50
_UNREAD = 20_000
"""Bytes of a message that is kept as it came, to be read only if it is among the last."""
_LEVELS: dict[str, Level] = {
    "error": "error",
    "assert": "error",
    "warning": "warning",
    "debug": "debug",
    "verbose": "debug",
}
Values = dict[str, Any]
RequestKey = tuple[int, str]
"""The number of a protocol session, and the request's id in it."""


class _Kind:
    """The entries of one kind, as plain values; records are made only on request."""

    def __init__(self, kind: LogKind, make: Callable[..., LogEntry]) -> None:
        self.kind = kind
        self._make = make
        self._most, last = _KEPT[kind]
        self._first: list[Values] = []
        self._last: deque[Values] = deque(maxlen=last)
        self._unread: deque[bytes] = deque(maxlen=last)
        self._left_out = 0
        self._gap_after = 0.0

    def add(self, values: Values) -> None:
        if len(self._first) < self._most:
            self._first.append(values)
            return
        if len(self._last) == self._last.maxlen:
            self._left_out += 1
        self._last.append(values)

    def leave_out(self, message: bytes | None) -> None:
        """Count one that came too fast; of those with their message, the last are kept."""
        if not self._first and not self._left_out:
            self._gap_after = time.time()
        if message is None or len(self._unread) == self._unread.maxlen:
            self._left_out += 1
        if message is not None:
            self._unread.append(message)

    def collected(self, read: Callable[[bytes], Values]) -> tuple[list[LogEntry], LogGap | None]:
        """Return what is kept, and what is not; `read` makes values of a message."""
        last = sorted((*self._last, *map(read, self._unread)), key=lambda values: values["time"])
        more = max(len(last) - (self._last.maxlen or 0), 0)
        kept = [self._make(**values) for values in (*self._first, *last[more:])]
        if not self._left_out + more:
            return kept, None
        after = self._first[-1]["time"] if self._first else self._gap_after
        return kept, LogGap(kind=self.kind, count=self._left_out + more, after=after)

    def drop(self) -> None:
        self._first.clear()
        self._last.clear()
        self._unread.clear()
        self._left_out = 0


class PageListener:
    """The log of all tabs of one browser since it was last cleared."""

    def __init__(self) -> None:
        self._kinds: dict[LogKind, _Kind] = {
            "console": _Kind("console", ConsoleEntry),
            "error": _Kind("error", ErrorEntry),
            "request": _Kind("request", RequestEntry),
            "dialog": _Kind("dialog", DialogEntry),
        }
        self._sessions = itertools.count(1)
        self._open: dict[RequestKey, tuple[float, Values]] = {}
        """Requests by session and id, each with the browser's own clock at its beginning."""
        self._sockets: dict[RequestKey, str] = {}
        self._asked: dict[int, Values] = {}

    def listen(self, session: Any) -> None:
        """Take note of what a protocol session tells; its domains are enabled by its owner."""
        number = next(self._sessions)

        def on(event: str, note: Callable[[int, Values], None]) -> None:
            session.on(event, lambda values: note(number, values))

        def on_request(event: str, note: Callable[[RequestKey, Values], None]) -> None:
            session.on(event, lambda values: note((number, str(values["requestId"])), values))

        on("Runtime.consoleAPICalled", self._on_console)
        on("Log.entryAdded", self._on_entry)
        on("Runtime.exceptionThrown", self._on_error)
        on_request("Network.requestWillBeSent", self._on_request)
        on_request("Network.responseReceived", self._on_response)
        on_request("Network.loadingFinished", self._on_finished)
        on_request("Network.loadingFailed", self._on_failed)
        on_request("Network.webSocketCreated", self._on_socket)
        on_request("Network.webSocketHandshakeResponseReceived", self._on_handshake)
        on_request("Network.webSocketFrameSent", self._on_sent)
        on_request("Network.webSocketFrameReceived", self._on_received)
        on_request("Network.webSocketFrameError", self._on_socket_error)
        on_request("Network.webSocketClosed", self._on_socket_closed)
        on("Page.javascriptDialogOpening", self._on_dialog)
        on("Page.javascriptDialogClosed", self._on_answered)

    def note_question(self, text: str, place: str = "") -> None:
        """Take note of what the page asked for in another way than a dialog of its script, with its answer."""
        kept, more = cut(text)
        self._add(
            "dialog",
            {"time": time.time(), "dialog": "request", "text": kept, "cut": more, "place": cut(place)[0]},
        )

    def leave_out(self, kind: LogKind, message: bytes) -> None:
        """Count one that came too fast to be read, as the driver's message."""
        may_be_read = kind in ("console", "error") and len(message) < _UNREAD
        self._kinds[kind].leave_out(message if may_be_read else None)

    def note_too_long(self, what: str, size: int) -> None:
        """Take note of what the browser told in a message that was too long to be read."""
        words = f"{what} of {size:,} bytes left out: it is too large."
        self._add("console", {"time": time.time(), "level": "warning", "text": words})

    def collected(self) -> PageLog:
        """Return the log so far, in the order of time; requests that are open come as not ended."""
        entries: list[LogEntry] = []
        gaps: list[LogGap] = []
        for kind in self._kinds.values():
            kept, gap = kind.collected(_read)
            entries += kept
            gaps += [gap] if gap is not None else []
        return PageLog(
            entries=tuple(sorted(entries, key=lambda entry: entry.time)),
            left_out=tuple(sorted(gaps, key=lambda gap: gap.after)),
        )

    def drop(self) -> None:
        """Begin again; requests that are open are recorded once more when they end."""
        for kind in self._kinds.values():
            kind.drop()
        for key, (began, values) in tuple(self._open.items()):
            self._open[key] = (began, {**values, "began_before": True})

    def forget(self) -> None:
        """Begin again with another browser profile: what was open has gone with the old one."""
        self.drop()
        self._open.clear()
        self._sockets.clear()
        self._asked.clear()

    def _add(self, kind: LogKind, values: Values) -> None:
        self._kinds[kind].add(values)

    # Console and errors

    def _on_console(self, session: int, event: Values) -> None:
        self._add("console", console_values(event))

    def _on_entry(self, session: int, event: Values) -> None:
        self._add("console", entry_values(event))

    def _on_error(self, session: int, event: Values) -> None:
        self._add("error", error_values(event))

    # Requests

    def _on_request(self, key: RequestKey, event: Values) -> None:
        request = event["request"]
        if (before := event.get("redirectResponse")) is not None:
            self._answer(key, before)
            self._end(key, event.get("timestamp"), before.get("encodedDataLength"))
        url, more = cut(str(request["url"]))
        values: Values = {
            "time": float(event.get("wallTime") or time.time()),
            "method": str(request["method"])[:40],
            "url": url,
            "cut": more,
            "type": str(event.get("type", "")),
        }
        if len(self._open) >= _MOST_OPEN:
            del self._open[next(iter(self._open))]
        self._open[key] = (float(event.get("timestamp", 0.0)), values)
        self._add("request", values)

    def _on_response(self, key: RequestKey, event: Values) -> None:
        self._answer(key, event["response"])
        if key in self._open:
            self._open[key][1]["type"] = str(event.get("type", ""))

    def _answer(self, key: RequestKey, response: Values) -> None:
        if key in self._open:
            self._open[key][1]["status"] = int(response.get("status", 0))

    def _on_finished(self, key: RequestKey, event: Values) -> None:
        self._end(key, event.get("timestamp"), event.get("encodedDataLength"))

    def _on_failed(self, key: RequestKey, event: Values) -> None:
        reason = event.get("blockedReason") or event.get("errorText") or "failed"
        if event.get("canceled") and not event.get("blockedReason"):
            reason = f"cancelled ({reason})" if reason else "cancelled"
        self._end(key, event.get("timestamp"), None, failed=True, text=str(reason)[:300])

    def _end(self, key: RequestKey, clock: object, size: object, **more: Any) -> None:
        began, values = self._open.pop(key, (0.0, None))
        if values is None:
            return
        spent = (float(clock) - began) * 1000 if isinstance(clock, int | float) and began else None
        values |= {
            "ended": True,
            "milliseconds": None if spent is None else round(max(spent, 0.0), 2),
            **more,
        }
        if isinstance(size, int | float) and size >= 0:
            values["bytes"] = int(size)
        if values.get("began_before"):
            # The part of the log that it was begun in is closed: it is recorded here, as of now.
            self._add("request", {**values, "time": time.time()})

    def _on_socket(self, key: RequestKey, event: Values) -> None:
        url = cut(str(event["url"]))[0]
        if len(self._sockets) >= _MOST_OPEN:
            del self._sockets[next(iter(self._sockets))]
        self._sockets[key] = url
        self._message(key, "OPEN", "")

    def _on_handshake(self, key: RequestKey, event: Values) -> None:
        self._message(key, "OPEN", "", status=int(event.get("response", {}).get("status", 0)))

    def _on_sent(self, key: RequestKey, event: Values) -> None:
        self._frame(key, "SEND", event)

    def _on_received(self, key: RequestKey, event: Values) -> None:
        self._frame(key, "RECEIVE", event)

    def _frame(self, key: RequestKey, method: str, event: Values) -> None:
        frame = event.get("response", {})
        data = str(frame.get("payloadData", ""))
        if frame.get("opcode") == 2:  # Binary: the protocol has it in base64.
            self._message(key, method, "(binary)", size=len(data) * 3 // 4)
        else:
            self._message(key, method, data, size=len(data.encode(errors="replace")))

    def _on_socket_error(self, key: RequestKey, event: Values) -> None:
        self._message(key, "ERROR", str(event.get("errorMessage", "")), failed=True)

    def _on_socket_closed(self, key: RequestKey, event: Values) -> None:
        self._message(key, "CLOSE", "")
        self._sockets.pop(key, None)

    def _message(
        self,
        key: RequestKey,
        method: str,
        said: str,
        *,
        size: int | None = None,
        status: int | None = None,
        failed: bool = False,
    ) -> None:
        text, more = cut(said, _MESSAGE)
        self._add(
            "request",
            {
                "time": time.time(),
                "method": method,
                "url": self._sockets.get(key, "a WebSocket opened earlier"),
                "type": "WebSocket",
                "text": text,
                "cut": more,
                "bytes": size,
                "status": status,
                "failed": failed,
                "ended": True,
            },
        )

    # Dialogs

    def _on_dialog(self, session: int, event: Values) -> None:
        text, more = cut(str(event.get("message", "")))
        values: Values = {
            "time": time.time(),
            "dialog": str(event.get("type", "dialog")),
            "text": text,
            "cut": more,
            "place": cut(str(event.get("url", "")))[0],
        }
        self._asked[session] = values
        self._add("dialog", values)

    def _on_answered(self, session: int, event: Values) -> None:
        values = self._asked.pop(session, None)
        if values is None:
            return
        answer = "accepted" if event.get("result") else "dismissed"
        said = cut(str(event.get("userInput", "")), _MESSAGE)[0]
        entered = values["dialog"] == "prompt" and event.get("result")
        values["answer"] = f'{answer} with "{said}"' if entered else answer


def console_values(event: Values) -> Values:
    arguments = event.get("args", ())
    words = " ".join(in_words(argument) for argument in arguments[:_ARGUMENTS])
    text, more = cut(words + (" …" if len(arguments) > _ARGUMENTS else ""))
    kind = str(event.get("type", "log"))
    frames = event.get("stackTrace", {}).get("callFrames", ())
    return {
        "time": seconds_of(event.get("timestamp")),
        "level": _LEVELS.get(kind, "info"),
        "text": text or f"({kind})",
        "cut": more,
        "place": place_of(frames[0]) if frames else "",
    }


def entry_values(event: Values) -> Values:
    entry = event.get("entry", {})
    text, more = cut(str(entry.get("text", "")))
    return {
        "time": seconds_of(entry.get("timestamp")),
        "level": _LEVELS.get(str(entry.get("level")), "info"),
        "text": text,
        "cut": more,
        "place": place_of(entry),
    }


def error_values(event: Values) -> Values:
    details = event.get("exceptionDetails", {})
    thrown = details.get("exception", {})
    said = thrown.get("description") or in_words(thrown) or details.get("text", "")
    text, more = cut(str(said))
    return {
        "time": seconds_of(event.get("timestamp")),
        "text": text,
        "cut": more,
        "place": place_of(details),
    }


_READERS: dict[str, Callable[[Values], Values]] = {
    "Runtime.consoleAPICalled": console_values,
    "Log.entryAdded": entry_values,
    "Runtime.exceptionThrown": error_values,
}


def _read(message: bytes) -> Values:
    """Return the values of a message of the driver that tells of the console or of an error."""
    event = json.loads(message)["params"]
    return _READERS[event["method"]](event["params"])


def in_words(argument: Values) -> str:
    """Return what one argument of a console call was, as a console shows it in one line."""
    if "value" in argument:
        value = argument["value"]
        return value[: 2 * LONGEST] if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if "unserializableValue" in argument:
        return str(argument["unserializableValue"])
    preview = argument.get("preview")
    if isinstance(preview, dict) and argument.get("subtype") != "error":
        return _preview(preview)
    return str(argument.get("description") or argument.get("type", ""))


def place_of(where: Values) -> str:
    """Return address, line and column, counted from 1 as editors do."""
    url = cut(str(where.get("url") or ""))[0]
    line, column = where.get("lineNumber"), where.get("columnNumber")
    if not url or not isinstance(line, int):
        return url
    return f"{url}:{line + 1}" + (f":{column + 1}" if isinstance(column, int) else "")


def seconds_of(milliseconds: object) -> float:
    """Return a time of the protocol in seconds since the epoch; now if there is none."""
    return milliseconds / 1000 if isinstance(milliseconds, int | float) else time.time()


def _preview(preview: Values) -> str:
    array = preview.get("subtype") == "array"
    parts = [
        str(one.get("value", "")) if array else f"{one.get('name')}: {one.get('value', one.get('type', ''))}"
        for one in preview.get("properties", ())
    ]
    if preview.get("overflow"):
        parts.append("…")
    inside = ", ".join(parts)
    if array:
        return f"[{inside}]"
    name = preview.get("description", "")
    return f"{{{inside}}}" if name in ("Object", "") else f"{name} {{{inside}}}"
