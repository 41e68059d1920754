"""Exemplars in families, and an embedding that places them as real tasks are placed."""

from collections.abc import Sequence

import numpy as np

from core.llm.embedding import OnProgress, Vectors
from core.schema.exemplar import Exemplar, ExemplarStep

_COMMON = 50
"""Features that all pages have."""
_SHARED = 70
"""Features that all of a family have."""
_OWN = 160
"""Features of a family of which each member has some."""
_DRAWN = 40


class Clusters:
    """Makes the vector of ``Task: family F member M`` out of these two numbers.

    Members of one family lie 0.4 to 0.9 from one another and 1.0 to 1.2 from
    those of other families. On Synapse's MiniWoB++ tasks these are 0.46 to
    0.94 and 0.86 to 1.25 with the built-in embedding.
    """

    def __init__(self, families: int, dimension: int = 2048, name: str = "clusters") -> None:
        self.name = f"{name}-{families}-{dimension}"
        self.asked = 0
        self._dimension = dimension
        random = np.random.default_rng(families)
        common = random.choice(dimension, min(_COMMON, dimension // 2), replace=False)
        self._shared = np.zeros((families, dimension), np.float32)
        self._own = np.zeros((families, min(_OWN, dimension)), np.int64)
        for family in range(families):
            places = random.choice(dimension, min(_SHARED, dimension // 2), replace=False)
            self._shared[family, places] = random.choice((-1.0, 1.0), len(places)) * random.uniform(
                0.5, 1.6, len(places)
            )
            self._shared[family, common] += 1.0
            self._own[family] = random.choice(dimension, min(_OWN, dimension), replace=False)

    async def embed(self, texts: Sequence[str], on_progress: OnProgress | None = None) -> Vectors:
        self.asked += len(texts)
        rows = np.empty((len(texts), self._dimension), np.float32)
        for number, text in enumerate(texts):
            words = text.split()
            rows[number] = self.vector(int(words[2]), int(words[4]))
        if on_progress is not None:
            on_progress(len(texts), len(texts))
        return rows

    def vector(self, family: int, member: int) -> np.ndarray:
        random = np.random.default_rng((family, member))
        row = self._shared[family].copy()
        drawn = random.integers(0, self._own.shape[1], random.integers(_DRAWN // 4, _DRAWN * 2))
        row[self._own[family][drawn]] += random.uniform(0.4, 1.2, len(drawn)).astype(np.float32)
        return row / np.float32(np.linalg.norm(row))


def text_of(family: int, member: int) -> str:
    return f"Task: family {family} member {member}"


def clustered(family: int, member: int) -> Exemplar:
    return Exemplar(
        id=f"family-{family}/{member}",
        family=f"family-{family}",
        task=f"Do what member {member} of family {family} is about, in {member % 977} parts.",
        environment="miniwob" if family % 3 else "shop",
        metadata=text_of(family, member),
        steps=(
            ExemplarStep(
                observation="\n".join(
                    f'[{n}] button "Button {(member * n) % 101} of {family}"' for n in range(1, 25)
                ),
                thought=f"The button number {member % 24 + 1} is the one of family {family}.",
                actions=(f"click [{member % 24 + 1}]", "stop []"),
            ),
        ),
        tags=(f"group-{family % 7}",) if member % 4 == 0 else (),
    )
