"""Report the steps, actions, rewards and ends of AgentLab's experiments to Backstep."""

from __future__ import annotations

from typing import Any

from agentlab.experiments import loop

from backstep_sdk.browsergym import telling


class EnvArgs(loop.EnvArgs):  # type: ignore[misc]
    """AgentLab's `EnvArgs` with an environment that reports what it does; convert with ``EnvArgs(**vars(other))``."""

    def make_env(self, *given: Any, **named: Any) -> Any:
        """Return the environment."""
        return telling(super().make_env(*given, **named))
