"""Adding items of a list one by one: to a cart, to an order."""

import re

from core.llm.word_rules.clicking import scope
from core.llm.word_rules.intent import Intent
from core.llm.word_rules.move import Answer, Move, Scene, act, said
from core.llm.word_rules.words import alike, norm
from core.schema.observation import Element

_MORE = frozenset(("+", "add", "add to cart", "plus", "add to order", "buy"))


def add(scene: Scene, intent: Intent) -> Answer:
    """Add each item of a list by the control that follows its name."""
    done = len([one for one in scene.past.of_part(scene.part) if one[2] and one[1].kind == "click"])
    if intent.count is not None and done >= intent.count:
        return "done"
    for owner in _listed(scene, intent):
        name = owner.name
        control = _adder(scene, owner)
        if control is None or scene.past.touched(control.ref, "click"):
            continue
        move = Move(act("click", control), f"{said(control, first=True)} adds {name}.")
        if scene.allowed(move):
            return move
    return "done"


def _listed(scene: Scene, intent: Intent) -> list[Element]:
    """Return the page's entries that the list names; names with "and" in them are not cut."""
    if intent.count is not None:
        return [
            one for one in scene.page.elements if any(alike(name, one.name) >= 0.9 for name in intent.names)
        ]
    listed = norm(intent.text.partition(":")[2] or intent.text)
    found = [
        one
        for one in scene.page.elements
        if len(norm(one.name)) > 2 and re.search(rf"(?<!\w){re.escape(norm(one.name))}(?!\w)", listed)
    ]
    whole = [
        one
        for one in found
        if not any(norm(one.name) in norm(other.name) for other in found if other is not one)
    ]
    return whole or [
        one for one in scene.page.elements if any(alike(name, one.name) >= 0.9 for name in intent.names)
    ]


def _adder(scene: Scene, owner: Element) -> Element | None:
    if scene.page.may("click", owner) and norm(owner.name) in _MORE:
        return owner
    for one in scope(scene, owner):
        if (one.name.strip() in _MORE or norm(one.name) in _MORE) and scene.page.may("click", one):
            return one
    return None
