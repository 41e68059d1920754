"""How long the index of exemplars takes beside a flat FAISS index, in one run on the same vectors.

Run with ``python -m tests.benchmarks.bench_index``: 1000, 10 000 and 100 000
vectors of 2048 numbers in 400 families, or ``--sizes`` of them. Times are the
best and the median; the last column compares the medians with the flat index
of 32 bits.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import faiss
import numpy as np

from core.exemplars.nearest import Nearest
from core.exemplars.vectors import VectorStore
from tests.core.exemplars.clusters import Clusters

_DIMENSION = 2048
_FAMILIES = 400
_BATCH = 4096
_NEAREST = 3


def median(work: Callable[[int], object], looks: int) -> tuple[float, float]:
    """Return the best and the median time of a call in ms; the first call does not count."""
    work(0)
    took = []
    for number in range(looks):
        begun = time.perf_counter()
        work(number)
        took.append((time.perf_counter() - begun) * 1e3)
    return min(took), statistics.median(took)


def line(size: int, what: str, times: tuple[float, float], flat: float, note: str = "") -> None:
    print(
        f"{size:>9}  {what:<24} {times[0]:>8.2f} / {times[1]:>8.2f} ms  x{times[1] / flat:>6.2f}  {note}",
        flush=True,
    )


def measure(folder: Path, size: int, looks: int) -> None:
    embedding = Clusters(_FAMILIES, _DIMENSION)
    vectors = VectorStore("bench", folder)
    for start in range(0, size, _BATCH):
        texts = range(start, min(start + _BATCH, size))
        vectors.add(texts, np.stack([embedding.vector(n % _FAMILIES, n // _FAMILIES) for n in texts]))
    queries = np.stack([embedding.vector(n * 7 % _FAMILIES, 10**7 + n) for n in range(looks)])
    flat_median = 0.0
    for what, index in (
        ("flat, 32 bits", faiss.IndexFlatL2(_DIMENSION)),
        ("flat, 16 bits", faiss.IndexScalarQuantizer(_DIMENSION, faiss.ScalarQuantizer.QT_fp16)),
    ):
        begun = time.perf_counter()
        for start in range(0, size, _BATCH):
            index.add(vectors.rows(np.arange(start, min(start + _BATCH, size))))
        built = time.perf_counter() - begun
        times = median(lambda n, index=index: index.search(queries[n : n + 1], _NEAREST), looks)
        flat_median = flat_median or times[1]
        room = size * index.sa_code_size() / 2**20
        line(size, what, times, flat_median, f"loaded in {built:.2f} s, {room:.0f} MiB")
        del index
    nearest = Nearest(VectorStore("bench", folder))
    begun = time.perf_counter()
    nearest.prepare()
    built = time.perf_counter() - begun
    times = median(lambda n: nearest.search(queries[n], _NEAREST), looks)
    line(size, f"the index ({nearest.way})", times, flat_median, f"loaded in {built:.2f} s")

    def add(number: int) -> None:
        growing.add([size + number], embedding.vector(0, 10**8 + number)[None])
        nearest.prepare()

    growing = VectorStore("bench", folder)
    nearest = Nearest(growing)
    nearest.prepare()
    line(size, "adding one to the index", median(add, looks), flat_median)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--looks", type=int, default=40)
    given = parser.parse_args()
    for size in given.sizes:
        with tempfile.TemporaryDirectory() as name:
            measure(Path(name), size, given.looks)


if __name__ == "__main__":
    main()
