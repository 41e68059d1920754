"""What the packages know of themselves, told by the SDK's adapters: steps, actions by name, reward and end.

As for `test_adapters`, the real packages are in the environments in BACKSTEP_ADAPTERS.
"""

from pathlib import Path

import pytest

from core.schema.step import AgentStep, Decided, Recognised, record_of
from core.trace.store import TraceStore
from tests.core.stage import page_file
from tests.gui.live.attached import AttachedWindow, desk
from tests.gui.live.test_adapters import ENVIRONMENTS, attach
from tests.gui.live.test_attached_agent import BUTTONS
from tests.llm_server import LLMServer

__all__ = ["desk"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not ENVIRONMENTS, reason="python -m tests.campaigns.adapters installs the packages"),
]


def agent_steps(store: TraceStore, run: int) -> dict[AgentStep, list[Decided]]:
    """Return the steps that the agent has told, each with what was decided in it."""
    found: dict[AgentStep, list[Decided]] = {}
    for row in store.steps(run):
        decided = record_of(Decided, store.step(run, row.number).records)
        if decided is not None and decided.agent_step is not None:
            found.setdefault(decided.agent_step, []).append(decided)
    return found


@pytest.mark.parametrize(
    ("name", "types", "clicks"),
    [
        pytest.param("browser_use", "input(index=", "click(index=", id="browser_use"),
        pytest.param("browsergym", "fill(", "click(", id="browsergym"),
        pytest.param("agentlab", "fill(", "click(", id="agentlab"),
    ],
)
def test_its_own_steps_have_their_numbers_goals_and_actions_by_name(
    desk: AttachedWindow, name: str, types: str, clicks: str
) -> None:
    attach(desk, name)
    run = desk.ran()
    store = desk.stored()
    told = agent_steps(store, run)
    states = [record_of(Recognised, store.step(run, row.number).records) for row in store.steps(run)]
    store.close()
    assert [one.number for one in told] == list(range(1, len(told) + 1))
    assert all(one.goal for one in told)
    assert all(sum(len(each.calls) for each in decided) == 1 for decided in told.values())
    for one, (first, *_) in told.items():
        (action,) = one.actions
        assert first.proposal.action is not None
        assert action.startswith(types if first.proposal.action.kind == "type" else clicks)
    if name == "browser_use":
        assert {one.space for one in states if one is not None} == {"agent"}
        assert any("Memory: " in one.why for one in states if one is not None)


PRESSING = '''
import os, re
from browsergym.core.action.highlevel import HighLevelActionSet
from browsergym.core.registration import register_task
from browsergym.core.task import AbstractBrowserTask
from browsergym.utils.obs import flatten_axtree_to_str
from openai import OpenAI

class Press(AbstractBrowserTask):
    """It is done once the button Two was pressed."""

    @classmethod
    def get_task_id(cls):
        return "press"

    def setup(self, page):
        page.goto(os.environ["BACKSTEP_START_URL"])
        return "Press Two", {}

    def validate(self, page, chat_messages):
        done = page.title() == "Two"
        return (1.0 if done else 0.0), done, "", {}

    def teardown(self):
        pass

register_task("press", Press)
actions = HighLevelActionSet(subsets=["bid"], multiaction=False)
client = OpenAI()

def chosen(observation):
    for question in ("Think.", "Which button?"):
        asked = [{"role": "user", "content": question}]
        reply = client.chat.completions.create(model="any", messages=asked).choices[0].message.content
    tree = flatten_axtree_to_str(observation["axtree_object"])
    return f"click('{re.search(rf'[[](.+?)[]] button .{reply}', tree)[1]}')"
'''
"""An agent that asks its LLM twice a step, and a task of its own that says when it is done."""

BY_BROWSERGYM = (
    PRESSING
    + """
import gymnasium
from backstep_sdk.browsergym import telling

environment = telling(gymnasium.make("browsergym/press", headless=True, action_mapping=actions.to_python_code))
observation, _ = environment.reset()
ended = False
while not ended:
    observation, _, ended, _, _ = environment.step(chosen(observation))
environment.close()
"""
)
BY_AGENTLAB = (
    PRESSING
    + """
from dataclasses import dataclass
from pathlib import Path
import litellm  # It brings along what AgentLab counts tokens by, and would download else.
from agentlab.experiments.loop import AbstractAgentArgs, ExpArgs
from backstep_sdk.agentlab import EnvArgs
from browsergym.experiments.agent import Agent

class Presser(Agent):
    action_set = actions

    def obs_preprocessor(self, obs):
        return obs

    def get_action(self, obs):
        return chosen(obs), {}

@dataclass
class PresserArgs(AbstractAgentArgs):
    def make_agent(self):
        return Presser()

experiment = ExpArgs(agent_args=PresserArgs(), env_args=EnvArgs(task_name="press", max_steps=5))
experiment.prepare(Path("results"))
experiment.run()
print(experiment.err_msg)
"""
)


@pytest.mark.parametrize(
    ("name", "program"),
    [
        pytest.param("browsergym", BY_BROWSERGYM, id="browsergym"),
        pytest.param("agentlab", BY_AGENTLAB, id="agentlab"),
    ],
)
def test_reward_and_end_come_from_the_environment_and_all_calls_of_a_step_are_in_it(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path: Path, name: str, program: str
) -> None:
    for reply in ("hm", "One", "hm", "Two"):
        llm_server.say(reply)
    (tmp_path / "presser.py").write_text(program, encoding="utf-8")
    python = Path(ENVIRONMENTS) / name / "bin" / "python"
    desk.attach(command=(str(python), "presser.py"), url=page_file(tmp_path, BUTTONS))
    run = desk.ran()
    view = desk.window.view
    assert (view.success, view.reward) == (True, 1.0), "\n".join(desk.view.output[-40:])
    assert "by the agent's own environment" in view.message
    store = desk.stored()
    told = agent_steps(store, run)
    verdict = store.run(run).verdict
    targets = [row.target for row in store.steps(run) if row.target]
    store.close()
    assert verdict.judge == "agent"
    assert [(one.number, one.goal) for one in told] == [(1, "Press Two"), (2, "Press Two")]
    assert [[len(each.calls) for each in decided] for decided in told.values()] == [[2], [2]]
    assert targets == ['button "One"', 'button "Two"']
