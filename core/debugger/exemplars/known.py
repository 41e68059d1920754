"""Which exemplars there are, of the library and of files, and which ids are still free."""

import re
from collections.abc import Iterable

from core.memory.library.records import Entry, Origin, Provenance
from core.memory.memory import Memory
from core.schema.errors import NotInLibraryError, UsageError
from core.schema.exemplar import Exemplar

_LONGEST = 110
_TRIES = 500


def entry_of(memory: Memory, id: str) -> Entry | None:
    """Return what the library has of an id; None where that is nothing."""
    library = memory.open_library()
    if library is None:
        return None
    try:
        return library.get(id)
    except NotInLibraryError:
        return None


def file_entry(origin: Origin, exemplar: Exemplar) -> Entry:
    """Return an exemplar of a file as the library would have it."""
    from core.memory.library.rows import tokens_of

    return Entry(exemplar=exemplar, provenance=Provenance(origin=origin), tokens=tokens_of(exemplar))


def of_file(memory: Memory, id: str) -> Exemplar:
    """Return an exemplar of a file; raises UsageError where there is none of that id, and DataError."""
    for _, one in memory.files.placed():
        if one.id == id:
            return one
    raise UsageError(f"There is no exemplar {id} any more; look for it in the library (Ctrl+L).")


def free_id(memory: Memory, wanted: str) -> str:
    """Return an id that no exemplar has: the one that is wanted, or with a number behind it."""
    stem = wanted[:_LONGEST]
    tries = (stem, *(f"{stem}-{number}" for number in range(2, _TRIES)))
    taken = taken_ids(memory, tries)
    return next((one for one in tries if one not in taken), stem)


def copy_id(memory: Memory, id: str) -> str:
    """Return a free id for a copy: ``order-copy``, ``order-copy-2``."""
    return free_id(memory, f"{re.sub(r'-copy(-[0-9]+)?$', '', id)[: _LONGEST - 5]}-copy")


def taken_ids(memory: Memory, ids: Iterable[str]) -> set[str]:
    """Return those of the ids that the library or a file has."""
    wanted = set(ids)
    library = memory.open_library()
    own = library.has(wanted) if library is not None else set()
    return own | {one.id for _, one in memory.files.placed() if one.id in wanted}
