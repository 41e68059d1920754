"""Exemplars a line each: as this program reads them, and in the Agent Trajectory Interchange Format (ATIF).

An exemplar tells no times, tokens and costs: these fields of ATIF are left
out. Its page before an action is what the step before it came to.
"""

import hashlib
import json
from typing import Any

from core.memory.files import line_of
from core.schema.action import Named
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError
from core.schema.exemplar import Exemplar, ExemplarStep
from core.trace.exports.atif import VERSION
from core.trace.exports.steps import AGENT, backstep_version


def export_lines(exemplars: tuple[Exemplar, ...]) -> dict[str, str]:
    """Return the file of this program's own lines, as in resources/exemplars/README.md."""
    return {"": "".join(f"{line_of(one)}\n" for one in exemplars)}


def export_atif(exemplars: tuple[Exemplar, ...]) -> dict[str, str]:
    return {"": "".join(f"{json.dumps(_trajectory(one), ensure_ascii=False)}\n" for one in exemplars)}


def _trajectory(exemplar: Exemplar) -> dict[str, Any]:
    id = hashlib.sha256(exemplar.id.encode()).hexdigest()[:32]
    first = exemplar.steps[0].observation
    entries: list[dict[str, Any]] = [{"source": "user", "message": exemplar.task}]
    if first:
        entries.append(
            {
                "source": "system",
                "message": "The task starts at this page.",
                "observation": {"results": [{"content": first}]},
            }
        )
    entries += [
        _step(number, step, after.observation if after is not None else "")
        for number, (step, after) in enumerate(
            zip(exemplar.steps, (*exemplar.steps[1:], None), strict=True), start=1
        )
    ]
    about = exemplar.model_dump(
        mode="json",
        include={"id", "family", "environment", "source", "tags", "note", "metadata"},
        exclude_defaults=True,
    )
    return {
        "schema_version": VERSION,
        "session_id": id,
        "trajectory_id": id,
        "agent": {"name": AGENT, "version": backstep_version()},
        "steps": [{"step_id": number, **one} for number, one in enumerate(entries, start=1)],
        "final_metrics": {"total_steps": len(entries)},
        "extra": {"exemplar": about},
    }


def _step(number: int, step: ExemplarStep, after: str) -> dict[str, Any]:
    calls = [_call(f"step-{number}-{place}", text) for place, text in enumerate(step.actions, start=1)]
    entry: dict[str, Any] = {"source": "agent", "message": "\n".join(step.actions), "tool_calls": calls}
    if step.thought:
        entry["reasoning_content"] = step.thought
    if after:
        # What the page showed then came of all the actions together.
        entry["observation"] = {"results": [{"source_call_id": calls[-1]["tool_call_id"], "content": after}]}
    return entry


def _call(id: str, text: str) -> dict[str, Any]:
    try:
        action = parse_action(text)
    except ActionSyntaxError:
        return {"tool_call_id": id, "function_name": "text", "arguments": {"text": text}}
    arguments: dict[str, Any]
    if isinstance(action, Named):
        arguments = {"arguments": list(action.arguments)}
    else:
        arguments = {
            name: str(value) if name in ("target", "to") else value for name, value in action.given.items()
        }
    return {"tool_call_id": id, "function_name": action.name, "arguments": arguments}
