"""Converts Synapse's actions, which are Python calls of an `agent`, to actions of this program, and back.

The code is parsed and never run: assignments of plain values, loops over ranges and conditions are evaluated,
with a limit. Other code is kept unchanged.
"""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterable
from typing import Any

from core.memory.exchange.plain_python import NotPlainError, PlainValues
from core.schema.action import Action, Click, FocusTarget, Hover, Press, RefTarget, Select, Type, XPathTarget
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError
from core.schema.record import Record
from core.trace.imports.records import FaultyError

MOST_ACTIONS = 300
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


def read_code(code: str) -> Code:
    """Return the actions of a piece of code; raises FaultyError if it has none."""
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
    except (NotPlainError, RecursionError) as error:
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
    return Code(actions=lines, thought=thought, remarks=(f"Its code is kept unchanged, because {why}.",))


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
        self._values = PlainValues(_MOST_TEXT)
        self._rounds = 0

    def take(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._values.names[name] = self._values.of(value)
                case ast.Expr(
                    value=ast.Call(func=ast.Attribute(value=ast.Name(id="agent"), attr=method)) as call
                ):
                    self._call(method, call)
                case ast.Expr(value=ast.Constant()) | ast.Pass():
                    pass
                case ast.For(target=ast.Name(id=name), iter=over, body=body, orelse=[]):
                    for value in self._many(over):
                        self._values.names[name] = value
                        self.take(body)
                case ast.If(test=test, body=body, orelse=orelse):
                    self.take(body if self._values.of(test) else orelse)
                case _:
                    raise NotPlainError(f"line {statement.lineno} does more than call the agent")

    def _call(self, method: str, call: ast.Call) -> None:
        make = _METHODS.get(method)
        if make is None:
            raise NotPlainError(f"line {call.lineno} calls agent.{method}, which is not supported")
        given = [*call.args, *(one.value for one in call.keywords)]
        value = self._values.of(given[0]) if len(given) == 1 else None
        if not isinstance(value, str) or not value:
            raise NotPlainError(f"line {call.lineno} gives agent.{method} something other than one text")
        if len(self.actions) >= MOST_ACTIONS:
            raise NotPlainError(f"it comes to more than {MOST_ACTIONS} actions")
        try:
            self.actions.append(make(value))
        except ValueError as error:
            raise NotPlainError(f"line {call.lineno} gives agent.{method} what it cannot use") from error

    def _many(self, node: ast.expr) -> Iterable[Any]:
        found = self._values.of(node)
        if not isinstance(found, (list, tuple, range)):
            raise NotPlainError(f"line {node.lineno} loops over something other than a list")
        self._rounds += len(found)
        if self._rounds > 10 * MOST_ACTIONS:
            raise NotPlainError(f"it comes to more than {MOST_ACTIONS} actions")
        return found


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


def _written(action: Action) -> str:
    """Return the call for an action, or nothing if Synapse has none."""
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
