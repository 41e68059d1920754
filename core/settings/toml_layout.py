"""Finds the tables, keys and values in a TOML text, also in one with errors; positions are offsets in the text."""

import re
from functools import lru_cache
from typing import NamedTuple

Location = tuple[int | str, ...]
"""Keys and positions in lists from the top of the text to a value."""
_DEEPEST = 100
_TOKEN = re.compile(
    r"""(?P<string>"{3}(?:[^"\\]|\\.|"(?!""))*+"{3,5}|'{3}(?:[^']|'(?!''))*+'{3,5}|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
    r"""|(?P<gap>[ \t\r\n]+)|(?P<comment>\#[^\n]*+)|(?P<mark>[\[\]{},=])|(?P<word>[^\s"'\#\[\]{},=]+|.)""",
    re.DOTALL,
)


class TextSpan(NamedTuple):
    """A part of the text."""

    start: int
    end: int


class Block(NamedTuple):
    """A table of a list, such as ``[[steps]]``, with the comment directly above it."""

    kind: str
    number: int
    """Its position in the list, from 0."""
    start: int
    end: int
    """Where the next table begins."""


class TextLayout:
    """The parts of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.blocks: list[Block] = []
        self.values: dict[Location, TextSpan] = {}
        """Of keys and of the items in lists."""
        self._keys: dict[Location, int] = {}
        self._tokens = [(found.lastgroup, *found.span()) for found in _TOKEN.finditer(text)]
        self._at = 0
        self._read()

    def offset(self, location: Location) -> int:
        """Return where a key or a list item begins, or the nearest thing around it; 0 if there is none."""
        return self._place(location) or 0

    def line_of(self, location: Location) -> int | None:
        """Return the line of the same, from 1; None if there is none."""
        place = self._place(location)
        return None if place is None else self.line(place) + 1

    def _place(self, location: Location) -> int | None:
        for length in range(len(location), 0, -1):
            around = location[:length]
            if isinstance(around[-1], int) and around in self.values:
                return self.values[around].start
            if around in self._keys:
                return self._keys[around]
        return None

    def line(self, offset: int) -> int:
        """Return the line of an offset, from 0."""
        return self.text.count("\n", 0, offset)

    def first_line(self, location: Location) -> int:
        """Return the line, from 0, of the first line of a text value: a line break after the quotes is not in it."""
        span = self.values[location]
        return self.line(span.start) + self.text.startswith(("'''\n", '"""\n'), span.start)

    # Reading

    def _read(self) -> None:
        table: Location = ()
        counts: dict[Location, int] = {}
        lead: int | None = None
        while self._at < len(self._tokens):
            kind, start, end = self._tokens[self._at]
            if kind == "gap":
                lead = None if self.text.count("\n", start, end) > 1 else lead
                self._at += 1
            elif kind == "comment":
                begins_line = not self.text[self.text.rfind("\n", 0, start) + 1 : start].strip()
                lead = start if lead is None and begins_line else lead
                self._at += 1
            else:
                if self._is("["):
                    table = self._header(start if lead is None else lead, counts)
                else:
                    self._pair(table)
                lead = None
        ends = [*(block.start for block in self.blocks[1:]), len(self.text)]
        self.blocks = [block._replace(end=end) for block, end in zip(self.blocks, ends, strict=False)]

    def _header(self, start: int, counts: dict[Location, int]) -> Location:
        is_list = self.text.startswith("[[", self._tokens[self._at][1])
        at = self._tokens[self._at][1]
        self._at += 1 + is_list
        table: Location = ()
        path = self._path("]")
        for part in path[:-1]:
            table = (*table, part)
            if table in counts:
                table = (*table, counts[table])
        table = (*table, *path[-1:])
        self._keys.setdefault(table, at)
        if is_list:
            number = counts[table] = counts.get(table, -1) + 1
            self.blocks.append(Block(".".join(path), number, start, start))
            table = (*table, number)
            self._keys[table] = at
        while self._at < len(self._tokens) and self._is("]"):
            self._at += 1
        return table

    def _pair(self, table: Location) -> None:
        """Read a key and its value; a line without a value is skipped."""
        start = self._tokens[self._at][1]
        path = (*table, *self._path("="))
        if self._is("="):
            self._at += 1
            for length in range(len(table) + 1, len(path) + 1):
                self._keys.setdefault(path[:length], start)
            self._value(path)
        else:
            self._at += 1

    def _path(self, end: str) -> tuple[str, ...]:
        parts: list[str] = []
        while self._at < len(self._tokens) and not self._is(end):
            kind, start, stop = self._tokens[self._at]
            text = self.text[start:stop]
            if kind == "gap" and "\n" in text:
                break
            if kind == "string":
                parts.append(text[1:-1])
            elif kind == "word":
                parts += [part for part in text.split(".") if part]
            self._at += 1
        return tuple(parts)

    def _value(self, path: Location) -> None:
        self._skip(" \t\r")
        if self._at >= len(self._tokens) or len(path) > _DEEPEST:
            return
        kind, start, end = self._tokens[self._at]
        is_list = self._is("[")
        if kind == "gap" or (kind == "mark" and not is_list and not self._is("{")):
            return  # The value is missing.
        self._at += 1
        if kind == "mark":
            end = self._items(path, "]" if is_list else "}")
        else:
            while kind == "word" and self._at < len(self._tokens) and self._tokens[self._at][0] == "word":
                end = self._tokens[self._at][2]
                self._at += 1
        self.values.setdefault(path, TextSpan(start, end))

    def _items(self, path: Location, close: str) -> int:
        """Read the items of a list, or the pairs of a table in braces; return where it ends."""
        number = 0
        while self._at < len(self._tokens):
            self._skip(" \t\r\n", comments=True)
            if self._at >= len(self._tokens) or self._is(close):
                break
            before = self._at
            if close == "]":
                self._value((*path, number))
                number += 1
            else:
                self._pair(path)
            self._skip(" \t\r\n", comments=True)
            if self._at == before or (self._at < len(self._tokens) and self._is(",")):
                self._at += 1
        self._at += 1
        return self._tokens[min(self._at, len(self._tokens)) - 1][2]

    def _skip(self, gaps: str, *, comments: bool = False) -> None:
        while self._at < len(self._tokens):
            kind, start, end = self._tokens[self._at]
            is_gap = kind == "gap" and not self.text[start:end].strip(gaps)
            if not is_gap and not (comments and kind == "comment"):
                return
            self._at += 1

    def _is(self, mark: str) -> bool:
        if self._at >= len(self._tokens):
            return False
        kind, start, _ = self._tokens[self._at]
        return kind == "mark" and self.text[start] == mark


@lru_cache(maxsize=4)
def layout(text: str) -> TextLayout:
    """Return the parts of a text; those of the last texts are kept."""
    return TextLayout(text)
