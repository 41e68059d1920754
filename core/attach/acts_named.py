"""Converts what an agent does to a page to one of our actions, with its element."""

from collections.abc import Callable
from typing import NamedTuple

from core.attach.page_acts import PageAct
from core.browser.locating import Located
from core.browser.page import Page
from core.schema.action import (
    Action,
    AgentAct,
    Click,
    CloseTab,
    DoubleClick,
    Drag,
    GoBack,
    GoForward,
    Goto,
    NewTab,
    Press,
    RefTarget,
    RightClick,
    Scroll,
    Select,
    Target,
    Type,
    Upload,
    held_keys,
)


class NamedAct(NamedTuple):
    """An act as one of our actions."""

    action: Action
    located: Located | None = None
    """The element it is done to."""


async def named(act: PageAct, page: Page, node: int = 0) -> NamedAct:
    """Return what an act is in our words; `node` is the backend id of its element, where its message names one.

    What no action of ours says is an `AgentAct`. Raises BrowserError and
    PageGone where the page cannot be asked.
    """
    match act.kind:
        case "goto":
            return NamedAct(Goto(url=act.text or "about:blank"))
        case "history":
            return NamedAct(await _history(act, page))
        case "new tab":
            return NamedAct(NewTab())
        case "close tab":
            return NamedAct(CloseTab())
        case "press":
            focused = _located(await page.focused_element())
            return NamedAct(Press(keys=act.text or "Unidentified"), focused)
        case "scroll":
            return NamedAct(_scroll(act))
        case "type":
            located = _located(await (page.element_of(node) if node else page.focused_element()))
            return _on(located, act, lambda target: Type(target=target, text=act.text))
        case "click":
            place = await page.element_of(node) if node else None
            located = _located(place) if place else await _at(page, act.x, act.y)
            return NamedAct(_click(act, located), located)
        case "drag":
            start, end = await _at(page, act.x, act.y), await _at(page, act.to_x, act.to_y)
            if end is None:
                return NamedAct(AgentAct(words=str(act)), start)
            to = RefTarget(ref=end.ref)
            return _on(start, act, lambda target: Drag(target=target, to=to))
        case "select" | "upload" | "script" | "event" | "change" if node:
            located = _located(await page.element_of(node))
            if act.kind == "select":
                return _on(located, act, lambda target: Select(target=target, option=act.text))
            if act.kind == "upload" and act.files:
                return _on(located, act, lambda target: Upload(target=target, path="\n".join(act.files)))
            if act.kind == "script" and ".click(" in act.text:
                return _on(located, act, lambda target: Click(target=target))
            return NamedAct(AgentAct(words=str(act)), located)
    return NamedAct(AgentAct(words=str(act)))


def finished(begun: NamedAct, act: PageAct) -> Action:
    """Return what an act has become that was named when it began."""
    action = begun.action
    if act.kind == "type" and not isinstance(action, Type) and begun.located is not None:
        return Type(target=RefTarget(ref=begun.located.ref), text=act.text)
    if isinstance(action, Type) and act.kind == "type":
        return action.replace(text=act.text)
    if isinstance(action, Scroll):
        return _scroll(act)
    if act.kind == "click" and begun.located is not None:
        return _click(act, begun.located)
    if isinstance(action, AgentAct) or (isinstance(action, Click | RightClick) and act.kind == "drag"):
        return AgentAct(words=str(act))
    return action


def _click(act: PageAct, located: Located | None) -> Action:
    """Return a click as one of our actions, or in words where none has its button, count and keys."""
    keys = held_keys(act.held)
    if located is not None:
        target, at = RefTarget(ref=located.ref), _place_in(located, act)
        match act.button, act.clicks > 1, keys:
            case "left", False, _:
                return Click(target=target, at=at, keys=keys)
            case "left", True, "":
                return DoubleClick(target=target, at=at)
            case "right", False, "":
                return RightClick(target=target)
    return AgentAct(words=str(act))


def _on(located: Located | None, act: PageAct, make: Callable[[Target], Action]) -> NamedAct:
    """Return the action that is made for an element; without one what the agent does in words."""
    if located is None:
        return NamedAct(AgentAct(words=str(act)))
    return NamedAct(make(RefTarget(ref=located.ref)), located)


def _place_in(located: Located | None, act: PageAct) -> str:
    """Return where in a drawing or a picture an act is, as an action tells it; elsewhere that does not matter."""
    if located is None or located.box is None or act.x is None or act.y is None:
        return ""
    box = located.box
    if not located.label.startswith(("canvas", "img")) or not (box.width and box.height):
        return ""
    across, down = (act.x - box.x) / box.width, (act.y - box.y) / box.height
    return f"{across:.4f},{down:.4f}" if 0 <= across <= 1 and 0 <= down <= 1 else ""


def _scroll(act: PageAct) -> Scroll:
    if abs(act.dx) > abs(act.dy):
        return Scroll(direction="right" if act.dx > 0 else "left")
    return Scroll(direction="down" if act.dy >= 0 else "up")


async def _at(page: Page, x: float | None, y: float | None) -> Located | None:
    found = None if x is None or y is None else await page.element_at(x, y)
    return _located(None if found is None else {**found, "x": x, "y": y})


def _located(found: dict[str, object] | None) -> Located | None:
    return None if found is None else Located.model_validate(found)


async def _history(act: PageAct, page: Page) -> Action:
    history = await page.send("Page.getNavigationHistory", {})
    ids = [str(entry["id"]) for entry in history["entries"]]
    ahead = act.text in ids and ids.index(act.text) > history["currentIndex"]
    return GoForward() if ahead else GoBack()
