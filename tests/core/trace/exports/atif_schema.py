"""The rules of ATIF-v1.8 (Harbor's RFC 0001, with its validator's), written out: what is wrong with a document."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

_TEXT, _NUMBER, _OBJECT, _LIST = str, (int, float), dict, list
_ROOT = {
    "schema_version": (_TEXT, True),
    "session_id": (_TEXT, False),
    "trajectory_id": (_TEXT, False),
    "agent": (_OBJECT, True),
    "steps": (_LIST, True),
    "notes": (_TEXT, False),
    "final_metrics": (_OBJECT, False),
    "continued_trajectory_ref": (_TEXT, False),
    "extra": (_OBJECT, False),
    "subagent_trajectories": (_LIST, False),
}
_AGENT = {
    "name": (_TEXT, True),
    "version": (_TEXT, True),
    "model_name": (_TEXT, False),
    "tool_definitions": (_LIST, False),
    "extra": (_OBJECT, False),
}
_STEP = {
    "step_id": (int, True),
    "timestamp": (_TEXT, False),
    "source": (_TEXT, True),
    "model_name": (_TEXT, False),
    "reasoning_effort": ((str, int, float), False),
    "message": ((str, list), True),
    "reasoning_content": (_TEXT, False),
    "tool_calls": (_LIST, False),
    "observation": (_OBJECT, False),
    "metrics": (_OBJECT, False),
    "llm_call_count": (int, False),
    "is_copied_context": (bool, False),
    "extra": (_OBJECT, False),
}
_TOOL_CALL = {
    "tool_call_id": (_TEXT, True),
    "function_name": (_TEXT, True),
    "arguments": (_OBJECT, True),
    "extra": (_OBJECT, False),
}
_RESULT = {
    "source_call_id": (_TEXT, False),
    "content": ((str, list), False),
    "subagent_trajectory_ref": (_LIST, False),
    "extra": (_OBJECT, False),
}
_METRICS = {
    "prompt_tokens": (int, False),
    "completion_tokens": (int, False),
    "cached_tokens": (int, False),
    "cost_usd": (_NUMBER, False),
    "prompt_token_ids": (_LIST, False),
    "completion_token_ids": (_LIST, False),
    "logprobs": (_LIST, False),
    "extra": (_OBJECT, False),
}
_FINAL = {
    "total_prompt_tokens": (int, False),
    "total_completion_tokens": (int, False),
    "total_cached_tokens": (int, False),
    "total_cost_usd": (_NUMBER, False),
    "total_steps": (int, False),
    "extra": (_OBJECT, False),
}
_AGENT_ONLY = ("model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics")


def problems(document: dict[str, Any]) -> list[str]:
    """Return every rule that the document breaks, with its place."""
    return list(_problems(document))


def _problems(document: dict[str, Any]) -> Iterator[str]:
    yield from _fields("root", document, _ROOT)
    if document.get("schema_version") != "ATIF-v1.8":
        yield "root: the version is not ATIF-v1.8"
    yield from _fields("agent", document.get("agent", {}), _AGENT)
    yield from _fields("final_metrics", document.get("final_metrics", {}), _FINAL)
    for place, step in enumerate(document.get("steps", ()), start=1):
        yield from _step(f"step {place}", place, step)


def _step(where: str, place: int, step: dict[str, Any]) -> Iterator[str]:
    yield from _fields(where, step, _STEP)
    if step.get("step_id") != place:
        yield f"{where}: step_id is {step.get('step_id')}"
    if step.get("source") not in ("system", "user", "agent"):
        yield f"{where}: there is no source {step.get('source')}"
    if step.get("source") != "agent":
        yield from (f"{where}: {name} is for agents only" for name in _AGENT_ONLY if name in step)
    if step.get("llm_call_count") == 0:
        yield from (
            f"{where}: {name} without an LLM call"
            for name in ("metrics", "reasoning_content")
            if name in step
        )
    if "timestamp" in step:
        try:
            datetime.fromisoformat(step["timestamp"].replace("Z", "+00:00"))
        except ValueError:
            yield f"{where}: {step['timestamp']} is no ISO 8601 time"
    yield from _fields(f"{where} metrics", step.get("metrics", {}), _METRICS)
    calls = step.get("tool_calls", [])
    for call in calls:
        yield from _fields(f"{where} tool call", call, _TOOL_CALL)
    known = {call.get("tool_call_id") for call in calls}
    observation = step.get("observation")
    if observation is None:
        return
    if set(observation) != {"results"}:
        yield f"{where}: an observation has results and nothing else"
    for result in observation.get("results", ()):
        yield from _fields(f"{where} result", result, _RESULT)
        source = result.get("source_call_id")
        if source is not None and source not in known:
            yield f"{where}: there is no tool call {source}"


def _fields(where: str, values: dict[str, Any], allowed: dict[str, Any]) -> Iterator[str]:
    for name, (kind, required) in allowed.items():
        if required and values and name not in values:
            yield f"{where}: {name} is missing"
        value = values.get(name)
        wrong_number = isinstance(value, bool) and kind in (int, _NUMBER)
        if name in values and (not isinstance(value, kind) or wrong_number):
            yield f"{where}: {name} is {type(value).__name__}"
    yield from (f"{where}: {name} is not known" for name in values if name not in allowed)
