"""Carries out actions in a page with trusted input over the protocol.

The functions for elements are in `mouse_and_keys`, `gestures` and `fields`. They find their elements with
`locating`. A failure is an ActionError with a sentence for the LLM. It becomes a failed step and never ends a
run.
"""

from playwright.async_api import Error

from core.browser.boundary import Boundary
from core.browser.channel import PageGone
from core.browser.input import fields, gestures, mouse_and_keys
from core.browser.locating import Located
from core.browser.page import Page
from core.browser.tabs import Tabs
from core.schema import action as kinds
from core.schema.action import Action
from core.schema.errors import ActionError, BrowserError
from core.schema.hosts import has_scheme
from core.schema.secrets import named, names_in, with_values


class Actor:
    """Carries out actions on the current tab."""

    def __init__(self, tabs: Tabs) -> None:
        self._tabs = tabs
        self._answers: list[tuple[bool, str | None]] = []
        """Those for the dialogs of the next action."""

    @property
    def page(self) -> Page:
        return self._tabs.current

    async def act(self, action: Action) -> Located | None:
        """Carry out `action` and return its element, or None if it has no target.

        An answer for dialogs is for those that the next action sets off. Returns as soon as the browser has
        received the input; the caller waits for its effects. Raises ActionError.
        """
        action = self._with_secrets(action)
        if isinstance(action, kinds.AnswerDialog):
            self._answers.append((action.answer == "accept", action.text))
            return None
        answers, self._answers = self._answers, []
        self._tabs.browser.host.events.dialogs.plan(answers)
        try:
            return await self._act(action)
        except PageGone as gone:
            if self.page.crashed:
                raise ActionError("The page crashed while the action was carried out.") from gone
            return None  # The action made the page go: that is an effect, not a failure.
        except Error as error:
            text = str(error).splitlines()[0]
            raise ActionError(f"The browser could not do {action}: {text}") from error

    def _with_secrets(self, action: Action) -> Action:
        """Return an action with the values of the secrets that it names; raises ActionError."""
        values = self._tabs.secrets
        try:
            match action:
                case kinds.Type() | kinds.AnswerDialog(text=str()):
                    return action.replace(text=with_values(action.text or "", values))
                case kinds.Select():
                    return action.replace(option=with_values(action.option, values))
                case kinds.Goto(url=url) if names_in(url):
                    raise ActionError(f"A secret is never put into an address; open {url} without it.")
            return action
        except KeyError as unknown:
            known = ", ".join(map(named, values))
            there = f"the secrets of this task are {known}" if known else "this task has none"
            raise ActionError(f"There is no {named(unknown.args[0])}; {there}.") from None

    async def difference(self, done: Located | None) -> str:
        """Return a sentence where a field holds something else by now than what was put into it; raises nothing."""
        if done is None:
            return ""
        try:
            return await fields.difference(self.page, done)
        except (PageGone, ActionError, BrowserError):
            return ""  # The page, or the frame, is gone.

    async def _act(self, action: Action) -> Located | None:
        match action:
            case kinds.Click():
                return await mouse_and_keys.click(self.page, action.target, at=action.at, keys=action.keys)
            case kinds.DoubleClick():
                return await mouse_and_keys.click(self.page, action.target, 2, at=action.at)
            case kinds.RightClick():
                return await mouse_and_keys.right_click(self.page, action)
            case kinds.ClickAt():
                return await mouse_and_keys.click_at(self.page, action)
            case kinds.Type():
                return await fields.type_text(self.page, action, self._tabs.passwords)
            case kinds.Press():
                await mouse_and_keys.press(self.page, action.keys)
            case kinds.Hover():
                return await mouse_and_keys.hover(self.page, action)
            case kinds.Scroll():
                await gestures.scroll(self.page, action)
            case kinds.Select():
                return await fields.choose(self.page, action)
            case kinds.Check():
                return await fields.check(self.page, action)
            case kinds.SelectText():
                return await gestures.select_text(self.page, action)
            case kinds.Drag():
                return await gestures.drag(self.page, action)
            case kinds.Upload():
                if self._tabs.border.boundary is not None:
                    await self._tabs.border.boundary.give(action.paths)
                return await fields.upload(self.page, action)
            case kinds.Goto():
                await self._goto(action.url)
            case kinds.GoBack():
                await self._history(-1)
            case kinds.GoForward():
                await self._history(1)
            case kinds.NewTab():
                await self._tabs.open()
            case kinds.TabFocus():
                await self._tabs.focus(action.index)
            case kinds.CloseTab():
                await self._tabs.close_current()
            case kinds.Wait():
                await self.page.walker("waitForChange", action.seconds * 1000, timeout=action.seconds + 5)
            case _:
                raise ActionError(f"{action.kind} is not an action on the page.")
        return None

    async def _goto(self, url: str) -> None:
        url = url.strip()
        if not has_scheme(url):
            url = f"http://{url}" if url.startswith(("localhost", "127.")) else f"https://{url}"
        # Without a boundary the person, or a task that begins, has chosen the address.
        (self._tabs.border.boundary or Boundary(url)).check_scheme(url)
        await self._tabs.goto(url)

    async def _history(self, by: int) -> None:
        history = await self.page.send("Page.getNavigationHistory", {})
        index = history["currentIndex"] + by
        if not 0 <= index < len(history["entries"]):
            raise ActionError("There is no page to go " + ("back to." if by < 0 else "forward to."))
        await self.page.send("Page.navigateToHistoryEntry", {"entryId": history["entries"][index]["id"]})
