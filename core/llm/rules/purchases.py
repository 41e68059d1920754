"""Purchase goals: an objective that describes a thing to be bought, on pages that search, list and sell things.

Four stages, recognised by what the page offers: search, result, option, buy.
"""

import re
from collections.abc import Iterator
from typing import Literal

from core.llm.rules.clicks import LIST_PAGE, next_page, price_in
from core.llm.rules.facts import Facts, search_words
from core.llm.rules.moves import Move, Scene, described, first
from core.llm.rules.page import CHOSEN, FIELD_ROLES
from core.llm.rules.words import norm, short, stems
from core.schema.observation import Element

Stage = Literal["search", "result", "option", "buy"]

FILLER = frozenset(
    "want wants would like need needs looking look find buy get some something one ones should must can spend "
    "most least less more than under below over above about up price priced costing cost costs dollars dollar "
    "i i'm i'd me mine we us you if so but have has had having be being been no not also just very out worn "
    "old new it them they made make size sized color colour am lower search shop choose result".split()
)
"""Words of a purchase goal that do not tell the thing from others."""
_GOAL = re.compile(
    r"\b(?:i|we)(?:\s+\w+)?\s+(?:want|need)\b|\b(?:i|we)(?:'d| would)\s+like\b|\blooking\s+for\b|\bfind\s+me\b",
    re.IGNORECASE,
)
_BUYS = re.compile(r"(?:buy(?: it)?(?: now)?|add to (?:cart|basket|bag)|order now|place (?:the )?order)")
_SEARCHES = re.compile(r"\b(?:search|find|go)\b", re.IGNORECASE)
_FOR_WORDS = re.compile(r"\b(?:search|keywords?|query)\b", re.IGNORECASE)
_FOR_LIMIT = re.compile(r"\bmax(?:imum)?\b|\bhighest\b|\bup to\b", re.IGNORECASE)
_GROUPS = ("group", "radiogroup")
_CHOICES = ("button", "radio", "option")
_PAGES = 4
"""How often the pages of results are turned, if none fits."""
_NEAR = 12
"""Elements behind a result's link that still tell of it."""


def is_purchase(text: str) -> bool:
    """Return whether an objective describes a thing to be bought."""
    return _GOAL.search(text) is not None


def stage_of(name: str) -> Stage | None:
    """Return the stage that the name of a policy tells, or None."""
    words = name.replace("_", " ").casefold().split()
    stages: dict[str, Stage] = {"search": "search", "result": "result", "option": "option"}
    return next((stage for word, stage in stages.items() if {word, word + "s"} & set(words)), None)


def is_bought(scene: Scene) -> bool:
    """Return whether a button that buys was clicked."""
    clicked = (one.turn.target for one in scene.history.actions if one.ok and one.action.name == "click")
    return any(_BUYS.fullmatch(norm(target.partition(" ")[2])) for target in clicked)


def purchase_move(scene: Scene, only: Stage | None = None) -> tuple[Stage, Move] | None:
    """Return the next move towards the goal with its stage; `only` keeps to one stage.

    None if the page offers no further one.
    """
    wanted = stems(scene.objective.text) - FILLER
    buy = next((one for one in scene.page.can("click") if _BUYS.fullmatch(norm(one.name))), None)
    stages: dict[Stage, Move | None]
    if buy is not None:
        why = f"{described(buy, first=True)} completes the purchase."
        stages = {"option": _option(scene, wanted, buy), "buy": scene.move("click", buy, why, finishes=True)}
    else:
        stages = {"result": _result(scene, wanted), "search": _search(scene)}
    found = ((stage, move) for stage, move in stages.items() if only in (None, stage) and move is not None)
    return next(found, None)


def _search(scene: Scene) -> Move | None:
    page = scene.page
    fields = [one for one in page.fields() if one.role in FIELD_ROLES]
    labelled = (one for one in fields if any(_FOR_WORDS.search(label) for label in page.labels(one)))
    box = next((one for one in fields if one.role == "searchbox"), None) or next(labelled, None)
    text = search_words(scene.objective.text, FILLER)
    if box is None or not text:
        return None
    if norm(box.value) != norm(text):
        return scene.move(
            "type", box, f"{described(box, first=True)} takes the most telling words.", text=text
        )
    price = Facts(scene.objective.text).price
    limit = next((one for one in fields if one is not box and _FOR_LIMIT.search(page.label(one))), None)
    if price and limit is not None and norm(limit.value) != norm(price):
        return scene.move("type", limit, f"{price} is the maximum price.", text=price)
    button = next(
        (one for one in page.after(box) if one.role == "button" and _SEARCHES.search(one.name)), None
    )
    if button is None or scene.history.touched(button.ref, "click"):
        return None
    return scene.move("click", button, f'{described(button, first=True)} looks for "{short(text)}".')


def _result(scene: Scene, wanted: set[str]) -> Move | None:
    """Open the result that has most of the words and is not dearer than it may be; none is opened twice."""
    price = Facts(scene.objective.text).price
    most = float(price) if price else None
    rated: list[tuple[float, int, Element]] = []
    opened = {one.turn.target for one in scene.history.actions if one.ok and one.action.name == "click"}
    for place, one in enumerate(scene.page.can("click")):
        if one.role != "link" or f'link "{one.name}"' in opened or scene.history.touched(one.ref, "click"):
            continue
        words = max(
            (stems(text) for text in (one.name, _entry(scene, one))), key=lambda found: len(found & wanted)
        )
        common = len(words & wanted)
        shown = _price_of(scene, one)
        is_too_dear = most is not None and shown is not None and shown > most
        if common >= 2 and (common >= len(words) / 3 or common >= 3) and not is_too_dear:
            rated.append((common + common / len(words), -place, one))
    opened_one = first(
        scene.move("click", one, f"{described(one, first=True)} has most of the requested words.")
        for _, _, one in sorted(rated, key=lambda entry: entry[:2], reverse=True)
    )
    is_searched = any(one.ok and one.action.name == "type" for one in scene.history.actions)
    turned = sum(LIST_PAGE in one.turn.thought for one in scene.history.actions)
    is_turning = is_searched and turned < _PAGES
    return opened_one or (next_page(scene, "what is asked for") if is_turning else None)


def _entry(scene: Scene, link: Element) -> str:
    """Return the words of the entry of a list whose only link this is, such as a code before a title."""
    page = scene.page
    links = [one for one in page.elements if one.role == "link"]
    alone = [
        holder
        for holder in page.holders(link)
        if all(one == link or not page.inside(one, holder) for one in links)
    ]
    return " ".join(one.name for one in page.elements if page.inside(one, alone[-1])) if alone else ""


def _price_of(scene: Scene, link: Element) -> float | None:
    """Return the price that stands with a result: in it, or behind it before the next link of its kind."""
    for one in (link, *scene.page.after(link)[:_NEAR]):
        if one is not link and one.role == "link" and len(one.name) > 15:
            return None
        if (price := price_in(one.name)) is not None:
            return price
    return None


def _option(scene: Scene, wanted: set[str], buy: Element) -> Move | None:
    """Choose in each group before the button that buys: what the words name, else the first, if none is."""
    for group, members in _groups(scene, buy):
        choices = {one.name: one for one in members if one.name and scene.page.may("click", one)}
        label = _pick({name: bool(CHOSEN & set(one.states)) for name, one in choices.items()}, wanted)
        if label is not None and not scene.history.touched(choices[label].ref, "click"):
            why = f"{described(choices[label], first=True)} has to be chosen under {described(group)}."
            if move := scene.move("click", choices[label], why):
                return move
    return None


def _groups(scene: Scene, buy: Element) -> Iterator[tuple[Element, list[Element]]]:
    """Return what is chosen among before the button that buys, each with what names it.

    Radio buttons that stand in a row without a group are named by what is before them.
    """
    page, row = scene.page, list[Element]()
    before = page.elements[: page.index(buy)]
    for at, one in enumerate((*before, buy)):
        if one.role in _GROUPS:
            yield one, [part for part in page.after(one) if part.role in _CHOICES and page.inside(part, one)]
        is_loose = one.role == "radio" and not any(holder.role in _GROUPS for holder in page.holders(one))
        if is_loose:
            row.append(one)
        elif row:
            yield before[max(at - len(row) - 1, 0)], row
            row = []


def _pick(choices: dict[str, bool], wanted: set[str]) -> str | None:
    """Return the choice to make among some, each with whether it is made; None if none is to be made.

    It is the one with the largest share of wanted words, if that is half of
    them or more, else the first if none is made yet.
    """
    shares = {label: len(stems(label) & wanted) / max(len(stems(label)), 1) for label in choices}
    best = max(choices, key=lambda label: shares[label], default=None)
    if best is None:
        return None
    if shares[best] >= 0.5:
        return None if choices[best] else best
    return None if any(choices.values()) else next(iter(choices))
