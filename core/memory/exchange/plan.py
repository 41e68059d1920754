"""What importing would do, before it is done: what is new, what is there already, and what is faulty."""

from collections.abc import Iterable
from typing import Literal

from core.memory.exchange.records import Candidate, Reading, content_of
from core.schema.exemplar import Exemplar
from core.schema.record import Record

Fate = Literal["new", "there already", "id taken"]


class Planned(Record):
    """One candidate with what becomes of it."""

    candidate: Candidate
    fate: Fate
    why: str = ""


class ImportPlan(Record):
    """What importing would do; an exemplar that is not new is not touched."""

    planned: tuple[Planned, ...]
    reading: Reading

    @property
    def new(self) -> tuple[Exemplar, ...]:
        return tuple(one.candidate.exemplar for one in self.planned if one.fate == "new")

    def count(self, fate: Fate) -> int:
        return sum(1 for one in self.planned if one.fate == fate)


def plan_of(reading: Reading, held: Iterable[Exemplar]) -> ImportPlan:
    """Return what becomes of each candidate beside what is held."""
    by_id: dict[str, Exemplar] = {}
    by_content: dict[str, str] = {}
    for one in held:
        by_id[one.id] = one
        by_content.setdefault(content_of(one), one.id)
    planned: list[Planned] = []
    for candidate in reading.candidates:
        exemplar = candidate.exemplar
        same = by_content.get(content_of(exemplar))
        if exemplar.id in by_id and content_of(by_id[exemplar.id]) == content_of(exemplar):
            planned.append(Planned(candidate=candidate, fate="there already", why="by id and content"))
        elif same is not None:
            planned.append(
                Planned(candidate=candidate, fate="there already", why=f"the same content as {same}")
            )
        elif exemplar.id in by_id:
            why = "another exemplar has this id; change one of them to have both"
            planned.append(Planned(candidate=candidate, fate="id taken", why=why))
        else:
            planned.append(Planned(candidate=candidate, fate="new"))
    return ImportPlan(planned=tuple(planned), reading=reading)
