"""An embedding on this machine: an ONNX model in a folder as sentence-transformers and Optimum write it."""

import asyncio
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.llm.embedding import OnProgress, Vectors, unit
from core.schema.errors import LLMError, UsageError
from core.settings.settings import ONNX_PREFIX
from core.system.program import install_command

_NAMES = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
_BATCH = 16
"""Texts that are embedded at once: all of them are padded to the longest."""
_MOST_TOKENS = 512
"""Of a text, where the files name no limit."""
_POOLED = "sentence_embedding"
"""The output of models that were exported with their pooling."""


class OnnxEmbedding:
    """Runs a sentence encoder of the BERT family on the processor; what is too long for it is cut at the end.

    The vectors of a text's tokens are averaged, or that of its first token is taken where `1_Pooling/config.json`
    says so (Reimers & Gurevych 2019). A model that pools by itself is taken at its word.
    """

    def __init__(self, name: str) -> None:
        """Load ``onnx:PLACE``, a folder or the file of a model; raises UsageError."""
        model = _model_at(Path(name.removeprefix(ONNX_PREFIX)))
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise UsageError(
                f"An ONNX model needs the package {error.name}, which is not installed; "
                f"run: {install_command('onnx')}"
            ) from error
        folder = model.parent.parent if model.parent.name == "onnx" else model.parent
        tokenizer = next(
            (path for path in (model.parent, folder) if (path / "tokenizer.json").is_file()), None
        )
        if tokenizer is None:
            raise UsageError(
                f"There is no tokenizer.json beside {model}; copy it there from where the model is from."
            )
        onnxruntime.set_default_logger_severity(4)  # What is wrong is raised.
        try:
            with model.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()[:12]
            self._session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
            self._tokenizer = Tokenizer.from_file(str(tokenizer / "tokenizer.json"))
        except Exception as error:  # Both raise classes of their own for what they cannot read.
            raise UsageError(f"{model} cannot be used as an embedding: {_first_line(error)}") from error
        self._inputs = {one.name for one in self._session.get_inputs()}
        outputs = [one.name for one in self._session.get_outputs()]
        self._output = _POOLED if _POOLED in outputs else outputs[0]
        self._by_first_token = bool(_json(folder / "1_Pooling" / "config.json").get("pooling_mode_cls_token"))
        self._tokenizer.enable_padding()
        self._tokenizer.enable_truncation(_longest(folder, self._tokenizer.truncation))
        self.name = f"{folder.name} ({model.name}, {digest})"

    async def embed(self, texts: Sequence[str], on_progress: OnProgress | None = None) -> Vectors:
        parts: list[Vectors] = []
        for start in range(0, len(texts), _BATCH):
            part = list(texts[start : start + _BATCH])
            try:
                parts.append(await asyncio.to_thread(self._vectors, part))
            except Exception as error:  # ONNX Runtime has no base class of its own.
                raise LLMError(f"{self.name} cannot embed: {_first_line(error)}") from error
            if on_progress is not None:
                on_progress(start + len(part), len(texts))
        return unit(np.concatenate(parts), self.name) if parts else np.zeros((0, 0), dtype=np.float32)

    def _vectors(self, texts: list[str]) -> Vectors:
        encoded = self._tokenizer.encode_batch(texts)
        mask = np.array([one.attention_mask for one in encoded], dtype=np.int64)
        given = {
            "input_ids": np.array([one.ids for one in encoded], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([one.type_ids for one in encoded], dtype=np.int64),
        }
        (rows,) = self._session.run(
            [self._output], {name: values for name, values in given.items() if name in self._inputs}
        )
        if rows.ndim == 3:
            weights = mask[:, :, None].astype(np.float32)
            rows = rows[:, 0] if self._by_first_token else (rows * weights).sum(1) / weights.sum(1).clip(1)
        vectors: Vectors = np.asarray(rows, dtype=np.float32)
        return vectors


def _model_at(place: Path) -> Path:
    """Return the file of the model; raises UsageError."""
    place = place.expanduser().absolute()
    if place.is_file():
        return place
    if (found := next((place / name for name in _NAMES if (place / name).is_file()), None)) is not None:
        return found
    raise UsageError(
        f"There is no ONNX model at {place}; give a folder with model.onnx and tokenizer.json, or the model's file."
    )


def _longest(folder: Path, of_tokenizer: dict[str, Any] | None) -> int:
    """Return how many tokens of a text the model takes."""
    limits = (
        (of_tokenizer or {}).get("max_length"),
        _json(folder / "sentence_bert_config.json").get("max_seq_length"),
        _json(folder / "tokenizer_config.json").get("model_max_length"),  # A huge number where nobody knows.
    )
    return next((limit for limit in limits if isinstance(limit, int) and 2 < limit <= 100_000), _MOST_TOKENS)


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
