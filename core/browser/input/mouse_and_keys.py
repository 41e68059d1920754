"""Clicks and key presses, sent as those of a person."""

import asyncio
from collections.abc import Awaitable
from typing import Any

from playwright.async_api import Error

from core.browser.locating import Located, frame_of, locate, located_in_tab, resolve, say
from core.browser.page import Page
from core.schema import action as kinds
from core.schema.action import Target, chord, fractions, modifiers
from core.schema.errors import ActionError

TYPED_BY_KEYS = 200
"""Longer texts are put in whole, apart from their last character, which is typed."""
_KEYS_SECONDS = 60.0
"""Long texts are typed key by key, and pages may work at each."""
AIMS = 4
"""How often the pointer follows what moves away from it."""
_BUTTONS = {"left": 1, "right": 2}
HOVER_MILLISECONDS = 120
"""The most that a page which changes under the pointer is given to settle."""
_OPENS_MILLISECONDS = 400
"""The most that a page is given to show something under a pointer that rests, such as a menu that waits a moment."""


async def click(page: Page, target: Target, count: int = 1, *, at: str = "", keys: str = "") -> Located:
    found = await _point_at(page, target, at)
    keyboard, names = page.playwright_page.keyboard, [key for key in keys.split("+") if key]
    try:
        for key in names:
            await typed(page, keyboard.down(key))
        await _pressed(page, found.x, found.y, count, modifiers=modifiers(keys))
    finally:
        for key in reversed(names):
            await typed(page, keyboard.up(key))
    return found


async def right_click(page: Page, action: kinds.RightClick) -> Located:
    found = await _point_at(page, action.target, action.at)
    frame = await frame_of(page, found.ref)
    # The browser's own menu would wait for a person: only the page's may open.
    await page.walker("hear", "contextmenu", frame=frame)
    await _pressed(page, found.x, found.y, button="right")
    heard = await page.walker("wasHeard", frame=frame)
    if heard["came"] and not heard["taken"]:
        own = "The page has no context menu there, and the browser's menu was not opened."
        return found.replace(note=f"{found.note} {own}".strip())
    return found


async def hover(page: Page, action: kinds.Hover) -> Located:
    found = await locate(page, action.target, action.at)
    frame = await frame_of(page, found.ref)
    await asyncio.gather(
        page.walker("waitForChange", _OPENS_MILLISECONDS, frame=frame),
        mouse_event(page, "mouseMoved", found.x, found.y),
    )
    return found


async def click_at(page: Page, action: kinds.ClickAt) -> Located | None:
    """Click at a pixel; returns the element there, so that the click can be repeated elsewhere."""
    x, y = action.x, action.y
    width, height = await page.evaluate("[innerWidth, innerHeight]")
    if x >= width or y >= height:
        raise ActionError(f"{x}, {y} is outside the window, which is {width} × {height} pixels.")
    await mouse_event(page, "mouseMoved", x, y)
    there = await page.element_at(x, y)
    await _pressed(page, x, y)
    if there is None:
        return None
    located = Located.model_validate({**there, "x": x, "y": y})
    box = located.box
    if box is None or not (box.width and box.height):
        return located
    across, down = (x - box.x) / box.width, (y - box.y) / box.height
    at = f"{min(max(across, 0), 1):.4f},{min(max(down, 0), 1):.4f}"
    return located.replace(action=kinds.Click(target=kinds.RefTarget(ref=located.ref), at=at))


async def mouse_event(page: Page, kind: str, x: float, y: float, **more: Any) -> None:
    await page.send("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})


async def press(page: Page, keys: str) -> None:
    try:
        await typed(page, page.playwright_page.keyboard.press(chord(keys)))
    except Error as error:
        if "Unknown key" in str(error):
            raise ActionError(
                f'"{keys}" is not a key; use names such as Enter, Tab, ArrowDown or Control+a.'
            ) from error
        raise


async def typed(page: Page, work: Awaitable[None]) -> None:
    await page.answered(work, timeout=_KEYS_SECONDS)


async def _pressed(
    page: Page, x: float, y: float, count: int = 1, *, button: str = "left", modifiers: int = 0
) -> None:
    events = []
    for number in range(1, count + 1):
        held = {"button": button, "clickCount": number, "modifiers": modifiers}
        events.append(mouse_event(page, "mousePressed", x, y, buttons=_BUTTONS[button], **held))
        events.append(mouse_event(page, "mouseReleased", x, y, **held))
    # All are sent before the first is answered: the browser keeps their order.
    await _all(events)


async def _all(events: list[Any]) -> None:
    results = await asyncio.gather(*events, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result


async def _point_at(page: Page, target: Target, at: str = "") -> Located:
    """Bring the pointer to the element, and follow it where the page answers by moving or replacing it."""
    ref, frame = await resolve(page, target)
    answer, note = await page.walker("locate", ref, fractions(at), frame=frame), ""
    for _ in range(AIMS):
        found = await located_in_tab(page, target, answer, frame)
        if found.tag == "option":
            raise ActionError(f"{found.label} is an option; use select on its list.")
        await mouse_event(page, "mouseMoved", found.x, found.y)
        now = await page.walker("pointed", False, frame=frame)
        if "changed" in now:
            # What the page made of the pointer may take a moment.
            await page.walker("settle", HOVER_MILLISECONDS, 1, frame=frame)
            now = await page.walker("pointed", True, frame=frame)
        if "problem" in now:
            raise ActionError(f"{say(target, answer)} {now['problem']} when the pointer is over it.")
        if "same" in now:
            there = found if frame is None else await located_in_tab(page, target, answer, frame)
            if (there.x, there.y) == (found.x, found.y):
                return found.replace(note=note)
            continue
        if now.pop("replaced", False):
            note = f"Under the pointer {answer['label']} was replaced by {now['label']}, which was clicked."
        answer = now
    raise ActionError(f"{say(target, answer)} moves away from the pointer.")
