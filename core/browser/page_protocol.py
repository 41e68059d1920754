"""The CDP connection to one tab: runs scripts in our isolated world, follows requests and navigations."""

import asyncio
import json
import logging
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from playwright.async_api import Error
from playwright.async_api import Page as PlaywrightPage

from core.browser.boundary import Border
from core.browser.channel import WORLD, Channel, FrameLink, PageGone, let_go, world_script
from core.browser.hanging import ScriptPatience, answers, hangs
from core.browser.log.listener import PageListener
from core.browser.net_errors import certificate_refused, gone, network_reason
from core.browser.network import Loading, Requests
from core.browser.recovery import Connection
from core.browser.sent_requests import Holding, SentLog
from core.schema.errors import ActionError, BrowserError
from core.schema.events import BrowserEvent, BrowserEventKind, TabId
from core.system.patience import Limit, within

log = logging.getLogger(__name__)
T = TypeVar("T")

HANG_SECONDS = 5.0
"""After this long without an answer a page is asked for a sign of life; see `hanging` for what follows without one."""
FLOOD_SECONDS = 1.0
"""The same where pages are known to send more than is read: what they have sent takes more memory all the time."""
_WALK_SECONDS = 20.0
"""A large page may take this long to be read: its own script is not to blame then."""
_LATE = 2
"""How often a page that did not answer for a while is given all the time for its answer once more."""


class Refs:
    """Numbers elements. A ref is never given twice in the tabs of a browser."""

    def __init__(self) -> None:
        self.next = 1
        self.lock = asyncio.Lock()


class PageKeeper(Protocol):
    """The browser that a page is in, for what a page alone cannot know or do."""

    refs: Refs
    log: PageListener
    border: Border
    holding: Holding
    script_patience: ScriptPatience
    connection: Connection

    def tell(self, event: BrowserEvent) -> None:
        """Note what a page can cause in any number."""

    async def check_lost(self) -> None:
        """Raise BrowserError if the page is gone because the browser has ended or is being replaced."""

    async def check_browser(self, page: "PageProtocol") -> None:
        """Make sure that it is the page which does not answer; raises BrowserError if it was the whole browser."""

    async def end_renderer(self, page: "PageProtocol") -> None:
        """End the renderer of a page that cannot be helped; raises BrowserError if more had to go."""


class PageProtocol:
    """A tab over the protocol: evaluation in our isolated world, requests, navigations."""

    def __init__(
        self,
        tab: TabId,
        page: PlaywrightPage,
        channel: Channel,
        keeper: PageKeeper,
    ) -> None:
        self.tab = tab
        self.playwright_page = page
        self.channel = channel
        self.requests = Requests()
        self.loading = Loading()
        self.crashed = False
        self.windows_opened = 0
        """Counts the tabs that the page has requested, so that a wait knows whether one is coming."""
        self.frame_of_ref: dict[int, str] = {}
        self.refs = keeper.refs
        self.log = keeper.log
        self.keeper = keeper
        self.attached = False
        """Until then the keeper is not asked for help: who attaches to a tab gives it up."""
        self._world_came = asyncio.Event()
        self._in_flight: set[asyncio.Future[Any]] = set()
        self._rescue = asyncio.Lock()
        self._document_request = ("", "")
        self.sent = SentLog()
        self._deciding: set[asyncio.Task[None]] = set()

    async def prepare(self, channel: Channel) -> None:
        """Listen to a session, and put our world into each document it reaches."""
        session = channel.session
        self.log.listen(session)
        session.on("Runtime.executionContextCreated", lambda event: self._on_world(channel, event))
        session.on(
            "Runtime.executionContextDestroyed",
            lambda event: channel.forget_world(event["executionContextId"]),
        )
        session.on("Runtime.executionContextsCleared", lambda _: channel.forget_all())
        session.on("Network.requestWillBeSent", self._on_request)
        session.on("Network.requestWillBeSent", self.sent.on_request)
        session.on("Network.webSocketCreated", self.sent.on_socket)
        session.on("Network.webSocketClosed", self.sent.on_socket_closed)
        session.on("Network.webSocketFrameSent", self.sent.on_frame_sent)
        session.on("Network.responseReceived", self._on_response)
        session.on("Network.loadingFinished", self.requests.end)
        session.on("Network.loadingFailed", self._on_failed)
        session.on("Page.frameStoppedLoading", self.requests.end_document)
        session.on("Page.frameDetached", self.requests.end_document)
        session.on("Page.windowOpen", self._on_window)
        session.on("Fetch.requestPaused", lambda event: self._on_document(channel, event))
        if channel is self.channel:
            tree = await self.send("Page.getFrameTree", {})
            self.loading.main_frame = tree["frameTree"]["frame"]["id"]
            session.on("Page.frameRequestedNavigation", self.loading.on_requested)
            session.on("Page.frameScheduledNavigation", self.loading.on_scheduled)
            session.on("Page.frameClearedScheduledNavigation", self.loading.on_cleared)
            session.on("Page.frameStartedNavigating", self.loading.on_started)
            session.on("Page.frameNavigated", self._on_navigated)
            session.on("Page.domContentEventFired", self.loading.on_content)
            session.on("Page.frameStoppedLoading", self.loading.on_stopped)
        await self.send("Page.enable", {}, session=channel)
        await self.send(
            "Page.addScriptToEvaluateOnNewDocument",
            {"source": world_script(), "worldName": WORLD, "runImmediately": True},
            session=channel,
        )
        await self.send("Runtime.enable", {}, session=channel)
        await self.send(
            "Log.enable", {}, session=channel
        )  # For the log: what the browser says in the console.
        await self.send("Performance.enable", {}, session=channel)  # Counts style and layout, see `changes`.
        await self.send("Fetch.enable", {"patterns": [{"resourceType": "Document"}]}, session=channel)

    # Events of the protocol

    def _on_world(self, channel: Channel, event: dict[str, Any]) -> None:
        context = event["context"]
        frame = context["auxData"].get("frameId", "")
        if context["auxData"].get("isDefault"):
            channel.page_worlds[frame] = context["id"]
        if context["name"] == WORLD:
            # The first one has the numbers of the elements. A script of ours that looks into a frame from outside
            # makes another one of the same name there.
            channel.worlds.setdefault(frame, context["id"])
            self._world_came.set()

    def _on_navigated(self, event: dict[str, Any]) -> None:
        if self.loading.on_navigated(event):
            self.requests.forget()

    def _on_request(self, event: dict[str, Any]) -> None:
        self.requests.begin(event)
        if event.get("type") == "Document" and event.get("frameId") == self.loading.main_frame:
            self._document_request = (event["requestId"], event["request"]["url"])

    def _on_response(self, event: dict[str, Any]) -> None:
        request, url = self._document_request
        status = event["response"]["status"]
        if event["requestId"] == request and status >= 400:
            words = f"{status} {event['response'].get('statusText', '')}".strip()
            self._tell("load_failed", f"The server answered {words} for {url}.", url)

    def _on_failed(self, event: dict[str, Any]) -> None:
        self.requests.end(event)
        request, url = self._document_request
        text = event.get("errorText", "")
        # The browser tries a page that failed again by itself, and would tell of it each time.
        if event["requestId"] != request or "ERR_ABORTED" in text or self.loading.reloading:
            return
        reason = network_reason(text) or text
        kind: BrowserEventKind = "certificate" if certificate_refused(text) else "load_failed"
        self._tell(kind, f"{url} could not be opened: {reason}.", url)

    def _on_window(self, event: dict[str, Any]) -> None:
        self.windows_opened += 1
        self.loading.changed.set()

    def _on_document(self, channel: Channel, event: dict[str, Any]) -> None:
        deciding = asyncio.ensure_future(self._decide(channel, event))
        self._deciding.add(deciding)
        deciding.add_done_callback(self._deciding.discard)

    async def _decide(self, channel: Channel, event: dict[str, Any]) -> None:
        """Let a document load, or have the page stay where it is."""
        given: dict[str, Any] = {"requestId": event["requestId"]}
        top = event.get("frameId") == self.loading.main_frame
        with suppress(Error):  # The page is gone, or asks for another document already.
            if not self.attached or await self.keeper.border.admits(event["request"]["url"], top):
                await channel.session.send("Fetch.continueRequest", given)
            else:
                await channel.session.send("Fetch.failRequest", {**given, "errorReason": "Aborted"})

    def end_waiting(self) -> None:
        """Wait for nothing of the page any more: a dead renderer answers nothing, not even with an error."""
        self.crashed = True
        self.loading.stop()
        self.requests.forget()
        self._world_came.set()
        for waiting in tuple(self._in_flight):
            waiting.cancel()

    def _on_crash(self) -> None:
        self.end_waiting()
        self._tell("crash", "The page's renderer crashed.", self.playwright_page.url)

    def _tell(self, kind: BrowserEventKind, text: str, url: str) -> None:
        """Pass on something that happened besides what was asked."""
        self.keeper.tell(BrowserEvent(kind=kind, text=text, tab=self.tab, url=url))

    # Asking the page

    async def evaluate(
        self,
        expression: str,
        *,
        main_world: bool = False,
        frame: FrameLink | None = None,
        timeout: float = 30.0,
        patience: float | None = None,
    ) -> Any:
        """Return the JSON value of `expression`, a promise awaited, in the main frame unless told.

        Runs in our isolated world by default. Raises PageGone when the document
        goes away meanwhile, ActionError when the script throws, and BrowserError
        when there is no answer within `timeout` seconds.
        """
        link = frame or self.main_frame()
        params: dict[str, Any] = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        if not main_world:
            params["contextId"] = await self.world(link)
        elif frame is not None and (page_world := frame.session.page_worlds.get(frame.id)) is not None:
            params["contextId"] = page_world
        more: dict[str, Any] = {"session": link.session, "timeout": timeout, "patience": patience}
        result = await self.send("Runtime.evaluate", params, **more)
        if not main_world and _lacks_walker(result):
            # The browser's own error pages have the world, and no init script has run in it.
            bring = {"expression": world_script(), "contextId": params["contextId"]}
            await self.send("Runtime.evaluate", bring, **more)
            result = await self.send("Runtime.evaluate", params, **more)
        return _value(result)

    async def walker(
        self, call: str, *arguments: Any, frame: FrameLink | None = None, timeout: float = 30.0
    ) -> Any:
        """Call one function of the walker with JSON arguments and return its JSON value."""
        given = "".join(f", {json.dumps(argument)}" for argument in arguments)
        if call in ("settle", "waitForChange", "filtered"):  # These take their time, and number no element.
            return await self.evaluate(f"__backstep.{call}({given[2:]})", frame=frame, timeout=timeout)
        patience = _WALK_SECONDS if call == "walk" else None
        async with self.refs.lock:
            answer = await self.evaluate(
                f'__backstep.ask({self.refs.next}, "{call}"{given})',
                frame=frame,
                timeout=max(timeout, _WALK_SECONDS + HANG_SECONDS),
                patience=patience,
            )
            self.refs.next = answer["next"]
        return answer.get("value")

    async def resolved(self, node: int, frame: FrameLink) -> str:
        """Return a handle of our world for a node of a frame's document, by its backend id; raises as `send` does."""
        given = {
            "backendNodeId": node,
            "executionContextId": await self.world(frame),
            "objectGroup": "backstep",
        }
        answer = await self.send("DOM.resolveNode", given, session=frame.session)
        return str(answer["object"]["objectId"])

    async def call_on(self, handle: str, call: str, frame: FrameLink, *arguments: dict[str, Any]) -> Any:
        """Call one function of the walker with an object of its world, and further ones, as arguments."""
        async with self.refs.lock:
            result = await self.send(
                "Runtime.callFunctionOn",
                {
                    "objectId": handle,
                    "functionDeclaration": (
                        "function (from, call, ...more) { return __backstep.ask(from, call, this, ...more) }"
                    ),
                    "arguments": [{"value": self.refs.next}, {"value": call}, *arguments],
                    "returnByValue": True,
                },
                session=frame.session,
            )
            answer = _value(result)
            self.refs.next = answer["next"]
        return answer.get("value")

    async def send(
        self,
        method: str,
        params: dict[str, Any],
        *,
        session: Channel | None = None,
        timeout: float = 30.0,
        patience: float | None = None,
    ) -> dict[str, Any]:
        """Send one protocol command; raises PageGone, or BrowserError where it is refused or not answered."""
        channel = session or self.channel
        try:
            return dict(
                await self.answered(
                    channel.session.send(method, params),
                    session=channel,
                    timeout=timeout,
                    patience=patience,
                )
                or {}
            )
        except Error as error:
            said = error.message.splitlines()[0]
            raise BrowserError(f"The browser refused {method}: {said}") from error

    async def answered(
        self,
        work: Awaitable[T],
        *,
        session: Channel | None = None,
        timeout: float = 30.0,
        patience: float | None = None,
    ) -> T:
        """Await an answer of the page, and interrupt its script if it loops for ever.

        After `patience` seconds the page is checked. If it hangs, its script is ended, and if that does not
        help, its renderer. If it only works for long, the wait continues. Raises PageGone if nobody is left
        to answer, BrowserError after `timeout` seconds, and what `work` raises otherwise.
        """
        patience = HANG_SECONDS if patience is None else patience
        if self.crashed:
            let_go(asyncio.ensure_future(work))
            raise await self._crashed()
        task = asyncio.ensure_future(work)
        self._in_flight.add(task)
        limit, late = Limit(timeout), 0
        try:
            while True:
                if self.keeper.connection.filter.flooded:
                    patience = min(patience, FLOOD_SECONDS)
                with suppress(TimeoutError):
                    async with within(min(patience, max(limit.left(), 0))):
                        await asyncio.wait({task})
                if task.done():
                    break
                if self.keeper.holding.held:
                    limit = Limit(timeout)
                    continue
                if limit.left() <= 0:
                    raise BrowserError(
                        f"The page at {self.playwright_page.url} does not answer; go back to a step, or open "
                        "the task again."
                    )
                if await self._keep_alive(session or self.channel) and late < _LATE:
                    limit, late = Limit(timeout), late + 1
            if task.cancelled():
                raise await self._crashed()
            return task.result()
        except Error as error:
            await self._check_lost()
            if why := gone(error):
                raise PageGone(why) from error
            raise
        finally:
            self._in_flight.discard(task)
            let_go(task)

    async def _crashed(self) -> PageGone:
        """Return what to raise where the renderer is gone; raises BrowserError if more than that had to go."""
        async with self._rescue:  # Who ended it may find that it was no help.
            await self._check_lost()
        return PageGone("the renderer crashed")

    async def _check_lost(self) -> None:
        if self.attached:
            await self.keeper.check_lost()

    async def stir(self, patience: float | None = None) -> None:
        """Make sure the page answers; a script of it that loops for ever is ended. Raises nothing."""
        try:
            await self.send("Runtime.evaluate", {"expression": "1"}, patience=patience)
        except (PageGone, BrowserError) as error:
            log.info("The page does not answer: %s", error)

    async def _keep_alive(self, channel: Channel) -> bool:
        """Make sure the page's script runs on: a loop is ended, and a renderer that cannot be helped too.

        Returns whether the page could not answer for a while. Raises BrowserError
        where more than its renderer had to be ended.
        """
        waited = self._rescue.locked()
        async with self._rescue:
            if self.crashed or await answers(channel):
                return waited
            if self.attached:
                await self.keeper.check_browser(self)
            url = self.playwright_page.url
            hanging = await hangs(
                channel,
                self.requests,
                self.keeper.script_patience,
                url,
                lambda: self.crashed or self.keeper.connection.filter.flooded,
            )
            if not hanging:
                return True
            self._tell("hang", "The page did not answer; its script was stopped.", url)
            await answers(channel, "Runtime.terminateExecution")
            if not await answers(channel):
                log.warning("Stopping the page's script did not help; its renderer was ended.")
                await (self.keeper.end_renderer(self) if self.attached else self.crash())
            return True

    async def crash(self) -> None:
        """Ask the browser to end the renderer."""
        await answers(self.channel, "Page.crash")

    async def ended(self, seconds: float) -> bool:
        """Return whether the renderer has ended, waiting for it for so long."""
        try:
            async with within(seconds):
                while not self.crashed and not self.playwright_page.is_closed():
                    self.loading.changed.clear()
                    await self.loading.changed.wait()
        except TimeoutError:
            return False
        return True

    async def world(self, link: FrameLink) -> int:
        """Return our script world in a document, waiting for one that is just beginning.

        Raises PageGone, and BrowserError if more than the page had to be ended.
        """
        worlds = link.session.worlds
        for wait in (0.0, 0.25, 1.0, 3.0):
            if link.id not in worlds and wait:
                self._world_came.clear()
                try:
                    async with within(wait):
                        while link.id not in worlds and not self.crashed:
                            await self._world_came.wait()
                            self._world_came.clear()
                except TimeoutError:
                    await self._make_world(link)
            if self.crashed:
                raise await self._crashed()
            if link.id in worlds:
                return worlds[link.id]
        raise PageGone("the document has no script world")

    async def _make_world(self, link: FrameLink) -> None:
        # Documents that init scripts skip (error pages, some blank ones) get the world by hand.
        made = await self.send(
            "Page.createIsolatedWorld", {"frameId": link.id, "worldName": WORLD}, session=link.session
        )
        world = made["executionContextId"]
        await self.send(
            "Runtime.evaluate", {"expression": world_script(), "contextId": world}, session=link.session
        )
        link.session.worlds[link.id] = world

    def main_frame(self) -> FrameLink:
        return FrameLink(self.loading.main_frame, self.channel, self.playwright_page.url, "", None)


def _lacks_walker(result: dict[str, Any]) -> bool:
    said = result.get("exceptionDetails", {}).get("exception", {}).get("description", "")
    return str(said).startswith("ReferenceError: __backstep is not defined")


def _value(result: dict[str, Any]) -> Any:
    if "exceptionDetails" in result:
        details = result["exceptionDetails"]
        text = details.get("exception", {}).get("description") or details.get("text", "")
        raise ActionError(f"A script in the page failed: {text.splitlines()[0] if text else 'unknown'}")
    return result["result"].get("value")
