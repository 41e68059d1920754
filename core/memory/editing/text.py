"""A draft as one text, line by line, to be compared with another of it."""

from core.memory.editing.draft import Draft


def told(draft: Draft) -> str:
    """Return all that a draft has; what is empty is left out."""
    lines: list[str] = []
    for name in ("id", "family", "task", "environment", "metadata", "source", "note"):
        _add(lines, name, getattr(draft, name))
    _add(lines, "tags", ", ".join(draft.tags))
    for number, step in enumerate(draft.steps, start=1):
        _add(lines, f"look {number}, observation", step.observation, always=True)
        _add(lines, f"look {number}, whole page", step.raw)
        _add(lines, f"look {number}, thought", step.thought)
        _add(lines, f"look {number}, actions", "\n".join(step.actions), always=True)
    for number, one in enumerate(draft.contrasts, start=1):
        for name in ("observation", "tried", "right", "why"):
            _add(lines, f"contrast {number}, {name}", getattr(one, name))
    for number, pair in enumerate(draft.abstraction, start=1):
        _add(lines, f"pair {number}, state", pair.state)
        _add(lines, f"pair {number}, observation", pair.observation)
    _add(lines, "parser", draft.parser)
    return "\n".join(lines)


def _add(lines: list[str], name: str, text: str, *, always: bool = False) -> None:
    if not text and not always:
        return
    lines.append(f"— {name}")
    lines += text.splitlines()
