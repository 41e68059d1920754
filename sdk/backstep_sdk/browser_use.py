"""Report the steps, goals, memory, plan and actions of browser-use agents to Backstep."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any, Callable, TypeVar
from urllib.parse import urlsplit

import backstep_sdk
from backstep_sdk._post import attached

if TYPE_CHECKING:
    from browser_use import Agent

A = TypeVar("A", bound="Agent[Any, Any]")
_LONGEST = 200
"""The most characters of an action that are reported."""


def watch(agent: A) -> A:
    """Let an agent report what it does, and return it. Without Backstep, the agent is unchanged.

    Callbacks that the agent already has are still called.
    """
    if not attached():
        return agent
    given: Any = agent
    given.register_new_step_callback = _both(
        lambda summary, output, number: _say_step(given, summary, output, number),
        given.register_new_step_callback,
    )
    given.register_done_callback = _both(_say_end, given.register_done_callback)
    step = given.step

    async def say_and_step(*args: Any, **named: Any) -> Any:
        backstep_sdk.step(given.state.n_steps)
        return await step(*args, **named)

    given.step = say_and_step
    return agent


def _both(say: Callable[..., None], before: Callable[..., Any] | None) -> Callable[..., Any]:
    async def called(*given: Any) -> None:
        say(*given)
        if before is not None:
            done = before(*given)
            if inspect.isawaitable(done):
                await done

    return called


def _say_step(agent: Any, summary: Any, output: Any, number: int) -> None:
    """Report what the LLM has decided, before it is done."""
    actions = [_in_words(one.model_dump(exclude_unset=True)) for one in output.action]
    backstep_sdk.step(number, goal=output.next_goal or "", actions=actions)
    kept = (("", output.evaluation_previous_goal), ("Memory: ", output.memory))
    backstep_sdk.state(_name_of(summary), "\n".join(f"{title}{words}" for title, words in kept if words))
    if plan := getattr(agent.state, "plan", None):
        at = getattr(agent.state, "current_plan_item_index", None)
        backstep_sdk.plan([one.text for one in plan], at)


def _name_of(page: Any) -> str:
    """Return the title of a page, or its address without port and query."""
    url = urlsplit(page.url)
    # A page without a title yet gets a part of its address.
    return page.title if page.title and page.title not in page.url else f"{url.hostname or ''}{url.path}"


def _in_words(action: dict[str, Any]) -> str:
    """Return an action as a call, such as ``click(index=3)``."""
    words = []
    for name, given in action.items():
        given = given if isinstance(given, dict) else {}
        said = (f"{key}={json.dumps(value, ensure_ascii=False, default=str)}" for key, value in given.items())
        words.append(f"{name}({', '.join(said)})")
    text = ", ".join(words)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _say_end(history: Any) -> None:
    said = {
        True: "that it succeeded",
        False: "that it did not succeed",
        None: "nothing about its success",
    }
    backstep_sdk.outcome(
        reason=f"The agent itself reports {said[history.is_successful()]}, after {history.number_of_steps()} steps.",
        answer=history.final_result() or "",
    )
