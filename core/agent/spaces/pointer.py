"""Which action of a state acts on an element that a person points at."""

import json

from core.agent.spaces.file import SpaceState
from core.agent.spaces.macros import fill, macro_steps
from core.browser.page import Page
from core.schema.action import Action, Named, RefTarget, RoleTarget, XPathTarget, parse_action
from core.schema.action_space import Permissible
from core.schema.errors import ActionError, ActionSyntaxError
from core.schema.observation import Observation, Ref

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


async def action_at(
    here: SpaceState, permissible: Permissible, observation: Observation, page: Page, ref: Ref
) -> Named | None:
    """Return the state's action whose first step acts on the element, None where none that is whole does.

    Whole is one whose required arguments have choices. Raises PageGone,
    ActionError and BrowserError where the page cannot be asked.
    """
    by_path: list[tuple[str, Named]] = []
    for row in permissible.rows():
        own = here.action_named(row.name)
        allowed = permissible.action(row.name)
        if own is None or allowed is None or "[]" in row.text:
            continue
        try:
            action = parse_action(row.text, permissible.own_names)
        except ActionSyntaxError:
            continue
        if not isinstance(action, Named):
            continue
        arguments = allowed.arguments(action)
        steps = macro_steps(own, arguments, observation)
        try:
            first = fill(steps[0], own, arguments, observation) if steps else None
        except ActionError:
            continue
        if first is None:
            continue
        if _is_at(first, observation, ref):
            return action
        by_path += [(target.xpath, action) for target in first.targets if isinstance(target, XPathTarget)]
    if not by_path:
        return None
    paths = json.dumps([path for path, _ in by_path])
    found = await page.evaluate(_FIRST_THAT_HAS.format(ref=int(ref), paths=paths))
    return by_path[found][1] if found >= 0 else None


def _is_at(action: Action, observation: Observation, ref: Ref) -> bool:
    element = observation.element(ref)
    return any(
        (isinstance(target, RefTarget) and target.ref == ref)
        or (
            isinstance(target, RoleTarget)
            and element is not None
            and (target.role, target.name) == (element.role, element.name)
        )
        for target in action.targets
    )
