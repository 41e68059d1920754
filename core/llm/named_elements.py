"""Replaces a role and name in a reply's action, such as ``button "Save"``, with the number of the element on offer."""

from collections.abc import Iterable
from typing import Any

from core.schema.action import Action, RefTarget, RoleTarget
from core.schema.action_space import OFFERED, Choice, Permissible

_STATES = (" checked", " unchecked")
"""What the label of an element may have after its role and name."""


class NotOneError(Exception):
    """No element on offer, or more than one, has the role and name; a sentence for the LLM."""


def numbered(action: Action, permissible: Permissible) -> Action:
    """Return the action with numbers for its roles and names, where it takes numbers; raises NotOneError."""
    allowed = permissible.action(action.name)
    numbers: dict[str, Any] = {}
    for name in ("target", "to"):
        target = getattr(action, name, None)
        own = allowed.parameter(name) if allowed is not None else None
        if not isinstance(target, RoleTarget) or own is None or own.type != "integer":
            continue
        choices = own.choices if own.choices is not None else _all_targets(permissible)
        fitting = _fitting(target, choices)
        if len(fitting) != 1:
            raise NotOneError(_why_not(action.name, name, target, fitting, choices))
        numbers[name] = RefTarget(ref=int(fitting[0].value))
    return action.replace(**numbers) if numbers else action


def _all_targets(permissible: Permissible) -> tuple[Choice, ...]:
    targets = (action.parameter("target") for action in permissible.actions)
    return tuple(
        {choice.value: choice for target in targets if target for choice in target.choices or ()}.values()
    )


def _fitting(target: RoleTarget, choices: Iterable[Choice]) -> list[Choice]:
    """Return those with this role and name; case and white space count only if several differ in nothing else."""
    exact: list[Choice] = []
    alike: list[Choice] = []
    wanted = f'{target.role} "{target.name.strip()}"' if target.name else target.role
    for choice in choices:
        label = choice.label
        for state in _STATES:
            label = label.removesuffix(state)
        if not target.name:
            label = label.partition(" (")[0]
        if label == wanted:
            exact.append(choice)
        elif _words(label) == _words(wanted) or (label.endswith("…") and wanted.startswith(label[:-1])):
            alike.append(choice)
    return exact or alike


def _words(text: str) -> str:
    return " ".join(text.lower().split())


def _why_not(
    action: str, name: str, target: RoleTarget, fitting: list[Choice], choices: Iterable[Choice]
) -> str:
    if fitting:
        numbers = " | ".join(choice.value for choice in fitting[:OFFERED])
        return f"{action} needs the number of its {name}: {len(fitting)} elements are {target}: {numbers}."
    named = [
        choice for choice in choices if target.name and _words(f'"{target.name}"') in _words(choice.label)
    ]
    there = ", ".join(f"{one.label} [{one.value}]" for one in named[:OFFERED])
    hint = f"there is {there}" if there else "no element that it can act on has this role and name"
    return f'{action} wants the number of an element as its {name}, not "{target}"; {hint}.'
