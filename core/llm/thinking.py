"""The marks between which models think in their replies, from `resources/llm/thinking.toml` and a file of the user."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from core.schema.record import Record
from core.settings.settings import config_folder
from core.settings.user_file import read_model
from core.storage.resources import RESOURCES

THINKING_FILE = RESOURCES / "llm" / "thinking.toml"

Kind = Literal["opening", "closing", "closing_if_open"]
_KINDS: tuple[Kind, ...] = ("opening", "closing", "closing_if_open")
Mark = Annotated[str, Field(min_length=3, max_length=60)]
_NEAR_THE_END = 250
"""Characters within which a wrapper at the end begins, blanks in it included."""


class ThinkingMarks(Record):
    """The marks of one family of models; what each of its lists means is said in the file."""

    name: str
    opening: tuple[Mark, ...] = ()
    closing: tuple[Mark, ...] = ()
    closing_if_open: tuple[Mark, ...] = ()


class _ThinkingFile(Record):
    wrappers: tuple[Mark, ...] = ()
    thinking: tuple[ThinkingMarks, ...] = ()


class Marks(NamedTuple):
    """All marks, ready to be looked for."""

    mark: re.Pattern[str]
    """Its groups are named by `kinds`."""
    kinds: dict[str, tuple[str, Kind]]
    """The entry, and what the mark does, by the name of its group."""
    wrapper: re.Pattern[str]
    wrapper_at_end: re.Pattern[str]

    def unwrapped(self, text: str) -> str:
        """Return a text without the wrappers at its ends."""
        text = text.strip()
        while found := self.wrapper.match(text):
            text = text[found.end() :].lstrip()
        while found := self.wrapper_at_end.search(text, max(len(text) - _NEAR_THE_END, 0)):
            text = text[: found.start()].rstrip()
        return text


def load_marks(path: Path = THINKING_FILE, own: Path | None = None) -> Marks:
    """Return the marks of both files; the user's entries replace those of the same name. Raises DataError."""
    shipped = read_model(path, _ThinkingFile)
    mine = read_model(own, _ThinkingFile) if own is not None and own.exists() else _ThinkingFile()
    entries = {one.name: one for one in (*shipped.thinking, *mine.thinking)}
    kinds: dict[str, tuple[str, Kind]] = {}
    groups: list[str] = []
    for name, entry in entries.items():
        for kind in _KINDS:
            if marks := getattr(entry, kind):
                group = f"g{len(groups)}"
                kinds[group] = (name, kind)
                groups.append(f"(?P<{group}>{_any_of(marks)})")
    wrapper = _any_of((*shipped.wrappers, *mine.wrappers))
    return Marks(
        mark=re.compile("|".join(groups), re.IGNORECASE),
        kinds=kinds,
        wrapper=re.compile(wrapper, re.IGNORECASE),
        wrapper_at_end=re.compile(rf"(?:{wrapper})\Z", re.IGNORECASE),
    )


@cache
def marks() -> Marks:
    """Return the marks of the installation and of the user; they are read once."""
    return load_marks(own=config_folder() / THINKING_FILE.name)


def _any_of(marks: Iterable[str]) -> str:
    """Return a pattern of these marks, the longest first, with blanks between their words and signs."""
    words = (re.findall(r"\w+|[^\w\s]", mark) for mark in sorted(marks, key=len, reverse=True))
    return "|".join(r"\s{0,3}".join(map(re.escape, word)) for word in words)
