"""Report the steps, actions, rewards and ends of BrowserGym and other Gymnasium environments to Backstep."""

from __future__ import annotations

from typing import Any

import gymnasium

import backstep_sdk
from backstep_sdk._post import attached

_UNJUDGED = ("browsergym/openended", "browsergym/assistantbench.test.")
"""What the ids of environments begin with whose reward is always 0."""


def telling(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    """Return an environment that reports what it does. Without Backstep, return `env` itself.

    The steps of an episode are counted from 1. A step begins when the one before
    ends, so that what the agent asks before it acts belongs to it.
    """
    return TellingEnv(env) if attached() else env


class TellingEnv(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment that reports what it does; see `telling`."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self._goal = ""
        self._number = 1
        self._reward = 0.0

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode and report its goal."""
        observation, info = self.env.reset(**given)
        self._goal, self._number, self._reward = str(_of(observation, "goal")), 1, 0.0
        backstep_sdk.step(1, goal=self._goal)
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Report the action, carry it out, and report its result."""
        backstep_sdk.step(self._number, goal=self._goal, actions=[str(action)])
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._reward += float(reward)
        if error := str(_of(observation, "last_action_error")):
            backstep_sdk.note(f"The action of step {self._number} of the environment failed: {error}")
        if terminated or truncated:
            self._end(truncated=not terminated)
        else:
            if reward:
                backstep_sdk.outcome(float(reward), ended=False)
            self._number += 1
            backstep_sdk.step(self._number, goal=self._goal)
        return observation, reward, terminated, truncated, info

    def _end(self, *, truncated: bool) -> None:
        judged = self.spec is None or not self.spec.id.startswith(_UNJUDGED)
        # Other sums of rewards are not known to be a success or none.
        success = {0.0: False, 1.0: True}.get(self._reward)
        backstep_sdk.outcome(
            self._reward if judged else None,
            success if judged and not truncated else None,
            reason=f"It was cut off after step {self._number}." if truncated else "",
        )


def _of(observation: Any, name: str) -> Any:
    """Return a part of a BrowserGym observation; empty for other observations."""
    return (observation.get(name) or "") if isinstance(observation, dict) else ""
