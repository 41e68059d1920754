"""Reading the watches of the live page: by CSS, XPath or a script, none of which can change it."""

import json
from collections.abc import Iterable

from core.browser.channel import PageGone
from core.browser.page import Page
from core.debugger.breakpoints.watch import PageValue, Watch
from core.schema.errors import BrowserError

_MILLISECONDS = 1000
_LONGEST = 2000
_SHOWN = """(found => found === null ? null
  : found instanceof Element ? ("value" in found ? found.value : found.textContent.trim()) : found.textContent)"""


def expression_of(watch: Watch) -> str:
    """Return the script that a watch is read by."""
    text = json.dumps(watch.text)
    match watch.kind:
        case "css":
            return f"{_SHOWN}(document.querySelector({text}))"
        case "xpath":
            kind = "XPathResult.FIRST_ORDERED_NODE_TYPE"
            return f"{_SHOWN}(document.evaluate({text}, document, null, {kind}, null).singleNodeValue)"
    return watch.text


async def read_page_watches(page: Page, watches: Iterable[Watch]) -> dict[int, PageValue]:
    """Return what the watches of the page come to in its main frame, by their numbers.

    A script that would change something is stopped by the browser before it
    does, and its watch says so. Raises nothing.
    """
    return {one.number: await _read(page, one) for one in watches if one.kind != "expression"}


async def _read(page: Page, watch: Watch) -> PageValue:
    try:
        result = await page.send(
            "Runtime.evaluate",
            {
                "expression": expression_of(watch),
                # What reads by a selector changes nothing, though the browser is not sure of XPath's.
                "throwOnSideEffect": watch.kind == "script",
                "returnByValue": True,
                "timeout": _MILLISECONDS,
            },
        )
    except (PageGone, BrowserError) as error:
        return PageValue(error=str(error) or "The page went away.")
    if "exceptionDetails" in result:
        details = result["exceptionDetails"]
        said = str(details.get("exception", {}).get("description") or details.get("text", "")).split("\n")[0]
        if "Possible side-effect" in said:
            return PageValue(error="It would change the page, which a watch must not.")
        return PageValue(error=f"It fails in the page: {said}")
    found = result["result"]
    value = found.get("value", found.get("unserializableValue"))
    if value is None:
        if watch.kind != "script":
            return PageValue(error="Nothing in the page fits.")
        return PageValue(text="null" if found.get("subtype") == "null" else "undefined")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return PageValue(text=text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")
