"""Changes of many exemplars at once: their status, tags, family and weight, all or none."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from core.exemplars.checks import fault
from core.exemplars.library.records import Edits, review_now
from core.exemplars.library.store import Library
from core.schema.exemplar import Exemplar, Status


class BulkChange(NamedTuple):
    """What a change came to."""

    ids: tuple[str, ...]
    """Those that were changed; the others were so already, or are named below."""
    read_only: tuple[str, ...] = ()
    """Bundled ones, which were left as they are."""
    faulty: Mapping[str, str] = MappingProxyType({})
    """Those that cannot be marked as reviewed for a fault, with that fault."""


def review_all(library: Library, ids: Sequence[str], status: Status, *, although: bool = False) -> BulkChange:
    """Give a status by the person who uses the program, of this moment; those of files, too. Raises LibraryError.

    One with a fault becomes reviewed only where it is to be used `although`
    it has one.
    """
    review = review_now(status, although=although)
    now = {one.id: one.review for one in library.current(ids)}
    changing = [
        id
        for id in dict.fromkeys(ids)
        if id in now and (now[id].status, now[id].although) != (status, although)
    ]
    faulty: dict[str, str] = {}
    if status == "reviewed" and not although:
        entries = (entry for id in changing if (entry := library.find(id)) is not None)
        faulty = {entry.exemplar.id: words for entry in entries if (words := fault(entry.exemplar))}
    changed = tuple(id for id in changing if id not in faulty)
    library.review(changed, review)
    return BulkChange(changed, faulty=faulty)


def edit_all(library: Library, ids: Sequence[str], edits: Edits, why: str) -> BulkChange:
    """Save what the edits make of each as a new version. Raises LibraryError."""
    changed: list[str] = []
    read_only: list[str] = []

    def edited() -> Iterator[tuple[Exemplar, None]]:
        # They are read while nobody else can write: no change in between is lost.
        for id in dict.fromkeys(ids):
            entry = library.find(id)
            if entry is not None and entry.read_only:
                read_only.append(id)
            elif entry is not None and (after := edits.of(entry.exemplar)) != entry.exemplar:
                changed.append(id)
                yield after, None

    library.save_all(edited(), why=why)
    return BulkChange(tuple(changed), tuple(read_only))
