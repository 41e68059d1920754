"""Other actions, should the chosen one be wrong: the next best moves where it, and what was tried, is ruled out."""

import re

from core.llm.word_rules.calling import Role
from core.llm.word_rules.decide import LASTING
from core.llm.word_rules.effects import action_of
from core.llm.word_rules.excluding import without
from core.llm.word_rules.move import act, said
from core.llm.word_rules.page import Page
from core.llm.word_rules.proposing import proposed
from core.llm.word_rules.roles import role_of
from core.llm.word_rules.shapes import called
from core.llm.word_rules.words import content_words, stem
from core.schema.action import Action, Press, RefTarget, Stop, Type
from core.schema.action_space import Permissible
from core.schema.messages import PromptView
from core.schema.observation import CleanObservation, Element

_WORDED = re.compile(r'^(\w+) \[([a-z]+(?:-[a-z]+)*) "(.*?)"(?: (\d+))?\](.*)$', re.DOTALL)
"""An action with its element in words, as in ``click [button "Save" 2]``."""
_PART = re.compile(r"^(?:Part|Towards part) (\d+) of \d+: ")
_IDLE = frozenset(("stop", "wait", "note", "scroll", "go_back", "go_forward", "new_tab", "close_tab"))


def other_actions(view: PromptView, permissible: Permissible, role: Role) -> tuple[list[Action], str]:
    """Return up to `view.count` actions that are neither chosen nor unwanted, the best first, and a sentence.

    There are fewer, or none, where nothing else in the page is near to what
    the objective names.
    """
    read = [_read(text, view.observation) for text in (view.action, *view.unwanted)]
    excluded = [one for one in read if one is not None]
    part = _PART.match(view.thought)
    left = permissible
    for one in excluded:
        left = without(left, one)
    taken = {str(one) for one in excluded}
    found: dict[str, tuple[Action, str]] = {}
    for action, why in (*_next_best(view, left, role, view.count), *_near(view, left, excluded)):
        if len(found) >= view.count:
            break
        other = _PART.match(why)
        if part is not None and other is not None and part[1] != other[1]:
            continue
        if str(action) not in taken and permissible.problem(action) is None:
            found.setdefault(str(action), (action, why))
    if not found:
        return [], "There is nothing else to try."
    why = next(iter(found.values()))[1]
    if part is not None and _PART.match(why) is None:
        why = part[0] + why
    return [action for action, _ in found.values()], why


def _next_best(
    view: PromptView, permissible: Permissible, role: Role, count: int
) -> list[tuple[Action, str]]:
    """Return what would be proposed, one after the other, with what was proposed before ruled out."""
    found: list[tuple[Action, str]] = []
    while len(found) < count:
        move = proposed(view, permissible, role)
        if isinstance(move.action, Stop) or move.action.name in _IDLE:
            break
        found.append((move.action, move.why))
        less = without(permissible, move.action)
        if less == permissible:
            break
        permissible = less
    return found


def _near(view: PromptView, permissible: Permissible, excluded: list[Action]) -> list[tuple[Action, str]]:
    """Return clicks on what shares words with the task, and on what is of a kind with the chosen element.

    None where the chosen action enters something: a click is no other way to do that.
    """
    if any(isinstance(one, Type | Press) for one in excluded[:1]):
        return []
    page = Page(view, permissible)
    asked = {stem(word) for word in content_words(f"{view.objective} {view.subtask}")}
    chosen = next((one for one in (_element(action, page) for action in excluded) if one is not None), None)
    its_words = _words_of(chosen) | called(page, chosen) if chosen is not None else set()
    roles, _ = role_of(view.objective)
    rated: list[tuple[float, int, Element]] = []
    for place, one in enumerate(page.can("click")):
        if LASTING.search(f"{one.name} {one.detail}") and not LASTING.search(view.objective):
            continue
        words = _words_of(one)
        worth = 2.0 * len(words & asked) / max(len(words), 1) + len(words & its_words) / max(len(words), 1)
        worth += 0.4 if one.role in roles else 0.0
        if chosen is not None and one.role == chosen.role:
            worth += 0.5 if one.parent == chosen.parent else 0.3
            worth += 0.2 if one.name == chosen.name else 0.0
        if worth > 0:
            rated.append((worth, -place, one))
    rated.sort(key=lambda entry: entry[:2], reverse=True)
    return [(act("click", one), f"It may be {said(one)} that is meant.") for _, _, one in rated]


def _words_of(one: Element) -> set[str]:
    return {stem(word) for word in content_words(f"{one.name} {one.detail}")}


def _element(action: Action, page: Page) -> Element | None:
    target = next((one for one in action.targets if isinstance(one, RefTarget)), None)
    return page.by_ref(target.ref) if target is not None else None


def _read(text: str, page: CleanObservation) -> Action | None:
    """Return the action that a text writes, by the element's number or in words with its place among equals."""
    match = _WORDED.match(text)
    if match is None:
        return action_of(text)
    kind, role, name, number, rest = match.groups()
    alike = [one for one in page.elements if (one.role, one.name) == (role, name)]
    at = int(number) - 1 if number else 0
    if not 0 <= at < len(alike):
        return None
    return action_of(f"{kind} [{alike[at].ref}]{_values(rest)}")


def _values(rest: str) -> str:
    """Return the further parts as an action writes them: values without names, yes and no as numbers."""
    parts = re.findall(r"\[(\w+)=(.*?)\](?= \[|$)", rest, re.DOTALL)
    told = [
        f"[{name}={int(value == 'True')}]" if value in ("True", "False") else f"[{value}]"
        for name, value in parts
    ]
    return "".join(f" {one}" for one in told)
