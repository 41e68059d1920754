"""AgentLab's experiments: the steps, actions, rewards and ends of their environments are said to Backstep."""

from __future__ import annotations

from typing import Any

from agentlab.experiments import loop

from backstep_sdk.browsergym import telling


class EnvArgs(loop.EnvArgs):  # type: ignore[misc]
    """AgentLab's `EnvArgs`, whose environment says what it does; ``EnvArgs(**vars(other))`` makes it of another."""

    def make_env(self, *given: Any, **named: Any) -> Any:
        """Return the environment."""
        return telling(super().make_env(*given, **named))
