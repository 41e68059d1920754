"""Reads judgements from replies, strictly by their form.

A word such as YES counts if it is alone on a line, alone as the last sentence, or the first word of the reply
before a punctuation mark. If there is no such word, a word counts after a label inside a line, such as "the
answer is", before a punctuation mark or the end of the line. If several words count, all must say the same.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from core.llm.replies import find_object, plain, split_thinking
from core.schema.step import Judgement

T = TypeVar("T")

SubtaskSaid = Literal["open", "done", "needless"]
_YES_NO: Mapping[str, bool] = {"yes": True, "true": True, "no": False, "false": False}
_SUBTASK: Mapping[str, SubtaskSaid] = {
    "done": "done",
    "yes": "done",
    "needless": "needless",
    "open": "open",
    "no": "open",
}
# Runs are taken whole (`*+`): signs that two of them could share would take for ever on a line of nothing else.
_MARKUP = r"[*_`#>\"'“”]*+"
_LABEL = r"(?:answer|verdict|conclusion|aligned|subtask|task)"
_BOOL = TypeAdapter(bool)

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
    """Return whether a reply says yes; None if it says neither, or both."""
    return _said(text, _YES_NO)[0]


def read_subtask(text: str) -> SubtaskSaid | None:
    """Return what a reply says of the subtask, yes for done; None if it says nothing, or several things."""
    return _said(text, _SUBTASK)[0]


def read_aligned(text: str) -> Judgement:
    """Return the sentence of a reply, and what it says with yes or no."""
    aligned, sentence = _said(text, _YES_NO)
    return Judgement(sentence=sentence, aligned=aligned)


def read_judgement(text: str) -> Judgement:
    """Return what a structured reply says; what it does not say is None. Booleans may be written as words."""
    values = find_object(split_thinking(text)[1], SCHEMA["required"])
    over = str(values.get("subtask", "")).strip().lower()
    known = over in ("open", "done", "needless")
    return Judgement(
        sentence=plain(str(values.get("effect") or "")).strip(),
        aligned=_bool(values.get("aligned")),
        subtask_done=over != "open" if known else None,
        needless=over == "needless",
        task_done=_bool(values.get("task_done")),
    )


def read_place(text: str) -> int:
    """Return the number that a reply begins with, or the only one in it; 0 if it has none or says that none is."""
    said = split_thinking(text)[1]
    first = re.match(r"\W*+(\d+)\b", said)
    numbers = {first[1]} if first else set(re.findall(r"\d+", said))
    is_none = first is None and re.search(r"\b(?:no|none|not|neither)\b", said, re.IGNORECASE)
    return int(numbers.pop()[:6]) if len(numbers) == 1 and not is_none else 0


def _bool(value: object) -> bool | None:
    try:
        return _BOOL.validate_python(value)
    except ValidationError:
        return None


def _said(text: str, words: Mapping[str, T]) -> tuple[T | None, str]:
    """Return the judgement words of a reply, and the reply without those that stand alone."""
    lines = [line.strip() for line in split_thinking(text)[1].splitlines() if line.strip()]
    one = f"{_MARKUP}({'|'.join(words)}){_MARKUP}"
    alone = re.compile(rf"\W*+(?:{_LABEL}{_MARKUP}\s*+[:=]\s*+)?+\W*+{one}\W*+", re.IGNORECASE)
    ends = r"(?=\s*(?:[.,;:!()–—]|$)|\s+-)(?!\s*\.\s*\d)"
    first = re.compile(rf"\W*+{one}{ends}", re.IGNORECASE)
    last = re.compile(rf"(?<=[.!?])\s+{one}[.!]*$", re.IGNORECASE)
    labelled = re.compile(
        rf"\b(?:answer|verdict|conclusion){_MARKUP}\s*+(?:is\s*+:?+|:|=)\s*+{one}{ends}", re.IGNORECASE
    )
    found: list[T] = []
    beside: list[T] = []
    rest: list[str] = []
    for number, line in enumerate(lines):
        if match := alone.fullmatch(line):
            found.append(words[match[1].lower()])
            continue
        if number == 0 and (match := first.match(line)):
            found.append(words[match[1].lower()])
        elif number == len(lines) - 1 and (match := last.search(line)):
            found.append(words[match[1].lower()])
            line = line[: match.start()]
        beside += [words[match[1].lower()] for match in labelled.finditer(line)]
        rest.append(line)
    # What follows a label inside a line may be words of the page.
    found = found or beside
    said = found[0] if found and all(other == found[0] for other in found) else None
    return said, " ".join(rest)
