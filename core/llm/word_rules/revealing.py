"""Looking for what is not shown yet: sections, tabs, menus, further pages, the rest of a list."""

import re

from core.llm.word_rules.move import Answer, Move, Scene, act, said
from core.llm.word_rules.page import hints, is_next
from core.llm.word_rules.words import norm, stem, words
from core.schema.observation import Element

_OPENERS = frozenset(
    ("expand", "expandable", "hitarea", "toggle", "menu", "more", "dropdown", "arrow", "caret", "open")
)
_SIGNS = frozenset(("+", "▸", "▶", "▾", "▼", "…", "...", "☰", "⋮", "⋯", "more", "menu"))


def reveal(scene: Scene, wanted: str, near: list[Element] | None = None) -> Move | None:
    """Return a move that may bring `wanted` into the page, or None where all were tried.

    What is among `near` goes first.
    """
    first = {one.ref for one in near or ()}
    last = scene.past.actions[-1][1] if scene.past.actions else None
    if (
        last is not None
        and last.kind == "click"
        and any(getattr(one, "ref", None) in first for one in last.targets)
    ):
        return Move(act("wait", seconds=1.0), "What was opened may show more in a moment.")
    for element in near or ():
        # A control that changes its looks under the pointer can miss the first click.
        if (
            _hinted(element)
            and scene.past.touched(element.ref, "click") == 1
            and scene.page.may("click", element)
        ):
            return Move(act("click", element), f"{said(element, first=True)} has shown nothing; once more.")
    for element in sorted(candidates(scene), key=lambda one: one.ref not in first):
        move = Move(act("click", element), f'"{wanted}" is not to be seen; {said(element)} may hold it.')
        if scene.allowed(move):
            return move
    if (pause := after_hover(scene)) is not None:
        return pause
    for element in scene.page.can("hover"):
        if element.role == "menuitem" and not scene.past.tried(element.ref) and not _disabled(scene, element):
            move = Move(
                act("hover", element), f'"{wanted}" is not to be seen; {said(element)} may open a menu.'
            )
            if scene.allowed(move):
                return move
    return next_page(scene, wanted)


def after_hover(scene: Scene) -> Move | None:
    """Return a short wait where the last step was to hover: menus open a moment later."""
    if not scene.past.actions or scene.past.actions[-1][1].kind != "hover":
        return None
    return Move(act("wait", seconds=1.0), "A menu may open in a moment.")


def _disabled(scene: Scene, element: Element) -> bool:
    holder = scene.page.by_ref(element.parent) if element.parent is not None else None
    return "disabled" in element.states or (holder is not None and "disabled" in holder.states)


def candidates(scene: Scene) -> list[Element]:
    """Return what could be opened and was not yet, what says so plainly first."""
    page, past = scene.page, scene.past
    plain: list[Element] = []
    hinted: list[Element] = []
    for one in page.can("click"):
        if past.touched(one.ref, "click") or "expanded" in one.states or "selected" in one.states:
            continue
        if one.role == "menu":
            continue
        if "collapsed" in one.states or (one.role in ("tab", "treeitem")):
            plain.append(one)
        elif norm(one.name) in _SIGNS or one.name.strip() in _SIGNS or _hinted(one):
            hinted.append(one)
    return plain + hinted


def _hinted(one: Element) -> bool:
    """Tell whether an unnamed element hints that it opens something."""
    if one.name or "collapsable" in one.detail or "close" in one.detail:
        return False
    return any(stem(word) in _OPENERS or word in _OPENERS for hint in hints(one) for word in words(hint))


def next_page(scene: Scene, wanted: str) -> Move | None:
    """Return a move to the next page of a list."""
    for one in scene.page.can("click"):
        if is_next(one) and one.role in ("link", "button", "generic"):
            move = Move(
                act("click", one), f'"{wanted}" is not on this page of the list; the next one may have it.'
            )
            if scene.allowed(move):
                return move
    return None


def expand(scene: Scene) -> Answer:
    """Answer a part that asks to expand something: done once anything of the page was opened for it."""
    if any(ok for _, _, ok in scene.past.of_part(scene.part)):
        return "done"
    for one in candidates(scene):
        move = Move(act("click", one), f"{said(one, first=True)} is to be opened.", finishes=True)
        if scene.allowed(move):
            return move
    return "done"


def scrolled_to_end(scene: Scene, element: Element, down: bool) -> bool:
    """Tell whether scrolling an element was refused already, so that it is at its end."""
    pattern = re.compile(r"cannot scroll further")
    direction = "down" if down else "up"
    return any(
        pattern.search(turn.result) and action.kind == "scroll" and action.direction == direction
        for turn, action, _ in scene.past.actions
        if any(getattr(target, "ref", None) == element.ref for target in action.targets) or not action.targets
    )
