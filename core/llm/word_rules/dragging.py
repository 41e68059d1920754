"""Dragging: an item to a place, things into a box, a list into order."""

import re

from core.llm.word_rules.intent import Intent
from core.llm.word_rules.move import Answer, Move, Scene, act, said
from core.llm.word_rules.page import colour_of
from core.llm.word_rules.shapes import Drawn, drawn, matching
from core.llm.word_rules.words import NUMBER, colour, norm, numbers, ordinal, words
from core.schema.action import RefTarget
from core.schema.observation import Element

_WAYS = {"up": -1, "left": -1, "down": 1, "right": 1}


def drag(scene: Scene, intent: Intent) -> Answer:
    """Answer a part that asks to drag something somewhere."""
    text = intent.text
    if re.match(r"(?:sort|order|arrange)\b", text, re.IGNORECASE):
        return _sort(scene, text)
    placed: Answer = None
    begin = 0
    for match in re.finditer(
        r"\b(?:into|inside|onto|to|in)\s+the\s+(.*?)(?:box|area|container|square|circle)\b", text
    ):
        placed = _into(scene, text[begin : match.start()], match[1], text[:begin])
        if placed is not None and placed != "done":
            return placed
        begin = match.end()
    return placed or _in_list(scene, intent)


def _dragged(scene: Scene, item: Element, place: Element, why: str, *, finishes: bool) -> Move | None:
    move = Move(act("drag", item, to=RefTarget(ref=place.ref)), why, finishes)
    return move if scene.allowed(move) else None


def _items(scene: Scene) -> list[Element]:
    return [one for one in scene.page.can("drag") if one.name and one.role not in ("slider", "button")]


def _in_list(scene: Scene, intent: Intent) -> Answer:
    """Drag a named item to the place of another: the nth, or some places up or down."""
    items = _items(scene)
    spoken = words(intent.text)
    item = next((one for one in items if norm(one.name) in spoken), None)
    if item is None:
        return None
    at = items.index(item)
    place = next((ordinal(word) for word in spoken if ordinal(word) is not None), None)
    if place is not None:
        goal: int | None = place - 1 if place > 0 else len(items) - 1
    else:
        way = next((_WAYS[word] for word in spoken if word in _WAYS), None)
        goal = None if way is None else at + way
    if goal is None or not 0 <= goal < len(items):
        return None
    if goal == at:
        return "done"
    why = f"{said(item, first=True)} is to go where {said(items[goal])} is."
    return _dragged(scene, item, items[goal], why, finishes=True)


def _sort(scene: Scene, text: str) -> Answer:
    """Bring numbers into order, one drag at a time: the first that is out of its place goes there."""
    items = [one for one in _items(scene) if NUMBER.fullmatch(one.name.strip())]
    if len(items) < 2:
        return None
    down = bool(re.search(r"decreasing|descending|highest.*top|largest first", text, re.IGNORECASE))
    goal = sorted(items, key=lambda one: numbers(one.name)[0], reverse=down)
    for present, wanted in zip(items, goal, strict=True):
        if present.ref != wanted.ref and present.name != wanted.name:
            why = f"{wanted.name.strip()} belongs where {present.name.strip()} is."
            return _dragged(scene, wanted, present, why, finishes=False)
    return "done"


def _into(scene: Scene, what: str, where: str, before: str) -> Answer:
    """Drag the drawn things that are meant into the box that is meant.

    Everything else means all that the words `before` do not name.
    """
    page = scene.page
    things = drawn(page)
    large = (
        [
            thing
            for thing in things
            if thing.kind == "rectangle" and thing.size >= 1.8 * min(t.size for t in things)
        ]
        if things
        else []
    )
    if not large:
        return None
    paint = next((found for word in words(where) if (found := colour(word))), None)
    boxes = [box for box in large if paint is None or colour_of(box.element) == paint]
    if "left" in words(where):
        boxes = [min(boxes, key=lambda box: box.x)]
    elif "right" in words(where):
        boxes = [max(boxes, key=lambda box: box.x)]
    if not boxes:
        return None
    if re.search(r"\b(?:else|others?|rest|remaining)\b", what):
        named = matching(page, before) or []
        meant = [thing for thing in things if thing not in large and thing not in named]
    else:
        meant = [thing for thing in matching(page, what) or [] if thing not in large]
    return _drag_all(scene, meant, boxes[0])


def _drag_all(scene: Scene, meant: list[Drawn], box: Drawn) -> Answer:
    place = _free_place(scene, box)
    for thing in meant:
        if scene.past.touched(thing.element.ref, "drag"):
            continue
        why = f"{said(thing.element, first=True)} belongs into the {box.colour} box."
        move = _dragged(scene, thing.element, place, why, finishes=False)
        if move is not None:
            return move
    return "done"


def _free_place(scene: Scene, box: Drawn) -> Element:
    """Return the box, or what was dropped on it last: that covers the middle of it now."""
    for _, action, ok in reversed(scene.past.actions):
        if (
            ok
            and action.kind == "drag"
            and box.element.ref in _drop_chain(scene, getattr(action.target, "ref", None))
        ):
            return scene.page.by_ref(getattr(action.target, "ref", -1)) or box.element
    return box.element


def _drop_chain(scene: Scene, ref: int | None) -> set[int]:
    """Return what an element was dropped on, and what that was dropped on, and so on."""
    chain: set[int] = set()
    while ref is not None:
        on = next(
            (
                getattr(action.to, "ref", None)
                for _, action, ok in scene.past.actions
                if ok and action.kind == "drag" and getattr(action.target, "ref", None) == ref
            ),
            None,
        )
        if on is None or on in chain:
            break
        chain.add(on)
        ref = on
    return chain
