"""Converts Synapse's actions, which are Python calls of an `agent`, to actions of this program, and back.

The code is parsed and never run: assignments of plain values, loops over ranges and conditions are evaluated,
with a limit. Other code is kept unchanged.
"""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterable

from core.exemplars.exchange.plain_python import NotPlainError, PlainValues
from core.schema.action import Action, Click, FocusTarget, Hover, Press, RefTarget, Select, Type, XPathTarget
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError
from core.schema.record import Record
from core.trace.imports.records import FaultyError

MOST_ACTIONS = 300
_MOST_TEXT = 20_000
_OURS = "Enter Space Backspace ArrowLeft ArrowRight ArrowUp ArrowDown".split()
_KEYS = {key.lower(): key for key in _OURS} | {f"command+{key}": f"Control+{key}" for key in "acv"}
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
    thought = ""
    reader = _Reader()
    try:
        tree = ast.parse(code)
        tokens = tokenize.generate_tokens(io.StringIO(code).readline)
        comments = (token.string[1:].removeprefix(" ") for token in tokens if token.type == tokenize.COMMENT)
        thought = "\n".join(comments)
        reader.take(tree.body)
    except NotPlainError as error:
        why = str(error)
    except (SyntaxError, ValueError, MemoryError, tokenize.TokenError):
        why = "its code is not valid Python"
    except RecursionError:
        why = "its code is nested too deeply"
    else:
        if not reader.actions:
            raise FaultyError("it has no action")
        return Code(actions=tuple(map(str, reader.actions)), thought=thought)
    lines = tuple(line for line in code.split("\n") if line.strip() and not line.lstrip().startswith("#"))
    if not lines:
        raise FaultyError("it has no action")
    return Code(actions=lines, thought=thought, remarks=(f"Its code is kept unchanged, because {why}.",))


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
                    rounds = self._values.of(over)
                    if not isinstance(rounds, (list, range)):
                        raise NotPlainError(f"line {over.lineno} loops over something other than a list")
                    self._rounds += len(rounds)
                    if self._rounds > 10 * MOST_ACTIONS:
                        raise NotPlainError(f"it comes to more than {MOST_ACTIONS} actions")
                    for self._values.names[name] in rounds:
                        self.take(body)
                case ast.If(test=test, body=body, orelse=orelse):
                    self.take(body if self._values.of(test) else orelse)
                case _:
                    raise NotPlainError(f"line {statement.lineno} does more than call the agent")

    def _call(self, method: str, call: ast.Call) -> None:
        if method not in _METHODS:
            raise NotPlainError(f"line {call.lineno} calls agent.{method}, which is not supported")
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        value = self._values.of(given[0]) if len(given) == 1 else None
        if not isinstance(value, str) or not value:
            raise NotPlainError(f"line {call.lineno} gives agent.{method} something other than one text")
        if len(self.actions) >= MOST_ACTIONS:
            raise NotPlainError(f"it comes to more than {MOST_ACTIONS} actions")
        try:
            self.actions.append(_METHODS[method](value))
        except ValueError as error:
            raise NotPlainError(f"line {call.lineno} gives agent.{method} what it cannot use") from error


def _target(xpath: str) -> RefTarget | XPathTarget:
    """Return the element by its number where the XPath names it by that of the page's HTML."""
    match = _REF.fullmatch(xpath)
    return RefTarget(ref=int(match[2])) if match else XPathTarget(xpath=xpath)


def _click_option(xpath: str) -> Action:
    option = _OPTION.search(xpath)
    label = option and (option[1] or option[2])
    # The select is what an option lies in.
    return (
        Select(target=XPathTarget(xpath=f"{xpath}/.."), option=label)
        if label
        else _METHODS["click_xpath"](xpath)
    )


_METHODS: dict[str, Callable[[str], Action]] = {
    "click_xpath": lambda xpath: Click(target=_target(xpath)),
    "click_option": _click_option,
    "movemouse": lambda xpath: Hover(target=_target(xpath)),
    "type": lambda text: Type(target=FocusTarget(), text=text, append=True),
    "press": lambda key: Press(keys=_KEYS.get(key.lower(), key)),
}


def write_code(thought: str, actions: Iterable[str]) -> str:
    """Return code that says so to Synapse; what it has no word for is a comment."""
    lines = [f"# {line}" if line else "#" for line in thought.split("\n")] if thought else []
    for text in actions:
        try:
            calls = _calls(parse_action(text))
        except ActionSyntaxError:
            calls = []
        if all(said for _, said in calls):
            lines += [f"agent.{method}({said!r})" for method, said in calls]
        if not calls or not all(said for _, said in calls):
            lines.append("# ACTION: " + " ".join(text.split()))
    return "\n".join(lines)


def _calls(action: Action) -> list[tuple[str, str]]:
    """Return the calls for an action, each a method with its argument; an empty one cannot be said to Synapse."""
    match action:
        case Click(target=target):
            return [("click_xpath", _xpath(target))]
        case Hover(target=target):
            return [("movemouse", _xpath(target))]
        case Select(target=XPathTarget(xpath=xpath)) if xpath.endswith("/.."):
            return [("click_option", xpath.removesuffix("/.."))]
        case Type(target=target, text=text):
            before = [] if isinstance(target, FocusTarget) else [("click_xpath", _xpath(target))]
            typed = [("type", text)] if text else []
            return [*before, *typed, *([("press", "enter")] if action.enter else [])]
        case Press(keys=keys):
            return [("press", next((theirs for theirs, ours in _KEYS.items() if ours == keys), keys))]
    return []


def _xpath(target: object) -> str:
    if isinstance(target, XPathTarget):
        return target.xpath
    return f"//*[@data-wob_ref='{target.ref}']" if isinstance(target, RefTarget) else ""
