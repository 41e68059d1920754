"""Breakpoints on where the run is: states of the page, and policies."""

from typing import ClassVar, Literal, NamedTuple

from pydantic import Field

from core.debugger.breakpoints.debug_event import DebugEvent
from core.debugger.breakpoints.kinds.breakpoint import Breakpoint, Name, Part, cut, fits
from core.schema.action import Named
from core.schema.step import Acted, Committed, Recognised


class _StateChange(NamedTuple):
    """The page is in another state than before."""

    before: str
    """Empty at the first step."""
    now: str
    ends_run: bool

    @property
    def end(self) -> str:
        return ", which ends the run" if self.ends_run else ""


def _state_change(event: DebugEvent) -> _StateChange | None:
    recognised = event.step.get(Recognised)
    if recognised is None:
        return None
    if committed := event.completed(Committed):
        stops = committed.stops
        return _StateChange(recognised.state, stops, True) if stops not in ("", recognised.state) else None
    if not event.completed(Recognised):
        return None
    before = event.before.get(Recognised) if event.before is not None else None
    if before is None:
        return _StateChange("", recognised.state, False)
    same = (before.space, before.state) == (recognised.space, recognised.state)
    return None if same else _StateChange(before.state, recognised.state, False)


class StateEntered(Breakpoint):
    """The page is recognised as a state that it was not in at the step before."""

    title: ClassVar[str] = "A state is entered"
    kind: Literal["state entered"] = "state entered"
    state: Name = ""

    def label(self) -> str:
        return f"{_named('state', self.state)} is entered"

    def hits(self, event: DebugEvent) -> str | None:
        change = _state_change(event)
        if change is None or not fits(self.state, change.now, whole=True):
            return None
        source = f" from {change.before}" if change.before else ""
        return f"State {change.now} was entered{source}{change.end}."


class StateLeft(Breakpoint):
    """The page is recognised as another state than at the step before."""

    title: ClassVar[str] = "A state is left"
    kind: Literal["state left"] = "state left"
    state: Name = ""

    def label(self) -> str:
        return f"{_named('state', self.state)} is left"

    def hits(self, event: DebugEvent) -> str | None:
        change = _state_change(event)
        if change is None or not change.before or not fits(self.state, change.before, whole=True):
            return None
        return f"State {change.before} was left for {change.now}{change.end}."


class PolicyPushed(Breakpoint):
    """A policy was called."""

    title: ClassVar[str] = "A policy is called"
    kind: Literal["policy pushed"] = "policy pushed"
    policy: Name = ""
    argument: Part = ""

    def label(self) -> str:
        return f"{_named('policy', self.policy)} is pushed{_with_argument(self.argument)}"

    def hits(self, event: DebugEvent) -> str | None:
        acted, action = event.completed(Acted), event.step.action
        if acted is None or acted.effect != "push" or not isinstance(action, Named):
            return None
        argument = ", ".join(action.arguments)
        if not fits(self.policy, action.name, whole=True) or not fits(self.argument, argument):
            return None
        return f"Policy {action.name} was pushed{_with_argument(cut(argument))}."


class PolicyPopped(Breakpoint):
    """A called policy came back."""

    title: ClassVar[str] = "A policy returns"
    kind: Literal["policy popped"] = "policy popped"
    policy: Name = ""
    argument: Part = Field(default="", description="What it had been called with.")

    def label(self) -> str:
        return f"{_named('policy', self.policy)} is popped{_with_argument(self.argument)}"

    def hits(self, event: DebugEvent) -> str | None:
        acted, recognised = event.completed(Acted), event.step.get(Recognised)
        if acted is None or acted.effect != "pop":
            return None
        if recognised is None or recognised.stack is None or not recognised.stack.frames:
            return None
        top = recognised.stack.frames[-1]
        if not fits(self.policy, top.policy, whole=True) or not fits(self.argument, top.argument):
            return None
        return f"Policy {top.policy} was popped{_with_argument(cut(top.argument))}. {acted.message}".rstrip()


def _named(what: str, name: str) -> str:
    return f"{what} {name}" if name else f"any {what}"


def _with_argument(argument: str) -> str:
    return f" with argument “{argument}”" if argument else ""
