"""Values that Python code spells out, worked out from its syntax tree: the code is never run.

A handful of constructs is known: constants, names of values before, lists,
dicts, sums, f-strings, comparisons, and a few functions without effects, with
a limit on how large anything gets, and on all that is made together.
"""

import ast
import operator
from collections.abc import Callable, Iterable
from typing import Any

from core.trace.imports.records import FaultyError

_MOST_NUMBER = 10**6
_ITEM = 16
"""So many characters an item of a list or a dict counts for, besides its own."""
_MOST_MADE = 10**7
"""Characters of all values that are made or gone through, one after the other."""
_MOST_OF_MODULE = 2_000_000
"""Characters of one value of a module."""
_OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    getattr(ast, name): getattr(operator, name.lower()) for name in ("Add", "Sub", "Mod", "Lt", "Gt", "Eq")
} | {
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.LtE: operator.le,
    ast.GtE: operator.ge,
    ast.NotEq: operator.ne,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function for function in (abs, range, int, str, len, min, max)
}


class NotPlainError(FaultyError):
    """A construct that is not worked out here."""

    def __init__(self, why: str, *, root: str = "") -> None:
        """`root` is why a name that is needed has no value."""
        super().__init__(f"{why}, and {root}" if root else why)
        self.root = root or why


def module_values(module: ast.Module) -> dict[str, Any]:
    """Return what the names of a module stand for; a NotPlainError stands for what only running it would tell.

    It stands so in a dict, too, and in a list there; calls with keywords are dicts.
    """
    values = PlainValues(_MOST_OF_MODULE, in_part=True)
    for statement in module.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=node):
                values.names[name] = values.part(node)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as node):
                values.names[name] = values.part(node)
    return values.names


class PlainValues:
    """Works expressions out, by the values that `names` has so far; a NotPlainError is why a name has none."""

    def __init__(self, most_text: int, *, in_part: bool = False) -> None:
        """`most_text` is how many characters a text may have, and a list with all that it holds; see `_ITEM`.

        What `in_part` does is told at `module_values`.
        """
        self.names: dict[str, Any] = {}
        self._most_text = most_text
        self._in_part = in_part
        self._left = _MOST_MADE

    def part(self, node: ast.expr) -> Any:
        """Return what an expression comes to, or why that is not known."""
        try:
            return self.of(node)
        except RecursionError:
            return NotPlainError(f"line {node.lineno} is nested too deeply")
        except NotPlainError as error:
            return error

    def of(self, node: ast.expr) -> Any:
        """Return what an expression comes to; raises NotPlainError, with the line, if that would take running it."""
        try:
            value = self._worked_out(node)
        except (TypeError, ArithmeticError, ValueError, LookupError) as error:
            raise NotPlainError(f"line {node.lineno} cannot be evaluated without running it") from error
        if isinstance(value, (int, float)) and abs(value) > _MOST_NUMBER:
            raise NotPlainError(f"line {node.lineno} has too large a number")
        if isinstance(value, str) and len(value) > self._most_text:
            raise NotPlainError(f"line {node.lineno} has too long a text")
        # The values of a dict that may be known in part are counted one by one.
        if not isinstance(node, ast.Constant | ast.Name) and not (self._in_part and isinstance(value, dict)):
            self._count(value, node)
        return value

    def _count(self, value: Any, node: ast.expr, *, whole: bool = False) -> None:
        """Take the size of a value that was made, or is gone through; raises NotPlainError if it is too large.

        A `whole` value must have no parts that cannot be worked out.
        """
        size = _size(value, self._most_text, whole=whole)
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
            case ast.Name(id=name):
                if isinstance(value := self.names[name], NotPlainError):
                    raise NotPlainError(f"line {node.lineno} needs {name}", root=value.root)
                return value
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return [self.of(item) for item in items]
            case ast.Dict(keys=keys, values=items):
                return self._dict((self._value(key) if key else None for key in keys), items)
            case ast.Call(args=[], keywords=[_, *_] as keywords) if self._in_part:
                return self._dict(
                    (keyword.arg for keyword in keywords), (keyword.value for keyword in keywords)
                )
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return _FUNCTIONS[name](*map(self._read, args))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -_number(self.of(operand))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.of(operand)
            case ast.BinOp(left=left, op=op, right=right):
                first, second = self.of(left), self.of(right)
                if isinstance(op, ast.Add) and type(first) is type(second) and type(first) in (str, list):
                    return first + second
                return _OPERATORS[type(op)](_number(first), _number(second))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return _OPERATORS[type(op)](self._read(left), self._read(right))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.of(body if self.of(test) else orelse)
            case ast.JoinedStr(values=parts):
                return self._joined(parts)
            case ast.FormattedValue(value=inner, conversion=-1, format_spec=None):
                return str(self._read(inner))
        raise LookupError

    def _dict(self, keys: Iterable[Any], nodes: Iterable[ast.expr]) -> dict[Any, Any]:
        made: dict[Any, Any] = {}
        for key, node in zip(keys, nodes, strict=True):
            value = self._value(node)
            if key is not None:
                made[key] = value
            elif isinstance(value, dict):  # It comes after two stars.
                made |= value
        return made

    def _value(self, node: ast.expr) -> Any:
        """Return a key or a value of a dict."""
        if not self._in_part:
            return self.of(node)
        if isinstance(node, ast.List | ast.Tuple):
            return [self.part(item) for item in node.elts]
        return self.part(node)

    def _read(self, node: ast.expr) -> Any:
        """Return the value of an expression that is gone through once more."""
        value = self.of(node)
        self._count(value, node, whole=True)
        return value

    def _joined(self, parts: Iterable[ast.expr]) -> str:
        text = ""
        for part in parts:
            text += self.of(part)
            if len(text) > self._most_text:
                break  # Whoever asked for it refuses it.
        return text


def _number(value: Any) -> Any:
    if not isinstance(value, (int, float)):
        raise TypeError
    return value


def _size(value: Any, most: int, *, whole: bool) -> int:
    """Return how many characters a value counts for with all that it holds; above `most` only that it is."""
    if isinstance(value, str | range):
        return len(value)
    if whole and isinstance(value, NotPlainError):
        raise value
    items = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ()
    size = 1
    for item in items:
        size += _ITEM + _size(item, most - size, whole=whole)
        if size > most:
            break
    return size
