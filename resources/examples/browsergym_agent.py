"""A small agent on BrowserGym that runs unchanged under Backstep.

    python3 main.py attach --task miniwob/click-test-2 -- python resources/examples/browsergym_agent.py

BrowserGym launches a browser and gets the one in the window. Tested with browsergym-core 0.14.3, Playwright 1.44.0 and
openai 3.54.0 on Python 3.11. Install them in the agent's own environment:

    pip install browsergym-core==0.14.3 openai==3.54.0
"""

import os
import re
from contextlib import suppress

import browsergym.core  # noqa: F401 - it registers the task
import gymnasium
from browsergym.core.action.highlevel import HighLevelActionSet
from browsergym.utils.obs import flatten_axtree_to_str
from openai import OpenAI

MOST_STEPS = 20
SYSTEM = "You work on a task in a web browser, one action at a time."
QUESTION = """# Task
{goal}

# Page
{url}
{page}

# Done so far
{done}

# Error of the last action
{error}

# Actions
{actions}

Think first. Then answer with one action between ``` and ```. When the task is done, send a message to the user."""


def question(observation: dict, done: list[str], actions: HighLevelActionSet) -> str:
    """Return what the LLM is asked about an observation."""
    return QUESTION.format(
        goal=observation["goal"],
        url=observation["url"],
        page=flatten_axtree_to_str(observation["axtree_object"]),
        done="\n".join(done) or "Nothing.",
        error=observation["last_action_error"] or "None.",
        actions=actions.describe(with_long_description=False, with_examples=True),
    )


def main() -> None:
    """Work on the task of Backstep's window until it is done."""
    client, done = OpenAI(), []
    actions = HighLevelActionSet(subsets=["chat", "bid", "nav"], multiaction=False)
    environment = gymnasium.make(
        "browsergym/openended",
        task_kwargs={
            "start_url": os.environ.get("BACKSTEP_START_URL", "about:blank"),
            "goal": os.environ.get("BACKSTEP_TASK", "Say what you see."),
        },
        headless=True,
        wait_for_user_message=False,
        action_mapping=actions.to_python_code,
    )
    with suppress(ImportError):  # It runs without this too; then Backstep infers its steps.
        from backstep_sdk.browsergym import telling

        environment = telling(environment)
    observation, _ = environment.reset()
    for _ in range(MOST_STEPS):
        asked = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": question(observation, done, actions)},
        ]
        reply = client.chat.completions.create(model="any", messages=asked).choices[0].message.content
        found = re.findall(r"```\s*(.*?)\s*```", reply, re.DOTALL)
        action = found[-1] if found else "noop()"
        print(action, flush=True)
        observation, _, terminated, truncated, _ = environment.step(action)
        done.append(action)
        if terminated or truncated or action.startswith("send_msg_to_user"):
            break
    environment.close()


if __name__ == "__main__":
    main()
