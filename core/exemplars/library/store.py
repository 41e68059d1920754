"""The library: the only interface to the database of the user's own exemplars, with those of files beside it.

Each method is one transaction, committed when the method returns; when it
raises LibraryError, nothing of it was stored and everything before it is
kept. Nothing is ever deleted: an exemplar is retired, and a saved one is a new
version of itself.
"""

import json
import time
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from core.exemplars.files import FileMember, exemplar_of
from core.exemplars.library import listing
from core.exemplars.library import tables as writing
from core.exemplars.library.beside import FileChanges, FilesBeside, version_of
from core.exemplars.library.proofs import Proofs
from core.exemplars.library.records import (
    Counts,
    CurrentVersion,
    Entry,
    Filter,
    LibraryChange,
    LibraryRow,
    LibraryRows,
    Order,
    Provenance,
    Retrieval,
    RetrievalRecord,
    Version,
    review_now,
)
from core.exemplars.library.tables import KIND
from core.schema.errors import LibraryError, NotInLibraryError
from core.schema.exemplar import Exemplar, ExemplarReview
from core.storage.database import DatabaseFile, damaged
from core.trace.records import RunEnd

_BATCH = 500
_OF_OUTCOMES = {"outcome", "success"}
"""Fields of a retrieval that are read of another table."""


class Library:
    """Exemplars with their versions, where they came from and where they were looked up."""

    def __init__(self, database: DatabaseFile, unmade: Path | None = None) -> None:
        """With `unmade`, `database` is empty and in memory until something is written: then that file is made."""
        self._database = database
        self._unmade = unmade
        self.proofs = Proofs(lambda: self._database, self._writing)
        self.beside = FilesBeside()
        self._members: Sequence[FileMember] = ()
        """Those of files as the files have them: reviews that were made here are not among them."""
        self._listed: FilesBeside | None = None
        """Those that are in the tables for lists."""
        self.folder: Path | None = None
        """Where new exemplars become files of their own; None if they are kept here."""
        self._file_changes = FileChanges(self.beside, None)
        """What the current transaction writes into files."""

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> "Library":
        """Open the database, made if there is none; raises LibraryError."""
        return cls(DatabaseFile.open(path, KIND, read_only=read_only))

    @classmethod
    def at_path(cls, path: Path) -> "Library":
        """Open the database; where there is none, it is made when something is first written. Raises LibraryError."""
        return cls.open(path) if path.exists() else cls(DatabaseFile.in_memory(KIND), path)

    @classmethod
    def in_memory(cls) -> "Library":
        """Return an empty one that is gone when it is closed."""
        return cls(DatabaseFile.in_memory(KIND))

    def close(self) -> None:
        """Close the file; calling it again does nothing."""
        self._database.close()

    @property
    def path(self) -> Path:
        return self._database.path

    @property
    def is_made(self) -> bool:
        """Whether anything was ever written."""
        return self._unmade is None

    @property
    def is_current(self) -> bool:
        """Whether its path names what is open: not if the file was made, moved, deleted or replaced since."""
        return self._database.is_current if self._unmade is None else not self._unmade.exists()

    # Writing

    def save(
        self,
        exemplar: Exemplar,
        provenance: Provenance | None = None,
        *,
        why: str = "",
        expected: int | None = None,
        retired: str = "",
    ) -> int:
        """Store an exemplar, as a new version where its id is known, and return the version's number.

        A known one keeps its provenance if none is given, and one that is
        saved as it is gets no new version, only its status where that is
        another one. With `expected` it must still be
        at that version: somebody else's change is not written over. The one
        of the id `retired` is retired, both or neither. Raises LibraryError.
        """
        with self._writing():
            version = self._save(exemplar, provenance, why, expected, time.time())
            if retired:
                self._set_review(retired, review_now("retired"))
        if retired:
            self.set_beside(self._members)
        return version

    def save_all(self, exemplars: Iterable[tuple[Exemplar, Provenance | None]], *, why: str = "") -> int:
        """Store many as `save` does, all or none; returns how many."""
        moment = time.time()
        count = 0
        with self._writing():
            for exemplar, provenance in exemplars:
                self._save(exemplar, provenance, why, None, moment)
                count += 1
        return count

    def review(self, ids: Iterable[str], review: ExemplarReview) -> None:
        """Store a review of exemplars in place of those that they have, all or none; versions stay.

        That of a bundled one is kept here, that of a user's file in the file. Raises LibraryError, and DataError
        for a file that cannot be written.
        """
        with self._writing():
            for id in ids:
                self._set_review(id, review)
        self.set_beside(self._members)

    def make_current(self, id: str, version: int) -> None:
        """Go by an older or newer version from now on; none is lost."""
        with self._writing():
            self._make_current(self._known(id), version)

    def exchange(self, now: Sequence[CurrentVersion], wanted: Sequence[CurrentVersion]) -> None:
        """Make versions and reviews of `wanted` current in place of those of `now`: all or none.

        Both name the same exemplars in the same order. Raises LibraryError
        where one is not as `now` has it.
        """
        if self._unmade is not None:
            raise LibraryError(f"The library {self._unmade} no longer exists.")
        with self._writing():
            for before, after in zip(now, wanted, strict=True):
                (found,) = self.current([before.id]) or [None]
                if found is None:
                    raise NotInLibraryError(self._no_exemplar(before.id))
                if found != before:
                    raise LibraryError(
                        f"“{found.id}” was changed meanwhile: it is {found.review.status}, at version "
                        f"{found.version}, now."
                    )
                if after.content:
                    exemplar = exemplar_of(after.content, before.id).replace(review=after.review)
                    self._file_changes.put(exemplar)
                    continue
                if after.version != before.version:
                    self._make_current(self._known(before.id), after.version)
                self._set_review(before.id, after.review)
        self.set_beside(self._members)

    def log(self, trace: str, last_step: int, found: Iterable[Retrieval], *, begun: float = 0.0) -> None:
        """Store where exemplars were retrieved in runs of a trace, all of its steps up to `last_step`."""
        with self._writing():
            rows = ({**retrieval.model_dump(exclude=_OF_OUTCOMES), "trace": trace} for retrieval in found)
            self._database.table("retrievals").insert_all(rows, replace=True)
            self._database.table("traces").upsert({"trace": trace, "told": last_step, "begun": begun})

    # Reading

    def find(self, id: str) -> Entry | None:
        """Return an exemplar of the library, else of the files; None if there is none of that id."""
        with self._database.read():
            row = self._row(id)
            if row is not None:
                return Entry(
                    exemplar=self._version(row, row["version"]),
                    provenance=self._provenance(row),
                    **{name: row[name] for name in ("version", "made", "changed", "tokens")},
                )
        return self.beside.entry(id)

    def get(self, id: str) -> Entry:
        """Return what `find` does; raises NotInLibraryError that names the nearest if there is none of that id."""
        if (entry := self.find(id)) is not None:
            return entry
        with self._database.read():
            raise NotInLibraryError(self._no_exemplar(id))

    def rows(self, wanted: Filter | None = None) -> Iterator[LibraryRow]:
        """Give all rows that the filter lets through, by id, some at a time."""
        offset = 0
        while rows := self.page(wanted, order="id", offset=offset, limit=_BATCH).rows:
            yield from rows
            offset += len(rows)

    def entries(self, wanted: Filter | None = None) -> Iterator[Entry]:
        """Give all exemplars that the filter lets through, by id; one that has gone meanwhile is left out."""
        return (entry for row in self.rows(wanted) if (entry := self.find(row.id)) is not None)

    def versions(self, id: str) -> tuple[Version, ...]:
        """Return what was saved of an exemplar, the oldest first; nothing for one of a file."""
        if self.beside.current(id) is not None and not self.has([id]):
            return ()
        with self._database.read():
            row = self._known(id)
            found = self._database.rows(
                "SELECT number, saved, why, tokens FROM versions WHERE exemplar = ? ORDER BY number",
                (row["number"],),
            )
            return tuple(Version(**one, current=one["number"] == row["version"]) for one in found)

    def at(self, id: str, version: int) -> Exemplar:
        """Return an exemplar as it was saved then."""
        with self._database.read():
            return self._version(self._known(id), version)

    def page(
        self,
        wanted: Filter | None = None,
        *,
        order: Order = "changed",
        reverse: bool = False,
        offset: int = 0,
        limit: int = 50,
    ) -> LibraryRows:
        """Return rows that the filter lets through."""
        wanted = wanted or Filter()
        with self._listing() as database:
            rows = listing.rows(database, wanted, order, offset, limit, reverse=reverse)
            return LibraryRows(rows=rows, total=listing.total(database, wanted), offset=offset)

    def place(
        self, id: str, wanted: Filter, *, order: Order = "changed", reverse: bool = False
    ) -> int | None:
        """Return how many rows of such a list stand before an exemplar; None if it is not in it."""
        with self._listing() as database:
            return listing.place(database, id, wanted, order, reverse=reverse)

    def total(self, wanted: Filter | None = None) -> int:
        with self._listing() as database:
            return listing.total(database, wanted or Filter())

    def counts(self, wanted: Filter | None = None, *, only: Collection[str] | None = None) -> Counts:
        """Return how many exemplars have which family, environment, site, origin, LLM and tag, or `only` these."""
        with self._listing() as database:
            return listing.counts(database, wanted or Filter(), only=only)

    def kin(self, exemplars: Iterable[Exemplar]) -> tuple[Exemplar, ...]:
        """Return the library's own that have the id of one of these or its embedded text, of any status."""
        ids, texts = [], []
        for exemplar in exemplars:
            ids.append(exemplar.id)
            texts.append(writing.text_number(exemplar.key))
        with self._database.read():
            numbers = listing.kin(self._database, ids, texts)
        return tuple(self.exemplars(numbers).values())

    def shows(self, wanted: Filter, numbers: Sequence[int]) -> set[int]:
        """Return those of these exemplars, by number, that the filter lets through."""
        with self._listing() as database:
            return listing.shows(database, wanted, list(numbers))

    def row(self, number: int) -> LibraryRow | None:
        """Return one exemplar as lists show it; its number is below zero for one of a file."""
        with self._listing() as database:
            return listing.row_of(database, number)

    def exemplars(self, numbers: Sequence[int]) -> dict[int, Exemplar]:
        """Return current exemplars by number, below zero for those of files; one that is not there is left out."""
        with self._database.read():
            rows = self._database.rows(
                "SELECT e.number, e.status, e.reviewed_by, e.reviewed_at, e.although, v.content FROM exemplars e"
                " JOIN versions v ON v.exemplar = e.number AND v.number = e.version"
                " WHERE e.number IN (SELECT value FROM json_each(?))",
                (json.dumps(list(numbers)),),
            )
        found = self.beside.exemplars(numbers)
        for row in rows:
            found[row["number"]] = self._unpacked(row)
        return found

    def current(self, ids: Iterable[str]) -> tuple[CurrentVersion, ...]:
        """Return which versions are current of those exemplars that there are; of one of a file it is a checksum."""
        wanted = tuple(ids)
        with self._database.read():
            rows = self._database.rows(
                "SELECT id, version, status, reviewed_by, reviewed_at, although FROM exemplars"
                " WHERE id IN (SELECT value FROM json_each(?)) ORDER BY number",
                (json.dumps(wanted),),
            )
            found = {row["id"]: self._current(row) for row in rows}
        for id in wanted:
            if id not in found and (one := self.beside.current(id)) is not None:
                found[id] = one
        return tuple(found.values())

    def has(self, ids: Iterable[str]) -> set[str]:
        """Return those ids that the library itself has, of any status."""
        with self._database.read():
            rows = self._database.rows(
                "SELECT id FROM exemplars WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(ids)),),
            )
            return {row["id"] for row in rows}

    def runs(self) -> frozenset[int]:
        """Return the runs that exemplars were made of, retired ones among them."""
        with self._database.read():
            rows = self._database.rows("SELECT DISTINCT run FROM exemplars WHERE run IS NOT NULL")
            return frozenset(row["run"] for row in rows)

    def changed(self) -> float:
        """Return when an exemplar was changed last, also in a user's file, in seconds since the epoch; 0 for none."""
        with self._database.read():
            own = self._database.rows("SELECT max(changed) AS n FROM exemplars")[0]["n"]
        return max(float(own or 0), self.beside.changed())

    def last_change(self) -> int:
        with self._database.read():
            return int(self._database.rows("SELECT max(change) AS n FROM exemplars")[0]["n"] or 0)

    def changes(self, since: int) -> tuple[int, list[LibraryChange]]:
        """Return the last change, and the exemplars changed after `since`, in that order."""
        with self._database.read():
            cursor = self._database.execute(
                "SELECT number, id, family, environment, text, status, weight, pinned, change FROM exemplars"
                " WHERE change > ? ORDER BY change",
                (since,),
            )
            rows = cursor.fetchall()
        found = [LibraryChange(*row[:-1]) for row in rows]
        return (rows[-1][-1] if rows else since), found

    def tasks(self, numbers: Sequence[int]) -> dict[int, str]:
        """Return the tasks of these exemplars by their numbers."""
        with self._database.read():
            rows = self._database.rows(
                "SELECT number, task FROM exemplars WHERE number IN (SELECT value FROM json_each(?))",
                (json.dumps(list(numbers)),),
            )
        of_files = {number: one.task for number, one in self.beside.exemplars(numbers).items()}
        return of_files | {row["number"]: row["task"] for row in rows}

    # Pairs that are much alike

    def keep_apart(self, id: str, other: str, *, apart: bool = True) -> None:
        """Remember that both of a pair are to be kept, or forget it; they need not be in the library."""
        id, other = sorted((writing.plain(id), writing.plain(other)))
        with self._writing():
            if apart:
                self._database.table("apart").upsert({"id": id, "other": other, "when": time.time()})
            else:
                self._database.table("apart").delete_where("id = ? AND other = ?", (id, other))

    def apart(self) -> frozenset[tuple[str, str]]:
        """Return the pairs of which both are to be kept, the ids of each in order."""
        with self._database.read():
            rows = self._database.rows("SELECT id, other FROM apart")
            return frozenset((row["id"], row["other"]) for row in rows)

    # Retrievals

    def retrievals(self, id: str, *, limit: int = 200) -> tuple[Retrieval, ...]:
        """Return where an exemplar was looked up, the latest first."""
        with self._database.read():
            rows = self._database.rows(
                "SELECT r.*, coalesce(o.outcome, '') AS outcome, o.success FROM retrievals r"
                " LEFT JOIN outcomes o ON o.trace = r.trace AND o.run = r.run"
                ' WHERE r.id = ? ORDER BY r."when" DESC, r.run DESC, r.step DESC LIMIT ?',
                (id, limit),
            )
            return tuple(Retrieval.model_validate(row) for row in rows)

    def standing(self, id: str) -> RetrievalRecord:
        """Return how the runs ended that it was looked up for."""
        with self._database.read():
            return listing.standings(self._database, [id]).get(id, RetrievalRecord())

    def last_step_read(self, trace: str) -> tuple[int, float]:
        """Return the last step of a trace whose retrievals are known, and when it was begun; zeros for none."""
        with self._database.read():
            row = self._database.row("SELECT told, begun FROM traces WHERE trace = ?", (trace,))
            return (0, 0.0) if row is None else (int(row["told"]), float(row["begun"]))

    def runs_read(self, trace: str) -> dict[int, float]:
        """Return the runs of a trace in which exemplars were retrieved, each with when one first was."""
        with self._database.read():
            rows = self._database.rows(
                'SELECT run, min("when") AS first FROM retrievals WHERE trace = ? GROUP BY run', (trace,)
            )
            return {row["run"]: row["first"] for row in rows}

    def forget_runs(self, trace: str, runs: Iterable[tuple[int, float]]) -> None:
        """Forget runs of a trace, each as it was before that moment: others have their numbers since."""
        with self._writing():
            for run, started in runs:
                at = (trace, run, started)
                self._database.table("retrievals").delete_where('trace = ? AND run = ? AND "when" < ?', at)
                self._database.table("outcomes").delete_where("trace = ? AND run = ?", at[:2])

    def settle(self, trace: str, ends: Iterable[RunEnd]) -> None:
        """Store how runs of a trace stand; one of an evaluation stays so if the evaluation is forgotten."""
        with self._writing():
            found = self._database.rows(
                "SELECT run, outcome, success, measured FROM outcomes WHERE trace = ?", (trace,)
            )
            known = {row["run"]: RunEnd(**row) for row in found}
            now = (
                end._replace(measured=end.measured or bool(end.run in known and known[end.run].measured))
                for end in ends
            )
            new = [{"trace": trace, **end._asdict()} for end in now if known.get(end.run) != end]
            self._database.table("outcomes").insert_all(new, replace=True)

    # Files next to it

    def set_beside(self, members: Sequence[FileMember]) -> None:
        """Show these exemplars of files besides the library's, numbered -1, -2 and so on; nothing of them is stored."""
        self._members = members
        with self._database.read():
            rows = self._database.rows("SELECT * FROM file_reviews")
        reviews = {row["id"]: self._review(row) for row in rows}
        now = tuple(
            one._replace(exemplar=one.exemplar.replace(review=reviews[one.exemplar.id]))
            if one.origin == "bundled" and one.exemplar.id in reviews
            else one
            for one in members
        )
        if now != self.beside.members:
            self.beside = FilesBeside(now)

    def files_in_use(self) -> dict[int, Exemplar]:
        """Return the exemplars of files that are not retired, by number; the library's own come first."""
        return self.beside.in_use(self.has(member.exemplar.id for member in self.beside.members))

    @property
    def stamp(self) -> object:
        """Another one as soon as an exemplar of the library or of a file has changed."""
        return self.last_change(), self.beside.members, self._database.seen_changes()

    @contextmanager
    def _listing(self) -> Generator[DatabaseFile, None, None]:
        """Read with the exemplars of files in tables of their own."""
        if self._listed is not self.beside:
            self.beside.fill(self._database, is_new=self._listed is None)
            self._listed = self.beside
        with self._database.read():
            yield self._database

    # Rows

    @contextmanager
    def _writing(self) -> Generator[None, None, None]:
        if self._unmade is not None:
            made = DatabaseFile.open(self._unmade, KIND)
            self._database.close()
            self._database, self._unmade, self._listed = made, None, None
        self._file_changes = changes = FileChanges(self.beside, self.folder)
        with self._database.write():
            yield
            changes.write()
        if changes.members:
            others = (one for one in self._members if one.exemplar.id not in changes.members)
            self.set_beside((*others, *changes.members.values()))

    def _save(
        self, exemplar: Exemplar, provenance: Provenance | None, why: str, expected: int | None, when: float
    ) -> int:
        row = self._row(exemplar.id)
        if row is None and (self.folder is not None or self.beside.path(exemplar.id) is not None):
            return self._save_file(exemplar, expected)
        if expected is not None and (row is None or row["version"] != expected):
            stands = f"is now at version {row['version']}" if row else "is not in the library"
            raise LibraryError(
                f"The exemplar {exemplar.id} {stands}, not at {expected} as when you opened it. Check the "
                "changes, then save again."
            )
        tokens = writing.tokens_of(exemplar)
        if row is None:
            provenance = provenance or Provenance()
            values = writing.values_of(exemplar, provenance, tokens)
            values |= {"version": 1, "made": when, "changed": when, "change": self._next_change()}
            number = cast(int, self._database.table("exemplars").insert(values).last_pk)
            self._keep_version(number, 1, exemplar, tokens, why, when)
            writing.insert_words(self._database, number, exemplar)
            return 1
        number = row["number"]
        before = self._version(row, row["version"])
        known = self._provenance(row)
        provenance = provenance or known
        if before.replace(review=exemplar.review) == exemplar and provenance == known:
            if exemplar.review.status != row["status"]:
                self._set_review(exemplar.id, exemplar.review)
            return int(row["version"])
        version = int(
            self._database.rows("SELECT max(number) AS n FROM versions WHERE exemplar = ?", (number,))[0]["n"]
        )
        self._keep_version(number, version + 1, exemplar, tokens, why, when)
        self._update(number, exemplar, provenance, tokens, version + 1, when)
        return version + 1

    def _save_file(self, exemplar: Exemplar, expected: int | None) -> int:
        now = self.beside.current(exemplar.id)
        if expected is not None and (now is None or now.version != expected):
            stands = "was changed in its file" if now else "is in no file any more"
            raise LibraryError(
                f"The exemplar {exemplar.id} {stands} since you opened it. Check the changes, then save again."
            )
        self._file_changes.put(exemplar)
        return version_of(exemplar)

    def _keep_version(
        self, number: int, version: int, exemplar: Exemplar, tokens: int, why: str, when: float
    ) -> None:
        values = {"exemplar": number, "number": version, "saved": when, "why": writing.plain(why)}
        self._database.table("versions").insert(
            {**values, "tokens": tokens, "content": writing.pack(exemplar)}
        )

    def _update(
        self, number: int, exemplar: Exemplar, provenance: Provenance, tokens: int, version: int, when: float
    ) -> None:
        values: dict[str, Any] = writing.values_of(exemplar, provenance, tokens)
        values |= {"version": version, "changed": when, "change": self._next_change()}
        self._database.table("exemplars").update(number, values)
        writing.insert_words(self._database, number, exemplar)

    def _set_review(self, id: str, review: ExemplarReview) -> None:
        values = writing.review_values(review)
        entry = self.beside.entry(id) if self._row(id) is None else None
        if entry is not None and entry.read_only:
            self._database.table("file_reviews").upsert({"id": id, **values})
        elif entry is not None:
            self._file_changes.put(entry.exemplar.replace(review=review))
        elif self._review(row := self._known(id)) != review:
            values |= {"changed": time.time(), "change": self._next_change()}
            self._database.table("exemplars").update(row["number"], values)

    def _make_current(self, row: dict[str, Any], version: int) -> None:
        exemplar = self._version(row, version)
        tokens = writing.tokens_of(exemplar)
        self._update(row["number"], exemplar, self._provenance(row), tokens, version, time.time())

    def _next_change(self) -> int:
        return int(self._database.rows("SELECT max(change) AS n FROM exemplars")[0]["n"] or 0) + 1

    def _known(self, id: str) -> dict[str, Any]:
        row = self._row(id)
        if row is None:
            raise NotInLibraryError(self._no_exemplar(id))
        self._provenance(row)  # A damaged row is of no use.
        return row

    def _row(self, id: str) -> dict[str, Any] | None:
        return self._database.row("SELECT * FROM exemplars WHERE id = ?", (writing.plain(id),))

    def _provenance(self, row: dict[str, Any]) -> Provenance:
        try:
            return Provenance.model_validate({name: row[name] for name in Provenance.model_fields})
        except ValidationError as error:
            raise LibraryError(damaged(self.path, KIND)) from error

    def _review(self, row: dict[str, Any]) -> ExemplarReview:
        try:
            return writing.review_of(row)
        except ValidationError as error:
            raise LibraryError(damaged(self.path, KIND)) from error

    def _current(self, row: dict[str, Any]) -> CurrentVersion:
        return CurrentVersion(id=row["id"], version=row["version"], review=self._review(row))

    def _no_exemplar(self, id: str) -> str:
        found = self._database.rows(
            "SELECT id FROM exemplars WHERE id LIKE ? ESCAPE '\\' ORDER BY id LIMIT 200",
            (f"{writing.plain(id[:1])}%",),
        )
        near = get_close_matches(id, [row["id"] for row in found], n=1, cutoff=0.6)
        hint = f"did you mean {near[0]}?" if near else "list them with `exemplars list`."
        return f"There is no exemplar {id} in the library; {hint}"

    def _version(self, row: dict[str, Any], version: int) -> Exemplar:
        found = self._database.row(
            "SELECT content FROM versions WHERE exemplar = ? AND number = ?", (row["number"], version)
        )
        if found is None:
            raise NotInLibraryError(f"The exemplar {row['id']} has no version {version}.")
        return self._unpacked({**row, **found})

    def _unpacked(self, row: dict[str, Any]) -> Exemplar:
        """Return the exemplar of a row that has the content of a version."""
        exemplar = writing.unpack(row["content"], self.path, self._database)
        return exemplar.replace(review=self._review(row))
