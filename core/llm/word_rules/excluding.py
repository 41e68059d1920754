"""Ruling an action out: what is permissible beside it."""

from core.schema.action import Action, Named, RefTarget
from core.schema.action_space import Parameter, Permissible, PermissibleAction


def without(permissible: Permissible, action: Action) -> Permissible:
    """Return what is permissible beside an action: its element, its option or its value is off the list."""
    also = ("double_click",) if action.name == "click" else ()
    kept = (
        _less(one, action) if one.name == action.name or one.name in also else one
        for one in permissible.actions
    )
    return permissible.replace(actions=tuple(one for one in kept if one is not None))


def _less(allowed: PermissibleAction, action: Action) -> PermissibleAction | None:
    if isinstance(action, Named):
        for place, parameter in enumerate(allowed.parameters):
            value = action.arguments[place] if place < len(action.arguments) else ""
            rest = tuple(choice for choice in parameter.choices or () if choice.value != value)
            if parameter.choices is not None and parameter.required and len(rest) < len(parameter.choices):
                return _with(allowed, place, parameter.replace(choices=rest)) if rest else None
        return None
    target = next((one for one in action.targets if isinstance(one, RefTarget)), None)
    if target is None:
        return None
    for place, parameter in enumerate(allowed.parameters):
        by_ref = parameter.choices_by_ref
        given = getattr(action, parameter.name, None)
        if by_ref is not None and target.ref in by_ref and len(by_ref[target.ref]) > 1:
            values = tuple(one for one in by_ref[target.ref] if one != given)
            return _with(allowed, place, parameter.replace(choices_by_ref={**by_ref, target.ref: values}))
    for place, parameter in enumerate(allowed.parameters):
        if parameter.name == "target" and parameter.choices is not None:
            rest = tuple(choice for choice in parameter.choices if choice.value != str(target.ref))
            return _with(allowed, place, parameter.replace(choices=rest)) if rest else None
    return None


def _with(allowed: PermissibleAction, place: int, parameter: Parameter) -> PermissibleAction:
    return allowed.replace(
        parameters=(*allowed.parameters[:place], parameter, *allowed.parameters[place + 1 :])
    )
