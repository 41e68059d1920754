"""What pages told and asked for, as Playwright's trace has it: lines of the console, and requests as in a HAR."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from core.browser.log.records import ConsoleEntry, DialogEntry, ErrorEntry, LogEntry, LogPart, RequestEntry

_TYPES = {"debug": "debug", "info": "log", "warning": "warning", "error": "error"}


def console_lines(parts: tuple[LogPart, ...], page: str, started: float) -> Iterator[dict[str, Any]]:
    """Yield what goes into the console of the viewer, requests left out; `started` is when the run began."""
    for entry in _entries(parts):
        if isinstance(entry, RequestEntry):
            continue
        kind, text = _line(entry)
        url, line, column = _split(entry.place)
        yield {
            "type": "console",
            "messageType": kind,
            "text": text + (" …" if entry.cut else ""),
            "args": [],
            "location": {"url": url, "lineNumber": line, "columnNumber": column},
            "time": round((entry.time - started) * 1000, 3),
            "pageId": page,
        }


def requests(parts: tuple[LogPart, ...], page: str, started: float) -> Iterator[dict[str, Any]]:
    """Yield the requests, each once: one that was still open where its end is told later is told there."""
    for entry in _entries(parts):
        if isinstance(entry, RequestEntry) and entry.ended and entry.type != "WebSocket":
            yield {"type": "resource-snapshot", "snapshot": _snapshot(entry, page, started)}


def _entries(parts: tuple[LogPart, ...]) -> Iterator[LogEntry]:
    for part in parts:
        yield from part.log.entries


def _line(entry: ConsoleEntry | ErrorEntry | DialogEntry) -> tuple[str, str]:
    match entry:
        case ConsoleEntry():
            return _TYPES[entry.level], entry.text
        case ErrorEntry():
            return "error", entry.text
    return "warning", f"{entry.dialog}: {entry.text} ({entry.answer or 'answer not known'})"


def _split(place: str) -> tuple[str, int, int]:
    """Return address, line and column, counted from 0."""
    url, _, column = place.rpartition(":")
    url, _, line = url.rpartition(":")
    if url and line.isdigit() and column.isdigit():
        return url, int(line) - 1, int(column) - 1
    return place, 0, 0


def _snapshot(entry: RequestEntry, page: str, started: float) -> dict[str, Any]:
    spent = entry.milliseconds or 0.0
    begun = entry.time - (spent / 1000 if entry.began_before else 0.0)
    size = entry.bytes if entry.bytes is not None else -1
    failed = {"_failureText": entry.text} if entry.failed else {}
    none: dict[str, Any] = {"httpVersion": "", "cookies": [], "headers": [], "headersSize": -1}
    return {
        "pageref": page,
        "startedDateTime": datetime.fromtimestamp(begun, UTC).isoformat().replace("+00:00", "Z"),
        "time": spent,
        "request": {
            "method": entry.method,
            "url": entry.url,
            "queryString": [{"name": name, "value": value} for name, value in _query(entry.url)],
            "bodySize": -1,
            **none,
        },
        "response": {
            "status": -1 if entry.status is None else entry.status,
            "statusText": "",
            "content": {"size": size, "mimeType": "x-unknown"},
            "redirectURL": "",
            "bodySize": size,
            "_transferSize": size,
            **failed,
            **none,
        },
        "cache": {},
        "timings": {"send": -1, "wait": spent, "receive": -1},
        "_resourceType": entry.type.lower(),
        "_monotonicTime": round((begun - started) * 1000, 3),
    }


def _query(url: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(urlsplit(url).query, keep_blank_values=True)
    except ValueError:
        return []
