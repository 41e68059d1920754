"""Writes an exemplar as TOML: the same keys in the same order; what is empty and not required is left out."""

import json
import re
from collections.abc import Iterable

from core.schema.exemplar import AbstractionPair, Draft, DraftContrast, DraftStep, KeptPrompt
from core.schema.record import Record

_HEAD = (
    "id",
    "family",
    "task",
    "environment",
    "tags",
    "note",
    "weight",
    "pinned",
    "never",
    "source",
    "metadata",
    "parser",
)
TABLES: dict[str, type[Record]] = {
    "steps": DraftStep,
    "contrasts": DraftContrast,
    "abstraction": AbstractionPair,
    "prompts": KeptPrompt,
}
"""The lists of tables, such as ``[[steps]]``, in the order in which they are written."""
_REQUIRED = ("id", "family", "task", "actions", "tried", "right", "state", "observation", "name")
_BLOCKS = ("observation", "raw", "state", "parser")
"""Texts that begin on a line of their own, even if they have only one."""
NEW_TABLES = {
    "steps": "[[steps]]\nobservation = '''\n'''\nthought = \"\"\nactions = []\n",
    "contrasts": '[[contrasts]]\ntried = ""\nright = ""\nwhy = ""\n',
    "abstraction": "[[abstraction]]\nstate = '''\n'''\nobservation = '''\n'''\n",
}
"""A table of each kind, to be filled in."""
NEW_TEXT = f'id = ""\nfamily = ""\ntask = ""\n\n{NEW_TABLES["steps"]}'
"""An exemplar to be written."""

_LONGEST = 2000
"""Characters of a line; a longer one, which an editor is slow with, is written as several."""
_PART = re.compile(r"(?:\\u[0-9a-f]{4}|\\.|[^\\]){1,1000}+[ \t]*+")
"""A part of a longer line; the next does not begin with a space, which TOML would leave out."""
_HALF = re.compile("[\ud800-\udfff]")
_ESCAPED = re.compile(
    "[\\\\\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufdd0-\ufdef\ufeff\ufff9-\ufffc\ufffe\uffff]"
)
"""What is not written as it is: the backslash, and characters that TOML or a text editor changes."""
_SHORT = {"\b": "\\b", "\f": "\\f", "\r": "\\r", "\\": "\\\\"}


def text_of(draft: Draft) -> str:
    """Return all that a draft or an exemplar says, but not its review.

    Half a surrogate pair, which TOML cannot have, becomes a replacement character.
    """
    parts = [_pairs(draft, _HEAD)]
    for kind in TABLES:
        parts += [table_text(kind, record) for record in getattr(draft, kind)]
    return "\n".join(parts)


def table_text(kind: str, record: Record) -> str:
    """Return one table of a list."""
    return f"[[{kind}]]\n{_pairs(record, TABLES[kind].model_fields)}"


def string_text(text: str, *, block: bool = False, inline: bool = False) -> str:
    """Return a text in quotes; with `block` it begins on a new line, with `inline` it stays on one.

    A very long line is always written as several, which end in a backslash.
    """
    text = _HALF.sub("\ufffd", text)
    plain = _ESCAPED.search(text.replace("\\", "")) is None
    is_long = len(text) > _LONGEST and max(map(len, text.split("\n"))) > _LONGEST
    if is_long or ((block or "\n" in text) and not inline):
        if plain and not is_long and "'''" not in text and not text.endswith("'"):
            return f"'''\n{text}'''"
        quoted = re.sub(r'"(?="|\Z)', r"\"", _escaped(text))
        lines = ("\\\n".join(_PART.findall(line)) for line in quoted.split("\n"))
        return '"""\n' + "\n".join(lines) + '"""'
    if plain and "\n" not in text and "'" not in text and ('"' in text or "\\" in text):
        return f"'{text}'"
    quoted = _escaped(text).replace('"', '\\"').replace("\n", "\\n")
    return f'"{quoted}"'


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: _SHORT.get(found[0], f"\\u{ord(found[0]):04x}"), text)


def _pairs(record: Record, names: Iterable[str]) -> str:
    lines = []
    for name in names:
        value = getattr(record, name)
        if name in _REQUIRED or value != type(record).model_fields[name].get_default():
            lines.append(f"{name} = {_written(name, value)}\n")
    return "".join(lines)


def _written(name: str, value: str | float | tuple[str, ...]) -> str:
    if isinstance(value, str):
        return string_text(value, block=name in _BLOCKS)
    return _list(value) if isinstance(value, tuple) else json.dumps(value)


def _list(texts: tuple[str, ...]) -> str:
    written = [string_text(text, inline=True) for text in texts]
    if len(written) < 2 or (sum(map(len, written)) < 40 and not any("[" in text for text in texts)):
        return f"[{', '.join(written)}]"
    return "[\n" + "".join(f"  {text},\n" for text in written) + "]"
