"""Changes of a draft: inserts, deletes, moves, merges and splits looks, and replaces values by placeholders.

Looks are counted from 0 here and shown from 1. ``Oakland`` in task, pages,
thoughts and actions becomes ``{city}``, and back. The program for abstraction is
left alone: a text changed in code may break it.
"""

import re
from collections.abc import Callable, Collection, Iterable
from typing import Any

from core.memory.editing.draft import put_in
from core.schema.action import Action, RefTarget, RoleTarget, escape_brackets
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError, UsageError
from core.schema.exemplar import Draft, DraftStep
from core.schema.record import Record

_ELEMENT = re.compile(
    r"^\s*\[(?P<ref>\d+)\]\s+(?P<role>[a-z]+(?:-[a-z]+)*)"
    r'(?:\s+"(?P<name>.*?)"(?=\s+value="|\s+[a-z]+(?:\s|$)|\s+\(|\s+options:|\s*$))?',
    re.MULTILINE,
)
_PLACEHOLDER = re.compile(r"\{[a-z][a-z0-9_]*\}")
_AROUND = 30
"""Characters shown on either side of what was found."""


class Edited(Record):
    """A draft after a change that the user has to check in some parts."""

    draft: Draft
    remarks: tuple[str, ...] = ()
    """What the person has to know of it, a sentence each."""


class Shown(Record):
    """An element as a line of an observation shows it."""

    ref: int
    role: str
    name: str = ""


def elements(observation: str) -> tuple[Shown, ...]:
    """Return the elements that an observation shows, in order; nothing of one that is not in lines with refs."""
    return tuple(
        Shown(ref=int(one["ref"]), role=one["role"], name=one["name"] or "")
        for one in _ELEMENT.finditer(observation)
    )


def inserted(draft: Draft, at: int) -> Draft:
    """Return it with an empty look before the one that is there now."""
    return _with(draft, put_in(draft.steps, at, DraftStep()))


def deleted(draft: Draft, looks: Iterable[int]) -> Draft:
    gone = set(looks)
    return _with(draft, (one for at, one in enumerate(draft.steps) if at not in gone))


def duplicated(draft: Draft, looks: Iterable[int]) -> Draft:
    """Return it with copies of these looks behind the last of them."""
    chosen = sorted(set(looks))
    if not chosen:
        return draft
    behind = chosen[-1] + 1
    copies = [draft.steps[at] for at in chosen]
    return _with(draft, (*draft.steps[:behind], *copies, *draft.steps[behind:]))


def moved(draft: Draft, looks: Iterable[int], to: int) -> tuple[Draft, int]:
    """Return it with these looks, together, before the one at `to`, and where they begin then."""
    chosen = sorted(set(looks))
    rest = [at for at in range(len(draft.steps)) if at not in chosen]
    place = sum(1 for at in rest if at < to)
    order = (*rest[:place], *chosen, *rest[place:])
    return _with(draft, (draft.steps[at] for at in order)), place


def merged(draft: Draft, looks: Iterable[int]) -> Edited:
    """Return it with looks that follow one another as one, which has the actions of all on the first's page.

    An element of a later page is named by its ref on the first where its role
    and name are unique there, and else by role and name, which is reported.
    Raises UsageError.
    """
    chosen = sorted(set(looks))
    if len(chosen) < 2:
        raise UsageError("Select two or more consecutive looks to merge them.")
    if chosen[-1] - chosen[0] != len(chosen) - 1:
        raise UsageError("Only consecutive looks can be merged. Select the ones between them too.")
    first, later = draft.steps[chosen[0]], [(at, draft.steps[at]) for at in chosen[1:]]
    actions, remarks = list(first.actions), list[str]()
    for at, step in later:
        for number, text in enumerate(step.actions, start=1):
            actions.append(_on_first(text, step, first, f"Look {at + 1}, action {number}", remarks))
    thoughts = [one.thought.strip() for one in (first, *(step for _, step in later)) if one.thought.strip()]
    whole = first.replace(actions=tuple(actions), thought=" ".join(dict.fromkeys(thoughts)))
    steps = (*draft.steps[: chosen[0]], whole, *draft.steps[chosen[-1] + 1 :])
    return Edited(draft=_with(draft, steps), remarks=tuple(remarks))


def split(draft: Draft, look: int, action: int) -> Edited:
    """Return it with a look made two, the second of which begins with this action.

    What the page was then is not known: the second shows the same. Raises
    UsageError if nothing would be left for the first.
    """
    step = draft.steps[look]
    if not 0 < action < len(step.actions):
        raise UsageError("To split a look, put the cursor on its second or a later action.")
    first = step.replace(actions=step.actions[:action])
    second = step.replace(actions=step.actions[action:], thought="")
    steps = (*draft.steps[:look], first, second, *draft.steps[look + 1 :])
    remark = f"Look {look + 2} shows the page of look {look + 1}. Change it to the page at that time."
    return Edited(draft=_with(draft, steps), remarks=(remark,))


def _with(draft: Draft, steps: Iterable[DraftStep]) -> Draft:
    return draft.replace(steps=tuple(steps))


def _on_first(text: str, step: DraftStep, first: DraftStep, where: str, remarks: list[str]) -> str:
    """Return an action with its elements named as the first look shows them."""
    try:
        action: Action = parse_action(text)
    except ActionSyntaxError:
        remarks.append(f"{where} cannot be read and was not changed: {text}")
        return text
    shown, there = elements(step.observation), elements(first.observation)
    changes: dict[str, Any] = {}
    for part in ("target", "to"):
        target = getattr(action, part, None)
        if not isinstance(target, RefTarget):
            continue
        seen = next((one for one in shown if one.ref == target.ref), None)
        if seen is None:
            remarks.append(f"{where} names [{target.ref}], which its look does not show. It was not changed.")
            continue
        if seen in there:
            continue
        same = [one for one in there if (one.role, one.name) == (seen.role, seen.name)]
        if len(same) == 1:
            changes[part] = RefTarget(ref=same[0].ref)
            continue
        changes[part] = RoleTarget(role=seen.role, name=seen.name)
        how = "does not show it" if not same else f"shows {len(same)} like it"
        remarks.append(f"{where} now names [{changes[part]}] by role and name: the first look {how}.")
    return str(action.replace(**changes)) if changes else text


class ValuePlace(Record):
    """A part of a draft in which a value occurs."""

    part: str
    """Such as ``task`` or ``look 2, action 1``."""
    count: int
    shown: str
    """The first of them with some words around it, in one line."""


def placeholder(name: str) -> str:
    """Return ``{city}`` for ``city`` or ``{city}``; raises UsageError for what is not a name."""
    found = name.strip()
    found = found if found.startswith("{") else f"{{{found}}}"
    if not _PLACEHOLDER.fullmatch(found):
        raise UsageError(
            "A placeholder has lowercase letters, digits and _ and begins with a letter, such as {city}."
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
