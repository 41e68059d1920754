"""Whether a page is still as it was last read: asked in a moment, where reading it anew takes long.

Each document hears of changes in its tree and compares what leaves no trace
there (changes.js); the protocol counts how often style and layout were made,
and event listeners. What cannot be asked, or is moving, counts as changed.
"""

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from core.browser.channel import Channel, FrameLink, PageGone
from core.schema.errors import ActionError, BrowserError

if TYPE_CHECKING:
    from core.browser.page import Page

_PATIENCE = 2.0


@dataclass(frozen=True)
class Rendered:
    """What the renderer of some documents has done so far."""

    layouts: int
    styles: int
    listeners: int
    """Event listeners alive; fewer only tells that waste was collected."""

    def since(self, before: "Rendered") -> bool:
        """Return whether anything was done since `before`."""
        same = (self.layouts, self.styles) == (before.layouts, before.styles)
        return not same or self.listeners > before.listeners


@dataclass(frozen=True)
class SeenDocument:
    """One document of a page, as one reading saw it."""

    link: FrameLink
    world: int
    reading: int


@dataclass
class Seen:
    """What a reading saw of a page, to tell later whether the page is still that."""

    page: "Page"
    navigations: int
    documents: list[SeenDocument] = field(default_factory=list)
    rendered: dict[Channel, Rendered] = field(default_factory=dict)
    sure: bool = True
    """Whether every document could be read."""


async def rendered(page: "Page", links: list[FrameLink]) -> dict[Channel, Rendered]:
    """Return what was rendered so far in each channel of these documents; raises PageGone, BrowserError."""
    channels = list({link.session: None for link in links})
    answers = await asyncio.gather(
        *(page.send("Performance.getMetrics", {}, session=channel) for channel in channels)
    )
    return {channel: _rendered(answer) for channel, answer in zip(channels, answers, strict=True)}


def _rendered(answer: dict[str, Any]) -> Rendered:
    numbers = {one["name"]: int(one["value"]) for one in answer["metrics"]}
    return Rendered(numbers["LayoutCount"], numbers["RecalcStyleCount"], numbers["JSEventListeners"])


async def unchanged(page: "Page", seen: Seen) -> bool:
    """Return whether nothing has changed since `seen`; what cannot be asked has."""
    if not seen.sure or page is not seen.page or page.crashed or page.navigations != seen.navigations:
        return False
    if not page.loading.loaded.is_set() or page.loading.requested:
        return False
    if any(one.link.session.worlds.get(one.link.id) != one.world for one in seen.documents):
        return False
    try:
        if not all(await asyncio.gather(*(_document_unchanged(page, one) for one in seen.documents))):
            return False
        # Only now: what was pending has been made by asking the documents.
        now = await rendered(page, [one.link for one in seen.documents])
    except (PageGone, BrowserError, ActionError, KeyError):
        return False
    return all(not made.since(seen.rendered[channel]) for channel, made in now.items())


async def _document_unchanged(page: "Page", one: SeenDocument) -> bool:
    asked = {
        "expression": f"__backstepChanges.unchanged({one.reading})",
        "contextId": one.world,
        "returnByValue": True,
    }
    answer = await page.send("Runtime.evaluate", asked, session=one.link.session, patience=_PATIENCE)
    return answer["result"].get("value") is True
