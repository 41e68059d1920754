"""Reads files, says what an import of them would do, and does it: all of it or nothing."""

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

from core.exemplars.checks import fault
from core.exemplars.exchange.plan import ImportChoices, ImportPlan, PlannedEntry
from core.exemplars.exchange.reader import read_exemplars_of
from core.exemplars.exchange.reading import content_of
from core.exemplars.files import free_id
from core.exemplars.library.records import Provenance, first_review, merged
from core.exemplars.memory import Memory
from core.schema.errors import DataError
from core.schema.exemplar import FOR_PEOPLE, Exemplar


class FilesRead:
    """What was read of files, compared with the exemplars that are there."""

    def __init__(self, choices: ImportChoices, memory: Memory) -> None:
        """Nothing in the files is run. Raises UsageError, DataError and LibraryError."""
        self.choices = choices
        found = read_exemplars_of([Path(path) for path in choices.paths], choices)
        self._found = found.replace(entries=tuple(map(_with_fault, found.entries)))
        exemplars = [exemplar for _, exemplar in self._found.exemplars]
        self._held = {member.exemplar.id: member.exemplar for member in memory.files.members()}
        self._in_files = {member.exemplar.id for member in memory.files.members() if member.origin == "file"}
        self._own: set[str] = set()
        """Ids that the library has, of any status."""
        self._memory = memory
        with memory.connection() as library:
            own = library.kin(exemplars)
            self._own = {exemplar.id for exemplar in own}
            self._held |= {exemplar.id: exemplar for exemplar in own}
        contents: dict[str, list[str]] = {}
        for exemplar in self._held.values():
            contents.setdefault(content_of(exemplar), []).append(exemplar.id)
        self._there = {exemplar.id: contents.get(content_of(exemplar), []) for exemplar in exemplars}
        """By id, the ids of the exemplars that are there with the same content."""

    def plan(self, choices: ImportChoices) -> ImportPlan:
        """Return what an import by these choices would do."""
        taken = {exemplar.id for _, exemplar in self._found.exemplars}
        entries = tuple(
            self._planned(entry, entry.exemplar, choices, taken) if entry.exemplar else entry
            for entry in self._found.entries
        )
        plan = self._found.replace(entries=entries)
        hindering = plan.those("id taken") if choices.taken == "refuse" else ()
        if not choices.leave_faulty or not plan.exemplars:
            hindering = plan.those("faulty") or hindering
        if not hindering:
            return plan
        more = f" ({len(hindering)} entries in all)" if len(hindering) > 1 else ""
        return plan.replace(problem=f"{hindering[0].position}: {hindering[0].why}{more}")

    def _planned(
        self, entry: PlannedEntry, exemplar: Exemplar, choices: ImportChoices, taken: set[str]
    ) -> PlannedEntry:
        id = exemplar.id
        there = self._there[id]
        is_own = id in self._own or id in self._in_files
        if id in there and is_own and (after := merged(self._held[id], exemplar)) != self._held[id]:
            what = [name for name in FOR_PEOPLE if getattr(after, name) != getattr(self._held[id], name)]
            return entry.replace(fate="merged", why=f"the same content; added: {', '.join(what)}")
        if there:
            why = "by id and content" if id in there else f"the same content as {there[0]}"
            return entry.replace(fate="there already", why=why)
        if id not in self._held:
            return entry
        if choices.taken == "new id":
            new = free_id(id, lambda other: other in taken or bool(self._memory.taken((other,))))
            taken.add(new)
            why = f"as {new}, because another exemplar has the id {id}"
            return entry.replace(exemplar=exemplar.replace(id=new), why=why)
        if choices.taken == "new version" and (id in self._own or id in self._in_files):
            why = "it becomes a new version; the previous one is kept"
            if id not in self._own:
                why = "it takes the place of the one in its file, of which no version is kept"
            return entry.replace(fate="new version", why=why)
        why = f"another exemplar has the id {id}; to have both, change one of the ids"
        if choices.taken == "new version":
            why = "a bundled exemplar has this id"
        return entry.replace(fate="id taken", why=why)


def _with_fault(entry: PlannedEntry) -> PlannedEntry:
    """Add to an entry's remarks for what it will not be recalled."""
    words = fault(entry.exemplar) if entry.exemplar is not None else ""
    return entry.replace(remarks=(*entry.remarks, f"It has a fault: {words}")) if words else entry


def keep(
    plan: ImportPlan,
    memory: Memory,
    report: Callable[[int, int], None] = lambda done, of: None,
    cancelled: Event | None = None,
) -> bool:
    """Store what is new in the library, all or nothing; return False if it was cancelled.

    `report` is told how many of how many are stored. Raises DataError and
    LibraryError.
    """

    def each() -> Iterator[tuple[Exemplar, Provenance | None]]:
        if taken := library.current(exemplar.id for entry, exemplar in coming if entry.fate == "new"):
            raise DataError(f"The id {taken[0].id} was taken in the meantime. Read the files again.")
        for done, (entry, exemplar) in enumerate(coming):
            if cancelled is not None and cancelled.is_set():
                raise _Cancelled
            report(done, len(coming))
            if entry.fate == "merged":
                exemplar = merged(library.get(exemplar.id).exemplar, exemplar)
            else:
                source = exemplar.source or Path(entry.file).stem
                exemplar = exemplar.replace(source=source, review=first_review("import"))
            provenance = Provenance(origin="import", file=entry.file)
            yield exemplar, provenance if entry.fate == "new" else None

    coming = plan.coming
    with memory.connection() as library:
        try:
            library.save_all(each())
        except _Cancelled:
            return False
    return True


class _Cancelled(Exception):
    """The import was cancelled, and nothing was stored."""
