"""The index: which exemplars are nearest to a text, by Euclidean distance.

Its members are exemplars of files, which are in memory, and those of the
library, of which it knows only id, family, environment and the text that is
embedded: they are read when they are found. Only texts it has not seen are
embedded; another embedding has vectors of its own (`core.exemplars.vectors`).
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.exemplars.library.records import LibraryChange
from core.exemplars.library.store import Library
from core.exemplars.library.tables import text_number
from core.exemplars.nearest import SMALL, Mask, Nearest, distances
from core.exemplars.vectors import Damaged, VectorStore
from core.llm.embedding import Embedding, OnProgress, Vectors
from core.schema.errors import DataError
from core.schema.exemplar import Exemplar, Status
from core.schema.record import Record

_BATCH = 256
"""Texts that are embedded before their vectors are kept: what a person who cancels does not lose."""
_DEAD = 10_000
"""Members that have gone, beyond which those that are left are numbered again."""


class Near(Record):
    """One exemplar with its distance: from 0 to 2, divided by its weight."""

    exemplar: Exemplar
    distance: float


class Among(NamedTuple):
    """Which exemplars are looked through: those that meet all of it."""

    family: str = ""
    environment: str | None = None
    """Those of it and those of none; None for all."""
    status: Status | None = None
    """Only new or only reviewed ones; None for both."""

    def has(self, exemplar: Exemplar) -> bool:
        """Return whether an exemplar is one of them; a retired one never is."""
        status = exemplar.review.status
        return (
            self.family in ("", exemplar.family)
            and (self.environment is None or exemplar.environment in ("", self.environment))
            and status != "retired"
            and self.status in (None, status)
        )


class Placed(NamedTuple):
    """All members of an index, one after the other, as they stand at one moment."""

    numbers: NDArray[np.int64]
    ids: tuple[str, ...]
    families: NDArray[np.int64]
    """Of each the place of its family in `names`."""
    names: tuple[str, ...]
    slots: NDArray[np.int64]
    """Of each the place of its vector: members of one text share one."""

    def same_as(self, other: "Placed") -> bool:
        """Return whether these are the same members with the same families and vectors."""
        named = (self.ids, self.names) == (other.ids, other.names)
        return named and all(map(np.array_equal, (self.families, self.slots), (other.families, other.slots)))


class ExemplarIndex:
    """Vectors of a set of exemplars; `refresh` before anything is looked up."""

    def __init__(
        self,
        embedding: Embedding,
        folder: Path | None = None,
        library: Library | None = None,
        *,
        hides: Callable[[str, str], bool] = lambda id, family: False,
        small: int = SMALL,
    ) -> None:
        """Keep vectors in `folder`, or in memory alone if there is none.

        `hides` says by id and family which of the library are no members; `small` is
        as in `core.exemplars.nearest`.
        """
        self.embedding = embedding
        self.library = library
        self._folder = folder
        self._hides = hides
        self._small = small
        self._turn = asyncio.Lock()
        self._vectors: VectorStore | None = None
        self._begin()

    def __len__(self) -> int:
        """How many exemplars it has."""
        return len(self._row_of)

    def __contains__(self, number: object) -> bool:
        """Whether it has the member of this number."""
        return number in self._row_of

    @property
    def way(self) -> str:
        """How it searches, in a word."""
        return "all" if self._nearest is None else self._nearest.way

    async def refresh(self, exemplars: Mapping[int, Exemplar], on_progress: OnProgress | None = None) -> int:
        """Make the index that of `exemplars` and of the library, and return how many texts had to be embedded.

        `exemplars` have numbers below zero, and ids that no other member has.
        Raises LLMError if the embedding asks a server that fails, and
        LibraryError; the index stays as it was then, and vectors that were
        made are kept, as they are where the caller cancels it.
        """
        async with self._turn:
            try:
                return await self._refresh(exemplars, on_progress)
            except Damaged:
                self._begin_anew()
            try:
                return await self._refresh(exemplars, on_progress)
            except Damaged as error:
                raise DataError(
                    f"The vectors of {self.embedding.name} cannot be stored in {self._folder}: the stored data "
                    "differs from what was written; check the disk and the embedding."
                ) from error

    async def vector(self, text: str) -> Vectors:
        """Return what `nearest` asks for; raises Damaged if the embedding gives vectors of another length by now."""
        query = await self.embedding.embed([text])
        if self._vectors is not None and query.shape[1] != (self._vectors.dimension or query.shape[1]):
            raise Damaged  # The vectors of the exemplars have to be made again.
        row: Vectors = query[0]
        return row

    def numbers(self) -> tuple[int, ...]:
        """Return the numbers of all members."""
        return tuple(self._row_of)

    def family_of(self, number: int) -> str:
        """Return the family of a member."""
        return self._members[self._row_of[number]].family

    def number_of(self, id: str) -> int | None:
        """Return the number of the member of this id; None if there is none."""
        return next((number for number, row in self._row_of.items() if self._members[row].id == id), None)

    def id_of(self, number: int) -> str:
        """Return the id of a member."""
        return self._members[self._row_of[number]].id

    def exemplars(self, numbers: Sequence[int]) -> dict[int, Exemplar]:
        """Return members by number; one that has gone meanwhile is left out. Raises LibraryError."""
        return self._exemplars_of(numbers, self._given)

    def placed(self) -> Placed:
        """Return all members by their ids, for what looks at all of them at once."""
        rows = sorted(self._row_of.values(), key=lambda row: self._members[row].id)
        families, slots = self._columns[0, rows], self._columns[-1, rows]
        return Placed(
            numbers=np.array([self._members[row].number for row in rows], np.int64),
            ids=tuple(self._members[row].id for row in rows),
            families=families,
            names=tuple(self._codes),
            slots=slots,
        )

    def rows(self, slots: NDArray[np.int64]) -> Vectors:
        """Return the vectors of these slots; raises Damaged."""
        assert self._vectors is not None
        return self._vectors.rows(slots)

    def bounding_rows(self, slots: NDArray[np.int64]) -> Vectors:
        """Return vectors, shorter ones if there are many, whose distances are never beyond the real ones."""
        assert self._nearest is not None
        return self._nearest.bounding_rows(slots)

    def nearest_others(self, number: int, count: int) -> tuple[tuple[int, float], ...]:
        """Return the numbers and distances of the nearest to a member, itself left out."""
        return self.nearest_numbers(self.vector_of(number), count, without=number)

    def vector_of(self, number: int) -> Vectors:
        """Return the vector of a member; raises Damaged."""
        row: Vectors = self.rows(self._columns[-1, [self._row_of[number]]])[0]
        return row

    def nearest(
        self,
        query: Vectors,
        count: int,
        among: Among = Among(),  # noqa: B008 - it is frozen
        *,
        without: int = 0,
    ) -> tuple[Near, ...]:
        """Return the exemplars nearest to a vector by their weights, the nearest first, equal ones by family and id.

        Pinned ones come with them however far they are. `without` is the number of one that does not count.
        Raises Damaged if the vectors have to be made again.
        """
        allowed = self._allowed(among, without)
        preferred: Mask = allowed & (self._columns[3] != 0)
        rows = self._nearest_rows(query, count, allowed & ~preferred)
        if preferred.any():
            own = np.flatnonzero(preferred)
            far = distances(self.rows(self._columns[-1, own]), query)
            weights = [self._members[row].weight for row in own.tolist()]
            rows += zip(own.tolist(), np.round(far / weights, 6).tolist(), strict=True)
            rows.sort(key=self._order)
            rows = [one for place, one in enumerate(rows) if place < count or self._members[one[0]].pinned]
        exemplars = self.exemplars([self._members[row].number for row, _ in rows])
        near = ((exemplars.get(self._members[row].number), far) for row, far in rows)
        return tuple(Near(exemplar=one, distance=far) for one, far in near if one is not None)

    def nearest_numbers(
        self, query: Vectors, count: int, *, without: int = 0
    ) -> tuple[tuple[int, float], ...]:
        """Return numbers and distances of the nearest."""
        near = self._nearest_rows(query, count, self._allowed(Among(), without))
        return tuple((self._members[row].number, far) for row, far in near)

    def discard(self, *, others: bool = False) -> None:
        """Throw all vectors away, with `others` those of other embeddings too: `refresh` makes them again."""
        self._begin_anew(others=others)

    # Members

    def _begin(self) -> None:
        self._given: Mapping[int, Exemplar] = {}
        self._read = self.library
        """The library that the changes up to `_since` are of."""
        self._since = 0
        self._members: list[LibraryChange] = []
        """A row for each member there was; one that is saved again has a new row."""
        self._row_of: dict[int, int] = {}
        """The rows of those there are, by number."""
        self._codes: dict[str, int] = {}
        """Families and environments, each with its place."""
        self._columns = np.zeros((5, 0), np.int64)
        """Of each row: family, environment, whether it is new, whether it is preferred, and slot.

        A preferred one has a weight or is pinned. The slot is -1 for one that has gone.
        """
        self._nearest: Nearest | None = None
        self._generation = ""

    def _begin_anew(self, *, others: bool = False) -> None:
        vectors = self._vectors or VectorStore(self.embedding.name, self._folder)
        vectors.discard()
        if others:
            vectors.discard_others()
        self._vectors = vectors
        self._begin()

    async def _refresh(self, exemplars: Mapping[int, Exemplar], on_progress: OnProgress | None) -> int:
        if self._vectors is None:
            self._vectors = await asyncio.to_thread(VectorStore, self.embedding.name, self._folder)
        vectors = self._vectors
        if self._read is not self.library or len(self._members) - len(self) > max(_DEAD, len(self)):
            self._begin()
        last, changes = self._since, list[LibraryChange]()
        if self.library is not None and self.library.last_change() != self._since:
            last, changes = await asyncio.to_thread(self.library.changes, self._since)
        if exemplars != self._given:
            given = [
                LibraryChange(
                    number,
                    one.id,
                    one.family,
                    one.environment,
                    text_number(one.key),
                    one.review.status,
                    one.weight,
                    one.pinned,
                )
                for number, one in exemplars.items()
            ]
        elif not changes and self._nearest is not None:
            return 0
        else:
            given = []
        vectors.refresh()
        if self._nearest is not None and vectors.generation != self._generation:
            raise Damaged  # Another process has thrown them away.
        made = await self._embed(vectors, [*given, *changes], exemplars, on_progress)
        nearest = self._nearest or Nearest(vectors, small=self._small)
        await asyncio.to_thread(nearest.prepare)
        # From here on nothing can fail: the index changes as a whole.
        self._nearest, self._generation = nearest, vectors.generation
        if exemplars != self._given:
            for number in self._given:
                self._remove(number)
            self._given = dict(exemplars)
        self._take([*given, *changes], vectors)
        self._since = last
        return made

    async def _embed(
        self,
        vectors: VectorStore,
        members: list[LibraryChange],
        given: Mapping[int, Exemplar],
        on_progress: OnProgress | None,
    ) -> int:
        """Embed the texts that have no vectors, some at a time, and return how many."""
        living = [member for member in members if member.status != "retired"]
        slots = vectors.slots(one.text for one in living)
        texts: dict[int, int] = {}
        for one, slot in zip(living, slots.tolist(), strict=True):
            if slot < 0:
                texts.setdefault(one.text, one.number)
        missing = tuple(texts.values())
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            keys = {
                text_number(exemplar.key): exemplar.key
                for exemplar in self._exemplars_of(batch, given).values()
            }

            def report(done: int, of: int, start: int = start) -> None:
                if on_progress is not None:
                    on_progress(start + done, len(missing))

            rows = await self.embedding.embed(list(keys.values()), report)
            if vectors.dimension not in (0, rows.shape[1]):
                # The same name gives other vectors than it gave: those are of no use any more.
                vectors.discard()
                raise Damaged
            vectors.add(list(keys), rows)
            await asyncio.sleep(0)
        return len(missing)

    def _take(self, changes: list[LibraryChange], vectors: VectorStore) -> None:
        for one in changes:
            self._remove(one.number)
        living = [
            change
            for change in changes
            if change.status != "retired"
            and not (change.number > 0 and self._hides(change.id, change.family))
        ]
        columns = np.array(
            [
                [self._code(one.family) for one in living],
                [self._code(one.environment) for one in living],
                [one.status == "new" for one in living],
                [one.weight != 1 or one.pinned for one in living],
                vectors.slots(one.text for one in living),
            ],
            np.int64,
        )
        # One that was saved again since its text was read has no vector: it comes with the next change.
        for row, one in enumerate(living, start=len(self._members)):
            if columns[-1, row - len(self._members)] >= 0:
                self._row_of[one.number] = row
        self._members += living
        self._columns = np.concatenate([self._columns, columns], axis=1)

    def _code(self, name: str) -> int:
        return self._codes.setdefault(name, len(self._codes))

    def _remove(self, number: int) -> None:
        row = self._row_of.pop(number, None)
        if row is not None:
            self._columns[-1, row] = -1

    # Searching

    def _allowed(self, among: Among, without: int) -> Mask:
        family, environment, status = among
        families, environments, new, _, slots = self._columns
        allowed: Mask = slots >= 0
        if status is not None:
            allowed &= new == (status == "new")
        if family:
            allowed &= families == self._codes.get(family, -1)
        if environment is not None:
            allowed &= np.isin(environments, [self._codes.get(name, -1) for name in ("", environment)])
        if without in self._row_of:
            allowed[self._row_of[without]] = False
        return allowed

    def _nearest_rows(self, query: Vectors, count: int, allowed: Mask) -> list[tuple[int, float]]:
        """Return the rows of the nearest members with their distances, equal ones by family and id."""
        if self._nearest is None or self._vectors is None or count < 1 or not allowed.any():
            return []
        slots_of = self._columns[-1]
        slots_allowed: Mask = np.zeros(max(len(self._vectors), int(slots_of.max()) + 1), np.bool_)
        slots_allowed[slots_of[allowed]] = True
        slots, distances = self._nearest.search(query, count, None if slots_allowed.all() else slots_allowed)
        far = dict(zip(slots.tolist(), distances.tolist(), strict=True))
        rows = np.flatnonzero(allowed & np.isin(slots_of, slots))
        found = [(row, far[slot]) for row, slot in zip(rows.tolist(), slots_of[rows].tolist(), strict=True)]
        found.sort(key=self._order)
        return found[:count]

    def _order(self, found: tuple[int, float]) -> tuple[float, str, str]:
        member = self._members[found[0]]
        return found[1], member.family, member.id

    def _exemplars_of(self, numbers: Sequence[int], given: Mapping[int, Exemplar]) -> dict[int, Exemplar]:
        own = [number for number in numbers if number > 0]
        read = self.library.exemplars(own) if self.library is not None and own else {}
        return read | {number: given[number] for number in numbers if number in given}
