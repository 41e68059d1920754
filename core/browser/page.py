"""One tab, driven over CDP: evaluation in our isolated world, its frames, its requests, its navigations.

Acting and reading build on this; what an action means is told in `act`, and
how a wait ends in `settle`.
"""

import asyncio
import base64
import json
import logging
from collections.abc import Callable
from typing import Any

from playwright.async_api import CDPSession, Error, Frame
from playwright.async_api import Page as PlaywrightPage

from core.browser.host import BrowserEvent, TabId
from core.browser.scripts import WORLD, script
from core.errors import ActionError, BrowserError

log = logging.getLogger(__name__)

HANG_SECONDS = 10.0
"""After this long without an answer a page's script is taken to loop, and is ended."""
_LISTENED = frozenset(
    "click mousedown mouseup pointerdown pointerup touchstart dblclick dragstart mouseenter mouseover".split()
)
_NEW_LISTENERS = 500


class PageGone(Exception):
    """The document went away while it was being asked: it navigates, or crashed."""


class Requests:
    """The requests of a tab: which were begun since a moment, and are still open."""

    WAITED_FOR = frozenset({"Document", "XHR", "Fetch", "Script", "Stylesheet"})

    def __init__(self) -> None:
        self.open: dict[str, int] = {}
        self.begun = 0
        self.changed = asyncio.Event()

    def begin(self, event: dict[str, Any]) -> None:
        if event.get("type") in self.WAITED_FOR:
            self.begun += 1
            self.open.setdefault(event["requestId"], self.begun)
            self.changed.set()

    def end(self, event: dict[str, Any]) -> None:
        if self.open.pop(event["requestId"], None) is not None:
            self.changed.set()

    def open_since(self, mark: int) -> int:
        """Return how many requests begun after `mark` (an earlier `begun`) have not ended."""
        return sum(1 for number in self.open.values() if number > mark)


class FrameLink:
    """A document inside the tab, the session that reaches it, and where it lies in the viewport."""

    def __init__(self, id: str, session: CDPSession, url: str, name: str, parent: "FrameLink | None") -> None:
        self.id = id
        self.session = session
        self.url = url
        self.name = name
        self.parent = parent


class Page:
    """A tab of the browser; made by `Page.attach`."""

    def __init__(self, tab: TabId, page: PlaywrightPage, session: CDPSession) -> None:
        self.tab = tab
        self.playwright_page = page
        self.session = session
        self.requests = Requests()
        self.next_ref = 1
        self.frames: list[FrameLink] = []
        self.navigations = 0
        """Counts documents begun in the main frame, so that a wait can tell whether one was."""
        self.navigated = asyncio.Event()
        self.loaded = asyncio.Event()
        self.loaded.set()
        self.crashed = False
        self.frame_of_ref: dict[int, str] = {}
        self._contexts: dict[tuple[int, str], int] = {}
        self._page_worlds: dict[tuple[int, str], int] = {}
        self._documents: dict[tuple[int, int], str] = {}
        self._context_came = asyncio.Event()
        self._known_listeners: dict[tuple[int, int], dict[int, frozenset[str]]] = {}
        self._child_sessions: dict[int, CDPSession | None] = {}
        self._owners: dict[str, tuple[int, int]] = {}
        self._main_frame = ""
        self._init_scripts: list[str] = []
        self._listener: Callable[[BrowserEvent], None] | None = None

    @classmethod
    async def attach(
        cls, tab: TabId, page: PlaywrightPage, listener: Callable[[BrowserEvent], None] | None = None
    ) -> "Page":
        """Take hold of a tab: its session, our world in every document, its requests."""
        session = await page.context.new_cdp_session(page)
        self = cls(tab, page, session)
        self._listener = listener
        page.on("crash", lambda _: self._on_crash())
        await self._prepare(session)
        await session.send("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0})
        tree = await session.send("Page.getFrameTree")
        self._main_frame = tree["frameTree"]["frame"]["id"]
        return self

    async def _prepare(self, session: CDPSession) -> None:
        session.on("Runtime.executionContextCreated", lambda e: self._on_context(session, e))
        session.on("Runtime.executionContextDestroyed", lambda e: self._on_context_gone(session, e))
        session.on("Runtime.executionContextsCleared", lambda _: self._on_contexts_cleared(session))
        session.on("Network.requestWillBeSent", self.requests.begin)
        session.on("Network.loadingFinished", self.requests.end)
        session.on("Network.loadingFailed", self.requests.end)
        if session is self.session:
            session.on("Page.frameStartedNavigating", self._on_navigating)
            session.on("Page.frameRequestedNavigation", self._on_navigating)
            session.on("Page.frameNavigated", self._on_navigated)
            session.on("Page.loadEventFired", lambda _: self.loaded.set())
        await session.send("Page.enable")
        await session.send(
            "Page.addScriptToEvaluateOnNewDocument",
            {"source": script("walker"), "worldName": WORLD, "runImmediately": True},
        )
        await session.send("Runtime.enable")

    # Events of the protocol

    def _on_context(self, session: CDPSession, event: dict[str, Any]) -> None:
        context = event["context"]
        if context["auxData"].get("isDefault"):
            self._page_worlds[id(session), context["auxData"]["frameId"]] = context["id"]
        if context["name"] == WORLD:
            self._contexts[id(session), context["auxData"]["frameId"]] = context["id"]
            self._context_came.set()

    def _on_context_gone(self, session: CDPSession, event: dict[str, Any]) -> None:
        gone = event["executionContextId"]
        for key, context in list(self._contexts.items()):
            if context == gone and key[0] == id(session):
                del self._contexts[key]
        self._known_listeners.pop((id(session), gone), None)
        self._documents.pop((id(session), gone), None)

    def _on_contexts_cleared(self, session: CDPSession) -> None:
        for key in [key for key in self._contexts if key[0] == id(session)]:
            del self._contexts[key]
        for known in [known for known in self._known_listeners if known[0] == id(session)]:
            del self._known_listeners[known]
        for known in [known for known in self._documents if known[0] == id(session)]:
            del self._documents[known]

    def _on_navigating(self, event: dict[str, Any]) -> None:
        if event.get("frameId") != self._main_frame:
            return
        kind = event.get("navigationType", "")
        if kind in ("sameDocument", "historySameDocument") or event.get("disposition") in ("newTab", "download"):
            return
        if self.loaded.is_set() or not self.navigated.is_set():
            self.navigations += 1
        self.loaded.clear()
        self.navigated.set()

    def _on_navigated(self, event: dict[str, Any]) -> None:
        frame = event["frame"]
        if frame["id"] == self._main_frame:
            self.navigated.set()
            self.requests.open.clear()

    def _on_crash(self) -> None:
        self.crashed = True
        self.loaded.set()
        self._context_came.set()
        if self._listener:
            self._listener(BrowserEvent(kind="crash", text="The page's renderer crashed.", tab=self.tab))

    def announce(self, event: BrowserEvent) -> None:
        """Pass on something that happened beside what was asked."""
        if self._listener:
            self._listener(event)

    # Evaluation

    async def evaluate(
        self, expression: str, *, main_world: bool = False, frame: FrameLink | None = None, timeout: float = 30.0
    ) -> Any:
        """Return the JSON value of `expression`, a promise awaited, in the main frame unless told.

        Runs in our isolated world by default. Raises PageGone when the document
        goes away meanwhile, ActionError when the script throws, and BrowserError
        when the page does not answer even after its script was ended.
        """
        link = frame or self.main_frame()
        params: dict[str, Any] = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        if not main_world:
            params["contextId"] = await self._context(link)
        result = await self.send("Runtime.evaluate", params, session=link.session, timeout=timeout)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            text = details.get("exception", {}).get("description") or details.get("text", "")
            raise ActionError(f"A script in the page failed: {text.splitlines()[0] if text else 'unknown'}")
        return result["result"].get("value")

    async def walker(self, call: str, *arguments: Any, frame: FrameLink | None = None, timeout: float = 30.0) -> Any:
        """Call one function of the walker with JSON arguments and return its JSON value."""
        given = ", ".join(json.dumps(argument) for argument in arguments)
        return await self.evaluate(f"__backstep.{call}({given})", frame=frame, timeout=timeout)

    async def send(
        self, method: str, params: dict[str, Any], *, session: CDPSession | None = None, timeout: float = 30.0
    ) -> dict[str, Any]:
        """Send one protocol command; a page that does not answer has its script ended, and says so."""
        where = session or self.session
        task = asyncio.ensure_future(where.send(method, params))
        try:
            done, _ = await asyncio.wait({task}, timeout=min(timeout, HANG_SECONDS))
            if not done:
                if self.crashed:
                    raise PageGone("the renderer crashed")
                await self._end_hang(where)
                done, _ = await asyncio.wait({task}, timeout=HANG_SECONDS)
            if not done:
                raise BrowserError(
                    f"The page at {self.playwright_page.url} does not answer; reload it or open the task anew."
                )
            return dict(task.result() or {})
        except Error as error:
            text = str(error)
            if any(sign in text for sign in ("context", "closed", "Target", "navigated", "crashed", "detached", "Cannot find")):
                raise PageGone(text) from error
            if "terminated" in text:
                raise PageGone("the page's script was ended") from error
            raise BrowserError(f"The browser refused {method}: {text.splitlines()[0]}") from error
        finally:
            if not task.done():
                task.cancel()

    async def _end_hang(self, session: CDPSession) -> None:
        log.warning("The page does not answer; its script is ended.")
        self.announce(
            BrowserEvent(
                kind="hang",
                text=f"The page did not answer for {HANG_SECONDS:g} s; the script that ran in it was ended.",
                tab=self.tab,
                url=self.playwright_page.url,
            )
        )
        try:
            async with asyncio.timeout(HANG_SECONDS):
                await session.send("Runtime.terminateExecution")
        except (Error, TimeoutError) as error:
            log.warning("Ending the script failed: %s", error)

    async def _context(self, link: FrameLink) -> int:
        key = (id(link.session), link.id)
        deadline = asyncio.get_running_loop().time() + 10.0
        while key not in self._contexts:
            if self.crashed:
                raise PageGone("the renderer crashed")
            self._context_came.clear()
            left = deadline - asyncio.get_running_loop().time()
            try:
                async with asyncio.timeout(min(1.0, max(left, 0.0))):
                    await self._context_came.wait()
            except TimeoutError:
                if key in self._contexts:
                    break
                if left <= 0:
                    raise PageGone("the document has no script world") from None
                await self._make_world(link)
        return self._contexts[key]

    async def _make_world(self, link: FrameLink) -> None:
        # Documents that init scripts skip (error pages, some blank ones) get the world by hand.
        try:
            made = await link.session.send(
                "Page.createIsolatedWorld", {"frameId": link.id, "worldName": WORLD}
            )
            await link.session.send(
                "Runtime.evaluate", {"expression": script("walker"), "contextId": made["executionContextId"]}
            )
        except Error as error:
            raise PageGone(str(error)) from error

    # Frames

    def main_frame(self) -> FrameLink:
        return FrameLink(self._main_frame, self.session, self.playwright_page.url, "", None)

    async def find_frames(self) -> list[FrameLink]:
        """Return the documents of the tab, its own first, those of other processes too."""
        main = self.main_frame()
        if len(self.playwright_page.frames) <= 1:
            self.frames = [main]
            return self.frames
        found: list[FrameLink] = []
        try:
            self._add_tree(found, (await self.session.send("Page.getFrameTree"))["frameTree"], self.session, None)
            for frame in self.playwright_page.frames[1:]:
                if (session := await self._own_session(frame)) is not None:
                    tree = (await session.send("Page.getFrameTree"))["frameTree"]
                    if all(link.id != tree["frame"]["id"] for link in found):
                        self._add_tree(found, tree, session, main)
        except Error as error:
            raise PageGone(str(error)) from error
        self.frames = found
        return found

    def _add_tree(
        self, found: list[FrameLink], tree: dict[str, Any], session: CDPSession, parent: FrameLink | None
    ) -> None:
        frame = tree["frame"]
        link = FrameLink(frame["id"], session, frame["url"], frame.get("name", ""), parent)
        found.append(link)
        for child in tree.get("childFrames", ()):
            self._add_tree(found, child, session, link)

    async def _own_session(self, frame: Frame) -> CDPSession | None:
        """Return the session of a frame that lives in a process of its own, or None."""
        key = id(frame)
        known = self._child_sessions.get(key)
        if known is not None:
            try:
                await known.send("Page.getFrameTree")
                return known
            except Error:
                del self._child_sessions[key]
        try:
            session = await self.playwright_page.context.new_cdp_session(frame)
        except Error:
            return None
        await self._prepare(session)
        await session.send("Network.enable")
        self._child_sessions[key] = session
        return session

    async def frame_owner(self, link: FrameLink) -> int | None:
        """Return the ref of the element that holds a frame, in its parent document."""
        if link.parent is None:
            return None
        try:
            owner = await link.parent.session.send("DOM.getFrameOwner", {"frameId": link.id})
            parent = await self._parent_of(link)
            context = await self._context(parent)
            node = await parent.session.send(
                "DOM.resolveNode",
                {"backendNodeId": owner["backendNodeId"], "executionContextId": context, "objectGroup": "backstep"},
            )
            answer = await parent.session.send(
                "Runtime.callFunctionOn",
                {
                    "objectId": node["object"]["objectId"],
                    "functionDeclaration": "function () { return __backstep.refOf(this) }",
                    "returnByValue": True,
                },
            )
            return int(answer["result"]["value"])
        except (Error, PageGone, KeyError):
            return None

    async def _parent_of(self, link: FrameLink) -> FrameLink:
        assert link.parent is not None
        return link.parent

    async def mark_listeners(self, link: FrameLink) -> None:
        """Tell the walker which elements listen to the mouse: only the protocol knows."""
        context = await self._context(link)
        known = self._known_listeners.setdefault((id(link.session), context), {})
        try:
            answer = await link.session.send(
                "DOMDebugger.getEventListeners",
                # Not with "pierce": Chromium 156 then crashes the renderer a moment later, in two runs of three.
                {"objectId": await self._document(link, context), "depth": -1, "pierce": False},
            )
            types: dict[int, set[str]] = {}
            for entry in answer["listeners"]:
                if entry["type"] in _LISTENED and "backendNodeId" in entry:
                    types.setdefault(entry["backendNodeId"], set()).add(entry["type"])
            fresh = [node for node in types if known.get(node) != types[node]][:_NEW_LISTENERS]
            if fresh:
                await self._mark(link, context, fresh, types)
                await link.session.send("Runtime.releaseObjectGroup", {"objectGroup": "backstep"})
            known.update({node: frozenset(types[node]) for node in fresh})
        except Error as error:
            # Without it the page is still read; elements that only listen are then missed.
            log.info("Event listeners could not be read: %s", error)

    async def _document(self, link: FrameLink, context: int) -> str:
        """Return the protocol's handle of the document, kept as long as the document lives."""
        key = (id(link.session), context)
        if key not in self._documents:
            # From the page's own world: asked from ours, Chromium 140 tells of our listeners only.
            where: dict[str, Any] = {"expression": "document", "objectGroup": "backstep documents"}
            if (page_world := self._page_worlds.get((id(link.session), link.id))) is not None:
                where["contextId"] = page_world
            handle = await link.session.send("Runtime.evaluate", where)
            self._documents[key] = handle["result"]["objectId"]
        return self._documents[key]

    async def _mark(
        self, link: FrameLink, context: int, nodes: list[int], types: dict[int, set[str]]
    ) -> None:
        resolved = await asyncio.gather(
            *(
                link.session.send(
                    "DOM.resolveNode",
                    {"backendNodeId": node, "executionContextId": context, "objectGroup": "backstep"},
                )
                for node in nodes
            ),
            return_exceptions=True,
        )
        targets = [
            (answer["object"]["objectId"], sorted(types[node]))
            for node, answer in zip(nodes, resolved, strict=True)
            if isinstance(answer, dict) and "objectId" in answer["object"]
        ]
        if targets:
            arguments: list[dict[str, Any]] = [{"value": [words for _, words in targets]}]
            arguments += [{"objectId": target} for target, _ in targets]
            await link.session.send(
                "Runtime.callFunctionOn",
                {
                    "executionContextId": context,
                    "functionDeclaration": "function (types, ...targets) { __backstep.listen(types, ...targets) }",
                    "arguments": arguments,
                },
            )

    async def element_at(self, x: float, y: float) -> dict[str, Any] | None:
        """Return ref, label and box of the element at a point of the viewport, through frames; None for nothing."""
        links = await self.find_frames()
        found = await self.walker("at", x, y)
        for link in links[1:]:
            owner = await self.frame_owner(link)
            if found is None or owner is None or owner != found["ref"]:
                continue
            left, top = found["box"]["x"], found["box"]["y"]
            inner = await self.walker("at", x - left, y - top, frame=link)
            if inner is not None:
                inner["box"]["x"] += left
                inner["box"]["y"] += top
                self.frame_of_ref[inner["ref"]] = link.id
                found = inner
        return dict(found) if found is not None else None

    # What environments need

    async def url(self) -> str:
        return self.playwright_page.url

    async def html(self) -> str:
        return str(await self.evaluate("document.documentElement ? document.documentElement.outerHTML : ''"))

    async def add_init_script(self, source: str) -> None:
        """Run `source` in the page's own world before its scripts, in every document from now on."""
        self._init_scripts.append(source)
        await self.session.send("Page.addScriptToEvaluateOnNewDocument", {"source": source})

    async def set_cookies(self, cookies: list[dict[str, Any]]) -> None:
        """Set cookies; each is a mapping with the fields of the protocol's Network.setCookie."""
        for cookie in cookies:
            await self.send("Network.setCookie", cookie)

    async def set_local_storage(self, origin: str, items: dict[str, str]) -> None:
        """Put items into the local storage of an origin, which need not be open."""
        try:
            await self.session.send("DOMStorage.enable")
            for key, value in items.items():
                await self.session.send(
                    "DOMStorage.setDOMStorageItem",
                    {
                        "storageId": {"securityOrigin": origin, "storageKey": f"{origin}/", "isLocalStorage": True},
                        "key": key,
                        "value": value,
                    },
                )
        except Error as error:
            raise BrowserError(f"The local storage of {origin} could not be set: {error}") from error

    async def screenshot(self) -> bytes:
        """Return a WebP picture of the viewport by the protocol; slower than the embedder's own."""
        answer = await self.send(
            "Page.captureScreenshot", {"format": "webp", "quality": 60, "optimizeForSpeed": True}
        )
        return base64.b64decode(answer["data"])
