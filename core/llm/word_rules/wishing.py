"""Wishes: an objective that describes a thing to be had, on pages that search for things, list them and sell them.

Four stages, told by what the page offers: search, result, option, buy.
"""

import re
from typing import Literal

from core.llm.word_rules.facts import Facts, search_words
from core.llm.word_rules.move import Move, Scene, act, said
from core.llm.word_rules.page import FIELD_ROLES
from core.llm.word_rules.words import content_words, norm, short, stem
from core.schema.observation import Element

Stage = Literal["search", "result", "option", "buy"]

FILLER = frozenset(
    "want wants would like need needs looking look find buy get some something one ones should must can spend "
    "most least less more than under below over above about up price priced costing cost costs dollars dollar "
    "i i'm i'd me mine we us you if so but have has had having be being been no not also just very out worn "
    "old new it them they made make size sized color colour am lower search shop choose result".split()
)
_WISHES = re.compile(
    r"\b(?:i|we)(?:\s+\w+)?\s+(?:want|need)\b|\b(?:i|we)(?:'d| would)\s+like\b|\blooking\s+for\b|\bfind\s+me\b",
    re.IGNORECASE,
)
_BUYS = re.compile(r"^(?:buy(?: it)?(?: now)?|add to (?:cart|basket|bag)|order now|place (?:the )?order)$")
_SEARCHES = re.compile(r"\b(?:search|find|go)\b", re.IGNORECASE)
_LIMITS = re.compile(r"\bmax(?:imum)?\b|\bhighest\b|\bup to\b", re.IGNORECASE)
_PRICE = re.compile(r"[$€£]\s?(\d[\d,]*(?:\.\d+)?)")
_CHOSEN = frozenset(("pressed", "checked", "selected"))
_NEAR = 12
"""Elements behind a result's link that still tell of it."""


def is_wish(text: str) -> bool:
    """Tell whether an objective describes a thing to be had."""
    return _WISHES.search(text) is not None


def wish_move(scene: Scene, only: Stage | None = None) -> tuple[Stage, Move] | None:
    """Return the next move towards the wish with its stage; `only` keeps to one stage.

    None where the page offers no further one.
    """
    wanted = wish_words(scene.objective.text)
    buy = next((one for one in scene.page.can("click") if _BUYS.match(norm(one.name))), None)
    if buy is not None:
        if only in (None, "option") and (move := _option(scene, wanted, buy)) is not None:
            return "option", move
        if only in (None, "buy"):
            move = Move(
                act("click", buy), f"{said(buy, first=True)} is what the wish comes to.", finishes=True
            )
            return ("buy", move) if scene.allowed(move) else None
        return None
    if only in (None, "result") and (move := _result(scene, wanted)) is not None:
        return "result", move
    if only in (None, "search") and (move := _search(scene)) is not None:
        return "search", move
    return None


def wish_words(text: str) -> set[str]:
    """Return the words that tell what is wished for, as stems."""
    return {stem(word) for word in content_words(text)} - FILLER


def told_stage(name: str) -> Stage | None:
    """Return the stage that the name of a policy tells, or None."""
    words = set(norm(name.replace("_", " ")).split())
    if "search" in words:
        return "search"
    if words & {"result", "results"}:
        return "result"
    return "option" if words & {"option", "options"} else None


def _search(scene: Scene) -> Move | None:
    page = scene.page
    fields = [one for one in page.fields() if one.role in FIELD_ROLES]
    box = next((one for one in fields if one.role == "searchbox"), None) or next(
        (one for one in fields if any(_is_for_words(label) for label in page.labels(one))), None
    )
    if box is None:
        return None
    text = search_words(scene.objective.text, FILLER)
    if not text:
        return None
    if norm(box.value) != norm(text):
        move = Move(act("type", box, text=text), f"{said(box, first=True)} takes the words that tell most.")
        return move if scene.allowed(move) else None
    price = Facts(scene.objective.text).price
    limit = next((one for one in fields if one is not box and _LIMITS.search(page.labels(one)[0])), None)
    if price and limit is not None and norm(limit.value) != norm(price):
        move = Move(act("type", limit, text=price), f"{price} is the most that it may cost.")
        if scene.allowed(move):
            return move
    for one in page.after(box):
        if one.role == "button" and page.may("click", one) and _SEARCHES.search(one.name):
            move = Move(act("click", one), f'{said(one, first=True)} looks for "{short(text)}".')
            return move if scene.allowed(move) and not scene.past.touched(one.ref, "click") else None
    return None


def _is_for_words(label: str) -> bool:
    return re.search(r"\b(?:search|keywords?|query)\b", label, re.IGNORECASE) is not None


def _result(scene: Scene, wanted: set[str]) -> Move | None:
    """Open the result that has most of the words and is not dearer than it may be; none is opened twice."""
    price = Facts(scene.objective.text).price
    most = float(price) if price else None
    rated: list[tuple[float, int, Element]] = []
    opened = {turn.target for turn, action, ok in scene.past.actions if ok and action.kind == "click"}
    for place, one in enumerate(scene.page.can("click")):
        if one.role != "link" or f'link "{one.name}"' in opened or scene.past.touched(one.ref, "click"):
            continue
        words = {stem(word) for word in content_words(one.name)}
        common = len(words & wanted)
        if common < 2 or (common < len(words) / 3 and common < 3):
            continue
        shown = _price_of(scene, one)
        dear = most is not None and shown is not None and shown > most
        rated.append((common + common / max(len(words), 1) - (100 if dear else 0), -place, one))
    for worth, _, one in sorted(rated, key=lambda entry: entry[:2], reverse=True):
        if worth <= 0:
            break
        move = Move(act("click", one), f"{said(one, first=True)} has most of the words asked for.")
        if scene.allowed(move):
            return move
    return None


def _price_of(scene: Scene, link: Element) -> float | None:
    """Return the price that stands with a result: in it, or behind it before the next link of its kind."""
    for one in (link, *scene.page.after(link)[:_NEAR]):
        if one is not link and one.role == "link" and len(one.name) > 15:
            return None
        if match := _PRICE.search(one.name):
            return float(match[1].replace(",", ""))
    return None


def _option(scene: Scene, wanted: set[str], buy: Element) -> Move | None:
    """Choose in each group before the button that buys: what the words name, else the first, where none is."""
    page = scene.page
    for group in page.elements[: page.index(buy)]:
        if group.role in ("combobox", "listbox") and group.options and page.may("select", group):
            open_ones = [option for option in group.options if not option.disabled and option.value]
            labels = [option.label for option in open_ones]
            pick = _best(labels, wanted)
            chosen = next((option.label for option in open_ones if option.selected), None)
            if (labels and chosen is None) or (pick is not None and pick != chosen):
                move = Move(
                    act("select", group, option=pick or labels[0]),
                    f"{said(group, first=True)} is to be chosen.",
                )
                if scene.allowed(move):
                    return move
            continue
        if group.role not in ("group", "radiogroup"):
            continue
        choices = [
            one
            for one in page.can("click")
            if one.role in ("button", "radio", "option") and page.inside(one, group) and one.name
        ]
        if len(choices) < 1:
            continue
        pick = _best([one.name for one in choices], wanted)
        is_any_chosen = any(_CHOSEN & set(one.states) for one in choices)
        element = next((one for one in choices if one.name == pick), None if is_any_chosen else choices[0])
        if element is None or _CHOSEN & set(element.states) or scene.past.touched(element.ref, "click"):
            continue
        why = "fits the words" if pick else "is the first, as the words name none"
        move = Move(act("click", element), f"{said(element, first=True)} {why}, under {said(group)}.")
        if scene.allowed(move):
            return move
    return None


def _best(labels: list[str], wanted: set[str]) -> str | None:
    """Return the label with the largest share of wanted words, where it is half of them or more."""
    best, most = None, 0.0
    for label in labels:
        words = {stem(word) for word in content_words(label)}
        share = len(words & wanted) / max(len(words), 1)
        if share > most:
            best, most = label, share
    return best if most >= 0.5 else None
