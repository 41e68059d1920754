"""The language of conditions and watches: a safe and bounded Python-like expression over the subject.

Only names of the subject, their parts, a few functions, comparisons, ``and``, ``or``, ``not``,
``if``/``else``, arithmetic and ``for`` inside of a function are supported. The rest is refused while it is
typed, with its place. What is left is compiled by Python with each name, part, comparison, calculation, list
and call as a method of `Operations`, and evaluated without built-in functions: an expression reaches nothing
else, and its work is bounded.
"""

import ast
import inspect
import threading
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType
from typing import Any, Protocol

from core.debugger.breakpoints.names import PLAIN, SUBJECT, Shape, nearest
from core.debugger.breakpoints.operations import (
    CALCULATIONS,
    FUNCTIONS,
    LARGEST,
    Operations,
    Stuck,
    compiled_pattern,
)
from core.schema.errors import UsageError

LONGEST = 1000
"""Characters of an expression."""
MOST_NODES = 200
"""Names, values, operators and calls of an expression, brackets left out."""
SHOWN = 60
"""Characters of a refused part that its message shows."""
_SUBJECT, _OPERATIONS = "<subject>", "<operations>"
"""Names of compiled code that no expression can write."""
_PARSING = threading.Lock()
"""Held while warnings are off, which they are for all threads."""
_NO_ARGUMENTS = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


class Names(Protocol):
    """Where the parts of the subject come from."""

    def __getitem__(self, name: str, /) -> Any: ...


@dataclass(frozen=True)
class Compiled:
    """A compiled expression; create it with `compile_expression`."""

    text: str
    names: frozenset[str]
    """The parts of the subject that it reads."""
    code: CodeType = field(compare=False, repr=False)


@lru_cache(maxsize=512)
def compile_expression(text: str) -> Compiled:
    """Read an expression; raises UsageError that says at which character what is wrong, and what was near."""
    stripped = text.strip()
    if not stripped:
        raise UsageError("The expression is empty; write one, such as state.name == 'item'.")
    if len(stripped) > LONGEST:
        raise UsageError(f"The expression is longer than {LONGEST} characters. Shorten it.")
    if len(stripped.splitlines()) > 1:
        raise UsageError("The expression has several lines. Write it in one line.")
    offset = text.index(stripped[0])
    tree = _parsed(stripped, offset)
    if _size(tree) > MOST_NODES:
        raise UsageError(f"The expression has more than {MOST_NODES} parts. Shorten it.")
    reader = _Reader(stripped, offset)
    try:
        whole = ast.fix_missing_locations(ast.Expression(reader.visit(tree)))
        code = compile(whole, "<expression>", "eval")
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise UsageError("The expression is nested too deeply. Shorten it.") from error
    return Compiled(text=stripped, names=frozenset(reader.names), code=code)


def _parsed(text: str, offset: int) -> ast.expr:
    try:
        # An escape that Python doubts, as in "\d", is right in a regular expression.
        with _PARSING, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        # At the end of the text Python tells no place.
        at = min(error.offset or len(text) + 1, len(text) + 1)
        meant = "write == to compare" if text[at - 1 : at] == "=" else "this is not an expression"
        raise UsageError(f"At character {at + offset}: {error.msg.rstrip('.?')}; {meant}.") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise UsageError(
            "The expression cannot be read: it contains invalid characters or is nested too deeply."
        ) from error


def evaluate(compiled: Compiled, subject: Names) -> Any:
    """Return the value; raises UsageError that says why there is none."""
    scope = {"__builtins__": {}, _SUBJECT: subject, _OPERATIONS: Operations()}
    try:
        return eval(compiled.code, scope)
    except (Stuck, ArithmeticError) as error:
        why = str(error) or "the result is not a number"
        raise UsageError(f"“{compiled.text}” cannot be evaluated: {why}.") from error


def is_true(compiled: Compiled, subject: Names) -> bool:
    """Return whether the value counts as true: nothing, 0 and what is empty do not."""
    return bool(evaluate(compiled, subject))


class _Reader(ast.NodeVisitor):
    """Returns an expression made of operations for each node, or refuses it."""

    def __init__(self, text: str, offset: int) -> None:
        self.names: set[str] = set()
        self._text = text
        self._offset = offset
        self._variables: dict[str, Shape] = {}

    def _refusal(self, node: ast.expr, sentence: str, *, column: int | None = None) -> UsageError:
        """Return the error for a node; `column` is counted in bytes, as the tree has it."""
        before = self._text.encode()[: node.col_offset if column is None else column].decode(errors="ignore")
        return UsageError(f"At character {len(before) + self._offset + 1}: {sentence}")

    def generic_visit(self, node: ast.AST) -> ast.expr:
        """Refuse each kind of node that no method below is named after."""
        assert isinstance(node, ast.expr)
        if isinstance(node, ast.GeneratorExp):
            raise self._refusal(node, "“for” must be inside a function, as in any(… for …), or in [ ].")
        written = ast.get_source_segment(self._text, node) or ast.unparse(node)
        shown = written if len(written) <= SHOWN else f"{written[:SHOWN]}…"
        raise self._refusal(node, f"“{shown}” cannot be used in an expression.")

    def _all(self, nodes: Iterable[ast.expr]) -> list[ast.expr]:
        return [self.visit(node) for node in nodes]

    def _shape(self, node: ast.expr) -> Shape:
        """Return the shape of the value of a node."""
        match node:
            case ast.Name(id=name):
                return self._variables.get(name) or SUBJECT.part(name) or PLAIN
            case ast.Attribute(value=whole, attr=name):
                return self._shape(whole).part(name) or PLAIN
            case ast.Subscript(value=whole):
                return self._shape(whole).items or PLAIN
            case ast.BoolOp() | ast.IfExp():
                choices = node.values if isinstance(node, ast.BoolOp) else [node.body, node.orelse]
                first, *others = map(self._shape, choices)
                return first if all(other == first for other in others) else PLAIN
        return PLAIN

    # Values and names

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        value = node.value
        if value is not None and type(value) not in (str, int, float, bool):
            raise self._refusal(node, "a value must be text, a number, True, False or None.")
        if type(value) is int and value > LARGEST:
            raise self._refusal(node, "this number is too large.")
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        name = node.id
        if name in self._variables:
            return node
        if name in FUNCTIONS:
            raise self._refusal(node, f"{name} is a function; write {_usage(name)}.")
        if SUBJECT.part(name) is None:
            known = (*SUBJECT.parts, *self._variables, *FUNCTIONS)
            raise self._refusal(node, f"there is no “{name}”; {nearest(name, known)}")
        self.names.add(name)
        return ast.Subscript(ast.Name(_SUBJECT, ast.Load()), ast.Constant(name), ast.Load())

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        whole, shape, name = self.visit(node.value), self._shape(node.value), node.attr
        if shape.part(name) is None:
            written, end = ast.unparse(node.value), f"it is {shape.word}."
            if shape.parts:
                end = nearest(name, shape.parts)
            elif shape.items is not None:
                end = (
                    f"it is {shape.word}. Use one item, as in {written}[0], or a function of all, as in "
                    f"len({written})."
                )
            column = max((node.end_col_offset or 0) - len(name.encode()), 0)
            raise self._refusal(node, f"{written} has no “{name}”; {end}", column=column)
        return _operation("part", whole, ast.Constant(name))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        return _operation("item", self.visit(node.value), self.visit(node.slice))

    def visit_Tuple(self, node: ast.Tuple | ast.List) -> ast.expr:
        return _operation("list", _tuple(*self._all(node.elts)))

    def visit_List(self, node: ast.List) -> ast.expr:
        return self.visit_Tuple(node)

    # Operators

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        return ast.BoolOp(node.op, self._all(node.values))

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        return ast.IfExp(*self._all((node.test, node.body, node.orelse)))

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        tests = []
        for sign, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(sign, ast.Is | ast.IsNot) and not _is_none(right):
                raise self._refusal(right, "“is” works only with None; write == instead.")
            operand = ast.Lambda(_NO_ARGUMENTS, self.visit(right))
            tests.append(_tuple(ast.Constant(type(sign).__name__), operand))
        return _operation("compare", self.visit(node.left), *tests)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Invert):
            return self.generic_visit(node)
        operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            return ast.UnaryOp(node.op, operand)
        name = "Sub" if isinstance(node.op, ast.USub) else "Add"
        return _operation("calculate", ast.Constant(name), ast.Constant(0), operand)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        kind = type(node.op).__name__
        if kind not in CALCULATIONS:
            signs = ", ".join(sign for sign, _ in CALCULATIONS.values())
            raise self._refusal(
                node, f"the operators are {signs}; others, such as powers, are not supported."
            )
        for operand in (node.left, node.right):
            is_text = isinstance(operand, ast.Constant) and isinstance(operand.value, str)
            if is_text or isinstance(operand, ast.Tuple | ast.List | ast.ListComp):
                raise self._refusal(operand, f"{CALCULATIONS[kind][0]} works only with numbers.")
        return _operation("calculate", ast.Constant(kind), *self._all((node.left, node.right)))

    # Functions

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if not isinstance(node.func, ast.Name):
            raise self._refusal(node, f"only these functions can be called: {', '.join(FUNCTIONS)}.")
        name = node.func.id
        if name not in FUNCTIONS:
            raise self._refusal(node, f"there is no function “{name}”; {nearest(name, FUNCTIONS)}")
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise self._refusal(node, f"arguments cannot be given by name; write {_usage(name)}.")
        try:
            inspect.signature(getattr(Operations, name)).bind(None, *node.args)
        except TypeError as error:
            raise self._refusal(
                node, f"wrong number of arguments ({len(node.args)}); write {_usage(name)}."
            ) from error
        if name == "matches":
            self._check_pattern(node.args[1])
        return _operation(
            name,
            *(
                self._walk(argument) if isinstance(argument, ast.GeneratorExp) else self.visit(argument)
                for argument in node.args
            ),
        )

    def _check_pattern(self, node: ast.expr) -> None:
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            raise self._refusal(node, "the regular expression must be written here, in quotes.")
        try:
            compiled_pattern(node.value)
        except ValueError as error:
            raise self._refusal(node, str(error)) from error

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        return _operation("list", self._walk(node))

    def _walk(self, node: ast.GeneratorExp | ast.ListComp) -> ast.expr:
        """Return what gives the values of a ``for``, one by one as they are wanted."""
        outside, cost, clauses = self._variables, ast.Constant(_size(node)), []
        for clause in node.generators:
            target = clause.target
            if clause.is_async or not isinstance(target, ast.Name):
                raise self._refusal(target, "“for” takes one name, as in for e in page.elements.")
            name = target.id
            is_used = name in self._variables or name in FUNCTIONS or SUBJECT.part(name) is not None
            if is_used or name.startswith("__"):
                raise self._refusal(target, f"the name “{name}” is already used; choose another one.")
            source = _operation("walk", self.visit(clause.iter), cost)
            self._variables = {**self._variables, name: self._shape(clause.iter).items or PLAIN}
            clauses.append(ast.comprehension(target, source, self._all(clause.ifs), is_async=0))
        element = self.visit(node.elt)
        self._variables = outside
        return ast.GeneratorExp(element, clauses)


def _operation(name: str, *arguments: ast.expr) -> ast.expr:
    operation = ast.Attribute(ast.Name(_OPERATIONS, ast.Load()), name, ast.Load())
    return ast.Call(operation, [*arguments], [])


def _tuple(*items: ast.expr) -> ast.expr:
    return ast.Tuple([*items], ast.Load())


def _size(node: ast.AST) -> int:
    """Return of how many values, names, operators and calls an expression is made."""
    return sum(isinstance(part, ast.expr | ast.comprehension) for part in ast.walk(node))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _usage(name: str) -> str:
    return FUNCTIONS[name].partition(": ")[0]
