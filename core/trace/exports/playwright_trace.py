"""A run as a trace of Playwright, for `playwright show-trace`: a zip of actions, pictures and pages.

It is written in version 8 of the trace format: viewers read all older versions, and more of them support this
one than the latest (10, in Playwright 1.65). Console lines and requests (as in a HAR) come from the page
logs. A page's HTML is nested lists of name, attributes and children; an unchanged page refers to the one
before. The content of answers is not included, so pages are shown without style sheets and pictures.
"""

import io
import json
import re
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from bs4 import BeautifulSoup
from bs4.element import CData, Comment, Declaration, Doctype, NavigableString, ProcessingInstruction, Tag

from core.browser.log.records import ConsoleEntry, DialogEntry, ErrorEntry, LogEntry, LogPart, RequestEntry
from core.schema.errors import TraceError
from core.schema.events import BrowserEvent
from core.schema.step import PHASES, BlobHash, Observed, place_of
from core.schema.viewport import VIEWPORT
from core.trace.exports.hiding import hiding
from core.trace.exports.steps import RunStep, steps_of, with_next
from core.trace.records import RunRow, StepTimes
from core.trace.store import TraceStore

VERSION = 8
PAGE = "page@1"
_SUFFIXES = {"image/webp": ".webp", "image/jpeg": ".jpeg", "image/png": ".png"}
_ERRORS = ("crash", "hang", "replaced", "load_failed", "certificate")
_IN_LOG = ("console", "dialog")
"""Events that the log of the page tells of more exactly."""
_WHEN = (1980, 1, 1, 0, 0, 0)
"""The time of all files in the zip, so that the same run is the same file."""


@hiding
def export_playwright_trace(store: TraceStore, run: int) -> bytes:
    """Return the zip; raises TraceError if a step is damaged. Pictures and pages that are damaged are left out."""
    writing = _Writing(store, store.run(run))
    writing.write(steps_of(store, run), {one.number: one for one in store.times(run)})
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        lines = "\n".join(json.dumps(event) for event in writing.events)
        network = "\n".join(json.dumps(event) for event in writing.network)
        files = {"trace.trace": lines.encode(), "trace.network": network.encode(), **writing.files}
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, _WHEN)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return packed.getvalue()


class _Writing:
    """Gathers the events of the trace, and the files that they name."""

    def __init__(self, store: TraceStore, row: RunRow) -> None:
        self.events: list[dict[str, Any]] = []
        self.network: list[dict[str, Any]] = []
        self.files: dict[str, bytes] = {}
        self._store = store
        self._row = row
        self._snapshots = Snapshots()

    def write(self, steps: tuple[RunStep, ...], times: dict[int, StepTimes]) -> None:
        row = self._row
        seen = [one.observed.observation.viewport for one in steps if one.observed is not None]
        told = (f"({self._store.left_out})",) if self._store.left_out else ()
        width, height = next((size for size in seen if all(size)), VIEWPORT)
        self._add(
            "context-options",
            version=VERSION,
            origin="library",
            browserName="chromium",
            title=" ".join((f"Run {row.run}: {row.task}, seed {row.seed}: {row.instruction}", *told)),
            options={"viewport": {"width": width, "height": height}},
            platform="",
            wallTime=round(row.started * 1000),
            monotonicTime=0,
            sdkLanguage="python",
        )
        self._add("event", time=0, **{"class": "BrowserContext"}, method="page", params={"pageId": PAGE})
        logged = {step.number: self._store.pages.log(row.run, step.number) for step in steps}
        for event in self._store.pages.events(row.run):
            if logged.get(event.step) is None or event.event.kind not in _IN_LOG:
                self._tell(event.event, self._time(event.time))
        for parts in logged.values():
            self.events += console_lines(parts or (), PAGE, row.started)
            self.network += requests(parts or (), PAGE, row.started)
        for step, after in with_next(steps):
            self._write_step(step, after, times, in_log=logged[step.number] is not None)
        if row.error:
            self._add("error", message=row.error)

    def _write_step(
        self, step: RunStep, after: RunStep | None, times: dict[int, StepTimes], *, in_log: bool
    ) -> None:
        call, began = f"step@{step.number}", self._time(times[step.number].begun)
        saved = {phase.phase: self._time(phase.saved) for phase in times[step.number].phases}
        end = saved.get("act", self._time(times[step.number].ended))
        before_act = PHASES[: PHASES.index("act")]
        start = max((time for phase, time in saved.items() if phase in before_act), default=began)
        action = step.action
        title = f"{action} {step.row.target}".rstrip() if action is not None else "no action"
        self._picture(step.observed, saved.get("observe", began))
        self._add(
            "before",
            callId=call,
            stepId=call,
            startTime=start,
            title=f"{step.number}. {title}",
            **{"class": "Page"},
            method=action.kind if action is not None else "none",
            params=action.model_dump(mode="json") if action is not None else {},
            pageId=PAGE,
            beforeSnapshot=f"before@{call}",
        )
        self._snapshot(step.observed, call, f"before@{call}", start)
        for line in self._lines(step):
            self._add("log", callId=call, time=start, message=line)
        self._point(step, call, start)
        for event in step.acted.events if step.acted is not None else ():
            if not in_log or event.kind not in _IN_LOG:
                self._tell(event, end)
        ended: dict[str, Any] = {"callId": call, "endTime": max(start, end)}
        if step.acted is not None and step.acted.outcome == "failed":
            ended["error"] = {"name": "ActionError", "message": step.acted.message or "The action failed."}
        if after is not None:
            ended["afterSnapshot"] = f"after@{call}"
        self._add("after", **ended)
        if after is not None:
            self._snapshot(after.observed, call, f"after@{call}", max(start, end))

    def _lines(self, step: RunStep) -> list[str]:
        """Return what the viewer shows in an action's log."""
        lines = [f"thought: {step.row.thought}"] if step.row.thought else []
        if step.origin != "agent":
            lines.append(f"by: {step.origin}")
        lines += [
            f"LLM call {call.number}, {call.purpose}: {call.model or call.llm}, {call.seconds:.2f} s, "
            f"{call.usage.prompt_tokens} + {call.usage.completion_tokens} tokens {call.error}".rstrip()
            for call in step.detail.calls
        ]
        primitives = step.acted.primitives if step.acted is not None else ()
        lines += [
            f"{primitive.action} {primitive.target}: {primitive.outcome} {primitive.message}".rstrip()
            for primitive in primitives
        ]
        lines.append(f"{step.row.outcome} {step.row.message}".rstrip())
        if step.undone_by is not None:
            lines.append(f"taken back by step {step.undone_by}")
        return lines

    def _point(self, step: RunStep, call: str, time: float) -> None:
        """Mark where the action was, in the page as it was before."""
        box = place_of(step.action, step.observed, step.acted)
        if box is None:
            return
        x, y = box.centre
        self._add(
            "input", callId=call, point={"x": x, "y": y}, box=box.model_dump(), inputSnapshot=f"input@{call}"
        )
        self._snapshot(step.observed, call, f"input@{call}", time)

    def _snapshot(self, observed: Observed | None, call: str, name: str, time: float) -> None:
        if observed is None or not observed.html:
            return
        try:
            html = self._store.blob(observed.html).decode(errors="replace")
        except TraceError:
            return
        width, height = observed.observation.viewport
        self._add(
            "frame-snapshot",
            snapshot={
                "callId": call,
                "snapshotName": name,
                "pageId": PAGE,
                "frameId": "frame@1",
                "frameUrl": observed.observation.url,
                "doctype": "html",
                "html": self._snapshots.next(observed.html, html, observed.observation.url),
                "viewport": {"width": width or VIEWPORT[0], "height": height or VIEWPORT[1]},
                "timestamp": time,
                "wallTime": round(self._row.started * 1000 + time),
                "collectionTime": 0,
                "resourceOverrides": [],
                "isMainFrame": True,
            },
        )

    def _picture(self, observed: Observed | None, time: float) -> None:
        if observed is None or not observed.screenshot:
            return
        try:
            data, media_type = self._store.blob_and_type(observed.screenshot)
        except TraceError:
            return
        name = observed.screenshot + _SUFFIXES.get(media_type, "")
        self.files[f"resources/{name}"] = data
        width, height = observed.observation.viewport
        self._add(
            "screencast-frame",
            pageId=PAGE,
            sha1=name,
            width=width or VIEWPORT[0],
            height=height or VIEWPORT[1],
            timestamp=time,
        )

    def _tell(self, event: BrowserEvent, time: float) -> None:
        """Tell what happened in the browser where the viewer shows the console."""
        kind = "log" if event.kind == "console" else "error" if event.kind in _ERRORS else "warning"
        self._add(
            "console",
            messageType=kind,
            text=event.text if event.kind == "console" else f"{event.kind}: {event.text}",
            args=[],
            location={"url": event.url, "lineNumber": 0, "columnNumber": 0},
            time=time,
            pageId=PAGE,
        )

    def _add(self, type: str, **values: Any) -> None:
        self.events.append({"type": type, **values})

    def _time(self, seconds: float) -> float:
        """Return a time as milliseconds since the run began."""
        return round((seconds - self._row.started) * 1000, 3)


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
    """Yield the requests, each once: one still open where its end comes later is written there."""
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


_NEVER = ("script", "noscript")
"""Elements that a snapshot is without."""
_DEEPEST = 200
"""How deep elements lie in each other, in the page and in JSON."""
_NO_WORDS = (Comment, CData, Declaration, Doctype, ProcessingInstruction)
_NEXT_DOCUMENT = re.compile(r"</html>\s*(?=<html)", re.IGNORECASE)


class Snapshots:
    """Turns the pages of one frame into snapshots, in the order in which they are written."""

    def __init__(self) -> None:
        self._count = 0
        self._whole: dict[BlobHash, tuple[int, int]] = {}
        """By page: which snapshot has it whole, and the number of its outermost node."""

    def next(self, name: BlobHash, html: str, url: str) -> list[Any]:
        """Return the next snapshot; a page whose blob was written before is a reference to it."""
        place, self._count = self._count, self._count + 1
        if name in self._whole:
            before, node = self._whole[name]
            return [[place - before, node]]
        # The documents of frames stand behind the page's own.
        own = _NEXT_DOCUMENT.split(html, maxsplit=1)[0]
        page = BeautifulSoup(own, "lxml")
        for element in page.find_all(_NEVER):
            element.decompose()
        root = page.find("html")
        tree = _tree(root) if isinstance(root, Tag) else ["HTML", {}]
        _base(tree, url)
        self._whole[name] = (place, _nodes(tree) - 1)
        return tree


def _tree(tag: Tag, depth: int = 0) -> list[Any]:
    """Return an element of a page as a nested list; of what lies deeper than `_DEEPEST`, only the words."""
    attributes = {
        name: " ".join(value) if isinstance(value, list) else str(value)
        for name, value in tag.attrs.items()
        if not name.lower().startswith("on")
    }
    node: list[Any] = [tag.name.upper(), attributes]
    for child in tag.children if depth < _DEEPEST else tag.find_all(string=True):
        if isinstance(child, Tag):
            node.append(_tree(child, depth + 1))
        elif isinstance(child, NavigableString) and not isinstance(child, _NO_WORDS):
            node.append(str(child))
    return node


def _base(tree: list[Any], url: str) -> None:
    """Let addresses of the page count from where it was."""
    head = next((one for one in tree[2:] if isinstance(one, list) and one[0] == "HEAD"), None)
    if head is None:
        head = ["HEAD", {}]
        tree.insert(2, head)
    head.insert(2, ["BASE", {"href": url}])


def _nodes(tree: list[Any]) -> int:
    """Return how many nodes there are, texts included: the outermost is the last that is numbered."""
    return 1 + sum(_nodes(child) if isinstance(child, list) else 1 for child in tree[2:])
