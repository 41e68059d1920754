"""Actions written as an LLM would reply with them: tool calls, JSON, or REASON/ACTION lines.

The other way round is `core.llm.repair`. Whoever answers without being an LLM
that speaks (the rules, the person, a scripted server) writes with these.
"""

import json
from collections.abc import Sequence
from typing import Any

from core.action import Action, RefTarget
from core.llm.protocol import ToolCall


def action_arguments(action: Action) -> dict[str, Any]:
    """Return the arguments of an action's tool call.

    A target that is a ref is a number, any other its text. What stands at its
    default and was never set is left out.
    """
    arguments: dict[str, Any] = {}
    for name in (*action.fields, *action.flags):
        value = getattr(action, name)
        required = type(action).model_fields[name].is_required()
        if value is None or not (required or name in action.model_fields_set):
            continue
        if name in ("target", "to"):
            value = value.ref if isinstance(value, RefTarget) else str(value)
        arguments[name] = value
    return arguments


def as_tool_call(action: Action, *, id: str = "call_1") -> ToolCall:
    """Return the tool call that asks for `action`."""
    text = json.dumps(action_arguments(action), ensure_ascii=False)
    return ToolCall(id=id, name=action.kind, arguments=text)


def as_json(thought: str, actions: Sequence[Action]) -> str:
    """Return the JSON reply with this thought and these actions."""
    entries = [{"name": action.kind, **action_arguments(action)} for action in actions]
    return json.dumps({"thought": thought, "actions": entries}, ensure_ascii=False)


def as_lines(thought: str, actions: Sequence[Action]) -> str:
    """Return the REASON/ACTION reply with this thought and these actions."""
    return "\n".join([f"REASON: {thought}", *(f"ACTION: {action}" for action in actions)])
