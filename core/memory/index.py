"""The index: which exemplars are nearest to a text, by Euclidean distance.

Its members are exemplars of files, which are in memory, and those of the
library, of which it knows only id, family, environment and the text that is
embedded: they are read when they are found. Only texts it has not seen are
embedded; another embedding has vectors of its own (`core.memory.vectors`).
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.llm.embedding import Embedding, OnProgress, Vectors
from core.memory.library.rows import text_number
from core.memory.library.store import Change, Library
from core.memory.nearest import EXACT, SMALL, Damaged, Mask, Nearest
from core.memory.vectors import KeptVectors
from core.schema.errors import DataError
from core.schema.exemplar import Exemplar
from core.schema.record import Record

_BATCH = 256
"""Texts that are embedded before their vectors are kept: what a person who cancels does not lose."""
_DEAD = 10_000
"""Members that have gone, beyond which those that are left are numbered anew."""


class Near(Record):
    """One exemplar with its distance, from 0 to 2."""

    exemplar: Exemplar
    distance: float


class Hidden(NamedTuple):
    """Exemplars that are left out as if they were not there."""

    ids: frozenset[str] = frozenset()
    families: frozenset[str] = frozenset()


class _Found(NamedTuple):
    row: int
    distance: float


class Placed(NamedTuple):
    """All members of an index, one after the other, as they stand at one moment."""

    numbers: NDArray[np.int64]
    ids: tuple[str, ...]
    families: NDArray[np.int64]
    """Of each the place of its family in `names`."""
    names: tuple[str, ...]
    slots: NDArray[np.int64]
    """Of each the place of its vector: members of one text share one."""


class ExemplarIndex:
    """Vectors of a set of exemplars; `refresh` before `search`."""

    def __init__(
        self,
        embedding: Embedding,
        folder: Path | None = None,
        library: Library | None = None,
        *,
        hidden: Hidden | None = None,
        small: int = SMALL,
        exact: int = EXACT,
    ) -> None:
        """Keep vectors in `folder`, or in memory alone where there is none.

        Those of the library that are `hidden` are no members. `small` and
        `exact` are where the ways of searching change (`core.memory.nearest`).
        """
        self.embedding = embedding
        self.library = library
        self._folder = folder
        self._hidden = hidden or Hidden()
        self._bounds = {"small": small, "exact": exact}
        self._turn = asyncio.Lock()
        self._vectors: KeptVectors | None = None
        self._begin()

    def __len__(self) -> int:
        """How many exemplars it has."""
        return self._members

    def __contains__(self, number: object) -> bool:
        """Whether it has the member of this number."""
        return number in self._row_of

    @property
    def way(self) -> str:
        """How it searches, in a word."""
        return "all" if self._nearest is None else self._nearest.way

    async def refresh(self, exemplars: Sequence[Exemplar], on_progress: OnProgress | None = None) -> int:
        """Make the index that of `exemplars` and of the library, and return how many texts had to be embedded.

        Where an id is in both, the library's is meant. Raises LLMError where
        the embedding asks a server that fails, and LibraryError; the index
        stays as it was then, and vectors that were made are kept, as they are
        where the caller cancels it.
        """
        exemplars = tuple(exemplars)
        async with self._turn:
            try:
                return await self._refresh(exemplars, on_progress)
            except Damaged:
                self._begin_anew()
            try:
                return await self._refresh(exemplars, on_progress)
            except Damaged as error:
                raise DataError(
                    f"The vectors of {self.embedding.name} cannot be kept in {self._folder}: what is read there is "
                    "not what was written; check the disk, and the embedding."
                ) from error

    async def search(
        self, text: str, count: int, *, family: str = "", environment: str | None = None
    ) -> tuple[Near, ...]:
        """Return the exemplars nearest to `text`, as `nearest` does."""
        if not self._members:
            return ()
        return self.nearest(await self.vector(text), count, family=family, environment=environment)

    async def vector(self, text: str) -> Vectors:
        """Return what `nearest` asks for; raises DataError where the embedding has changed its length."""
        query = await self.embedding.embed([text])
        if self._vectors is not None and query.shape[1] != (self._vectors.dimension or query.shape[1]):
            raise DataError(
                f"The embedding {self.embedding.name} gives {query.shape[1]} numbers where the index has "
                f"{self._vectors.dimension}; make the index anew."
            )
        row: Vectors = query[0]
        return row

    def numbers(self) -> tuple[int, ...]:
        """Return the numbers of all members: those of files, as they were given, are -1, -2 and so on."""
        return tuple(self._row_of)

    def family_of(self, number: int) -> str:
        """Return the family of a member."""
        return self._name(self._families[self._row_of[number]])

    def number_of(self, id: str) -> int | None:
        """Return the number of the member of this id; None where there is none."""
        return next((number for number, row in self._row_of.items() if self._ids[row] == id), None)

    def id_of(self, number: int) -> str:
        """Return the id of a member."""
        return self._ids[self._row_of[number]]

    def placed(self) -> Placed:
        """Return all members by their ids, for what looks at all of them at once."""
        rows = np.array(sorted(self._row_of.values(), key=lambda row: self._ids[row]), np.int64)
        return Placed(
            numbers=np.array([self._numbers[row] for row in rows.tolist()], np.int64),
            ids=tuple(self._ids[row] for row in rows.tolist()),
            families=self._families[rows],
            names=tuple(self._names),
            slots=self._slots[rows],
        )

    def rows(self, slots: NDArray[np.int64]) -> Vectors:
        """Return the vectors of these slots; raises Damaged."""
        assert self._vectors is not None
        if len(slots) and slots.max() >= len(self._vectors):
            raise Damaged  # They were thrown away since the slots were told.
        found = self._vectors.rows(slots)
        if not self._vectors.are_whole(found):
            raise Damaged
        return found

    def bounding_rows(self, slots: NDArray[np.int64]) -> Vectors:
        """Return vectors, shorter ones where there are many, whose distances are never beyond the real ones."""
        assert self._nearest is not None
        return self._nearest.bounding_rows(slots)

    def families_near(self, number: int, count: int) -> tuple[tuple[str, float], ...]:
        """Return the families and distances of the nearest to a member, itself left out."""
        near = self.nearest_others(number, count)
        return tuple((self.family_of(other), far) for other, far in near)

    def nearest_others(self, number: int, count: int) -> tuple[tuple[int, float], ...]:
        """Return the numbers and distances of the nearest to a member, itself left out."""
        near = self._rows_near(self.vector_of(number), count, self._allowed("", None, number))
        return tuple((self._numbers[row], far) for row, far in near)

    def vector_of(self, number: int) -> Vectors:
        """Return the vector of a member."""
        assert self._vectors is not None
        row: Vectors = self._vectors.rows(self._slots[[self._row_of[number]]])[0]
        return row

    def nearest(
        self,
        query: Vectors,
        count: int,
        *,
        family: str = "",
        environment: str | None = None,
        without: int = 0,
    ) -> tuple[Near, ...]:
        """Return the exemplars nearest to a vector, the nearest first, equal ones by family and id.

        With `environment`, only those of it and those of none count; `without`
        is the number of one that does not. Raises Damaged where the vectors have to be made again.
        """
        rows = self._rows_near(query, count, self._allowed(family, environment, without))
        exemplars = self._exemplars_of([row for row, _ in rows])
        return tuple(Near(exemplar=exemplars[row], distance=far) for row, far in rows if row in exemplars)

    def nearest_numbers(self, query: Vectors, count: int) -> tuple[tuple[int, float], ...]:
        """Return numbers (below zero for those of files, as they were given) and distances of the nearest."""
        return tuple((self._numbers[row], far) for row, far in self._rows_near(query, count, None))

    def discard(self, *, others: bool = False) -> None:
        """Throw all vectors away, with `others` those of other embeddings too: `refresh` makes them again."""
        self._begin_anew(others=others)

    # Members

    def _begin(self) -> None:
        self._files: tuple[Exemplar, ...] = ()
        self._since = 0
        self._members = 0
        self._exemplars: dict[int, Exemplar] = {}
        self._ids: list[str] = []
        self._numbers: list[int] = []
        self._row_of: dict[int, int] = {}
        self._codes: dict[str, int] = {}
        self._names: list[str] = []
        self._families = np.zeros(0, np.int64)
        self._environments = np.zeros(0, np.int64)
        self._lives: Mask = np.zeros(0, np.bool_)
        self._slots = np.zeros(0, np.int64)
        self._first = np.zeros(0, np.int64)
        """Of each slot, one of the members whose text it is; -1 for none."""
        self._next = np.zeros(0, np.int64)
        """Of each member, another one of the same text; -1 for none."""
        self._nearest: Nearest | None = None
        self._generation = ""

    def _begin_anew(self, *, others: bool = False) -> None:
        vectors = self._vectors or KeptVectors(self.embedding.name, self._folder)
        vectors.discard()
        if others:
            vectors.discard_others()
        self._vectors = vectors
        self._begin()

    async def _refresh(self, exemplars: tuple[Exemplar, ...], on_progress: OnProgress | None) -> int:
        if self._vectors is None:
            self._vectors = await asyncio.to_thread(KeptVectors, self.embedding.name, self._folder)
        vectors = self._vectors
        if len(self._ids) - self._members > max(_DEAD, self._members):
            self._begin()
        last, changes = self._since, list[Change]()
        if self.library is not None and self.library.last_change() != self._since:
            last, changes = await asyncio.to_thread(self.library.changes, self._since)
        if exemplars != self._files:
            files = [
                Change(-place, one.id, one.family, one.environment, text_number(one.key), 0)
                for place, one in enumerate(exemplars, start=1)
            ]
        elif not changes and self._nearest is not None:
            return 0
        else:
            files = []
        vectors.refresh()
        if self._nearest is not None and vectors.generation != self._generation:
            raise Damaged  # Another process has thrown them away.
        made = await self._embed(vectors, [*files, *changes], exemplars, on_progress)
        nearest = self._nearest or Nearest(vectors, **self._bounds)
        await asyncio.to_thread(nearest.prepare)
        # From here on nothing can fail: the index changes as a whole.
        self._nearest, self._generation = nearest, vectors.generation
        if exemplars != self._files:
            for number in [number for number in self._row_of if number < 0]:
                self._remove(number)
            self._files = exemplars
            self._exemplars = {-place: one for place, one in enumerate(exemplars, start=1)}
        self._take([*files, *changes], vectors)
        self._since = last
        return made

    async def _embed(
        self,
        vectors: KeptVectors,
        members: list[Change],
        exemplars: tuple[Exemplar, ...],
        on_progress: OnProgress | None,
    ) -> int:
        """Embed the texts that have no vectors, some at a time, and return how many."""
        texts = np.array([one.text for one in members if not one.archived], np.int64)
        numbers = [one.number for one in members if not one.archived]
        missing = np.flatnonzero(vectors.slots(texts) < 0)
        missing = missing[np.unique(texts[missing], return_index=True)[1]]
        missing.sort()
        for start in range(0, len(missing), _BATCH):
            batch = [numbers[place] for place in missing[start : start + _BATCH].tolist()]
            from_library = self.library.exemplars([n for n in batch if n > 0]) if self.library else {}
            keys: dict[int, str] = {}
            for number in batch:
                one = exemplars[-number - 1] if number < 0 else from_library.get(number)
                if one is not None:
                    keys[text_number(one.key)] = one.key

            def told(done: int, of: int, start: int = start) -> None:
                if on_progress is not None:
                    on_progress(start + done, len(missing))

            rows = await self.embedding.embed(list(keys.values()), told)
            if vectors.dimension not in (0, rows.shape[1]):
                # The same name gives other vectors than it gave: those are of no use any more.
                vectors.discard()
                raise Damaged
            vectors.add(list(keys), rows)
            await asyncio.sleep(0)
        return len(missing)

    def _take(self, changes: list[Change], vectors: KeptVectors) -> None:
        for one in changes:
            self._remove(one.number)
        living = [one for one in changes if not one.archived and not (one.number > 0 and self._hides(one))]
        slots = vectors.slots(np.array([one.text for one in living], np.int64))
        # One that was saved again since its text was read comes with the next change.
        living = [one for one, slot in zip(living, slots.tolist(), strict=True) if slot >= 0]
        slots = slots[slots >= 0]
        first = len(self._ids)
        for row, one in enumerate(living, start=first):
            self._row_of[one.number] = row
            self._ids.append(one.id)
            self._numbers.append(one.number)
        self._members += len(living)
        families = [self._code(one.family) for one in living]
        environments = [self._code(one.environment) for one in living]
        self._families = _longer(self._families, families)
        self._environments = _longer(self._environments, environments)
        self._lives = np.concatenate([self._lives, np.ones(len(living), np.bool_)])
        self._slots = np.concatenate([self._slots, slots])
        self._next = _longer(self._next, [-1] * len(living))
        more = len(vectors) - len(self._first)
        if more > 0:
            self._first = np.concatenate([self._first, np.full(more, -1, np.int64)])
        for row, slot in enumerate(slots.tolist(), start=first):
            self._next[row] = self._first[slot]
            self._first[slot] = row

    def _hides(self, one: Change) -> bool:
        return one.id in self._hidden.ids or one.family in self._hidden.families

    def _code(self, name: str) -> int:
        if name not in self._codes:
            self._codes[name] = len(self._names)
            self._names.append(name)
        return self._codes[name]

    def _name(self, code: np.int64) -> str:
        return self._names[int(code)]

    def _remove(self, number: int) -> None:
        row = self._row_of.pop(number, None)
        if row is not None:
            self._lives[row] = False
            self._members -= 1

    # Searching

    def _allowed(self, family: str, environment: str | None, without: int) -> Mask:
        allowed: Mask = self._lives.copy()
        if family:
            allowed &= self._families == self._codes.get(family, -1)
        if environment is not None:
            known = [self._codes.get(name, -1) for name in ("", environment)]
            allowed &= (self._environments == known[0]) | (self._environments == known[1])
        if without in self._row_of:
            allowed[self._row_of[without]] = False
        return allowed

    def _rows_near(self, query: Vectors, count: int, allowed: Mask | None) -> list[_Found]:
        if self._nearest is None or self._vectors is None or not self._members or count < 1:
            return []
        allowed = self._lives if allowed is None else allowed
        slots_allowed: Mask = np.zeros(len(self._first), np.bool_)
        slots_allowed[self._slots[allowed]] = True
        if not slots_allowed.any():
            return []
        slots, distances = self._nearest.search(query, count, None if slots_allowed.all() else slots_allowed)
        found: list[_Found] = []
        for slot, distance in zip(slots.tolist(), distances.tolist(), strict=True):
            row = int(self._first[slot])
            while row >= 0:
                if allowed[row]:
                    found.append(_Found(row, float(distance)))
                row = int(self._next[row])
        found.sort(key=lambda one: (one.distance, self._name(self._families[one.row]), self._ids[one.row]))
        return found[:count]

    def _exemplars_of(self, rows: list[int]) -> dict[int, Exemplar]:
        numbers = {row: self._numbers[row] for row in rows}
        wanted = [number for number in numbers.values() if number > 0]
        read = self.library.exemplars(wanted) if self.library is not None and wanted else {}
        known = {**read, **self._exemplars}
        return {row: known[number] for row, number in numbers.items() if number in known}


def _longer(values: NDArray[np.int64], more: list[int]) -> NDArray[np.int64]:
    return np.concatenate([values, np.array(more, np.int64)])
