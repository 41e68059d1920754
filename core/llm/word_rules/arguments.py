"""Choosing among actions of a state by what the objective gives for their arguments.

Where `core.llm.word_rules.offered` goes by shares of words, this goes by
facts: a code, a route, a person, a card. An action whose required arguments
the objective does not give is left alone, and so is one for a deed that the
objective does not ask for.
"""

import re

from core.llm.word_rules.deeds import are_kin, deeds, does_other, root, roots, said_done
from core.llm.word_rules.effects import action_of
from core.llm.word_rules.facts import Facts
from core.llm.word_rules.move import Move, act
from core.llm.word_rules.words import content_words
from core.schema.action import Named
from core.schema.action_space import Parameter, Permissible, PermissibleAction
from core.schema.messages import PromptView

LEAVES = re.compile(r"\b(?:go back|back to|previous|as it is|as they are|return to)\b", re.IGNORECASE)
"""How a way out of a page is described."""
_ALERTS = frozenset(("alert", "alertdialog"))


def taken_actions(view: PromptView) -> list[tuple[Named, bool]]:
    """Return the earlier actions with names of their own, each with whether it was carried out."""
    found: list[tuple[Named, bool]] = []
    for turn in view.history:
        action = action_of(turn.action)
        if isinstance(action, Named):
            found.append((action, turn.result.casefold().startswith(("done", "came back", "ok"))))
    return found


def desk_move(view: PromptView, permissible: Permissible, facts: Facts) -> Move | None:
    """Return the state's action that the facts fit best, or a stop once it is done; None where none fits."""
    own = [action for action in permissible.actions if action.origin == "state"]
    if not own:
        return None
    asked = deeds(view.objective)
    taken = taken_actions(view)
    looked_up = not asked and any(ok and one.arguments for one, ok in taken)
    complains = any(one.role in _ALERTS and one.name for one in view.observation.elements)
    if said_done(view.observation.elements, asked) is not None or (looked_up and not complains):
        done = Move(act("stop"), "The page shows that it is done.", finishes=True)
        if permissible.problem(done.action) is None:
            return done
    rated: list[tuple[float, int, Named, str]] = []
    for place, action in enumerate(own):
        if does_other(action.name.replace("_", " "), asked):
            continue
        filled = _filled(action, view, facts)
        if filled is None:
            continue
        arguments, given, why = filled
        named = Named(name=action.name, arguments=arguments)
        if permissible.problem(named):
            continue
        same = sum(one == named for one, _ in taken)
        away = (
            2.0
            if not given and LEAVES.search(f"{action.name.replace('_', ' ')} {action.description}")
            else 0.0
        )
        worth = 1.5 * given + _nearness(action.name, view.objective, asked) - 4.0 * same - away
        rated.append((worth, -place, named, why))
    if not rated:
        return None
    worth, _, named, why = max(rated, key=lambda one: (one[0], one[1]))
    return Move(named, why) if worth > 0 else None


def _nearness(name: str, objective: str, asked: set[str]) -> float:
    """Return how much of a name the objective says; a deed it asks for counts double."""
    words = [root(word) for word in content_words(name.replace("_", " "))]
    wanted = roots(objective)
    found = sum(1 for word in words if any(are_kin(word, other) for other in wanted))
    does = sum(1 for word in words if any(are_kin(word, deed) for deed in asked))
    return found / max(len(words), 1) + does


def _filled(
    action: PermissibleAction, view: PromptView, facts: Facts
) -> tuple[tuple[str, ...], int, str] | None:
    """Return the arguments, how many of them the objective gives, and why; None where one is missing."""
    arguments: list[str] = []
    given: list[str] = []
    for parameter in action.parameters:
        value = _value(parameter, facts)
        if value is not None:
            given.append(value)
        elif parameter.required:
            value = _as_it_is(parameter, view, facts)
            if value is None:
                return None
        arguments.append(value or "")
    if action.parameters and not given and not any(parameter.required for parameter in action.parameters):
        return None
    if (
        facts.changes
        and action.parameters
        and not (set(given) & set(facts.changes.values()) or facts.code in given)
    ):
        return None
    if given:
        return tuple(arguments), len(given), f"{action.name} takes what the task says: {', '.join(given)}."
    return tuple(arguments), 0, f"{action.name} leads on, by its words."


def _value(parameter: Parameter, facts: Facts) -> str | None:
    name = parameter.name.replace("_", " ")
    if parameter.choices is None:
        return facts.value(name)
    values = [choice.value for choice in parameter.choices]
    return facts.choice(name, values)


def _as_it_is(parameter: Parameter, view: PromptView, facts: Facts) -> str | None:
    """Return the choice that the page shows as chosen, or the one whose words the objective has most of."""
    values = [choice.value for choice in parameter.choices or ()]
    for one in view.observation.elements:
        if one.name in values and {"checked", "selected", "pressed"} & set(one.states):
            return one.name
    return facts.named(values)
