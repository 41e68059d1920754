"""Reads a page: one walk per document, merged into one observation, and a picture.

Reading takes long, but checking whether a page has changed since it was last read is quick. Each document
observes changes in its tree and compares state that is not in the tree (changes.js). The protocol counts
style and layout passes and event listeners. A document that cannot be checked, or that is moving, counts as
changed.
"""

import asyncio
import io
import re
import time
from dataclasses import dataclass, field
from typing import Any

from PIL import Image
from pydantic import TypeAdapter, ValidationError

from core.browser.channel import Channel, FrameLink, PageGone, let_go
from core.browser.frames import mark_listeners
from core.browser.page import Page
from core.schema.errors import ActionError, BrowserError
from core.schema.hiding import Secrets
from core.schema.observation import Box, Capture, Element, Observation, PageFrame, Tab
from core.schema.record import Record
from core.system.patience import within

READER = 6
"""The version of the page reader, stored with each page: raise it when the walker reads a page differently."""
_PATIENCE = 2.0


@dataclass(frozen=True)
class Rendered:
    """How much the renderer of some documents has done so far."""

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
class ReadState:
    """The state of a page when it was read, to check later whether it has changed."""

    page: Page
    navigations: int
    documents: list[SeenDocument] = field(default_factory=list)
    rendered: dict[Channel, Rendered] = field(default_factory=dict)
    sure: bool = True
    """Whether every document could be read."""


async def rendered(page: Page, links: list[FrameLink]) -> dict[Channel, Rendered]:
    """Return what was rendered so far in each channel of these documents; raises PageGone, BrowserError."""
    channels = list({link.session: None for link in links})
    answers = await asyncio.gather(
        *(page.send("Performance.getMetrics", {}, session=channel) for channel in channels)
    )
    return {channel: _rendered(answer) for channel, answer in zip(channels, answers, strict=True)}


def _rendered(answer: dict[str, Any]) -> Rendered:
    numbers = {one["name"]: int(one["value"]) for one in answer["metrics"]}
    return Rendered(numbers["LayoutCount"], numbers["RecalcStyleCount"], numbers["JSEventListeners"])


async def unchanged(page: Page, seen: ReadState) -> bool:
    """Return whether nothing has changed since `seen`; a document that cannot be checked counts as changed."""
    if not seen.sure or page is not seen.page or page.crashed or page.loading.navigations != seen.navigations:
        return False
    if not page.loading.loaded.is_set() or page.loading.requested:
        return False
    if any(
        document.link.session.worlds.get(document.link.id) != document.world for document in seen.documents
    ):
        return False
    try:
        if not all(
            await asyncio.gather(*(_document_unchanged(page, document) for document in seen.documents))
        ):
            return False
        # Only now: what was pending has been made by asking the documents.
        now = await rendered(page, [document.link for document in seen.documents])
    except (PageGone, BrowserError, ActionError, KeyError):
        return False
    return all(not made.since(seen.rendered[channel]) for channel, made in now.items())


async def _document_unchanged(page: Page, one: SeenDocument) -> bool:
    asked = {
        "expression": f"__backstep.unchanged({one.reading})",
        "contextId": one.world,
        "returnByValue": True,
    }
    answer = await page.send("Runtime.evaluate", asked, session=one.link.session, patience=_PATIENCE)
    return answer["result"].get("value") is True


LIMIT = 30_000
"""Elements read of one page at most; the rest is counted as omitted."""


class _FrameBox(Record):
    ref: int
    x: float
    y: float
    visible: bool


class _Walk(Record):
    """What the walker returns for one document: the differences from the reading that is already known."""

    url: str
    title: str
    elements: tuple[Element, ...]
    order: tuple[int, ...] | None = None
    """The refs of all elements, or None if they are the known ones."""
    frames: tuple[_FrameBox, ...]
    omitted: int
    viewport: tuple[int, int]
    scroll: tuple[int, int]
    document: str
    reading: int
    """Numbers the readings of the document, see `changes`."""
    html: str
    html_kept: tuple[int, int]
    """How much of the known HTML stands before and after `html`, in UTF-16 units."""


@dataclass(frozen=True)
class _Known:
    """One document as it was last read."""

    reading: int = 0
    order: tuple[int, ...] = ()
    elements: dict[int, Element] = field(default_factory=dict)
    html: str = ""


_NOTHING = _Known()
_HALF = re.compile(r"(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}")
_WALK = TypeAdapter(_Walk)


class Capturer:
    """Captures a page. Elements that `hidden` selects are not read."""

    def __init__(self, *, hidden: tuple[str, ...] = (), pictures: bool = True) -> None:
        self.hidden = hidden
        self.pictures = pictures
        self.secrets = Secrets()
        """What is read by its name."""
        self.took = 0.0
        """Milliseconds that the last reading took."""
        self._pending: tuple[Capture, asyncio.Future[bytes]] | None = None
        self._seen: tuple[Observation, ReadState] | None = None
        self._known: dict[tuple[Channel, int], _Known] = {}

    async def capture(self, page: Page, tabs: tuple[Tab, ...] = ()) -> Capture:
        """Read the page as it is now; raises BrowserError if it cannot be read.

        The picture is taken after the page was read, and `with_picture` returns it: await that before doing
        anything in the page. The picture shows the page as it was read if `unchanged` is true afterwards. A
        document that goes away meanwhile is read again, at most three times.
        """
        for _ in range(3):
            started = time.perf_counter()
            self._forget_picture()
            try:
                observation, html = await self._read(page, tabs)
            except PageGone as gone:
                if page.crashed:
                    raise BrowserError(
                        "The page crashed and cannot be read; step again, or go back to a step."
                    ) from gone
                if page.playwright_page.is_closed():
                    raise BrowserError(
                        "The browser or its tab has ended; go back to a step, or open the task again."
                    ) from gone
                continue
            self.took = (time.perf_counter() - started) * 1000
            capture = Capture(observation=observation, html=html, milliseconds=self.took)
            if self.pictures:
                self._pending = (capture, asyncio.ensure_future(picture_of(page, observation.viewport[0])))
            return capture
        raise BrowserError("The page kept navigating and could not be read; step again when it has finished.")

    async def with_picture(self, capture: Capture) -> Capture:
        """Return the capture with its picture, which may still be on its way when the page has been read."""
        if self._pending is None or self._pending[0].observation is not capture.observation:
            return capture
        picture = await asyncio.shield(self._pending[1])
        self._pending = None
        return capture.replace(screenshot=picture)

    async def marked_html(self, page: Page) -> str:
        """Return the HTML of the page and its frames, in which each element with a ref carries it as ``data-ref``.

        Raises PageGone or BrowserError.
        """
        hidden = ",".join(self.hidden)
        frames = await page.frames.find()
        html = [await page.walker("markedHtml", hidden, frame=frame) for frame in frames]
        return self.secrets.text("\n".join(html))

    async def unchanged(self, page: Page, capture: Capture) -> bool:
        """Return whether the page is still as in `capture`; in doubt it is not. Tabs are not compared."""
        if self._seen is None or self._seen[0] is not capture.observation:
            return False
        return await unchanged(page, self._seen[1])

    async def _read(self, page: Page, tabs: tuple[Tab, ...]) -> tuple[Observation, str]:
        self._seen = None
        links = await page.frames.find()
        seen = ReadState(page, page.loading.navigations)
        # What is counted while the page is being read counts as a change since.
        seen.rendered, main = await asyncio.gather(rendered(page, links), self._walk(page, links[0], seen))
        elements = list(main.elements)
        html = [main.html]
        frames = [PageFrame(id=links[0].id, url=main.url)]
        omitted = main.omitted
        if len(links) > 1:
            omitted += await self._read_frames(page, links, main, seen, elements, frames, html)
        observation = Observation(
            url=main.url,
            title=main.title,
            elements=tuple(elements),
            frames=tuple(frames),
            tabs=titled(tabs, main.title, main.url),
            viewport=main.viewport,
            scroll=main.scroll,
            omitted=omitted,
            document=main.document,
            reader=READER,
        )
        whole = "\n".join(html)
        if self.secrets:
            data = observation.model_dump_json().encode()
            if (hidden := self.secrets.data(data)) is not data:
                observation = Observation.model_validate_json(hidden)
            whole = self.secrets.text(whole)
        self._seen = (observation, seen)
        used = {(one.link.session, one.world) for one in seen.documents}
        self._known = {document: known for document, known in self._known.items() if document in used}
        return observation, whole

    async def _walk(self, page: Page, link: FrameLink, seen: ReadState, limit: int = LIMIT) -> _Walk:
        """Read one document, and once more where its listeners have turned out to be others than the walker knew."""
        world = await page.world(link)
        walk: _Walk | None = None
        news = True
        if (link.session, world) in self._known:
            news, walk = await asyncio.gather(
                mark_listeners(page, link), self._walk_once(page, link, world, limit)
            )
        else:
            await mark_listeners(page, link)
        if walk is None or news:
            walk = await self._walk_once(page, link, world, limit)
        seen.documents.append(SeenDocument(link, world, walk.reading))
        return walk

    async def _walk_once(self, page: Page, link: FrameLink, world: int, limit: int) -> _Walk:
        known = self._known.get((link.session, world), _NOTHING)
        options: dict[str, Any] = {
            "limit": limit,
            "hidden": self.hidden,
            "known": known.reading,
        }
        walk = _parsed(await page.walker("walk", options, frame=link))
        if await page.world(link) != world:
            raise PageGone("the document was replaced while it was being read")
        elements = known.elements | {element.ref: element for element in walk.elements}
        order = known.order if walk.order is None else walk.order
        read = _Known(walk.reading, order, {ref: elements[ref] for ref in order}, _joined(known.html, walk))
        self._known[link.session, world] = read
        return walk.replace(elements=tuple(read.elements.values()), html=read.html)

    async def _read_frames(
        self,
        page: Page,
        links: list[FrameLink],
        main: _Walk,
        seen: ReadState,
        elements: list[Element],
        frames: list[PageFrame],
        html: list[str],
    ) -> int:
        """Read the inner documents, insert their elements after their frame elements, and return the number omitted."""
        omitted = 0
        places: dict[str, tuple[float, float]] = {links[0].id: (0.0, 0.0)}
        boxes: dict[int, _FrameBox] = {box.ref: box for box in main.frames}
        for link in links[1:]:
            owner = await page.frames.owner(link)
            box = boxes.get(owner) if owner is not None else None
            if owner is None or box is None or link.parent is None or link.parent.id not in places:
                continue
            try:
                walk = await self._walk(page, link, seen, max(LIMIT - len(elements), 0))
            except PageGone:
                seen.sure = False
                continue
            omitted += walk.omitted
            left, top = places[link.parent.id]
            left, top = left + box.x, top + box.y
            places[link.id] = (left, top)
            boxes.update({inner.ref: inner for inner in walk.frames})
            number = len(frames)
            frames.append(PageFrame(id=link.id, url=walk.url, name=link.name))
            html.append(walk.html)
            at = next((i for i, element in enumerate(elements) if element.ref == owner), len(elements) - 1)
            holder = elements[at]
            moved = [self._move(element, holder, number, left, top, box.visible) for element in walk.elements]
            elements[at + 1 : at + 1] = moved
            page.frame_of_ref.update({element.ref: link.id for element in walk.elements})
        return omitted

    @staticmethod
    def _move(
        element: Element, holder: Element, frame: int, left: float, top: float, visible: bool
    ) -> Element:
        box = element.box
        return element.replace(
            frame=frame,
            depth=element.depth + holder.depth + 1,
            parent=element.parent if element.parent is not None else holder.ref,
            box=Box(x=box.x + left, y=box.y + top, width=box.width, height=box.height),
            in_viewport=element.in_viewport and visible,
        )

    def _forget_picture(self) -> None:
        if self._pending is not None:
            let_go(self._pending[1])
            self._pending = None


def _parsed(text: str) -> _Walk:
    try:
        return _WALK.validate_json(text)
    except ValidationError:
        # Pages may hold halves of surrogate pairs, which are not text outside of them.
        return _WALK.validate_json(_HALF.sub(r"\1\\ufffd", text))


def _joined(known: str, walk: _Walk) -> str:
    """Return the whole HTML from what is known of it and what is new."""
    begins, ends = walk.html_kept
    if known.isascii():
        return known[:begins] + walk.html + known[len(known) - ends :]
    units = known.encode("utf-16-le", "surrogatepass")
    new = walk.html.encode("utf-16-le", "surrogatepass")
    return (units[: begins * 2] + new + units[len(units) - ends * 2 :]).decode("utf-16-le", "surrogatepass")


def titled(tabs: tuple[Tab, ...], title: str, url: str) -> tuple[Tab, ...]:
    """Return the tabs, with the data that the walker read of the current one."""
    return tuple(tab.replace(title=title, url=url) if tab.current else tab for tab in tabs)


async def picture_of(page: Page, width: int) -> bytes:
    """Return a picture of the viewport, one pixel to a CSS pixel, or nothing if none can be had."""
    try:
        async with within(5):
            picture = await page.screenshot()
            with Image.open(io.BytesIO(picture)) as image:
                if not width or image.width == width:
                    return picture
                return await asyncio.to_thread(_scaled, image, width)
    except (PageGone, BrowserError, TimeoutError, OSError):
        return b""


def _scaled(image: Image.Image, width: int) -> bytes:
    """Return a JPEG of this width: screens of many pixels and zoomed pages have more, or fewer, than CSS pixels."""
    height = max(1, round(image.height * width / image.width))
    data = io.BytesIO()
    image.resize((width, height)).save(data, "jpeg", quality=60)
    return data.getvalue()
