"""Carrying out actions in a page, by trusted input over the protocol.

A failure is an ActionError with a sentence for the LLM; it becomes a failed
step and never ends a run.
"""

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

from playwright.async_api import Error

from core.browser.channel import FrameLink, PageGone
from core.browser.page import Page
from core.browser.sliders import SliderPlace, bring_to
from core.browser.tabs import Tabs
from core.schema import action as kinds
from core.schema.action import Action, Target, chord, fractions, modifiers
from core.schema.errors import ActionError, ElementGone
from core.schema.observation import Box
from core.schema.record import Record
from core.system.patience import within

_TYPED_BY_KEYS = 200
"""Longer texts are put in whole, apart from their last character, which is typed."""
_KEYS_SECONDS = 60.0
"""Long texts are typed key by key, and pages may work at each."""
_CLOSED_SCHEMES = ("javascript", "chrome", "devtools", "view-source", "chrome-extension")
_GONE = "is no longer in the page"
"""What the walker says of an element that was there."""
_NO_FILE_FIELD = "is not a file field"
"""What it says of one that takes no file."""
_CHOOSER_SECONDS = 3.0
"""So long a page may take after a click to ask for a file."""
_AIMS = 4
"""How often the pointer follows what moves away from it."""
_DRAWN_MILLISECONDS = 300
"""The most that an editor, a slider or a box is given to show what it was set to."""
_NOTCH = 120
"""CSS pixels that a wheel tells of one notch."""
_WHEEL = {"up": (0, -_NOTCH), "down": (0, _NOTCH), "left": (-_NOTCH, 0), "right": (_NOTCH, 0)}
_BUTTONS = {"left": 1, "right": 2}
_SELECTED_SECONDS = 0.15
"""Editors such as Quill look at what is selected only 100 ms after the mouse was let go."""
_LINK_PIXELS = 48
"""Farther than a link has to be pulled until the browser drags it."""
_HOVER_MILLISECONDS = 120
"""The most that a page which changes under the pointer is given to come to rest."""


class Located(Record):
    """An element found for an action, and a point of it that input reaches."""

    ref: int
    label: str
    xpath: str = ""
    tag: str = ""
    type: str = ""
    box: Box | None = None
    x: float = 0.0
    y: float = 0.0
    frame: str = ""
    scrolled: bool = False
    """Whether something had to be scrolled to bring it into view."""
    note: str = ""
    """What was done otherwise than asked, in a sentence; empty for nothing."""
    action: Action | None = None
    """What was done, where that was known only afterwards."""


class Actor:
    """Carries out actions on the current tab."""

    def __init__(self, tabs: Tabs) -> None:
        self._tabs = tabs

    @property
    def page(self) -> Page:
        return self._tabs.current

    async def act(self, action: Action) -> Located | None:
        """Carry out `action`; returns what it acted on, or None where it has no target.

        Returns as soon as the browser has taken the input: waiting for what it
        sets off is the caller's. Raises ActionError.
        """
        try:
            return await self._act(action)
        except PageGone as gone:
            if self.page.crashed:
                raise ActionError("The page crashed while the action was carried out.") from gone
            return None  # The action made the page go: that is an effect, not a failure.
        except Error as error:
            text = str(error).splitlines()[0]
            raise ActionError(f"The browser could not do {action}: {text}") from error

    async def _act(self, action: Action) -> Located | None:
        match action:
            case kinds.Click():
                return await self._click(action.target, at=action.at, keys=action.keys)
            case kinds.DoubleClick():
                return await self._click(action.target, 2, at=action.at)
            case kinds.RightClick():
                return await self._right_click(action)
            case kinds.ClickAt():
                return await self._click_at(action)
            case kinds.Type():
                return await self._type(action)
            case kinds.Press():
                await self._press(action.keys)
            case kinds.Hover():
                found = await self.locate(action.target, action.at)
                await self._mouse("mouseMoved", found.x, found.y)
                return found
            case kinds.Scroll():
                await self._scroll(action)
            case kinds.Select():
                return await self._field(action.target, "choose", action.option, action.selected)
            case kinds.Check():
                return await self._check(action)
            case kinds.SelectText():
                return await self._select_text(action)
            case kinds.Drag():
                return await self._drag(action)
            case kinds.Upload():
                return await self._upload(action)
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

    # Finding

    async def locate(self, target: Target, at: str = "") -> Located:
        """Find the element, bring it into view and choose a point that input reaches, or take that place of it.

        Raises ActionError.
        """
        ref, frame = await self._resolve(target)
        answer = await self.page.walker("locate", ref, fractions(at), frame=frame)
        return await self._located(target, answer, frame)

    async def _place(self, target: Target, at: str) -> Located:
        """Find where to drop: in view and with a box, but covered or not; raises ActionError."""
        ref, frame = await self._resolve(target)
        answer = await self.page.walker("place", ref, fractions(at), frame=frame)
        return await self._located(target, answer, frame, covered=True)

    async def _located(
        self, target: Target, answer: dict[str, Any], frame: FrameLink | None, *, covered: bool = False
    ) -> Located:
        _require(answer, self._say(target, answer))
        located = Located.model_validate({**answer, "frame": frame.id if frame else ""})
        if frame is not None and frame.parent is not None:
            located = await self._into_tab(located, frame, covered=covered)
        return located

    async def _resolve(self, target: Target) -> tuple[int, FrameLink | None]:
        match target:
            case kinds.RefTarget():
                return target.ref, await self._frame_of(target.ref)
            case kinds.RoleTarget():
                found = await self._search("findRole", target.role, target.name)
                what = f'{target.role} "{target.name}"'
            case kinds.XPathTarget():
                found = await self._search("findXPath", target.xpath)
                what = f"the XPath {target.xpath}"
            case kinds.FocusTarget():
                focused = await self.page.focused_element()
                if focused is None:
                    raise ActionError("Nothing has the keyboard focus; click a field first.")
                return focused["ref"], await self._frame_of(focused["ref"])
        if not found:
            raise ActionError(f"There is no {what} in this page.")
        if len(found) > 1:
            raise ActionError(f"{len(found)} elements match {what}; name one of them by its number.")
        return found[0]

    async def _search(self, call: str, *arguments: str) -> list[tuple[int, FrameLink]]:
        found: list[tuple[int, FrameLink]] = []
        for frame in await self.page.frames.find():
            answer = await self.page.walker(call, *arguments, frame=frame)
            if isinstance(answer, dict):
                if "problem" in answer:
                    raise ActionError(f"{arguments[0]} is not a valid XPath: {answer['problem']}")
                answer = answer["refs"]
            found.extend((int(ref), frame) for ref in answer)
        for ref, frame in found:
            self._remember(ref, frame)
        return found

    def _remember(self, ref: int, frame: FrameLink) -> None:
        if frame.parent is not None:
            self.page.frame_of_ref[ref] = frame.id

    async def _frame_of(self, ref: int) -> FrameLink | None:
        wanted = self.page.frame_of_ref.get(ref)
        if wanted is None:
            return None
        for frame in await self.page.frames.find():
            if frame.id == wanted:
                return frame
        raise ActionError(f"[{ref}] was in a frame that is no longer in the page.")

    async def _into_tab(self, located: Located, frame: FrameLink, *, covered: bool = False) -> Located:
        """Bring the frame's element into view and move the point from frame to tab coordinates.

        Raises ActionError where something lies over the frame there, unless it may be `covered`.
        """
        x, y, box, scrolled = located.x, located.y, located.box, located.scrolled
        link: FrameLink | None = frame
        while link is not None and link.parent is not None:
            owner = await self.page.frames.owner(link)
            if owner is None:
                raise ActionError(f"{located.label} lies in a frame that cannot be found in the page.")
            place = await self.page.walker("throughFrame", owner, x, y, covered, frame=link.parent)
            _require(place, f"[{located.ref}] {located.label}")
            if place["moved"]:
                scrolled = True
                # Which frame a point lies in follows from what was painted last.
                await self.page.walker("settle", 300, 2)
            scale = place["scale"]
            x, y = place["x"], place["y"]
            box = box and Box(
                x=place["left"] + box.x * scale,
                y=place["top"] + box.y * scale,
                width=box.width * scale,
                height=box.height * scale,
            )
            link = link.parent
        return located.replace(x=x, y=y, box=box, scrolled=scrolled)

    @staticmethod
    def _say(target: Target, answer: dict[str, Any]) -> str:
        named = answer.get("label", "")
        return f"[{target}] {named}".strip() if isinstance(target, kinds.RefTarget) else named or str(target)

    # Mouse

    async def _mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        await self.page.send("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})

    async def _click(self, target: Target, count: int = 1, *, at: str = "", keys: str = "") -> Located:
        found = await self._point_at(target, at)
        keyboard, names = self.page.playwright_page.keyboard, [key for key in keys.split("+") if key]
        try:
            for key in names:
                await self._keys(keyboard.down(key))
            await self._pressed(found.x, found.y, count, modifiers=modifiers(keys))
        finally:
            for key in reversed(names):
                await self._keys(keyboard.up(key))
        return found

    async def _pressed(
        self, x: float, y: float, count: int = 1, *, button: str = "left", modifiers: int = 0
    ) -> None:
        events = []
        for number in range(1, count + 1):
            held = {"button": button, "clickCount": number, "modifiers": modifiers}
            events.append(self._mouse("mousePressed", x, y, buttons=_BUTTONS[button], **held))
            events.append(self._mouse("mouseReleased", x, y, **held))
        # All are sent before the first is answered: the browser keeps their order.
        await self._all(events)

    async def _right_click(self, action: kinds.RightClick) -> Located:
        found = await self._point_at(action.target, action.at)
        frame = await self._frame_of(found.ref)
        # The browser's own menu would wait for a person: only the page's may open.
        await self.page.walker("hear", "contextmenu", frame=frame)
        await self._pressed(found.x, found.y, button="right")
        heard = await self.page.walker("wasHeard", frame=frame)
        if heard["came"] and not heard["taken"]:
            own = "The page has no menu of its own there; the browser's was not opened."
            return found.replace(note=f"{found.note} {own}".strip())
        return found

    async def _click_at(self, action: kinds.ClickAt) -> Located | None:
        """Click at a pixel; what is there tells which click of an element that was, to be done again anywhere."""
        x, y = action.x, action.y
        width, height = await self.page.evaluate("[innerWidth, innerHeight]")
        if x >= width or y >= height:
            raise ActionError(f"{x}, {y} is outside the window, which is {width} wide and {height} high.")
        await self._mouse("mouseMoved", x, y)
        there = await self.page.element_at(x, y)
        await self._pressed(x, y)
        if there is None:
            return None
        located = Located.model_validate({**there, "x": x, "y": y})
        box = located.box
        if box is None or not (box.width and box.height):
            return located
        across, down = (x - box.x) / box.width, (y - box.y) / box.height
        at = f"{min(max(across, 0), 1):.4f},{min(max(down, 0), 1):.4f}"
        return located.replace(action=kinds.Click(target=kinds.RefTarget(ref=located.ref), at=at))

    async def _point_at(self, target: Target, at: str = "") -> Located:
        """Bring the pointer to the element, and follow it where the page answers by moving or replacing it."""
        ref, frame = await self._resolve(target)
        answer, note = await self.page.walker("locate", ref, fractions(at), frame=frame), ""
        for _ in range(_AIMS):
            found = await self._located(target, answer, frame)
            if found.tag == "option":
                raise ActionError(f"{found.label} is an option: use select on its list.")
            await self._mouse("mouseMoved", found.x, found.y)
            now = await self.page.walker("pointed", False, frame=frame)
            if "changed" in now:
                # What the page made of the pointer may take a moment.
                await self.page.walker("settle", _HOVER_MILLISECONDS, 1, frame=frame)
                now = await self.page.walker("pointed", True, frame=frame)
            if "problem" in now:
                raise ActionError(
                    f"{self._say(target, answer)} {now['problem']} once the pointer is over it."
                )
            if "same" in now:
                there = found if frame is None else await self._located(target, answer, frame)
                if (there.x, there.y) == (found.x, found.y):
                    return found.replace(note=note)
                continue
            if now.pop("replaced", False):
                note = f"Under the pointer {answer['label']} gave way to {now['label']}, which was clicked."
            answer = now
        raise ActionError(f"{self._say(target, answer)} moves away whenever the pointer comes to it.")

    @staticmethod
    async def _all(events: list[Any]) -> None:
        results = await asyncio.gather(*events, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result

    async def _drag(self, action: kinds.Drag) -> Located:
        start, end = await self._both_in_view(action)
        mouse, page = self.page.playwright_page.mouse, self.page
        await page.answered(mouse.move(start.x, start.y))
        await page.answered(mouse.down())
        try:
            await page.answered(mouse.move(*_begun(start, end), steps=1 if end else 4))
            for _ in range(_AIMS):
                goal = end or await self._place(action.to, action.to_at)
                await page.answered(mouse.move(goal.x, goal.y, steps=8))
                await page.answered(mouse.move(goal.x, goal.y))
                # A page may scroll by itself while something is held near its edge.
                if end is not None or not (await self._place(action.to, action.to_at)).scrolled:
                    break
        finally:
            await page.answered(mouse.up())
        return start

    async def _both_in_view(self, action: kinds.Drag) -> tuple[Located, Located | None]:
        """Return both ends of a drag in one view; without the second where the window cannot show them together."""
        start = await self.locate(action.target, action.from_at)
        for _ in range(_AIMS):
            end = await self._place(action.to, action.to_at)
            if not end.scrolled:
                return start, end
            # Scrolling to the one has moved the other.
            start = await self.locate(action.target, action.from_at)
            if not start.scrolled:
                return start, end
        return start, None

    async def _scroll(self, action: kinds.Scroll) -> None:
        """Scroll; a page that takes the wheel over the element, such as a map, gets one notch of it instead."""
        ref, frame = None, None
        if action.target is not None:
            ref, frame = await self._resolve(action.target)
            if await self._wheel(ref, frame, action):
                return
        answer = await self.page.walker("scrollBy", ref, action.direction, frame=frame)
        if "problem" in answer and ref is None and await self._wheel(None, None, action):
            return
        _require(answer, f"[{action.target}]" if action.target else "The page")
        if "wheel" in answer and action.target is not None:
            found = await self.locate(action.target)
            across, down = answer["wheel"]
            for _ in range(answer["times"]):
                await self._mouse("mouseWheel", found.x, found.y, deltaX=across, deltaY=down)

    async def _wheel(self, ref: int | None, frame: FrameLink | None, action: kinds.Scroll) -> bool:
        """Turn the wheel over an element, or the middle of the window; returns whether the page took it."""
        place = await self.page.walker("wheelPlace", ref, frame=frame)
        _require(place, f"[{action.target}]")
        if "x" not in place:
            return False
        x, y = place["x"], place["y"]
        if frame is not None and frame.parent is not None:
            located = Located.model_validate({**place, "frame": frame.id})
            located = await self._into_tab(located, frame, covered=True)
            x, y = located.x, located.y
        # The browser asks the page about the wheel only once it has painted since somebody listens.
        await self.page.walker("settle", _HOVER_MILLISECONDS, 2, frame=frame)
        right, down = _WHEEL[action.direction]
        await self._mouse("mouseWheel", x, y, deltaX=right, deltaY=down)
        heard = await self.page.walker("wasHeard", frame=frame)
        return bool(heard["came"] and (heard["taken"] or (ref is None and heard["changed"])))

    async def _select_text(self, action: kinds.SelectText) -> Located:
        ref, frame = await self._resolve(action.target)
        answer = await self.page.walker("findWords", ref, action.text, action.nth, frame=frame)
        _require(answer, self._say(action.target, answer))
        if answer.get("field"):
            found = await self._select_in_field(kinds.RefTarget(ref=ref), answer, frame)
        else:
            by_mouse = answer.pop("by_mouse")
            found = Located.model_validate({**answer, "frame": frame.id if frame else ""})
            if by_mouse:
                found = await self._select_by_mouse(action.target, frame) or found
        if await self.page.walker("wordsSelected", False, frame=frame):
            await asyncio.sleep(_SELECTED_SECONDS)
            return found
        if not await self.page.walker("wordsSelected", True, frame=frame):
            raise ActionError(f"{self._say(action.target, answer)} does not let these words be selected.")
        return found.replace(note="They were selected without the mouse, which does not select them there.")

    async def _select_by_mouse(self, target: Target, frame: FrameLink | None) -> Located | None:
        """Draw the mouse over the words; returns where they begin, or None where something lies over them."""

        async def end(last: bool) -> Located:
            answer = await self.page.walker("endOfWords", last, frame=frame)
            return await self._located(target, answer if answer.pop("free") else {**answer, "x": -1}, frame)

        await end(last=True)
        start = await end(last=False)
        mouse, page = self.page.playwright_page.mouse, self.page
        if start.x < 0:
            return None
        await page.answered(mouse.move(start.x, start.y))
        await page.answered(mouse.down())
        try:
            # The browser asks where it began as the mouse first moves; then the window may scroll.
            await page.answered(mouse.move(start.x + 6, start.y, steps=2))
            goal = await end(last=True)
            if goal.x >= 0:
                await page.answered(mouse.move(goal.x, goal.y, steps=8))
                await page.answered(mouse.move(goal.x, goal.y))
        finally:
            await page.answered(mouse.up())
        return start

    async def _select_in_field(
        self, target: Target, answer: dict[str, Any], frame: FrameLink | None
    ) -> Located:
        """Set the caret by a click, and select from there with Shift and arrows."""
        found = await self._click(target)
        keyboard, keys, letters = self.page.playwright_page.keyboard, self._keys, answer["letters"]
        ready = letters - 1 if letters > _TYPED_BY_KEYS else 0
        if not (await self.page.walker("caret", ready, frame=frame)).get("caret"):
            ready = 0
            await keys(keyboard.press("Home"))
            for _ in range(answer["before"]):
                await keys(keyboard.press("ArrowRight"))
        for _ in range(letters - ready):
            await keys(keyboard.press("Shift+ArrowRight"))
        return found

    # Keyboard and fields

    async def _press(self, keys: str) -> None:
        try:
            await self._keys(self.page.playwright_page.keyboard.press(chord(keys)))
        except Error as error:
            if "Unknown key" in str(error):
                raise ActionError(
                    f'"{keys}" is not a key; use names such as Enter, Tab, ArrowDown, Control+a.'
                ) from error
            raise

    async def _type(self, action: kinds.Type) -> Located:
        if isinstance(action.target, kinds.FocusTarget):
            ref, frame = await self._resolve(action.target)
            found = Located(ref=ref, label=await self._label(ref, frame), frame=frame.id if frame else "")
        else:
            found = await self.locate(action.target)
            frame = await self._frame_of(found.ref)
        answer = await self.page.walker("ready", found.ref, action.append, frame=frame)
        _require(answer, f"[{found.ref}] {found.label}")
        keyboard, keys = self.page.playwright_page.keyboard, self._keys
        if "editor" in answer:
            await self._write(action, found, frame, answer["editor"])
        elif answer.get("slider"):
            found = await self._slide(action.text, found, frame)
        elif answer.get("assign"):
            answer = await self.page.walker("assign", found.ref, action.text, frame=frame)
            _require(answer, f"[{found.ref}] {found.label}")
            if found.type == "range":
                found = await self._slide(action.text, found, frame)
        elif not action.text:
            if not action.append and not answer.get("empty"):
                await keys(keyboard.press("Delete"))
        elif len(action.text) > _TYPED_BY_KEYS:
            await keys(keyboard.insert_text(action.text[:-1]))
            await keys(keyboard.type(action.text[-1]))
        else:
            await keys(keyboard.type(action.text))
        if action.enter:
            await keys(keyboard.press("Enter"))
        return found

    async def _write(self, action: kinds.Type, found: Located, frame: FrameLink | None, before: str) -> None:
        """Put a text into an editor that draws its lines itself; raises ActionError where it takes none."""
        keyboard, keys = self.page.playwright_page.keyboard, self._keys
        await keys(keyboard.press("ControlOrMeta+End" if action.append else "ControlOrMeta+a"))
        if not action.text:
            if not action.append:
                await keys(keyboard.press("Delete"))
        elif not await self.page.walker("paste", found.ref, action.text, frame=frame):
            await keys(keyboard.insert_text(action.text))
        await self.page.walker("settle", _DRAWN_MILLISECONDS, 2, frame=frame)
        after = await self.page.walker("written", found.ref, frame=frame)
        changes = bool(action.text) if action.append else action.text != before
        if after is not None and after == before and changes:
            raise ActionError(f"[{found.ref}] {found.label} did not take the text; it may be read-only.")

    async def _slide(self, text: str, found: Located, frame: FrameLink | None) -> Located:
        """Bring a slider to a value by keys, unless it is there; raises ActionError where it cannot be reached."""
        what = f"[{found.ref}] {found.label}"

        async def stand() -> SliderPlace:
            await self.page.walker("settle", _DRAWN_MILLISECONDS, 1, frame=frame)
            answer = await self.page.walker("slid", found.ref, frame=frame)
            _require(answer, what)
            return SliderPlace.model_validate(answer)

        async def press(key: str, times: int) -> None:
            for _ in range(times):
                await self._press(key)

        reached = await bring_to(text, what, stand, press)
        return found.replace(note=f"{what} is at {reached} now.")

    async def _label(self, ref: int, frame: FrameLink | None) -> str:
        return str(await self.page.walker("labelOf", ref, frame=frame))

    async def _keys(self, work: Awaitable[None]) -> None:
        await self.page.answered(work, timeout=_KEYS_SECONDS)

    async def _field(self, target: Target, call: str, *values: object) -> Located:
        found = await self.locate(target)
        answer = await self.page.walker(call, found.ref, *values, frame=await self._frame_of(found.ref))
        _require(answer, f"[{found.ref}] {found.label}")
        return found

    async def _check(self, action: kinds.Check) -> Located:
        ref, frame = await self._resolve(action.target)
        before = await self.page.walker("isChecked", ref, frame=frame)
        _require(before, f"[{ref}]")
        if before["checked"] == action.checked:
            return await self.locate(kinds.RefTarget(ref=ref))
        if before.get("radio") and not action.checked:
            raise ActionError(f"[{ref}] is a radio button: choose another one to clear it.")
        found = await self._click(kinds.RefTarget(ref=ref))
        after = await self.page.walker("isChecked", found.ref, frame=frame)
        if after.get("checked") == before["checked"]:
            await self.page.walker("settle", _DRAWN_MILLISECONDS, 2, frame=frame)
            after = await self.page.walker("isChecked", found.ref, frame=frame)
        if after.get("checked") != action.checked and "problem" not in after:
            raise ActionError(f"[{ref}] {found.label} did not change when it was clicked.")
        return found

    async def _upload(self, action: kinds.Upload) -> Located:
        path = _existing(action.path)
        ref, frame = await self._resolve(action.target)
        link = frame or self.page.main_frame()
        answer = await self.page.walker("fileField", ref, frame=link)
        if answer.get("problem") == _NO_FILE_FIELD:
            return await self._upload_where_asked(action.target, path, link)
        _require(answer, f"[{ref}]")
        handle = await self.page.send(
            "Runtime.evaluate",
            {"expression": f"__backstep.byRef({answer['ref']})", "contextId": await self.page.world(link)},
            session=link.session,
        )
        await self.page.send(
            "DOM.setFileInputFiles",
            {"files": [str(path)], "objectId": handle["result"]["objectId"]},
            session=link.session,
        )
        return Located(ref=ref, label=await self._label(ref, frame), frame=link.id)

    async def _upload_where_asked(self, target: Target, path: Path, link: FrameLink) -> Located:
        """Click what asks for a file, and give it to the field that asks; no chooser is shown meanwhile."""
        session, asked = link.session.session, asyncio.get_running_loop().create_future()

        def note(event: dict[str, Any]) -> None:
            if not asked.done():
                asked.set_result(event)

        session.on("Page.fileChooserOpened", note)
        intercept = "Page.setInterceptFileChooserDialog"
        await self.page.send(intercept, {"enabled": True}, session=link.session)
        try:
            found = await self._click(target, 1)
            async with within(_CHOOSER_SECONDS):
                event = await asked
            if "backendNodeId" not in event:
                raise ActionError(f"{found.label} asks for a file in a way that only a person can answer.")
            files = {"files": [str(path)], "backendNodeId": event["backendNodeId"]}
            await self.page.send("DOM.setFileInputFiles", files, session=link.session)
        except TimeoutError:
            raise ActionError(
                f"{found.label} is no file field, and a click on it asked for no file; name the file field, "
                "or the button that asks for one."
            ) from None
        finally:
            session.remove_listener("Page.fileChooserOpened", note)
            await self.page.send(intercept, {"enabled": False}, session=link.session)
        return found

    # Navigation

    async def _goto(self, url: str) -> None:
        url = url.strip()
        scheme = url.partition(":")[0].lower()
        if scheme in _CLOSED_SCHEMES:
            raise ActionError(f"{scheme}: addresses are not opened; give a web address.")
        if "://" not in url and scheme not in ("about", "data", "blob"):
            url = f"http://{url}" if url.startswith(("localhost", "127.")) else f"https://{url}"
        await self._tabs.goto(url)

    async def _history(self, by: int) -> None:
        history = await self.page.send("Page.getNavigationHistory", {})
        index = history["currentIndex"] + by
        if not 0 <= index < len(history["entries"]):
            raise ActionError("There is no page to go " + ("back to." if by < 0 else "forward to."))
        await self.page.send("Page.navigateToHistoryEntry", {"entryId": history["entries"][index]["id"]})


def _begun(start: Located, end: Located | None) -> tuple[float, float]:
    """Return where a mouse that holds something goes first, so that the browser takes it for a drag.

    Before the window scrolls it goes as far as the browser wants of links, for it asks then what is held.
    """
    if end is None:
        return start.x, start.y + (_LINK_PIXELS if start.y <= 2 * _LINK_PIXELS else -_LINK_PIXELS)
    return start.x + (3 if end.x >= start.x else -3), start.y + (3 if end.y >= start.y else -3)


def _require(answer: dict[str, Any], what: str) -> None:
    """Raise ActionError where the walker tells a problem with the element, and ElementGone where it has gone."""
    if "problem" in answer:
        kind = ElementGone if answer["problem"] == _GONE else ActionError
        raise kind(f"{what} {answer['problem']}.")


def _existing(path: str) -> Path:
    found = Path(path).expanduser().absolute()
    if not found.is_file():
        raise ActionError(f"There is no file {found} to upload.")
    return found
