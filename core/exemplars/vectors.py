"""The vectors of texts, kept in files that only grow, so that adding one costs one.

Each embedding has three files in the folder of the index: what it is, the
texts (8 bytes of their hash each) and the vectors, 16 bits a number: as they
have unit length, no number is beyond 1, and so a whole number of 32767ths is
nearer than a 16-bit float. A vector is written before its text: one without
its text was cut off, and is written over. All of it can be made again from
the exemplars, so nothing here is ever worth an error, and a file that is
damaged is thrown away.

Sixteen bits were chosen by measuring, on the 115 texts of 23 families of
Synapse's MiniWoB++ tasks with the built-in embedding (2048 numbers): 16 bits
move a distance by less than 0.0003, 8 bits by 0.005, and a shorter vector by
so much that a threshold that a preset has would mean something else.
"""

import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.llm.embedding import Vectors
from core.setup.installer import locked

Numbers = NDArray[np.int64]

_ONE = np.float32(32767)
_OFF = 0.02
"""How far the squared length of a vector may be from 1: beyond it the file is damaged."""


class Damaged(Exception):
    """Stored vectors are damaged and must be made again."""


def as_stored(rows: Vectors) -> Vectors:
    """Return vectors as they are read back after they were written."""
    return _from_integers(_to_integers(rows))


class VectorStore:
    """Vectors by slot, which is their place in the file; several processes may add at once."""

    def __init__(self, embedding: str, folder: Path | None = None) -> None:
        """Keep them in `folder`, or in memory alone if there is none."""
        self.embedding = embedding
        self.folder = folder
        self._name = hashlib.sha256(embedding.encode("utf-8", "replace")).hexdigest()[:16]
        self.dimension: int
        """0 until there is a vector."""
        self.generation: str
        """Changes when all vectors are thrown away and made again."""
        self._rows: NDArray[np.int16]
        self._slot_of: dict[int, int]
        self._is_in_files: bool
        self._forget()
        self.refresh()

    def __len__(self) -> int:
        return len(self._rows)

    def refresh(self) -> None:
        """See what other processes have added."""
        if not self._is_in_files:
            return
        header = self._header()
        if header != (self.dimension, self.generation):  # Another process has thrown it away.
            self._forget()
            self.dimension, self.generation = header
        count = self._written() if self.dimension else 0
        first = len(self)
        if count <= first:
            return
        vectors, texts = self._paths()
        try:
            with texts.open("rb") as file:
                file.seek(8 * first)
                new = np.frombuffer(file.read(8 * (count - first)), "<i8").tolist()
            rows = np.memmap(vectors, "<i2", "r", shape=(count, self.dimension))
        except (OSError, ValueError):
            new = []
        if len(new) != count - first:
            self._forget()
            return
        self._learn(new, rows)

    def slots(self, texts: Iterable[int]) -> Numbers:
        """Return where the vector of each text is; -1 for one that has none."""
        return np.array([self._slot_of.get(text, -1) for text in texts], np.int64)

    def rows(self, slots: Numbers) -> Vectors:
        """Return the vectors of these slots; raises Damaged."""
        if len(slots) and slots.max() >= len(self):
            raise Damaged  # They were thrown away since the slots were looked up.
        found = _from_integers(np.asarray(self._rows[slots]))
        lengths = np.einsum("ij,ij->i", found, found)
        if not (np.abs(lengths - 1.0) < _OFF).all():
            raise Damaged
        return found

    def add(self, texts: Sequence[int], rows: Vectors) -> None:
        """Keep the vectors of these texts; what cannot be written is kept until the program ends."""
        integers = _to_integers(rows)
        self.dimension = self.dimension or rows.shape[1]
        if self._is_in_files:
            try:
                self._append(texts, integers)
                self.refresh()
                if (self.slots(texts) >= 0).all():
                    return
            except OSError:
                pass  # Without the file they are made again the next time.
            self._is_in_files, self.dimension = False, rows.shape[1]
        self._learn(texts, np.concatenate([self._rows, integers]) if len(self) else integers)

    def discard(self) -> None:
        """Throw away all vectors of this embedding: they are made again."""
        if self.folder is not None and self.folder.is_dir():
            with locked(self.folder, lambda: None):
                for path in sorted(self.folder.glob(f"{self._name}.*")):
                    _remove(path)
        self._forget()

    def discard_others(self) -> None:
        """Throw away the files of every other embedding, and those of older versions of this program."""
        for path in () if self.folder is None else sorted(self.folder.glob("*")):
            if path.is_file() and not path.name.startswith(f"{self._name}."):
                _remove(path)

    def _learn(self, texts: Sequence[int], rows: NDArray[np.int16]) -> None:
        """Take `rows` in place of those there are, which they begin with; the last are those of `texts`."""
        for slot, text in enumerate(texts, start=len(self)):
            self._slot_of.setdefault(text, slot)
        self._rows = rows

    def _forget(self) -> None:
        self.dimension, self.generation = 0, ""
        self._rows, self._slot_of = np.zeros((0, 0), np.int16), {}
        self._is_in_files = self.folder is not None

    # The files

    def _paths(self) -> tuple[Path, Path]:
        assert self.folder is not None
        start = f"{self._name}.{self.generation}"
        return self.folder / f"{start}.vectors", self.folder / f"{start}.texts"

    def _header_path(self) -> Path:
        assert self.folder is not None
        return self.folder / f"{self._name}.json"

    def _header(self) -> tuple[int, str]:
        """Return dimension and generation of what is in the folder."""
        try:
            header = json.loads(self._header_path().read_text(encoding="utf-8"))
            is_ours = header["embedding"] == self.embedding and header["dimension"] > 0
            return (int(header["dimension"]), str(header["generation"])) if is_ours else (0, "")
        except (OSError, ValueError, KeyError, TypeError):
            return 0, ""

    def _written(self) -> int:
        """Return how many vectors are whole in the files."""
        vectors, texts = self._paths()
        try:
            return min(vectors.stat().st_size // (2 * self.dimension), texts.stat().st_size // 8)
        except OSError:
            return 0

    def _append(self, texts: Sequence[int], integers: NDArray[np.int16]) -> None:
        assert self.folder is not None
        self.folder.mkdir(parents=True, exist_ok=True)
        with locked(self.folder, lambda: None):
            dimension, generation = self._header()
            if dimension != self.dimension or generation != (self.generation or generation):
                if len(self):
                    raise OSError("the vectors were discarded meanwhile")
                generation = secrets.token_hex(4)
                header = {"embedding": self.embedding, "dimension": self.dimension, "generation": generation}
                part = self._header_path().with_suffix(".json.part")
                part.write_text(json.dumps(header), encoding="utf-8")
                part.replace(self._header_path())
            self.generation = generation
            vectors_path, texts_path = self._paths()
            count = self._written()
            _write_at(vectors_path, 2 * self.dimension * count, integers.astype("<i2").tobytes())
            _write_at(texts_path, 8 * count, np.asarray(texts, "<i8").tobytes())


def _to_integers(rows: Vectors) -> NDArray[np.int16]:
    integers: NDArray[np.int16] = np.rint(rows * _ONE).astype(np.int16)
    return integers


def _from_integers(integers: NDArray[np.int16]) -> Vectors:
    rows: Vectors = integers.astype(np.float32)
    rows /= _ONE
    return rows


def _write_at(path: Path, place: int, data: bytes) -> None:
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
        pass  # Windows keeps a file that another process has open.
