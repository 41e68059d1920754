"""What is not to be done again: lessons of trials that failed, and mistakes that exemplars tell of."""

import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any

from core.llm.rules.moves import Move, Scene, action_of, target_of, went_well
from core.llm.rules.words import short, stems
from core.schema.action import Action, Backtrack, Named, NewTrial, Note, Press, RefTarget, RoleTarget, Stop
from core.schema.action_space import Permissible
from core.schema.element_identity import find_by_line
from core.schema.messages import Mistake, PromptView, Turn
from core.schema.observation import Element

# Lessons

_NAMED = 3
"""Actions that a lesson names at most."""
_NOT_AGAIN = "Not again:"
_LISTED = re.compile(rf"{_NOT_AGAIN} (.*?)\.(?= Next time|$)", re.DOTALL)


def lesson(view: PromptView) -> str:
    """Return in two to four sentences what was tried, what is not to be tried again, and what to do otherwise."""
    tried: list[Turn] = []
    taken_back: list[Turn] = []
    for turn in view.history:
        action = action_of(turn.action)
        if isinstance(action, Backtrack):
            taken_back.extend(one for one in tried if one.number >= action.step)
        elif action is not None and not isinstance(action, NewTrial | Note | Stop):
            tried.append(turn)
    failed = [turn for turn in tried if not went_well(turn)]
    sentences = [f"{len(tried) or 'No'} actions did not bring the task to its end."]
    if failed:
        why = short(failed[-1].result, 100).rstrip(".")
        sentences.append(f"The last that failed: {_described(failed[-1])}, as {why}.")
    if useless := [*failed, *taken_back, *tried[-1:]]:
        names = dict.fromkeys(_described(turn) for turn in useless[-_NAMED:])
        sentences.append(f"{_NOT_AGAIN} {'; '.join(names)}.")
    asked, targets = stems(view.objective), " ".join(turn.target for turn in tried)
    usable = [
        element
        for element in view.observation.elements
        if element.usable and f'"{element.name}"' not in targets
    ]
    untried = max(usable, key=lambda one: len(stems(one.name) & asked), default=None)
    if untried is not None and stems(untried.name) & asked:
        begin = f'begin with {untried.role} "{short(untried.name)}", which was not tried'
    else:
        begin = "look for the task's words behind tabs, menus and further pages before acting"
    return " ".join((*sentences, f"Next time {begin}."))


def _described(turn: Turn) -> str:
    action = action_of(turn.action)
    return _as_in_lesson(action, turn.target) if action is not None else turn.action


def _as_in_lesson(action: Action, target: str) -> str:
    """Return an action without the number of its element, which the next trial may change."""
    values = (getattr(action, name) for name in action.fields if name not in ("target", "to"))
    text = " ".join([action.name, *(f"[{value}]" for value in values if value is not None)])
    return f"{text} on {target}" if target and not isinstance(action, Press) else text


def ruled_out(view: PromptView) -> set[str]:
    """Return the actions, as `in_lesson` tells them, that lessons of earlier trials say not to try again."""
    listed = (match[1] for entry in view.experience for match in _LISTED.finditer(entry))
    return {part.strip() for actions in listed for part in actions.split("; ")}


def in_lesson(permissible: Permissible, action: Action) -> str:
    """Return an action as a lesson tells it, its element by the words that the permissible actions have for it."""
    offered = permissible.action(action.name)
    target = offered.parameter("target") if offered is not None else None
    choices = (target.choices if target is not None else None) or ()
    label = next((choice.label for choice in choices if choice.value == str(target_of(action))), "")
    return _as_in_lesson(action, label)


# Mistakes

_WORD = re.compile(r"\w+|[^\w\s]")
_ALIKE = 0.5
"""The share of words that two objectives have in common, from which on the one tells of the other."""


def corrected(view: PromptView, scene: Scene, move: Move) -> Move:
    """Return a move, or what the nearest exemplar that tells it to be wrong here tells to be right.

    Words in which the exemplar's objective differs from this one are taken
    over: where it speaks of Ada and this one of Bob, its page's “Ada” is Bob.
    What was done in its place already is not done again for it.
    """
    for mistake in reversed(view.mistakes):
        exemplar = _Exemplar(mistake, view)
        right = exemplar.here(mistake.right) if exemplar.here(mistake.tried) == move.action else None
        if right is None or right == move.action or scene.history.times(right):
            continue
        if scene.page.permissible.problem(right) is None:
            return Move(right, f"An exemplar tells that {move.action} is wrong here, and this is right.")
    return move


class _Exemplar:
    """A mistake of an exemplar, read for this objective and page."""

    def __init__(self, mistake: Mistake, view: PromptView) -> None:
        self._elements = view.observation.elements
        self._ours = _replaced_words(mistake.task, view.objective)
        self._page = self._in_our_words(mistake.page)

    def here(self, text: str) -> Action | None:
        """Return an action of the exemplar as it is on this page; None if an element or the task is another."""
        action = action_of(text)
        if action is None or self._ours is None:
            return None
        if isinstance(action, Named):
            return action.replace(arguments=tuple(map(self._in_our_words, action.arguments)))
        changes: dict[str, Any] = {}
        for name in action.fields:
            value = getattr(action, name)
            if isinstance(value, RefTarget | RoleTarget):
                element = self._element(value)
                if element is None:
                    return None
                changes[name] = RefTarget(ref=element.ref)
            elif isinstance(value, str):
                changes[name] = self._in_our_words(value)
        return action.replace(**changes)

    def _element(self, target: RefTarget | RoleTarget) -> Element | None:
        if isinstance(target, RefTarget):
            place = find_by_line(self._page, target.ref, self._elements)
            is_sure = place.element is not None and (not place.guess or place.element.ref == target.ref)
            return place.element if is_sure else None
        key = (target.role, self._in_our_words(target.name))
        fits = [element for element in self._elements if (element.role, element.name) == key]
        return fits[0] if len(fits) == 1 else None

    def _in_our_words(self, text: str) -> str:
        """Return a text with our words for theirs; the numbers that lines begin with are not words."""
        ours = self._ours
        if not ours:
            return text
        words = "|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in ours)
        pattern = re.compile(rf"^\s*\[\d+\]|{words}", re.MULTILINE)
        return pattern.sub(lambda match: ours.get(match[0], match[0]), text)


def _replaced_words(theirs: str, ours: str) -> Mapping[str, str] | None:
    """Return our words for theirs; None if the objectives have too little in common."""
    old, new = _WORD.findall(theirs), _WORD.findall(ours)
    matcher = SequenceMatcher(None, [word.lower() for word in old], [word.lower() for word in new], False)
    if matcher.ratio() < _ALIKE:
        return None
    replaced: dict[str, str] = {}
    for tag, first, last, from_, to in matcher.get_opcodes():
        if tag == "replace" and last - first == to - from_:
            replaced.update(zip(old[first:last], new[from_:to], strict=True))
    return replaced
