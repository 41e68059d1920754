"""What solvers read of a page and write as actions."""

import re
from collections.abc import Callable

from core.schema.action import Check, Click, Hover, RefTarget, Select, Type
from core.schema.observation import Element, Observation


def quoted(instruction: str) -> list[str]:
    """Return the words that stand in quotation marks, in order."""
    return re.findall(r'"([^"]*)"', instruction)


def between(text: str, before: str, after: str) -> str:
    """Return what stands between two pieces of text; raises LookupError."""
    found = re.search(f"{re.escape(before)}(.*?){re.escape(after)}", text)
    if found is None:
        raise LookupError(f"{text!r} has nothing between {before!r} and {after!r}")
    return found[1]


def all_of(page: Observation, role: str, name: str | None = None) -> list[Element]:
    """Return the elements of a role, and of a name where one is given, in page order."""
    return [one for one in page.elements if one.role == role and name in (None, one.name)]


def the(page: Observation, role: str, name: str | None = None) -> Element:
    """Return the first element of a role and name; raises LookupError."""
    found = all_of(page, role, name)
    if not found:
        raise LookupError(f"no {role} {name or ''} on:\n{page.lines()}")
    return found[0]


def detailed(page: Observation, detail: str) -> list[Element]:
    """Return the elements of which a part of the detail is or begins with these words, such as ``.star``."""
    return [
        one
        for one in page.elements
        if any(part == detail or part.startswith(f"{detail}.") for part in one.detail.split(", "))
    ]


def after(page: Observation, here: Element, fits: Callable[[Element], bool]) -> Element:
    """Return the first element behind `here` that fits; raises LookupError."""
    start = page.elements.index(here) + 1
    for one in page.elements[start:]:
        if fits(one):
            return one
    raise LookupError(f"nothing that fits stands behind [{here.ref}]")


def place(position: str) -> int:
    """Return the number of ``1st``, ``2nd`` or ``12th``."""
    return int(re.sub(r"\D", "", position))


# Actions


def _target(element: Element) -> RefTarget:
    return RefTarget(ref=element.ref)


def click(element: Element) -> str:
    return str(Click(target=_target(element)))


def hover(element: Element) -> str:
    return str(Hover(target=_target(element)))


def check(element: Element) -> str:
    return str(Check(target=_target(element)))


def select(element: Element, option: str) -> str:
    return str(Select(target=_target(element), option=option))


def write(element: Element, text: str, *, enter: bool = False) -> str:
    return str(Type(target=_target(element), text=text, enter=enter))
