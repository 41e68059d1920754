"""The values, comparisons, arithmetic and functions of expressions, and the bound on their work.

``None`` compares as false, and only numbers are calculated with.
"""

import ast
import inspect
import operator
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import re2
from pydantic import BaseModel

from core.schema.expression import re2_compiled
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
    return "a value with parts"


def items_of(value: Any) -> Iterable[Any]:
    """Return what can be walked of a value: the items of a list, or of nothing none."""
    if value is None:
        return ()
    if isinstance(value, (tuple, Iterator)):
        return value
    raise Stuck(f"{word_for(value)} is not a list")


def list_of(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return values as a list, without lists in it: few words could make those endless."""
    items = tuple(values)
    if any(type(item) is tuple for item in items):
        raise Stuck("a list cannot contain lists")
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
    raise AssertionError(f"{value!r} is not a value of an expression")


# Work


class Work:
    """The remaining work of one evaluation."""

    def __init__(self) -> None:
        self.left = MOST_WORK

    def spend(self, amount: int) -> None:
        """Raises Stuck if nothing is left."""
        self.left -= amount
        if self.left < 0:
            raise Stuck("it processes too much data; search less, or end the search earlier")

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
            raise Stuck(f"{word_for(item)} cannot be searched for in text")
        work.spend_on(container)
        return item in container
    if not isinstance(container, tuple):
        raise Stuck(f"{word_for(container)} cannot be searched")
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
CALCULATIONS: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
}


def calculated(kind: type[ast.operator], left: Any, right: Any) -> Any:
    """Return what two numbers come to; with nothing, nothing. Text is not calculated with."""
    if left is None or right is None:
        return None
    sign, calculate = CALCULATIONS[kind]
    if not isinstance(left, NUMBERS) or not isinstance(right, NUMBERS):
        raise Stuck(f"{word_for(left)} {sign} {word_for(right)} cannot be calculated; use numbers")
    value = calculate(left, right)
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
    least: int
    most: int
    takes_several: bool = False
    """Whether a ``for`` can be an argument."""


FUNCTIONS: dict[str, Function] = {}
"""By name, in the order lists show them."""
Call = TypeVar("Call", bound=Callable[..., Any])


def _function(usage: str, *, takes_several: bool = False) -> Callable[[Call], Call]:
    """Make what follows a function of expressions, which is described by its docstring."""

    def add(call: Call) -> Call:
        name = usage.partition("(")[0]
        _, *parameters = inspect.signature(call).parameters.values()
        several = any(one.kind is one.VAR_POSITIONAL for one in parameters)
        FUNCTIONS[name] = Function(
            name=name,
            usage=usage,
            doc=call.__doc__ or "",
            call=call,
            least=len(parameters),
            most=sys.maxsize if several else len(parameters),
            takes_several=takes_several,
        )
        return call

    return add


@_function("len(value)", takes_several=True)
def _len(work: Work, value: Any) -> int | None:
    """How many characters or items it has."""
    if value is None or isinstance(value, str):
        return None if value is None else len(value)
    return sum(1 for _ in items_of(value))


@_function("lower(text)")
def _lower(work: Work, value: Any) -> str | None:
    """The text in lower case."""
    return None if value is None else _as_text(work, value, "lower").lower()


@_function("contains(whole, part)")
def _contains(work: Work, whole: Any, part: Any) -> bool:
    """Whether a text contains another text, or a list contains an item, ignoring case."""
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


@_function("matches(text, 'expression')")
def _matches(work: Work, text: Any, pattern: Any) -> bool:
    """Whether a regular expression (of RE2) is found in the text."""
    if text is None:
        return False
    searched = _as_text(work, text, "matches")[:LONGEST_SEARCHED]
    return pattern.search(_encodable(searched)) is not None


@_function("any(… for e in page.elements)", takes_several=True)
def _any(work: Work, values: Any) -> bool:
    """Whether at least one is true."""
    return any(items_of(values))


@_function("all(… for e in page.elements)", takes_several=True)
def _all(work: Work, values: Any) -> bool:
    """Whether all are true."""
    return all(items_of(values))


@_function("count(… for e in page.elements)", takes_several=True)
def _count(work: Work, values: Any) -> int:
    """How many are true."""
    return sum(1 for value in items_of(values) if value)


@_function("abs(number)")
def _abs(work: Work, value: Any) -> Any:
    """The absolute value."""
    if value is None:
        return None
    if not isinstance(value, NUMBERS):
        raise Stuck(f"abs takes a number, not {word_for(value)}")
    return abs(value)


@_function("min(one, other)", takes_several=True)
def _min(work: Work, *values: Any) -> Any:
    """The smallest of several values, or of the items of a list."""
    return min(_there(work, values, "min"), default=None)


@_function("max(one, other)", takes_several=True)
def _max(work: Work, *values: Any) -> Any:
    """The largest of several values, or of the items of a list."""
    return max(_there(work, values, "max"), default=None)


def _there(work: Work, values: tuple[Any, ...], name: str) -> list[Any]:
    """Return those of the values, or of the items of the only one, that are not nothing."""
    given = items_of(values[0]) if len(values) == 1 else values
    there = [value for value in given if value is not None]
    numbers = all(isinstance(value, NUMBERS) for value in there)
    if not numbers and not all(isinstance(value, str) for value in there):
        raise Stuck(f"{name} takes either numbers or texts")
    for value in there:
        work.spend_on(value)
    return there


def _as_text(work: Work, value: Any, name: str) -> str:
    if type(value) is not str:
        raise Stuck(f"{name} takes text, not {word_for(value)}")
    work.spend_on(value)
    text: str = value
    return text


def compiled_pattern(expression: str) -> Any:
    """Return a regular expression that takes time in proportion to the text, whatever it is; raises ValueError."""
    try:
        return re2_compiled(_encodable(expression), PATTERN_MEMORY)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace") if error.args else "it cannot be read"
        raise ValueError(f"this is not a regular expression ({reason}).") from error


def _encodable(text: str) -> str:
    """Return the text without halves of surrogate pairs, which RE2 cannot read."""
    return text if text.isascii() else text.encode(errors="replace").decode()
