"""What was done to a draft, to be undone and done again, each change by its name."""

from core.memory.editing.draft import Draft
from core.schema.record import Record

MOST = 500
"""Changes that can be undone; older ones are forgotten."""


class State(Record):
    """A draft as a change has left it."""

    draft: Draft
    name: str = ""
    """The change that led to it, as an order: ``merge looks``."""
    key: str = ""
    """Changes in a row with the same key are one, such as letters typed into one field; empty is never joined."""


class DraftHistory(Record):
    """States in the order that they were made; the present one is among them."""

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
        """The change that `undone` takes back; empty where there is none."""
        return self.states[self.at].name if self.at else ""

    @property
    def redo_name(self) -> str:
        return self.states[self.at + 1].name if self.at + 1 < len(self.states) else ""

    def done(self, name: str, draft: Draft, *, key: str = "") -> "DraftHistory":
        """Return it with a change made; what was undone before it is forgotten. No difference is no change."""
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
