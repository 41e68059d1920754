"""What exemplars tell to be wrong on a page, heeded: what they tell to be right is done in its place."""

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Any

from core.llm.word_rules.move import Move
from core.llm.word_rules.past import Past
from core.schema.action import Action, Named, RefTarget, RoleTarget, parse_action
from core.schema.action_space import Permissible
from core.schema.element_lines import find_told
from core.schema.errors import ActionSyntaxError
from core.schema.messages import Mistake, PromptView
from core.schema.observation import Element

_WORD = re.compile(r"\w+|[^\w\s]")
_ALIKE = 0.5
"""The share of words that two objectives have in common, from which on the one tells of the other."""


def heeded(view: PromptView, permissible: Permissible, move: Move) -> Move:
    """Return a move, or what the nearest exemplar that tells it to be wrong here tells to be right.

    Words in which the exemplar's objective differs from this one are taken
    over: where it speaks of Ada and this one of Bob, its page's “Ada” is Bob.
    What was done in its place already is not done again for it.
    """
    past = Past(view.history)
    for mistake in reversed(view.mistakes):
        instead = _words_instead(mistake.task, view.objective)
        if instead is None:
            continue
        elements = view.observation.elements
        names = permissible.own_names
        tried = _here(mistake.tried, mistake, instead, elements, names)
        if tried is None or tried != move.action:
            continue
        right = _here(mistake.right, mistake, instead, elements, names)
        if right is None or right == tried or past.times(right):
            continue
        if permissible.problem(right) is None:
            return Move(right, f"An exemplar tells that {move.action} is wrong here, and this is right.")
    return move


def _words_instead(theirs: str, ours: str) -> dict[str, str] | None:
    """Return our words for theirs; None where the objectives have too little in common."""
    old, new = _WORD.findall(theirs), _WORD.findall(ours)
    matcher = SequenceMatcher(None, [word.lower() for word in old], [word.lower() for word in new], False)
    if matcher.ratio() < _ALIKE:
        return None
    found: dict[str, str] = {}
    for tag, first, last, from_, to in matcher.get_opcodes():
        if tag == "replace" and last - first == to - from_:
            found.update(zip(old[first:last], new[from_:to], strict=True))
    return found


def _here(
    text: str,
    mistake: Mistake,
    instead: dict[str, str],
    elements: Sequence[Element],
    names: Iterable[str],
) -> Action | None:
    """Return an action of the exemplar as it is on this page; None where an element is not told for certain."""
    try:
        action = parse_action(text, names)
    except ActionSyntaxError:
        return None
    if isinstance(action, Named):
        said = tuple(_said(one, instead) for one in action.arguments)
        return action.replace(arguments=said)
    changes: dict[str, Any] = {
        name: _said(value, instead)
        for name, field in type(action).model_fields.items()
        if isinstance(value := getattr(action, name), str) and field.annotation in (str, str | None)
    }
    for name in ("target", "to"):
        target = getattr(action, name, None)
        if isinstance(target, RefTarget):
            lines = _said(mistake.page, instead)
            found = find_told(lines, target.ref, elements)
            if found.element is None or (found.guess and found.element.ref != target.ref):
                return None
            changes[name] = RefTarget(ref=found.element.ref)
        elif isinstance(target, RoleTarget):
            named = _said(target.name, instead)
            fits = [one.ref for one in elements if (one.role, one.name) == (target.role, named)]
            if len(fits) != 1:
                return None
            changes[name] = RefTarget(ref=fits[0])
    return action.replace(**changes)


def _said(text: str, instead: dict[str, str]) -> str:
    """Return a text with our words for theirs; the numbers that lines begin with are no words."""
    if not instead:
        return text
    words = "|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in instead)
    return re.sub(
        rf"^\s*\[\d+\]|{words}", lambda found: instead.get(found[0], found[0]), text, flags=re.MULTILINE
    )
