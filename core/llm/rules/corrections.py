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
    tried = [turn for turn in view.history if _is_of_page(turn)]
    failed = [turn for turn in tried if not went_well(turn)]
    taken_back = [
        one
        for place, turn in enumerate(view.history)
        if isinstance(back := action_of(turn.action), Backtrack)
        for one in view.history[:place]
        if one.number >= back.step and _is_of_page(one)
    ]
    sentences = [
        f"{len(tried)} actions did not bring the task to its end." if tried else "No action was carried out."
    ]
    if failed:
        why = short(failed[-1].result, 100).rstrip(".")
        sentences.append(f"The last that failed: {_described(failed[-1])}, as {why}.")
    if useless := [*failed, *taken_back, *tried[-1:]]:
        sentences.append(
            f"{_NOT_AGAIN} {'; '.join(dict.fromkeys(_described(one) for one in useless[-_NAMED:]))}."
        )
    untried = _untried(view, tried)
    if untried is not None:
        sentences.append(f'Next time begin with {untried.role} "{short(untried.name)}", which was not tried.')
    else:
        sentences.append(
            "Next time look for the task's words behind tabs, menus and further pages before acting."
        )
    return " ".join(sentences)


def _is_of_page(turn: Turn) -> bool:
    action = action_of(turn.action)
    return action is not None and not isinstance(action, Backtrack | NewTrial | Note | Stop)


def _described(turn: Turn) -> str:
    action = action_of(turn.action)
    return _as_in_lesson(action, turn.target) if action is not None else turn.action


def _as_in_lesson(action: Action, target: str) -> str:
    """Return an action without the number of its element, which the next trial may change."""
    values = (getattr(action, name) for name in action.fields if name not in ("target", "to"))
    text = " ".join([action.name, *(f"[{value}]" for value in values if value is not None)])
    return f"{text} on {target}" if target and not isinstance(action, Press) else text


def _untried(view: PromptView, tried: list[Turn]) -> Element | None:
    """Return what the page shows that has most of the objective's words and was never acted on."""
    asked = stems(view.objective)
    targets = " ".join(turn.target for turn in tried)
    usable = [one for one in view.observation.elements if one.usable and f'"{one.name}"' not in targets]
    best = max(usable, key=lambda one: len(stems(one.name) & asked), default=None)
    return best if best is not None and stems(best.name) & asked else None


def ruled_out(view: PromptView) -> set[str]:
    """Return the actions, as `in_lesson` tells them, that lessons of earlier trials say not to try again."""
    listed = (match[1] for entry in view.experience for match in _LISTED.finditer(entry))
    return {part.strip() for one in listed for part in one.split("; ")}


def in_lesson(permissible: Permissible, action: Action) -> str:
    """Return an action as a lesson tells it, its element by the words that the permissible actions have for it."""
    offered = permissible.action(action.name)
    target = offered.parameter("target") if offered is not None else None
    choices = (target.choices if target is not None else None) or ()
    label = next((one.label for one in choices if one.value == str(target_of(action))), "")
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
    history, permissible = scene.history, scene.page.permissible
    for mistake in reversed(view.mistakes):
        replaced = _replaced_words(mistake.task, view.objective)
        if replaced is None or _here(mistake.tried, mistake, replaced, view) != move.action:
            continue
        right = _here(mistake.right, mistake, replaced, view)
        if right is None or right == move.action or history.times(right) or permissible.problem(right):
            continue
        return Move(right, f"An exemplar tells that {move.action} is wrong here, and this is right.")
    return move


def _replaced_words(theirs: str, ours: str) -> dict[str, str] | None:
    """Return our words for theirs; None if the objectives have too little in common."""
    old, new = _WORD.findall(theirs), _WORD.findall(ours)
    matcher = SequenceMatcher(None, [word.lower() for word in old], [word.lower() for word in new], False)
    if matcher.ratio() < _ALIKE:
        return None
    found: dict[str, str] = {}
    for tag, first, last, from_, to in matcher.get_opcodes():
        if tag == "replace" and last - first == to - from_:
            found.update(zip(old[first:last], new[from_:to], strict=True))
    return found


def _here(text: str, mistake: Mistake, replaced: Mapping[str, str], view: PromptView) -> Action | None:
    """Return an action of the exemplar as it is on this page; None if an element is not certain."""
    action = action_of(text)
    if action is None:
        return None
    if isinstance(action, Named):
        arguments = tuple(_in_our_words(one, replaced) for one in action.arguments)
        return action.replace(arguments=arguments)
    changes: dict[str, Any] = {}
    for name in action.fields:
        value = getattr(action, name)
        if isinstance(value, RefTarget | RoleTarget):
            element = _element_here(value, mistake, replaced, view.observation.elements)
            if element is None:
                return None
            changes[name] = RefTarget(ref=element.ref)
        elif isinstance(value, str):
            changes[name] = _in_our_words(value, replaced)
    return action.replace(**changes)


def _element_here(
    target: RefTarget | RoleTarget,
    mistake: Mistake,
    replaced: Mapping[str, str],
    elements: tuple[Element, ...],
) -> Element | None:
    if isinstance(target, RefTarget):
        found = find_by_line(_in_our_words(mistake.page, replaced), target.ref, elements)
        is_sure = found.element is not None and (not found.guess or found.element.ref == target.ref)
        return found.element if is_sure else None
    key = (target.role, _in_our_words(target.name, replaced))
    fits = [one for one in elements if (one.role, one.name) == key]
    return fits[0] if len(fits) == 1 else None


def _in_our_words(text: str, replaced: Mapping[str, str]) -> str:
    """Return a text with our words for theirs; the numbers that lines begin with are not words."""
    if not replaced:
        return text
    words = "|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in replaced)
    return re.sub(
        rf"^\s*\[\d+\]|{words}", lambda found: replaced.get(found[0], found[0]), text, flags=re.MULTILINE
    )
