"""Runs a parser's code on a page, in one of the three forms it may have.

- It defines a function `parse` that takes the HTML (and, if it wants, a
  parameter called `task`) and returns the text.
- It assigns the text to the variable `obs`.
- It is the body of such a function and ends with `return`.

In each form the variables `state` and `html` hold the page's HTML and `task`
the task. Where `obs` was assigned, it is the result and `parse` is not called.
"""

import ast
import errno
from types import CodeType, FunctionType
from typing import Any

from core.sandbox.inside.guards import NotAllowed, NotImportable

FILE = "<parser>"
"""What tracebacks call the code."""
_MESSAGE_LENGTH = 300


class Unusable(Exception):
    """The code is not a parser or its result is not text; the text is a sentence."""


def run(code: str, html: str, task: str, builtins: dict[str, Any]) -> str:
    """Return the text that the code makes of the page.

    Raises Unusable, and whatever the code raises.
    """
    names: dict[str, Any] = {
        "__name__": "parser",
        "__builtins__": builtins,
        "state": html,
        "html": html,
        "task": task,
    }
    exec(_compiled(code), names)
    if "obs" in names:
        return _text(names["obs"], "The variable obs holds")
    if "parse" in names and callable(names["parse"]):
        parse = names["parse"]
        return _text(parse(**_arguments(parse, html, task)), "The function parse returned")
    raise Unusable(
        "The code neither defines a function parse(html) nor assigns the variable obs nor returns a text."
    )


def sentence_of(error: BaseException) -> str:
    """Return what went wrong in one line, with the line of the code where it did."""
    if isinstance(error, (Unusable, NotAllowed, NotImportable)):
        return str(error)
    if isinstance(error, SyntaxError) and error.filename == FILE:
        return f"The code is not valid Python: {error.msg} (line {error.lineno})."
    where = _place(error)
    if isinstance(error, OSError) and error.errno in (errno.EPERM, errno.EACCES):
        return f"The code used something of the system that a parser may not use{where}."
    if isinstance(error, SystemExit):
        return f"The code exited instead of returning a text{where}."
    message = f"{type(error).__name__}: {error}".rstrip(": ")
    if len(message) > _MESSAGE_LENGTH:
        message = message[: _MESSAGE_LENGTH - 1] + "…"
    return f"The code failed{where}: {message.rstrip('.')}."


def _compiled(code: str) -> CodeType:
    tree = ast.parse(code, FILE)
    if any(_returns(statement) for statement in tree.body):
        body = ast.parse("def parse(html): pass", FILE)
        function = body.body[0]
        assert isinstance(function, ast.FunctionDef)
        function.body = tree.body
        tree = body
    return compile(tree, FILE, "exec", dont_inherit=True)


def _returns(node: ast.AST) -> bool:
    """Whether a return statement stands in this node outside any function."""
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
        return False
    return any(_returns(child) for child in ast.iter_child_nodes(node))


def _arguments(parse: Any, html: str, task: str) -> dict[str, str]:
    """Return the HTML for the first parameter that is not called task, and the task for that one."""
    if not isinstance(parse, FunctionType):
        raise Unusable("parse is not a function that the code defines with def.")
    names = parse.__code__.co_varnames[: parse.__code__.co_argcount]
    page = next((name for name in names if name != "task"), None)
    if page is None:
        raise Unusable("The function parse has no parameter for the HTML; define it as parse(html).")
    return {page: html, "task": task} if "task" in names else {page: html}


def _text(result: object, what: str) -> str:
    if not isinstance(result, str):
        raise Unusable(f"{what} a value of type {type(result).__name__}, not a text.")
    text = str.__str__(result)
    if not text.strip():
        raise Unusable("The code returned an empty text.")
    return text


def _place(error: BaseException) -> str:
    """Return " in line N" for the innermost line of the code, or nothing."""
    line, step = 0, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == FILE:
            line = step.tb_lineno
        step = step.tb_next
    return f" in line {line}" if line else ""
