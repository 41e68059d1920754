"""Every kind of breakpoint. A new kind is a class next to these and a place in `GROUPS`."""

import inspect
from collections.abc import Mapping
from functools import cache
from typing import Any

from core.debugger.breakpoints.kinds.actions import (
    ActionChosen,
    Loop,
    PermissibleChanged,
    PolicyPopped,
    PolicyPushed,
    RequestBegins,
    StateEntered,
    StateLeft,
)
from core.debugger.breakpoints.kinds.breakpoint import Breakpoint
from core.debugger.breakpoints.kinds.problems import (
    Condition,
    Failure,
    FigureAbove,
    LLMCall,
    NotAligned,
    PlanRevised,
    RemedyFired,
    RetrievalFar,
)
from core.setup.plugins import Plugins, load_plugins

GROUPS: dict[str, tuple[type[Breakpoint], ...]] = {
    "Where the run is": (StateEntered, StateLeft, PolicyPushed, PolicyPopped),
    "What is done": (ActionChosen, PermissibleChanged, Loop, RequestBegins),
    "What goes wrong": (Failure, NotAligned, RemedyFired, PlanRevised),
    "Calls and figures": (LLMCall, RetrievalFar, FigureAbove),
    "Your own": (Condition,),
}
"""The kinds as lists show them."""
KINDS: dict[str, type[Breakpoint]] = {
    cls.model_fields["kind"].default: cls for group in GROUPS.values() for cls in group
}
"""The kinds by their names."""


@cache
def kind_plugins() -> Plugins[type[Breakpoint]]:
    """Return the kinds that packages add."""
    return load_plugins("breakpoints", KINDS, _kind)


def all_groups() -> dict[str, tuple[type[Breakpoint], ...]]:
    """Return the kinds as lists show them, with those of packages at the end."""
    added = tuple(kind_plugins().things.values())
    return GROUPS | ({"Of installed packages": added} if added else {})


def _kind(name: str, thing: Any) -> type[Breakpoint]:
    if not (isinstance(thing, type) and issubclass(thing, Breakpoint)):
        raise ValueError("it has to be a subclass of core.debugger.breakpoints.kinds.breakpoint.Breakpoint")
    if inspect.isabstract(thing) or not hasattr(thing, "title"):
        raise ValueError("it lacks a title, label or hits")
    if thing.model_fields["kind"].default != name:
        raise ValueError("the default of its kind has to be the name of the entry point")
    return thing


def read_breakpoint(values: Mapping[str, Any]) -> Breakpoint:
    """Return the breakpoint of these field values; raises ValueError if they make none."""
    kind = values.get("kind", "")
    cls = KINDS.get(kind) or kind_plugins().things.get(kind)
    if cls is None:
        raise ValueError(kind_plugins().problems.get(kind) or f"There is no breakpoint of kind {kind!r}.")
    return cls.model_validate(values)
