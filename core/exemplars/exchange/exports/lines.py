"""Exemplars a line each: as this program reads them, and in the Agent Trajectory Interchange Format (ATIF).

An exemplar tells no times, tokens and costs: these fields of ATIF are left
out. Its page before an action is what the step before it came to.
"""

import hashlib
import json
from typing import Any

from core.exemplars.files import line_of, toml_name, toml_of
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError
from core.schema.exemplar import Exemplar, ExemplarStep
from core.system.program import program_version
from core.trace.exports.atif import VERSION, tool_call
from core.trace.exports.steps import AGENT


def export_lines(exemplars: tuple[Exemplar, ...]) -> dict[str, str]:
    """Return the file of this program's own lines, as in resources/exemplars/README.md."""
    return {"": "".join(f"{line_of(exemplar)}\n" for exemplar in exemplars)}


def export_toml(exemplars: tuple[Exemplar, ...]) -> dict[str, str]:
    """Return a file for each exemplar by its path, such as ``flights/oakland.toml``."""
    return {toml_name(exemplar.id): toml_of(exemplar) for exemplar in exemplars}


def export_atif(exemplars: tuple[Exemplar, ...]) -> dict[str, str]:
    return {
        "": "".join(f"{json.dumps(_trajectory(exemplar), ensure_ascii=False)}\n" for exemplar in exemplars)
    }


def _trajectory(exemplar: Exemplar) -> dict[str, Any]:
    id = hashlib.sha256(exemplar.id.encode()).hexdigest()[:32]
    pages = [step.observation for step in exemplar.steps]
    steps: list[dict[str, Any]] = [{"source": "user", "message": exemplar.task}]
    if pages[0]:
        page = {"results": [{"content": pages[0]}]}
        steps.append({"source": "system", "message": "The task starts at this page.", "observation": page})
    steps += [
        _step(number, step, after)
        for number, (step, after) in enumerate(zip(exemplar.steps, [*pages[1:], ""], strict=True), start=1)
    ]
    included = {"id", "family", "environment", "source", "tags", "note", "metadata"}
    return {
        "schema_version": VERSION,
        "session_id": id,
        "trajectory_id": id,
        "agent": {"name": AGENT, "version": program_version()},
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, start=1)],
        "final_metrics": {"total_steps": len(steps)},
        "extra": {"exemplar": exemplar.model_dump(mode="json", include=included, exclude_defaults=True)},
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
        return tool_call(id, parse_action(text))
    except ActionSyntaxError:
        return {"tool_call_id": id, "function_name": "text", "arguments": {"text": text}}
