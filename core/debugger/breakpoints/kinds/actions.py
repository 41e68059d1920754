"""Breakpoints on states, policies, actions, and requests of the page."""

from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field

from core.agent.general_space import label_of
from core.agent.presets import ATTACHED
from core.debugger.breakpoints.debug_event import DebugEvent, repeat_key
from core.debugger.breakpoints.kinds.breakpoint import Breakpoint, ChoiceWords, Name, Part, cut, fits
from core.debugger.breakpoints.subject import text_of
from core.schema.action import Action, Named, RefTarget, RoleTarget
from core.schema.action_space import Permissible
from core.schema.observation import Observation
from core.schema.step import (
    Acted,
    Committed,
    Decided,
    FrameRecord,
    Observed,
    Recognised,
    Reviewed,
    StackRecord,
)


class _Recognition(NamedTuple):
    """The present state of the page, and the one before."""

    before: Recognised | None
    now: Recognised


def _recognition(event: DebugEvent) -> _Recognition | None:
    """Return what an event brings to know of the page.

    It is recognised once in a step; an attached agent may say more of it until it acts.
    """
    now = event.step.get(Recognised)
    if now is None:
        return None
    if event.completed(Recognised):
        return _Recognition(event.before.get(Recognised) if event.before is not None else None, now)
    if event.completed(Decided) and event.previous is not None:
        before = event.previous.step.get(Recognised)
        return _Recognition(before, now) if before is not None and before != now else None
    return None


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
    found = _recognition(event)
    if found is None:
        return None
    before = found.before
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


class _ToldPolicies(NamedTuple):
    """The policies that an attached agent has begun and ended since the last event."""

    begun: tuple[FrameRecord, ...] = ()
    ended: tuple[FrameRecord, ...] = ()


def _told_policies(event: DebugEvent) -> _ToldPolicies:
    found = _recognition(event) if event.run.preset == ATTACHED.name else None
    if found is None or found.now.stack is None:
        return _ToldPolicies()
    before, now = (found.before.stack if found.before is not None else None) or StackRecord(), found.now.stack
    known = {one.number for one in (*before.frames, *before.finished)}
    over = {one.number for one in before.finished}
    return _ToldPolicies(
        tuple(one for one in (*now.finished, *now.frames) if one.number not in known),
        tuple(one for one in now.finished if one.number not in over),
    )


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
        pushed = [(one.policy, one.argument) for one in _told_policies(event).begun]
        if acted is not None and acted.effect == "push" and isinstance(action, Named):
            pushed.append((action.name, ", ".join(action.arguments)))
        for policy, argument in pushed:
            if fits(self.policy, policy, whole=True) and fits(self.argument, argument):
                return f"Policy {policy} was pushed{_with_argument(cut(argument))}."
        return None


class PolicyPopped(Breakpoint):
    """A called policy returned."""

    title: ClassVar[str] = "A policy returns"
    kind: Literal["policy popped"] = "policy popped"
    policy: Name = ""
    argument: Part = Field(default="", description="The argument of its call.")

    def label(self) -> str:
        return f"{_named('policy', self.policy)} is popped{_with_argument(self.argument)}"

    def hits(self, event: DebugEvent) -> str | None:
        acted, recognised = event.completed(Acted), event.step.get(Recognised)
        popped = [(one, f"It {one.outcome}.") for one in _told_policies(event).ended]
        if acted is not None and acted.effect == "pop" and recognised is not None:
            stack = recognised.stack or StackRecord()
            popped += [(one, acted.message) for one in stack.frames[-1:]]
        for frame, became in popped:
            if fits(self.policy, frame.policy, whole=True) and fits(self.argument, frame.argument):
                argument = _with_argument(cut(frame.argument))
                return f"Policy {frame.policy} was popped{argument}. {became}".rstrip()
        return None


def _named(what: str, name: str) -> str:
    return f"{what} {name}" if name else f"any {what}"


def _with_argument(argument: str) -> str:
    return f" with argument “{argument}”" if argument else ""


_QUIET_METHODS = ("GET", "HEAD", "OPTIONS")


def _due(event: DebugEvent) -> Action | None:
    """Return the action that is about to be carried out.

    It is due before its review unless it was replaced or skipped by then, and
    before it is carried out only where the review put another one in its place.
    """
    if not event.is_at("before", "review") and not event.is_at("before", "act"):
        return None
    reviewed, decided = event.step.get(Reviewed), event.step.get(Decided)
    proposed = decided.proposal.action if decided is not None else None
    if event.phase == "review":
        return None if event.overruled else proposed
    return reviewed.action if reviewed is not None and reviewed.action != proposed else None


class ActionChosen(Breakpoint):
    """An action is about to be carried out. All given fields must match."""

    title: ClassVar[str] = "An action is due"
    kind: Literal["action"] = "action"
    action: Name = Field(default="", description="Name of the action, such as click or buy_now.")
    target: Part = Field(default="", description="Part of the name of the element it acts on.")
    text: Part = Field(
        default="",
        description="Part of the text that is typed, chosen, noted, answered or given as arguments.",
    )
    url: Part = Field(default="", title="URL", description="Part of the page's URL.")

    def label(self) -> str:
        parts = [self.action or "any action"]
        if self.target:
            parts.append(f"on a target named “{self.target}”")
        if self.text:
            parts.append(f"with text “{self.text}”")
        if self.url:
            parts.append(f"at “{self.url}”")
        return " ".join(parts)

    def hits(self, event: DebugEvent) -> str | None:
        action, observed = _due(event), event.step.get(Observed)
        if action is None or observed is None:
            return None
        page = observed.observation
        if not fits(self.action, action.name, whole=True) or not fits(self.text, text_of(action)):
            return None
        if not fits(self.url, page.url):
            return None
        if self.target and not any(fits(self.target, name) for name in _target_names(action, page)):
            return None
        label = label_of(page, action)
        on = f" on {label}" if label else ""
        where = page.url.partition("?")[0]
        return f"{cut(str(action))}{on} is about to be carried out at {cut(where)}."


def _target_names(action: Action, page: Observation) -> tuple[str, ...]:
    """Return what the action's targets are called, alone and with their role."""
    names = [label_of(page, action)]
    for target in action.targets:
        if isinstance(target, RefTarget):
            element = page.element(target.ref)
            names += [element.name] if element is not None else []
        elif isinstance(target, RoleTarget):
            names.append(target.name)
    return tuple(name for name in names if name)


class PermissibleChanged(Breakpoint):
    """An action has become permissible, or is no longer permissible."""

    title: ClassVar[str] = "An action is permissible"
    kind: Literal["permissible"] = "permissible"
    action: Name
    target: Part = Field(
        default="", description="Part of the name of an element it may act on, or of a value it takes."
    )
    contains: Annotated[
        bool, ChoiceWords({True: "becomes permissible", False: "is not or no longer permissible"})
    ] = Field(
        default=True,
        title="Permissible",
        description="False: stop when the permissible actions do not contain it.",
    )

    def label(self) -> str:
        return f"{self._what()} is {'' if self.contains else 'not '}permissible"

    def hits(self, event: DebugEvent) -> str | None:
        recognised = event.completed(Recognised)
        if recognised is None:
            return None
        before = event.before.get(Recognised) if event.before is not None else None
        found = self._found(recognised.permissible)
        known = None if before is None else self._found(before.permissible)
        if bool(found) is not self.contains or (known is not None and bool(known) is bool(found)):
            return None
        return f"{cut(found)} is permissible." if found else f"{self._what()} is not permissible."

    def _what(self) -> str:
        return self.action + (f" on “{self.target}”" if self.target else "")

    def _found(self, permissible: Permissible) -> str:
        """Return what of the permissible fits, in words, or nothing."""
        for action in permissible.actions:
            if not fits(self.action, action.name, whole=True):
                continue
            if not self.target:
                return action.name
            for parameter in action.parameters:
                for choice in parameter.choices or ():
                    label = choice.label or choice.value
                    if fits(self.target, label) or fits(self.target, choice.value, whole=True):
                        return f"{action.name} on {label}"
                    name = label.split('"')[1] if label.count('"') > 1 else ""
                    if name and fits(self.target, name):
                        return f"{action.name} on {label}"
        return ""


class Loop(Breakpoint):
    """The same action is about to be carried out on the same page again."""

    title: ClassVar[str] = "The same action again"
    kind: Literal["loop"] = "loop"

    def label(self) -> str:
        return "the same action is due on the same page again"

    def hits(self, event: DebugEvent) -> str | None:
        key = repeat_key(event.step) if _due(event) is not None else None
        earlier = event.actions_done.get(key) if key is not None else None
        if key is None or earlier is None:
            return None
        return f"{cut(key[1])} is about to be repeated on the same page; it was done at step {earlier}."


class RequestBegins(Breakpoint):
    """The page sends data: with a method other than GET, HEAD and OPTIONS, or over a WebSocket."""

    title: ClassVar[str] = "The page sends something"
    kind: Literal["request"] = "request"
    url: Part = Field(default="", title="URL")

    def label(self) -> str:
        return "the page sends something" + (f" to “{self.url}”" if self.url else "")

    def hits(self, event: DebugEvent) -> str | None:
        request = event.request
        if request is None or not (request.socket or request.method.upper() not in _QUIET_METHODS):
            return None
        if not fits(self.url, request.url):
            return None
        if request.socket:
            return f"The page sends something over the WebSocket {cut(request.url)}."
        return f"The page begins to send: {request.method} {cut(request.url)}."
