"""The examples of attached agents, each with its real package, in the shop, answered by the built-in LLM.

The packages are large and want environments of their own: `python -m tests.campaigns.adapters` makes these, and names
them in BACKSTEP_ADAPTERS. Without it these tests are skipped.
"""

import os
from pathlib import Path

import pytest

from tests.gui.live.attached import AttachedWindow, desk

__all__ = ["desk"]

EXAMPLES = Path(__file__).parents[3] / "resources" / "examples"
ENVIRONMENTS = os.environ.get("BACKSTEP_ADAPTERS", "")
ADAPTERS = ("browser_use", "langgraph", "mcp")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not ENVIRONMENTS, reason="the packages are installed by tests.campaigns.adapters"),
]


def attach(desk: AttachedWindow, name: str, task: str = "shop/goal-004") -> None:
    python = Path(ENVIRONMENTS) / name / "bin" / "python"
    desk.attach(command=(str(python), str(EXAMPLES / f"{name}_agent.py")), task=task)


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_example_is_answered_by_the_built_in_llm_to_success(desk: AttachedWindow, name: str) -> None:
    desk.session.agent.set_llm("rules")
    attach(desk, name)
    desk.trigger("run")
    desk.wait_for("ended")
    print("\n".join(desk.view.output[-40:]))
    assert desk.window.view.success is True
