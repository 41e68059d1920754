"""Drawn things, as their lines describe them: colour, shape, size and place."""

import re
from dataclasses import dataclass

from core.llm.word_rules.page import Page, colour_of
from core.llm.word_rules.words import colour, stem, words
from core.schema.observation import Element

_DRAWN = re.compile(
    r"(?:\w+ )?(?:\w+ )?(text|circle|rectangle|triangle|quadrilateral|polygon|ellipse|path|line)"
    r" (\d+)×(\d+) at (-?\d+),(-?\d+)"
)
_KINDS = {
    "circle": ("circle",),
    "rectangle": ("rectangle",),
    "square": ("rectangle",),
    "triangle": ("triangle", "polygon"),
    "letter": ("letter",),
    "digit": ("digit",),
    "number": ("digit",),
    "item": ("circle", "rectangle", "triangle", "polygon", "letter", "digit", "quadrilateral"),
    "shape": ("circle", "rectangle", "triangle", "polygon", "quadrilateral"),
    "figure": ("circle", "rectangle", "triangle", "polygon", "letter", "digit", "quadrilateral"),
}


_OF_ONE_KIND = 2
"""Kinds that a word for one of them stands for at the most; an item can be anything."""
_ORDINARY = 15
"""Between small and large, in CSS pixels, where all things have one size."""


@dataclass(frozen=True)
class Drawn:
    """One drawn thing."""

    element: Element
    kind: str
    colour: str
    size: int
    x: int
    y: int


def drawn(page: Page) -> list[Drawn]:
    """Return the drawn things of the page, in page order."""
    found: list[Drawn] = []
    for one in page.elements:
        match = _DRAWN.match(one.detail)
        if match is None or match[1] in ("path", "line"):
            continue
        kind = match[1]
        if kind == "text":
            kind = "digit" if one.name.isdecimal() else "letter"
        width, height = int(match[2]), int(match[3])
        found.append(Drawn(one, kind, colour_of(one), max(width, height), int(match[4]), int(match[5])))
    return found


def matching(page: Page, text: str) -> list[Drawn] | None:
    """Return the drawn things a text describes by size, colour and kind; None where it describes none."""
    asked = [stem(word) for word in words(text)]
    kinds = next((_KINDS[word] for word in asked if word in _KINDS), None)
    paint = next((found for word in words(text) if (found := colour(word))), None)
    sign = re.search(r"\b(\w)s\b", text)
    if kinds is None and sign is None:
        return None
    things = drawn(page)
    if not things:
        return None
    sized = [thing.size for thing in things]
    mixed = max(sized) >= 1.5 * min(sized)
    middle = (min(sized) + max(sized)) / 2 if mixed else _ORDINARY
    meant: list[Drawn] = []
    for thing in things:
        if kinds is None and (sign is None or thing.element.name != sign[1]):
            continue
        if (kinds is not None and thing.kind not in kinds) or (paint and thing.colour != paint):
            continue
        if {"small", "little"} & set(asked) and thing.size > middle:
            continue
        if {"large", "big"} & set(asked) and thing.size < middle:
            continue
        meant.append(thing)
    return meant


def called(page: Page, element: Element) -> set[str]:
    """Return the words that people have for a drawn thing, such as digit and number; none for what is not drawn."""
    kind = next((thing.kind for thing in drawn(page) if thing.element is element), None)
    return {word for word, kinds in _KINDS.items() if kind in kinds and len(kinds) <= _OF_ONE_KIND}


def described(page: Page, text: str, among: list[Element]) -> list[Element]:
    """Return the elements among some that a text describes by their looks."""
    found = matching(page, text)
    refs = {one.ref for one in among}
    return [thing.element for thing in found or () if thing.element.ref in refs]
