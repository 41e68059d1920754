"""How two versions of an exemplar differ, part by part."""

from core.schema.exemplar import Exemplar
from core.schema.record import Record


class VersionDifference(Record):
    """One part that is not the same in both; a part that one of them lacks is empty there."""

    part: str
    """Such as ``family`` or ``look 2, thought``."""
    before: str = ""
    after: str = ""


def differences(before: Exemplar, after: Exemplar) -> tuple[VersionDifference, ...]:
    """Return what differs, in the order of the parts; nothing for equal ones."""
    left, right = _parts(before), _parts(after)
    names = list(dict.fromkeys((*left, *right)))
    places = {name: number for number, name in enumerate((*_NAMES,))}
    names.sort(key=lambda name: places.get(name.partition(" ")[0], len(places)))
    return tuple(
        VersionDifference(part=name, before=left.get(name, ""), after=right.get(name, ""))
        for name in names
        if left.get(name, "") != right.get(name, "")
    )


_NAMES = ("id", "family", "task", "environment", "metadata", "look", "abstraction", "parser", "contrast")


def _parts(exemplar: Exemplar) -> dict[str, str]:
    parts = {
        name: str(getattr(exemplar, name))
        for name in ("id", "family", "task", "environment", "metadata", "parser", "source", "note")
    }
    parts["tags"] = ", ".join(exemplar.tags)
    for number, step in enumerate(exemplar.steps, start=1):
        parts[f"look {number}, observation"] = step.observation
        parts[f"look {number}, whole page"] = step.raw
        parts[f"look {number}, thought"] = step.thought
        parts[f"look {number}, actions"] = "\n".join(step.actions)
    for number, pair in enumerate(exemplar.abstraction, start=1):
        parts[f"abstraction {number}, state"] = pair.state
        parts[f"abstraction {number}, observation"] = pair.observation
    for number, contrast in enumerate(exemplar.contrasts, start=1):
        for name in ("observation", "tried", "right", "why"):
            parts[f"contrast {number}, {name}"] = str(getattr(contrast, name))
    return parts
