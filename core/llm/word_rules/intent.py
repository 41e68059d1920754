"""What was read in an objective: its parts, in their order."""

import re
from typing import Literal

from core.schema.record import Record

Kind = Literal["click", "fill", "select", "expand", "drag", "scroll", "wait", "focus", "look", "count", "add"]
Source = Literal["", "answer", "copy", "that"]


class Intent(Record):
    """One thing the objective asks for."""

    kind: Kind
    verb: str = ""
    text: str = ""
    """The clause, quotes put back."""
    names: tuple[str, ...] = ()
    """What to act on, or what to choose: quoted names first, else the words that are left."""
    quoted: bool = False
    value: str = ""
    """What to type; empty where `source` says where to take it from."""
    source: Source = ""
    field: str = ""
    """The field to type into, in the objective's words."""
    roles: tuple[str, ...] = ()
    role_word: str = ""
    place: int | None = None
    """Which one of several, from 1; -1 the last."""
    every: bool = False
    count: int | None = None
    subject: str = ""
    """Whose, or in which part of the page."""
    suggests: bool = False
    """Whether the field will probably offer entries to choose from, which may come late."""


class Objective(Record):
    """An objective and what was read in it."""

    text: str
    intents: tuple[Intent, ...] = ()
    subject: str = ""
    """Who or what it is about, found before anything is done to it."""


def restore(text: str, quotes: list[str], *, marks: bool = True) -> str:
    """Put the quoted texts back, for which ``⟦0⟧`` and so on stand; with their quotation marks or without."""
    return re.sub(r"⟦(\d+)⟧", lambda m: f'"{quotes[int(m[1])]}"' if marks else quotes[int(m[1])], text)
