"""A real ONNX encoder of a few words: its model and its tokenizer, as sentence-transformers writes them."""

import json
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

WORDS = "[PAD] [UNK] [CLS] book reserve flight trip sort column".split()
_ROWS = {
    "book": (1, 0),
    "reserve": (1, 0),
    "flight": (0, 1),
    "trip": (0, 1),
    "sort": (-1, 0),
    "column": (0, -1),
}


def encoder_in(
    folder: Path,
    *,
    pooled: str = "",
    first_token: bool = False,
    values: float = 1.0,
    shape: tuple[str | int, str | int] = ("batch", "tokens"),
    axes: tuple[int, ...] = (1,),
) -> Path:
    """Write a model that gives each word a row in the plane, alike for words of one meaning.

    `pooled` is an output that the model sums up by itself over `axes`, `shape` that of its input.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows = np.zeros((len(WORDS), 2), np.float32)
    for word, row in _ROWS.items():
        rows[WORDS.index(word)] = np.array(row, np.float32) * values
    rows[WORDS.index("[CLS]")] = np.array((-0.5, -0.25), np.float32) * values
    nodes = [helper.make_node("Gather", ["rows", "input_ids"], ["last_hidden_state"])]
    outputs = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*shape, 2])]
    if pooled:
        nodes.append(helper.make_node("ReduceSum", ["last_hidden_state", "axis"], [pooled], keepdims=0))
        outputs.append(helper.make_tensor_value_info(pooled, TensorProto.FLOAT, None))
    graph = helper.make_graph(
        nodes,
        "words",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, list(shape))
            for name in ("input_ids", "attention_mask")
        ],
        outputs,
        [
            numpy_helper.from_array(rows, "rows"),
            numpy_helper.from_array(np.array(axes, np.int64), "axis"),
        ],
    )
    save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
        folder / "model.onnx",
    )
    tokenizer = Tokenizer(WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A", special_tokens=[("[CLS]", 2)])
    tokenizer.save(str(folder / "tokenizer.json"))
    if first_token:
        (folder / "1_Pooling").mkdir(exist_ok=True)
        config = {"word_embedding_dimension": 2, "pooling_mode_cls_token": True}
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(config))
    return folder
