"""What an agent says of itself to Backstep, which is attached to it: steps, state, policies, plan, exemplars, notes.

Without Backstep nothing is done: no function raises or waits, where
BACKSTEP_SDK_URL is not set or the server behind it has gone. With it each
function returns once Backstep has what was said, so that it is there before
the LLM call or the act that comes next.

The modules `browser_use`, `browsergym` and `agentlab` say it for agents of
these packages. Each imports its package, and is imported by nobody else.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import os
from collections.abc import Iterable
from contextlib import ContextDecorator
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from backstep_sdk._post import post

if TYPE_CHECKING:
    from types import TracebackType

    from backstep_sdk._spans import SpanProcessor

__all__ = [
    "exemplars",
    "note",
    "outcome",
    "plan",
    "policy",
    "remedy",
    "span_processor",
    "state",
    "step",
]

F = TypeVar("F", bound=Callable[..., Any])
_open: ContextVar[str] = ContextVar("backstep_policy", default="")
"""The id of the policy that this thread or task is in."""
_numbers = itertools.count(1)


class policy(ContextDecorator):  # noqa: N801 - it is used as a function is
    """A policy is at work in the block, or while the decorated function runs, which may be async.

    Policies in one another are a stack; each task and thread is in its own.
    """

    def __init__(self, name: str, argument: str = "") -> None:
        self._name, self._argument = name, argument
        self._id = ""
        self._token: Token[str] | None = None

    def __enter__(self) -> policy:
        self._id = f"{os.getpid()}-{next(_numbers)}"
        post("policy", id=self._id, parent=_open.get(), name=self._name, argument=self._argument)
        self._token = _open.set(self._id)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._token is not None:
            try:
                _open.reset(self._token)
            except ValueError:  # A generator was ended by another task than it was begun by.
                pass
        post("policy end", id=self._id, error="" if error is None else f"{type(error).__name__}: {error}")

    def __call__(self, function: F) -> F:
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def inside(*given: Any, **named: Any) -> Any:
                with self._recreate_cm():
                    return await function(*given, **named)

            return inside  # type: ignore[return-value]
        return super().__call__(function)

    def _recreate_cm(self) -> policy:
        return policy(self._name, self._argument)  # Calls of one function may be in one another.


def state(name: str, description: str = "") -> None:
    """The agent is in this state from now on."""
    post("state", name=name, description=description)


def plan(steps: Iterable[str], at: int | None = None) -> None:
    """This is the plan from now on, and the agent is at its step `at`, from 0; past the end all are done.

    Without `at` it is where it was, in a new plan at the first step.
    """
    post("plan", steps=steps, at=at)


def remedy(text: str, for_action: str = "") -> None:
    """The agent would try this, should the action that comes next turn out wrong."""
    post("remedy", text=text, for_action=for_action)


def exemplars(shown: Iterable[str | tuple[str, str]]) -> None:
    """The prompts have these exemplars from now on: texts, or a name and a text each."""
    post("exemplars", shown=shown)


def note(text: str) -> None:
    """Put a line into the log of the run, with the step."""
    post("note", text=text)


def step(number: int, goal: str = "", actions: Iterable[str] = ()) -> None:
    """The agent's own step of this number begins; said again, it tells what more is known of it.

    Until the next step begins, all LLM calls before an act are one step in Backstep.
    """
    post("step", number=number, goal=goal, actions=actions)


def outcome(
    reward: float | None = None,
    success: bool | None = None,
    *,
    ended: bool = True,
    reason: str = "",
    answer: str = "",
) -> None:
    """The agent's environment has given this reward, or has ended the episode.

    Backstep's run has this success and reward where its task has no judge. It ends with the program, or at once
    where Backstep has not started the program.
    """
    post("outcome", reward=reward, success=success, ended=ended, reason=reason, answer=answer)


def span_processor() -> SpanProcessor:
    """Return a span processor of OpenTelemetry, for ``TracerProvider.add_span_processor``."""
    from backstep_sdk._spans import SpanProcessor

    return SpanProcessor()
