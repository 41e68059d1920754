"""Actions written as an LLM would reply with them: tool calls, JSON, or REASON/ACTION lines.

The other way round is `core.llm.repair`. Whoever answers without being an LLM
that speaks (the rules, the person, a scripted server) writes with these.
"""

import json
from collections.abc import Sequence
from typing import Any

from core.schema.action import Action, Named, RefTarget
from core.schema.action_space import Permissible, PermissibleAction
from core.schema.messages import ToolCall


def action_arguments(action: Action, permissible: Permissible | None = None) -> dict[str, Any]:
    """Return the arguments of an action's tool call.

    A target that is a ref is a number, any other its text. What stands at its
    default and was never set is left out. What the arguments of a state's
    action or a policy are called is looked up in `permissible`.
    """
    if isinstance(action, Named):
        allowed = permissible.action(action.name) if permissible is not None else None
        return _named_arguments(action, allowed) if allowed is not None else {}
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


def _named_arguments(action: Named, allowed: PermissibleAction) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for name, value in allowed.arguments(action).items():
        parameter = allowed.parameter(name)
        plain = parameter is None or parameter.type == "string"
        arguments[name] = value if plain else json.loads(value)
    return arguments


def as_tool_call(action: Action, permissible: Permissible | None = None, *, id: str = "call_1") -> ToolCall:
    """Return the tool call that asks for `action`."""
    text = json.dumps(action_arguments(action, permissible), ensure_ascii=False)
    return ToolCall(id=id, name=action.name, arguments=text)


def as_json(thought: str, actions: Sequence[Action], permissible: Permissible | None = None) -> str:
    """Return the JSON reply with this thought and these actions."""
    entries = [{"name": action.name, **action_arguments(action, permissible)} for action in actions]
    return json.dumps({"thought": thought, "actions": entries}, ensure_ascii=False)


def as_lines(thought: str, actions: Sequence[Action]) -> str:
    """Return the REASON/ACTION reply with this thought and these actions."""
    return "\n".join([f"REASON: {thought}", *(f"ACTION: {action}" for action in actions)])
