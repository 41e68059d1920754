"""Values that Python code spells out, worked out from its syntax tree: the code is never run.

A handful of constructs is known: constants, names of values before, lists,
dicts, sums, f-strings, comparisons, and a few functions without effects, with
a limit on how large anything gets.
"""

import ast
import operator
from collections.abc import Callable
from typing import Any

_MOST_NUMBER = 10**6


class NotPlainError(Exception):
    """A construct that is not worked out here."""


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
        """`most_text` is how many characters a text may have."""
        self.names: dict[str, Any] = {}
        self._most_text = most_text

    def of(self, node: ast.expr) -> Any:
        """Return what an expression comes to; raises NotPlainError, with the line, where that would take running it."""
        try:
            found = self._worked_out(node)
        except (TypeError, ArithmeticError, ValueError, LookupError) as error:
            raise NotPlainError(f"line {node.lineno} cannot be worked out without running it") from error
        if isinstance(found, (int, float)) and abs(found) > _MOST_NUMBER:
            raise NotPlainError(f"line {node.lineno} has too large a number")
        if isinstance(found, str) and len(found) > self._most_text:
            raise NotPlainError(f"line {node.lineno} has too long a text")
        return found

    def _worked_out(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=(str() | int() | float() | None) as value):
                return value
            case ast.Name(id=name) if name in self.names:
                return self.names[name]
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
                return _COMPARED[type(op)](self.of(left), self.of(right))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.of(body if self.of(test) else orelse)
            case ast.JoinedStr(values=parts):
                return "".join(self._formatted(part) for part in parts)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
                return _FUNCTIONS[name](*(self.of(one) for one in args))
        raise NotPlainError(f"line {node.lineno} cannot be worked out without running it")

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
            return str(self.of(part.value))
        return str(self.of(part))
