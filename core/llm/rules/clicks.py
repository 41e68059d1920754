"""Clicking what an objective names: by name, place, role, owner or superlative, opening what hides it."""

import re
from collections.abc import Sequence

from core.llm.rules.moves import Answer, Move, Scene, act, target_of
from core.llm.rules.objective import Intent
from core.llm.rules.page import GOOD, RulesPage, ends_form, hints, is_next, is_submit
from core.llm.rules.words import NUMBER, norm, short, stem, words
from core.schema.observation import Element

LIST_PAGE = "is not on this page of the list; the next one may have it"
"""In the thought of a step that turns the page of a list."""


def click(scene: Scene, intent: Intent) -> Answer:
    """Answer a part that asks for a click."""
    element = find(scene, intent) or _only_ending(scene, intent)
    if element is not None and (move := scene.click([element], "{} is what is asked for.", finishes=True)):
        return move
    owners = scene.page.mentions(intent.subject)
    closed_owners = (owner for owner in owners if not scene.history.touched(owner.ref, "click"))
    opening = scene.click(closed_owners, "{} is the item in question; open it.")
    return opening or reveal(scene, _wanted(intent), scope(scene, owners[0]) if owners else [])


def _wanted(intent: Intent) -> str:
    return short(", ".join(intent.names) or intent.text)


def _only_ending(scene: Scene, intent: Intent) -> Element | None:
    """Return the one button that ends the form, where the part asks to end it by another word."""
    if intent.place is not None or not any(ends_form(name) for name in intent.names):
        return None
    found = [element for element in scene.page.can("click") if is_submit(element)]
    return found[0] if len(found) == 1 else None


# Finding


def find(scene: Scene, intent: Intent) -> Element | None:
    """Return the element that a part means, or None if the page does not show it."""
    page = scene.page
    among = page.can("click")
    if intent.subject:
        among = _owned(scene, intent, among)
    alike = [one for one in among if not intent.roles or one.role in intent.roles]
    if not intent.names:
        return page.nth(alike, intent.place or 1)
    if (extreme := by_extreme(page, intent.text, among)) is not None:
        return extreme
    if intent.place is not None and not intent.quoted:
        is_result = re.search(r"\bresults?\b", intent.text) is not None
        return _result(scene, intent.place, among) if is_result else page.nth(alike, intent.place)
    named = (page.best(name, among, intent.roles) for name in intent.names)
    return next((element for element in named if element is not None), None)


_PAGER = re.compile(r"\d*|<+|«|‹|prev(?:ious)?", re.IGNORECASE)
"""Names of links to other pages of a list."""


def _result(scene: Scene, place: int, among: list[Element]) -> Element | None:
    """Return the nth entry of a list that goes on over pages, counting the pages turned before."""
    links = [element for element in among if element.role == "link" and not is_next(element)]
    entries = [link for link in links if not _PAGER.fullmatch(link.name.strip())]
    turned = sum(LIST_PAGE in one.turn.thought for one in scene.history.of_part(scene.part))
    return scene.page.nth(entries, place - turned * len(entries)) if entries and place > 0 else None


def _owned(scene: Scene, intent: Intent, among: list[Element]) -> list[Element]:
    """Return the candidates that belong to the subject, or all where it is not (or no longer) in a list."""
    page = scene.page
    owners = page.mentions(intent.subject)
    if not owners or not intent.names:
        return among
    owner = owners[0]
    mine = [element for element in scope(scene, owner) if element in among]
    if any(page.score(one, name) >= GOOD for one in mine for name in intent.names):
        return mine
    is_open = scene.history.touched(owner.ref, "click") or not page.may("click", owner)
    return among if len(owners) == 1 and is_open else []


def scope(scene: Scene, owner: Element) -> list[Element]:
    """Return what belongs to an entry of a list: its own parts, else what follows up to the next entry."""
    page = scene.page
    inner = [element for element in page.elements if page.inside(element, owner)]
    if inner:
        return inner
    found: list[Element] = []
    seen: set[str] = set()
    for one in page.after(owner):
        kind = "|".join(hints(one)) or one.name if page.may("click", one) else ""
        if kind and kind in seen:
            break
        seen.add(kind)
        found.append(one)
    return found


# Superlatives

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
_COMPARED_ROLES = frozenset("generic button link listitem option cell gridcell radio".split())


def by_extreme(page: RulesPage, text: str, among: list[Element]) -> Element | None:
    """Return the element with the most or least of what a text asks for; None if it asks for none.

    The price or the time is read in the element's own name, else in the texts
    since the element of its kind before it. The first of equals wins.
    """
    most = _MOST.search(text)
    quantity = price_in if _MONEY.search(text) else _minutes_in if _TIME.search(text) else None
    if quantity is None or not (most or _LEAST.search(text)):
        return None
    kinds: dict[str, list[tuple[float | None, Element]]] = {}
    begins: dict[str, int] = {}
    for element in among:
        if element.role not in _COMPARED_ROLES or not element.name:
            continue
        kind = "" if NUMBER.fullmatch(norm(element.name)) else words(element.name)[0]
        at = page.index(element)
        names = (element.name, *(other.name for other in reversed(page.elements[begins.get(kind, 0) : at])))
        value = next((value for name in names if (value := quantity(name)) is not None), None)
        kinds.setdefault(kind, []).append((value, element))
        begins[kind] = at + 1
    for group in kinds.values():
        valued = [(value, one) for value, one in group if value is not None]
        if len(valued) > 1 or (len(group) == len(valued) and quantity is price_in):
            return (max if most else min)(valued, key=lambda pair: pair[0])[1]
    return None


def price_in(text: str) -> float | None:
    """Return the first price that a text tells."""
    match = _PRICE.search(text)
    return float(match[1].replace(",", "")) if match else None


def _minutes_in(text: str) -> float | None:
    """Return the minutes that a text tells, such as 135 for ``2h 15m``."""
    span = next((match for match in _SPAN.finditer(text) if match[1] or match[2]), None)
    return int(span[1] or 0) * 60 + int(span[2] or 0) if span else None


# Looking for what is not shown yet

_OPENERS = frozenset("expand expandable hitarea toggle menu more dropdown arrow caret open".split())
_SIGNS = frozenset("+ ▸ ▶ ▾ ▼ … ... ☰ ⋮ ⋯ more menu".split())


def reveal(scene: Scene, wanted: str, near: Sequence[Element] = ()) -> Move | None:
    """Return a move that may bring `wanted` into the page, or None if all were tried.

    What is among `near` goes first.
    """
    last = scene.history.last
    nearest = {element.ref for element in near}
    if last is not None and last.name == "click" and target_of(last) in nearest:
        return Move(act("wait", seconds=1.0), "What was opened may show more in a moment.")
    hiding = sorted(closed(scene), key=lambda one: one.ref not in nearest)
    sentence = f'"{wanted}" is not visible; {{}} may contain it.'
    return scene.click(hiding, sentence) or next_page(scene, wanted)


def closed(scene: Scene) -> list[Element]:
    """Return what could be opened and was not yet, what says so plainly first."""
    plain: list[Element] = []
    hinted: list[Element] = []
    for element in scene.page.can("click"):
        is_open = element.role == "menu" or {"expanded", "selected"} & set(element.states)
        if is_open or scene.history.touched(element.ref, "click"):
            continue
        if "collapsed" in element.states or element.role in ("tab", "treeitem"):
            plain.append(element)
        elif {norm(element.name), element.name.strip()} & _SIGNS or _is_opener(element):
            hinted.append(element)
    return plain + hinted


def _is_opener(one: Element) -> bool:
    """Return whether an unnamed element hints that it opens something."""
    if one.name or "collapsable" in one.detail or "close" in one.detail:
        return False
    return any({word, stem(word)} & _OPENERS for hint in hints(one) for word in words(hint))


def next_page(scene: Scene, wanted: str) -> Move | None:
    """Return a move to the next page of a list."""
    onward = [element for element in scene.page.can("click") if is_next(element)]
    return scene.click(onward, f'"{wanted}" {LIST_PAGE}.')


def expand(scene: Scene) -> Answer:
    """Answer a part that asks to expand something: done once anything of the page was opened for it."""
    if scene.history.of_part(scene.part):
        return "done"
    return scene.click(closed(scene), "{} has to be opened.", finishes=True) or "done"
