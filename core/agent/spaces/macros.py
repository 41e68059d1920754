"""What a state's action does in the page: its steps, one after the other, as actions of the page.

A step is filled in when its turn comes, on the page as it is then, since the
step before it may have changed the page.
"""

import json
import re
from collections.abc import Mapping

from core.agent.spaces.action_space import option_groups
from core.agent.spaces.file import PLACEHOLDER, SpaceAction
from core.schema.action import Action, parse_action
from core.schema.errors import ActionError, ActionSyntaxError
from core.schema.observation import Observation
from core.schema.record import Record


class MacroStep(Record):
    """One step still to be filled in."""

    template: str
    parameter: str = ""
    """The option group it chooses for; empty for a step that is done once."""


def macro_steps(
    action: SpaceAction, arguments: Mapping[str, str], observation: Observation
) -> tuple[MacroStep, ...]:
    """Return the steps of the action with these arguments, a step of choices once for each option given."""
    steps: list[MacroStep] = []
    for template in action.does:
        used = set(PLACEHOLDER.findall(template))
        if used & {"choice", "choice_ref", "group"}:
            groups = option_groups(action.option_groups, observation) if action.option_groups else ()
            steps += [
                MacroStep(template=template, parameter=group.parameter)
                for group in groups
                if arguments.get(group.parameter)
            ]
        elif all(arguments.get(name) for name in used) or not _optional(action, used):
            steps.append(MacroStep(template=template))
    return tuple(steps)


def fill(
    step: MacroStep, action: SpaceAction, arguments: Mapping[str, str], observation: Observation
) -> Action | None:
    """Return the step as an action of the page as it is now, or None where the choice is made already.

    Raises ActionError with a sentence where the page no longer has what the
    step needs.
    """
    values = dict(arguments)
    if step.parameter:
        wanted = arguments[step.parameter]
        groups = option_groups(action.option_groups, observation) if action.option_groups else ()
        group = next((one for one in groups if one.parameter == step.parameter), None)
        if group is None:
            raise ActionError(f"The page has no choices for {step.parameter} any more.")
        made = dict(group.choices)
        if wanted not in made:
            raise ActionError(f'"{wanted}" is not on offer for {group.label} any more.')
        element = made[wanted]
        if element is not None and {"checked", "selected", "pressed"} & set(element.states):
            return None
        values |= {
            "choice": wanted,
            "choice_ref": str(element.ref if element is not None else group.group.ref),
            "group": group.label,
        }
    try:
        return parse_action(filled(step.template, values))
    except ActionSyntaxError as error:
        raise ActionError(
            f"The step {step.template!r} of {action.name} cannot be carried out: {error}"
        ) from error


def _optional(action: SpaceAction, used: set[str]) -> bool:
    """Return whether a step uses an argument that may be left out: without it the step is left out as well."""
    return any(parameter.name in used and not parameter.required for parameter in action.parameter)


def filled(template: str, values: Mapping[str, str]) -> str:
    """Return the template with its values, each as it has to be written where it stands."""

    def written(match: re.Match[str]) -> str:
        value = values.get(match[1], "")
        part = template[template.rfind("[", 0, match.start()) : match.start()]
        if part.count('"') % 2:
            value = json.dumps(value, ensure_ascii=False)[1:-1]
        return re.sub(r"([\\\[\]])", r"\\\1", value)

    return PLACEHOLDER.sub(written, template)
