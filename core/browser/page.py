"""One tab, controlled over CDP: evaluation in our isolated world, frames, requests, navigations.

Acting and reading build on this. See `actor` for the actions and `settling` for the waits.
"""

import base64
from functools import cached_property
from typing import Any

from playwright.async_api import Error
from playwright.async_api import Page as PlaywrightPage

from core.browser.channel import Channel, PageGone
from core.browser.frames import Frames
from core.browser.page_protocol import PageKeeper, PageProtocol
from core.schema.errors import BrowserError
from core.schema.events import TabId
from core.system.patience import within

FRAME_TAGS = ("IFRAME", "FRAME", "OBJECT", "EMBED")


class Page(PageProtocol):
    """A tab of the browser; create it with `Page.attach`."""

    @cached_property
    def frames(self) -> Frames:
        return Frames(self)

    @classmethod
    async def attach(cls, tab: TabId, page: PlaywrightPage, keeper: PageKeeper) -> "Page":
        """Take hold of a tab: its session, our world in every document, its requests; raises BrowserError."""
        try:
            async with within(30):
                channel = Channel(await page.context.new_cdp_session(page))
                self = cls(tab, page, channel, keeper)
                page.on("crash", lambda _: self._on_crash())
                await self.prepare(channel)
                await self.send("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0})
                # A view without the keyboard of the desktop would be a page without focus.
                await self.send("Emulation.setFocusEmulationEnabled", {"enabled": True})
        except (Error, PageGone, TimeoutError) as error:
            raise BrowserError("A tab of the browser cannot be controlled.") from error
        self.attached = True
        return self

    async def element_at(self, x: float, y: float) -> dict[str, Any] | None:
        """Return ref, label and box of the element at a point of the viewport, or None for nothing."""
        found: dict[str, Any] | None = await self.walker("at", x, y)
        left, top = 0.0, 0.0
        for link in (await self.frames.find())[1:]:
            owner = await self.frames.owner(link)
            if found is None or owner is None or owner != found["ref"]:
                continue
            place = await self.walker("framePlace", owner, frame=link.parent)
            left, top = left + place["x"], top + place["y"]
            inner = await self.walker("at", x - left, y - top, frame=link)
            if inner is None:
                continue
            inner["box"]["x"] += left
            inner["box"]["y"] += top
            self.frame_of_ref[inner["ref"]] = link.id
            found = inner
        return dict(found) if found is not None else None

    async def element_of(self, node: int) -> dict[str, Any] | None:
        """Return ref, label and box of the element with this backend node id, or None if no frame has it."""
        for link in await self.frames.find():
            try:
                found = await self.call_on(await self.resolved(node, link), "spot", link)
            except BrowserError:
                continue  # It is in another document.
            if link.parent is not None:
                self.frame_of_ref[found["ref"]] = link.id
            return dict(found)
        return None

    async def focused_element(self) -> dict[str, Any] | None:
        """Return ref and label of the element that has the keyboard focus, or None."""
        for link in await self.frames.find():
            ref = await self.walker("focused", frame=link)
            if ref is None or await self.walker("tagOf", ref, frame=link) in FRAME_TAGS:
                continue
            if link.parent is not None:
                self.frame_of_ref[ref] = link.id
            return {"ref": ref, "label": await self.walker("labelOf", ref, frame=link)}
        return None

    async def html(self) -> str:
        return str(await self.evaluate("document.documentElement ? document.documentElement.outerHTML : ''"))

    async def screenshot(self) -> bytes:
        """Return a JPEG of the viewport in pixels of the screen; the page is painted as it is now before that."""
        # Chromium takes three times as long for WebP, and as much of a processor.
        picture = {"format": "jpeg", "quality": 60, "optimizeForSpeed": True}
        answer = await self.send("Page.captureScreenshot", picture)
        return base64.b64decode(answer["data"])
