"""The squares of many distances at once, by one product of two matrices."""

import numpy as np
from numpy.typing import NDArray

from core.llm.embedding import Vectors

CELLS = 16_000_000
"""Distances that are held in memory at once."""


class Bounds:
    """All distances among rows, some rows at a time; exact up to what 32-bit arithmetic loses."""

    def __init__(self, rows: Vectors) -> None:
        squares = np.einsum("ij,ij->i", rows, rows)[:, None]
        ones = np.ones_like(squares)
        # |a - b|² is the product of (-2a, |a|², 1) and (b, 1, |b|²): nothing is left to be added to it.
        self._left = np.concatenate([-2.0 * rows, squares, ones], axis=1).astype(np.float32)
        self._right = np.ascontiguousarray(np.concatenate([rows, ones, squares], axis=1).T, np.float32)

    def __len__(self) -> int:
        return len(self._left)

    def squares(self, start: int, end: int, first: int = 0) -> NDArray[np.float32]:
        """Return the squares of the distances of the rows from `start` to `end` to all from `first` on."""
        found: NDArray[np.float32] = self._left[start:end] @ self._right[:, first:]
        return found

    def part(self, widest: int) -> int:
        """Return how many rows to look at in one go."""
        return max(16, min(widest, CELLS // max(1, len(self))))
