"""Choosing among actions with names of their own, such as those of a state: by what their arguments can be.

An action is worth taking where the objective's words are among the values it
offers, or give a text to put in; less so each time it was taken before.
"""

import re
from collections.abc import Iterable

from core.llm.word_rules.arguments import desk_move
from core.llm.word_rules.facts import Facts, search_words
from core.llm.word_rules.move import Move
from core.llm.word_rules.wishing import FILLER, is_wish
from core.llm.word_rules.words import content_words, numbers, stem
from core.schema.action import Named, parse_action
from core.schema.action_space import Choice, Parameter, Permissible, PermissibleAction
from core.schema.errors import ActionSyntaxError
from core.schema.messages import PromptView

_LONGEST = 8
"""Words put in where any text will do."""
_NUMBER_NAMES = re.compile(r"price|cost|budget|amount|max|limit", re.IGNORECASE)
_LEAVES = re.compile(r"\b(?:back|previous|leave|return|cancel)\b", re.IGNORECASE)


def offered_move(view: PromptView, permissible: Permissible) -> Move | None:
    """Return the best of the actions that the state offers, or None where it offers none."""
    own = [action for action in permissible.actions if action.origin == "state"]
    facts = Facts(view.objective)
    if facts.are_given and not is_wish(view.objective):
        return desk_move(view, permissible, facts)
    names = [action.name for action in own]
    taken = list(_taken(view, names))
    rated: list[tuple[float, int, Named, str]] = []
    for place, action in enumerate(own):
        filled = _filled(action, view.objective)
        if filled is None:
            continue
        arguments, worth, why = filled
        named = Named(name=action.name, arguments=arguments)
        if permissible.problem(named):
            continue
        same = sum(one == named for one in taken)
        alike = sum(one.name == action.name for one in taken)
        away = 0.8 if _LEAVES.search(action.description) or _LEAVES.search(action.name) else 0.0
        rated.append((worth - 4.0 * same - 0.4 * alike - away, -place, named, why))
    if not rated:
        return None
    _, _, named, why = max(rated, key=lambda one: (one[0], one[1]))
    return Move(named, why)


def _taken(view: PromptView, names: list[str]) -> Iterable[Named]:
    for turn in view.history:
        try:
            action = parse_action(turn.action, names)
        except ActionSyntaxError:
            continue
        if isinstance(action, Named):
            yield action


def _filled(action: PermissibleAction, objective: str) -> tuple[tuple[str, ...], float, str] | None:
    """Return arguments for an action, what it is worth with them, and why; None where one cannot be given."""
    wanted = {stem(word) for word in content_words(objective)} - FILLER
    arguments: list[str] = []
    worth, matched = 0.5, []
    for parameter in action.parameters:
        if parameter.choices is not None:
            choice, share = _best(parameter.choices, wanted)
            if choice is None:
                return None
            arguments.append(choice.value if parameter.required or share else "")
            worth += 2.0 * share if parameter.required else share
            if share:
                matched.append(choice.value)
        else:
            text = _text(parameter, objective)
            if not text and parameter.required:
                return None
            arguments.append(text)
            worth += 1.5 if text and parameter.required else 0.0
            if text and parameter.required:
                matched.append(text)
    if matched:
        return tuple(arguments), worth, f"{action.name} takes what the task says: {', '.join(matched)}."
    return tuple(arguments), worth, f"{action.name} is on offer here."


def _best(choices: Iterable[Choice], wanted: set[str]) -> tuple[Choice | None, float]:
    """Return the choice with the largest share of wanted words, and that share; of equal ones the first."""
    best, most = None, -1.0
    for choice in choices:
        words = {stem(word) for word in content_words(f"{choice.value} {choice.label}")} - FILLER
        share = len(words & wanted) / max(
            len({stem(w) for w in content_words(choice.label or choice.value)}), 1
        )
        if "(looked at already)" in choice.label:
            share -= 1.0
        if share > most:
            best, most = choice, share
    return best, max(most, 0.0)


def _text(parameter: Parameter, objective: str) -> str:
    if parameter.type in ("number", "integer"):
        price = Facts(objective).price
        if price and _NUMBER_NAMES.search(parameter.name):
            return price
        found = numbers(objective)
        return f"{found[0]:g}" if found and parameter.required else ""
    if not parameter.required:
        return ""
    return search_words(objective, FILLER, _LONGEST)
