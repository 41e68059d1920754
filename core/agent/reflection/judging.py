"""The judgement after an action: what it did, whether it served the subtask, what is done now."""

import re

from core.model import Record

_YES = re.compile(r"\W*(?:answer\s*[:=]\s*)?\W*(yes|no|true|false)\b", re.IGNORECASE)
_LAST = re.compile(r"\b(?:answer|verdict|conclusion)\s*(?:is|:|=)\s*\W*(yes|no)\b", re.IGNORECASE)


class Judgement(Record):
    """What the LLM said of a step; None where its reply told neither yes nor no."""

    sentence: str = ""
    """What the action did, and what was learned by it."""
    aligned: bool | None = None
    subtask_done: bool | None = None
    """Done, or not needed any more."""
    needless: bool = False
    task_done: bool | None = None
    by_rule: str = ""
    """Why a part was decided without the LLM, such as a failed action."""


def read_yes_no(text: str) -> bool | None:
    """Return what a reply says: its first word, or else what it calls its answer; None where it tells neither."""
    match = _YES.match(text) or _LAST.search(text)
    if match is None:
        return None
    return match[1].lower() in ("yes", "true")
