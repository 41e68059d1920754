"""Values and placeholders: where a value occurs in a draft, and another text put in its place.

``Oakland`` in task, pages, thoughts and actions becomes ``{city}``, and back.
The program for abstraction is left alone: a text changed in code may break it.
"""

import re
from collections.abc import Callable, Collection

from core.memory.editing.draft import Draft
from core.schema.action import escape_brackets
from core.schema.errors import UsageError
from core.schema.record import Record

_PLACEHOLDER = re.compile(r"\{[a-z][a-z0-9_]*\}")
_AROUND = 30
"""Characters shown on either side of what was found."""


class ValuePlace(Record):
    """A part of a draft in which a value occurs."""

    part: str
    """Such as ``task`` or ``look 2, action 1``."""
    count: int
    shown: str
    """The first of them with some words around it, in one line."""


def placeholder(name: str) -> str:
    """Return ``{city}`` for ``city`` or ``{city}``; raises UsageError for what is no name."""
    found = name.strip()
    found = found if found.startswith("{") else f"{{{found}}}"
    if not _PLACEHOLDER.fullmatch(found):
        raise UsageError(
            "A placeholder has small letters, digits and _ and begins with a letter, such as {city}."
        )
    return found


def placeholders(draft: Draft) -> tuple[str, ...]:
    """Return the placeholders that occur, in the order in which they do first."""
    found: dict[str, None] = {}

    def look(part: str, text: str) -> str:
        found.update(dict.fromkeys(_PLACEHOLDER.findall(text)))
        return text

    _each(draft, look)
    return tuple(found)


def places(draft: Draft, value: str, *, whole: bool = True) -> tuple[ValuePlace, ...]:
    """Return the parts in which a value occurs, in order; `whole` is not within a longer word."""
    found: list[ValuePlace] = []

    def look(part: str, text: str) -> str:
        hits = list(_pattern(part, value, whole).finditer(text)) if value else []
        if hits:
            start, end = hits[0].span()
            before = text[max(0, start - _AROUND) : start]
            after = text[end : end + _AROUND]
            left, right = "…" if start > _AROUND else "", "…" if end + _AROUND < len(text) else ""
            shown = " ".join(f"{left}{before}{text[start:end]}{after}{right}".split())
            found.append(ValuePlace(part=part, count=len(hits), shown=shown))
        return text

    _each(draft, look)
    return tuple(found)


def put_in_place(
    draft: Draft, value: str, other: str, *, parts: Collection[str] | None = None, whole: bool = True
) -> Draft:
    """Return it with `other` in place of `value`, everywhere or in these parts only."""

    def change(part: str, text: str) -> str:
        if not value or (parts is not None and part not in parts):
            return text
        written = _as_written(part, other)
        return _pattern(part, value, whole).sub(lambda _found: written, text)

    return _each(draft, change)


def _pattern(part: str, value: str, whole: bool) -> re.Pattern[str]:
    text = re.escape(_as_written(part, value))
    before = r"(?<!\w)" if whole and re.match(r"\w", value) else ""
    after = r"(?!\w)" if whole and re.search(r"\w$", value) else ""
    return re.compile(f"{before}{text}{after}")


def _as_written(part: str, text: str) -> str:
    """Return a text as a part of that name has it: actions have a backslash before brackets."""
    is_action = ", action " in part or part.endswith((", tried", ", right"))
    return escape_brackets(text) if is_action else text


def _each(draft: Draft, change: Callable[[str, str], str]) -> Draft:
    """Return it with each of its texts as `change` gives it."""
    steps = []
    task, metadata = change("task", draft.task), change("metadata", draft.metadata)
    for number, step in enumerate(draft.steps, start=1):
        where = f"look {number}"
        steps.append(
            step.replace(
                observation=change(f"{where}, observation", step.observation),
                raw=change(f"{where}, whole page", step.raw),
                thought=change(f"{where}, thought", step.thought),
                actions=tuple(
                    change(f"{where}, action {at}", text) for at, text in enumerate(step.actions, start=1)
                ),
            )
        )
    pairs = tuple(
        pair.replace(
            state=change(f"pair {number}, state", pair.state),
            observation=change(f"pair {number}, observation", pair.observation),
        )
        for number, pair in enumerate(draft.abstraction, start=1)
    )
    contrasts = tuple(
        one.replace(
            observation=change(f"contrast {number}, observation", one.observation),
            tried=change(f"contrast {number}, tried", one.tried),
            right=change(f"contrast {number}, right", one.right),
            why=change(f"contrast {number}, why", one.why),
        )
        for number, one in enumerate(draft.contrasts, start=1)
    )
    return draft.replace(
        task=task, metadata=metadata, steps=tuple(steps), abstraction=pairs, contrasts=contrasts
    )
