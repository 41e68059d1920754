"""The nearest vectors, by a way that is chosen by how many there are.

- Up to `SMALL`: all of them are in memory and compared.
- Up to `EXACT`: short vectors (`core.memory.reduction`) are compared, and the
  long ones of all that might be among the nearest. The result is that of
  comparing all, ties included.
- Above: lists of short vectors around 2 sqrt(n) centres (FAISS, 8 bits a
  number), of which those nearest the query are looked through, then the long
  ones of the first `CANDIDATES` are compared.

Measured on two busy cores, with vectors of 2048 numbers that lie as those of
real tasks (`tests.benchmarks.bench_library` measures it again): of 100 000 in
400 families, a search looks closer at 250 and takes 9 to 11 ms at best, twice
that while other programs keep the cores busy, of which the short vectors
alone take 7; all that is found is what comparing all finds.
With 64 numbers in place of 128 it would have to look at 27 000. Of 250 000 in
800 families, lists find all of 180 nearest that comparing all finds. They are
made once for each doubling, which takes a minute or more: so they are for
what is too large to be compared.
"""

import hashlib
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from core.llm.embedding import Vectors
from core.memory.reduction import LENGTH, Reduction
from core.memory.vectors import KeptVectors, Numbers

SMALL = 4096
EXACT = 125_000
CANDIDATES = 3000
PROBES = 64
"""Lists that are looked through."""
_FEW = 20_000
"""Vectors that a filter leaves, up to which they are compared exactly however many there are."""
_BLOCK = 2048
_SLACK = 2e-5
"""What 32-bit arithmetic may add to a square."""

Mask = NDArray[np.bool_]


class Damaged(Exception):
    """Vectors that were read are none: they have to be made again."""


class Nearest:
    """Searches the vectors of one embedding; `prepare` after they have grown."""

    def __init__(self, vectors: KeptVectors, *, small: int = SMALL, exact: int = EXACT) -> None:
        self._vectors = vectors
        self._small = small
        self._exact = exact
        self._reduction: Reduction | None = None
        self._rows = _Growing(0)
        """Of each slot, the long vector while there are few, and the short one after."""
        self._squares = _Growing(1)
        """Of each slot, the square of its distance from the middle."""
        self._listed: faiss.Index | None = None
        self._listed_count = 0
        self._shorts: Vectors | None = None
        """Short vectors in the file, read where they are needed."""

    @property
    def way(self) -> str:
        """How it searches, in a word or two."""
        if self._listed is not None:
            return "lists"
        return "all" if self._reduction is None else "exact"

    def prepare(self) -> None:
        """Take in what has been added; raises Damaged. Slow where the files have to be made."""
        count = len(self._vectors)
        if count <= self._small and self._reduction is None:
            self._take_long(count)
            return
        if self._reduction is None or not self._serves(count, self._shorts):
            self._load_or_reduce(count)
        assert self._reduction is not None
        first = self._listed_count if self._listed is not None else 0
        have = first + len(self._rows)
        if have < count:
            kept = 0 if self._shorts is None else len(self._shorts)
            if have < kept:
                self._take_short(np.array(self._shorts[have:kept]) if self._shorts is not None else None)
                have = kept
            self._take_short(self._reduction.short_of(self._checked, have, count))

    def search(
        self, query: Vectors, count: int, allowed: Mask | None = None
    ) -> tuple[Numbers, NDArray[np.float64]]:
        """Return the slots of the nearest, at least `count` if there are, with those as far as the last of them.

        `query` is one long vector. Where `allowed` is given, only slots that it
        says yes to count. Raises Damaged.
        """
        among = None if allowed is None else np.flatnonzero(allowed)
        if self._listed is not None:
            few = among is not None and len(among) <= _FEW
            slots = among if few and among is not None else self._candidates(query, count, allowed)
            return self._compared(query, count, slots)
        return self._compared(query, count, among)

    def bounding_rows(self, slots: Numbers) -> Vectors:
        """Return the short vectors of these slots, or the long ones while there are few."""
        if self._listed is not None:
            return self._shorts_of(slots)
        return self._rows.values[slots]

    # Taking in

    def _serves(self, count: int, shorts: Vectors | None) -> bool:
        """Tell whether so many can be searched with the directions that these short vectors were made with."""
        made = 0 if shorts is None else len(shorts)
        return made <= count <= 2 * max(made, self._small) and (count <= self._exact or made > self._exact)

    def _checked(self, slots: Numbers) -> Vectors:
        rows = self._vectors.rows(slots)
        if not self._vectors.are_whole(rows):
            raise Damaged
        return rows

    def _take_long(self, count: int) -> None:
        have = len(self._rows)
        if have < count:
            rows = self._checked(np.arange(have, count))
            self._rows.add(rows)
            self._squares.add(np.einsum("ij,ij->i", rows, rows)[:, None])

    def _take_short(self, shorts: Vectors | None) -> None:
        if shorts is not None and len(shorts):
            self._rows.add(shorts)
            self._squares.add(np.einsum("ij,ij->i", shorts, shorts)[:, None])

    def _load_or_reduce(self, count: int) -> None:
        """Load the short vectors, or make them of all; above `exact` with their lists."""
        path = self._vectors.path("short")
        loaded = None if path is None else Reduction.load(path, self._vectors.dimension)
        if loaded is None or not self._serves(count, loaded[1]):
            reduction = Reduction.of(self._checked, count)
            loaded = reduction, reduction.short_of(self._checked, 0, count)
            try:
                if path is not None:
                    reduction.save(path, loaded[1])
                    loaded = Reduction.load(path, self._vectors.dimension) or loaded
            except OSError:
                pass  # It is made again the next time.
        self._reduction, self._shorts = loaded
        self._rows, self._squares = _Growing(LENGTH), _Growing(1)
        self._listed, self._listed_count = None, 0
        if len(self._shorts) > self._exact:
            self._listed = self._lists(self._shorts)
            self._listed_count = len(self._shorts)

    def _lists(self, shorts: Vectors) -> faiss.Index:
        made_with = hashlib.sha256(np.ascontiguousarray(shorts[:64]).tobytes()).hexdigest()[:8]
        path = self._vectors.path(f"{made_with}-{len(shorts)}.lists")
        found = _read_lists(path, len(shorts))
        if found is None:
            found = _lists_of(shorts)
            if path is not None and _write_lists(found, path):
                found = _read_lists(path, len(shorts)) or found
        return found

    # Searching

    def _candidates(self, query: Vectors, count: int, allowed: Mask | None) -> Numbers:
        assert self._listed is not None
        assert self._reduction is not None
        short = self._reduction.short(query[None])
        options: dict[str, Any] = {"nprobe": PROBES}
        if allowed is not None:
            bits: Any = np.packbits(allowed[: self._listed_count], bitorder="little")
            options["sel"] = faiss.IDSelectorBitmap(bits)  # type: ignore[call-arg]
        parameters = faiss.SearchParametersIVF(**options)
        _, found = self._listed.search(short, max(CANDIDATES, count), params=parameters)
        late = np.arange(self._listed_count, len(self._vectors))
        if allowed is not None:
            late = late[allowed[late]]
        return np.concatenate([found[0][found[0] >= 0], late])

    def _bounds(self, query: Vectors, slots: Numbers | None) -> NDArray[np.float32]:
        """Return the squares of lower bounds of the distances, which are the distances while there are few."""
        short = query if self._reduction is None else self._reduction.short(query[None])[0]
        own = np.float32(short @ short)
        if self._listed is None or slots is None:
            rows, squares = self._rows.values, self._squares.values[:, 0]
            if slots is not None:
                rows, squares = rows[slots], squares[slots]
        else:
            rows = self._shorts_of(slots)
            squares = np.asarray(np.einsum("ij,ij->i", rows, rows), np.float32)
        return np.asarray(squares + own - 2.0 * (rows @ short), np.float32)

    def _shorts_of(self, slots: Numbers) -> Vectors:
        assert self._shorts is not None
        found = np.empty((len(slots), LENGTH), np.float32)
        is_listed = slots < self._listed_count
        found[is_listed] = self._shorts[slots[is_listed]]
        found[~is_listed] = self._rows.values[slots[~is_listed] - self._listed_count]
        return found

    def _compared(
        self, query: Vectors, count: int, among: Numbers | None
    ) -> tuple[Numbers, NDArray[np.float64]]:
        bounds = self._bounds(query, among)
        if not len(bounds) or count < 1:
            return np.zeros(0, np.int64), np.zeros(0)
        count = min(count, len(bounds))
        first = min(len(bounds), max(64, 4 * count))
        taken = np.argpartition(bounds, first - 1)[:first] if first < len(bounds) else np.arange(len(bounds))
        squares = self._squares_of(query, taken, among)
        furthest = np.partition(squares, count - 1)[count - 1]
        is_open = bounds <= furthest + _SLACK
        is_open[taken] = False
        rest = np.flatnonzero(is_open)
        rest = rest[np.argsort(bounds[rest], kind="stable")]
        for start in range(0, len(rest), _BLOCK):
            block = rest[start : start + _BLOCK]
            block = block[bounds[block] <= furthest + _SLACK]
            if not len(block):
                break
            taken = np.concatenate([taken, block])
            squares = np.concatenate([squares, self._squares_of(query, block, among)])
            furthest = np.partition(squares, count - 1)[count - 1]
        near = taken[squares <= furthest + _SLACK]
        slots = np.sort(near if among is None else among[near]).astype(np.int64)
        rows = self._vectors.rows(slots)
        if not self._vectors.are_whole(rows):
            raise Damaged
        # Each row by itself and in 64 bits: equal vectors are equally far wherever they stand.
        differences = rows.astype(np.float64) - query.astype(np.float64)
        distances = np.round(np.sqrt((differences * differences).sum(axis=1)), 6)
        last = np.partition(distances, count - 1)[count - 1]
        order = np.argsort(distances, kind="stable")
        order = order[distances[order] <= last]
        return slots[order], distances[order]

    def _squares_of(self, query: Vectors, places: Numbers, among: Numbers | None) -> NDArray[np.float32]:
        """Return the squares of the real distances of these places."""
        if self._reduction is None:
            rows = self._rows.values[places if among is None else among[places]]
        else:
            rows = self._vectors.rows((places if among is None else among[places]).astype(np.int64))
        differences = rows - query
        squares: NDArray[np.float32] = np.einsum("ij,ij->i", differences, differences)
        if not np.isfinite(squares).all():
            raise Damaged
        return squares


class _Growing:
    """Rows of numbers, to which others are added without copying all of them each time."""

    def __init__(self, width: int) -> None:
        self._rows = np.empty((0, width), np.float32)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def values(self) -> Vectors:
        return self._rows[: self._count]

    def add(self, rows: Vectors) -> None:
        needed = self._count + len(rows)
        if self._rows.shape[1] != rows.shape[1] or needed > len(self._rows):
            grown = np.empty((max(needed, self._count * 5 // 4), rows.shape[1]), np.float32)
            if self._count:
                grown[: self._count] = self.values
            self._rows = grown
        self._rows[self._count : needed] = rows
        self._count = needed


def _lists_of(shorts: Vectors) -> faiss.Index:
    count = len(shorts)
    lists = max(16, int(2 * np.sqrt(count)))
    quantizer = faiss.IndexFlatL2(LENGTH)
    index = faiss.IndexIVFScalarQuantizer(
        quantizer, LENGTH, lists, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_L2
    )
    index.cp.niter = 8
    chosen = np.random.default_rng(0).choice(count, min(count, 40 * lists), replace=False)
    index.train(np.array(shorts[np.sort(chosen)]))
    for start in range(0, count, 65_536):
        index.add(np.array(shorts[start : start + 65_536]))
    return index


def _write_lists(index: faiss.Index, path: Path) -> bool:
    """Write the lists in place of older ones; returns whether it could."""
    part = path.with_name(f".{path.name}.part")
    try:
        faiss.write_index(index, str(part))
        part.replace(path)
        for old in path.parent.glob(f"{path.name.partition('.')[0]}.*.lists"):
            if old != path:
                old.unlink(missing_ok=True)
    except (OSError, RuntimeError):
        part.unlink(missing_ok=True)
        return False
    return True


def _read_lists(path: Path | None, count: int) -> faiss.Index | None:
    if path is None or not path.exists():
        return None
    try:
        index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY)
    except RuntimeError:
        return None
    return index if index.ntotal == count and index.d == LENGTH else None
