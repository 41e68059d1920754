"""What may come next where an expression is being written."""

import re
from typing import Literal

from core.debugger.breakpoints.expression import SUBJECT
from core.debugger.breakpoints.operations import FUNCTIONS
from core.debugger.breakpoints.shapes import Shape
from core.schema.record import Record

_CHAIN = re.compile(r"(?:[A-Za-z_]\w*(?:\[-?\d{1,9}\])?\.)*(?:[A-Za-z_]\w*)?\Z")
_LOOP = re.compile(r"\bfor\s+([A-Za-z_]\w*)\s+in\s+([A-Za-z_][\w.]*(?:\[-?\d{1,9}\])?)")
_INDEX = re.compile(r"\[.*\]\Z")
_FAR = 1000
"""Characters before and after the cursor that are looked at."""


class Completion(Record):
    """A name that may stand at the cursor."""

    name: str
    kind: Literal["part", "value", "function", "variable"]
    """A ``part`` has parts of its own; a ``variable`` is what a ``for`` names."""
    doc: str = ""


def completions(text: str, cursor: int) -> tuple[Completion, ...]:
    """Return what may stand at the cursor and begins with what is written there, parts first.

    Inside of quotes nothing is offered.
    """
    head = text[max(cursor - _FAR, 0) : cursor]
    if _in_quotes(head):
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
            Completion(name=name, kind="variable", doc=f"Each {shape.word} in turn.")
            for name, shape in variables.items()
        )
        functions = tuple(
            Completion(name=one.name, kind="function", doc=f"{one.usage}: {one.doc}")
            for one in FUNCTIONS.values()
        )
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


def _in_quotes(text: str) -> bool:
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
