"""Exemplars as data for fine-tuning: conversations, and pairs of a right and a wrong reply; one JSON object per line.

Each page stands as in a prompt: the task and the first page, the reply, the next page, and so on. The system
message is that of the preset Synapse, with the actions that this trajectory uses. Nothing tells the reply before
it: contrasts are not in the pages but become pairs of their own.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from core.agent.prompts import Prompts
from core.exemplars.checks import fault, unreadable
from core.llm.repair import ReplyFormat
from core.schema.action import ACTIONS
from core.schema.action_space import PermissibleAction
from core.schema.action_text import parse_action, usage
from core.schema.errors import ActionSyntaxError
from core.schema.exemplar import Exemplar
from core.schema.observation import CleanObservation
from core.trace.exports.atif import tool_call

SYSTEM = "synapse/system.j2"
TURN = "turn.j2"
_ROLES = {"system": "system", "user": "human", "assistant": "gpt"}
"""Of ShareGPT, by those of chat completions."""
_TYPES: dict[Any, str] = {bool: "boolean", int: "integer", float: "number"}


def unfit(exemplar: Exemplar) -> str:
    """Return why an exemplar is not to be trained with; empty if it is fit."""
    for number, step in enumerate(exemplar.steps, start=1):
        if not step.observation.strip():
            return f"step {number} has no page"
    return unreadable(exemplar) if exemplar.review.although else fault(exemplar)


def unfit_for_pairs(exemplar: Exemplar) -> str:
    """Return why an exemplar makes no pairs; empty if it does."""
    contrasts = any(exemplar.mistakes(number) for number in range(len(exemplar.steps)))
    return unfit(exemplar) or ("" if contrasts else "it has no contrast on the page of a step")


def export_chat(exemplars: tuple[Exemplar, ...]) -> dict[str, str]:
    """Return lines of ``messages``, as chat completions are fine-tuned with."""
    prompts = Prompts()
    return _lines({"messages": _messages(exemplar, prompts)} for exemplar in exemplars)


def export_sharegpt(exemplars: tuple[Exemplar, ...]) -> dict[str, str]:
    """Return lines of ``conversations``, each turn with ``from`` and ``value``."""
    prompts = Prompts()
    return _lines(
        {
            "conversations": [
                {"from": _ROLES[message["role"]], "value": message["content"]}
                for message in _messages(exemplar, prompts)
            ]
        }
        for exemplar in exemplars
    )


def export_tools(exemplars: tuple[Exemplar, ...]) -> dict[str, str]:
    """Return lines of ``messages`` and ``tools``: actions are calls, and the next page is the result of the last."""
    prompts = Prompts()
    return _lines(_with_tools(exemplar, prompts) for exemplar in exemplars)


def export_pairs(exemplars: tuple[Exemplar, ...]) -> dict[str, str]:
    """Return a line for each contrast: ``prompt``, and what is ``chosen`` and ``rejected`` after it, as messages.

    It is the conversational form of preference data that DPO is trained with.
    """
    prompts = Prompts()
    return _lines(pair for exemplar in exemplars for pair in _pairs(exemplar, prompts))


def _lines(values: Iterable[dict[str, Any]]) -> dict[str, str]:
    return {"": "".join(f"{json.dumps(value, ensure_ascii=False)}\n" for value in values)}


def _messages(exemplar: Exemplar, prompts: Prompts) -> list[dict[str, Any]]:
    messages = [_system(exemplar, prompts, "lines")]
    for number, step in enumerate(exemplar.steps):
        messages.append({"role": "user", "content": _page(exemplar, number, prompts)})
        messages.append({"role": "assistant", "content": _reply(step.thought, step.actions)})
    return messages


def _pairs(exemplar: Exemplar, prompts: Prompts) -> Iterator[dict[str, Any]]:
    messages = _messages(exemplar, prompts)
    for number in range(len(exemplar.steps)):
        for contrast in exemplar.mistakes(number):
            replies = (
                _reply(why, (text,)) for why, text in ((contrast.why, contrast.right), ("", contrast.tried))
            )
            chosen, rejected = ([{"role": "assistant", "content": text}] for text in replies)
            yield {"prompt": messages[: 2 + 2 * number], "chosen": chosen, "rejected": rejected}


def _with_tools(exemplar: Exemplar, prompts: Prompts) -> dict[str, Any]:
    messages = [_system(exemplar, prompts, "tools"), {"role": "user", "content": _page(exemplar, 0, prompts)}]
    for number, step in enumerate(exemplar.steps):
        calls = []
        for place, text in enumerate(step.actions, start=1):
            call = tool_call(f"call_{number + 1}_{place}", parse_action(text))
            function = {
                "name": call["function_name"],
                "arguments": json.dumps(call["arguments"], ensure_ascii=False),
            }
            calls.append({"id": call["tool_call_id"], "type": "function", "function": function})
        messages.append({"role": "assistant", "content": step.thought or None, "tool_calls": calls})
        if number + 1 < len(exemplar.steps):
            results = ["Done."] * (len(calls) - 1) + [_page(exemplar, number + 1, prompts)]
            messages += [
                {"role": "tool", "tool_call_id": call["id"], "content": result}
                for call, result in zip(calls, results, strict=True)
            ]
    return {"messages": messages, "tools": [_tool(kind) for kind in _used(exemplar)]}


def _system(exemplar: Exemplar, prompts: Prompts, form: ReplyFormat) -> dict[str, Any]:
    actions = tuple(PermissibleAction(name=kind, description=_described(kind)) for kind in _used(exemplar))
    text = prompts.render(
        SYSTEM,
        objective=exemplar.task,
        reply_format=form,
        several=any(len(step.actions) > 1 for step in exemplar.steps),
        permissible={"actions": actions},
    )
    return {"role": "system", "content": text}


def _page(exemplar: Exemplar, number: int, prompts: Prompts) -> str:
    page = CleanObservation(url="", text=exemplar.steps[number].observation)
    return prompts.render(TURN, objective=exemplar.task, first=number == 0, page=page, mistakes=())


def _reply(thought: str, actions: Sequence[str]) -> str:
    reason = [f"REASON: {thought}"] if thought else []
    return "\n".join((*reason, *(f"ACTION: {text}" for text in actions)))


def _used(exemplar: Exemplar) -> tuple[str, ...]:
    """Return the kinds of actions that the trajectory uses."""
    used: set[str] = set()
    for step in exemplar.steps:
        for text in step.actions:
            try:
                used.add(parse_action(text).kind)
            except ActionSyntaxError:
                continue
    return tuple(kind for kind in ACTIONS if kind in used)


def _described(kind: str) -> str:
    return (ACTIONS[kind].__doc__ or usage(kind)).split("\n")[0]


def _tool(kind: str) -> dict[str, Any]:
    action = ACTIONS[kind]
    names = (*action.fields, *action.options)
    properties = {
        name: {"type": _TYPES.get(action.model_fields[name].annotation, "string")} for name in names
    }
    parameters = {"type": "object", "properties": properties, "required": list(action.fields)}
    return {
        "type": "function",
        "function": {"name": kind, "description": _described(kind), "parameters": parameters},
    }
