"""Exemplars as conversations for fine-tuning with chat completions: one JSON object per line.

Each looks as in a prompt: the task and the first page, the reply with its REASON and ACTION lines, the next
page, and so on. It begins with the system message of the preset Synapse, with the actions that this
trajectory uses.
"""

import json
from collections.abc import Iterable
from typing import Any

from core.agent.prompt_builder import exemplar_messages
from core.agent.prompts import Prompts
from core.schema.action import ACTIONS
from core.schema.action_space import PermissibleAction
from core.schema.action_text import parse_action, usage
from core.schema.errors import ActionSyntaxError
from core.schema.exemplar import Exemplar

SYSTEM = "synapse/system.j2"
TURN = "turn.j2"


def export_chat(exemplars: tuple[Exemplar, ...]) -> dict[str, str]:
    prompts = Prompts()
    return {
        "": "".join(
            f"{json.dumps(_conversation(exemplar, prompts), ensure_ascii=False)}\n" for exemplar in exemplars
        )
    }


def _conversation(exemplar: Exemplar, prompts: Prompts) -> dict[str, Any]:
    def turn(**more: Any) -> str:
        return prompts.render(TURN, **more)

    system = prompts.render(
        SYSTEM,
        objective=exemplar.task,
        reply_format="lines",
        several=True,
        permissible={"actions": tuple(_used(exemplar))},
    )
    messages = [
        {"role": "system", "content": system},
        *(
            {"role": message.role, "content": message.text}
            for message in exemplar_messages(exemplar, "lines", turn)
        ),
    ]
    return {"messages": messages}


def _used(exemplar: Exemplar) -> Iterable[PermissibleAction]:
    """Return the actions of any page that the trajectory uses, as the prompt lists them."""
    used: set[str] = set()
    for step in exemplar.steps:
        for text in step.actions:
            try:
                used.add(parse_action(text).kind)
            except ActionSyntaxError:
                continue
    for kind, action in ACTIONS.items():
        if kind in used:
            yield PermissibleAction(name=kind, description=(action.__doc__ or usage(kind)).split("\n")[0])
