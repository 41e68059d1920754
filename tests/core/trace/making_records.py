"""Hypothesis strategies for records, drawn from the models' own fields."""

import functools
import types
import typing
from typing import Any, Literal, Union

from hypothesis import strategies as st
from pydantic import BaseModel

from core.schema import action as actions
from core.schema.exemplar import FORMAT, Contrast, Exemplar, ExemplarStep, KeptPrompt
from core.schema.step import CallRecord, Observed

TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=20)
"""Any text, halves of surrogate pairs and NUL included."""
NUMBERS = st.integers(min_value=-(2**53), max_value=2**53)
COUNTS = st.integers(min_value=0, max_value=2**53)
FLOATS = st.floats(allow_nan=False)
SOME = st.text(max_size=20).filter(str.strip)
"""What pydantic takes for text with a least length: whole characters."""

PLACES = st.sampled_from(["", "0,1", "0.25,0.5"])

_NARROWER: dict[type[BaseModel], dict[str, st.SearchStrategy[Any]]] = {
    actions.RefTarget: {"ref": st.integers(min_value=0, max_value=10**9 - 1)},
    actions.RoleTarget: {"role": st.sampled_from(["button", "menu-item", "link"])},
    actions.XPathTarget: {"xpath": SOME},
    actions.Press: {"keys": SOME},
    actions.DoubleClick: {"at": PLACES},
    actions.RightClick: {"at": PLACES},
    actions.Hover: {"at": PLACES},
    actions.Click: {"at": PLACES, "keys": st.sampled_from(["", "Shift", "Control+Alt"])},
    actions.ClickAt: {name: st.integers(0, 99_999) for name in ("x", "y")},
    actions.SelectText: {"nth": st.integers(0, 10**6)},
    actions.Drag: {"from_at": PLACES, "to_at": PLACES},
    actions.Upload: {"path": SOME},
    actions.Goto: {"url": SOME},
    actions.TabFocus: {"index": COUNTS},
    actions.Backtrack: {"step": COUNTS.map(lambda number: number + 1)},
    ExemplarStep: {"actions": st.lists(TEXT, min_size=1, max_size=3).map(tuple)},
    Contrast: {name: st.text(min_size=1, max_size=20) for name in ("tried", "right")},
    KeptPrompt: {"name": st.text(min_size=1, max_size=20)},
    actions.Named: {"name": st.sampled_from(["buy_now", "Search", "find_flight2"])},
    actions.Wait: {"seconds": st.floats(min_value=0, max_value=30)},
    Exemplar: {
        "format": st.just(FORMAT),
        "id": st.sampled_from(["one", "a/b-2"]),
        "family": st.text(min_size=1, max_size=20),
        "task": st.text(min_size=1, max_size=20),
        "weight": st.floats(min_value=0.1, max_value=10),
        "steps": st.deferred(lambda: st.lists(of(ExemplarStep), min_size=1, max_size=2).map(tuple)),
    },
    Observed: {"html": st.just(""), "screenshot": st.just("")},
    CallRecord: {"number": COUNTS, "step": COUNTS, "messages": st.just(""), "reply": st.just("")},
}
"""What fields take that their types do not tell."""


def of(annotation: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for values of a field with that annotation."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return model(annotation)
    if origin is typing.Annotated:
        return of(arguments[0])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, types.UnionType):
        return st.one_of([of(argument) for argument in arguments])
    if origin is tuple and arguments[-1] is Ellipsis:
        return st.lists(of(arguments[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*map(of, arguments))
    if origin is dict:
        return st.dictionaries(of(arguments[0]), of(arguments[1]), max_size=3)
    return {str: TEXT, int: NUMBERS, float: FLOATS, bool: st.booleans(), type(None): st.none()}[annotation]


@functools.cache
def model(cls: type[BaseModel]) -> st.SearchStrategy[Any]:
    """Return a strategy for models of this class; each field may also be left at its default."""
    narrower = _NARROWER.get(cls, {})
    required, optional = {}, {}
    for name, field in cls.model_fields.items():
        strategy = narrower[name] if name in narrower else of(field.annotation)
        (required if field.is_required() else optional)[name] = strategy
    return st.fixed_dictionaries(required, optional=optional).map(lambda values: cls(**values))
