"""An embedding on this machine: an ONNX model in a folder as sentence-transformers and Optimum write it."""

import asyncio
import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from core.llm.embedding import OnProgress, Vectors, unit
from core.schema.errors import LLMError, UsageError
from core.settings.settings import ONNX_PREFIX
from core.setup.project import install_command
from core.system.paths import expanded

_NAMES = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
_SETTINGS = ("tokenizer.json", "1_Pooling/config.json", "sentence_bert_config.json", "tokenizer_config.json")
_AT_ONCE = 8192
"""Tokens that are embedded at once, padding among them."""
_USUAL_TOKENS, _MOST_TOKENS = 512, 2048
"""Of a text: where the files name no limit, and at most, for attention takes memory by their square."""
_POOLED = "sentence_embedding"
"""The output of models that were exported with their pooling."""


@lru_cache(maxsize=2)
def onnx_embedding(name: str) -> "OnnxEmbedding":
    """Return the embedding ``onnx:PLACE``, a folder or the file of a model, loaded once; raises UsageError."""
    return OnnxEmbedding(name)


class OnnxEmbedding:
    """Runs a sentence encoder of the BERT family on the processor; what is too long for it is cut at the end.

    The vectors of a text's tokens are averaged, or that of its first token is taken where `1_Pooling/config.json`
    says so (Reimers & Gurevych 2019). A model that pools by itself is taken at its word.
    """

    def __init__(self, name: str) -> None:
        model = _model_at(Path(name.removeprefix(ONNX_PREFIX)))
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise UsageError(
                f"An ONNX model needs the package {error.name}, which is not installed; "
                f"run: {install_command('onnx')}"
            ) from error
        files = {one: path for one in _SETTINGS if (path := _beside(model, one)) is not None}
        if "tokenizer.json" not in files:
            raise UsageError(
                f"There is no tokenizer.json beside {model}; copy it there from where the model is from."
            )
        onnxruntime.set_default_logger_severity(4)  # What is wrong is raised.
        try:
            digest = _digest([model, *sorted(model.parent.glob(f"{model.name}[._]data")), *files.values()])
            self._session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
            self._tokenizer = Tokenizer.from_file(str(files["tokenizer.json"]))
        except Exception as error:  # Both raise classes of their own for what they cannot read.
            raise UsageError(f"{model} cannot be used as an embedding: {_first_line(error)}") from error
        inputs = {one.name: one.shape for one in self._session.get_inputs()}
        self._inputs = set(inputs)
        outputs = [one.name for one in self._session.get_outputs()]
        self._output = _POOLED if _POOLED in outputs else outputs[0]
        self._by_first_token = self._output != _POOLED and _is_by_first_token(files)
        batch, tokens = (*inputs.get("input_ids", ()), None, None)[:2]  # Numbers where they are fixed.
        self._is_fixed = isinstance(batch, int)
        longest = min(tokens if isinstance(tokens, int) else _MOST_TOKENS, _longest(files, self._tokenizer))
        self._batch = batch if isinstance(batch, int) else max(_AT_ONCE // longest, 1)
        self._tokenizer.enable_padding(length=tokens if isinstance(tokens, int) else None)
        self._tokenizer.enable_truncation(longest)
        place = model.parent.parent if model.parent.name == "onnx" else model.parent
        self.name = f"{place.name} ({model.name}, {digest[:12]})"

    async def embed(self, texts: Sequence[str], on_progress: OnProgress | None = None) -> Vectors:
        parts: list[Vectors] = []
        for start in range(0, len(texts), self._batch):
            part = list(texts[start : start + self._batch])
            # A model of a fixed number of texts is given the last ones again.
            whole = [*part, *[part[-1]] * (self._batch - len(part))] if self._is_fixed else part
            try:
                parts.append((await asyncio.to_thread(self._vectors, whole))[: len(part)])
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
        if rows.ndim != 2 or len(rows) != len(texts):
            raise ValueError(
                f"its output {self._output} has the shape {rows.shape}, not a vector for each text"
            )
        vectors: Vectors = np.asarray(rows, dtype=np.float32)
        return vectors


def _model_at(place: Path) -> Path:
    """Return the file of the model; raises UsageError."""
    place = expanded(place).absolute()
    if place.is_file():
        return place
    if (found := next((place / name for name in _NAMES if (place / name).is_file()), None)) is not None:
        return found
    raise UsageError(
        f"There is no ONNX model at {place}; give a folder with model.onnx and tokenizer.json, or the model's file."
    )


def _beside(model: Path, name: str) -> Path | None:
    """Return a file of the model, which Optimum puts into the folder `onnx` of the others."""
    folders = (model.parent, model.parent.parent) if model.parent.name == "onnx" else (model.parent,)
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def _digest(files: Sequence[Path]) -> str:
    """Return a hash of all that changes the vectors."""
    digests = []
    for path in files:
        with path.open("rb") as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
    return hashlib.sha256(" ".join(digests).encode()).hexdigest()


def _is_by_first_token(files: dict[str, Path]) -> bool:
    """Return whether the first token's vector is the text's; raises UsageError for what is not done here."""
    config = _json(files.get("1_Pooling/config.json"))
    modes = {name.removeprefix("pooling_mode_") for name, on in config.items() if on is True}
    if isinstance(mode := config.get("pooling_mode"), str):
        modes = {mode}
    modes = {name.removesuffix("_token").removesuffix("_tokens") for name in modes} - {"include_prompt"}
    if modes - {"cls", "mean"} or len(modes) > 1:
        raise UsageError(
            f"{files['1_Pooling/config.json']} asks for the pooling {' and '.join(sorted(modes))}; "
            "only mean and cls are done. Export the model with its pooling, or take another."
        )
    return "cls" in modes


def _longest(files: dict[str, Path], tokenizer: Any) -> int:
    """Return how many tokens of a text the model takes."""
    limits = (
        _json(files.get("sentence_bert_config.json")).get("max_seq_length"),
        (tokenizer.truncation or {}).get("max_length"),
        _json(files.get("tokenizer_config.json")).get(
            "model_max_length"
        ),  # A huge number where nobody knows.
    )
    return next((limit for limit in limits if isinstance(limit, int) and 2 < limit <= 100_000), _USUAL_TOKENS)


def _json(path: Path | None) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8")) if path is not None else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
