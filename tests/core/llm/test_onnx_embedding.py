"""Embeddings by an ONNX model of this machine: real files, a real tokenizer and ONNX Runtime."""

import json
import sys

import numpy as np
import pytest

from core.llm.onnx_embedding import OnnxEmbedding
from core.llm.registry import open_llms
from core.schema.errors import LLMError, UsageError
from core.settings.settings import Settings
from tests.core.llm.small_encoder import encoder_in


def distance(one, other) -> float:
    return float(np.linalg.norm(one - other))


async def test_words_of_one_meaning_are_near_whatever_their_letters(tmp_path):
    embedding = OnnxEmbedding(f"onnx:{encoder_in(tmp_path)}")
    book, reserve, sort = await embedding.embed(["book flight", "reserve trip", "sort column"])
    assert distance(book, reserve) == pytest.approx(0, abs=1e-6)
    assert distance(book, sort) > 1


async def test_a_text_has_the_same_vector_alone_and_beside_longer_ones(tmp_path):
    embedding = OnnxEmbedding(f"onnx:{encoder_in(tmp_path)}")
    texts = ["book", "sort", *["flight trip book"] * 40]
    reports = []
    together = await embedding.embed(texts, lambda done, of: reports.append((done, of)))
    for at, text in enumerate(texts[:3]):
        assert np.allclose((await embedding.embed([text]))[0], together[at])
    assert np.allclose(np.linalg.norm(together, axis=1), 1)
    assert reports == [(16, 42), (32, 42), (42, 42)]
    assert (await embedding.embed([])).shape[0] == 0


async def test_the_first_token_is_taken_where_the_model_was_trained_so(tmp_path):
    embedding = OnnxEmbedding(f"onnx:{encoder_in(tmp_path, first_token=True)}")
    book, sort = await embedding.embed(["book flight", "sort column"])
    assert distance(book, sort) == pytest.approx(0, abs=1e-6)
    assert book == pytest.approx(np.array([-2, -1]) / np.sqrt(5))


async def test_a_model_that_pools_by_itself_is_taken_at_its_word(tmp_path):
    embedding = OnnxEmbedding(f"onnx:{encoder_in(tmp_path, pooled='sentence_embedding')}")
    (vector,) = await embedding.embed(["flight flight"])
    assert vector == pytest.approx(np.array([-0.5, 1.75]) / np.hypot(0.5, 1.75))


@pytest.mark.parametrize("named", ["sentence_bert_config.json", "tokenizer_config.json"])
async def test_what_is_longer_than_the_model_takes_is_cut_at_its_end(tmp_path, named):
    key = "max_seq_length" if named.startswith("sentence") else "model_max_length"
    (tmp_path / named).write_text(json.dumps({key: 3}))
    embedding = OnnxEmbedding(f"onnx:{encoder_in(tmp_path)}")
    whole, cut = await embedding.embed(["book flight sort column sort column", "book flight"])
    assert distance(whole, cut) == pytest.approx(0, abs=1e-6)


def test_a_folder_of_optimum_and_a_file_are_found_too(tmp_path):
    encoder_in(tmp_path / "model")
    (tmp_path / "model" / "onnx").mkdir()
    (tmp_path / "model" / "model.onnx").rename(tmp_path / "model" / "onnx" / "model.onnx")
    folder = OnnxEmbedding(f"onnx:{tmp_path / 'model'}")
    assert folder.name == OnnxEmbedding(f"onnx:{tmp_path / 'model' / 'onnx' / 'model.onnx'}").name
    assert folder.name.startswith("model (model.onnx, ")


def test_a_folder_of_the_name_onnx_has_its_files_beside_the_model(tmp_path):
    embedding = OnnxEmbedding(f"onnx:{encoder_in(tmp_path / 'onnx', first_token=True)}")
    assert embedding._by_first_token


@pytest.mark.parametrize(
    ("config", "first"),
    [
        ({"pooling_mode": "cls"}, True),
        ({"pooling_mode": "mean"}, False),
        ({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True, "include_prompt": True}, False),
    ],
)
def test_the_pooling_is_read_in_both_forms(tmp_path, config, first):
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(config))
    assert OnnxEmbedding(f"onnx:{encoder_in(tmp_path)}")._by_first_token is first


def test_a_pooling_that_is_not_done_is_refused(tmp_path):
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text('{"pooling_mode_lasttoken": true}')
    with pytest.raises(
        UsageError, match=r"config.json asks for the pooling lasttoken; only mean and cls are done"
    ):
        OnnxEmbedding(f"onnx:{encoder_in(tmp_path)}")


async def test_a_model_of_a_fixed_shape_gets_what_it_takes(tmp_path):
    fixed = OnnxEmbedding(f"onnx:{encoder_in(tmp_path / 'fixed', shape=(2, 4))}")
    free = OnnxEmbedding(f"onnx:{encoder_in(tmp_path / 'free')}")
    texts = ["book flight", "sort", "trip book flight"]
    assert np.allclose(await fixed.embed(texts), await free.embed(texts))


async def test_an_output_of_another_shape_is_told(tmp_path):
    embedding = OnnxEmbedding(f"onnx:{encoder_in(tmp_path, pooled='sentence_embedding', axes=(0, 1, 2))}")
    with pytest.raises(
        LLMError, match=r"its output sentence_embedding has the shape \(\), not a vector for each text"
    ):
        await embedding.embed(["book"])


def test_what_changes_the_vectors_changes_the_name(tmp_path):
    name = OnnxEmbedding(f"onnx:{encoder_in(tmp_path)}").name
    (tmp_path / "sentence_bert_config.json").write_text('{"max_seq_length": 3}')
    shorter = OnnxEmbedding(f"onnx:{tmp_path}").name
    encoder_in(tmp_path, first_token=True)
    assert len({name, shorter, OnnxEmbedding(f"onnx:{tmp_path}").name}) == 3


def test_another_model_under_the_same_name_has_an_index_of_its_own(tmp_path):
    before = OnnxEmbedding(f"onnx:{encoder_in(tmp_path)}").name
    assert OnnxEmbedding(f"onnx:{encoder_in(tmp_path, values=2.0)}").name != before


def test_what_is_no_model_says_what_is_wrong_and_what_to_do(tmp_path, monkeypatch):
    with pytest.raises(UsageError, match=r"There is no ONNX model at .*; give a folder with model.onnx"):
        OnnxEmbedding(f"onnx:{tmp_path}")
    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(UsageError, match=r"There is no ONNX model at .*~nobody"):
        OnnxEmbedding("onnx:~nobody-by-that-name/x")
    with pytest.raises(UsageError, match=r"There is no tokenizer.json beside .*model.onnx; copy it there"):
        OnnxEmbedding(f"onnx:{tmp_path}")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(UsageError, match=r"cannot be used as an embedding: .*model.onnx"):
        OnnxEmbedding(f"onnx:{tmp_path}")
    encoder_in(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(UsageError, match="cannot be used as an embedding"):
        OnnxEmbedding(f"onnx:{tmp_path}")
    encoder_in(tmp_path)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    command = ".*install .*'onnxruntime>=.*tokenizers>="
    with pytest.raises(
        UsageError, match=f"needs the package onnxruntime, which is not installed; run: {command}"
    ):
        OnnxEmbedding(f"onnx:{tmp_path}")


async def test_a_model_that_gives_no_numbers_says_so(tmp_path):
    embedding = OnnxEmbedding(f"onnx:{encoder_in(tmp_path, values=float('nan'))}")
    with pytest.raises(LLMError, match="cannot be used: some are empty or not numbers"):
        await embedding.embed(["book"])


async def test_a_setting_names_it_and_asks_no_server(tmp_path):
    llms = open_llms(Settings(database=tmp_path / "traces.db"), config_folder=tmp_path)
    name = f"onnx:{encoder_in(tmp_path / 'encoder')}"
    assert (await llms.embedding(name).embed(["book"])).shape == (1, 2)
    assert llms.keys_for((), name) == {}
