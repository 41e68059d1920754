"""Short vectors whose distances are never longer than those of the long ones.

A vector is turned so that its first 127 numbers say most of it (principal
components, found by random projections: Halko et al. 2011); the 128th is the
length of all the rest. The distance of two such short vectors is a lower
bound of the real one, whichever vectors the directions were found with, and
so a search that looks closer at all that the bound lets through is exact
(Seidl & Kriegel 1998).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from core.llm.embedding import Vectors

LENGTH = 128
_SAMPLE = 6000

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
