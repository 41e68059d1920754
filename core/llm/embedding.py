"""Embeddings of texts: the built-in one, and any OpenAI-compatible endpoint (an ONNX model is a file of its own).

Vectors have unit length, so that the Euclidean distance of two lies between 0
(the same direction) and 2, whichever embedding made them.
"""

import asyncio
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from core.llm.errors import LLMFailure
from core.schema.errors import LLMError

if TYPE_CHECKING:
    from core.llm.openai_compatible import OpenAICompatibleLLM

Vectors = NDArray[np.float32]
"""Shape (texts, dimension), rows of unit length."""

OnProgress = Callable[[int, int], None]
"""Called with how many of how many texts are done."""


class Embedding(Protocol):
    """Converts texts to vectors."""

    name: str
    """Names the embedding with all that changes its vectors: an index made by another name is made again."""

    async def embed(self, texts: Sequence[str], on_progress: OnProgress | None = None) -> Vectors:
        """Return one row for each text; raises LLMError if a server is asked and fails."""
        ...


_TAG = re.compile(r"<(/?)([a-z][a-z0-9]*)([^<>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r'([a-z-]+)\s*=\s*"([^"]*)"', re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+|\d+")
_LINE = re.compile(r"^\s*\[\d+\] (\w+)", re.MULTILINE)
_SKIPPED = ("data-", "style", "bid")
_BATCH = 64
_PIECE = 0.1
"""A word has about as many pieces as letters: together they count less than the word itself."""


class HashedWords:
    """Words, pairs of words and pieces of words, hashed into a fixed number of places; no network, no weights.

    The feature-hashing trick (Weinberger et al. 2009) over log-scaled counts.
    The task and the page are made vectors of their own and then added, so that
    the task counts the same next to a short page and a long one. Numbers count
    as one another; of HTML the tags, ids and classes count besides its words.
    """

    def __init__(self, dimension: int = 2048) -> None:
        self._dimension = dimension
        self.name = f"hashed-words-{dimension}-2"

    async def embed(self, texts: Sequence[str], on_progress: OnProgress | None = None) -> Vectors:
        rows = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for number, text in enumerate(texts):
            rows[number] = self.vector(text)
            if number % _BATCH == _BATCH - 1:
                await asyncio.sleep(0)
            if on_progress is not None:
                on_progress(number + 1, len(texts))
        return rows

    def vector(self, text: str) -> NDArray[np.float32]:
        """Return the vector of one text, of unit length; that of an empty text is all in one place."""
        task, _, page = text.partition("\nState:")
        row, of_page = self._hashed(_of_words(_words(task), 3.0)), self._hashed(_of_page(page))
        most, length = float(np.linalg.norm(row)), float(np.linalg.norm(of_page))
        row += of_page * np.float32(most / length) if length > most > 0 else of_page
        length = float(np.linalg.norm(row))
        if length == 0.0:
            row[0] = 1.0
            return row
        return row / np.float32(length)

    def _hashed(self, features: Iterable[tuple[str, float]]) -> NDArray[np.float32]:
        """Return the sum of weighted features."""
        counts: dict[str, float] = {}
        for feature, weight in features:
            counts[feature] = counts.get(feature, 0.0) + weight
        row = np.zeros(self._dimension, dtype=np.float32)
        for feature, count in counts.items():
            hashed = zlib.crc32(feature.encode())
            sign = 1.0 if hashed & 1 else -1.0
            row[(hashed >> 1) % self._dimension] += sign * np.log1p(count)
        return row


def _of_page(page: str) -> Iterator[tuple[str, float]]:
    """Return the features of a page with their weights."""
    for match in _TAG.finditer(page):
        if match[1]:
            continue
        yield f"<{match[2].lower()}", 0.5
        for name, value in _ATTRIBUTE.findall(match[3]):
            if name.lower().startswith(_SKIPPED):
                continue
            for word in _words(value):
                yield f"@{name.lower()}={word}", 1.0
    for match in _LINE.finditer(page):
        yield f"<{match[1]}", 2.0
    yield from _of_words(_words(_TAG.sub(" ", page)), 1.0)


def _words(text: str) -> list[str]:
    return ["0" if word.isdigit() else word for word in _WORD.findall(text.lower())]


def _of_words(words: Iterable[str], weight: float) -> Iterator[tuple[str, float]]:
    last = ""
    for word in words:
        yield word, weight
        if last:
            yield f"{last} {word}", weight * 0.5
        last = word
        if len(word) > 3:
            padded = f"^{word}$"
            for start in range(len(padded) - 3):
                yield f"~{padded[start : start + 4]}", weight * _PIECE


def unit(rows: Any, name: str) -> Vectors:
    """Return the vectors that an embedding made, scaled to unit length; raises LLMError if they cannot be used."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            vectors = np.asarray(rows, dtype=np.float32)
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    except (ValueError, np.exceptions.AxisError) as error:
        raise LLMError(f"The embeddings of {name} have different lengths; use another model.") from error
    if not np.isfinite(lengths).all() or (lengths == 0).any():
        raise LLMError(f"The embeddings of {name} cannot be used: some are empty or not numbers.")
    scaled: Vectors = vectors / lengths
    return scaled


# From a server

BATCH = 64
"""Texts sent at once."""


class EndpointEmbedding:
    """Uses ``POST /embeddings`` of a server; its vectors are scaled to unit length."""

    def __init__(self, llm: "OpenAICompatibleLLM") -> None:
        """Ask the model of `llm` at its server, with its key, headers, body and Azure's settings."""
        self._llm = llm
        self.name = f"{llm.model} at {llm.base_url}"

    async def embed(self, texts: Sequence[str], on_progress: OnProgress | None = None) -> Vectors:
        rows: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            part = list(texts[start : start + BATCH])
            rows += await self._ask(part)
            if on_progress is not None:
                on_progress(len(rows), len(texts))
        return unit(rows, self.name)

    async def close(self) -> None:
        await self._llm.close()

    async def _ask(self, texts: list[str]) -> list[list[float]]:
        answer = await self._llm.embeddings({"input": texts})
        if isinstance(answer, LLMFailure):
            raise LLMError(self._sentence(answer))
        found = answer.get("data") if isinstance(answer, dict) else None
        entries = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
        if len(entries) != len(texts):
            raise LLMError(f"{self.name} returned {len(entries)} embeddings for {len(texts)} texts.")
        if all(type(entry.get("index")) is int for entry in entries):
            entries.sort(key=lambda one: one["index"])
        rows = [entry.get("embedding") for entry in entries]
        try:
            return [_numbers(row) for row in rows]
        except TypeError as error:
            raise LLMError(
                f"The embeddings of {self.name} cannot be used: some are not lists of numbers."
            ) from error
        except OverflowError as error:
            raise LLMError(f"The embeddings of {self.name} cannot be used: a number is too large.") from error

    def _sentence(self, failure: LLMFailure) -> str:
        if failure.status:
            return f"{self.name} refused to embed ({failure.status}): {failure.words}"
        if failure.kind == "redirect":
            return f"The embeddings of {self.name} cannot be made: the server {failure.reason}."
        if failure.kind in ("timeout", "slow"):
            return f"The embeddings of {self.name} timed out; try again."
        if failure.kind in ("large", "broken", "stream"):
            return f"The embeddings of {self.name} cannot be read: the server {failure.reason}."
        return f"{self.name} cannot be reached for embeddings: it {failure.reason}; is the server running?"


def _numbers(row: object) -> list[float]:
    """Raises TypeError if `row` is not a list of numbers, and OverflowError if one is too large."""
    if not isinstance(row, list) or not all(type(value) in (float, int) for value in row):
        raise TypeError
    return [float(value) for value in row]
