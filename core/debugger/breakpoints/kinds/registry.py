"""Every kind of breakpoint. A new kind is a class next to these and a place in `GROUPS`."""

from collections.abc import Mapping
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


def read_breakpoint(values: Mapping[str, Any]) -> Breakpoint:
    """Return the breakpoint of these field values; raises ValueError if they make none."""
    cls = KINDS.get(values.get("kind", ""))
    if cls is None:
        raise ValueError(f"There is no breakpoint of kind {values.get('kind')!r}.")
    return cls.model_validate(values)
