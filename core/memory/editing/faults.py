"""Finds faults of a draft: those that prevent saving, and notes."""

import re
from collections.abc import Collection

from pydantic import ValidationError

from core.memory.checks import (
    RunIsSuccess,
    check_actions,
    check_contrasts,
    check_length,
    check_run,
    check_secrets,
)
from core.schema.exemplar import Draft
from core.schema.record import Record

_WORDS = {
    "id": "An id has lowercase letters, digits and . _ / - and begins with a letter or digit. At most 120 characters.",
    "family": "Enter a family. Exemplars of one family are shown together.",
    "task": "Enter the task: the instruction that was followed.",
    "steps": "There are no looks. Insert one.",
    "actions": "This look has no action. Enter one, or delete the look.",
    "tried": "Enter what was tried.",
    "right": "Enter what would have been right.",
}
_WHERE = re.compile(
    r"(?P<kind>look|contrast|pair) (?P<number>\d+)(?:, (?P<part>[a-z ]+?))?(?: (?P<nth>\d+))?$"
)


class Fault(Record):
    """Something that is wrong, or might be."""

    where: str = ""
    """Such as ``task`` or ``look 2, action 1``; empty for the whole."""
    text: str
    level: str = "fault"
    """``stops``: it cannot be stored. ``fault``: it can, and should not stay so. ``note``: it may be meant so."""


class Where(Record):
    """The place of a fault, taken apart; counted from 0."""

    kind: str = ""
    """``look``, ``contrast``, ``pair``, or the name of a field."""
    number: int = 0
    part: str = ""
    nth: int = 0


def place_of(where: str) -> Where:
    found = _WHERE.fullmatch(where)
    if found is None:
        return Where(kind=where)
    return Where(
        kind=found["kind"],
        number=int(found["number"]) - 1,
        part=found["part"] or "",
        nth=int(found["nth"] or 1) - 1,
    )


def stopping(draft: Draft) -> tuple[Fault, ...]:
    """Return what keeps it from being stored, in the order of its parts."""
    try:
        draft.exemplar()
    except ValidationError as error:
        found = (_fault(one["loc"], one["msg"]) for one in error.errors(include_url=False))
        # Looks that are wrong do not count for pydantic: there may seem to be none.
        return tuple(one for one in found if one.where != "steps" or not draft.steps)
    return ()


def faults(
    draft: Draft,
    *,
    run: int | None = None,
    is_success: RunIsSuccess | None = None,
    policies: Collection[str] = (),
) -> tuple[Fault, ...]:
    """Return all faults that can be found without running its program, what stops it first.

    Its actions may call `policies`, by their names.
    """
    found = list(stopping(draft))
    known = {one.where for one in found}
    problems = [
        *check_actions(draft, policies),
        *check_contrasts(draft, policies),
        *check_secrets(draft),
        *check_run(draft, run, is_success),
    ]
    if draft.steps:
        problems += check_length(draft)
    for one in problems:
        empty = one.where in known or one.where.partition(",")[0] in known
        if not empty:
            found.append(Fault(where=one.where, text=one.text, level=one.level))
    return tuple(found)


def _fault(location: tuple[int | str, ...], message: str) -> Fault:
    names = [part for part in location if isinstance(part, str)]
    numbers = [part for part in location if isinstance(part, int)]
    last = names[-1] if names else ""
    where = last
    if names and names[0] == "steps" and numbers:
        where = f"look {numbers[0] + 1}" + (f", {last}" if last != "steps" else "")
    elif names and names[0] == "contrasts" and numbers:
        where = f"contrast {numbers[0] + 1}, {last}"
    elif names and names[0] == "abstraction" and numbers:
        where = f"pair {numbers[0] + 1}, {last}"
    text = _WORDS.get(last, f"{last} cannot be used: {message}.")
    return Fault(where=where, text=text, level="stops")
