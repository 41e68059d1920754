"""Carries out a state's action: its page actions, and what the run remembers.

Each page action is filled in when its turn comes, because the one before may have changed the page.
"""

import json
from collections.abc import Mapping

from core.agent.spaces.file import PLACEHOLDER, SpaceAction, SpaceState, filled
from core.agent.spaces.recognition import option_groups
from core.browser.page import Page
from core.schema.action import Action, Named, RefTarget, RoleTarget, XPathTarget
from core.schema.action_space import Permissible
from core.schema.action_text import parse_action
from core.schema.errors import ActionError, ActionSyntaxError
from core.schema.observation import Observation, Ref
from core.schema.progress import SetAside, SpaceMemory
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
    """Return the step as an action of the page as it is now, or None if the choice is made already.

    Raises ActionError with a sentence where the page no longer has what the
    step needs.
    """
    values = dict(arguments)
    if step.parameter:
        wanted = arguments[step.parameter]
        groups = option_groups(action.option_groups, observation) if action.option_groups else ()
        group = next((one for one in groups if one.parameter == step.parameter), None)
        if group is None:
            raise ActionError(f"The page no longer has choices for {step.parameter}.")
        made = dict(group.choices)
        if wanted not in made:
            raise ActionError(f'"{wanted}" is no longer offered for {group.label}.')
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


# Memory


def memory_after(
    memory: SpaceMemory,
    action: SpaceAction,
    arguments: Mapping[str, str],
    state: SpaceState,
    *,
    step: int,
    thought: str,
    url: str,
    title: str,
) -> SpaceMemory:
    """Return the memory once `action` was carried out in `state`."""
    remembered = dict(memory.remembered)
    buffer = memory.buffer
    if action.sets_aside:
        candidate = remembered.get(state.candidate, "")
        if candidate:
            entry = SetAside(candidate=candidate, url=url, title=title, reason=thought, step=step)
            buffer = (*(one for one in buffer if one.candidate != candidate), entry)
    for name, template in action.remembers.items():
        value = PLACEHOLDER.sub(lambda match: arguments.get(match[1], ""), template).strip()
        if value:
            remembered[name] = value
        else:
            remembered.pop(name, None)
    looked_at = memory.looked_at
    marked = arguments.get(action.marks, "") if action.marks else ""
    if marked and marked not in looked_at:
        looked_at = (*looked_at, marked)
    changed = memory.replace(remembered=remembered, looked_at=looked_at, buffer=buffer)
    return changed.moved(step=step, source=state.name, action=action.name)


# Pointing

_REF_AT = """
(() => {{
  const found = document.evaluate({path}, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE, null).singleNodeValue;
  const at = ref => {{ const el = __backstep.byRef(ref); return el && found && (el === found || found.contains(el)); }};
  return {refs}.find(at) ?? null;
}})()
"""
_FIRST_THAT_HAS = """
(() => {{
  const pointed = __backstep.byRef({ref});
  const meets = path => {{
    const found = document.evaluate(path, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE, null).singleNodeValue;
    return found && pointed && (found === pointed || found.contains(pointed) || pointed.contains(found));
  }};
  return {paths}.findIndex(path => {{ try {{ return meets(path) }} catch {{ return false }} }});
}})()
"""


def first_step(
    here: SpaceState, permissible: Permissible, observation: Observation, action: Action
) -> Action | None:
    """Return what a state's action does first in the page as it is; None if it is no such action or does nothing."""
    own, allowed = here.action_named(action.name), permissible.action(action.name)
    if not isinstance(action, Named) or own is None or allowed is None:
        return None
    arguments = allowed.arguments(action)
    steps = macro_steps(own, arguments, observation)
    try:
        return fill(steps[0], own, arguments, observation) if steps else None
    except ActionError:
        return None


def refs_named(action: Action, observation: Observation) -> list[Ref]:
    """Return the elements that the targets of an action name by ref, or by role and name, in its order."""
    refs: list[Ref] = []
    for target in action.targets:
        if isinstance(target, RefTarget):
            refs.append(target.ref)
        elif isinstance(target, RoleTarget):
            wanted = (target.role, target.name)
            refs += [
                element.ref for element in observation.elements if (element.role, element.name) == wanted
            ]
    return refs


async def element_of(
    here: SpaceState, permissible: Permissible, observation: Observation, page: Page, action: Action
) -> Ref | None:
    """Return the element that a state's action acts on first; None if it is no such action or the page has none.

    Raises PageGone, ActionError and BrowserError if the page cannot be asked.
    """
    first = first_step(here, permissible, observation, action)
    if first is None:
        return None
    if named := refs_named(first, observation):
        return named[0]
    paths = [target.xpath for target in first.targets if isinstance(target, XPathTarget)]
    if not paths:
        return None
    refs = json.dumps([element.ref for element in observation.elements])
    found: Ref | None = await page.evaluate(_REF_AT.format(path=json.dumps(paths[0]), refs=refs))
    return found


async def action_at(
    here: SpaceState, permissible: Permissible, observation: Observation, page: Page, ref: Ref
) -> Named | None:
    """Return the state's action whose first step acts on the element, None if none that is whole does.

    Whole is one whose required arguments have choices. Raises PageGone,
    ActionError and BrowserError where the page cannot be asked.
    """
    by_path: list[tuple[str, Named]] = []
    for row in permissible.rows():
        if "[]" in row.text:
            continue
        try:
            action = parse_action(row.text, permissible.own_names)
        except ActionSyntaxError:
            continue
        first = first_step(here, permissible, observation, action)
        if not isinstance(action, Named) or first is None:
            continue
        if ref in refs_named(first, observation):
            return action
        by_path += [(target.xpath, action) for target in first.targets if isinstance(target, XPathTarget)]
    if not by_path:
        return None
    paths = json.dumps([path for path, _ in by_path])
    found = await page.evaluate(_FIRST_THAT_HAS.format(ref=int(ref), paths=paths))
    return by_path[found][1] if found >= 0 else None
