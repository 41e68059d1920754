"""The plan: subtasks in order, each with how it stands."""

import re

from core.schema.progress import Plan, Subtask

LONGEST = 30
"""Subtasks that a plan holds at the most; what an LLM writes beyond them is dropped and told."""

_MARK = re.compile(
    r"^\s*(?:\*\*)?(?:(?:step|subtask)\s*)?(\d{1,3})\s*[.):\]-]\s*(?:\*\*)?\s*|^\s*[-*•]\s+", re.IGNORECASE
)


def read_plan(text: str, *, revision: int = 0) -> Plan | None:
    """Return the plan that a reply holds, or None where it holds none.

    A numbered or dashed list counts; lines that go on an item belong to it,
    and what stands before the list does not. A reply without a list is one
    subtask where it is one line.
    """
    items: list[str] = []
    for line in text.splitlines():
        mark = _MARK.match(line)
        if mark and line[mark.end() :].strip():
            items.append(line[mark.end() :].strip())
        elif items and line.strip() and line[:1].isspace():
            items[-1] += " " + line.strip()
    if not items:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if len(lines) != 1:
            return None
        items = lines
    cleaned = [" ".join(item.replace("**", "").split()) for item in items]
    remark = f"{len(cleaned) - LONGEST} further subtasks were left out." if len(cleaned) > LONGEST else ""
    plan = Plan(
        subtasks=tuple(Subtask(text=one) for one in cleaned[:LONGEST]), revision=revision, remark=remark
    )
    return plan.with_current(0)
