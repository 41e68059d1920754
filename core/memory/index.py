"""The index: vectors of all exemplars, searched exactly by Euclidean distance with FAISS.

It is kept in a file beside the user's data and knows which embedding made it
and of which texts. Only texts it has not seen are embedded; with another
embedding it is made anew.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import faiss
import numpy as np

from core.errors import DataError
from core.memory.embedding import Embedding, OnProgress, Vectors
from core.memory.exemplar import Exemplar
from core.model import Record


class Near(Record):
    """One exemplar with its distance, from 0 to 2."""

    exemplar: Exemplar
    distance: float


class ExemplarIndex:
    """Vectors of a set of exemplars; `refresh` before `search`."""

    def __init__(self, embedding: Embedding, folder: Path | None = None) -> None:
        """Keep vectors in `folder`, or in memory alone where there is none."""
        self.embedding = embedding
        self._folder = folder
        self._known: dict[str, np.ndarray] | None = None
        self._exemplars: tuple[Exemplar, ...] = ()
        self._index: faiss.IndexFlatL2 | None = None

    @property
    def exemplars(self) -> tuple[Exemplar, ...]:
        return self._exemplars

    async def refresh(self, exemplars: Sequence[Exemplar], on_progress: OnProgress | None = None) -> int:
        """Make the index that of `exemplars`, and return how many texts had to be embedded.

        Raises LLMError where the embedding asks a server that fails; the index
        stays as it was then. Vectors that cannot be kept in the folder are
        made again next time.
        """
        exemplars = tuple(exemplars)
        if self._index is not None and exemplars == self._exemplars:
            return 0
        known = self._vectors()
        keys = [_hash(exemplar.key) for exemplar in exemplars]
        missing = {key: one.key for key, one in zip(keys, exemplars, strict=True) if key not in known}
        if missing:
            made = await self.embedding.embed(list(missing.values()), on_progress)
            known |= dict(zip(missing, made, strict=True))
            self._known = {key: known[key] for key in dict.fromkeys(keys)}
            self._keep()
        self._index = _flat([known[key] for key in keys])
        self._exemplars = exemplars
        return len(missing)

    async def search(self, text: str, count: int) -> tuple[Near, ...]:
        """Return the exemplars nearest to `text`, the nearest first, equal ones in the index's order."""
        if self._index is None or not self._exemplars:
            return ()
        query = await self.embedding.embed([text])
        if query.shape[1] != self._index.d:
            raise DataError(
                f"The embedding {self.embedding.name} gives {query.shape[1]} numbers where the index has "
                f"{self._index.d}; make the index anew."
            )
        squares, places = self._index.search(query, min(count, len(self._exemplars)))
        found = [
            Near(exemplar=self._exemplars[place], distance=round(float(np.sqrt(max(square, 0.0))), 6))
            for square, place in zip(squares[0], places[0], strict=True)
            if place >= 0
        ]
        order = {exemplar.id: number for number, exemplar in enumerate(self._exemplars)}
        return tuple(sorted(found, key=lambda one: (one.distance, order[one.exemplar.id])))

    # The file

    def _paths(self) -> tuple[Path, Path] | None:
        if self._folder is None:
            return None
        return self._folder / "vectors.npy", self._folder / "vectors.json"

    def _vectors(self) -> dict[str, np.ndarray]:
        if self._known is None:
            self._known = self._load()
        return self._known

    def _load(self) -> dict[str, np.ndarray]:
        paths = self._paths()
        if paths is None or not all(path.exists() for path in paths):
            return {}
        try:
            told = json.loads(paths[1].read_text(encoding="utf-8"))
            rows: Vectors = np.load(paths[0], allow_pickle=False)
            keys = told["texts"]
            if told["embedding"] != self.embedding.name or rows.shape[0] != len(keys) or rows.ndim != 2:
                return {}
            return dict(zip(keys, rows, strict=True))
        except (OSError, EOFError, ValueError, KeyError, TypeError):
            return {}  # It can be made again from the exemplars.

    def _keep(self) -> None:
        paths = self._paths()
        if paths is None or not self._known:
            return
        vectors, told = paths
        try:
            vectors.parent.mkdir(parents=True, exist_ok=True)
            part = vectors.with_name(".vectors.npy.part")
            with part.open("wb") as file:
                np.save(file, np.stack(list(self._known.values())), allow_pickle=False)
            told.unlink(missing_ok=True)
            part.replace(vectors)
            told.write_text(
                json.dumps({"embedding": self.embedding.name, "texts": list(self._known)}), encoding="utf-8"
            )
        except OSError:
            return  # It is a cache: without it the vectors are made again.


def _flat(rows: Sequence[np.ndarray]) -> faiss.IndexFlatL2 | None:
    if not rows:
        return None
    index = faiss.IndexFlatL2(len(rows[0]))
    index.add(np.ascontiguousarray(np.stack(rows), dtype=np.float32))
    return index


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
