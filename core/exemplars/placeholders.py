"""Placeholders of exemplars, such as ``{user}`` in the task: values that each task gives.

They are filled in where an exemplar is shown for a task that its own task fits, and where it is replayed.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from core.schema.action import Select, Type, escape_brackets
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError
from core.schema.exemplar import Draft

AnyDraft = TypeVar("AnyDraft", bound=Draft)

_NAME = re.compile(r"\{([a-z][a-z0-9_]{0,30})\}")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_STATE = "\nState:"
"""What parts the task from the first page in the text that an exemplar is found by."""
_SHORTEST = 2
"""Characters of a value that is offered as a placeholder."""


def names_in(task: str) -> tuple[str, ...]:
    """Return the placeholders of a task, each once."""
    return tuple(dict.fromkeys(_NAME.findall(task)))


def values_in(task: str, instruction: str) -> dict[str, str] | None:
    """Return by placeholder the values with which a task reads like an instruction; None if there are none.

    A value ends where the text after its placeholder begins; upper case and
    spaces do not count.
    """
    first, *rest = _NAME.split(" ".join(task.split()))
    whole, values = " ".join(instruction.split()), dict[str, str]()
    found = re.match(re.escape(first), whole, re.IGNORECASE)
    pairs = tuple(zip(rest[::2], rest[1::2], strict=True))
    for number, (name, text) in enumerate(pairs, start=1):
        if found is None:
            return None
        start = found.end()
        end = r"\Z" if number == len(pairs) or not text else ""
        found = re.compile(re.escape(text) + end, re.IGNORECASE).search(whole, start + 1)
        value = whole[start : found.start()] if found is not None else ""
        if not value or values.setdefault(name, value) != value:
            return None
    return values if found is not None and found.end() == len(whole) else None


def filled(exemplar: AnyDraft, instruction: str) -> AnyDraft:
    """Return an exemplar with the values of an instruction in place of its placeholders.

    If its task does not fit, the task says what they stand for.
    """
    names = names_in(exemplar.task)
    if not names:
        return exemplar
    values = values_in(exemplar.task, instruction)
    if values is None:
        listed = " and ".join(f"{{{name}}}" for name in names)
        stand = "stands for a value" if len(names) == 1 else "stand for values"
        return exemplar.replace(task=f"{exemplar.task} ({listed} {stand} that the task gives.)")
    return with_values(exemplar, values)


def with_values(exemplar: AnyDraft, values: Mapping[str, str]) -> AnyDraft:
    """Return an exemplar with these values."""

    def text(told: str) -> str:
        return _NAME.sub(lambda found: values.get(found[1], found[0]), told)

    def action(told: str) -> str:
        return _NAME.sub(lambda found: escape_brackets(values.get(found[1], found[0])), told)

    return _changed(exemplar, text, text, action)


def with_placeholders(exemplar: AnyDraft, offers: Mapping[str, str]) -> AnyDraft:
    """Return an exemplar with placeholders in place of these values, wherever they are whole words.

    Of an action only what is typed or chosen is changed, of a page only what is in quotes: numbers and roles of
    elements are no values.
    """
    if not offers:
        return exemplar
    wanted = "|".join(map(re.escape, sorted(offers, key=len, reverse=True)))
    value = re.compile(rf"(?<!\w)(?:{wanted})(?!\w)")

    def text(told: str) -> str:
        return value.sub(lambda found: offers[found[0]], told)

    def page(told: str) -> str:
        return _QUOTED.sub(lambda found: text(found[0]), told)

    def action(told: str) -> str:
        read = _entering(told)
        if read is None or (put := text(_value(read))) == _value(read):
            return told
        return str(read.replace(text=put) if isinstance(read, Type) else read.replace(option=put))

    return _changed(exemplar, text, page, action)


def _changed(
    exemplar: AnyDraft,
    text: Callable[[str], str],
    page: Callable[[str], str],
    action: Callable[[str], str],
) -> AnyDraft:
    """Return an exemplar with all its texts changed; what it is called and its program stay."""
    task, state, first = exemplar.metadata.partition(_STATE)
    return exemplar.replace(
        task=text(exemplar.task),
        metadata=f"{text(task)}{state}{page(first)}",
        steps=tuple(
            step.replace(
                observation=page(step.observation),
                raw=page(step.raw),
                thought=text(step.thought),
                actions=tuple(map(action, step.actions)),
            )
            for step in exemplar.steps
        ),
        contrasts=tuple(
            one.replace(
                observation=page(one.observation),
                tried=action(one.tried),
                right=action(one.right),
                why=text(one.why),
            )
            for one in exemplar.contrasts
        ),
        abstraction=tuple(
            pair.replace(state=page(pair.state), observation=page(pair.observation))
            for pair in exemplar.abstraction
        ),
    )


def offered(draft: Draft) -> dict[str, str]:
    """Return values that a draft types or chooses and that its task names, each with a placeholder to put there."""
    found: dict[str, str] = {}
    for observation, value, ref in _entered(draft):
        is_told = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", draft.task) is not None
        if len(value) >= _SHORTEST and is_told and value not in found and not _NAME.search(value):
            line = re.search(rf'^\s*\[{re.escape(ref)}\] \w+ "([^"]+)"', observation, re.MULTILINE)
            name = re.sub(r"[^a-z0-9]+", "_", line[1].lower()).strip("_") if line else ""
            name = name[:30] if re.match(r"[a-z]", name) else "value"
            taken = {*found.values(), *(f"{{{one}}}" for one in _NAME.findall(draft.model_dump_json()))}
            number = next(
                n for n in range(1, len(taken) + 2) if f"{{{name}{n if n > 1 else ''}}}" not in taken
            )
            found[value] = f"{{{name}{number if number > 1 else ''}}}"
    return found


def _entered(draft: Draft) -> Iterator[tuple[str, str, str]]:
    """Give what is typed or chosen: the page, the value, and the ref of its element."""
    for step in draft.steps:
        for told in step.actions:
            if (action := _entering(told)) is not None:
                yield step.observation, _value(action).strip(), str(getattr(action.target, "ref", ""))


def _entering(told: str) -> Type | Select | None:
    """Return an action that types or chooses something; None for every other text."""
    try:
        action = parse_action(told)
    except ActionSyntaxError:
        return None
    return action if isinstance(action, Type | Select) else None


def _value(action: Type | Select) -> str:
    return action.text if isinstance(action, Type) else action.option
