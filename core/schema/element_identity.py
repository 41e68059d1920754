"""Finds an element of a recorded page in the present page, by its role, name and place.

A ref is valid only as long as its element; after a reload, the same button has another one. An element is
found for certain only if role and name, or else its place among equal ones, identify it. Otherwise the result
is a list of candidates. If only a line of text describes the element, as in an exemplar, its number or its
place among equal ones is a guess, and marked as such.
"""

import re
from collections.abc import Iterable, Sequence

from core.schema.action import Action, RefTarget
from core.schema.observation import Element, Observation, Ref
from core.schema.record import Record


class FoundAgain(Record):
    """The present element of a recorded one."""

    element: Element | None = None
    """The element, if that is certain."""
    why: str = ""
    """What it was recognised by, or why it is not certain."""
    candidates: tuple[Element, ...] = ()
    """What it could be, the likeliest first, if it is not certain."""


class ElementPlace(Record):
    """The place of an element: its containers and its neighbours, each as role and name."""

    holders: tuple[tuple[str, str], ...] = ()
    before: tuple[str, str] = ("", "")
    after: tuple[str, str] = ("", "")


class ElementMark(Record):
    """What identifies an element of a recorded page, without the page."""

    element: Element
    document: str = ""
    """The document it was seen in."""
    equals: int = 1
    """Elements of its role and name, itself among them."""
    place: ElementPlace | None = None
    """None if the page does not hold it."""
    held: int = 1
    """Its equals with the same holders."""
    position: int = 0
    """Its position among those, from 0."""
    between: int = 1
    """Its equals with the same holders and the same neighbours."""


def mark_of(element: Element, recorded: Observation) -> ElementMark:
    """Return what `element` of `recorded` is recognised by."""
    equals = _equals(element, recorded.elements)
    mark = ElementMark(element=element, document=recorded.document, equals=len(equals))
    if recorded.element(element.ref) is None:
        return mark
    places = _places(recorded, equals)
    mine = places[element.ref]
    held = [one.ref for one in equals if places[one.ref].holders == mine.holders]
    return mark.replace(
        place=mine,
        held=len(held),
        position=held.index(element.ref),
        between=sum(places[ref] == mine for ref in held),
    )


def find_again(element: Element, recorded: Observation, now: Observation) -> FoundAgain:
    """Return where `element` of `recorded` is in `now`, as `find_marked` tells it."""
    return find_marked(mark_of(element, recorded), now)


def find_marked(mark: ElementMark, now: Observation) -> FoundAgain:
    """Return where a recorded element is in `now`.

    The same ref in the same document is the element itself. Else: the only
    one of its role and name; of several the only one with the same holders;
    of these the only one between the same neighbours; or, where their number
    has not changed, the one at the same position among equal ones.
    """
    element = mark.element
    if mark.document and mark.document == now.document:
        same = now.element(element.ref)
        if same is not None and same.role == element.role:
            return FoundAgain(element=same, why="It is the same element of the same document.")
    alike = _equals(element, now.elements)
    if not alike:
        return _nearest(element, now)
    if len(alike) == mark.equals == 1:
        return FoundAgain(element=alike[0], why=f"It is the only {called(element)} of the page.")
    mine = mark.place
    if mine is None:
        return FoundAgain(why="The recorded page does not contain it.", candidates=tuple(alike))
    places = _places(now, alike)
    held = [one for one in alike if places[one.ref].holders == mine.holders]
    if len(held) == mark.held == 1:
        return FoundAgain(
            element=held[0], why=f"It is the only {called(element)} in the same part of the page."
        )
    between = [one for one in held if places[one.ref] == mine]
    if len(between) == mark.between == 1:
        return FoundAgain(
            element=between[0], why=f"It is the only {called(element)} between the same neighbours."
        )
    if held and len(held) == mark.held and len(alike) == mark.equals:
        chosen = held[mark.position]
        if chosen in between or _surroundings(mine) & _surroundings(places[chosen.ref]):
            return FoundAgain(
                element=chosen,
                why=f"It is number {mark.position + 1} of {len(held)} equal ones, as many as recorded.",
            )
    ordered = sorted(alike, key=lambda one: -_closeness(mine, places[one.ref]))
    return FoundAgain(
        why=f"{len(alike)} elements could be {called(element)}, and nothing distinguishes them for certain.",
        candidates=tuple(ordered),
    )


def _equals(element: Element, elements: Iterable[Element]) -> list[Element]:
    role, name = _key(element)
    return [one for one in elements if one.role == role and _name(one) == name]


def _nearest(element: Element, now: Observation) -> FoundAgain:
    words = set(_name(element).lower().split())
    rated = [
        (len(words & set(_name(one).lower().split())) / max(len(words), 1), one)
        for one in now.elements
        if one.role == element.role and set(element.uses) <= set(one.uses)
    ]
    near = [one for share, one in sorted(rated, key=lambda pair: -pair[0]) if share > 0 or not words]
    return FoundAgain(why=f"The page no longer contains {called(element)}.", candidates=tuple(near[:10]))


def _places(observation: Observation, elements: Iterable[Element]) -> dict[Ref, ElementPlace]:
    """Return where these elements of a page stand."""
    by_ref = {element.ref: element for element in observation.elements}
    wanted = {element.ref for element in elements}
    found: dict[Ref, ElementPlace] = {}
    last = len(observation.elements) - 1
    for number, element in enumerate(observation.elements):
        if element.ref not in wanted:
            continue
        holders: list[tuple[str, str]] = []
        parent, seen = element.parent, {element.ref}
        while parent is not None and parent in by_ref and parent not in seen:
            seen.add(parent)
            holders.append(_key(by_ref[parent]))
            parent = by_ref[parent].parent
        found[element.ref] = ElementPlace(
            holders=tuple(holders),
            before=_key(observation.elements[number - 1]) if number else ("", ""),
            after=_key(observation.elements[number + 1]) if number < last else ("", ""),
        )
    return found


def _surroundings(place: ElementPlace) -> set[tuple[str, tuple[str, str]]]:
    return {("before", place.before), ("after", place.after)} - {("before", ("", "")), ("after", ("", ""))}


def _closeness(mine: ElementPlace, other: ElementPlace) -> int:
    return 2 * (mine.holders == other.holders) + (mine.before == other.before) + (mine.after == other.after)


def _key(element: Element) -> tuple[str, str]:
    return element.role, _name(element)


def _name(element: Element) -> str:
    return " ".join(element.name.split())


def called(element: Element) -> str:
    """Return such as ``button "Save"``."""
    return f'{element.role} "{element.name}"' if element.name else element.role


Marks = dict[str, ElementMark]
"""By the part of the action that names the element: ``target`` or ``to``."""


class RecordedInput(Record):
    """One page action that was carried out, and what identifies its elements."""

    step: int
    action: Action
    marks: Marks = {}
    failed: bool = False
    """Whether it failed: what it did until then, such as moving the pointer, the page may have answered."""


def marks_of(action: Action, page: Observation) -> Marks:
    """Return what the elements that `action` names by ref are recognised by, where the page holds them."""
    marks: Marks = {}
    for part in ("target", "to"):
        target = getattr(action, part, None)
        element = page.element(target.ref) if isinstance(target, RefTarget) else None
        if element is not None:
            marks[part] = mark_of(element, page)
    return marks


_LINE = re.compile(r"^\s*\[(\d+)\] (.+)$", re.MULTILINE)


class FoundElement(Record):
    """Where an element is in a page."""

    element: Element | None = None
    guess: str = ""
    """By what it was chosen, if that is not certain; in words that end a sentence."""
    problem: str = ""
    """Why it was not found, the same."""


def find_by_line(lines: str, ref: Ref, elements: Sequence[Element]) -> FoundElement:
    """Return which of `elements` the line of that number tells of."""
    numbered = [(int(number), rest) for number, rest in _LINE.findall(lines)]
    rest = next((rest for number, rest in numbered if number == ref), None)
    if rest is None:
        return FoundElement(problem=f"its step does not show an element [{ref}]")
    live = [element for element in elements if _is_of(rest, called(element))]
    if not live:
        return FoundElement(problem=f"the page has no {_named(rest)}")
    head = called(live[0])
    equals = [number for number, other in numbered if _is_of(other, head)]
    if len(live) == 1 == len(equals):
        return FoundElement(element=live[0])
    if equals == [one.ref for one in live]:
        return FoundElement(element=live[equals.index(ref)])  # All have their numbers: the page is as it was.
    by_number = next((one for one in live if one.ref == ref), None)
    if by_number is not None:
        return FoundElement(
            element=by_number, guess=f"{len(live)} are {head}; the one with its number was used"
        )
    if len(live) == len(equals):
        place = equals.index(ref)
        guess = f"number {place + 1} of {len(live)} that are {head} was used"
        return FoundElement(element=live[place], guess=guess)
    return FoundElement(
        problem=f"{len(live)} elements of the page are {head}, and nothing distinguishes them"
    )


def _is_of(rest: str, head: str) -> bool:
    """Return whether a line is of an element of this role and name; a name may hold quotes, so it is not parsed."""
    if not rest.startswith(head):
        return False
    after = rest[len(head) :]
    is_named = head.endswith('"')
    return not after or (after.startswith(" ") and (is_named or not after.startswith(' "')))


def _named(rest: str) -> str:
    match = re.match(r'\S+(?: ".*?"(?= |$))?', rest)
    return match[0] if match else rest
