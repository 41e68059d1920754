"""Purchase goals: an objective that describes a thing to be bought, on pages that search, list and sell things.

Four stages, recognised by what the page offers: search, result, option, buy.
"""

import re
from itertools import takewhile
from typing import Literal

from core.llm.rules.clicks import LIST_PAGE, next_page, price_in
from core.llm.rules.facts import FILLER
from core.llm.rules.forms import FactsForm
from core.llm.rules.moves import Move, Scene, described
from core.llm.rules.page import CHOSEN
from core.llm.rules.words import norm, stems
from core.schema.observation import Element

Stage = Literal["search", "result", "option", "buy"]

_BUYS = re.compile(r"(?:buy(?: it)?(?: now)?|add to (?:cart|basket|bag)|order now|place (?:the )?order)")
_CHOICES = ("button", "radio", "option")
_PAGES = 4
"""How often the pages of results are turned, if none fits."""


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
        form = FactsForm(scene)
        stages = {"result": _result(scene, wanted), "search": form.entry() or form.submission()}
    moves = ((stage, move) for stage, move in stages.items() if only in (None, stage) and move is not None)
    return next(moves, None)


def _result(scene: Scene, wanted: set[str]) -> Move | None:
    """Open the result that has most of the words and is not dearer than it may be; none is opened twice."""
    price = scene.objective.facts.price
    most = float(price) if price else float("inf")
    opened = scene.history.clicked()
    rated: list[tuple[float, int, Element]] = []
    for place, one in enumerate(scene.page.can("click")):
        if one.role != "link" or f'link "{one.name}"' in opened or scene.history.touched(one.ref, "click"):
            continue
        entry = _entry(scene, one)
        words = max(stems(one.name), stems(entry), key=lambda said: len(said & wanted))
        common = len(words & wanted)
        if common >= 2 and common >= min(len(words) / 3, 3) and (price_in(entry) or 0) <= most:
            rated.append((common + common / len(words), -place, one))
    best = [one for _, _, one in sorted(rated, key=lambda entry: entry[:2], reverse=True)]
    if opening := scene.click(best, "{} has most of the requested words."):
        return opening
    is_searched = any(action.ok and action.action.name == "type" for action in scene.history.actions)
    turned = sum(LIST_PAGE in action.turn.thought for action in scene.history.actions)
    return next_page(scene, "what is asked for") if is_searched and turned < _PAGES else None


def _entry(scene: Scene, link: Element) -> str:
    """Return the words of the entry of a list that a link leads to.

    They are what the link's holder without other links has, such as a code before a title, or what
    follows up to the next link or heading.
    """
    page = scene.page
    others = [element for element in page.elements if element.role == "link" and element != link]
    alone = [one for one in page.holders(link) if not any(page.inside(other, one) for other in others)]
    if alone:
        parts = [element for element in page.elements if page.inside(element, alone[-1])]
    else:
        parts = [link, *takewhile(lambda one: one.role not in ("link", "heading"), page.after(link))]
    return " ".join(part.name for part in parts)


def _option(scene: Scene, wanted: set[str], buy: Element) -> Move | None:
    """Choose in each group before the button that buys: what the words name, else the first, if none is."""
    page = scene.page
    for group, members in page.groups(_CHOICES).items():
        if page.index(group) > page.index(buy):
            break
        choices = {member.name: member for member in members if member.name and page.may("click", member)}
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
