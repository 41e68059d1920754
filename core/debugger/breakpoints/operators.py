"""Comparing and calculating in expressions: nothing compares as false, and only numbers are calculated with."""

import ast
import operator
from collections.abc import Callable
from typing import Any

from core.debugger.breakpoints.functions import Work
from core.debugger.breakpoints.values import LARGEST, NUMBERS, Stuck, word_for


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
