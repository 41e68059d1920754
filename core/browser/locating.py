"""Finds the element that an action names, and a point of it that input reaches, in the tab's coordinates."""

import re
from typing import Any, Literal

from pydantic import Field

from core.browser.channel import FrameLink
from core.browser.page import Page
from core.schema import action as kinds
from core.schema.action import IN_FRAME, Action, Target, fractions
from core.schema.errors import ActionError, ElementGone
from core.schema.observation import Box
from core.schema.record import Record

_GONE = "is no longer in the page"
"""What the walker says of an element that was there."""

_IN_FRAME = re.compile(re.escape(IN_FRAME) + r"(?=[/(])")
"""Where an XPath goes on in a frame; the same characters may be in a text of it."""


class Filled(Record):
    """What was put into a field, to compare it with what the field holds later."""

    ref: int
    """The field itself, which an upload reaches through a button."""
    kind: Literal["text", "part", "option", "no option", "box", "files"]
    """``part``: it was added to a text that is not known."""
    value: str | bool | tuple[str, ...]


class Located(Record):
    """An element found for an action, with a point that input reaches."""

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
    """What was done differently from the request, in a sentence; empty for nothing."""
    filled: Filled | None = Field(default=None, repr=False)
    action: Action | None = None
    """What was done, if that was known only afterwards."""


async def locate(page: Page, target: Target, at: str = "") -> Located:
    """Find the element, bring it into view and choose a point that input reaches, or take that place of it.

    Raises ActionError.
    """
    ref, frame = await resolve(page, target)
    answer = await page.walker("locate", ref, fractions(at), frame=frame)
    return await located_in_tab(page, target, answer, frame)


async def locate_to_drop(page: Page, target: Target, at: str) -> Located:
    """Find where to drop: in view and with a box, but covered or not; raises ActionError."""
    ref, frame = await resolve(page, target)
    answer = await page.walker("place", ref, fractions(at), frame=frame)
    return await located_in_tab(page, target, answer, frame, covered=True)


async def resolve(page: Page, target: Target) -> tuple[int, FrameLink | None]:
    """Return the ref that a target names, and the frame it is in, None for the main one; raises ActionError."""
    match target:
        case kinds.RefTarget():
            return target.ref, await frame_of(page, target.ref)
        case kinds.RoleTarget():
            found = await _search(page, "findRole", target.role, target.name)
            what = f'{target.role} "{target.name}"'
        case kinds.XPathTarget():
            *around, inner = _IN_FRAME.split(target.xpath)
            found = await _search(page, "findXPath", inner, frames=await _framed(page, around))
            what = f"the XPath {target.xpath}"
        case kinds.FocusTarget():
            focused = await page.focused_element()
            if focused is None:
                raise ActionError("Nothing has the keyboard focus; click a field first.")
            return focused["ref"], await frame_of(page, focused["ref"])
    if not found:
        raise ActionError(f"There is no {what} in this page.")
    if len(found) > 1:
        raise ActionError(f"{len(found)} elements match {what}; give the number of one of them.")
    return found[0]


async def frame_of(page: Page, ref: int) -> FrameLink | None:
    wanted = page.frame_of_ref.get(ref)
    if wanted is None:
        return None
    for frame in await page.frames.find():
        if frame.id == wanted:
            return frame
    raise ActionError(f"[{ref}] was in a frame that is no longer in the page.")


async def located_in_tab(
    page: Page, target: Target, answer: dict[str, Any], frame: FrameLink | None, *, covered: bool = False
) -> Located:
    """Return what the walker found of a target, its point in the tab's coordinates; raises as `require` does."""
    require(answer, say(target, answer))
    located = Located.model_validate({**answer, "frame": frame.id if frame else ""})
    if frame is not None and frame.parent is not None:
        located = await into_tab(page, located, frame, covered=covered)
    return located


async def into_tab(page: Page, located: Located, frame: FrameLink, *, covered: bool = False) -> Located:
    """Bring the frame's element into view and move the point from frame to tab coordinates.

    Raises ActionError if something lies over the frame there, unless it may be `covered`.
    """
    x, y, box, scrolled = located.x, located.y, located.box, located.scrolled
    link: FrameLink | None = frame
    while link is not None and link.parent is not None:
        owner = await page.frames.owner(link)
        if owner is None:
            raise ActionError(f"{located.label} is in a frame that cannot be found in the page.")
        place = await page.walker("throughFrame", owner, x, y, covered, frame=link.parent)
        require(place, f"[{located.ref}] {located.label}")
        if place["moved"]:
            scrolled = True
            # Which frame a point lies in follows from what was painted last.
            await page.walker("settle", 300, 2)
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


def say(target: Target, answer: dict[str, Any]) -> str:
    """Return what a target is called in messages."""
    named = answer.get("label", "")
    return f"[{target}] {named}".strip() if isinstance(target, kinds.RefTarget) else named or str(target)


def require(answer: dict[str, Any], what: str) -> None:
    """Raise ActionError if the walker reports a problem with the element, and ElementGone if it is gone."""
    if "problem" in answer:
        kind = ElementGone if answer["problem"] == _GONE else ActionError
        raise kind(f"{what} {answer['problem']}.")


async def _framed(page: Page, around: list[str]) -> list[FrameLink]:
    """Return the frame that these XPaths lead to, each in the document of the one before; all without any.

    Raises ActionError.
    """
    frames = await page.frames.find()
    if not around:
        return frames
    at = frames[0]
    for xpath in around:
        refs = (await page.walker("findXPath", xpath, frame=at)).get("refs", ())
        held = [one for one in frames if one.parent == at and await page.frames.owner(one) in refs]
        if len(held) != 1:
            raise ActionError(f"There is no frame {xpath} in this page.")
        at = held[0]
    return [at]


async def _search(
    page: Page, call: str, *arguments: str, frames: list[FrameLink] | None = None
) -> list[tuple[int, FrameLink]]:
    found: list[tuple[int, FrameLink]] = []
    for frame in frames or await page.frames.find():
        answer = await page.walker(call, *arguments, frame=frame)
        if isinstance(answer, dict):
            if "problem" in answer:
                raise ActionError(f"{arguments[0]} is not a valid XPath: {answer['problem']}")
            answer = answer["refs"]
        found.extend((int(ref), frame) for ref in answer)
    page.frame_of_ref.update({ref: frame.id for ref, frame in found if frame.parent is not None})
    return found
