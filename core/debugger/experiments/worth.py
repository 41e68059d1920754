"""Measures an exemplar: the same tasks at the same seeds, with and without it."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from core.debugger.experiments.worth_records import Arm, Pair, Subject, Worth
from core.debugger.headless import RunReport
from core.memory.library.records import Filter, LibraryRow, about_family
from core.memory.library.store import Library
from core.memory.memory import Memory
from core.schema.changes import Changes
from core.schema.errors import UsageError
from core.schema.exemplar import Exemplar
from core.schema.step import Recalled
from core.schema.task import Task
from core.trace.store import TraceStore

_SOURCE = re.compile(r"(?:^|[\s,])(?P<task>[^\s,]+/[^\s,]+) seed (?P<seed>\d+)\b")
_PAGE = 500

Play = Callable[[str, int, Changes], Awaitable[RunReport]]
"""Does a task at a seed to its end."""


def members_of(memory: Memory, subject: Subject) -> tuple[Exemplar, ...]:
    """Return the exemplars that are measured; raises UsageError if there are none, LibraryError and DataError."""
    if subject.kind == "family":
        ids = [entry.id for entry in rows_of(memory.listing(), Filter(family=subject.name))]
        if not ids:
            raise UsageError(
                f"There is no family {subject.name}; list the families with `exemplars list --counts`."
            )
        return tuple(one for id in ids if (one := memory.exemplar(id)) is not None)
    exemplar = memory.exemplar(subject.name)
    if exemplar is None:
        raise UsageError(
            f"There is no exemplar {subject.name}; list them with `exemplars list`, or see the library (Ctrl+L)."
        )
    if subject.kind == "change":
        library = memory.library()
        return tuple(library.at(subject.name, number) for number in (subject.before, subject.after))
    if exemplar.archived:
        raise UsageError(f"{subject.name} is archived, so no run recalls it; restore it first.")
    return (exemplar,)


def rows_of(listing: Library, chosen: Filter) -> Iterator[LibraryRow]:
    """Give all rows that a filter lets through, by id, some at a time."""
    offset = 0
    while rows := listing.page(chosen, order="id", offset=offset, limit=_PAGE).rows:
        yield from rows
        offset += len(rows)


def sources_of(members: Iterable[Exemplar]) -> tuple[tuple[str, int], ...]:
    """Return the tasks and seeds that exemplars were recorded at, as far as they say so."""
    found: dict[tuple[str, int], None] = {}
    for one in members:
        match = _SOURCE.search(one.source)
        if match is not None:
            found.setdefault((match["task"], int(match["seed"])))
    return tuple(found)


def tasks_of(
    patterns: Sequence[str], tasks: Sequence[Task], sources: Iterable[tuple[str, int]]
) -> tuple[str, ...]:
    """Return the ids of tasks: those that are named or that a pattern fits, or else those of the sources.

    Raises UsageError for a name or pattern that no task has, and if nothing is left.
    """
    known = {one.id: one for one in tasks}
    if not patterns:
        found = [task for task, _ in sources if task in known]
        if not found:
            raise UsageError("Its source names no task; give tasks, such as miniwob/click-button.")
        return tuple(dict.fromkeys(found))
    return fitting(patterns, tasks)


def fitting(patterns: Iterable[str], tasks: Sequence[Task]) -> tuple[str, ...]:
    """Return the ids that are named or that a pattern fits, each once; raises UsageError for one that no task has."""
    known = {one.id: one for one in tasks}
    chosen: dict[str, None] = {}
    for name in patterns:
        fits = (
            [id for id in known if fnmatchcase(id, name)] if any(sign in name for sign in "*?[") else [name]
        )
        if not fits or any(id not in known for id in fits):
            raise UsageError(f"There is no task {name}; list them with the command `tasks`.")
        chosen.update(dict.fromkeys(fits))
    return tuple(chosen)


async def measure(worth: Worth, play: Play, was_used: Callable[[int], bool]) -> AsyncIterator[Worth]:
    """Yield the experiment after each of its pairs; `play` makes a run, `was_used` checks it.

    The order within a pair alternates, so that effects of a server on later runs affect both sides. No
    further run is started after a limit is reached, or a run was interrupted: an incomplete pair stays in the
    trace and does not count.
    """
    subject = worth.subject
    for number, (task, seed, time) in enumerate(worth.cases):
        if worth.limit_reached():
            return
        changes = {"with_it": subject.with_it, "without_it": subject.without_it}
        arms: dict[str, Arm] = {}
        for name in sorted(changes, reverse=bool(number % 2)):
            arm = await Arm.of(play(task, seed, changes[name]))
            if arm.outcome == "interrupted":
                return
            used = arm.run is not None and was_used(arm.run)
            arms[name] = arm.replace(used=used)
        pair = Pair(task=task, seed=seed, time=time, **arms)
        worth = worth.replace(pairs=(*worth.pairs, pair))
        yield worth


def used_in(store: TraceStore, run: int, subject: Subject) -> bool:
    """Return whether the LLM was shown the subject in a run; raises TraceError."""
    for row in store.steps(run):
        for record in store.step(run, row.number).records:
            if isinstance(record, Recalled) and _is_among(record, subject):
                return True
    return False


def library_key(subject: Subject) -> str:
    """Return what its experiments are kept under in the library."""
    return about_family(subject.name) if subject.kind == "family" else subject.name


def _is_among(recalled: Recalled, subject: Subject) -> bool:
    if subject.kind != "family":
        return subject.name in recalled.exemplars
    if recalled.recall is None:
        return False
    return any(one.family == subject.name for one in recalled.recall.used)
