"""A run in the Agent Trajectory Interchange Format of the Harbor project, version ATIF-v1.8 (its RFC 0001).

The system prompt, the task and the first page are the first steps; each step
of the run is a step of the agent, whose observation is the result of the action
and the page as the next step was shown it. What the format has no field for
is in `extra`. Screenshots are left out: the format names pictures by files.
"""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from core.schema.action import Action, Named
from core.schema.messages import Prompt, Tool
from core.schema.step import CallRecord
from core.system.program import program_version
from core.trace.calls import stored_prompt
from core.trace.exports.hiding import hiding
from core.trace.exports.steps import AGENT, RunStep, id_of, steps_of, with_next
from core.trace.records import RunRow
from core.trace.store import TraceStore

VERSION = "ATIF-v1.8"


@hiding
def export_atif(store: TraceStore, run: int) -> str:
    """Return the trajectory as JSON; raises TraceError if a part of it is damaged."""
    row, steps, calls = store.run(run), steps_of(store, run), store.calls.of(run)
    begun = {one.number: one.begun for one in store.times(run)}
    prompts = [(call, stored_prompt(store, call)) for call in calls]
    entries = [
        *_opening(row, steps, prompts),
        *(
            {"timestamp": _time(begun[step.number]), **_agent_step(row, step, after)}
            for step, after in with_next(steps)
        ),
    ]
    whole = {
        "schema_version": VERSION,
        "session_id": id_of(row),
        "trajectory_id": id_of(row, "trajectory"),
        "agent": _agent(row, prompts),
        "steps": [{"step_id": number, **step} for number, step in enumerate(entries, start=1)],
        "final_metrics": {
            **_metrics(calls, prefix="total_"),
            "total_steps": len(entries),
            "extra": _given(
                {
                    "seconds": row.seconds,
                    "seconds_in_llm": row.seconds_in_llm,
                    "llm_calls": len(calls),
                    "reward": row.verdict.reward,
                }
            ),
        },
        "extra": _given(
            {
                "task": row.task,
                "environment": row.environment,
                "seed": row.seed,
                "start_url": row.start_url,
                "outcome": row.outcome,
                "verdict": row.verdict.model_dump(),
                "answer": row.answer,
                "error": row.error,
                "left_out": store.left_out,
            }
        ),
    }
    before = sum(call.step == 0 for call in calls)
    if before:
        whole["notes"] = f"final_metrics count {before} LLM calls before the first step, which no step has."
    return json.dumps(whole, indent=1)


def _agent(row: RunRow, prompts: list[tuple[CallRecord, Prompt]]) -> dict[str, Any]:
    tools: dict[str, Tool] = {}
    for _, prompt in prompts:
        for tool in prompt.tools:
            tools.setdefault(tool.name, tool)
    agent: dict[str, Any] = {"name": AGENT, "version": program_version(), "model_name": row.llm}
    if tools:
        agent["tool_definitions"] = [
            {"type": "function", "function": tool.model_dump()} for tool in tools.values()
        ]
    return {**agent, "extra": {"preset": row.preset, "browser": row.browser}}


def _opening(
    row: RunRow, steps: tuple[RunStep, ...], prompts: list[tuple[CallRecord, Prompt]]
) -> list[dict[str, Any]]:
    """Return the system prompt of the first call, the task, and the page that it started from."""
    opening: list[dict[str, Any]] = []
    messages = prompts[0][1].messages if prompts else ()
    system = "\n\n".join(message.text for message in messages if message.role == "system")
    if system:
        opening.append({"timestamp": _time(row.started), "source": "system", "message": system})
    opening.append({"timestamp": _time(row.started), "source": "user", "message": row.instruction})
    if steps and steps[0].observed is not None:
        opening.append(
            {
                "timestamp": _time(row.started),
                "source": "system",
                "message": f"The task starts at {steps[0].row.url}.",
                "observation": {"results": [{"content": steps[0].page_text}]},
            }
        )
    return opening


def _agent_step(row: RunRow, step: RunStep, after: RunStep | None) -> dict[str, Any]:
    calls = step.detail.calls
    action = step.action
    entry: dict[str, Any] = {
        "source": "agent",
        "model_name": next((call.model for call in calls if call.model), row.llm),
        "message": f"{action} {step.row.target}".strip() if action is not None else step.row.message,
        "llm_call_count": len(calls),
    }
    extra = _extra(step)
    if calls:
        entry["metrics"] = _metrics(calls)
        if step.row.thought:
            entry["reasoning_content"] = step.row.thought
    elif step.row.thought:
        extra["thought"] = step.row.thought
    result: dict[str, Any] = {"content": _outcome(step, after)}
    if action is not None:
        id = f"step-{step.number}"
        call, carried_out = tool_call(id, action), _carried_out(step)
        entry["tool_calls"] = [{**call, "extra": carried_out} if carried_out else call]
        result["source_call_id"] = id
    if step.acted is not None:
        entry["observation"] = {"results": [result]}
    return {**entry, "extra": extra}


def tool_call(id: str, action: Action) -> dict[str, Any]:
    """Return an action as a call with its arguments by name."""
    if isinstance(action, Named):
        arguments: dict[str, Any] = {"arguments": list(action.arguments)}
    else:
        arguments = {
            name: str(value) if name in ("target", "to") else value for name, value in action.given.items()
        }
    return {"tool_call_id": id, "function_name": action.name, "arguments": arguments}


def _carried_out(step: RunStep) -> dict[str, Any]:
    acted = step.acted
    primitives = acted.primitives if acted is not None else ()
    return _given(
        {
            "target": step.row.target,
            "xpath": acted.xpath if acted is not None else "",
            "primitives": [f"{primitive.action} {primitive.target}".rstrip() for primitive in primitives],
        }
    )


def _outcome(step: RunStep, after: RunStep | None) -> str:
    """Return the result of the step, and the page that it left behind where the next one tells it."""
    said = f"{step.row.outcome}: {step.row.message}" if step.row.message else step.row.outcome
    if after is None or after.observed is None or after.observed.reused:
        return said
    return f"{said}\n\n{after.row.url}\n{after.page_text}"


def _extra(step: RunStep) -> dict[str, Any]:
    row, aligned, reviewed = step.row, step.aligned, step.reviewed
    proposed = reviewed.proposed if reviewed is not None and reviewed.edited else None
    return _given(
        {
            "step": row.number,
            "trial": row.trial,
            "origin": step.origin,
            "effect": row.effect,
            "outcome": row.outcome,
            "state": row.state,
            "url": row.url,
            "title": row.title,
            "seconds": row.seconds,
            "sealed": row.sealed,
            "proposed": str(proposed) if proposed is not None else "",
            "judgement": aligned.sentence if aligned is not None else "",
            "aligned": aligned.aligned if aligned is not None and aligned.judged else None,
            "undone_by_step": step.undone_by,
        }
    )


def _metrics(calls: Iterable[CallRecord], prefix: str = "") -> dict[str, Any]:
    """Return what these calls took together; the cost is left out if none has a price."""
    calls = tuple(calls)
    metrics: dict[str, Any] = {
        f"{prefix}prompt_tokens": sum(call.usage.prompt_tokens for call in calls),
        f"{prefix}completion_tokens": sum(call.usage.completion_tokens for call in calls),
        f"{prefix}cached_tokens": sum(call.usage.cached_tokens for call in calls),
    }
    costs = [call.cost for call in calls if call.cost is not None]
    if costs:
        metrics[f"{prefix}cost_usd"] = sum(costs)
    if not prefix and any(call.usage.estimated for call in calls):
        metrics["extra"] = {"estimated": True}
    return metrics


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, "", [])}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
