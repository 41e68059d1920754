"""Replaces what a reply names an element by with its number: a role and name, an XPath, or ``focus``.

A role and name are looked up among the elements on offer; the others are found in the page.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeAlias

from core.schema.action import Action, FocusTarget, RefTarget, RoleTarget, Target, XPathTarget
from core.schema.action_space import OFFERED, Choice, Permissible

_STATES = (" checked", " unchecked")
"""What the label of an element may have after its role and name."""


InPage: TypeAlias = Mapping[str, int | str]
"""The numbers of elements found in the page, by the text of the target; a sentence where there is none."""
Locate: TypeAlias = Callable[[Iterable[Target]], Awaitable[InPage]]
"""Finds elements in the live page."""


class NotOneError(Exception):
    """No element on offer, or more than one, has the role and name; a sentence for the LLM."""


def sought(action: Action) -> tuple[Target, ...]:
    """Return the targets of an action that have to be found in the page."""
    return tuple(target for target in action.targets if isinstance(target, XPathTarget | FocusTarget))


def numbered(action: Action, permissible: Permissible, in_page: InPage) -> Action:
    """Return the action with the numbers of its targets, where it takes numbers; raises NotOneError."""
    allowed = permissible.action(action.name)
    numbers: dict[str, Any] = {}
    for name in ("target", "to"):
        target = getattr(action, name, None)
        own = allowed.parameter(name) if allowed is not None else None
        if target is None or own is None or own.type != "integer":
            continue
        if (ref := in_page.get(str(target))) is not None:
            if isinstance(ref, str):
                raise NotOneError(f"{action.name} cannot use {target} as its {name}. {ref}")
            numbers[name] = RefTarget(ref=ref)
            continue
        if not isinstance(target, RoleTarget):
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
