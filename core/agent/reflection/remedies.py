"""Remedies: other actions prepared before the first one is carried out, on a stack.

The chosen action is on top of its remedies: it is pushed last and popped first. If a later step is not
aligned, the topmost waiting entry is popped. To carry it out, the run goes back to the step that the entry
starts from.
"""

from collections.abc import Callable, Iterable

from core.agent.policies.stack import Stack
from core.schema.action import Action, AgentAct, Named, RefTarget
from core.schema.element_identity import Marks
from core.schema.observation import Observation
from core.schema.progress import SpaceMemory
from core.schema.record import Record
from core.schema.step import EntryState, Remedy


class RemedyEntry(Remedy):
    """One alternative action, with everything that is restored before it is tried."""

    trial: int
    action: Action
    marks: Marks = {}
    """What its elements are recognised by."""
    stack: Stack | None = None
    memory: SpaceMemory = SpaceMemory()
    page: str = ""
    """Fingerprint of the page it starts from."""


class RemedyStack(Record):
    """All entries of a run, oldest first; the waiting ones are the stack."""

    entries: tuple[RemedyEntry, ...] = ()

    @property
    def waiting(self) -> tuple[RemedyEntry, ...]:
        """The entries that can still be popped, the next one last."""
        return tuple(entry for entry in self.entries if entry.state == "waiting")

    def push(self, entries: Iterable[RemedyEntry]) -> "RemedyStack":
        """Return the stack with these of one step right under those of later steps, the last given topmost."""
        number = len(self.entries)
        new = tuple(entry.replace(number=number + offset) for offset, entry in enumerate(entries, start=1))
        later = (at for at, one in enumerate(self.entries) if new and one.step > new[0].step)
        at = next(later, number)
        return RemedyStack(entries=(*self.entries[:at], *new, *self.entries[at:]))

    def pop(self) -> tuple[RemedyEntry | None, "RemedyStack"]:
        """Return the topmost entry that waits, and the stack with it chosen; None if none waits."""
        waiting = self.waiting
        if not waiting:
            return None, self
        return self.take(waiting[-1].number)

    def take(self, number: int) -> tuple[RemedyEntry | None, "RemedyStack"]:
        """Return the entry of that number where it waits, and the stack with it chosen."""
        entry = next((one for one in self.waiting if one.number == number), None)
        if entry is None:
            return None, self
        return entry, self._marked("chosen", "", lambda one: one.number == number)

    def replaced(self, entry: RemedyEntry) -> "RemedyStack":
        """Return the stack with this entry in place of the one of its number."""
        return RemedyStack(
            entries=tuple(entry if one.number == entry.number else one for one in self.entries)
        )

    def moved(self, number: int, sooner: int) -> "RemedyStack":
        """Return the stack with an entry that waits popped so many places sooner; later where it is negative."""
        waiting = list(self.waiting)
        at = next(place for place, one in enumerate(waiting) if one.number == number)
        waiting.insert(min(max(at + sooner, 0), len(waiting) - 1), waiting.pop(at))
        order = iter(waiting)
        return RemedyStack(
            entries=tuple(next(order) if entry.state == "waiting" else entry for entry in self.entries)
        )

    def tried(self, number: int, why: str) -> "RemedyStack":
        return self._marked("tried", why, lambda entry: entry.number == number)

    def dropped(self, number: int, why: str) -> "RemedyStack":
        return self._marked("dropped", why, lambda entry: entry.number == number)

    def without_choice(self, step: int, number: int) -> "RemedyStack":
        """Return the stack with the first choice of a step dropped, for the remedy `number` was fired instead."""
        return self._marked(
            "dropped",
            f"Remedy {number} was fired instead.",
            lambda entry: entry.step == step and entry.state == "chosen" and entry.number != number,
        )

    def without_step(self, step: int, why: str) -> "RemedyStack":
        """Return the stack with the entries of a step dropped that have not been tried.

        What an attached agent has said stays: it does not say it again.
        """
        return self._marked(
            "dropped",
            why,
            lambda entry: (
                entry.step == step
                and entry.state in ("waiting", "chosen")
                and not isinstance(entry.action, AgentAct)
            ),
        )

    def cleared(self, why: str) -> "RemedyStack":
        """Return the stack with all that waits dropped, for a new trial."""
        return self._marked("dropped", why, lambda entry: entry.state == "waiting")

    def _marked(self, state: EntryState, why: str, which: Callable[[RemedyEntry], bool]) -> "RemedyStack":
        """Return the stack with the entries marked that `which` is true of."""
        marked = (entry.replace(state=state, why=why) if which(entry) else entry for entry in self.entries)
        return RemedyStack(entries=tuple(marked))


def in_words(action: Action, observation: Observation) -> str:
    """Return the action with its elements named by what they are, so that it holds for a reloaded page too.

    Of elements that are called the same, the place among them is given.
    """
    described: list[str] = []
    for target in action.targets:
        element = observation.element(target.ref) if isinstance(target, RefTarget) else None
        if element is None:
            described.append(str(target))
            continue
        alike = [
            one.ref for one in observation.elements if (one.role, one.name) == (element.role, element.name)
        ]
        place = f" {alike.index(element.ref) + 1}" if len(alike) > 1 else ""
        described.append(f'{element.role} "{element.name}"{place}')
    if isinstance(action, Named):
        return str(action)
    others = [f"{name}={value}" for name, value in action.given.items() if name not in ("target", "to")]
    return " ".join([action.kind, *(f"[{part}]" for part in (*described, *others))])


def sorted_out(
    proposed: Iterable[Action], *, chosen: Action, tried: Iterable[str], words: Callable[[Action], str]
) -> tuple[tuple[Action, ...], tuple[tuple[Action, str], ...]]:
    """Part the proposed remedies into those to keep and those to drop, each of these with its reason.

    Dropped is what equals the chosen action, one already tried on the same
    page, or an earlier remedy of the same question. Actions are equal where
    `words` tells them the same; `tried` are such words.
    """
    known = set(tried)
    kept: dict[str, Action] = {}
    dropped: list[tuple[Action, str]] = []
    for action in proposed:
        wording = words(action)
        if wording == words(chosen):
            dropped.append((action, "It is the chosen action itself."))
        elif wording in known:
            dropped.append((action, "It was already tried on this page."))
        elif wording in kept:
            dropped.append((action, "It was proposed twice."))
        else:
            kept[wording] = action
    return tuple(kept.values()), tuple(dropped)
