"""Giving form fields, scroll position and focus of a page back what they were."""

from core.action import Action, Check, RefTarget, Select, Type
from core.browser.checkpoints.checkpoint import Ground
from core.browser.checkpoints.identity import FoundAgain, called, find_again
from core.browser.page import PageGone
from core.errors import ActionError
from core.observation import Element, Observation

SECRET = "•"
"""What an observation shows of a password; the words themselves are not known."""


async def put_fields_back(recorded: Observation, ground: Ground) -> tuple[str, ...]:
    remarks: list[str] = []
    now = await ground.read()
    for element in recorded.elements:
        if not {"type", "select", "check"} & set(element.uses) or {"disabled", "readonly"} & set(
            element.states
        ):
            continue
        found = find_again(element, recorded, now)
        if found.element is None:
            if _holds_something(element):
                remarks.append(f"{called(element)} was not put back: {found.why}")
            continue
        for action in _to_put_back(element, found.element):
            if isinstance(action, str):
                remarks.append(action)
                continue
            try:
                before = ground.tabs.mark()
                await ground.actor.act(action)
                await ground.tabs.settle(before)
            except (ActionError, PageGone) as error:
                remarks.append(f"{called(element)} was not put back: {error}")
                break
            now = await ground.read()
            if now.element(found.element.ref) is None:
                break
    return tuple(remarks)


def _to_put_back(element: Element, now: Element) -> list[Action | str]:
    """Return the actions that give `now` what `element` held, and a remark for what cannot be given."""
    target = RefTarget(ref=now.ref)
    if "select" in element.uses and element.options:
        chosen = next((one for one in element.options if one.selected), None)
        held = next((one for one in now.options if one.selected), None)
        if chosen is None or (held is not None and held.value == chosen.value):
            return []
        return [Select(target=target, option=chosen.label or chosen.value)]
    if "check" in element.uses:
        wanted = "checked" in element.states
        if wanted == ("checked" in now.states) or (not wanted and element.role == "radio"):
            return []
        return [Check(target=target, checked=wanted)]
    if "type" in element.uses and element.value != now.value:
        if element.value and set(element.value) == {SECRET}:
            return [f"{called(element)} was not put back: a password is not recorded."]
        return [Type(target=target, text=element.value)]
    return []


def _holds_something(element: Element) -> bool:
    return bool(element.value) or "checked" in element.states


async def put_scroll_and_focus_back(recorded: Observation, ground: Ground) -> None:
    page = ground.tabs.current
    focused = next((one for one in reversed(recorded.elements) if "focused" in one.states), None)
    if focused is not None:
        found: FoundAgain = find_again(focused, recorded, await ground.read())
        if found.element is not None:
            await page.evaluate(f"__backstep.byRef({found.element.ref})?.focus({{preventScroll: true}})")
    else:
        await page.evaluate("document.activeElement?.blur?.()")
    x, y = recorded.scroll
    await page.evaluate(f"window.scrollTo({{left: {x}, top: {y}, behavior: 'instant'}})")
