"""Superlatives: the cheapest, the longest, the greatest among what can be clicked."""

import re

from core.llm.word_rules.page import Page
from core.llm.word_rules.words import NUMBER, norm, numbers, words
from core.schema.observation import Element

_MOST = re.compile(
    r"\b(?:greatest|highest|largest|biggest|most|maximum|latest|longest|slowest)\b", re.IGNORECASE
)
_LEAST = re.compile(
    r"\b(?:smallest|lowest|least|cheapest|minimum|earliest|shortest|fewest|fastest|quickest)\b", re.IGNORECASE
)
_MONEY = re.compile(r"cheap|expensive|cost|price|fare", re.IGNORECASE)
_TIME = re.compile(r"duration|short|long|fast|quick|slow|\btime\b", re.IGNORECASE)
_PRICE = re.compile(r"[$€£]\s?(\d[\d,]*(?:\.\d+)?)")
_SPAN = re.compile(r"(?:(\d+)\s*h(?:ours?|rs?)?)?\s*(?:(\d+)\s*m(?:in(?:ute)?s?)?)?\b", re.IGNORECASE)
_ROLES = frozenset(("generic", "button", "link", "listitem", "option", "cell", "gridcell", "radio"))


def by_extreme(page: Page, text: str, among: list[Element]) -> Element | None:
    """Return the element with the most or least of what a text asks for; None where it asks for none.

    The quantity is read in the element's own name, else in the texts since
    the element of its kind before it. The first of equals wins.
    """
    most, least = _MOST.search(text), _LEAST.search(text)
    if not most and not least:
        return None
    groups: dict[str, list[Element]] = {}
    for one in among:
        if one.role in _ROLES and one.name:
            plain = NUMBER.fullmatch(norm(one.name)) is not None
            groups.setdefault("" if plain else words(one.name)[0], []).append(one)
    for group in groups.values():
        valued = _valued(page, text, group)
        if len(valued) > 1 or (len(group) == 1 and valued and _MONEY.search(text)):
            pick = max if most else min
            return pick(valued, key=lambda pair: pair[0])[1]
    return None


def _valued(page: Page, text: str, group: list[Element]) -> list[tuple[float, Element]]:
    found: list[tuple[float, Element]] = []
    begin = 0
    for one in group:
        at = page.index(one)
        before = [other.name for other in page.elements[begin:at]]
        begin = at + 1
        for said in (one.name, *reversed(before)):
            value = _quantity(text, said)
            if value is not None:
                found.append((value, one))
                break
    return found


def _quantity(text: str, said: str) -> float | None:
    """Return the price, the minutes or the number that a name tells, whichever the text compares."""
    if _MONEY.search(text):
        match = _PRICE.search(said)
        return float(match[1].replace(",", "")) if match else None
    if _TIME.search(text):
        for match in _SPAN.finditer(said):
            if match[1] or match[2]:
                return int(match[1] or 0) * 60 + int(match[2] or 0)
        return None
    return numbers(said)[0] if NUMBER.fullmatch(norm(said)) or NUMBER.fullmatch(said.strip()) else None
