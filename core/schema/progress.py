"""The progress of a run: its plan, and its path through a state space (LASER)."""

from typing import Literal

from core.schema.messages import Turn
from core.schema.record import Record

SubtaskStatus = Literal["waiting", "current", "done", "needless"]


class Subtask(Record):
    """One item of the plan."""

    text: str
    status: SubtaskStatus = "waiting"
    steps: tuple[int, ...] = ()
    """The steps that worked on it."""


class Plan(Record):
    """An ordered list of subtasks, of which one is current until all are over."""

    subtasks: tuple[Subtask, ...]
    revision: int = 0
    """How often the plan was made again after a failed trial."""
    author: Literal["agent", "person"] = "agent"
    """Who wrote it as it stands."""
    remark: str = ""
    """What is odd about how it was read, such as that it was cut."""

    @property
    def index(self) -> int | None:
        """The position of the current subtask, or None if all are over."""
        return next((n for n, one in enumerate(self.subtasks) if one.status == "current"), None)

    @property
    def current(self) -> Subtask | None:
        return None if self.index is None else self.subtasks[self.index]

    def in_words(self) -> str:
        """Return the subtasks as one line."""
        return "; ".join(f"{number}. {one.text}" for number, one in enumerate(self.subtasks, start=1))

    def worked_on(self, step: int) -> "Plan":
        """Return the plan with `step` added to its current subtask."""
        index = self.index
        if index is None or step in self.subtasks[index].steps:
            return self
        return self._with(index, self.subtasks[index].replace(steps=(*self.subtasks[index].steps, step)))

    def over(self, status: Literal["done", "needless"]) -> "Plan":
        """Return the plan with the current subtask over and the next one that waits current."""
        index = self.index
        if index is None:
            return self
        return self._with(index, self.subtasks[index].replace(status=status)).with_current(index + 1)

    def with_current(self, index: int) -> "Plan":
        """Return the plan at `index`: what comes after it waits; past the end nothing is current."""
        subtasks = [
            one.replace(status="waiting") if number >= index or one.status == "current" else one
            for number, one in enumerate(self.subtasks)
        ]
        if index < len(subtasks):
            subtasks[index] = subtasks[index].replace(status="current")
        return self.replace(subtasks=tuple(subtasks))

    def edited(self, texts: tuple[str, ...], current: int) -> "Plan":
        """Return the plan as a person rewrote it; subtasks whose words stayed keep their status and steps.

        `current` is the position to continue at; subtasks before it that were
        not over count as needless.
        """
        known = {subtask.text: subtask for subtask in self.subtasks}
        written: list[Subtask] = []
        for number, text in enumerate(" ".join(text.split()) for text in texts):
            one = known.get(text, Subtask(text=text))
            if number < current and one.status in ("waiting", "current"):
                one = one.replace(status="needless")
            written.append(one)
        plan = self.replace(subtasks=tuple(written), author="person")
        return plan.with_current(current)

    def _with(self, index: int, subtask: Subtask) -> "Plan":
        return self.replace(subtasks=(*self.subtasks[:index], subtask, *self.subtasks[index + 1 :]))


class FailedTrial(Record):
    """A trial that ended without success, as the next plan sees it."""

    plan: Plan | None = None
    history: tuple[Turn, ...] = ()


class SetAside(Record):
    """A candidate that was looked at and set aside."""

    candidate: str
    """Its value, such as an item id."""
    url: str
    """If it was looked at."""
    title: str = ""
    reason: str = ""
    """The thought with which it was left."""
    step: int = 0


class CandidateDetail(Record):
    """What was seen of a candidate in one of its pages, such as its price or its description."""

    candidate: str
    name: str
    """As the state space's file calls it."""
    text: str
    step: int = 0
    """The step that saw it last."""
    cut: int = 0
    """About how many tokens at the end of the text were not kept."""

    @property
    def told(self) -> str:
        """The text, with what was cut."""
        return f"{self.text} … (cut here, about {self.cut} more tokens)" if self.cut else self.text


class Transition(Record):
    """One action that took the run from a state to a state."""

    step: int
    source: str
    action: str
    target: str = ""
    """Empty until the next page is recognised."""


class SpaceMemory(Record):
    """The memory of a state space, such as the buffer; immutable, changes make a new one."""

    remembered: dict[str, str] = {}
    looked_at: tuple[str, ...] = ()
    """Values of `marks` arguments, in the order of looking."""
    buffer: tuple[SetAside, ...] = ()
    kept: tuple[CandidateDetail, ...] = ()
    """What was seen of the candidates, each name of each once, in the order of first seeing."""
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

    def keeping(self, seen: CandidateDetail) -> "SpaceMemory":
        """Return the memory with `seen` in place of what it had under this name of this candidate."""
        place = (seen.candidate, seen.name)
        if not any((one.candidate, one.name) == place for one in self.kept):
            return self.replace(kept=(*self.kept, seen))
        return self.replace(
            kept=tuple(seen if (one.candidate, one.name) == place else one for one in self.kept)
        )

    def kept_of(self, candidate: str) -> tuple[CandidateDetail, ...]:
        return tuple(one for one in self.kept if one.candidate == candidate)

    def entry(self, candidate: str) -> SetAside | None:
        return next((one for one in self.buffer if one.candidate == candidate), None)
