"""Dragging: an item to a place, things into a box, a list into order."""

import re

from core.action import RefTarget
from core.llm.word_rules.move import Answer, Intent, Move, Scene, act, said
from core.llm.word_rules.page import colour_of
from core.llm.word_rules.shapes import Drawn, drawn, matching
from core.llm.word_rules.words import NUMBER, colour, norm, numbers, ordinal, words
from core.observation import Element

_WAYS = {"up": "up", "down": "down", "left": "left", "right": "right"}


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
        goal = _beside(at, spoken, len(items), re.search(r"by\s+(\w+)", intent.text))
    if goal is None or not 0 <= goal < len(items):
        return None
    if goal == at:
        return "done"
    why = f"{said(item).capitalize()} is to go where {said(items[goal])} is."
    return _dragged(scene, item, items[goal], why, finishes=True)


def _beside(at: int, spoken: list[str], count: int, by: re.Match[str] | None) -> int | None:
    side = next((_WAYS[word] for word in spoken if word in _WAYS), None)
    across = round(count**0.5) if count in (4, 9, 16, 25) else 1
    del by
    if side == "up":
        return at - across
    if side == "down":
        return at + across
    if side == "left":
        return at - 1
    return at + 1 if side == "right" else None


def _sort(scene: Scene, text: str) -> Answer:
    """Bring numbers into order, one drag at a time: the first that is out of its place goes there."""
    items = [one for one in _items(scene) if NUMBER.fullmatch(one.name.strip())]
    if len(items) < 2:
        return None
    down = bool(re.search(r"decreasing|descending|highest.*top|largest first", text, re.IGNORECASE))
    goal = sorted(items, key=lambda one: numbers(one.name)[0], reverse=down)
    for now, wanted in zip(items, goal, strict=True):
        if now.ref != wanted.ref and now.name != wanted.name:
            why = f"{wanted.name.strip()} belongs where {now.name.strip()} is."
            return _dragged(scene, wanted, now, why, finishes=False)
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
        return _smaller_into_larger(scene, what)
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
    for thing in meant:
        if scene.past.touched(thing.element.ref, "drag"):
            continue
        why = f"{said(thing.element).capitalize()} belongs into the {box.colour} box."
        move = _dragged(scene, thing.element, box.element, why, finishes=False)
        if move is not None:
            return move
    return "done"


def _smaller_into_larger(scene: Scene, what: str) -> Answer:
    """Drag the one thing that can be dragged onto the one that cannot, named by their sizes."""
    page = scene.page
    if not re.search(r"smaller|small|little", what):
        return None
    small = next((one for one in page.can("drag") if norm(one.name) in ("s", "small")), None)
    large = next(
        (one for one in page.elements if norm(one.name) in ("l", "large", "big") and one is not small), None
    )
    if small is None or large is None:
        return None
    return _dragged(
        scene, small, large, f"{said(small).capitalize()} goes into {said(large)}.", finishes=True
    )
