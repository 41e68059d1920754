"""The judgement after an action: what it did, whether it served the subtask, what is done now."""

import re
from typing import Any, Literal

from core.llm.reply_parser import load_json, split_thinking
from core.schema.step import Judgement

_YES = re.compile(r"\W*(?:answer\s*[:=]\s*)?\W*(yes|no|true|false)\b", re.IGNORECASE)
_LAST = re.compile(r"\b(?:answer|verdict|conclusion)\s*(?:is|:|=)\s*\W*(yes|no)\b", re.IGNORECASE)
_ALONE = re.compile(r"[\W_]*(?:\w+\s*:\s*)?[\W_]*(yes|no)[\W_]*", re.IGNORECASE)
_SUBTASK = re.compile(r"\b(done|needless|open|yes|no)\b", re.IGNORECASE)
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)

SubtaskSaid = Literal["open", "done", "needless"]

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "effect": {"type": "string", "description": "One sentence: what the action did in the page."},
        "aligned": {"type": "boolean", "description": "Whether it served the current subtask."},
        "subtask": {"type": "string", "enum": ["open", "done", "needless"]},
        "task_done": {"type": "boolean", "description": "Whether nothing of the task is left to do."},
    },
    "required": ["effect", "aligned", "subtask", "task_done"],
    "additionalProperties": False,
}
"""The structured reply that answers all four questions at once."""


def read_yes_no(text: str) -> bool | None:
    """Return what a reply says: its first word, or else what it calls its answer; None where it tells neither."""
    match = _YES.match(text) or _LAST.search(text)
    if match is None:
        return None
    return match[1].lower() in ("yes", "true")


def read_aligned(text: str) -> Judgement:
    """Return what a reply of a sentence and a line with yes or no says; either may come first."""
    lines = [line.strip() for line in split_thinking(text)[1].splitlines() if line.strip()]
    for number in reversed(range(len(lines))):
        if alone := _ALONE.fullmatch(lines[number]):
            sentence = " ".join((*lines[:number], *lines[number + 1 :]))
            return Judgement(sentence=sentence, aligned=alone[1].lower() == "yes")
    whole = " ".join(lines)
    return Judgement(sentence=whole, aligned=read_yes_no(lines[-1]) if lines else None)


def read_subtask(text: str) -> SubtaskSaid | None:
    """Return what a reply says of the subtask; its first word of that kind counts, yes for done."""
    match = _SUBTASK.search(split_thinking(text)[1])
    if match is None:
        return None
    said = match[1].lower()
    if said in ("yes", "done"):
        return "done"
    return "needless" if said == "needless" else "open"


def read_judgement(text: str) -> Judgement:
    """Return what a structured reply says; what it does not say is None."""
    found = _OBJECT.search(split_thinking(text)[1])
    try:
        values = load_json(found[0]) if found is not None else {}
    except ValueError:
        values = {}
    aligned, over, task = values.get("aligned"), values.get("subtask"), values.get("task_done")
    known = over in ("open", "done", "needless")
    return Judgement(
        sentence=str(values.get("effect") or "").strip(),
        aligned=aligned if isinstance(aligned, bool) else None,
        subtask_done=over != "open" if known else None,
        needless=over == "needless",
        task_done=task if isinstance(task, bool) else None,
    )
