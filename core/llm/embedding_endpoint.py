"""Embeddings from an OpenAI-compatible endpoint."""

from collections.abc import Sequence

import numpy as np
from openai import APIConnectionError, APIStatusError, APITimeoutError, AsyncOpenAI, OpenAIError

from core.llm.embedding import OnProgress, Vectors
from core.schema.errors import LLMError

BATCH = 64
"""Texts sent at once."""


class EndpointEmbedding:
    """Asks ``POST /embeddings`` of a server; its answers are brought to unit length."""

    def __init__(self, *, base_url: str, model: str, key: str = "", timeout: float = 60.0) -> None:
        self._model = model
        self._base_url = base_url
        self.name = f"{model} at {base_url or 'OpenAI'}"
        self._client = AsyncOpenAI(
            base_url=base_url or None, api_key=key or "none", timeout=timeout, max_retries=3
        )

    async def embed(self, texts: Sequence[str], on_progress: OnProgress | None = None) -> Vectors:
        rows: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            part = list(texts[start : start + BATCH])
            rows += await self._ask(part)
            if on_progress is not None:
                on_progress(len(rows), len(texts))
        try:
            vectors = np.asarray(rows, dtype=np.float32)
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        except (ValueError, np.exceptions.AxisError) as error:
            raise LLMError(
                f"The embeddings of {self.name} are not of one length; ask another model."
            ) from error
        if vectors.shape[0] != len(texts) or not np.isfinite(lengths).all() or (lengths == 0).any():
            raise LLMError(
                f"The embeddings of {self.name} cannot be used: some are missing, empty or no numbers."
            )
        unit: Vectors = vectors / lengths
        return unit

    async def close(self) -> None:
        await self._client.close()

    async def _ask(self, texts: list[str]) -> list[list[float]]:
        try:
            answer = await self._client.embeddings.create(
                model=self._model, input=texts, encoding_format="float"
            )
        except APITimeoutError as error:
            raise LLMError(f"The embeddings of {self.name} did not come in time; try again.") from error
        except APIConnectionError as error:
            raise LLMError(f"{self.name} cannot be reached for embeddings; is the server running?") from error
        except APIStatusError as error:
            raise LLMError(f"{self.name} refused to embed ({error.status_code}): {error.message}") from error
        except (OpenAIError, ValueError) as error:
            raise LLMError(f"The embeddings of {self.name} cannot be read: {error}") from error
        if len(answer.data) != len(texts):
            raise LLMError(f"{self.name} gave {len(answer.data)} embeddings for {len(texts)} texts.")
        return [list(one.embedding) for one in sorted(answer.data, key=lambda one: one.index)]
