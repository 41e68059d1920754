"""AgentLab's GenericAgent, as one experiment.

    python3 main.py attach --task shop/goal-004 -- python resources/examples/agentlab_agent.py

Tested with AgentLab 0.4.2 on BrowserGym 0.14.3. Results are stored in `agentlab-results`.
"""

import os
from pathlib import Path

import browsergym.core  # noqa: F401 - it registers the task
from agentlab.agents.generic_agent.agent_configs import FLAGS_GPT_4o
from agentlab.agents.generic_agent.generic_agent import GenericAgentArgs
from agentlab.experiments.loop import EnvArgs, ExpArgs
from agentlab.llm.chat_api import OpenAIModelArgs

try:  # It runs without this too; then Backstep infers its steps.
    from backstep_sdk.agentlab import EnvArgs
except ImportError:
    pass

MOST_TOKENS = 128_000


def main() -> None:
    llm = OpenAIModelArgs(
        model_name="chosen-in-backstep",
        max_total_tokens=MOST_TOKENS,
        max_input_tokens=MOST_TOKENS,
        max_new_tokens=4096,
    )
    environment = EnvArgs(
        task_name="openended",
        max_steps=20,
        task_kwargs={
            "start_url": os.environ.get("BACKSTEP_START_URL", "about:blank"),
            "goal": os.environ.get("BACKSTEP_TASK", "Say what you see."),
        },
    )
    experiment = ExpArgs(
        agent_args=GenericAgentArgs(chat_model_args=llm, flags=FLAGS_GPT_4o), env_args=environment
    )
    experiment.prepare(Path("agentlab-results"))
    experiment.run()
    print(experiment.err_msg or "done")


if __name__ == "__main__":
    main()
