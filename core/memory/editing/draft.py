"""A draft: an exemplar while it is edited, possibly incomplete or wrong, with its history."""

from typing import TypeVar

from core.schema.exemplar import Draft, DraftStep
from core.schema.record import Record

T = TypeVar("T")
EMPTY = Draft(steps=(DraftStep(),))
"""What is begun from nothing: one look, to be filled in."""
MOST = 500
"""Changes that can be undone; older ones are forgotten."""


class State(Record):
    """A draft after a change."""

    draft: Draft
    name: str = ""
    """The change that led to it, as an order: ``merge looks``."""
    key: str = ""
    """Changes in a row with the same key are one, such as letters typed into one field; empty is never joined."""


class DraftHistory(Record):
    """The states of a draft in order, and which one is present."""

    states: tuple[State, ...]
    at: int = 0

    @classmethod
    def of(cls, draft: Draft) -> "DraftHistory":
        return cls(states=(State(draft=draft),))

    @property
    def now(self) -> Draft:
        return self.states[self.at].draft

    @property
    def undo_name(self) -> str:
        """The change that `undone` takes back; empty if there is none."""
        return self.states[self.at].name if self.at else ""

    @property
    def redo_name(self) -> str:
        return self.states[self.at + 1].name if self.at + 1 < len(self.states) else ""

    def done(self, name: str, draft: Draft, *, key: str = "") -> "DraftHistory":
        """Return it with a change made; what was undone before it is forgotten. No difference is not a change."""
        if draft == self.now:
            return self
        state = State(draft=draft, name=name, key=key)
        kept = self.states[: self.at + 1]
        if key and kept[-1].key == key and self.at:
            kept = kept[:-1]
        kept = (*kept, state)[-MOST - 1 :]
        return DraftHistory(states=kept, at=len(kept) - 1)

    def sealed(self) -> "DraftHistory":
        """Return it so that the next change is one of its own, whatever its key."""
        last = self.states[self.at]
        if not last.key:
            return self
        states = (*self.states[: self.at], last.replace(key=""), *self.states[self.at + 1 :])
        return DraftHistory(states=states, at=self.at)

    def undone(self) -> "DraftHistory":
        return self.sealed().replace(at=max(0, self.at - 1)).sealed()

    def redone(self) -> "DraftHistory":
        return self.replace(at=min(len(self.states) - 1, self.at + 1)).sealed()

    def names_since(self, draft: Draft | None) -> tuple[str, ...]:
        """Return the changes made since a draft was the present one, each once; all where it is not known."""
        names: dict[str, None] = {}
        for state in reversed(self.states[: self.at + 1]):
            if state.draft == draft:
                break
            if state.name:
                names[state.name] = None
        return tuple(reversed(names))


def parts_of(draft: Draft, *, pair: str = "pair") -> dict[str, str]:
    """Return all that a draft or an exemplar says, by name, such as ``look 2, thought``; `pair` names its pairs."""
    parts = {
        name: getattr(draft, name)
        for name in ("id", "family", "task", "environment", "metadata", "source", "note")
    }
    parts["tags"] = ", ".join(draft.tags)
    for number, step in enumerate(draft.steps, start=1):
        parts[f"look {number}, observation"] = step.observation
        parts[f"look {number}, whole page"] = step.raw
        parts[f"look {number}, thought"] = step.thought
        parts[f"look {number}, actions"] = "\n".join(step.actions)
    for number, contrast in enumerate(draft.contrasts, start=1):
        for name in ("observation", "tried", "right", "why"):
            parts[f"contrast {number}, {name}"] = getattr(contrast, name)
    for number, one in enumerate(draft.abstraction, start=1):
        parts[f"{pair} {number}, state"] = one.state
        parts[f"{pair} {number}, observation"] = one.observation
    return {**parts, "parser": draft.parser}


def text_of(draft: Draft) -> str:
    """Return all that a draft has as one text, line by line, to be compared; what is empty is left out."""
    lines: list[str] = []
    for name, text in parts_of(draft).items():
        if text or (name.startswith("look ") and name.endswith((", observation", ", actions"))):
            lines += [f"— {name}", *text.splitlines()]
    return "\n".join(lines)


def put_in(items: tuple[T, ...], at: int, item: T) -> tuple[T, ...]:
    return (*items[:at], item, *items[at:])


def replaced(items: tuple[T, ...], at: int, item: T) -> tuple[T, ...]:
    return (*items[:at], item, *items[at + 1 :])


def taken_out(items: tuple[T, ...], at: int) -> tuple[T, ...]:
    return (*items[:at], *items[at + 1 :])


def moved_by(items: tuple[T, ...], at: int, offset: int) -> tuple[T, ...]:
    """Return them with one entry further on, or back; as they are if it would leave the list."""
    to = at + offset
    if not 0 <= to < len(items):
        return items
    return put_in(taken_out(items, at), to, items[at])
