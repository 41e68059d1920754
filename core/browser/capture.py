"""Reading a page: one walk per document, merged into one observation, and its picture."""

import asyncio
import time
from collections.abc import Awaitable
from typing import Any

from pydantic import TypeAdapter

from core.browser.host import BrowserHost
from core.browser.page import FrameLink, Page, PageGone
from core.errors import BrowserError
from core.model import Record
from core.observation import Box, Capture, Element, Frame, Observation, Tab

LIMIT = 30_000
"""Elements read of one page at the most; the rest is counted as omitted."""


class _FrameBox(Record):
    ref: int
    x: float
    y: float
    visible: bool


class _Walk(Record):
    """What the walker returns of one document."""

    url: str
    title: str
    elements: tuple[Element, ...]
    frames: tuple[_FrameBox, ...]
    omitted: int
    next: int
    viewport: tuple[int, int]
    scroll: tuple[int, int]
    page_size: tuple[int, int]
    document: str
    html: str


_WALK = TypeAdapter(_Walk)


class Capturer:
    """Takes captures of a page; what `hidden` selects is read by nobody."""

    def __init__(self, host: BrowserHost, *, hidden: tuple[str, ...] = (), pictures: bool = True) -> None:
        self._host = host
        self.hidden = hidden
        self.pictures = pictures
        self._pending: tuple[Capture, Awaitable[bytes]] | None = None

    async def capture(self, page: Page, tabs: tuple[Tab, ...] = ()) -> Capture:
        """Read the page as it is now; raises BrowserError when it cannot be read.

        The picture is taken at the same moment, and given by `with_picture`.

        A document that goes away meanwhile is read again, three times at most.
        """
        for _ in range(3):
            started = time.perf_counter()
            try:
                (observation, html), picture = await asyncio.gather(
                    self._read(page, tabs), self._picture(page)
                )
            except PageGone as gone:
                if page.crashed:
                    raise BrowserError("The page crashed and cannot be read; open the task anew.") from gone
                if page.playwright_page.is_closed():
                    raise BrowserError("The browser or its tab has ended; open the task anew.") from gone
                continue
            took = (time.perf_counter() - started) * 1000
            capture = Capture(observation=observation, html=html, milliseconds=took)
            self._pending = (capture, picture)
            return capture
        raise BrowserError("The page kept navigating and could not be read; step again when it rests.")

    async def with_picture(self, capture: Capture) -> Capture:
        """Return the capture with its picture, which may still be encoded when the page has been read."""
        if self._pending is None or self._pending[0].observation is not capture.observation:
            return capture
        picture = await self._pending[1]
        self._pending = None
        return capture.model_copy(update={"screenshot": picture})

    async def _read(self, page: Page, tabs: tuple[Tab, ...]) -> tuple[Observation, str]:
        links = await page.find_frames()
        main = await self._walk(page, links[0])
        elements = list(main.elements)
        html = [main.html]
        frames = [Frame(id=links[0].id, url=main.url)]
        if len(links) > 1:
            await self._read_frames(page, links, main, elements, frames, html)
        return (
            Observation(
                url=main.url,
                title=main.title,
                elements=tuple(elements),
                frames=tuple(frames),
                tabs=tuple(
                    tab.model_copy(update={"title": main.title, "url": main.url}) if tab.current else tab
                    for tab in tabs
                ),
                viewport=main.viewport,
                scroll=main.scroll,
                page_size=main.page_size,
                omitted=main.omitted,
                document=main.document,
            ),
            "\n".join(html),
        )

    async def _walk(self, page: Page, link: FrameLink, limit: int = LIMIT) -> _Walk:
        await page.mark_listeners(link)
        options: dict[str, Any] = {"next": page.next_ref, "limit": limit, "hidden": self.hidden, "html": True}
        text = await page.walker("walk", options, frame=link)
        walk = _WALK.validate_json(text)
        page.next_ref = max(page.next_ref, walk.next)
        return walk

    async def _read_frames(
        self,
        page: Page,
        links: list[FrameLink],
        main: _Walk,
        elements: list[Element],
        frames: list[Frame],
        html: list[str],
    ) -> None:
        """Read the inner documents and put their elements after the element that holds them."""
        places: dict[str, tuple[float, float]] = {links[0].id: (0.0, 0.0)}
        boxes: dict[int, _FrameBox] = {box.ref: box for box in main.frames}
        for link in links[1:]:
            owner = await page.frame_owner(link)
            box = boxes.get(owner) if owner is not None else None
            if owner is None or box is None or link.parent is None or link.parent.id not in places:
                continue
            try:
                walk = await self._walk(page, link, max(LIMIT - len(elements), 0))
            except PageGone:
                continue
            left, top = places[link.parent.id]
            left, top = left + box.x, top + box.y
            places[link.id] = (left, top)
            boxes.update({inner.ref: inner for inner in walk.frames})
            number = len(frames)
            frames.append(Frame(id=link.id, url=walk.url, name=link.name))
            html.append(walk.html)
            at = next((i for i, element in enumerate(elements) if element.ref == owner), len(elements) - 1)
            holder = elements[at]
            moved = [self._move(element, holder, number, left, top, box.visible) for element in walk.elements]
            elements[at + 1 : at + 1] = moved
            page.frame_of_ref.update({element.ref: link.id for element in walk.elements})

    @staticmethod
    def _move(
        element: Element, holder: Element, frame: int, left: float, top: float, visible: bool
    ) -> Element:
        box = element.box
        return element.model_copy(
            update={
                "frame": frame,
                "depth": element.depth + holder.depth + 1,
                "parent": element.parent if element.parent is not None else holder.ref,
                "box": Box(x=box.x + left, y=box.y + top, width=box.width, height=box.height),
                "in_viewport": element.in_viewport and visible,
            }
        )

    async def _picture(self, page: Page) -> Awaitable[bytes]:
        if not self.pictures:
            return _ready(b"")
        picture = await self._host.picture(page.tab)
        if picture is not None:
            return picture
        try:
            async with asyncio.timeout(5):
                return _ready(await page.screenshot())
        except (BrowserError, TimeoutError):
            return _ready(b"")


def _ready(data: bytes) -> Awaitable[bytes]:
    future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    future.set_result(data)
    return future
