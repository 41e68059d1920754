"""Values of expressions: what they are called, what can be walked, and how they read as text."""

from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel

from core.schema.observation import Element

LARGEST = 10**30
"""The largest whole number that is calculated with."""
NUMBERS = (int, float)
SHOWN_ITEMS = 20
SHOWN_CHARACTERS = 2000


class Stuck(Exception):
    """Why an expression has no value, as the end of a sentence."""


def word_for(value: Any) -> str:
    """Return what a value is called in a sentence."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value)
        case int() | float():
            return "a number"
        case str():
            return "text"
        case tuple():
            return "a list"
    return "a thing with parts"


def items_of(value: Any) -> Iterable[Any]:
    """Return what can be walked of a value: the items of a list, or of nothing none."""
    if value is None:
        return ()
    if isinstance(value, (tuple, Iterator)):
        return value
    raise Stuck(f"{word_for(value)} is not several things")


def list_of(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return values as a list, without lists in it: few words could make those endless."""
    items = tuple(values)
    if any(type(item) is tuple for item in items):
        raise Stuck("a list cannot hold lists")
    return items


def text_of_value(value: Any) -> str:
    """Return a value as a watch shows it, cut where it is long."""
    text = _text(value)
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


def _text(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:.6g}"
        case str() | int():
            return str(value)
        case tuple():
            shown = ", ".join(_text(item) for item in value[:SHOWN_ITEMS])
            more = len(value) - SHOWN_ITEMS
            return f"{shown}, and {more} more" if more > 0 else shown or "none"
        case Element():
            return value.line()
        case BaseModel():
            return ", ".join(f"{name}: {_text(part)}" for name, part in value)
    raise AssertionError(f"{value!r} is no value of an expression")
