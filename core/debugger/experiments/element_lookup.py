"""An exemplar's actions with the elements of the page as it is now."""

from collections.abc import Callable
from typing import Any

from core.schema.action import Action, RefTarget, RoleTarget, parse_action
from core.schema.element_identity import find_told
from core.schema.errors import ActionError
from core.schema.exemplar import ExemplarStep
from core.schema.observation import Observation, Ref

OnGuess = Callable[[str], None]


def on_page(step: ExemplarStep, page: Observation, on_guess: OnGuess) -> tuple[Action, ...]:
    """Return a look's actions with the refs of `page`; `on_guess` gets each that is not certain.

    Raises ActionSyntaxError, and ActionError where an element is not there or
    it is not clear which one it is.
    """
    found: list[Action] = []
    for text in step.actions:
        action = parse_action(text)
        changes: dict[str, Any] = {}
        for name in ("target", "to"):
            target = getattr(action, name, None)
            if isinstance(target, RefTarget):
                changes[name] = RefTarget(ref=_found(action, target.ref, step, page, on_guess))
            elif isinstance(target, RoleTarget):
                changes[name] = RefTarget(ref=_named(action, target, page))
        found.append(action.replace(**changes))
    return tuple(found)


def _found(action: Action, ref: Ref, step: ExemplarStep, page: Observation, on_guess: OnGuess) -> Ref:
    found = find_told(step.observation, ref, page.elements)
    if found.element is None:
        raise ActionError(f"{action}: {found.problem}.")
    if found.guess:
        on_guess(f"{action}: {found.guess}")
    return found.element.ref


def _named(action: Action, target: RoleTarget, page: Observation) -> Ref:
    fits = [one.ref for one in page.elements if (one.role, one.name) == (target.role, target.name)]
    if len(fits) != 1:
        raise ActionError(f"{action}: {len(fits)} elements of the page are {target}.")
    return fits[0]
