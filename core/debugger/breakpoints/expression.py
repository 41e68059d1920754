"""The language of conditions and watches: a safe and bounded Python-like expression over the subject.

Only names of the subject, their parts, a few functions, comparisons, ``and``, ``or``, ``not``,
``if``/``else``, arithmetic and ``for`` inside of a function are supported. Each is compiled to a closure, so
an expression cannot reach Python itself. Why not simpleeval: here names are checked while typing, errors give
their position, None has every part and compares as false, the work of an evaluation is bounded, and ``any``
ends at the first true element. simpleeval would need all of this in addition, and is several times slower on
a large page.
"""

import ast
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

from core.debugger.breakpoints.names import PLAIN, SUBJECT, Shape, nearest
from core.debugger.breakpoints.operations import (
    CALCULATIONS,
    COMPARISONS,
    FUNCTIONS,
    LARGEST,
    Function,
    Stuck,
    Work,
    calculated,
    compiled_pattern,
    items_of,
    list_of,
    word_for,
)
from core.schema.errors import UsageError

LONGEST = 1000
"""Characters of an expression."""
MOST_NODES = 200
"""Names, values, operators and calls of an expression, brackets left out."""
_PARSING = threading.Lock()
"""Held while warnings are off, which they are for all threads."""


class Names(Protocol):
    """Where the parts of the subject come from."""

    def __getitem__(self, name: str, /) -> Any: ...


@dataclass
class Scope:
    """One evaluation."""

    names: Names
    work: Work = field(default_factory=Work)
    variables: dict[str, Any] = field(default_factory=dict)


Evaluate: TypeAlias = Callable[[Scope], Any]


@dataclass(frozen=True)
class Compiled:
    """A compiled expression; create it with `compile_expression`."""

    text: str
    names: frozenset[str]
    """The parts of the subject that it reads."""
    evaluate: Evaluate = field(compare=False, repr=False)


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
    compiler = _Compiler(stripped, offset=text.index(stripped[0]))
    closure, _ = compiler.compile()
    return Compiled(text=stripped, names=frozenset(compiler.names), evaluate=closure)


def evaluate(compiled: Compiled, subject: Names) -> Any:
    """Return the value; raises UsageError that says why there is none."""
    try:
        value = compiled.evaluate(Scope(subject))
    except Stuck as error:
        raise UsageError(f"“{compiled.text}” cannot be evaluated: {error}.") from error
    except ArithmeticError as error:
        raise UsageError(
            f"“{compiled.text}” cannot be evaluated: {str(error) or 'the result is not a number'}."
        ) from error
    return value


def is_true(compiled: Compiled, subject: Names) -> bool:
    """Return whether the value counts as true: nothing, 0 and what is empty do not."""
    return bool(evaluate(compiled, subject))


class _Compiler:
    """Compiles the tree of one expression to closures, each with the shape of its value."""

    def __init__(self, text: str, *, offset: int) -> None:
        self.names: set[str] = set()
        self._text = text
        self._offset = offset
        self._variables: dict[str, Shape] = {}

    def compile(self) -> tuple[Evaluate, Shape]:
        try:
            # An escape that Python doubts, as in "\d", is right in a regular expression.
            with _PARSING, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(self._text, mode="eval")
        except SyntaxError as error:
            # At the end of the text Python tells no place.
            at = min(error.offset or len(self._text) + 1, len(self._text) + 1)
            meant = "write == to compare" if self._text[at - 1 : at] == "=" else "this is not an expression"
            raise UsageError(
                f"At character {at + self._offset}: {error.msg.rstrip('.?')}; {meant}."
            ) from error
        except (ValueError, RecursionError, MemoryError) as error:
            raise UsageError(
                "The expression cannot be read: it contains invalid characters or is nested too deeply."
            ) from error
        if _size(tree) > MOST_NODES:
            raise UsageError(f"The expression has more than {MOST_NODES} parts. Shorten it.")
        return self._node(tree.body)

    def _refusal(self, node: ast.expr, sentence: str, *, column: int | None = None) -> UsageError:
        """Return the error for a node; `column` is counted in bytes, as the tree has it."""
        before = self._text.encode()[: node.col_offset if column is None else column].decode(errors="ignore")
        return UsageError(f"At character {len(before) + self._offset + 1}: {sentence}")

    def _node(self, node: ast.expr) -> tuple[Evaluate, Shape]:
        match node:
            case ast.Constant():
                return self._constant(node), PLAIN
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self._part(node)
            case ast.Subscript():
                return self._item(node)
            case ast.Compare():
                return self._comparison(node), PLAIN
            case ast.BoolOp():
                return self._and_or(node)
            case ast.UnaryOp():
                return self._unary(node), PLAIN
            case ast.BinOp():
                return self._arithmetic(node), PLAIN
            case ast.IfExp():
                return self._choice(node)
            case ast.Tuple() | ast.List():
                return self._list(node), PLAIN
            case ast.Call():
                return self._call(node), PLAIN
            case ast.ListComp():
                walk = self._walk(node)
                return lambda scope: list_of(walk(scope)), PLAIN
            case ast.GeneratorExp():
                raise self._refusal(node, "“for” must be inside a function, as in any(… for …), or in [ ].")
        raise self._refusal(node, f"{_called(node)} cannot be used in an expression.")

    # Values and names

    def _constant(self, node: ast.Constant) -> Evaluate:
        value = node.value
        if value is not None and type(value) not in (str, int, float, bool):
            raise self._refusal(node, "a value must be text, a number, True, False or None.")
        if type(value) is int and value > LARGEST:
            raise self._refusal(node, "this number is too large.")
        return lambda scope: value

    def _name(self, node: ast.Name) -> tuple[Evaluate, Shape]:
        name = node.id
        if name in self._variables:
            return lambda scope: scope.variables[name], self._variables[name]
        shape = SUBJECT.part(name)
        if shape is None:
            if name in FUNCTIONS:
                raise self._refusal(node, f"{name} is a function; write {FUNCTIONS[name].usage}.")
            known = (*SUBJECT.parts, *self._variables, *FUNCTIONS)
            raise self._refusal(node, f"there is no “{name}”; {nearest(name, known)}")
        self.names.add(name)
        return lambda scope: scope.names[name], shape

    def _part(self, node: ast.Attribute) -> tuple[Evaluate, Shape]:
        name = node.attr
        whole, shape = self._node(node.value)
        part = shape.part(name)
        if part is None:
            written = ast.unparse(node.value)
            if shape.parts:
                end = nearest(name, shape.parts)
            elif shape.items is not None:
                end = (
                    f"it is {shape.word}. Use one item, as in {written}[0], or a function of all, as in "
                    f"len({written})."
                )
            else:
                end = f"it is {shape.word}."
            column = max((node.end_col_offset or 0) - len(name.encode()), 0)
            raise self._refusal(node, f"{written} has no “{name}”; {end}", column=column)

        def evaluate(scope: Scope) -> Any:
            value = whole(scope)
            return None if value is None else getattr(value, name)

        return evaluate, part

    def _item(self, node: ast.Subscript) -> tuple[Evaluate, Shape]:
        if isinstance(node.slice, ast.Slice):
            raise self._refusal(node, "slices are not supported; use single items, as in stack[0].")
        whole, shape = self._node(node.value)
        place, _ = self._node(node.slice)

        def evaluate(scope: Scope) -> Any:
            value, index = whole(scope), place(scope)
            if value is None or index is None:
                return None
            if not isinstance(value, tuple | str) or type(index) is not int:
                raise Stuck(f"{word_for(value)} has no item {word_for(index)}")
            return value[index] if -len(value) <= index < len(value) else None

        return evaluate, shape.items or PLAIN

    def _list(self, node: ast.Tuple | ast.List) -> Evaluate:
        items = [self._node(item)[0] for item in node.elts]
        return lambda scope: list_of(item(scope) for item in items)

    # Operators

    def _comparison(self, node: ast.Compare) -> Evaluate:
        operands = [self._node(one)[0] for one in (node.left, *node.comparators)]
        tests: list[Callable[[Work, Any, Any], bool]] = []
        for sign, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(sign, ast.Is | ast.IsNot) and not _is_none(right):
                raise self._refusal(right, "“is” works only with None; write == instead.")
            tests.append(COMPARISONS[type(sign)])
        if len(tests) == 1:
            (first, second), (only,) = operands, tests
            return lambda scope: only(scope.work, first(scope), second(scope))

        def evaluate(scope: Scope) -> bool:
            left = operands[0](scope)
            for test, operand in zip(tests, operands[1:], strict=True):
                right = operand(scope)
                if not test(scope.work, left, right):
                    return False
                left = right
            return True

        return evaluate

    def _and_or(self, node: ast.BoolOp) -> tuple[Evaluate, Shape]:
        compiled = [self._node(value) for value in node.values]
        *first, last = [one for one, _ in compiled]
        ends_at = isinstance(node.op, ast.Or)

        def evaluate(scope: Scope) -> Any:
            for one in first:
                value = one(scope)
                if bool(value) is ends_at:
                    return value
            return last(scope)

        return evaluate, _common([shape for _, shape in compiled])

    def _unary(self, node: ast.UnaryOp) -> Evaluate:
        operand, _ = self._node(node.operand)
        match node.op:
            case ast.Not():
                return lambda scope: not operand(scope)
            case ast.USub():
                return lambda scope: calculated(ast.Sub, 0, operand(scope))
            case ast.UAdd():
                return lambda scope: calculated(ast.Add, 0, operand(scope))
        raise self._refusal(node, "~ cannot be used in an expression.")

    def _arithmetic(self, node: ast.BinOp) -> Evaluate:
        kind = type(node.op)
        if kind not in CALCULATIONS:
            signs = ", ".join(sign for sign, _ in CALCULATIONS.values())
            raise self._refusal(
                node, f"the operators are {signs}; others, such as powers, are not supported."
            )
        for operand in (node.left, node.right):
            is_text = isinstance(operand, ast.Constant) and isinstance(operand.value, str)
            if is_text or isinstance(operand, ast.Tuple | ast.List | ast.ListComp):
                raise self._refusal(operand, f"{CALCULATIONS[kind][0]} works only with numbers.")
        left, right = self._node(node.left)[0], self._node(node.right)[0]
        return lambda scope: calculated(kind, left(scope), right(scope))

    def _choice(self, node: ast.IfExp) -> tuple[Evaluate, Shape]:
        test, _ = self._node(node.test)
        (first, shape), (second, other) = self._node(node.body), self._node(node.orelse)
        return lambda scope: first(scope) if test(scope) else second(scope), _common([shape, other])

    # Functions

    def _call(self, node: ast.Call) -> Evaluate:
        function = self._function(node)
        if node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
            raise self._refusal(node, f"arguments cannot be given by name; write {function.usage}.")
        if not function.least <= len(node.args) <= function.most:
            raise self._refusal(
                node, f"wrong number of arguments ({len(node.args)}); write {function.usage}."
            )
        arguments = [self._argument(one, function) for one in node.args]
        if function.name == "matches":
            arguments[1] = self._pattern(node.args[1])
        call = function.call
        return lambda scope: call(scope.work, *[argument(scope) for argument in arguments])

    def _function(self, node: ast.Call) -> Function:
        if not isinstance(node.func, ast.Name):
            names = ", ".join(FUNCTIONS)
            raise self._refusal(node, f"only these functions can be called: {names}.")
        function = FUNCTIONS.get(node.func.id)
        if function is None:
            raise self._refusal(
                node, f"there is no function “{node.func.id}”; {nearest(node.func.id, FUNCTIONS)}"
            )
        return function

    def _argument(self, node: ast.expr, function: Function) -> Evaluate:
        if not isinstance(node, ast.GeneratorExp):
            return self._node(node)[0]
        if not function.takes_several:
            raise self._refusal(node, f"{function.name} does not take “for”; write {function.usage}.")
        return self._walk(node)

    def _pattern(self, node: ast.expr) -> Evaluate:
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            raise self._refusal(node, "the regular expression must be written here, in quotes.")
        try:
            pattern = compiled_pattern(node.value)
        except ValueError as error:
            raise self._refusal(node, str(error)) from error
        return lambda scope: pattern

    def _walk(self, node: ast.GeneratorExp | ast.ListComp) -> Callable[[Scope], Iterator[Any]]:
        """Return what gives the values of a ``for``, one by one as they are wanted."""
        clauses: list[tuple[str, Evaluate, list[Evaluate]]] = []
        for generator in node.generators:
            target = generator.target
            if generator.is_async or not isinstance(target, ast.Name):
                raise self._refusal(target, "“for” takes one name, as in for e in page.elements.")
            if target.id in self._variables or SUBJECT.part(target.id) is not None or target.id in FUNCTIONS:
                raise self._refusal(target, f"the name “{target.id}” is already used; choose another one.")
            source, shape = self._node(generator.iter)
            self._variables[target.id] = shape.items or PLAIN
            clauses.append((target.id, source, [self._node(test)[0] for test in generator.ifs]))
        element, _ = self._node(node.elt)
        for name, _, _ in clauses:
            del self._variables[name]
        cost, last = _size(node), len(clauses) - 1

        def walk(scope: Scope, level: int = 0) -> Iterator[Any]:
            name, source, tests = clauses[level]
            for item in items_of(source(scope)):
                scope.work.spend(cost)
                scope.variables[name] = item
                if tests and not all(test(scope) for test in tests):
                    continue
                if level == last:
                    yield element(scope)
                else:
                    yield from walk(scope, level + 1)

        return walk


def _size(node: ast.AST) -> int:
    """Return of how many values, names, operators and calls an expression is made."""
    return sum(isinstance(one, ast.expr | ast.comprehension) for one in ast.walk(node))


def _common(shapes: list[Shape]) -> Shape:
    return shapes[0] if all(shape == shapes[0] for shape in shapes) else PLAIN


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _called(node: ast.expr) -> str:
    return {
        "Lambda": "lambda",
        "NamedExpr": ":=",
        "JoinedStr": "text with an f before it",
        "Dict": "{ }",
        "DictComp": "{ }",
        "Set": "{ }",
        "SetComp": "{ }",
        "Starred": "*",
        "Await": "await",
        "Yield": "yield",
        "YieldFrom": "yield",
    }.get(type(node).__name__, "this")
