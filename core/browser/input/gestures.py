"""Gestures that move the mouse: dragging, scrolling with the wheel, selecting text."""

import asyncio
from typing import Any

from core.browser.channel import FrameLink
from core.browser.input.mouse_and_keys import (
    AIMS,
    HOVER_MILLISECONDS,
    TYPED_BY_KEYS,
    click,
    mouse_event,
    typed,
)
from core.browser.locating import (
    Located,
    frame_of,
    into_tab,
    locate,
    locate_to_drop,
    located_in_tab,
    require,
    resolve,
    say,
)
from core.browser.page import Page
from core.schema import action as kinds
from core.schema.action import Target
from core.schema.errors import ActionError

_NOTCH = 120
"""CSS pixels that a wheel tells of one notch."""
_WHEEL = {"up": (0, -_NOTCH), "down": (0, _NOTCH), "left": (-_NOTCH, 0), "right": (_NOTCH, 0)}
_SELECTED_SECONDS = 0.15
"""Editors such as Quill look at what is selected only 100 ms after the mouse was let go."""
_LINK_PIXELS = 48
"""Farther than a link has to be pulled until the browser drags it."""


_HELD_SECONDS = 0.3
"""Lists such as Tabulator's let a row be moved only once the mouse has been down for a quarter of a second."""
_ASIDE_MILLISECONDS = 500
"""The most that rows are given to move aside before what is dragged is let go."""


async def drag(page: Page, action: kinds.Drag) -> Located:
    start, end = await _both_in_view(page, action)
    mouse = page.playwright_page.mouse
    await page.answered(mouse.move(start.x, start.y))
    await page.answered(mouse.down())
    try:
        await asyncio.sleep(_HELD_SECONDS)
        await page.answered(mouse.move(*_begun(start, end), steps=1 if end else 4))
        for _ in range(AIMS):
            goal = end or await locate_to_drop(page, action.to, action.to_at)
            await page.answered(mouse.move(goal.x, goal.y, steps=8))
            await page.answered(mouse.move(goal.x, goal.y))
            # A page may scroll by itself while something is held near its edge.
            if end is not None or not (await locate_to_drop(page, action.to, action.to_at)).scrolled:
                break
        # Lists that move their rows aside look at the mouse again only once those have come to rest.
        frame = await frame_of(page, start.ref)
        await page.walker("settle", _ASIDE_MILLISECONDS, 2, frame=frame)
        await page.answered(mouse.move(goal.x + 1, goal.y))
        await page.answered(mouse.move(goal.x, goal.y))
    finally:
        await page.answered(mouse.up())
    return start


async def scroll(page: Page, action: kinds.Scroll) -> None:
    """Scroll; a page that takes the wheel over the element, such as a map, gets one notch of it instead."""
    ref, frame = None, None
    if action.target is not None:
        ref, frame = await resolve(page, action.target)
        if await _wheel(page, ref, frame, action):
            return
    answer = await page.walker("scrollBy", ref, action.direction, frame=frame)
    if "problem" in answer and ref is None and await _wheel(page, None, None, action):
        return
    require(answer, f"[{action.target}]" if action.target else "The page")
    if "wheel" in answer and action.target is not None:
        found = await locate(page, action.target)
        across, down = answer["wheel"]
        for _ in range(answer["times"]):
            await mouse_event(page, "mouseWheel", found.x, found.y, deltaX=across, deltaY=down)


async def select_text(page: Page, action: kinds.SelectText) -> Located:
    ref, frame = await resolve(page, action.target)
    answer = await page.walker("findWords", ref, action.text, action.nth, frame=frame)
    require(answer, say(action.target, answer))
    if answer.get("field"):
        found = await _select_in_field(page, kinds.RefTarget(ref=ref), answer, frame)
    else:
        by_mouse = answer.pop("by_mouse")
        found = Located.model_validate({**answer, "frame": frame.id if frame else ""})
        if by_mouse:
            found = await _select_by_mouse(page, action.target, frame) or found
    if await page.walker("wordsSelected", False, frame=frame):
        await asyncio.sleep(_SELECTED_SECONDS)
        return found
    if not await page.walker("wordsSelected", True, frame=frame):
        raise ActionError(f"{say(action.target, answer)} does not allow this text to be selected.")
    return found.replace(
        note="The text was selected by script, because dragging the mouse does not select it there."
    )


async def _both_in_view(page: Page, action: kinds.Drag) -> tuple[Located, Located | None]:
    """Return both ends of a drag in one view; without the second where the window cannot show them together."""
    start = await locate(page, action.target, action.from_at)
    for _ in range(AIMS):
        end = await locate_to_drop(page, action.to, action.to_at)
        if not end.scrolled:
            return start, end
        # Scrolling to the one has moved the other.
        start = await locate(page, action.target, action.from_at)
        if not start.scrolled:
            return start, end
    return start, None


def _begun(start: Located, end: Located | None) -> tuple[float, float]:
    """Return where a mouse that holds something goes first, so that the browser takes it for a drag.

    Before the window scrolls it goes as far as the browser wants of links, because it asks then what is held.
    """
    if end is None:
        return start.x, start.y + (_LINK_PIXELS if start.y <= 2 * _LINK_PIXELS else -_LINK_PIXELS)
    return start.x + (3 if end.x >= start.x else -3), start.y + (3 if end.y >= start.y else -3)


async def _wheel(page: Page, ref: int | None, frame: FrameLink | None, action: kinds.Scroll) -> bool:
    """Turn the wheel over an element, or the middle of the window; returns whether the page took it."""
    place = await page.walker("wheelPlace", ref, frame=frame)
    require(place, f"[{action.target}]")
    if "x" not in place:
        return False
    x, y = place["x"], place["y"]
    if frame is not None and frame.parent is not None:
        located = Located.model_validate({**place, "frame": frame.id})
        located = await into_tab(page, located, frame, covered=True)
        x, y = located.x, located.y
    # The browser asks the page about the wheel only once it has painted since somebody listens.
    await page.walker("settle", HOVER_MILLISECONDS, 2, frame=frame)
    right, down = _WHEEL[action.direction]
    await mouse_event(page, "mouseWheel", x, y, deltaX=right, deltaY=down)
    heard = await page.walker("wasHeard", frame=frame)
    return bool(heard["came"] and (heard["taken"] or (ref is None and heard["changed"])))


async def _select_by_mouse(page: Page, target: Target, frame: FrameLink | None) -> Located | None:
    """Draw the mouse over the words; returns where they begin, or None if something lies over them."""

    async def end(last: bool) -> Located:
        answer = await page.walker("endOfWords", last, frame=frame)
        return await located_in_tab(
            page, target, answer if answer.pop("free") else {**answer, "x": -1}, frame
        )

    await end(last=True)
    start = await end(last=False)
    mouse = page.playwright_page.mouse
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
    page: Page, target: Target, answer: dict[str, Any], frame: FrameLink | None
) -> Located:
    """Set the caret by a click, and select from there with Shift and arrows."""
    found = await click(page, target)
    keyboard, letters = page.playwright_page.keyboard, answer["letters"]
    ready = letters - 1 if letters > TYPED_BY_KEYS else 0
    if not (await page.walker("caret", ready, frame=frame)).get("caret"):
        ready = 0
        await typed(page, keyboard.press("Home"))
        for _ in range(answer["before"]):
            await typed(page, keyboard.press("ArrowRight"))
    for _ in range(letters - ready):
        await typed(page, keyboard.press("Shift+ArrowRight"))
    return found
