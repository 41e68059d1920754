"""The names of an expression: the shapes of their values, and completion while typing."""

import ast
import inspect
import re
import types
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from itertools import pairwise
from textwrap import dedent
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from core.debugger.breakpoints.operations import FUNCTIONS
from core.debugger.breakpoints.subject import EventSubject
from core.schema.record import Record

_WORDS = {str: "text", int: "a number", float: "a number", bool: "true or false"}


class Shape(Record):
    """A model with parts, several of one shape, or a plain value."""

    model: type[BaseModel] | None = None
    items: "Shape | None" = None
    """What each of several is."""
    word: str = "a value"
    """What it is called in a sentence."""

    def part(self, name: str) -> "Shape | None":
        """Return the shape of the part of that name, or None if there is none."""
        if self.model is None or name not in self.model.model_fields:
            return None
        return _shape(self.model.model_fields[name].annotation)

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(self.model.model_fields) if self.model is not None else ()

    def help(self, name: str) -> str:
        """Return what the docstring says of a part."""
        return "" if self.model is None else help_of(self.model).get(name, "")


PLAIN = Shape()


def shape_of(model: type[BaseModel]) -> Shape:
    """Return the shape of a model."""
    return Shape(model=model, word=_with_article(model.__name__.removesuffix("Part").lower()))


def _with_article(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def _shape(annotation: Any) -> Shape:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return _shape(next(argument for argument in arguments if argument is not type(None)))
    if origin is tuple:
        items = _shape(arguments[0])
        return Shape(items=items, word="a list")
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return shape_of(annotation)
    return Shape(word="text" if origin is Literal else _WORDS.get(annotation, "a value"))


SUBJECT = shape_of(EventSubject)
"""What expressions are over."""


@cache
def help_of(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstrings below the fields of a model, read from its source when first asked for.

    Pydantic could read them as well, but does so whenever the program starts.
    """
    (tree,) = ast.parse(dedent(inspect.getsource(model))).body
    assert isinstance(tree, ast.ClassDef)
    bases = (base for base in model.__bases__ if issubclass(base, Record) and base is not Record)
    found = {name: words for base in bases for name, words in help_of(base).items()}
    for field, below in pairwise(tree.body):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str() as text)),
            ):
                found[name] = inspect.cleandoc(text)
    return found


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that says which of the names may have been meant."""
    names = list(known)
    close = get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]}?"
    return f"there {'is' if len(names) == 1 else 'are'} {', '.join(names)}." if names else "there is none."


_CHAIN = re.compile(r"(?:[A-Za-z_]\w*(?:\[-?\d{1,9}\])?\.)*(?:[A-Za-z_]\w*)?\Z")
_LOOP = re.compile(r"\bfor\s+([A-Za-z_]\w*)\s+in\s+([A-Za-z_][\w.]*(?:\[-?\d{1,9}\])?)")
_INDEX = re.compile(r"\[.*\]\Z")
_FAR = 1000
"""Characters before and after the cursor that are looked at."""


class Completion(Record):
    """A name that can be inserted at the cursor."""

    name: str
    kind: Literal["part", "value", "function", "variable", "key", "heading"]
    """A ``part`` has parts of its own; a ``variable`` is what a ``for`` names, or a value of a template."""
    doc: str = ""


def completions(text: str, cursor: int) -> tuple[Completion, ...]:
    """Return what may stand at the cursor and begins with what is written there, parts first.

    Inside of quotes nothing is offered.
    """
    head = text[max(cursor - _FAR, 0) : cursor]
    if in_quotes(head):
        return ()
    chain = _CHAIN.search(head)
    written = chain[0] if chain is not None else ""
    *way, begun = written.split(".")
    variables = _variables(text[: cursor + _FAR])
    if way:
        shape = _shape_of_chain(way, variables)
        found = _parts(shape) if shape is not None else ()
    else:
        named = tuple(
            Completion(name=name, kind="variable", doc=f"One after the other, {shape.word}.")
            for name, shape in variables.items()
        )
        functions = tuple(Completion(name=name, kind="function", doc=doc) for name, doc in FUNCTIONS.items())
        found = (*named, *_parts(SUBJECT), *functions)
    return tuple(one for one in found if one.name.casefold().startswith(begun.casefold()))


def _parts(shape: Shape) -> tuple[Completion, ...]:
    found = []
    for name in shape.parts:
        part = shape.part(name)
        has_parts = part is not None and (part.parts or part.items is not None)
        found.append(Completion(name=name, kind="part" if has_parts else "value", doc=shape.help(name)))
    return tuple(found)


def _variables(text: str) -> dict[str, Shape]:
    """Return the names that ``for`` gives, each with what it stands for."""
    found: dict[str, Shape] = {}
    for name, source in _LOOP.findall(text):
        shape = _shape_of_chain(source.split("."), found)
        if shape is not None and shape.items is not None:
            found[name] = shape.items
    return found


def _shape_of_chain(way: list[str], variables: dict[str, Shape]) -> Shape | None:
    shape: Shape | None = None
    for place, step in enumerate(way):
        name = _INDEX.sub("", step)
        shape = variables.get(name) or SUBJECT.part(name) if place == 0 else shape and shape.part(name)
        if shape is not None and name != step:
            shape = shape.items
        if shape is None:
            return None
    return shape


def in_quotes(text: str) -> bool:
    """Return whether a text ends inside of quotes."""
    quote, escaped = "", False
    for sign in text:
        if escaped:
            escaped = False
        elif sign == "\\":
            escaped = True
        elif quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
    return bool(quote)
