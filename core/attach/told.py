"""The reports of an agent through `backstep_sdk`, and their address."""

import secrets
from collections.abc import Callable
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from core.schema.record import Record

_LARGEST = 8 << 20
"""Bytes of one message: exemplars with pages have some."""
Name: TypeAlias = Annotated[str, Field(min_length=1)]


class ToldPolicy(Record):
    """A policy is at work from now on."""

    kind: Literal["policy"] = "policy"
    id: Name
    """The agent's own, told again at its end."""
    parent: str = ""
    """The id of the policy that it is in; of one that is not known nothing follows."""
    name: Name
    argument: str = ""


class ToldPolicyEnd(Record):
    """A policy has ended."""

    kind: Literal["policy end"] = "policy end"
    id: Name
    error: str = ""
    """Why it has failed; empty if it has not."""


class ToldState(Record):
    """The agent is in this state from now on."""

    kind: Literal["state"] = "state"
    name: Name
    description: str = ""


class ToldPlan(Record):
    """The plan from now on."""

    kind: Literal["plan"] = "plan"
    steps: tuple[Name, ...]
    at: Annotated[int, Field(ge=0)] | None = None
    """Which step is worked on, from 0; past the end all are done. None for where it was."""


class ToldRemedy(Record):
    """What the agent would try if its next action is wrong."""

    kind: Literal["remedy"] = "remedy"
    text: Name
    for_action: str = ""


class ToldExemplars(Record):
    """The exemplars of the prompts from now on."""

    kind: Literal["exemplars"] = "exemplars"
    shown: tuple[str | tuple[str, str], ...]
    """Texts, or a name and a text each."""


class ToldNote(Record):
    """A line for the log."""

    kind: Literal["note"] = "note"
    text: Name


class ToldStep(Record):
    """The agent's own step with this number begins now; if reported again, more is known of it."""

    kind: Literal["step"] = "step"
    number: Annotated[int, Field(ge=0)]
    goal: str = ""
    actions: tuple[Name, ...] = ()
    """What it does in the step, in the agent's words."""


class ToldOutcome(Record):
    """The result from the agent's environment: a reward, or how the episode ended."""

    kind: Literal["outcome"] = "outcome"
    reward: float | None = None
    success: bool | None = None
    ended: bool = True
    """Whether the episode has ended with it."""
    reason: str = ""
    answer: str = ""
    """What the agent answers to the task."""


Told: TypeAlias = Annotated[
    ToldPolicy
    | ToldPolicyEnd
    | ToldState
    | ToldPlan
    | ToldRemedy
    | ToldExemplars
    | ToldNote
    | ToldStep
    | ToldOutcome,
    Field(discriminator="kind"),
]
_TOLD: TypeAdapter[Told] = TypeAdapter(Told)


class TellingAddress:
    """Receives reports by POST to ``/sdk/TOKEN`` of a server; invalid ones get the status 400."""

    def __init__(self, on_told: Callable[[Told], None]) -> None:
        self.path = f"/sdk/{secrets.token_urlsafe(24)}"
        self._on_told = on_told

    def app(self) -> Starlette:
        """Return the application; it belongs below `path`."""
        return Starlette(routes=[Route("/", self._take, methods=["POST"])])

    async def _take(self, request: Request) -> Response:
        read = bytearray()
        async for piece in request.stream():
            read += piece
            if len(read) > _LARGEST:
                return PlainTextResponse(f"A report can have at most {_LARGEST >> 20} MB.", 413)
        try:
            told = _TOLD.validate_json(bytes(read))
        except ValidationError as error:
            return PlainTextResponse(_sentence(error), 400)
        self._on_told(told)
        return Response(status_code=204)


def _sentence(error: ValidationError) -> str:
    """Return the first thing that is wrong, and where."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(one) for one in first["loc"])
    return f"{place}: {first['msg']}." if place else f"{first['msg']}."
