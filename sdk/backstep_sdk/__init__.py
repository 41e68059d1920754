"""Report an agent's steps, states, policies, plan, exemplars and notes to Backstep.

If Backstep is not attached (BACKSTEP_SDK_URL is not set, or its server has
gone), the functions do nothing: they never raise or wait. Otherwise each
function returns once Backstep has received the report, so that it is there
before the next LLM call or act.

The modules `browser_use`, `browsergym` and `agentlab` report for agents of
these packages. Each imports its package; import only the one you need.
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
    """Report a policy: it is at work in the block, or while the decorated function runs, which may be async.

    Nested policies form a stack. Each task and thread has its own.
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
            except ValueError:  # A generator was ended by another task than the one that began it.
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
        return policy(self._name, self._argument)  # Calls of one function may be nested.


def state(name: str, description: str = "") -> None:
    """Report the state that the agent is in from now on."""
    post("state", name=name, description=description)


def plan(steps: Iterable[str], at: int | None = None) -> None:
    """Report the plan, and the step `at` that the agent works on, counted from 0; past the end, all are done.

    Without `at`, the agent stays at its step, or at the first step of a new plan.
    """
    post("plan", steps=steps, at=at)


def remedy(text: str, for_action: str = "") -> None:
    """Report what the agent would try if the next action turns out wrong."""
    post("remedy", text=text, for_action=for_action)


def exemplars(shown: Iterable[str | tuple[str, str]]) -> None:
    """Report the exemplars in the prompts from now on: texts, or a name and a text each."""
    post("exemplars", shown=shown)


def note(text: str) -> None:
    """Add a line to the log of the run, with the step."""
    post("note", text=text)


def step(number: int, goal: str = "", actions: Iterable[str] = ()) -> None:
    """Begin the agent's own step of this number. Called again with it, add what is known by now.

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
    """Report a reward of the agent's environment, or the end of the episode.

    If the task has no judge, the run gets this success and reward. The run ends with the program, or at once if
    Backstep did not start the program.
    """
    post("outcome", reward=reward, success=success, ended=ended, reason=reason, answer=answer)


def span_processor() -> SpanProcessor:
    """Return an OpenTelemetry span processor, for ``TracerProvider.add_span_processor``."""
    from backstep_sdk._spans import SpanProcessor

    return SpanProcessor()
