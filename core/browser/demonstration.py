"""Records what a person does in the live page as actions that can be repeated."""

import asyncio
import contextlib
import json
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from playwright.async_api import Frame
from playwright.async_api import Page as PlaywrightPage
from pydantic import Field, ValidationError

from core.browser.channel import WORLD, Channel, FrameLink, PageGone, script
from core.browser.page import Page
from core.schema.action import (
    IN_FRAME,
    Action,
    Check,
    Click,
    Direction,
    DoubleClick,
    Drag,
    Goto,
    Hover,
    Press,
    RefTarget,
    RightClick,
    Scroll,
    Select,
    SelectText,
    Target,
    Type,
    Upload,
    XPathTarget,
)
from core.schema.errors import ActionError, BrowserError
from core.schema.observation import Observation, Ref
from core.schema.record import Record
from core.system.patience import within

log = logging.getLogger(__name__)

_BINDING = "__backstepReported"
_USED = "navigator.userActivation.hasBeenActive"
"""Whether somebody has clicked or pressed a key in a document."""
_BEGIN = "__backstepDemonstration.set(true)"
_FRAME_EVENTS: tuple[Literal["frameattached", "framenavigated"], ...] = ("frameattached", "framenavigated")
_FLUSH_SECONDS = 2.0
"""How long a page may take to tell what was typed and not left yet."""
_TWICE_SECONDS = 0.3
"""So soon after a click a second one makes it a double click."""


class NamedElement(Record):
    """An element as the page named it."""

    ref: Ref | None = None
    """Its ref, if it had one already."""
    label: str = ""
    xpath: str = ""
    around: str = Field(default="", exclude=True)
    """The XPaths of the frames around its document, as an XPath that goes on in them begins."""

    def target(self, page: Observation) -> Target | None:
        """Return how an action names it; None for no element."""
        if self.ref is not None and page.element(self.ref) is not None:
            return RefTarget(ref=self.ref)
        return XPathTarget(xpath=self.around + self.xpath) if self.xpath else None


class HumanAction(NamedElement):
    """One thing that a person did, as the page reported it."""

    kind: str
    """``look``: nothing is done yet, but the page has changed. ``lost``: no action does it, `text` says why."""
    text: str = ""
    """What was typed, chosen or selected; of a password as many bullets; the paths of files, a line each."""
    secret: str = Field(default="", repr=False, exclude=True)
    """The password that was typed: kept in memory only, to type it again."""
    keys: str = ""
    """The key or chord of a press, or what was held at a click."""
    at: str = ""
    """The place in the element where the mouse went down, where it matters."""
    to: NamedElement | None = None
    """What something was dropped on."""
    to_at: str = ""
    """The place in it, where it matters."""
    direction: Direction = "down"
    nth: int = 0
    """Which of several places with the same words was selected."""
    once: bool = False
    """Of a click: whether it may be the first of two."""
    checked: bool = True
    selected: bool = True
    """Of an option: whether it was chosen, or taken back."""
    typing: bool = True
    """Of a look: whether something was typed that is not reported yet; else the page changed by itself."""

    files: int = 0
    """How many files were chosen."""
    folder: bool = False
    """Whether they are those of a folder that was chosen."""
    browsed: Action | None = Field(default=None, exclude=True)
    """What was done with the buttons of the browser, as an action."""
    frame: str = Field(default="", exclude=True)
    """The id of the frame whose document reported it."""

    async def in_frames(self, page: Page) -> "HumanAction":
        """Return it with the frames around its document, if they are still there; raises as `with_path` does."""
        around, link = "", next((one for one in await page.frames.find() if one.id == self.frame), None)
        while link is not None and link.parent is not None:
            owner = await page.frames.owner(link)
            if owner is None:
                return self
            around = f"{await page.walker('xpathOf', owner, frame=link.parent)}{IN_FRAME}{around}"
            link = link.parent
        return self.replace(around=around, to=self.to and self.to.replace(around=around))

    async def with_path(self, page: Page) -> "HumanAction":
        """Return the choice of files with their paths, which the page itself is not told.

        Raises ActionError, BrowserError and PageGone.
        """
        if self.folder:
            raise ActionError("A folder was chosen, but an action uploads files.")
        link = next((one for one in await page.frames.find() if one.id == self.frame), None)
        if link is None:
            raise ActionError("The frame of the file field has gone before its files could be read.")
        paths: list[str] = []
        for at in range(self.files):
            asked = {
                "expression": f"__backstepDemonstration.chosenFile({at})",
                "contextId": await page.world(link),
            }
            answer = await page.send("Runtime.evaluate", asked, session=link.session)
            if "objectId" not in answer["result"]:
                raise ActionError("The file field was cleared before its files could be read.")
            where = {"objectId": answer["result"]["objectId"]}
            found = await page.send("DOM.getFileInfo", where, session=link.session)
            paths.append(str(found["path"]))
        return self.replace(text="\n".join(paths))

    def action(self, page: Observation) -> Action | None:
        """Return the action that would repeat it in the earlier page, or None if there is none."""
        if self.browsed is not None:
            return self.browsed
        target = self.target(page)
        if self.kind == "press":
            return Press(keys=self.keys)
        if self.kind == "scroll":
            return Scroll(direction=self.direction, target=target)
        if target is None:
            return None
        match self.kind:
            case "click":
                return Click(target=target, at=self.at, keys=self.keys)
            case "double_click":
                return DoubleClick(target=target, at=self.at)
            case "hover":
                return Hover(target=target)
            case "right_click":
                return RightClick(target=target, at=self.at)
            case "type":
                return Type(target=target, text=self.text)
            case "select":
                return Select(target=target, option=self.text, selected=self.selected)
            case "check":
                return Check(target=target, checked=self.checked)
            case "select_text":
                return SelectText(target=target, text=self.text, nth=self.nth)
            case "upload":
                return Upload(target=target, path=self.text)
            case "drag" if self.to is not None and (to := self.to.target(page)) is not None:
                return Drag(target=target, to=to, from_at=self.at, to_at=self.to_at)
        return None


@dataclass
class _Followed:
    """What listens to one page."""

    script: str
    """The number of the script that begins in each new document of the page's own session."""
    on_frame: Callable[[Frame], None]
    listeners: dict[Channel, Callable[[dict[str, Any]], None]] = field(default_factory=dict)
    """What hears the documents, by session: those in other processes have their own."""


def _source() -> str:
    return f"{script('demonstration')}\n{_BEGIN};"


def _passing(link: FrameLink) -> tuple[type[Exception], ...]:
    """Return the errors of a document that has nothing to tell: an error page, or a frame that has gone."""
    return (ActionError,) if link.parent is None else (ActionError, PageGone)


class Demonstration:
    """Follows a person through the documents of tabs; `human_actions` contains their actions in order."""

    def __init__(self) -> None:
        self.human_actions: asyncio.Queue[HumanAction] = asyncio.Queue()
        self._followed: dict[Page, _Followed] = {}
        """The pages that are listened to."""
        self._there: set[PlaywrightPage] = set()
        """The tabs that were open when the first of them was followed."""
        self._following: set[asyncio.Future[None]] = set()
        """Frames that are being taken into this."""
        self._ahead: deque[HumanAction] = deque()
        """What was looked at to tell whether a click was the first of two."""
        self._reported = 0
        self._taken = 0

    @property
    def waiting(self) -> bool:
        """Whether an action has not been taken yet; a look is none, for the page is still what the last one left."""
        return self._reported > self._taken

    async def take(self) -> HumanAction:
        """Wait for the next action; a double-click is one. Call `done` afterwards."""
        one = await self._next()
        self._taken += one.kind != "look"
        return one

    async def _next(self) -> HumanAction:
        one = self._ahead.popleft() if self._ahead else await self.human_actions.get()
        if one.kind != "click" or not one.once or self._ahead:
            return one
        try:
            async with within(_TWICE_SECONDS):
                while (then := await self.human_actions.get()).kind == "look":
                    self._ahead.append(then)
        except TimeoutError:
            return one
        if then.kind != "double_click" or then.xpath != one.xpath:
            self._ahead.append(then)
            return one
        self.human_actions.task_done()
        self._taken += 1
        return then

    def done(self) -> None:
        """Report that the action from `take` was recorded."""
        self.human_actions.task_done()

    async def follow(self, page: Page) -> None:
        """Listen to a tab and its frames from now on; raises BrowserError and PageGone.

        What was done before in a tab that has opened since the first one was followed is reported as lost.
        """
        if page in self._followed:
            return
        if not self._followed:
            self._there = set(page.playwright_page.context.pages)
        elif page.playwright_page not in self._there:
            with contextlib.suppress(ActionError):  # An error page has nothing to tell.
                if await page.evaluate(_USED):
                    self._report(HumanAction(kind="lost", text="what you did first in the new tab."))
        added = await page.send(
            "Page.addScriptToEvaluateOnNewDocument", {"source": _source(), "worldName": WORLD}
        )
        self._followed[page] = _Followed(str(added["identifier"]), partial(self._on_frame, page))
        for event in _FRAME_EVENTS:
            page.playwright_page.on(event, self._followed[page].on_frame)
        await self._follow_frames(page)

    async def _follow_frames(self, page: Page) -> None:
        """Listen to the documents that are there; one that is listened to already takes no notice."""
        followed = self._followed.get(page)
        if followed is None:
            return  # It has ended meanwhile.
        for link in await page.frames.find():
            channel = link.session
            if channel not in followed.listeners:
                followed.listeners[channel] = partial(self._on_reported, channel)
                channel.session.on("Runtime.bindingCalled", followed.listeners[channel])
                binding = {"name": _BINDING, "executionContextName": WORLD}
                await page.send("Runtime.addBinding", binding, session=channel)
            with contextlib.suppress(*_passing(link)):
                await page.evaluate(_source(), frame=link)

    def _on_frame(self, page: Page, frame: Frame) -> None:
        """Listen to a frame that has come or has another document: it may be one of another process."""
        if frame.parent_frame is None or page not in self._followed:
            return
        following = asyncio.ensure_future(self._follow_later(page))
        self._following.add(following)
        following.add_done_callback(self._following.discard)

    async def _follow_later(self, page: Page) -> None:
        with contextlib.suppress(PageGone, BrowserError, ActionError):
            await self._follow_frames(page)

    async def flush(self, page: Page) -> None:
        """Let a page report what was typed and not left yet, if it answers in time."""
        with contextlib.suppress(PageGone, BrowserError, ActionError, TimeoutError):
            async with within(_FLUSH_SECONDS):
                await self._tell(page, "globalThis.__backstepDemonstration?.flush()")

    @staticmethod
    async def _tell(page: Page, expression: str) -> None:
        for link in await page.frames.find():
            with contextlib.suppress(*_passing(link)):
                await page.evaluate(expression, frame=link)

    async def browsed(self, page: Page, actions: Sequence[Action]) -> None:
        """Record what was done with the browser's buttons, after what was done in the page before it."""
        await self.flush(page)  # This may be the next page already.
        for action in actions:
            label = action.url if isinstance(action, Goto) else ""
            self._report(HumanAction(kind=action.name, label=label, browsed=action))

    async def stop(self) -> None:
        """Stop listening; what was typed and not left yet is reported as well. Raises nothing."""
        for following in tuple(self._following):
            following.cancel()
        for page, followed in self._followed.items():
            for event in _FRAME_EVENTS:
                page.playwright_page.remove_listener(event, followed.on_frame)
            try:
                await self._tell(
                    page,
                    "(() => { const d = globalThis.__backstepDemonstration; d?.flush(); d?.set(false); })()",
                )
                await page.send("Page.removeScriptToEvaluateOnNewDocument", {"identifier": followed.script})
                for channel in followed.listeners:
                    await page.send("Runtime.removeBinding", {"name": _BINDING}, session=channel)
            except (PageGone, BrowserError, ActionError) as error:
                log.info("The end of a demonstration: %s", error)
            for channel, listener in followed.listeners.items():
                channel.session.remove_listener("Runtime.bindingCalled", listener)
        self._followed.clear()

    def _on_reported(self, channel: Channel, event: dict[str, Any]) -> None:
        if event.get("name") != _BINDING:
            return
        world = event["executionContextId"]
        frame = next((frame for frame, known in channel.worlds.items() if known == world), "")
        try:
            self._report(HumanAction.model_validate(json.loads(event["payload"]) | {"frame": frame}))
        except (ValueError, ValidationError) as error:
            # The error itself would tell what was typed.
            log.warning("A human action could not be read (%s).", type(error).__name__)
            self._report(HumanAction(kind="lost", text="The page reported it in a form that cannot be read."))

    def _report(self, one: HumanAction) -> None:
        self._reported += one.kind != "look"
        self.human_actions.put_nowait(one)
