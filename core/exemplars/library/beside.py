"""The exemplars of files beside the library: by id and number, in tables of a connection for its lists, and changed."""

from collections.abc import Collection, Iterable
from pathlib import Path
from zlib import crc32

from core.exemplars.files import FileMember, line_of, new_file_in, with_exemplar, write_files
from core.exemplars.library.records import CurrentVersion, Entry, Provenance
from core.exemplars.library.tables import BESIDE, insert_words, tokens_of, values_of
from core.schema.exemplar import Exemplar, ExemplarReview
from core.settings.user_file import MOST_LINES_BYTES, read_text
from core.storage.database import DatabaseFile


def numbered(exemplars: Iterable[Exemplar]) -> dict[int, Exemplar]:
    """Return exemplars that no library has with their numbers: -1, -2 and so on."""
    return {-place: exemplar for place, exemplar in enumerate(exemplars, start=1)}


def version_of(exemplar: Exemplar) -> int:
    """Return a checksum that stands for the version of an exemplar of a file: another one if it was changed."""
    return crc32(line_of(exemplar.replace(review=ExemplarReview())).encode("utf-8", "replace"))


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
        version = version_of(exemplar)
        return Entry(exemplar=exemplar, provenance=provenance, version=version, tokens=tokens_of(exemplar))

    def current(self, id: str) -> CurrentVersion | None:
        """Return the state of one; None if no file has it."""
        if (member := self._by_id.get(id)) is None:
            return None
        exemplar = member.exemplar
        content = line_of(exemplar.replace(review=ExemplarReview())) if member.origin == "file" else ""
        return CurrentVersion(id=id, version=version_of(exemplar), review=exemplar.review, content=content)

    def changed(self) -> float:
        """Return when a user's file was changed last, in seconds since the epoch; 0 for none."""
        paths = {member.path for member in self.members if member.origin == "file"}
        return max((path.stat().st_mtime for path in paths if path.exists()), default=0.0)

    def path(self, id: str) -> Path | None:
        """Return the user's file that has one, to change it there; None for a bundled one and one of no file."""
        member = self._by_id.get(id)
        return member.path if member is not None and member.origin == "file" else None

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
                values |= {
                    "number": number,
                    "version": version_of(exemplar),
                    "made": 0.0,
                    "changed": 0.0,
                    "change": 0,
                }
                database.insert("temp.beside", values)
                insert_words(database, number, exemplar, beside=True)


class FileChanges:
    """Exemplars that are to be written into the user's files: all at once, when the transaction ends."""

    def __init__(self, beside: FilesBeside, folder: Path | None) -> None:
        """`folder` is where new exemplars become files of their own."""
        self._beside = beside
        self._folder = folder
        self._texts: dict[Path, str] = {}
        self.members: dict[str, FileMember] = {}
        """The changed exemplars by their ids."""

    def put(self, exemplar: Exemplar) -> None:
        """Take one in place of the one of its id; raises DataError for a file that cannot be read or made."""
        path = (
            self.members[exemplar.id].path if exemplar.id in self.members else self._beside.path(exemplar.id)
        )
        if path is None:
            assert self._folder is not None
            path = new_file_in(self._folder, exemplar.id)
        text = self._texts.get(path)
        if text is None:
            text = read_text(path, line_ends=True, most=MOST_LINES_BYTES) if path.exists() else ""
        self._texts[path] = with_exemplar(text, path, exemplar)
        self.members[exemplar.id] = FileMember("file", exemplar, path)

    def write(self) -> None:
        """Write the files; raises DataError."""
        write_files(self._texts)
