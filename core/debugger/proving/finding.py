"""Elements of an exemplar's look found in the page as it is now.

A look is text: of an element it has a number, a role and a name. What is
found is certain where these tell it without doubt; what its number or its
place among equal ones tells is a guess, and said to be one.
"""

import re
from collections.abc import Callable

from core.action import Action, RefTarget, RoleTarget, parse_action
from core.errors import ActionError
from core.memory.exemplar import ExemplarStep
from core.observation import Element, Observation

_LINE = re.compile(r"^\s*\[(\d+)\] (.+)$", re.MULTILINE)

OnGuess = Callable[[str], None]


def on_page(step: ExemplarStep, page: Observation, on_guess: OnGuess) -> tuple[Action, ...]:
    """Return a look's actions with the refs of `page`.

    Raises ActionSyntaxError, and ActionError where an element is not there or
    nothing tells which it is.
    """
    lines = [(int(number), rest) for number, rest in _LINE.findall(step.observation)]
    found: list[Action] = []
    for text in step.actions:
        action = parse_action(text)
        changes = {
            name: RefTarget(ref=_element(action, target.ref, lines, page, on_guess).ref)
            for name in ("target", "to")
            if isinstance(target := getattr(action, name, None), RefTarget)
        }
        for name in ("target", "to"):
            target = getattr(action, name, None)
            if isinstance(target, RoleTarget):
                changes[name] = RefTarget(ref=_called(action, target, page).ref)
        found.append(action.model_copy(update=changes))
    return tuple(found)


def _element(
    action: Action, ref: int, lines: list[tuple[int, str]], page: Observation, on_guess: OnGuess
) -> Element:
    rest = next((rest for number, rest in lines if number == ref), None)
    if rest is None:
        raise ActionError(f"{action}: its look shows no element [{ref}].")
    live = [one for one in page.elements if _fits(one, rest)]
    if not live:
        raise ActionError(f"{action}: the page has no {_told(rest)}.")
    head = _head(live[0])
    equals = [number for number, other in lines if _is_headed(other, head)]
    if len(live) == 1 == len(equals):
        return live[0]
    by_number = next((one for one in live if one.ref == ref), None)
    if by_number is not None:
        on_guess(f"{action}: {len(live)} are {head}, the one of its number was taken")
        return by_number
    if len(live) == len(equals):
        place = equals.index(ref)
        on_guess(f"{action}: number {place + 1} of {len(live)} that are {head} was taken")
        return live[place]
    raise ActionError(f"{action}: {len(live)} elements of the page are {head}, and nothing tells which.")


def _called(action: Action, target: RoleTarget, page: Observation) -> Element:
    fits = [one for one in page.elements if (one.role, one.name) == (target.role, target.name)]
    if len(fits) != 1:
        raise ActionError(f"{action}: {len(fits)} elements of the page are {target}.")
    return fits[0]


def _fits(element: Element, rest: str) -> bool:
    return _is_headed(rest, _head(element))


def _is_headed(rest: str, head: str) -> bool:
    """Return whether a line is of an element of this role and name; a name may hold quotes, so it is not parsed."""
    if not rest.startswith(head):
        return False
    after = rest[len(head) :]
    named = head.endswith('"') and '"' in head
    return not after or (after.startswith(" ") and (named or not after.startswith(' "')))


def _head(element: Element) -> str:
    return f'{element.role} "{element.name}"' if element.name else element.role


def _told(rest: str) -> str:
    match = re.match(r'\S+(?: ".*?"(?= |$))?', rest)
    return match[0] if match else rest
