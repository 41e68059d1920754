"""What kind of value each name of an expression stands for, read from the models of the subject."""

import ast
import inspect
import types
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from itertools import pairwise
from textwrap import dedent
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from core.schema.record import Record

_WORDS = {str: "text", int: "number", float: "number", bool: "true or false"}


class Shape(Record):
    """A model with parts, several of one shape, or a plain value."""

    model: type[BaseModel] | None = None
    items: "Shape | None" = None
    """What each of several is."""
    word: str = "value"
    """What it is called in help."""

    def part(self, name: str) -> "Shape | None":
        """Return the shape of the part of that name, or None where there is none."""
        if self.model is None or name not in self.model.model_fields:
            return None
        return _shape(self.model.model_fields[name].annotation)

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(self.model.model_fields) if self.model is not None else ()

    def help(self, name: str) -> str:
        """Return what the docstring says of a part."""
        return "" if self.model is None else _help_of(self.model).get(name, "")


PLAIN = Shape()


def shape_of(model: type[BaseModel]) -> Shape:
    """Return the shape of a model."""
    return Shape(model=model, word=model.__name__.removesuffix("Part").lower())


def _shape(annotation: Any) -> Shape:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return _shape(next(one for one in arguments if one is not type(None)))
    if origin is tuple:
        items = _shape(arguments[0])
        return Shape(items=items, word=f"several of {items.word}")
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return shape_of(annotation)
    return Shape(word="text" if origin is Literal else _WORDS.get(annotation, "value"))


@cache
def _help_of(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstrings below the fields of a model, read from its source when first asked for.

    Pydantic could read them as well, but does so whenever the program starts.
    """
    (tree,) = ast.parse(dedent(inspect.getsource(model))).body
    assert isinstance(tree, ast.ClassDef)
    found: dict[str, str] = {}
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
