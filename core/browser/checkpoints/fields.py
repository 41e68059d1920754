"""Restores form fields, scroll position and focus of a page."""

from core.browser.channel import PageGone
from core.browser.checkpoints.checkpoint import RestoreContext, RestoreOutcome
from core.browser.checkpoints.comparison import held_value
from core.schema.action import Action, Check, RefTarget, Select, Type
from core.schema.element_identity import called, find_again
from core.schema.errors import ActionError
from core.schema.observation import Element, Observation


async def put_fields_back(recorded: Observation, ground: RestoreContext) -> RestoreOutcome:
    """Give fields, scroll position and focus back what they were."""
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
                remarks.append(f"{called(element)} was not restored: {found.why}")
            continue
        try:
            action = _to_put_back(element, found.element)
            if action is None:
                continue
            before = ground.tabs.mark()
            await ground.actor.act(action)
            await ground.tabs.settle(before)
        except (ActionError, PageGone) as error:
            remarks.append(f"{called(element)} was not restored: {error}")
            continue
        now = await ground.read()
    if await _put_scroll_and_focus_back(recorded, now, ground):
        now = await ground.read()
    return RestoreOutcome(remarks=tuple(remarks), seen=now)


def _to_put_back(element: Element, now: Element) -> Action | None:
    """Return the action that gives `now` what `element` held; None if it holds that.

    Raises ActionError if it is not known what it held.
    """
    target = RefTarget(ref=now.ref)
    if "select" in element.uses and element.options:
        chosen = next((option for option in element.options if option.selected), None)
        held = next((option for option in now.options if option.selected), None)
        if chosen is None or (held is not None and held.value == chosen.value):
            return None
        return Select(target=target, option=chosen.label or chosen.value)
    if "check" in element.uses:
        wanted = "checked" in element.states
        if wanted == ("checked" in now.states) or (not wanted and element.role == "radio"):
            return None
        return Check(target=target, checked=wanted)
    if "type" in element.uses and element.is_part:
        raise ActionError("only the lines in view were read.")
    if "type" in element.uses and held_value(element) != held_value(now):
        if element.is_cut:
            raise ActionError("its text is too long to be restored.")
        return Type(target=target, text=element.value)
    return None


def _holds_something(element: Element) -> bool:
    return bool(element.value) or "checked" in element.states


async def _put_scroll_and_focus_back(recorded: Observation, now: Observation, ground: RestoreContext) -> bool:
    """Return whether that moved anything."""
    focused = next((element for element in reversed(recorded.elements) if "focused" in element.states), None)
    found = find_again(focused, recorded, now).element if focused is not None else None
    if found is not None:
        focus = f"__backstep.byRef({found.ref})?.focus({{preventScroll: true}})"
    else:
        focus = "" if focused is not None else "document.activeElement?.blur?.()"
    left, top = recorded.scroll
    where = "[document.activeElement, scrollX, scrollY]"
    moved = await ground.tabs.current.evaluate(
        f"(() => {{ const before = {where}; {focus};"
        f" window.scrollTo({{left: {left}, top: {top}, behavior: 'instant'}});"
        f" const after = {where}; return before.some((one, at) => one !== after[at]); }})()"
    )
    return bool(moved)
