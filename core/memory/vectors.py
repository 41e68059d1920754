"""The vectors of texts, kept in files that only grow, so that adding one costs one.

Each embedding has three files in the folder of the index: what it is, the
texts (8 bytes of their hash each) and the vectors, 16 bits a number: as they
have unit length, no number is beyond 1, and so a whole number of 32767ths is
nearer than a 16-bit float and much faster to read. A vector is written before
its text is: one without its text was cut off, and is written over. All of it
can be made again from the exemplars, so nothing here is ever worth an error,
and a file that is damaged is thrown away.

Sixteen bits were chosen by measuring, on the 115 texts of 23 families of
Synapse's MiniWoB++ tasks with the built-in embedding (2048 numbers): the
family found without the text itself was right for all 115 with 32 bits, with
16, with 8, with 128 to 1024 numbers in place of 2048 and with product
quantisation to 32 bytes. 16 bits move a distance by less than 0.0003, 8 bits
by 0.005, and a shorter vector by so much that a threshold that a preset has
would mean something else. They take 4 KiB an exemplar, of which a search
reads only those of the candidates (`core.memory.nearest`).
"""

import hashlib
import json
import os
import secrets
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.llm.embedding import Vectors
from core.storage.lock import locked

Numbers = NDArray[np.int64]

_ONE = np.float32(32767)
_RESORTED = 4096
"""Texts that were added since the sorted ones were made, beyond which they are sorted anew."""
_OFF = 0.02
"""How far the length of a kept vector may be from 1: beyond it the file is damaged."""


class KeptVectors:
    """Vectors by slot, which is their place in the file; several processes may add at once."""

    def __init__(self, embedding: str, folder: Path | None = None) -> None:
        """Keep them in `folder`, or in memory alone where there is none."""
        self.embedding = embedding
        self.dimension = 0
        """0 until there is a vector."""
        self.generation = ""
        """Changes when all vectors are thrown away and made again."""
        self.folder = folder
        self.name = hashlib.sha256(embedding.encode("utf-8", "replace")).hexdigest()[:16]
        self._mapped: NDArray[np.int16] | None = None
        self._own: list[NDArray[np.int16]] = []
        """What could not be written, or has no folder to go to."""
        self._own_count = 0
        self._texts: Numbers = np.zeros(0, np.int64)
        self._sorted: tuple[Numbers, Numbers] = (self._texts, self._texts)
        self._late: dict[int, int] = {}
        self.refresh()

    def __len__(self) -> int:
        return len(self._texts)

    def path(self, ending: str) -> Path | None:
        """Return a file that is made of these vectors and goes with them, where there is a folder."""
        if self.folder is None or self._own_count or not self.generation:
            return None
        return self.folder / f"{self.name}.{self.generation}.{ending}"

    def refresh(self) -> None:
        """See what other processes have added."""
        if self.folder is None or self._own_count:
            return
        told = self._read_told()
        if told != (self.dimension, self.generation):  # Somebody has thrown it away, and may have begun anew.
            self._forget()
            self.dimension, self.generation = told
        if not self.dimension:
            return
        count = self._written()
        if count <= len(self._texts):
            return
        vectors, texts = self._paths()
        try:
            with texts.open("rb") as file:
                file.seek(8 * len(self._texts))
                new = np.frombuffer(file.read(8 * (count - len(self._texts))), dtype="<i8").astype(np.int64)
            self._mapped = np.memmap(vectors, dtype="<i2", mode="r", shape=(count, self.dimension))
        except (OSError, ValueError):
            self._forget()
            return
        if len(new) != count - len(self._texts):
            self._forget()
            return
        self._learn(new)

    def slots(self, texts: Numbers) -> Numbers:
        """Return where the vector of each text is; -1 for one that has none."""
        known, places = self._sorted
        found = np.full(len(texts), -1, np.int64)
        if len(known):
            at = np.minimum(np.searchsorted(known, texts), len(known) - 1)
            is_there = known[at] == texts
            found[is_there] = places[at[is_there]]
        if self._late:
            for number in np.flatnonzero(found < 0):
                found[number] = self._late.get(int(texts[number]), -1)
        return found

    def add(self, texts: Sequence[int], rows: Vectors) -> None:
        """Keep the vectors of these texts; what cannot be written is kept until the program ends."""
        new = np.asarray(texts, np.int64)
        shortened = np.rint(rows * _ONE).astype(np.int16)
        if not self.dimension:
            self.dimension = rows.shape[1]
        if self.folder is not None and not self._own_count:
            try:
                self._append(new, shortened)
                self.refresh()
                if (self.slots(new) >= 0).all():
                    return
            except OSError:
                pass  # Without the file they are made again the next time.
        self._own.append(shortened)
        self._own_count += len(shortened)
        self._learn(new)

    def rows(self, slots: Numbers) -> Vectors:
        """Return the vectors of these slots."""
        mapped = 0 if self._mapped is None else len(self._mapped)
        if not self._own_count and self._mapped is not None:
            whole: Vectors = np.asarray(self._mapped[slots]).astype(np.float32)
            whole /= _ONE
            return whole
        if len(self._own) > 1:
            self._own = [np.concatenate(self._own)]
        found = np.empty((len(slots), self.dimension), np.float32)
        is_mapped = slots < mapped
        if self._mapped is not None:
            found[is_mapped] = self._mapped[slots[is_mapped]]
        if not is_mapped.all():
            found[~is_mapped] = self._own[0][slots[~is_mapped] - mapped]
        found /= _ONE
        return found

    def are_whole(self, rows: Vectors) -> bool:
        """Tell whether vectors read from the file can be what was written there."""
        lengths = np.einsum("ij,ij->i", rows, rows)
        return bool(np.isfinite(lengths).all() and (np.abs(lengths - 1.0) < _OFF).all())

    def discard(self) -> None:
        """Throw away all vectors of this embedding: they are made again."""
        if self.folder is not None and self.folder.is_dir():
            with self._alone():
                for path in sorted(self.folder.glob(f"{self.name}.*")):
                    _remove(path)
        self._forget()

    def discard_others(self) -> None:
        """Throw away the files of every other embedding, and those of older versions of this program."""
        for path in () if self.folder is None else sorted(self.folder.glob("*")):
            if path.is_file() and not path.name.startswith(f"{self.name}."):
                _remove(path)

    # The files

    def _paths(self) -> tuple[Path, Path]:
        assert self.folder is not None
        start = f"{self.name}.{self.generation}"
        return self.folder / f"{start}.vectors", self.folder / f"{start}.texts"

    def _told_path(self) -> Path:
        assert self.folder is not None
        return self.folder / f"{self.name}.json"

    def _read_told(self) -> tuple[int, str]:
        """Return dimension and generation of what is in the folder."""
        try:
            told = json.loads(self._told_path().read_text(encoding="utf-8"))
            is_ours = told["embedding"] == self.embedding and told["dimension"] > 0
            return (int(told["dimension"]), str(told["generation"])) if is_ours else (0, "")
        except (OSError, ValueError, KeyError, TypeError):
            return 0, ""

    def _written(self) -> int:
        """Return how many vectors are whole in the files."""
        vectors, texts = self._paths()
        try:
            return min(vectors.stat().st_size // (2 * self.dimension), texts.stat().st_size // 8)
        except OSError:
            return 0

    def _append(self, new: Numbers, shortened: NDArray[np.int16]) -> None:
        assert self.folder is not None
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._alone():
            dimension, generation = self._read_told()
            if dimension != self.dimension or generation != (self.generation or generation):
                if self._texts.size:
                    raise OSError("the vectors were thrown away meanwhile")
                generation = secrets.token_hex(4)
                told = {
                    "embedding": self.embedding,
                    "dimension": self.dimension,
                    "generation": generation,
                }
                part = self._told_path().with_suffix(".json.part")
                part.write_text(json.dumps(told), encoding="utf-8")
                part.replace(self._told_path())
            self.generation = generation
            vectors, texts = self._paths()
            count = self._written()
            _append_at(vectors, 2 * self.dimension * count, shortened.astype("<i2").tobytes())
            _append_at(texts, 8 * count, new.astype("<i8").tobytes())

    @contextmanager
    def _alone(self) -> Generator[None, None, None]:
        """Keep other processes from adding meanwhile."""
        assert self.folder is not None
        with locked(self.folder, lambda: None):
            yield

    def _learn(self, new: Numbers) -> None:
        first = len(self._texts)
        self._texts = np.concatenate([self._texts, new])
        for place, text in enumerate(new.tolist() if len(new) <= _RESORTED else (), start=first):
            self._late.setdefault(text, place)
        if len(new) > _RESORTED or len(self._late) > _RESORTED:
            order = np.argsort(self._texts, kind="stable")
            self._sorted = (self._texts[order], order)
            self._late = {}

    def _forget(self) -> None:
        self.dimension, self.generation = 0, ""
        self._mapped, self._own, self._own_count = None, [], 0
        self._texts = np.zeros(0, np.int64)
        self._sorted, self._late = (self._texts, self._texts), {}


def _append_at(path: Path, place: int, data: bytes) -> None:
    with path.open("r+b" if path.exists() else "w+b") as file:
        file.truncate(place)
        file.seek(place)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        pass  # Windows keeps a file that somebody has open.
