"""Purchase goals: an objective that describes a thing to be bought, on pages that search, list and sell things.

Four stages, recognised by what the page offers: search, result, option, buy.
"""

import re
from collections.abc import Iterator
from typing import Literal

from core.llm.rules.clicks import LIST_PAGE, next_page, price_in
from core.llm.rules.facts import search_words
from core.llm.rules.moves import Move, Scene, described
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


def stage_of(name: str) -> Stage | None:
    """Return the stage that the name of a policy tells, or None."""
    words = name.replace("_", " ").casefold().split()
    stages: tuple[Stage, ...] = ("search", "result", "option")
    return next((stage for stage in stages if {stage, stage + "s"} & set(words)), None)


def is_bought(scene: Scene) -> bool:
    """Return whether a button that buys was clicked."""
    return any(_BUYS.fullmatch(norm(target.partition(" ")[2])) for target in scene.history.clicked())


def purchase_move(scene: Scene, only: Stage | None = None) -> tuple[Stage, Move] | None:
    """Return the next move towards the goal with its stage; `only` keeps to one stage.

    None if the page offers no further one.
    """
    wanted = scene.objective.stems - FILLER
    buy = next((element for element in scene.page.can("click") if _BUYS.fullmatch(norm(element.name))), None)
    stages: dict[Stage, Move | None]
    if buy is not None:
        buying = scene.click([buy], "{} completes the purchase.", finishes=True)
        stages = {"option": _option(scene, wanted, buy), "buy": buying}
    else:
        stages = {"result": _result(scene, wanted), "search": _search(scene)}
    moves = ((stage, move) for stage, move in stages.items() if only in (None, stage) and move is not None)
    return next(moves, None)


def _search(scene: Scene) -> Move | None:
    page = scene.page
    fields = [one for one in page.fields() if one.role in FIELD_ROLES]
    labelled = (one for one in fields if any(_FOR_WORDS.search(label) for label in page.labels(one)))
    box = next((one for one in fields if one.role == "searchbox"), None) or next(labelled, None)
    text, price = search_words(scene.objective.text, FILLER), scene.objective.facts.price
    if box is None or not text:
        return None
    limit = next((one for one in fields if one is not box and _FOR_LIMIT.search(page.label(one))), None)
    for field, value in ((box, text), (limit, price)):
        if field is not None and value and norm(field.value) != norm(value):
            return scene.move("type", field, f'"{short(value)}" goes into {described(field)}.', text=value)
    buttons = [one for one in page.after(box) if one.role == "button" and _SEARCHES.search(one.name)][:1]
    unused = [button for button in buttons if not scene.history.touched(button.ref, "click")]
    return scene.click(unused, f'{{}} looks for "{short(text)}".')


def _result(scene: Scene, wanted: set[str]) -> Move | None:
    """Open the result that has most of the words and is not dearer than it may be; none is opened twice."""
    price = scene.objective.facts.price
    most = float(price) if price else float("inf")
    opened = scene.history.clicked()
    rated: list[tuple[float, int, Element]] = []
    for place, one in enumerate(scene.page.can("click")):
        if one.role != "link" or f'link "{one.name}"' in opened or scene.history.touched(one.ref, "click"):
            continue
        words = max(stems(one.name), stems(_entry(scene, one)), key=lambda said: len(said & wanted))
        common = len(words & wanted)
        if common >= 2 and common >= min(len(words) / 3, 3) and (_price_of(scene, one) or 0) <= most:
            rated.append((common + common / len(words), -place, one))
    best = [one for _, _, one in sorted(rated, key=lambda entry: entry[:2], reverse=True)]
    if opening := scene.click(best, "{} has most of the requested words."):
        return opening
    is_searched = any(action.ok and action.action.name == "type" for action in scene.history.actions)
    turned = sum(LIST_PAGE in action.turn.thought for action in scene.history.actions)
    return next_page(scene, "what is asked for") if is_searched and turned < _PAGES else None


def _entry(scene: Scene, link: Element) -> str:
    """Return the words of the entry of a list whose only link this is, such as a code before a title."""
    page = scene.page
    others = [element for element in page.elements if element.role == "link" and element != link]
    alone = [one for one in page.holders(link) if not any(page.inside(other, one) for other in others)]
    return (
        " ".join(element.name for element in page.elements if page.inside(element, alone[-1]))
        if alone
        else ""
    )


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
        choices = {
            member.name: member for member in members if member.name and scene.page.may("click", member)
        }
        shares = {name: len(stems(name) & wanted) / max(len(stems(name)), 1) for name in choices}
        best = max(shares, key=lambda name: shares[name], default=None)
        if best is None:
            continue
        made = [name for name, one in choices.items() if CHOSEN & set(one.states)]
        name = best if shares[best] >= 0.5 else next(iter(made or choices))
        is_tried = scene.history.touched(choices[name].ref, "click")
        open_choices = [] if name in made or is_tried else [choices[name]]
        if move := scene.click(open_choices, f"{{}} has to be chosen under {described(group)}."):
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
        if one.role == "radio" and not any(holder.role in _GROUPS for holder in page.holders(one)):
            row.append(one)
        elif row:
            yield before[max(at - len(row) - 1, 0)], row
            row = []
