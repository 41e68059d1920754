"""Synapse's actions, which are Python that calls an `agent`, as actions of this program, and back.

The code is read and never run: a handful of constructs (assignments of plain
values, loops over ranges, conditions on them) is worked out here, with a limit
on how much. What goes beyond is kept as it is written.
"""

import ast
import io
import operator
import re
import tokenize
from collections.abc import Callable, Iterable
from typing import Any

from core.schema.action import (
    Action,
    Click,
    FocusTarget,
    Hover,
    Press,
    RefTarget,
    Select,
    Type,
    XPathTarget,
    parse_action,
)
from core.schema.errors import ActionSyntaxError
from core.schema.record import Record
from core.trace.imports.records import FaultyError

MOST_ACTIONS = 300
_MOST_NUMBER = 10**6
_MOST_TEXT = 20_000
_KEYS = {
    "enter": "Enter",
    "space": "Space",
    "backspace": "Backspace",
    "arrowleft": "ArrowLeft",
    "arrowright": "ArrowRight",
    "arrowup": "ArrowUp",
    "arrowdown": "ArrowDown",
    "command+a": "Control+a",
    "command+c": "Control+c",
    "command+v": "Control+v",
}
"""Keys by Synapse's names; its command key is the one that copies and pastes here."""
_REF = re.compile(r"""//(?:\*|\w+)\[@data-wob_ref=(['"])(\d{1,9})\1\]""")
_OPTION = re.compile(r"""//option\[\s*text\(\)\s*=\s*(?:'([^']*)'|"([^"]*)")\s*\]""")


class Code(Record):
    """What a piece of code says."""

    actions: tuple[str, ...]
    thought: str = ""
    """Its comments, a line each."""
    remarks: tuple[str, ...] = ()


class _NotPlainError(Exception):
    """A construct that is not worked out here."""


def read_code(code: str) -> Code:
    """Return the actions of a piece of code; raises FaultyError where it has none."""
    if len(code) > _MOST_TEXT:
        raise FaultyError(f"its code has {len(code)} characters, more than {_MOST_TEXT}")
    try:
        tree = ast.parse(code)
        thought = _comments(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        return _kept(code, "its code is not valid Python")
    reader = _Reader()
    try:
        reader.take(tree.body)
    except (_NotPlainError, RecursionError) as error:
        return _kept(code, str(error) or "its code is nested too deeply", thought)
    if not reader.actions:
        raise FaultyError("it has no action")
    return Code(actions=tuple(str(one) for one in reader.actions), thought=thought)


def write_code(thought: str, actions: Iterable[str]) -> str:
    """Return code that says so to Synapse; what it has no word for is a comment."""
    lines = [f"# {line}" if line else "#" for line in thought.split("\n")] if thought else []
    for text in actions:
        try:
            code = _written(parse_action(text))
        except ActionSyntaxError:
            code = ""
        lines.append(code or "# ACTION: " + " ".join(text.split()))
    return "\n".join(lines)


def _kept(code: str, why: str, thought: str = "") -> Code:
    """Return the lines of the code as they are written."""
    lines = tuple(line for line in code.split("\n") if line.strip() and not line.lstrip().startswith("#"))
    if not lines:
        raise FaultyError("it has no action")
    return Code(actions=lines, thought=thought, remarks=(f"Its code is kept as it is written, as {why}.",))


def _comments(code: str) -> str:
    found: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT:
            text = token.string[1:]
            found.append(text.removeprefix(" "))
    return "\n".join(found)


class _Reader:
    """Works statements out, in order."""

    def __init__(self) -> None:
        self.actions: list[Action] = []
        self._names: dict[str, Any] = {}
        self._rounds = 0

    def take(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._names[name] = self._value(value)
                case ast.Expr(
                    value=ast.Call(func=ast.Attribute(value=ast.Name(id="agent"), attr=method)) as call
                ):
                    self._call(method, call)
                case ast.Expr(value=ast.Constant()) | ast.Pass():
                    pass
                case ast.For(target=ast.Name(id=name), iter=over, body=body, orelse=[]):
                    for value in self._many(over):
                        self._names[name] = value
                        self.take(body)
                case ast.If(test=test, body=body, orelse=orelse):
                    self.take(body if self._value(test) else orelse)
                case _:
                    raise _NotPlainError(f"line {statement.lineno} does more than call the agent")

    def _call(self, method: str, call: ast.Call) -> None:
        make = _METHODS.get(method)
        if make is None:
            raise _NotPlainError(f"line {call.lineno} calls agent.{method}, which is not known here")
        given = [*call.args, *(one.value for one in call.keywords)]
        value = self._value(given[0]) if len(given) == 1 else None
        if not isinstance(value, str) or not value:
            raise _NotPlainError(f"line {call.lineno} gives agent.{method} something other than one text")
        if len(self.actions) >= MOST_ACTIONS:
            raise _NotPlainError(f"it comes to more than {MOST_ACTIONS} actions")
        try:
            self.actions.append(make(value))
        except ValueError as error:
            raise _NotPlainError(f"line {call.lineno} gives agent.{method} what it cannot use") from error

    def _many(self, node: ast.expr) -> Iterable[Any]:
        found = self._value(node)
        if not isinstance(found, (list, tuple, range)):
            raise _NotPlainError(f"line {node.lineno} goes through something other than a list")
        self._rounds += len(found)
        if self._rounds > 10 * MOST_ACTIONS:
            raise _NotPlainError(f"it comes to more than {MOST_ACTIONS} actions")
        return found

    def _value(self, node: ast.expr) -> Any:
        try:
            found = self._worked_out(node)
        except (TypeError, ArithmeticError, ValueError, LookupError) as error:
            raise _NotPlainError(f"line {node.lineno} cannot be worked out without running it") from error
        if isinstance(found, (int, float)) and abs(found) > _MOST_NUMBER:
            raise _NotPlainError(f"line {node.lineno} has too large a number")
        if isinstance(found, str) and len(found) > _MOST_TEXT:
            raise _NotPlainError(f"line {node.lineno} has too long a text")
        return found

    def _worked_out(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=(str() | int() | float() | None) as value):
                return value
            case ast.Name(id=name) if name in self._names:
                return self._names[name]
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return [self._value(part) for part in parts]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._number(operand)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self._value(operand)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                first, second = self._value(left), self._value(right)
                if isinstance(first, str) and isinstance(second, str):
                    return first + second
                return self._checked(first) + self._checked(second)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _SUMS:
                return _SUMS[type(op)](self._number(left), self._number(right))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARED:
                return _COMPARED[type(op)](self._value(left), self._value(right))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._value(body if self._value(test) else orelse)
            case ast.JoinedStr(values=parts):
                return "".join(self._formatted(part) for part in parts)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
                return _FUNCTIONS[name](*(self._value(one) for one in args))
        raise _NotPlainError(f"line {node.lineno} cannot be worked out without running it")

    def _number(self, node: ast.expr) -> Any:
        return self._checked(self._value(node))

    @staticmethod
    def _checked(value: Any) -> Any:
        if not isinstance(value, (int, float)):
            raise TypeError("not a number")
        return value

    def _formatted(self, part: ast.expr) -> str:
        if isinstance(part, ast.FormattedValue):
            if part.format_spec is not None or part.conversion != -1:
                raise TypeError("a format")
            return str(self._value(part.value))
        return str(self._value(part))


def _click(xpath: str) -> Action:
    return Click(target=_target(xpath))


def _click_option(xpath: str) -> Action:
    option = _OPTION.search(xpath)
    label = (option[1] if option[1] is not None else option[2]) if option else ""
    # The select is what an option lies in.
    return Select(target=XPathTarget(xpath=f"{xpath}/.."), option=label) if label else _click(xpath)


def _target(xpath: str) -> RefTarget | XPathTarget:
    """Return the element by its number where the XPath names it by that of the page's HTML."""
    match = _REF.fullmatch(xpath)
    return RefTarget(ref=int(match[2])) if match else XPathTarget(xpath=xpath)


_METHODS: dict[str, Callable[[str], Action]] = {
    "click_xpath": _click,
    "click_option": _click_option,
    "movemouse": lambda xpath: Hover(target=_target(xpath)),
    "type": lambda text: Type(target=FocusTarget(), text=text, append=True),
    "press": lambda key: Press(keys=_KEYS.get(key.lower(), key)),
}
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


def _written(action: Action) -> str:
    """Return the call for an action, or nothing where Synapse has none."""
    match action:
        case Click(target=target):
            return _on("click_xpath", _xpath(target))
        case Hover(target=target):
            return _on("movemouse", _xpath(target))
        case Select(target=XPathTarget(xpath=xpath)) if xpath.endswith("/.."):
            return _on("click_option", xpath.removesuffix("/.."))
        case Type(target=target, text=text):
            before = "" if isinstance(target, FocusTarget) else _on("click_xpath", _xpath(target))
            if not before and not isinstance(target, FocusTarget):
                return ""
            after = 'agent.press("enter")' if action.enter else ""
            return "\n".join(line for line in (before, _on("type", text), after) if line)
        case Press(keys=keys):
            names = {ours: theirs for theirs, ours in _KEYS.items()}
            return _on("press", names.get(keys, keys))
    return ""


def _on(method: str, text: str) -> str:
    return f"agent.{method}({text!r})" if text else ""


def _xpath(target: object) -> str:
    if isinstance(target, XPathTarget):
        return target.xpath
    return f"//*[@data-wob_ref='{target.ref}']" if isinstance(target, RefTarget) else ""
