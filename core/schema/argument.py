"""One argument of an action as it is written in brackets: with its name, or marked as optional."""

import re
from collections.abc import Collection
from typing import NamedTuple


class GivenByName(NamedTuple):
    """An argument that is written with its name, such as ``answer=42`` or ``lacked: the dates``."""

    name: str
    value: str


_ARGUMENT_ALIASES = {
    "press_enter_after": "enter",
    "x": "at",
    "modifiers": "keys",
    "from": "from_at",
    "to": "to_at",
    "id": "target",
    "element": "target",
}
_WITH_COLON = ("answer", "lacked")
"""Names that are also read with a capital before a colon: other texts may begin so."""
_BY_NAME = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)(\s*)([=:])(.*)", re.DOTALL)
_OPTIONAL = re.compile(r"\s*optional\s*:\s*", re.IGNORECASE)


def without_optional(part: str) -> str:
    """Return an argument without the mark with which a usage shows what may be left out."""
    return _OPTIONAL.sub("", part, count=1) if _OPTIONAL.match(part) else part


def part_by_name(part: str, names: Collection[str]) -> GivenByName | None:
    """Return which of `names` an argument has with it, and its value as it stands; None if it has none of them."""
    found = _BY_NAME.fullmatch(without_optional(part))
    if found is None:
        return None
    word = found[1] if found[1] in names else found[1].lower()
    name = word if word in names else _ARGUMENT_ALIASES.get(word, word)
    if name not in names or (found[3] == ":" and found[1] != name and name not in _WITH_COLON):
        return None
    is_exact = found[3] == "=" and not found[2]
    return GivenByName(name, found[4] if is_exact else found[4].strip())
