"""The nearest vectors, exactly, by one flat FAISS index.

Up to `SMALL` vectors the index holds all of their numbers. Above, it holds
short vectors whose distances are lower bounds (`Reduction`), and the long ones
of all that might be among the nearest are compared. The result is that of
comparing all, ties included.

`tests.benchmarks.bench_index` compares it with flat indexes of the long
vectors. Of 100 000 vectors of 2048 numbers, the short ones take 50 MiB where
the long ones take 780 with 32 bits and 390 with 16, and a search takes a
seventh and about half as long.
"""

from collections.abc import Callable
from threading import Lock
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from core.exemplars.vectors import Numbers, VectorStore
from core.llm.embedding import Vectors

LENGTH = 128
_SAMPLE = 6000

Rows = Callable[[NDArray[np.int64]], Vectors]
SMALL = 4096
_CANDIDATES = 512
"""The nearest by bound that are asked for at first; a search that needs more takes a second look."""
_BLOCK = 4096
SLACK = 2e-5
"""What 32-bit arithmetic may add to a square."""


class Reduction:
    """Makes short vectors whose distances are never longer than those of the long ones.

    A vector is turned so that its first 127 numbers say most of it (principal
    components, found by random projections: Halko et al. 2011); the 128th is the
    length of all the rest. The distance of two such short vectors is a lower
    bound of the real one, whichever vectors the directions were found with, and
    so a search that looks closer at all that the bound lets through is exact
    (Seidl & Kriegel 1998).
    """

    def __init__(self, middle: NDArray[np.float32], directions: NDArray[np.float32]) -> None:
        """`directions` are the columns of a matrix, at right angles to one another."""
        self._middle = middle
        self._directions = directions

    @classmethod
    def of(cls, rows: Rows, count: int) -> "Reduction":
        """Find the directions for a set of `count` vectors, always the same ones for the same set."""
        random = np.random.default_rng(0)
        chosen = np.arange(count) if count <= _SAMPLE else random.choice(count, _SAMPLE, replace=False)
        sample = rows(np.sort(chosen))
        middle = sample.mean(axis=0)
        sample -= middle
        width = min(LENGTH - 1, *sample.shape)
        guess = random.standard_normal((sample.shape[1], min(width + 16, *sample.shape)), np.float32)
        for _ in range(2):
            guess, _ = np.linalg.qr(sample.T @ (sample @ guess))
        _, _, turned = np.linalg.svd(sample @ guess, full_matrices=False)
        directions, _ = np.linalg.qr(guess @ turned.T[:, :width])
        return cls(middle.astype(np.float32), np.ascontiguousarray(directions, np.float32))

    def short(self, rows: Vectors) -> Vectors:
        """Return the short vectors of long ones."""
        centred = rows - self._middle
        found = np.zeros((len(rows), LENGTH), np.float32)
        width = self._directions.shape[1]
        found[:, :width] = centred @ self._directions
        whole = np.einsum("ij,ij->i", centred, centred, dtype=np.float64)
        projected = np.einsum("ij,ij->i", found, found, dtype=np.float64)
        found[:, -1] = np.sqrt(np.maximum(whole - projected, 0.0))
        return found


Mask = NDArray[np.bool_]


class Nearest:
    """Searches the vectors of one embedding; `prepare` after they have grown, in any thread."""

    def __init__(self, vectors: VectorStore, *, small: int = SMALL) -> None:
        self._vectors = vectors
        self._small = small
        self._reduction: Reduction | None = None
        self._fitted = 0
        """How many vectors there were when the reduction was made."""
        self._index: faiss.IndexFlatL2 | None = None
        self._lock = Lock()

    @property
    def way(self) -> str:
        """How it searches, in a word."""
        return "all" if self._reduction is None else "exact"

    def prepare(self) -> None:
        """Take in what has been added; raises Damaged. Slow at first, and where their number has doubled."""
        count = len(self._vectors)
        reduction, index = self._reduction, self._index
        if count > max(self._small, 2 * self._fitted):
            reduction, index = Reduction.of(self._vectors.rows, count), None
        for start in range(0 if index is None else index.ntotal, count, _BLOCK):
            rows = self._vectors.rows(np.arange(start, min(start + _BLOCK, count)))
            rows = rows if reduction is None else reduction.short(rows)
            index = index or faiss.IndexFlatL2(rows.shape[1])
            with self._lock:
                index.add(rows)
        with self._lock:
            if reduction is not self._reduction:
                self._fitted = count
            self._reduction, self._index = reduction, index

    def search(
        self, query: Vectors, count: int, allowed: Mask | None = None
    ) -> tuple[Numbers, NDArray[np.float64]]:
        """Return the slots of the nearest, at least `count` if there are, with those as far as the last of them.

        `query` is one long vector. Where `allowed` is given, only slots that it
        says yes to count. Raises Damaged.
        """
        with self._lock:
            bounds, slots, furthest = self._candidates(query, count, allowed)
        slots = np.sort(slots[bounds <= furthest])
        distances = self._distances(query, slots)
        order = np.argsort(distances, kind="stable")
        if len(order):
            order = order[distances[order] <= distances[order[min(count, len(order)) - 1]]]
        return slots[order], distances[order]

    def bounding_rows(self, slots: Numbers) -> Vectors:
        """Return the short vectors of these slots, or the long ones while there are few."""
        assert self._index is not None
        with self._lock:
            rows: Vectors = self._index.reconstruct_batch(slots)
        return rows

    def _candidates(
        self, query: Vectors, count: int, allowed: Mask | None
    ) -> tuple[NDArray[np.float32], Numbers, float]:
        """Return squared bounds and slots, with what the bounds of all that may be among the nearest do not exceed."""
        index = self._index
        among = 0 if index is None else index.ntotal if allowed is None else int(allowed.sum())
        if index is None or among < 1 or count < 1:
            return np.zeros(0, np.float32), np.zeros(0, np.int64), 0.0
        count = min(count, among)
        parameters = None
        if allowed is not None:
            bits: Any = np.packbits(allowed, bitorder="little")
            selector = faiss.IDSelectorBitmap(bits)  # type: ignore[call-arg]
            parameters = faiss.SearchParameters(sel=selector)  # type: ignore[call-arg]
        short = query[None] if self._reduction is None else self._reduction.short(query[None])
        asked = min(among, max(_CANDIDATES, 4 * count))
        (bounds,), (slots,) = index.search(short, asked, params=parameters)
        distances = self._distances(query, slots[: 4 * count])
        furthest = float(np.partition(distances, count - 1)[count - 1]) ** 2 + SLACK
        if asked < among and bounds[-1] <= furthest:
            _, bounds, slots = index.range_search(short, furthest, params=parameters)
        return bounds, slots, furthest

    def _distances(self, query: Vectors, slots: Numbers) -> NDArray[np.float64]:
        """Return the real distances of these slots."""
        parts = [slots[start : start + _BLOCK] for start in range(0, len(slots), _BLOCK)]
        found = [distances(self._vectors.rows(part), query) for part in parts]
        return np.concatenate(found) if found else np.zeros(0)


def distances(rows: Vectors, others: Vectors) -> NDArray[np.float64]:
    """Return the distance of each row from its other one, or from the only one, rounded to six digits.

    Each row by itself and in 64 bits: equal vectors are equally far wherever they stand.
    """
    differences = rows.astype(np.float64) - others.astype(np.float64)
    found: NDArray[np.float64] = np.round(np.sqrt((differences * differences).sum(axis=1)), 6)
    return found
