"""The exemplars of files beside the library: by id and number, and in tables of a connection for its lists."""

from collections.abc import Collection, Iterable

from core.exemplars.files import FileMember
from core.exemplars.library.records import Entry, Provenance
from core.exemplars.library.tables import BESIDE, insert_words, tokens_of, values_of
from core.schema.exemplar import Exemplar, ExemplarReview
from core.storage.database import DatabaseFile


def numbered(exemplars: Iterable[Exemplar]) -> dict[int, Exemplar]:
    """Return exemplars that no library has with their numbers: -1, -2 and so on."""
    return {-place: exemplar for place, exemplar in enumerate(exemplars, start=1)}


class FilesBeside:
    """Exemplars of files, of any status; one whose id the library has does not count."""

    def __init__(self, members: Iterable[FileMember] = ()) -> None:
        self.members = tuple(members)
        self._by_id = {member.exemplar.id: member for member in self.members}
        self._by_number = numbered(member.exemplar for member in self.members)

    def entry(self, id: str) -> Entry | None:
        """Return one as the library would have it."""
        if (member := self._by_id.get(id)) is None:
            return None
        exemplar = member.exemplar
        provenance = Provenance(origin=member.origin, file=str(member.path))
        return Entry(exemplar=exemplar, provenance=provenance, tokens=tokens_of(exemplar))

    def review(self, id: str) -> ExemplarReview | None:
        """Return the review of one; None if no file has it."""
        return self._by_id[id].exemplar.review if id in self._by_id else None

    def exemplars(self, numbers: Iterable[int]) -> dict[int, Exemplar]:
        return {number: self._by_number[number] for number in numbers if number in self._by_number}

    def in_use(self, own: Collection[str]) -> dict[int, Exemplar]:
        """Return those that are not retired by number, without those whose ids are among the library's `own`."""
        return {
            number: exemplar
            for number, exemplar in self._by_number.items()
            if exemplar.review.status != "retired" and exemplar.id not in own
        }

    def fill(self, database: DatabaseFile, *, is_new: bool) -> None:
        """Put them into the tables of this connection, which `is_new` if there are none; nothing is stored."""
        if is_new:
            database.execute_script(BESIDE)
        with database.aside():
            for table in ("beside", "beside_tags", "beside_fts"):
                database.execute(f"DELETE FROM temp.{table}")
            for (origin, exemplar, path), number in zip(self.members, self._by_number, strict=True):
                provenance = Provenance(origin=origin, file=str(path))
                values = values_of(exemplar, provenance, tokens_of(exemplar))
                values |= {"number": number, "version": 1, "made": 0.0, "changed": 0.0, "change": 0}
                database.insert("temp.beside", values)
                insert_words(database, number, exemplar, beside=True)
