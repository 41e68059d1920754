"""Values that Python code spells out, worked out from its syntax tree: the code is never run.

A handful of constructs is known: constants, names of values before, lists,
dicts, sums, f-strings, comparisons, and a few functions without effects, with
a limit on how large anything gets, and on all that is made together.
"""

import ast
import operator
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

_MOST_NUMBER = 10**6
_ITEM = 16
"""So many characters an item of a list or a dict counts for, besides its own."""
_MOST_MADE = 10**7
"""Characters of all values that are made or gone through, one after the other."""


class NotPlainError(Exception):
    """A construct that is not worked out here."""

    def __init__(self, why: str, *, root: str = "") -> None:
        """`root` is why a name that is needed has no value."""
        super().__init__(f"{why}, and {root}" if root else why)
        self.root = root or why


_SUMS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "range": range,
    "int": int,
    "str": str,
    "len": len,
    "min": min,
    "max": max,
}


class PlainValues:
    """Works expressions out, by the values that `names` has so far."""

    def __init__(self, most_text: int) -> None:
        """`most_text` is how many characters a text may have, and a list with all that it holds; see `_ITEM`."""
        self.names: dict[str, Any] = {}
        self._unknown: dict[str, str] = {}
        """Why a name has no value."""
        self._most_text = most_text
        self._left = _MOST_MADE

    def assign(self, name: str, node: ast.expr) -> None:
        """Give a name its value; if that cannot be worked out, whoever needs the name is told why."""
        try:
            self.names[name] = self.of(node)
        except NotPlainError as error:
            self.names.pop(name, None)
            self._unknown[name] = error.root
        except RecursionError:
            self.names.pop(name, None)
            self._unknown[name] = f"line {node.lineno} is nested too deeply"

    def of(self, node: ast.expr) -> Any:
        """Return what an expression comes to; raises NotPlainError, with the line, if that would take running it."""
        try:
            found = self._worked_out(node)
        except (TypeError, ArithmeticError, ValueError, LookupError) as error:
            raise NotPlainError(f"line {node.lineno} cannot be evaluated without running it") from error
        if isinstance(found, (int, float)) and abs(found) > _MOST_NUMBER:
            raise NotPlainError(f"line {node.lineno} has too large a number")
        if isinstance(found, str) and len(found) > self._most_text:
            raise NotPlainError(f"line {node.lineno} has too long a text")
        if not isinstance(node, ast.Constant | ast.Name):
            self._count(found, node)
        return found

    def _count(self, value: Any, node: ast.expr) -> None:
        """Take the size of a value that was made, or is gone through; raises NotPlainError if it is too large."""
        size = _size(value, self._most_text)
        self._left -= size
        if size > self._most_text:
            raise NotPlainError(
                f"line {node.lineno} has too large a list: with {_ITEM} for each item it comes to more than "
                f"{self._most_text} characters"
            )
        if self._left < 0:
            raise NotPlainError(
                f"line {node.lineno} is not evaluated: the lines before it already make {_MOST_MADE} characters"
            )

    def _worked_out(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=(str() | int() | float() | None) as value):
                return value
            case ast.Name(id=name) if name in self.names:
                return self.names[name]
            case ast.Name(id=name) if name in self._unknown:
                raise NotPlainError(f"line {node.lineno} needs {name}", root=self._unknown[name])
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return [self.of(part) for part in parts]
            case ast.Dict(keys=keys, values=parts) if None not in keys:
                return {self.of(key): self.of(part) for key, part in zip(keys, parts, strict=True) if key}
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._number(operand)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.of(operand)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                first, second = self.of(left), self.of(right)
                if isinstance(first, str) and isinstance(second, str):
                    return first + second
                if isinstance(first, list) and isinstance(second, list):
                    return [*first, *second]
                return self._checked(first) + self._checked(second)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _SUMS:
                return _SUMS[type(op)](self._number(left), self._number(right))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARED:
                return _COMPARED[type(op)](self._counted(left), self._counted(right))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.of(body if self.of(test) else orelse)
            case ast.JoinedStr(values=parts):
                return self._joined(parts)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
                return _FUNCTIONS[name](*(self._counted(one) for one in args))
        raise NotPlainError(f"line {node.lineno} cannot be evaluated without running it")

    def _counted(self, node: ast.expr) -> Any:
        """Return the value of an expression that is gone through once more."""
        value = self.of(node)
        self._count(value, node)
        return value

    def _joined(self, parts: Iterable[ast.expr]) -> str:
        text = ""
        for part in parts:
            text += self._formatted(part)
            if len(text) > self._most_text:
                break  # Whoever asked for it refuses it.
        return text

    def _number(self, node: ast.expr) -> Any:
        return self._checked(self.of(node))

    @staticmethod
    def _checked(value: Any) -> Any:
        if not isinstance(value, (int, float)):
            raise TypeError("not a number")
        return value

    def _formatted(self, part: ast.expr) -> str:
        if isinstance(part, ast.FormattedValue):
            if part.format_spec is not None or part.conversion != -1:
                raise TypeError("a format")
            return str(self._counted(part.value))
        return str(self.of(part))


def _size(value: Any, most: int) -> int:
    """Return how many characters a value counts for with all that it holds; above `most` only that it is."""
    if isinstance(value, str | range):
        return len(value)
    held: Iterable[Any] = ()
    if isinstance(value, list):
        held = value
    elif isinstance(value, dict):
        held = chain(value.keys(), value.values())
    size = 1
    for one in held:
        size += _ITEM + _size(one, most - size)
        if size > most:
            break
    return size
