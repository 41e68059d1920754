"""What a person does in the live page, recorded as the actions that would do it again."""

import asyncio
import contextlib
import json
import logging
from typing import Any

from pydantic import Field, ValidationError

from core.browser.channel import WORLD, PageGone, script
from core.browser.page import Page
from core.schema.action import (
    Action,
    Check,
    Click,
    DoubleClick,
    Press,
    RefTarget,
    RightClick,
    Select,
    Target,
    Type,
    XPathTarget,
)
from core.schema.errors import ActionError, BrowserError
from core.schema.observation import Observation, Ref
from core.schema.record import Record

log = logging.getLogger(__name__)

_BINDING = "__backstepReported"
_BEGIN = "__backstepDemonstration.set(true)"


class HumanAction(Record):
    """One thing that a person did, as the page reported it."""

    kind: str
    """``look``: nothing is done yet, but the page has changed."""
    ref: Ref | None = None
    """The ref of the element, where it had one already."""
    label: str = ""
    xpath: str = ""
    text: str = ""
    """What was typed or chosen; of a password as many bullets."""
    secret: str = Field(default="", repr=False, exclude=True)
    """The password that was typed: kept in memory only, to type it again."""
    place: str = Field(default="", exclude=True)
    """Where its field stands: origin and XPath."""
    keys: str = ""
    """The key or chord of a press, or what was held at a click."""
    at: str = ""
    """The place in a drawing or a picture that was clicked."""
    checked: bool = True
    selected: bool = True
    """Of an option: whether it was chosen, or taken back."""
    typing: bool = True
    """Of a look: whether something was typed that is not reported yet; else the page changed by itself."""

    def action(self, page: Observation) -> Action | None:
        """Return the action that would do it again in the page as it was before; None for what has none."""
        target = self._target(page)
        if self.kind == "press":
            return Press(keys=self.keys)
        if target is None:
            return None
        match self.kind:
            case "click":
                return Click(target=target, at=self.at, keys=self.keys)
            case "double_click":
                return DoubleClick(target=target, at=self.at)
            case "right_click":
                return RightClick(target=target, at=self.at)
            case "type":
                return Type(target=target, text=self.text)
            case "select":
                return Select(target=target, option=self.text, selected=self.selected)
            case "check":
                return Check(target=target, checked=self.checked)
        return None

    def _target(self, page: Observation) -> Target | None:
        if self.ref is not None and page.element(self.ref) is not None:
            return RefTarget(ref=self.ref)
        return XPathTarget(xpath=self.xpath) if self.xpath else None


class Demonstration:
    """Follows a person through the documents of tabs; `human_actions` holds what they do, in order."""

    def __init__(self) -> None:
        self.human_actions: asyncio.Queue[HumanAction] = asyncio.Queue()
        self._followed: dict[Page, str] = {}
        """The pages that are listened to, with the number of the script in each."""

    async def follow(self, page: Page) -> None:
        """Listen to a tab from now on; raises BrowserError and PageGone."""
        if page in self._followed:
            return
        source = f"{script('demonstration')}\n{_BEGIN};"
        page.channel.session.on("Runtime.bindingCalled", self._on_reported)
        await page.send("Runtime.addBinding", {"name": _BINDING, "executionContextName": WORLD})
        added = await page.send(
            "Page.addScriptToEvaluateOnNewDocument", {"source": source, "worldName": WORLD}
        )
        self._followed[page] = str(added["identifier"])
        with contextlib.suppress(ActionError):  # An error page of the browser's own has nothing to tell.
            await page.evaluate(source)

    async def stop(self) -> None:
        """Listen no more; what was typed and not left yet is reported as well. Raises nothing."""
        for page, identifier in self._followed.items():
            try:
                await page.evaluate(
                    "(() => { const d = globalThis.__backstepDemonstration; d?.flush(); d?.set(false); })()"
                )
                await page.send("Page.removeScriptToEvaluateOnNewDocument", {"identifier": identifier})
                await page.send("Runtime.removeBinding", {"name": _BINDING})
            except (PageGone, BrowserError, ActionError) as error:
                log.info("The end of a demonstration: %s", error)
            page.channel.session.remove_listener("Runtime.bindingCalled", self._on_reported)
        self._followed.clear()

    def _on_reported(self, event: dict[str, Any]) -> None:
        if event.get("name") != _BINDING:
            return
        try:
            self.human_actions.put_nowait(HumanAction.model_validate(json.loads(event["payload"])))
        except (ValueError, ValidationError) as error:
            # The error itself would tell what was typed.
            log.warning("A human action could not be read (%s).", type(error).__name__)
