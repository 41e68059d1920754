"""Scrolls the agent's page for a person, and scrolls it back before anything else is done in it."""

import contextlib
from collections.abc import Iterable

from core.browser.channel import FrameLink, PageGone
from core.browser.page import Page
from core.schema.errors import ActionError, BrowserError
from core.schema.observation import Box, Ref


class Peek:
    """Scrolls a page for a person, and restores the scroll position that the agent has read."""

    def __init__(self) -> None:
        self._page: Page | None = None
        """The page that is scrolled elsewhere."""

    @property
    def active(self) -> bool:
        return self._page is not None

    async def reveal(self, page: Page, ref: Ref) -> None:
        """Scroll an element into the middle of the window; raises PageGone, ActionError and BrowserError."""
        self._page = page
        links = {link.id: link for link in await page.frames.find()}
        link = links.get(page.frame_of_ref.get(ref, ""))
        holders: list[tuple[FrameLink | None, Ref]] = [(link, ref)]
        while link is not None and link.parent is not None:
            owner = await page.frames.owner(link)
            if owner is None:
                break
            holders.append((link.parent, owner))
            link = link.parent
        for frame, holder in reversed(holders):
            await page.walker("peek", holder, frame=frame)

    async def scroll(self, page: Page, x: float, y: float, right: float, down: float) -> None:
        """Scroll what lies at a point of the window; raises PageGone, ActionError and BrowserError."""
        self._page = page
        await page.walker("peekBy", x, y, right, down)

    async def places(self, page: Page, refs: Iterable[Ref]) -> dict[Ref, tuple[Box, bool]]:
        """Return the present boxes of elements, and whether they are in view; missing elements are left out.

        Raises PageGone, ActionError and BrowserError.
        """
        found: dict[Ref, tuple[Box, bool]] = {}
        wanted = list(refs)
        corners: dict[str, tuple[float, float]] = {}
        for link in await page.frames.find():
            left, top = 0.0, 0.0
            if link.parent is not None:
                owner = await page.frames.owner(link)
                if owner is None or link.parent.id not in corners:
                    continue
                inside = await page.walker("framePlace", owner, frame=link.parent)
                left, top = (
                    a + b for a, b in zip(corners[link.parent.id], (inside["x"], inside["y"]), strict=True)
                )
            corners[link.id] = (left, top)
            own = [ref for ref in wanted if page.frame_of_ref.get(ref, page.main_frame().id) == link.id]
            for ref, box, seen in await page.walker("standing", own, frame=link):
                moved = Box.model_validate(box)
                found[ref] = (moved.replace(x=moved.x + left, y=moved.y + top), seen)
        return found

    async def put_back(self) -> None:
        """Scroll everything back to where the agent saw it; raises nothing."""
        page, self._page = self._page, None
        if page is None or page.crashed:
            return
        with contextlib.suppress(PageGone, ActionError, BrowserError):
            for link in await page.frames.find():
                await page.walker("putBack", frame=link)
