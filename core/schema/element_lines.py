"""Elements that lines of text tell of, found in a page: an exemplar's look is such text.

Of an element a line has a number, a role and a name. What is found is certain
where these tell it without doubt; what its number or its place among equal
ones tells is a guess, and said to be one.
"""

import re
from collections.abc import Sequence

from core.schema.observation import Element, Ref
from core.schema.record import Record

_LINE = re.compile(r"^\s*\[(\d+)\] (.+)$", re.MULTILINE)


class FoundElement(Record):
    """Where an element is in a page."""

    element: Element | None = None
    guess: str = ""
    """By what it was chosen, where that is not certain; in words that end a sentence."""
    problem: str = ""
    """Why it was not found, the same."""


def find_told(lines: str, ref: Ref, elements: Sequence[Element]) -> FoundElement:
    """Return which of `elements` the line of that number tells of."""
    told = [(int(number), rest) for number, rest in _LINE.findall(lines)]
    rest = next((rest for number, rest in told if number == ref), None)
    if rest is None:
        return FoundElement(problem=f"its look shows no element [{ref}]")
    live = [one for one in elements if _is_of(rest, _head(one))]
    if not live:
        return FoundElement(problem=f"the page has no {_named(rest)}")
    head = _head(live[0])
    equals = [number for number, other in told if _is_of(other, head)]
    if len(live) == 1 == len(equals):
        return FoundElement(element=live[0])
    if equals == [one.ref for one in live]:
        return FoundElement(element=live[equals.index(ref)])  # All have their numbers: the page is as it was.
    by_number = next((one for one in live if one.ref == ref), None)
    if by_number is not None:
        return FoundElement(
            element=by_number, guess=f"{len(live)} are {head}, the one of its number was taken"
        )
    if len(live) == len(equals):
        place = equals.index(ref)
        guess = f"number {place + 1} of {len(live)} that are {head} was taken"
        return FoundElement(element=live[place], guess=guess)
    return FoundElement(problem=f"{len(live)} elements of the page are {head}, and nothing tells which")


def _head(element: Element) -> str:
    return f'{element.role} "{element.name}"' if element.name else element.role


def _is_of(rest: str, head: str) -> bool:
    """Return whether a line is of an element of this role and name; a name may hold quotes, so it is not parsed."""
    if not rest.startswith(head):
        return False
    after = rest[len(head) :]
    is_named = head.endswith('"')
    return not after or (after.startswith(" ") and (is_named or not after.startswith(' "')))


def _named(rest: str) -> str:
    match = re.match(r'\S+(?: ".*?"(?= |$))?', rest)
    return match[0] if match else rest
