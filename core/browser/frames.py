"""The documents inside a tab: their channels, their frame elements, and the mouse listeners in them."""

import asyncio
import logging
from typing import Any

from playwright.async_api import Error, Frame

from core.browser.channel import Channel, FrameLink, Known, PageGone
from core.browser.page_protocol import PageProtocol
from core.schema.errors import BrowserError
from core.system.patience import within


class Frames:
    """Finds the documents of a tab, including those in other processes."""

    def __init__(self, page: PageProtocol) -> None:
        self._page = page
        self._own: dict[Frame, Channel] = {}
        self._owners: dict[str, int] = {}

    async def find(self) -> list[FrameLink]:
        """Return the documents, each after the one that holds it; raises PageGone."""
        page = self._page
        main = page.main_frame()
        inner = page.playwright_page.frames[1:]
        if not inner:
            return [main]
        tree = (await page.send("Page.getFrameTree", {}))["frameTree"]
        found: dict[str, FrameLink] = {main.id: main}
        self._add(found, tree, page.channel, main)
        if len(found) <= len(inner):
            await self._add_foreign(found, inner)
        self._owners = {frame: ref for frame, ref in self._owners.items() if frame in found}
        return list(found.values())

    @staticmethod
    def _add(found: dict[str, FrameLink], tree: dict[str, Any], channel: Channel, link: FrameLink) -> None:
        for child in tree.get("childFrames", ()):
            frame = child["frame"]
            inner = FrameLink(frame["id"], channel, frame["url"], frame.get("name", ""), link)
            found[inner.id] = inner
            Frames._add(found, child, channel, inner)

    async def _add_foreign(self, found: dict[str, FrameLink], frames: list[Frame]) -> None:
        self._own = {frame: channel for frame, channel in self._own.items() if frame in frames}
        trees = await asyncio.gather(*(self._foreign_tree(frame) for frame in frames))
        waiting = [tree for tree in trees if tree is not None]
        while waiting:
            ready = [one for one in waiting if one[1]["frame"].get("parentId") in found]
            if not ready:
                return
            for channel, tree in ready:
                frame = tree["frame"]
                parent = found[frame["parentId"]]
                link = FrameLink(frame["id"], channel, frame["url"], frame.get("name", ""), parent)
                found[link.id] = link
                self._add(found, tree, channel, link)
            waiting = [one for one in waiting if one not in ready]

    async def _foreign_tree(self, frame: Frame) -> tuple[Channel, dict[str, Any]] | None:
        """Return the channel and tree of a frame that lives in a process of its own, or None."""
        page = self._page
        for _ in range(2):
            channel = self._own.get(frame)
            try:
                if channel is None:
                    async with within(5):
                        session = await page.playwright_page.context.new_cdp_session(frame)
                    channel = Channel(session)
                    await page.prepare(channel)
                    await page.send("Network.enable", {}, session=channel)
                    self._own[frame] = channel
                return channel, (await page.send("Page.getFrameTree", {}, session=channel))["frameTree"]
            except (PageGone, TimeoutError):
                self._own.pop(frame, None)  # It moved to another process: its session there is another.
            except Error:
                return None  # It shares its parent's process and session.
        return None

    async def owner(self, link: FrameLink) -> int | None:
        """Return the ref of the element that holds a frame, in its parent document, or None."""
        if link.parent is None:
            return None
        if link.id not in self._owners:
            try:
                self._owners[link.id] = await self._find_owner(link, link.parent)
            except (PageGone, KeyError):
                return None
        return self._owners[link.id]

    async def _find_owner(self, link: FrameLink, parent: FrameLink) -> int:
        page = self._page
        owner = await page.send("DOM.getFrameOwner", {"frameId": link.id}, session=parent.session)
        return int(await page.call_on(await page.resolved(owner["backendNodeId"], parent), "refOf", parent))


log = logging.getLogger(__name__)

_LISTENED = frozenset(
    (
        *("click", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup"),
        *("touchstart", "dragstart", "mouseenter", "mouseover"),
        *("pointerenter", "pointerover"),
    )
)
_NEW_LISTENERS = 500
_ROOTS_READ_AGAIN = 60
_HELD = "backstep documents"
_PASSING = "backstep"
_HOSTS = "backstep hosts"
_PATIENCE = 20.0


async def mark_listeners(page: PageProtocol, link: FrameLink) -> bool:
    """Pass mouse listeners and closed shadow roots to the walker, which cannot find them itself.

    Returns whether any of them were new. Listeners inside the first 60 shadow roots are read each time, those
    of later ones once. Raises PageGone.
    """
    channel = link.session
    world = await page.world(link)
    known = channel.listening.setdefault(world, Known())
    try:
        handles = [await _document(page, link, known), *known.roots[:_ROOTS_READ_AGAIN]]
        hosts, told = await asyncio.gather(_hosts(page, link), _mark_inside(page, link, known, handles))
        opened = await _look_into(page, link, known, hosts)
    except BrowserError as error:
        # Without it the page is still read; elements that only listen are then missed.
        log.info("Event listeners could not be read: %s", error)
        return True
    return told or opened


async def _document(page: PageProtocol, link: FrameLink, known: Known) -> str:
    if not known.document:
        # From the page's own world: asked from ours, Chromium 140 tells of our listeners only.
        where: dict[str, Any] = {"expression": "document", "objectGroup": _HELD}
        if (page_world := link.session.page_worlds.get(link.id)) is not None:
            where["contextId"] = page_world
        handle = await page.send("Runtime.evaluate", where, session=link.session)
        known.document = handle["result"]["objectId"]
    return known.document


async def _mark_inside(page: PageProtocol, link: FrameLink, known: Known, handles: list[str]) -> bool:
    answers = await asyncio.gather(
        *(
            page.send(
                "DOMDebugger.getEventListeners",
                # Not with "pierce": Chromium 156 then crashes the renderer, two times of three.
                {"objectId": handle, "depth": -1, "pierce": False},
                session=link.session,
                patience=_PATIENCE,
            )
            for handle in handles
        )
    )
    types: dict[int, set[str]] = {}
    for answer in answers:
        for entry in answer["listeners"]:
            if entry["type"] in _LISTENED and "backendNodeId" in entry:
                types.setdefault(entry["backendNodeId"], set()).add(entry["type"])
    fresh = [node for node in types if known.types.get(node) != frozenset(types[node])][:_NEW_LISTENERS]
    if fresh:
        await _tell(page, link, fresh, types)
        known.types.update({node: frozenset(types[node]) for node in fresh})
    return bool(fresh)


async def _tell(page: PageProtocol, link: FrameLink, nodes: list[int], types: dict[int, set[str]]) -> None:
    world = await page.world(link)
    resolved = await _resolve(page, link.session, nodes, world, _PASSING)
    listeners = [
        (handle, sorted(types[node])) for node, handle in zip(nodes, resolved, strict=True) if handle
    ]
    if listeners:
        await page.send(
            "Runtime.callFunctionOn",
            {
                "executionContextId": world,
                "functionDeclaration": "function (...listeners) { __backstep.listen(...listeners) }",
                "arguments": [
                    {"value": [words for _, words in listeners]},
                    *({"objectId": handle} for handle, _ in listeners),
                ],
            },
            session=link.session,
        )
    await page.send("Runtime.releaseObjectGroup", {"objectGroup": _PASSING}, session=link.session)


async def _resolve(
    page: PageProtocol, channel: Channel, nodes: list[int], world: int, group: str
) -> list[str | None]:
    answers = await asyncio.gather(
        *(
            page.send(
                "DOM.resolveNode",
                {"backendNodeId": node, "executionContextId": world, "objectGroup": group},
                session=channel,
            )
            for node in nodes
        ),
        return_exceptions=True,
    )
    return [answer["object"].get("objectId") if isinstance(answer, dict) else None for answer in answers]


# Shadow roots


async def _look_into(page: PageProtocol, link: FrameLink, known: Known, hosts: list[str]) -> bool:
    """Look into hosts not looked into yet, and return whether one has a root.

    What a closed root holds may be hosts again, a few times over.
    """
    found = False
    for _ in range(4):
        if not hosts:
            break
        described = await asyncio.gather(
            *(page.send("DOM.describeNode", {"objectId": host}, session=link.session) for host in hosts),
            return_exceptions=True,
        )
        roots, closed = await _open(page, link, hosts, described, known)
        found = found or roots
        await page.send("Runtime.releaseObjectGroup", {"objectGroup": _HOSTS}, session=link.session)
        if not closed:
            break
        hosts = await _hosts(page, link)
    return found


async def _hosts(page: PageProtocol, link: FrameLink) -> list[str]:
    world = await page.world(link)
    answer = await page.send(
        "Runtime.evaluate",
        {"expression": "__backstep.hosts()", "contextId": world, "objectGroup": _HOSTS},
        session=link.session,
        patience=_PATIENCE,
    )
    array = answer["result"].get("objectId")
    if array is None:
        return []
    listed = await page.send(
        "Runtime.getProperties", {"objectId": array, "ownProperties": True}, session=link.session
    )
    return [one["value"]["objectId"] for one in listed["result"] if one["name"].isdigit()]


async def _open(
    page: PageProtocol, link: FrameLink, hosts: list[str], described: list[Any], known: Known
) -> tuple[bool, bool]:
    """Hand closed roots to the walker; returns whether there are roots, and whether closed ones."""
    roots: list[int] = []
    closed: list[tuple[str, int]] = []
    for host, answer in zip(hosts, described, strict=True):
        if isinstance(answer, PageGone):
            raise answer
        if not isinstance(answer, dict):
            continue
        for root in answer["node"].get("shadowRoots", ()):
            if root["shadowRootType"] == "user-agent":
                continue
            roots.append(root["backendNodeId"])
            if root["shadowRootType"] == "closed":
                closed.append((host, root["backendNodeId"]))
    if (page_world := link.session.page_worlds.get(link.id)) is not None:
        held = [handle for handle in await _resolve(page, link.session, roots, page_world, _HELD) if handle]
        known.roots.extend(held)
        await _mark_inside(page, link, known, held)
    world = await page.world(link)
    opened = await _resolve(page, link.session, [root for _, root in closed], world, _HOSTS)
    for (host, _), root in zip(closed, opened, strict=True):
        if root is not None:
            await page.call_on(host, "openRoot", link, {"objectId": root})
    return bool(roots), bool(closed)
