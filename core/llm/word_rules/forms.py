"""Forms of a desk or a shop: what the objective gives goes into the fields, then on by the button that ends the form.

For objectives that give facts (a code, a route, a card) rather than name
elements. Where no field takes any of them, the way leads on by the link or
button whose words are the objective's; nothing is done that it does not ask for.
"""

import re
from collections.abc import Iterable

from core.llm.word_rules.comparing import by_extreme
from core.llm.word_rules.deeds import are_kin, deeds, does_other, root, roots, said_done
from core.llm.word_rules.facts import Facts
from core.llm.word_rules.move import Answer, Move, Scene, act, said
from core.llm.word_rules.page import FIELD_ROLES, Page, is_submit
from core.llm.word_rules.words import content_words, norm, short
from core.schema.observation import Element

_GROUPS = frozenset(("group", "radiogroup"))
_ALERTS = frozenset(("alert", "alertdialog"))


def follow(scene: Scene) -> Answer:
    """Return the next move through the forms of the page; done where the page shows that it is done."""
    facts = Facts(scene.objective.text)
    asked = deeds(scene.objective.text)
    if said_done(scene.page.elements, asked) is not None:
        return "done"
    if is_elsewhere(scene.page, facts) and (move := _towards(scene, asked)) is not None:
        return move
    if (move := _filled(scene, facts)) is not None:
        return move
    ended = _submitted(scene, facts)
    if ended is not None and ended != "done":
        return ended
    if not asked and _has_submitted(scene) and ended is None:
        return "done"
    return _towards(scene, asked)


def is_elsewhere(page: Page, facts: Facts) -> bool:
    """Tell whether the objective is about a thing with a code that this page neither shows nor asks for."""
    if facts.code is None:
        return False
    if any(facts.code in (*one.name.split(), one.value) for one in page.elements):
        return False
    labels = [next(iter(page.labels(one)), "") for one in page.fields()]
    return not any(facts.value(label) == facts.code for label in labels)


# Filling


def _filled(scene: Scene, facts: Facts) -> Move | None:
    others = _parts_of_others(scene, facts)
    for one in scene.page.elements:
        if one.role == "radio" or any(scene.page.inside(one, other) for other in others):
            continue
        move = _chosen(scene, facts, one) if one.role in _GROUPS else _entered(scene, facts, one)
        if move is not None and scene.allowed(move):
            return move
    return None


def _parts_of_others(scene: Scene, facts: Facts) -> list[Element]:
    """Return the parts of the page that hold like fields for others than the objective names."""
    parts = [
        one
        for one in scene.page.elements
        if one.role in ("region", "form", "group", "article", "listitem", "row")
        and one.name
        and any(scene.page.inside(field, one) for field in scene.page.fields())
    ]
    alike = [one for one in parts if sum(other.role == one.role for other in parts) > 1]
    meant = facts.named([one.name for one in alike]) if len(alike) > 1 else None
    return [one for one in alike if one.name != meant] if meant is not None else []


def _entered(scene: Scene, facts: Facts, field: Element) -> Move | None:
    page = scene.page
    label = next(iter(page.labels(field)), "")
    if page.may("select", field) and field.options:
        meant = facts.choice(label, [option.label for option in field.options if not option.disabled])
        if meant is None or any(option.selected and option.label == meant for option in field.options):
            return None
        return Move(act("select", field, option=meant), f'{said(field, first=True)} is to be "{meant}".')
    if field.role not in FIELD_ROLES or not page.may("type", field):
        return None
    value = facts.value(label)
    if value is None:
        return None
    if _holds(field, value):
        return None
    if (entry := _suggested(scene, field, value)) is not None:
        return entry
    if scene.past.touched(field.ref, "type"):
        return None
    return Move(act("type", field, text=value), f'"{short(value)}" goes into {said(field)}.')


def _holds(field: Element, value: str) -> bool:
    shown, wanted = norm(field.value), norm(value)
    if shown == wanted or re.sub(r"\W", "", shown) == re.sub(r"\W", "", wanted):
        return True
    return re.search(rf"\({re.escape(wanted)}\)", field.value.casefold()) is not None


def _suggested(scene: Scene, field: Element, value: str) -> Move | None:
    """Return a click on the entry that the field offers for what was typed."""
    if "expanded" not in field.states:
        return None
    wanted = re.compile(rf"(?<!\w){re.escape(norm(value))}(?!\w)")
    for one in scene.page.after(field):
        if one.role == field.role:
            return None
        is_entry = one.role in ("option", "listitem", "menuitem") and scene.page.may("click", one)
        if is_entry and wanted.search(norm(one.name)):
            return Move(act("click", one), f"{said(one, first=True)} is what {said(field)} is to hold.")
    return None


def _chosen(scene: Scene, facts: Facts, group: Element) -> Move | None:
    """Choose the radio of a group that the objective means, by its words, its time, or a superlative."""
    radios = [one for one in scene.page.can("check") if one.role == "radio" and _is_of(scene, one, group)]
    if not radios or any(_group_of(scene, one) is not group for one in radios):
        return None
    label = group.name or next(iter(scene.page.labels(group)), "")
    meant = facts.choice(label, [one.name for one in radios])
    radio = next((one for one in radios if one.name == meant), None)
    if radio is None and not facts.changes:
        radio = by_extreme(scene.page, scene.objective.text, radios)
    if radio is None or "checked" in radio.states:
        return None
    return Move(act("check", radio), f"{said(radio, first=True)} is what is asked for under {said(group)}.")


def _group_of(scene: Scene, radio: Element) -> Element | None:
    holder = radio.parent
    while holder is not None:
        one = scene.page.by_ref(holder)
        if one is None:
            return None
        if one.role in _GROUPS:
            return one
        holder = one.parent
    return None


def _is_of(scene: Scene, radio: Element, group: Element) -> bool:
    return scene.page.inside(radio, group)


# Sending


def _submitted(scene: Scene, facts: Facts) -> Answer:
    """Press the button that ends the form that holds what was given; done where that brought nothing new.

    None where no field of the page holds anything of the objective.
    """
    page = scene.page
    others = _parts_of_others(scene, facts)
    held = [
        one
        for one in page.elements
        if _holds_given(scene, facts, one) and not any(page.inside(one, other) for other in others)
    ]
    if not held:
        return None
    button = next(
        (
            one
            for one in page.after(held[-1])
            if one.role == "button" and page.may("click", one) and len(norm(one.name)) > 1
        ),
        None,
    )
    if button is None or not (is_submit(button) or not does_other(button.name, deeds(scene.objective.text))):
        return None
    if scene.past.touched(button.ref, "click") and not _changed_since(scene, button):
        return "done"
    move = Move(act("click", button), f"{said(button, first=True)} sends what the form holds.")
    return move if scene.allowed(move) else "done"


def _holds_given(scene: Scene, facts: Facts, one: Element) -> bool:
    page = scene.page
    label = next(iter(page.labels(one)), "")
    if one.role in FIELD_ROLES and one.options:
        meant = facts.choice(label, [option.label for option in one.options])
        return any(option.selected and option.label == meant for option in one.options)
    if one.role in FIELD_ROLES:
        value = facts.value(label)
        return value is not None and _holds(one, value)
    if one.role == "radio" and "checked" in one.states and (group := _group_of(scene, one)) is not None:
        radios = [
            other for other in page.elements if other.role == "radio" and _group_of(scene, other) is group
        ]
        return facts.choice(group.name, [other.name for other in radios]) == one.name
    return False


def _changed_since(scene: Scene, button: Element) -> bool:
    for _, action, ok in reversed(scene.past.actions):
        if not ok:
            continue
        if action.kind in ("type", "select", "check"):
            return True
        if action.kind == "click" and getattr(action.targets[0], "ref", None) == button.ref:
            return False
    return False


def _has_submitted(scene: Scene) -> bool:
    """Tell whether something was entered and then a button pressed, with no complaint in the page."""
    if any(one.role in _ALERTS and one.name for one in scene.page.elements):
        return False
    entered = False
    for turn, action, ok in scene.past.actions:
        if ok and action.kind in ("type", "select", "check"):
            entered = True
        elif ok and entered and action.kind == "click" and turn.target.startswith("button"):
            return True
    return False


# The way there


def _towards(scene: Scene, asked: set[str]) -> Move | None:
    """Return a click on what leads on by its words; not one tried before, nor one for another deed."""
    wanted = roots(scene.objective.text)
    tried = {turn.target for turn, action, ok in scene.past.actions if ok and action.kind == "click"}
    rated: list[tuple[float, int, int, Element]] = []
    for place, one in enumerate(scene.page.can("click")):
        if one.role not in ("link", "button", "tab", "menuitem") or not one.name or "current" in one.states:
            continue
        if scene.past.touched(one.ref, "click") or f'{one.role} "{one.name}"' in tried:
            continue
        if one.role == "button" and _ends_empty_form(scene, one):
            continue
        words = [root(word) for word in content_words(one.name)]
        found = [word for word in words if any(are_kin(word, other) for other in wanted)]
        if not found or len(found) / len(words) < 0.5 or does_other(one.name, asked):
            continue
        does = sum(1 for word in words if any(are_kin(word, deed) for deed in asked))
        rated.append((len(found) / len(words) + does, len(found), -place, one))
    for _, _, _, one in sorted(rated, key=lambda entry: entry[:3], reverse=True):
        move = Move(act("click", one), f"{said(one, first=True)} leads on, by its words.")
        if scene.allowed(move):
            return move
    return None


def _ends_empty_form(scene: Scene, button: Element) -> bool:
    if not is_submit(button):
        return False
    before = scene.page.elements[: scene.page.index(button)]
    return any(one.role in FIELD_ROLES and not one.value for one in _since_button(before))


def _since_button(before: Iterable[Element]) -> list[Element]:
    """Return what stands since the last button before."""
    found: list[Element] = []
    for one in before:
        if one.role == "button":
            found = []
        else:
            found.append(one)
    return found
