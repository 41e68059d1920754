"""The documents inside a tab: who reaches them, and which element of which document holds each."""

import asyncio
from typing import Any

from playwright.async_api import Error, Frame

from core.browser.channel import Channel, FrameLink, PageGone
from core.browser.page_protocol import PageProtocol


class Frames:
    """Finds the documents of a tab, those that live in other processes too."""

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
                    async with asyncio.timeout(5):
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
        world = await page.world(parent)
        node = await page.send(
            "DOM.resolveNode",
            {
                "backendNodeId": owner["backendNodeId"],
                "executionContextId": world,
                "objectGroup": "backstep",
            },
            session=parent.session,
        )
        return int(await page.call_on(node["object"]["objectId"], "refOf", parent))
