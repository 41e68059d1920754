"""The operators and functions of expressions, the bound on their work, and their values as text.

``None`` compares as false, and only numbers are calculated with.
"""

import operator
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from types import GeneratorType, NoneType
from typing import Any

import re2
from pydantic import BaseModel

from core.schema.expression import re2_compiled
from core.schema.formats import encodable
from core.schema.observation import Element

LARGEST = 10**30
"""The largest whole number that is calculated with."""
SHOWN_ITEMS = 20
SHOWN_CHARACTERS = 2000
MOST_WORK = 1_000_000
"""Names, values and calls looked at in one evaluation, long text and lists counting by their length."""
SHORT = 64
"""Characters or items up to which a value costs no work of its own."""
PATTERN_MEMORY = 4 << 20
"""Bytes that a regular expression may take."""
LONGEST_SEARCHED = 100_000
"""Characters of a text that a regular expression is looked for in."""
CALCULATIONS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "Add": ("+", operator.add),
    "Sub": ("-", operator.sub),
    "Mult": ("*", operator.mul),
    "Div": ("/", operator.truediv),
    "FloorDiv": ("//", operator.floordiv),
    "Mod": ("%", operator.mod),
}
"""The sign and the function of each arithmetic operator, by its name in Python's syntax tree."""
_ORDER: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "Lt": ("<", operator.lt),
    "LtE": ("<=", operator.le),
    "Gt": (">", operator.gt),
    "GtE": (">=", operator.ge),
}
_WORDS: dict[type, str] = {
    NoneType: "nothing",
    int: "a number",
    float: "a number",
    str: "text",
    tuple: "a list",
    GeneratorType: "a list",
}


class Stuck(Exception):
    """Why an expression has no value, as the end of a sentence."""


class _Operators:
    """The operators, and the work that is left for one evaluation; all raise Stuck."""

    def __init__(self) -> None:
        self._work_left = MOST_WORK

    def _spend(self, amount: int) -> None:
        self._work_left -= amount
        if self._work_left < 0:
            raise Stuck("it processes too much data; search less, or end the search earlier")

    def _spend_on(self, value: Any) -> None:
        """Spend by how long a text or a list is; what is short costs nothing."""
        if isinstance(value, str | tuple) and len(value) > SHORT:
            self._spend(len(value) if isinstance(value, tuple) else len(value) // 16)

    def _as_text(self, value: Any, name: str) -> str:
        if not isinstance(value, str):
            raise Stuck(f"{name} takes text, not {_word_for(value)}")
        self._spend_on(value)
        return value

    def part(self, value: Any, name: str) -> Any:
        """Return a part of a value; nothing has every part."""
        return None if value is None else getattr(value, name)

    def item(self, value: Any, index: Any) -> Any:
        if value is None or index is None:
            return None
        if not isinstance(value, tuple | str) or type(index) is not int:
            raise Stuck(f"{_word_for(value)} has no item {_word_for(index)}")
        return value[index] if -len(value) <= index < len(value) else None

    def list(self, values: Iterable[Any]) -> tuple[Any, ...]:
        """Return values as a list, without lists in it: few words could make those endless."""
        items = tuple(values)
        if any(isinstance(item, tuple) for item in items):
            raise Stuck("a list cannot contain lists")
        return items

    def walk(self, values: Any, cost: int) -> Iterator[Any]:
        """Yield the items of a list, each at the cost of what is done with it."""
        for item in _items_of(values):
            self._spend(cost)
            yield item

    def compare(self, left: Any, *tests: tuple[str, Callable[[], Any]]) -> bool:
        """Return whether all tests hold, each with its right side, which becomes the left of the next."""
        for name, operand in tests:
            right = operand()
            if not self._holds(name, left, right):
                return False
            left = right
        return True

    def _holds(self, name: str, left: Any, right: Any) -> bool:
        if name in _ORDER:
            return self._is_ordered(name, left, right)
        if name in ("In", "NotIn"):
            return self._is_within(left, right) == (name == "In")
        self._spend_on(left)
        return bool(left == right) == (name in ("Eq", "Is"))

    def _is_ordered(self, name: str, left: Any, right: Any) -> bool:
        if left is None or right is None:
            return False
        sign, compare = _ORDER[name]
        if not (_are_numbers(left, right) or (isinstance(left, str) and isinstance(right, str))):
            raise Stuck(f"{_word_for(left)} and {_word_for(right)} cannot be compared with {sign}")
        self._spend_on(left)
        return compare(left, right)

    def _is_within(self, item: Any, container: Any) -> bool:
        if container is None or (item is None and isinstance(container, str)):
            return False
        if not isinstance(container, str | tuple):
            raise Stuck(f"{_word_for(container)} cannot be searched")
        if isinstance(container, str) and not isinstance(item, str):
            raise Stuck(f"{_word_for(item)} cannot be searched for in text")
        self._spend_on(container)
        return item in container

    def calculate(self, name: str, left: Any, right: Any) -> Any:
        """Return what two numbers come to; with nothing, nothing. Text is not calculated with."""
        if left is None or right is None:
            return None
        sign, calculate = CALCULATIONS[name]
        if not _are_numbers(left, right):
            raise Stuck(f"{_word_for(left)} {sign} {_word_for(right)} cannot be calculated; use numbers")
        value = calculate(left, right)
        if isinstance(value, int) and abs(value) > LARGEST:
            raise Stuck("a number became too large")
        return value


class Operations(_Operators):
    """What an expression may do: operators, and the functions below, with their use and help."""

    def len(self, value: Any) -> int | None:
        """len(value): How many characters or items it has."""
        if value is None or isinstance(value, str):
            return None if value is None else len(value)
        return sum(1 for _ in _items_of(value))

    def lower(self, text: Any) -> str | None:
        """lower(text): The text in lower case."""
        return None if text is None else self._as_text(text, "lower").lower()

    def contains(self, whole: Any, part: Any) -> bool:
        """contains(whole, part): Whether a text contains another text, or a list contains an item, ignoring case."""
        if whole is None or part is None:
            return False
        if isinstance(whole, str):
            wanted = self._as_text(part, "contains").casefold()
            return wanted in self._as_text(whole, "contains").casefold()
        wanted = part.casefold() if isinstance(part, str) else part
        for item in _items_of(whole):
            self._spend_on(item)
            self._spend(1)
            if (item.casefold() if isinstance(item, str) else item) == wanted:
                return True
        return False

    def matches(self, text: Any, expression: str) -> bool:
        """matches(text, 'expression'): Whether a regular expression (of RE2) is found in the text."""
        if text is None:
            return False
        searched = self._as_text(text, "matches")[:LONGEST_SEARCHED]
        return compiled_pattern(expression).search(encodable(searched)) is not None

    def any(self, values: Any) -> bool:
        """any(… for e in page.elements): Whether at least one is true."""
        return any(_items_of(values))

    def all(self, values: Any) -> bool:
        """all(… for e in page.elements): Whether all are true."""
        return all(_items_of(values))

    def count(self, values: Any) -> int:
        """count(… for e in page.elements): How many are true."""
        return sum(1 for value in _items_of(values) if value)

    def abs(self, number: Any) -> Any:
        """abs(number): The absolute value."""
        if number is not None and not _are_numbers(number):
            raise Stuck(f"abs takes a number, not {_word_for(number)}")
        return None if number is None else abs(number)

    def min(self, *values: Any) -> Any:
        """min(one, other): The smallest of several values, or of the items of a list."""
        return min(self._comparable(values, "min"), default=None)

    def max(self, *values: Any) -> Any:
        """max(one, other): The largest of several values, or of the items of a list."""
        return max(self._comparable(values, "max"), default=None)

    def _comparable(self, values: tuple[Any, ...], name: str) -> list[Any]:
        """Return those of the values, or of the items of the only one, that are not nothing."""
        items = _items_of(values[0]) if len(values) == 1 else values
        present = [value for value in items if value is not None]
        if not _are_numbers(*present) and not all(isinstance(value, str) for value in present):
            raise Stuck(f"{name} takes either numbers or texts")
        for value in present:
            self._spend_on(value)
        return present


FUNCTIONS = {
    name: method.__doc__ or "" for name, method in vars(Operations).items() if not name.startswith("_")
}
"""The functions of expressions, each with its use and what it does, in the order lists show them."""


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(value, int | float) for value in values)


def _items_of(value: Any) -> Iterable[Any]:
    """Return what can be walked of a value: the items of a list, or of nothing none."""
    if value is None:
        return ()
    if isinstance(value, tuple | Iterator):
        return value
    raise Stuck(f"{_word_for(value)} is not a list")


def _word_for(value: Any) -> str:
    """Return what a value is called in a sentence."""
    return str(value) if isinstance(value, bool) else _WORDS.get(type(value), "a value with parts")


@lru_cache(maxsize=256)
def compiled_pattern(expression: str) -> Any:
    """Return a regular expression that takes time in proportion to the text, whatever it is; raises ValueError."""
    try:
        return re2_compiled(encodable(expression), PATTERN_MEMORY)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace") if error.args else "it cannot be read"
        raise ValueError(f"this is not a regular expression ({reason}).") from error


def text_of_value(value: Any) -> str:
    """Return a value as a watch shows it, cut where it is long."""
    text = whole_text(value, SHOWN_ITEMS)
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


def whole_text(value: Any, most: int | None = None) -> str:
    """Return a value as text, whole or with `most` items of each list and rounded numbers."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:.6g}" if most else repr(value)
        case str() | int():
            return str(value)
        case tuple():
            shown = ", ".join(whole_text(item, most) for item in value[:most])
            more = len(value) - (most or len(value))
            return f"{shown}, and {more} more" if more > 0 else shown or "none"
        case Element():
            return value.line()
        case BaseModel():
            return ", ".join(f"{name}: {whole_text(part, most)}" for name, part in value)
    raise AssertionError(f"{value!r} is not a value of an expression")
