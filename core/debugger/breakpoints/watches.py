"""Watches: values that are read at each event, of the run or of the live page.

Watches of the page (by CSS, XPath or script) are read in the page and cannot change it.
"""

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace

from pydantic import ValidationError

from core.browser.channel import PageGone
from core.browser.page import Page
from core.debugger.breakpoints.collection import StoredList
from core.debugger.breakpoints.debug_event import DebugEvent
from core.debugger.breakpoints.expression import compile_expression, evaluate
from core.debugger.breakpoints.operations import text_of_value, whole_text
from core.debugger.breakpoints.subject import SubjectOf
from core.debugger.breakpoints.views import PageValue, Watch, WatchValue
from core.schema.errors import BrowserError, UsageError
from core.trace.records import Hit
from core.trace.store import TraceStore

_PAGE_MILLISECONDS = 1000
_LONGEST_PAGE_VALUE = 2000
"""Characters."""
_AS_TEXT = """(found => found === null ? null
  : found instanceof Element ? ("value" in found ? found.value : found.textContent.trim()) : found.textContent)"""


class Watches(StoredList[Watch]):
    """The watches of a database with their last values; each change is stored at once.

    One that is changed has no value yet.
    """

    _noun = "watch"
    _table = "watches"

    def __init__(self, store: TraceStore) -> None:
        """Read what is stored; a watch that cannot be read is named in `problems`. Raises TraceError."""
        super().__init__(store)
        self._values: dict[int, WatchValue] = {}
        self._read_at: DebugEvent | None = None
        """The event that the values are of."""
        for row in store.stops.watches():
            try:
                self._put(Watch.model_validate(row.model_dump()))
            except ValidationError:
                self._unreadable[row.number] = (
                    f"Watch {row.number} ({row.kind or 'of no kind'}) cannot be read from {store.path}; delete it "
                    "and create it again."
                )

    def _validate(self, entry: Watch) -> None:
        if entry.kind == "expression":
            compile_expression(entry.text)

    def _columns(self, entry: Watch) -> dict[str, object]:
        return entry.model_dump(exclude={"number"})

    def _put(self, entry: Watch) -> None:
        super()._put(entry)
        self._values.pop(entry.number, None)

    def _forget(self, number: int) -> None:
        super()._forget(number)
        self._values.pop(number, None)

    def read(
        self, event: DebugEvent, page_values: Mapping[Watch, PageValue] | None = None
    ) -> tuple[WatchValue, ...]:
        """Return the values of all watches at this event, and keep them to see what changes.

        `page_values` are those of the page's watches; one that was not read keeps the value it had. The first value
        is not a change.
        """
        if self._read_at is None or event.run.run != self._read_at.run.run:
            self._read_at, self._values = None, {}
        of_page = page_values or {}
        shown: list[WatchValue] = []
        for watch in self.all:
            known = self._values.get(watch.number)
            if watch.kind == "expression":
                now = value_of(watch, event, self._read_at, known)
            elif watch in of_page:
                now = WatchValue(watch=watch, **dict(of_page[watch]))
            elif known is not None:
                now = known.replace(changed=False)
            else:
                shown.append(WatchValue(watch=watch))
                continue
            if known is not None:
                now = now.replace(changed=differs(known, now))
            self._values[watch.number] = now
            shown.append(now)
        self._read_at = replace(event, previous=None)
        return tuple(shown)

    def check(
        self, event: DebugEvent, page_values: Mapping[Watch, PageValue] | None = None
    ) -> tuple[tuple[WatchValue, ...], tuple[Hit, ...]]:
        """Return what `read` does, and a stored hit for each change at which the run is to stop."""
        before = dict(self._values)
        values = self.read(event, page_values)
        hits = tuple(
            Hit(
                run=event.run.run,
                step=event.figures.step,
                phase=event.phase,
                watch=value.watch.number,
                sentence=f"{value.watch.text} changed: {change_in_words(before[value.watch.number], value)}",
                stopped=True,
                time=time.time(),
            )
            for value in values
            if value.changed and value.watch.on_change
        )
        if hits:
            self._store.stops.save_hits(hits)
        return values, hits


def value_of(
    watch: Watch, event: DebugEvent, earlier: DebugEvent | None = None, known: WatchValue | None = None
) -> WatchValue:
    """Return the value of an expression at an event.

    `known` is its value at the `earlier` event, which is kept if nothing
    that the expression reads has changed since.
    """
    subject = SubjectOf(event)
    try:
        compiled = compile_expression(watch.text)
        if known is not None and not subject.differs(earlier, compiled.names):
            return known
        value = evaluate(compiled, subject)
        return WatchValue(watch=watch, text=text_of_value(value), whole=hash(whole_text(value)))
    except UsageError as error:
        return WatchValue(watch=watch, error=str(error))


def differs(one: WatchValue, other: WatchValue) -> bool:
    return (one.text, one.error, one.whole) != (other.text, other.error, other.whole)


def change_in_words(before: WatchValue, after: WatchValue) -> str:
    was, now = (value.error or value.text for value in (before, after))
    return f"{was} → {now}" if was != now else f"{now} (beyond what is shown)"


async def read_page_watches(page: Page, watches: Iterable[Watch]) -> dict[Watch, PageValue]:
    """Return the values of the watches of the page in its main frame.

    The browser stops a script before it changes something, and the value of
    its watch says so. Raises nothing.
    """
    return {watch: await _read_in_page(page, watch) for watch in watches if watch.kind != "expression"}


async def _read_in_page(page: Page, watch: Watch) -> PageValue:
    try:
        result = await page.send(
            "Runtime.evaluate",
            {
                "expression": _script(watch),
                # Reading by a selector changes nothing, but the browser is not sure of XPath.
                "throwOnSideEffect": watch.kind == "script",
                "returnByValue": True,
                "timeout": _PAGE_MILLISECONDS,
            },
        )
    except (PageGone, BrowserError) as error:
        return PageValue(error=str(error) or "The page went away.")
    if "exceptionDetails" in result:
        details = result["exceptionDetails"]
        message = str(details.get("exception", {}).get("description") or details.get("text", "")).split("\n")[
            0
        ]
        if "Possible side-effect" in message:
            return PageValue(error="It would change the page. A watch can only read it.")
        return PageValue(error=f"It fails in the page: {message}")
    found = result["result"]
    value = found.get("value", found.get("unserializableValue"))
    if value is None:
        if watch.kind != "script":
            return PageValue(error="Nothing in the page matches.")
        return PageValue(text="null" if found.get("subtype") == "null" else "undefined")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    shown = text if len(text) <= _LONGEST_PAGE_VALUE else f"{text[:_LONGEST_PAGE_VALUE]}…"
    return PageValue(text=shown, whole=hash(text))


def _script(watch: Watch) -> str:
    """Return the script that reads a watch of the page."""
    text = json.dumps(watch.text)
    match watch.kind:
        case "css":
            return f"{_AS_TEXT}(document.querySelector({text}))"
        case "xpath":
            kind = "XPathResult.FIRST_ORDERED_NODE_TYPE"
            return f"{_AS_TEXT}(document.evaluate({text}, document, null, {kind}, null).singleNodeValue)"
    return watch.text
