"""Changes of an exemplar's text: tables inserted, deleted, moved, merged and split, and values replaced.

The part that changes is written anew; all else stays as it is typed.
"""

import re
import tomllib
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from pydantic import ValidationError

from core.exemplars.editing.toml_text import NEW_TABLES, string_text, table_text
from core.schema.action import Action, RefTarget, RoleTarget, escape_brackets
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError, UsageError
from core.schema.exemplar import DraftContrast, DraftStep
from core.settings.toml_layout import Block, Location, TextLayout, layout

_ELEMENT = re.compile(
    r"^\s*\[(?P<ref>\d+)\]\s+(?P<role>[a-z]+(?:-[a-z]+)*)"
    r'(?:\s+"(?P<name>.*?)"(?=\s+value="|\s+[a-z]+(?:\s|$)|\s+\(|\s+options:|\s*$))?',
)
_NUMBER_IN_LINE = re.compile(r"^\s*\[\d+\]", re.MULTILINE)
_BRACKETED = re.compile(r"(?<!\\)\[\d+\]")
_NAMES = {"steps": "step", "contrasts": "contrast", "abstraction": "pair", "prompts": "prompt"}


class Edit(NamedTuple):
    """A text after a change."""

    text: str
    at: int
    """Where the cursor belongs."""
    remark: str = ""
    """What the person has to check now."""


class ShownElement(NamedTuple):
    """An element as a line of an observation shows it."""

    ref: int
    role: str
    name: str = ""


# Tables


def inserted(text: str, start: int, end: int, kind: str = "steps") -> Edit:
    """Insert an empty table behind the one that the selection ends in; a contrast shows the page of the look there."""
    places = layout(text)
    here = _block_at(places, end)
    written = NEW_TABLES[kind]
    if kind == "contrasts" and here is not None and here.kind == "steps":
        page = _record(places, here, DraftStep).observation
        written = table_text(kind, DraftContrast(observation=page)) + 'why = ""\n'
    same = [block for block in places.blocks if block.kind == kind]
    behind = here if here is not None and here.kind == kind else same[-1] if same else None
    at = len(text) if behind is None else behind.end
    return _spliced(text, at, at, [written])


def deleted(text: str, start: int, end: int) -> Edit:
    """Delete the tables that are selected; raises UsageError if the cursor is in none, as all of these do."""
    chosen = _chosen(layout(text), start, end)
    return _spliced(text, chosen[0].start, chosen[-1].end, [])


def duplicated(text: str, start: int, end: int) -> Edit:
    chosen = _chosen(layout(text), start, end)
    behind = chosen[-1].end
    return _spliced(text, behind, behind, [text[block.start : block.end] for block in chosen])


def moved(text: str, start: int, end: int, by: int) -> Edit:
    """Move the selected tables before the one above them (-1), or behind the one below them (1)."""
    places = layout(text)
    chosen = _chosen(places, start, end)
    at = places.blocks.index(chosen[-1] if by > 0 else chosen[0]) + by
    other = places.blocks[at] if 0 <= at < len(places.blocks) else None
    if other is None or other.kind != chosen[0].kind:
        raise UsageError(f"This is already the {'last' if by > 0 else 'first'} {_NAMES[chosen[0].kind]}.")
    group = [text[block.start : block.end] for block in chosen]
    beside = text[other.start : other.end]
    pieces = [beside, *group] if by > 0 else [*group, beside]
    made = _spliced(text, min(chosen[0].start, other.start), max(chosen[-1].end, other.end), pieces)
    return made._replace(at=made.at + (len(beside.rstrip("\n")) + 2 if by > 0 else 0))


def merged(text: str, start: int, end: int) -> Edit:
    """Make the selected looks one, or the look with the cursor and the next: it has all actions on the first's page.

    An element of a later page is named by its ref on the first where its role and name are unique there, and else by
    role and name, which is remarked.
    """
    places = layout(text)
    chosen = _chosen(places, start, end, "steps")
    if len(chosen) == 1:
        at = places.blocks.index(chosen[0]) + 1
        chosen += [block for block in places.blocks[at : at + 1] if block.kind == "steps"]
    if len(chosen) < 2:
        raise UsageError("There is no step directly behind this one to merge it with.")
    first, *later = [_record(places, block, DraftStep) for block in chosen]
    actions, remarks = list(first.actions), list[str]()
    for block, step in zip(chosen[1:], later, strict=True):
        for number, action in enumerate(step.actions, start=1):
            where = f"Step {block.number + 1}, action {number}"
            actions.append(_on_first(action, step, first, where, remarks))
    thoughts = [step.thought.strip() for step in (first, *later) if step.thought.strip()]
    whole = first.replace(actions=tuple(actions), thought=" ".join(dict.fromkeys(thoughts)))
    made = _spliced(text, chosen[0].start, chosen[-1].end, [table_text("steps", whole)])
    return made._replace(remark=" ".join(remarks))


def split(text: str, start: int, end: int) -> Edit:
    """Make a look two, the second of which begins with the action at the cursor and shows the same page."""
    places = layout(text)
    (block, *_) = _chosen(places, start, start, "steps")
    step = _record(places, block, DraftStep)
    action = _action_at(places, start)
    if action is None or not 0 < (at := int(action[-1])) < len(step.actions):
        raise UsageError("To split a step, put the cursor on its second or a later action.")
    halves = (step.replace(actions=step.actions[:at]), step.replace(actions=step.actions[at:], thought=""))
    pieces = [table_text("steps", half) for half in halves]
    number = block.number + 1
    remark = f"Step {number + 1} shows the page of step {number}. Change it to the page at that time."
    made = _spliced(text, block.start, block.end, pieces)
    return Edit(made.text, made.at + len(pieces[0]) + 1, remark)


def _chosen(places: TextLayout, start: int, end: int, kind: str = "") -> list[Block]:
    """Return the tables of one kind, in a row, that a selection touches."""
    first = _block_at(places, start)
    if first is None or first.kind not in _NAMES or (kind and first.kind != kind):
        wanted = f"[[{kind}]]" if kind else "[[steps]], [[contrasts]] or [[abstraction]]"
        raise UsageError(f"Put the cursor in a table of {wanted} first.")
    last = max(end - 1, start)
    chosen = [block for block in places.blocks if block.end > start and block.start <= last]
    if any(block.kind != first.kind for block in chosen):
        raise UsageError("The selection has tables of several kinds. Select tables of one kind.")
    return chosen


def _block_at(places: TextLayout, offset: int) -> Block | None:
    return next((block for block in reversed(places.blocks) if block.start <= offset), None)


def _record(places: TextLayout, block: Block, model: type[DraftStep]) -> DraftStep:
    try:
        content: Any = tomllib.loads(places.text[block.start : block.end])[block.kind][0]
        return model.model_validate(content)
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        line = places.line(block.start) + 1
        raise UsageError(f"The step in line {line} cannot be read. Correct its problems first.") from error


def _spliced(text: str, start: int, end: int, tables: list[str]) -> Edit:
    """Put tables in place of a part of the text, with an empty line between tables."""
    before, after = text[:start], text[end:]
    new = "\n".join(f"{table.rstrip(chr(10))}\n" for table in tables)
    if new and before.strip():
        before = before.rstrip("\n") + "\n\n"
    if new and after:
        new += "\n"
    return Edit(before + new + after, min(len(before), len(before + new + after)))


# Merging


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
        seen = next((one for _, one in shown if one.ref == target.ref), None)
        if seen is None:
            remarks.append(f"{where} names [{target.ref}], which its step does not show. It was not changed.")
            continue
        same = [one for _, one in there if one[1:] == seen[1:]]
        if seen in same:
            continue
        if len(same) == 1:
            changes[part] = RefTarget(ref=same[0].ref)
            continue
        changes[part] = RoleTarget(role=seen.role, name=seen.name)
        how = "does not show it" if not same else f"shows {len(same)} like it"
        remarks.append(f"{where} now names [{changes[part]}] by role and name: the first step {how}.")
    return str(action.replace(**changes)) if changes else text


# Elements


@lru_cache(maxsize=4)
def elements(observation: str) -> tuple[tuple[int, ShownElement], ...]:
    """Return the elements that an observation shows, each with its line from 0."""
    found = ((line, _ELEMENT.match(shown)) for line, shown in enumerate(observation.split("\n")))
    return tuple(
        (line, ShownElement(int(one["ref"]), one["role"], one["name"] or "")) for line, one in found if one
    )


def lines_of_elements(text: str, offset: int) -> tuple[int, ...]:
    """Return the lines of the text, from 0, that show the elements of the action at an offset."""
    places = layout(text)
    action = _action_at(places, offset)
    page = (*action[:2], "observation") if action else ()
    if action is None or page not in places.values or "\\\n" in text[slice(*places.values[page])]:
        return ()  # The lines of a text in which long ones are continued are not those of the observation.
    try:
        targets = parse_action(_value(places, action)).targets
    except ActionSyntaxError:
        return ()
    observation = _value(places, page)
    first = places.first_line(page)
    return tuple(
        first + line for target in targets for line, one in elements(observation) if _is_it(one, target)
    )


def _is_it(shown: ShownElement, target: object) -> bool:
    if isinstance(target, RefTarget):
        return shown.ref == target.ref
    if isinstance(target, RoleTarget):
        return shown.role == target.role and (not target.name or shown.name == target.name)
    return False


def _action_at(places: TextLayout, offset: int) -> Location | None:
    """Return the location of the action in the line of an offset."""
    end = places.text.find("\n", offset) % (len(places.text) + 1)
    for location, span in places.values.items():
        is_action = len(location) == 4 and location[0] == "steps" and location[2] == "actions"
        if is_action and span.start <= end and span.end >= offset:
            return location
    return None


# Values


def replaced(text: str, value: str, other: str, *, whole: bool = True) -> tuple[str, int]:
    """Return a text with `other` in place of `value` in task, metadata and tables, and how often it was there.

    With `whole`, not within a longer word. In actions, both have a backslash before brackets. The numbers of elements
    stay as they are, and so does the program: a text changed in code may break it.
    """
    places, times = layout(text), 0
    before, after = (
        r"(?<!\w)" if whole and re.match(r"\w", value) else "",
        r"(?!\w)" if whole and re.search(r"\w$", value) else "",
    )
    for location, span in reversed(places.values.items()):
        written = text[span.start : span.end]
        if not value or not _is_told(location) or written[:1] not in ('"', "'"):
            continue
        as_written: Callable[[str], str] = escape_brackets if _is_action(location) else str
        said = _value(places, location)
        numbers = _numbers_in_action(said) if _is_action(location) else _NUMBER_IN_LINE.finditer(said)
        kept = {place for number in numbers for place in range(*number.span())}
        wanted = re.compile(f"{before}{re.escape(as_written(value))}{after}")
        found = [match for match in wanted.finditer(said) if kept.isdisjoint(range(*match.span()))]
        if found:
            content = said
            for match in reversed(found):
                content = content[: match.start()] + as_written(other) + content[match.end() :]
            block = written.startswith(("'''", '"""'))
            inline = isinstance(location[-1], int)
            new = string_text(content, block=block and not inline, inline=inline)
            text = text[: span.start] + new + text[span.end :]
            times += len(found)
    return text, times


def _numbers_in_action(said: str) -> Iterator[re.Match[str]]:
    try:
        targets = parse_action(said).targets
    except ActionSyntaxError:
        return iter(())
    return islice(_BRACKETED.finditer(said), sum(isinstance(target, RefTarget) for target in targets))


def with_id(text: str, id: str) -> str:
    """Return the text with another id, if it has one."""
    span = layout(text).values.get(("id",))
    return text if span is None else text[: span.start] + string_text(id) + text[span.end :]


def _is_told(location: Location) -> bool:
    if len(location) < 3:
        return location in (("task",), ("metadata",))
    return location[0] in ("steps", "contrasts", "abstraction") and location[2] != "names"


def _is_action(location: Location) -> bool:
    return location[2:3] in (("actions",), ("tried",), ("right",))


def _value(places: TextLayout, location: Location) -> str:
    """Return what a value says; nothing if it cannot be read."""
    span = places.values[location]
    try:
        return str(tomllib.loads(f"value = {places.text[span.start : span.end]}")["value"])
    except tomllib.TOMLDecodeError:
        return ""
