"""Faults planted in the files of an agent: each operator changes one thing, and knows its file and line."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from core.settings.toml_layout import Location, TextLayout


class Mutant(NamedTuple):
    """The text of a file with one fault."""

    operator: str
    file: str
    """Its name, such as ``state_spaces/shop.toml``."""
    line: int
    """Where the fault is, from 1."""
    text: str
    words: str
    """What was changed."""


Operator = Callable[[str], Iterator[tuple[int, str, str]]]
"""Yields line, text and words for each place of a text where it can plant its fault."""


def _spliced(text: str, start: int, end: int, put: str) -> tuple[int, str]:
    return text.count("\n", 0, start) + 1, text[:start] + put + text[end:]


def _values(text: str, fits: Callable[[Location], bool]) -> Iterator[tuple[Location, int, int]]:
    for location, span in TextLayout(text).values.items():
        if fits(location):
            yield location, span.start, span.end


def _is_rule(location: Location, key: str) -> bool:
    return (
        len(location) == 4 and location[0] == "state" and location[2] == key and isinstance(location[3], int)
    )


def rule_changed(text: str) -> Iterator[tuple[int, str, str]]:
    """A pattern of `must` names what the page does not have."""
    for _, start, end in _values(text, lambda one: _is_rule(one, "must")):
        old = text[start:end]
        new = re.sub(r'"(\^?)(\w+)', r'"\1Former \2', old, count=1)
        if new != old:
            yield *_spliced(text, start, end, new), f"{old} became {new}"


def rule_added(text: str) -> Iterator[tuple[int, str, str]]:
    """`must` asks for one more element, which no page has."""
    for location, start, end in _values(
        text, lambda one: len(one) == 3 and one[0] == "state" and one[2] == "must"
    ):
        if text[start] == "[":
            yield (
                *_spliced(text, end - 1, end, """, 'button "Sponsored"']"""),
                f"state {location[1]} also asks for a button",
            )


def rule_loosened(text: str) -> Iterator[tuple[int, str, str]]:
    """`must` asks only for what every page has."""
    for location, start, end in _values(
        text, lambda one: len(one) == 3 and one[0] == "state" and one[2] == "must"
    ):
        if text[start] == "[" and location[1] != 0:
            yield *_spliced(text, start, end, "['link']"), f"state {location[1]} fits any page with a link"


def action_removed(text: str) -> Iterator[tuple[int, str, str]]:
    """A state lacks one of its actions."""
    for block in TextLayout(text).blocks:
        if block.kind == "state.action":
            end = block.end
            following = [one for one in TextLayout(text).blocks if one.start >= block.end]
            for one in following:
                if one.kind != "state.action.parameter":
                    break
                end = one.end
            line = text.count("\n", 0, block.start) + 1
            name = re.search(r'name = "(\w+)"', text[block.start : end])
            yield line, text[: block.start] + text[end:], f"action {name[1] if name else ''} removed"


def part_removed(text: str) -> Iterator[tuple[int, str, str]]:
    """A macro lacks one of its page actions."""
    for location, start, end in _values(
        text, lambda one: len(one) == 6 and one[4] == "does" and one[2] == "action"
    ):
        rest = text[end:]
        gap = len(rest) - len(rest.lstrip(", \t\r\n")) if rest.lstrip().startswith(",") else 0
        siblings = sum(1 for one in TextLayout(text).values if one[:-1] == location[:-1])
        if siblings > 1:
            yield *_spliced(text, start, end + gap, ""), f"part {location[-1]} of a macro removed"


def part_changed(text: str) -> Iterator[tuple[int, str, str]]:
    """A page action of a macro acts on what the page does not have."""
    for _, start, end in _values(text, lambda one: len(one) == 6 and one[4] == "does" and one[2] == "action"):
        old = text[start:end]
        new = re.sub(r'(button|link|textbox|searchbox) "(\w+)', r'\1 "Old \2', old, count=1)
        if new != old:
            yield *_spliced(text, start, end, new), f"{old} became {new}"


def needs_added(text: str) -> Iterator[tuple[int, str, str]]:
    """An action is offered only where the page has what it never has."""
    for _, start, end in _values(text, lambda one: len(one) == 5 and one[2] == "action" and one[4] == "does"):
        line = text.count("\n", 0, start) + 1
        head = text.rfind("\n", 0, start) + 1
        put = """needs = ['button "Sponsored"']\n"""
        if "needs =" not in text[max(0, head - 300) : end + 200]:
            yield line, text[:head] + put + text[head:], "an action needs a button that is not there"


def number_lowered(text: str) -> Iterator[tuple[int, str, str]]:
    """A limit is too low."""
    keys = ("transitions", "choose_at", "depth", "calls", "keep", "actions", "history", "count", "trials")
    for location, start, end in _values(text, lambda one: one[-1] in keys):
        if text[start:end].isdigit() and int(text[start:end]) > 2:
            yield *_spliced(text, start, end, "1"), f"{location[-1]} became 1"


def policy_call_removed(text: str) -> Iterator[tuple[int, str, str]]:
    """A policy may not call one of those that it needs."""
    found = re.search(r"^policies = \[(.+)\]", text, re.MULTILINE)
    for name in re.findall(r'"(\w+)"', found[1]) if found else ():
        rest = (
            ", ".join(f'"{one}"' for one in re.findall(r'"(\w+)"', found[1]) if one != name) if found else ""
        )
        line = text.count("\n", 0, found.start()) + 1 if found else 1
        assert found is not None
        yield (
            line,
            text[: found.start()] + f"policies = [{rest}]" + text[found.end() :],
            f"{name} is not callable",
        )


def policy_action_removed(text: str) -> Iterator[tuple[int, str, str]]:
    """A policy may not use one of the actions that it needs."""
    found = re.search(r"^actions = \[(.+)\]", text, re.MULTILINE)
    if found is None:
        return
    names = re.findall(r'"(\w+)"', found[1])
    for name in names:
        rest = ", ".join(f'"{one}"' for one in names if one != name)
        line = text.count("\n", 0, found.start()) + 1
        yield (
            line,
            text[: found.start()] + f"actions = [{rest}]" + text[found.end() :],
            f"{name} is not permitted",
        )


def instruction_removed(text: str) -> Iterator[tuple[int, str, str]]:
    """An instruction lacks one of its lines."""
    head = re.search(r"^# Instruction\s*$", text, re.MULTILINE)
    if head is None:
        return
    end = text.find("\n# ", head.end())
    for line in re.finditer(
        r"^ *(?:\d+|[a-z])\. .+$", text[head.end() : end if end > 0 else None], re.MULTILINE
    ):
        start = head.end() + line.start()
        number = text.count("\n", 0, start) + 1
        yield number, text[:start] + text[start + len(line[0]) + 1 :], f"removed: {line[0].strip()[:60]}"


def block_removed(text: str) -> Iterator[tuple[int, str, str]]:
    """A prompt lacks what one of its lines puts in."""
    for line in re.finditer(r"^.*\{\{.+\}\}.*$", text, re.MULTILINE):
        number = text.count("\n", 0, line.start()) + 1
        yield number, text[: line.start()] + text[line.end() :], f"removed: {line[0].strip()[:60]}"


OPERATORS: dict[str, dict[str, Operator]] = {
    "state_spaces": {
        "rule changed": rule_changed,
        "rule added": rule_added,
        "rule loosened": rule_loosened,
        "action removed": action_removed,
        "part removed": part_removed,
        "part changed": part_changed,
        "needs added": needs_added,
        "number lowered": number_lowered,
    },
    "policies": {
        "call removed": policy_call_removed,
        "permission removed": policy_action_removed,
        "instruction removed": instruction_removed,
    },
    "presets": {"number lowered": number_lowered},
    "prompts": {"block removed": block_removed},
}
"""The operators for the files of each folder."""


def mutants(file: str, text: str) -> Iterator[Mutant]:
    """Yield a file with each fault that can be planted in it."""
    for name, plant in OPERATORS[file.partition("/")[0]].items():
        for line, changed, words in plant(text):
            if changed != text:
                yield Mutant(name, file, line, changed, words)
