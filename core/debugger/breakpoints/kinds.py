"""Breakpoints: what a run of a web agent can be stopped at, one class a kind.

Names of states, policies and actions are whole names or globs (``buy_*``);
any other text is looked for within, unless it holds ``*`` or ``?``. Case does
not count, and what is empty fits all. Whether one hits is left to `matching`.
"""

from typing import Annotated, Literal, TypeAlias, get_args

from pydantic import Field, TypeAdapter

from core.schema.messages import Purpose
from core.schema.record import Record

FigureName = Literal["cost", "tokens", "steps", "seconds", "calls", "page actions"]
FailureKind = Literal["any", "action", "call", "reply", "crash"]
Limit = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Breakpoint(Record):
    """What all of them have."""

    kind: str
    number: int = 0
    """Given by the list that it is added to."""
    enabled: bool = True
    then: Literal["stop", "log"] = "stop"
    condition: str = ""
    """An expression that has to be true as well; empty for none."""
    ignore: int = Field(default=0, ge=0)
    """How many hits are let pass before it stops."""


class StateEntered(_Breakpoint):
    """The page is recognised as a state that it was not in at the step before."""

    kind: Literal["state entered"] = "state entered"
    state: str = ""


class StateLeft(_Breakpoint):
    """The page is recognised as another state than at the step before."""

    kind: Literal["state left"] = "state left"
    state: str = ""


class PolicyPushed(_Breakpoint):
    """A policy was called."""

    kind: Literal["policy pushed"] = "policy pushed"
    policy: str = ""
    argument: str = ""


class PolicyPopped(_Breakpoint):
    """A called policy came back."""

    kind: Literal["policy popped"] = "policy popped"
    policy: str = ""
    argument: str = ""
    """What it had been called with."""


class ActionChosen(_Breakpoint):
    """An action is about to be carried out; all that is given has to fit."""

    kind: Literal["action"] = "action"
    action: str = ""
    """Its name, such as ``click`` or ``buy_now``."""
    target: str = ""
    """Of the name of what it acts on."""
    text: str = ""
    """Of what is typed, chosen, noted, answered or given as arguments."""
    url: str = ""
    """Of the page's URL."""


class PermissibleChanged(_Breakpoint):
    """Something has come to be permissible, or is so no longer."""

    kind: Literal["permissible"] = "permissible"
    action: str
    target: str = ""
    """Of the name of what it may act on, or of a value it takes."""
    contains: bool = True
    """False: stop where the permissible actions do not contain it."""


class NotAligned(_Breakpoint):
    """A step was judged not to serve its subtask."""

    kind: Literal["not aligned"] = "not aligned"


class RemedyFired(_Breakpoint):
    """A remedy is to be tried, after going back for it where that is needed."""

    kind: Literal["remedy fired"] = "remedy fired"


class PlanRevised(_Breakpoint):
    """The subtasks are other ones than before, by the agent or by a person."""

    kind: Literal["plan revised"] = "plan revised"


class RetrievalFar(_Breakpoint):
    """The nearest exemplar that was recalled is further away than this."""

    kind: Literal["retrieval distance"] = "retrieval distance"
    above: Limit


class Loop(_Breakpoint):
    """The same action is about to be carried out on the same page again."""

    kind: Literal["loop"] = "loop"


class FigureAbove(_Breakpoint):
    """A figure of the run has passed a value."""

    kind: Literal["figure"] = "figure"
    figure: FigureName
    above: Limit


class RequestBegins(_Breakpoint):
    """The page sends something: by a method other than GET, HEAD and OPTIONS, or over a WebSocket."""

    kind: Literal["request"] = "request"
    url: str = ""


class Failure(_Breakpoint):
    """An action or an LLM call failed, a reply could not be used, or the page crashed."""

    kind: Literal["error"] = "error"
    of: FailureKind = "any"


class LLMCall(_Breakpoint):
    """An LLM call is about to be made, or has ended."""

    kind: Literal["call"] = "call"
    purpose: Purpose | None = None
    """None for any."""
    when: Literal["before", "after"] = "before"


class Condition(_Breakpoint):
    """An expression has become true."""

    kind: Literal["condition"] = "condition"
    expression: str = Field(min_length=1)


Breakpoint: TypeAlias = Annotated[
    StateEntered
    | StateLeft
    | PolicyPushed
    | PolicyPopped
    | ActionChosen
    | PermissibleChanged
    | NotAligned
    | RemedyFired
    | PlanRevised
    | RetrievalFar
    | Loop
    | FigureAbove
    | RequestBegins
    | Failure
    | LLMCall
    | Condition,
    Field(discriminator="kind"),
]
BREAKPOINT = TypeAdapter[Breakpoint](Breakpoint)
BREAKPOINTS: dict[str, type[_Breakpoint]] = {
    cls.model_fields["kind"].default: cls for cls in get_args(get_args(Breakpoint)[0])
}
"""Every kind by its name, in the order lists show them."""

_FAILURES: dict[FailureKind, str] = {
    "any": "anything fails",
    "action": "an action fails",
    "call": "an LLM call fails",
    "reply": "a reply cannot be used",
    "crash": "the page crashes",
}


def expressions_of(breakpoint: Breakpoint) -> tuple[str, ...]:
    """Return the expressions that a breakpoint holds."""
    own = (breakpoint.expression,) if isinstance(breakpoint, Condition) else ()
    return (*own, breakpoint.condition) if breakpoint.condition else own


def title(breakpoint: Breakpoint) -> str:
    """Return in words what a breakpoint stops at, such as ``state item is entered``."""
    words = _words(breakpoint)
    return f"{words}, if {breakpoint.condition}" if breakpoint.condition else words


def _words(breakpoint: Breakpoint) -> str:
    match breakpoint:
        case StateEntered():
            return f"{_named('state', breakpoint.state)} is entered"
        case StateLeft():
            return f"{_named('state', breakpoint.state)} is left"
        case PolicyPushed():
            return f"{_named('policy', breakpoint.policy)} is pushed{_with_argument(breakpoint.argument)}"
        case PolicyPopped():
            return f"{_named('policy', breakpoint.policy)} is popped{_with_argument(breakpoint.argument)}"
        case ActionChosen():
            return _words_of_action(breakpoint)
        case PermissibleChanged():
            on = f" on “{breakpoint.target}”" if breakpoint.target else ""
            return f"{breakpoint.action}{on} is {'' if breakpoint.contains else 'not '}permissible"
        case NotAligned():
            return "a step is judged not aligned"
        case RemedyFired():
            return "a remedy is fired"
        case PlanRevised():
            return "the plan is revised"
        case RetrievalFar():
            return f"the nearest exemplar is further than {breakpoint.above:g}"
        case Loop():
            return "the same action is due on the same page again"
        case FigureAbove():
            return f"{breakpoint.figure} above {breakpoint.above:g}"
        case RequestBegins():
            return "the page sends something" + (f" to “{breakpoint.url}”" if breakpoint.url else "")
        case Failure():
            return _FAILURES[breakpoint.of]
        case LLMCall():
            purpose = f" ({breakpoint.purpose})" if breakpoint.purpose else ""
            return f"{breakpoint.when} an LLM call{purpose}"
        case Condition():
            return f"{breakpoint.expression} becomes true"


def _named(what: str, name: str) -> str:
    return f"{what} {name}" if name else f"any {what}"


def _with_argument(argument: str) -> str:
    return f" with argument “{argument}”" if argument else ""


def _words_of_action(breakpoint: ActionChosen) -> str:
    parts = [breakpoint.action or "any action"]
    if breakpoint.target:
        parts.append(f"on a target named “{breakpoint.target}”")
    if breakpoint.text:
        parts.append(f"with text “{breakpoint.text}”")
    if breakpoint.url:
        parts.append(f"at “{breakpoint.url}”")
    return " ".join(parts)
