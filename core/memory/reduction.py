"""Short vectors whose distances are never longer than those of the long ones.

A vector is turned so that its first 127 numbers say most of it (principal
components, found by random projections: Halko et al. 2011); the 128th is the
length of all the rest. The distance of two such short vectors is a lower
bound of the real one, whichever vectors the directions were found with, and
so a search that looks closer at all that the bound lets through is exact
(Seidl & Kriegel 1998).
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.llm.embedding import Vectors

LENGTH = 128
_SAMPLE = 6000
_MAGIC = b"BSRED1\0\0"
_BLOCK = 8192

Rows = Callable[[NDArray[np.int64]], Vectors]


class Reduction:
    """The directions, and how vectors become short."""

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
        told = np.einsum("ij,ij->i", found, found, dtype=np.float64)
        found[:, -1] = np.sqrt(np.maximum(whole - told, 0.0))
        return found

    def short_of(self, rows: Rows, first: int, last: int) -> Vectors:
        """Return the short vectors of the slots from `first` up to `last`, some at a time."""
        found = np.empty((last - first, LENGTH), np.float32)
        for start in range(first, last, _BLOCK):
            slots = np.arange(start, min(start + _BLOCK, last))
            found[start - first : start - first + len(slots)] = self.short(rows(slots))
        return found

    # The file

    def save(self, path: Path, shorts: Vectors) -> None:
        """Write directions and short vectors into one file, whole or not at all; raises OSError."""
        part = path.with_name(f".{path.name}.part")
        sizes = np.array([len(self._middle), self._directions.shape[1], len(shorts)], "<i8")
        try:
            with part.open("wb") as file:
                file.write(_MAGIC + sizes.tobytes())
                for values in (self._middle, self._directions, shorts):
                    file.write(np.ascontiguousarray(values, "<f4").tobytes())
            part.replace(path)
        except OSError:
            part.unlink(missing_ok=True)
            raise

    @classmethod
    def load(cls, path: Path, dimension: int) -> "tuple[Reduction, Vectors] | None":
        """Read both back; None where the file is not there, not whole, or for other vectors."""
        try:
            with path.open("rb") as file:
                head = file.read(len(_MAGIC) + 24)
                if head[: len(_MAGIC)] != _MAGIC:
                    return None
                long, width, count = np.frombuffer(head, "<i8", offset=len(_MAGIC)).tolist()
                if long != dimension or not 0 < width < LENGTH or count < 1:
                    return None
                size = path.stat().st_size - len(head)
                if size != 4 * (long + long * width + count * LENGTH):
                    return None
                values = np.fromfile(file, "<f4", long + long * width).astype(np.float32)
                shorts: Vectors = np.memmap(path, "<f4", "r", file.tell(), (count, LENGTH))
        except (OSError, ValueError):
            return None
        if not np.isfinite(values).all():
            return None
        directions = values[long:].reshape(long, width)
        return cls(values[:long], directions), shorts
