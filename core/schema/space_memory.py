"""What a run remembers on its way through a state space (LASER): looked at, set aside, transitions."""

from core.schema.record import Record


class SetAside(Record):
    """A candidate that was looked at and left for another."""

    candidate: str
    """Its value, such as an item id."""
    url: str
    """Where it was looked at."""
    title: str = ""
    reason: str = ""
    """The thought with which it was left."""
    step: int = 0


class Transition(Record):
    """One action that took the run from a state to a state."""

    step: int
    source: str
    action: str
    target: str = ""
    """Empty until the next page is recognised."""


class SpaceMemory(Record):
    """The buffer and the rest; a new value replaces the old one, none is changed."""

    remembered: dict[str, str] = {}
    looked_at: tuple[str, ...] = ()
    """Values of `marks` arguments, in the order of looking."""
    buffer: tuple[SetAside, ...] = ()
    transitions: tuple[Transition, ...] = ()
    chosen: str = ""
    """The candidate chosen from the buffer at the budget."""

    def moved(self, *, step: int, source: str, action: str) -> "SpaceMemory":
        """Return the memory with one more transition, whose end is not known yet."""
        moved = Transition(step=step, source=source, action=action)
        return self.replace(transitions=(*self.transitions, moved))

    def knowing(self, name: str, value: str) -> "SpaceMemory":
        """Return the memory with something remembered; without a name it stays as it is."""
        if not name:
            return self
        return self.replace(remembered={**self.remembered, name: value})

    def arrived(self, state: str) -> "SpaceMemory":
        """Return the memory with the last transition ending in `state`."""
        if not self.transitions or self.transitions[-1].target:
            return self
        last = self.transitions[-1].replace(target=state)
        return self.replace(transitions=(*self.transitions[:-1], last))

    def entry(self, candidate: str) -> SetAside | None:
        return next((one for one in self.buffer if one.candidate == candidate), None)
