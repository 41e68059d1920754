"""How long the exemplar library takes at size, how exact its index is, and how much room both need.

Run with ``python -m tests.benchmarks.bench_library``: 100 000 exemplars in
400 families, or ``--size`` and ``--families`` of them; ``--million`` is a
million in 2000. The vectors lie as real tasks lie (`tests.core.exemplars.clusters`);
everything but the embedding is what a run uses.
"""

import argparse
import asyncio
import resource
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from core.exemplars.library.records import LIBRARY_NAME, Filter, Provenance
from core.exemplars.library.store import Library
from core.exemplars.memory import Memory
from core.schema.exemplar import RecallSettings
from tests.core.exemplars.clusters import Clusters, clustered, text_of

_BATCH = 5000


class Table:
    """Lines of what was measured, printed as they come."""

    def put(self, what: str, value: str) -> None:
        print(f"{what:<52} {value:>26}", flush=True)

    def time(self, what: str, seconds: list[float]) -> None:
        ordered = sorted(seconds)
        worst = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
        best = ordered[0]
        self.put(what, " / ".join(f"{one * 1e3:.1f}" for one in (best, statistics.median(ordered), worst)))


def fill(library: Library, size: int, families: int) -> float:
    begun = time.perf_counter()
    origins = ("agent run", "demonstration", "import")
    for start in range(0, size, _BATCH):
        library.save_all(
            (
                clustered(number % families, number // families),
                Provenance(
                    origin=origins[number % 3], llm=f"model-{number % 5}", site=f"site-{number % 11}.example"
                ),
            )
            for number in range(start, min(start + _BATCH, size))
        )
    return time.perf_counter() - begun


def brute_force(
    embedding: Clusters, size: int, families: int, queries: np.ndarray, count: int
) -> list[np.ndarray]:
    """Return the distances of the nearest among all vectors, as the index keeps them."""
    best = np.full((len(queries), count), np.inf)
    for start in range(0, size, 4096):
        numbers = range(start, min(start + 4096, size))
        rows = np.stack([embedding.vector(n % families, n // families) for n in numbers])
        rows = np.rint(rows * np.float32(32767)).astype(np.float64) / 32767
        squares = (rows**2).sum(1) + (queries**2).sum(1)[:, None] - 2 * queries @ rows.T
        best = np.sort(np.concatenate([best, squares], axis=1), axis=1)[:, :count]
    return [np.sqrt(np.maximum(row, 0)) for row in best]


async def measure(folder: Path, size: int, families: int, looks: int) -> None:
    table = Table()
    table.put("", "best / median / 95 % in ms")
    path = folder / LIBRARY_NAME
    library = Library.open(path)
    seconds = fill(library, size, families)
    table.put(f"storing {size} exemplars, each", f"{seconds / size * 1e3:.2f} ms")
    library.close()
    embedding = Clusters(families)

    def memory() -> Memory:
        return Memory((), index_folder=folder / "index", embedding=lambda: embedding, library=path)

    first = memory()
    begun = time.perf_counter()
    index = await first.refreshed()
    table.put("making the index", f"{time.perf_counter() - begun:.1f} s")
    first.close()
    second = memory()
    begun = time.perf_counter()
    index = await second.refreshed()
    await second.recall(text_of(0, 10**6), RecallSettings())
    table.put(f"load at first use, and a retrieval ({index.way})", f"{time.perf_counter() - begun:.2f} s")

    random = np.random.default_rng(1)
    queries = [(int(random.integers(families)), 10**7 + n) for n in range(looks)]
    vectors = np.stack([embedding.vector(*query) for query in queries]).astype(np.float64)
    took, found = [], []
    for query in vectors:
        begun = time.perf_counter()
        near = index.nearest(query.astype(np.float32), 3)
        took.append(time.perf_counter() - begun)
        found.append([one.distance for one in near])
    table.time("the nearest three", took)
    expected = brute_force(embedding, size, families, vectors, 3)
    hits = sum(
        int((np.array(got) <= want[-1] + 2e-6).sum()) for got, want in zip(found, expected, strict=True)
    )
    table.put("recall@3 against brute force", f"{hits / (3 * looks):.4f}")
    took = []
    for query in queries:
        begun = time.perf_counter()
        await second.recall(text_of(*query), RecallSettings())
        took.append(time.perf_counter() - begun)
    table.time("recall as a run does it (family, 8 exemplars)", took)

    library = second.library()
    saving, finding = [], []
    for number in range(20):
        begun = time.perf_counter()
        library.save(clustered(number % families, 10**8 + number))
        saving.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        got = await second.recall(text_of(number % families, 10**8 + number), RecallSettings(by="exemplars"))
        finding.append(time.perf_counter() - begun)
        assert got.retrieved[0].id == f"family-{number % families}/{10**8 + number}"
    table.time("adding one", saving)
    table.time("finding it, embedding it and the query included", finding)

    for what, wanted in (
        ("first page", Filter()),
        ("first page of a family", Filter(family="family-7")),
        ("first page of words", Filter(words="member 77 family")),
        ("first page of a tag", Filter(tags=("group-3",))),
    ):
        took = []
        for _ in range(5):
            begun = time.perf_counter()
            library.page(wanted)
            took.append(time.perf_counter() - begun)
        table.time(what, took)
    took = []
    for _ in range(3):
        begun = time.perf_counter()
        library.counts()
        took.append(time.perf_counter() - begun)
    table.time("counts by every filter", took)
    begun = time.perf_counter()
    library.page(offset=size - 50)
    table.time("last page", [time.perf_counter() - begun])
    begun = time.perf_counter()
    await second.like(text_of(3, 3), 50, Filter(origin="import"))
    table.time("fifty nearest by meaning, of one origin", [time.perf_counter() - begun])
    second.close()
    for name, paths in (("database", [path]), ("index", list((folder / "index").iterdir()))):
        table.put(f"on disk: {name}", f"{sum(one.stat().st_size for one in paths) / 2**20:.0f} MiB")
    table.put("memory at the most", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--families", type=int, default=400)
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--looks", type=int, default=100)
    parser.add_argument("--folder", type=Path, help="Where to put the files; a temporary folder without.")
    given = parser.parse_args()
    if given.million:
        given.size, given.families = 1_000_000, 2000
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        asyncio.run(measure(Path(name), given.size, given.families, given.looks))


if __name__ == "__main__":
    main()
