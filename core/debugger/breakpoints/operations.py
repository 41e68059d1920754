"""What expressions calculate with: values, comparisons, arithmetic and functions, and the bound on their work.

``None`` compares as false, and only numbers are calculated with.
"""

import ast
import operator
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import re2
from pydantic import BaseModel

from core.schema.observation import Element
from core.schema.record import Record

LARGEST = 10**30
"""The largest whole number that is calculated with."""
NUMBERS = (int, float)
SHOWN_ITEMS = 20
SHOWN_CHARACTERS = 2000
MOST_WORK = 1_000_000
"""Names, values and calls looked at in one evaluation, long text and lists counting by their length."""
LONG = (str, tuple)
SHORT = 64
"""Characters or items up to which a value costs no work of its own."""
PATTERN_MEMORY = 4 << 20
"""Bytes that a regular expression may take."""
LONGEST_SEARCHED = 100_000
"""Characters of a text that a regular expression is looked for in."""


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


# Work


class Work:
    """What is left of the work that one evaluation may do."""

    def __init__(self) -> None:
        self.left = MOST_WORK

    def spend(self, amount: int) -> None:
        """Raises Stuck where nothing is left."""
        self.left -= amount
        if self.left < 0:
            raise Stuck("it looks at too much; ask for less, or end the search earlier")

    def spend_on(self, value: Any) -> None:
        """Spend by how long a text or a list is; what is short costs nothing."""
        if type(value) in LONG and len(value) > SHORT:
            self.spend(len(value) if type(value) is tuple else len(value) // 16)


# Operators


def _ordered(compare: Callable[[Any, Any], bool], sign: str) -> Callable[[Work, Any, Any], bool]:
    def test(work: Work, left: Any, right: Any) -> bool:
        if left is None or right is None:
            return False
        numbers = isinstance(left, NUMBERS) and isinstance(right, NUMBERS)
        if not numbers and not (type(left) is type(right) is str):
            raise Stuck(f"{word_for(left)} and {word_for(right)} cannot be compared with {sign}")
        work.spend_on(left)
        return compare(left, right)

    return test


def _equal(work: Work, left: Any, right: Any) -> bool:
    work.spend_on(left)
    return bool(left == right)


def _within(work: Work, item: Any, container: Any) -> bool:
    if container is None:
        return False
    if isinstance(container, str):
        if item is None:
            return False
        if not isinstance(item, str):
            raise Stuck(f"{word_for(item)} cannot be looked for in text")
        work.spend_on(container)
        return item in container
    if not isinstance(container, tuple):
        raise Stuck(f"nothing can be looked for in {word_for(container)}")
    work.spend_on(container)
    return item in container


COMPARISONS: dict[type[ast.cmpop], Callable[[Work, Any, Any], bool]] = {
    ast.Lt: _ordered(operator.lt, "<"),
    ast.LtE: _ordered(operator.le, "<="),
    ast.Gt: _ordered(operator.gt, ">"),
    ast.GtE: _ordered(operator.ge, ">="),
    ast.Eq: _equal,
    ast.NotEq: lambda work, left, right: not _equal(work, left, right),
    ast.In: _within,
    ast.NotIn: lambda work, left, right: not _within(work, left, right),
    ast.Is: lambda work, left, right: left is None,
    ast.IsNot: lambda work, left, right: left is not None,
}
SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}
_CALCULATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}


def calculated(sign: str, left: Any, right: Any) -> Any:
    """Return what two numbers come to; with nothing, nothing. Text is not calculated with."""
    if left is None or right is None:
        return None
    if not isinstance(left, NUMBERS) or not isinstance(right, NUMBERS):
        raise Stuck(f"{word_for(left)} {sign} {word_for(right)} cannot be calculated; only numbers can")
    value = _CALCULATIONS[sign](left, right)
    if isinstance(value, int) and abs(value) > LARGEST:
        raise Stuck("a number became too large")
    return value


# Functions


class Function(Record):
    """A function that expressions may call."""

    name: str
    usage: str
    doc: str
    call: Callable[..., Any]
    """Is given the work, then the arguments; ``matches`` its expression compiled."""
    least: int = 1
    most: int = 1
    takes_several: bool = False
    """Whether a ``for`` can be an argument."""


def _len(work: Work, value: Any) -> int | None:
    if value is None or isinstance(value, str):
        return None if value is None else len(value)
    return sum(1 for _ in items_of(value))


def _lower(work: Work, value: Any) -> str | None:
    return None if value is None else _as_text(work, value, "lower").lower()


def _contains(work: Work, whole: Any, part: Any) -> bool:
    if whole is None or part is None:
        return False
    if type(whole) is str:
        return _as_text(work, part, "contains").casefold() in _as_text(work, whole, "contains").casefold()
    wanted = part.casefold() if isinstance(part, str) else part
    for item in items_of(whole):
        work.spend_on(item)
        work.spend(1)
        if (item.casefold() if isinstance(item, str) else item) == wanted:
            return True
    return False


def _matches(work: Work, text: Any, pattern: Any) -> bool:
    if text is None:
        return False
    searched = _as_text(work, text, "matches")[:LONGEST_SEARCHED]
    return pattern.search(_encodable(searched)) is not None


def _any(work: Work, values: Any) -> bool:
    return any(items_of(values))


def _all(work: Work, values: Any) -> bool:
    return all(items_of(values))


def _count(work: Work, values: Any) -> int:
    return sum(1 for value in items_of(values) if value)


def _abs(work: Work, value: Any) -> Any:
    if value is None:
        return None
    if not isinstance(value, NUMBERS):
        raise Stuck(f"abs takes a number, not {word_for(value)}")
    return abs(value)


def _extreme(pick: Callable[[list[Any]], Any], name: str) -> Callable[..., Any]:
    def call(work: Work, *values: Any) -> Any:
        given = items_of(values[0]) if len(values) == 1 else values
        there = [value for value in given if value is not None]
        numbers = all(isinstance(value, NUMBERS) for value in there)
        if not numbers and not all(isinstance(value, str) for value in there):
            raise Stuck(f"{name} takes numbers or texts, not both and nothing else")
        for value in there:
            work.spend_on(value)
        return pick(there) if there else None

    return call


def _as_text(work: Work, value: Any, name: str) -> str:
    if type(value) is not str:
        raise Stuck(f"{name} takes text, not {word_for(value)}")
    work.spend_on(value)
    text: str = value
    return text


FUNCTIONS = {
    function.name: function
    for function in (
        Function(
            name="len",
            usage="len(value)",
            doc="How many characters or items it has.",
            call=_len,
            takes_several=True,
        ),
        Function(name="lower", usage="lower(text)", doc="The text in lower case.", call=_lower),
        Function(
            name="contains",
            usage="contains(whole, part)",
            doc="Whether text holds other text, or a list an item; case does not count.",
            call=_contains,
            least=2,
            most=2,
        ),
        Function(
            name="matches",
            usage="matches(text, 'expression')",
            doc="Whether a regular expression (of RE2) is found in the text.",
            call=_matches,
            least=2,
            most=2,
        ),
        Function(
            name="any",
            usage="any(… for e in page.elements)",
            doc="Whether at least one is true.",
            call=_any,
            takes_several=True,
        ),
        Function(
            name="all",
            usage="all(… for e in page.elements)",
            doc="Whether none is false.",
            call=_all,
            takes_several=True,
        ),
        Function(
            name="count",
            usage="count(… for e in page.elements)",
            doc="How many are true.",
            call=_count,
            takes_several=True,
        ),
        Function(name="abs", usage="abs(number)", doc="The number without its sign.", call=_abs),
        Function(
            name="min",
            usage="min(one, other)",
            doc="The least of several values, or of those of a list.",
            call=_extreme(min, "min"),
            most=sys.maxsize,
            takes_several=True,
        ),
        Function(
            name="max",
            usage="max(one, other)",
            doc="The greatest of several values, or of those of a list.",
            call=_extreme(max, "max"),
            most=sys.maxsize,
            takes_several=True,
        ),
    )
}
"""By name, in the order lists show them."""


def compiled_pattern(expression: str) -> Any:
    """Return a regular expression that takes time in proportion to the text, whatever it is; raises ValueError."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = PATTERN_MEMORY
    try:
        return re2.compile(_encodable(expression), options)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace") if error.args else "it cannot be read"
        raise ValueError(f"this is no regular expression ({reason}).") from error


def _encodable(text: str) -> str:
    """Return the text without halves of surrogate pairs, which RE2 cannot read."""
    return text if text.isascii() else text.encode(errors="replace").decode()
