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
        same = recorded.document == now.document and held_value(element) == held_value(found.element)
        if element.is_part and same:
            continue
        try:
            actions = _to_put_back(element, found.element)
            for action in actions:
                before = ground.tabs.mark()
                await ground.actor.act(action)
                await ground.tabs.settle(before)
        except (ActionError, PageGone) as error:
            remarks.append(f"{called(element)} was not restored: {error}")
            continue
        if actions:
            now = await ground.read()
    if await _put_scroll_and_focus_back(recorded, now, ground):
        now = await ground.read()
    return RestoreOutcome(remarks=tuple(remarks), seen=now)


def _to_put_back(element: Element, now: Element) -> list[Action]:
    """Return the actions that give `now` what `element` held.

    Raises ActionError if it is not known what it held.
    """
    target = RefTarget(ref=now.ref)
    if "select" in element.uses and element.options:
        wanted, held = _chosen(element), _chosen(now)
        found: list[Action] = [
            Select(target=target, option=label or value)
            for value, label in wanted.items()
            if value not in held
        ]
        if element.role == "listbox":  # One that takes one option has dropped the others by then.
            found += [
                Select(target=target, option=label or value, selected=False)
                for value, label in held.items()
                if value not in wanted
            ]
        return found
    if "check" in element.uses:
        checked = "checked" in element.states
        if checked == ("checked" in now.states) or (not checked and element.role == "radio"):
            return []
        return [Check(target=target, checked=checked)]
    if "type" in element.uses and element.is_part:
        raise ActionError("only the lines in view were read.")
    if "type" in element.uses and held_value(element) != held_value(now):
        if element.is_cut:
            raise ActionError("its text is too long to be restored.")
        return [Type(target=target, text=element.value)]
    return []


def _chosen(element: Element) -> dict[str, str]:
    """Return the labels of the options that are chosen, by their values."""
    return {option.value: option.label for option in element.options if option.selected}


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
