import json
from pathlib import Path

import numpy as np
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from core.llm.costs import Price, Prices, count_tokens
from core.llm.embedding import BATCH, EndpointEmbedding, HashedWords
from core.llm.endpoints import Keys
from core.llm.limits import Limits, Meter
from core.llm.openai_compatible import OpenAICompatibleLLM
from core.llm.registry import LLMs
from core.schema.errors import LLMError
from core.settings.settings import LLMSettings, Settings, load_settings


@pytest.fixture
def server():
    with HTTPServer(host="127.0.0.1") as server:
        yield server


def serve(server: HTTPServer, vectors, used=1) -> list[int]:
    sizes: list[int] = []

    def answer(request: Request) -> Response:
        texts = json.loads(request.data)["input"]
        sizes.append(len(texts))
        data = [
            {"object": "embedding", "index": number, "embedding": vectors(text)}
            for number, text in reversed(list(enumerate(texts)))
        ]
        return Response(
            json.dumps(
                {
                    "object": "list",
                    "data": data,
                    "model": "m",
                    "usage": {"prompt_tokens": used, "total_tokens": used},
                }
            ),
            content_type="application/json",
        )

    server.expect_request("/v1/embeddings").respond_with_handler(answer)
    return sizes


async def embedded(server: HTTPServer, texts, **more):
    embedding = EndpointEmbedding(OpenAICompatibleLLM("m", base_url=server.url_for("/v1"), **more))
    try:
        return await embedding.embed(texts)
    finally:
        await embedding.close()


async def test_texts_are_sent_in_batches_and_come_back_in_order_at_unit_length(server):
    sizes = serve(server, lambda text: [float(text), 1.0])
    rows = await embedded(server, [str(n) for n in range(BATCH + 3)])
    assert sizes == [BATCH, 3]
    assert np.allclose(rows[5], np.array([5.0, 1.0]) / np.sqrt(26.0))


async def test_embeddings_cost_what_the_server_counts_and_end_at_the_limit_of_the_user(server):
    sizes = serve(server, lambda text: [float(text), 1.0], used=BATCH * 1000)
    prices = Prices((Price(models=("m",), input=1, output=0),))
    meter = Meter()
    with pytest.raises(
        LLMError, match=r"has cost \$0.064 since the program started, and its max_cost is \$0.06"
    ):
        await embedded(server, ["1"] * (BATCH + 1), prices=prices, meter=meter, limits=Limits(max_cost=0.06))
    assert sizes == [BATCH]
    assert meter.spent == pytest.approx(0.064)


@pytest.mark.parametrize("used", [None, "many", -1])
async def test_embeddings_that_the_server_does_not_count_are_estimated(server, used):
    serve(server, lambda text: [1.0, 1.0], used=used)
    meter = Meter()
    await embedded(
        server, ["one two three"], prices=Prices((Price(models=("m",), input=1, output=0),)), meter=meter
    )
    assert meter.spent == pytest.approx(count_tokens("one two three") / 1e6)


async def test_embeddings_wait_at_a_rate(server, monkeypatch):
    sizes = serve(server, lambda text: [1.0, 1.0])
    waits = []
    monkeypatch.setattr("core.llm.limits._MINUTE", 0.5)
    waited = Meter.wait
    monkeypatch.setattr(Meter, "wait", lambda self, *given: waits.append(waited(self, *given)) or waits[-1])
    await embedded(server, ["1"] * (BATCH + 1), limits=Limits(requests_per_minute=1))
    assert sizes == [BATCH, 1]
    assert "requests_per_minute = 1" in [limit for wait, limit in waits if wait > 0]


@pytest.mark.parametrize("vector", [[0.0, 0.0], [float("inf"), 1.0]])
async def test_vectors_that_cannot_be_compared_are_refused(server, vector):
    serve(server, lambda text: vector)
    with pytest.raises(LLMError, match="cannot be"):
        await embedded(server, ["a"])


async def test_vectors_of_different_lengths_are_refused(server):
    serve(server, lambda text: [1.0] * len(text))
    with pytest.raises(LLMError, match="different lengths"):
        await embedded(server, ["a", "bb"])


async def test_a_refusal_says_who_refused_and_why(server):
    server.expect_request("/v1/embeddings").respond_with_json(
        {"error": {"message": "no such model"}}, status=404
    )
    with pytest.raises(LLMError, match=r"m at http.* refused to embed \(404\)"):
        await embedded(server, ["a"])


async def test_a_server_that_is_not_there_is_named():
    llm = OpenAICompatibleLLM("m", base_url="http://127.0.0.1:9/v1", timeout_seconds=2, attempts=1)
    embedding = EndpointEmbedding(llm)
    with pytest.raises(LLMError, match="is the server running"):
        await embedding.embed(["a"])
    await embedding.close()


async def test_headers_body_and_the_settings_of_azure_are_those_of_the_entry(server):
    asked: list[Request] = []

    def answer(request: Request) -> Response:
        asked.append(request)
        data = [{"object": "embedding", "index": 0, "embedding": [3.0, 4.0]}]
        return Response(
            json.dumps({"object": "list", "data": data, "model": "m", "usage": {}}),
            content_type="application/json",
        )

    path = "/openai/deployments/mine/embeddings"
    server.expect_request(path, query_string="api-version=2024-10-21").respond_with_handler(answer)
    entry = LLMSettings(
        base_url=server.url_for("/"),
        model="text-embedding-3-small",
        api_version="2024-10-21",
        deployment="mine",
        headers={"X-Team": "web"},
        body={"dimensions": 2},
        key_name="A_KEY",
    )
    settings = Settings(database=Path("/tmp/traces.db"), llms={"vectors": entry})
    llms = LLMs(settings, keys=Keys(environ={"A_KEY": "k-1"}))
    rows = await llms.embedding("vectors").embed(["a"])
    await llms.close()
    assert rows.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)]]
    (request,) = asked
    assert (request.headers["X-Team"], request.headers["api-key"]) == ("web", "k-1")
    assert json.loads(request.data)["dimensions"] == 2


@pytest.mark.parametrize(
    ("name", "file", "address"),
    [
        ("vectors", "", "http://vectors.test/v1"),
        ("bare", "http://file.test/v1", "http://file.test/v1"),
        ("bare", "", "https://api.openai.com/v1"),
        ("some-model", "http://file.test/v1", "http://file.test/v1"),
        # Nothing but the flag says where it is, and no text goes to a server that nobody has named.
        ("some-model", "", "http://flag.test/v1"),
    ],
)
async def test_the_flag_for_the_address_redirects_chat_and_no_embeddings(tmp_path, name, file, address):
    (tmp_path / "settings.toml").write_text(
        (f'base_url = "{file}"\n' if file else "")
        + '[llms.vectors]\nbase_url = "http://vectors.test/v1"\nmodel = "m"\n[llms.bare]\nmodel = "m"\n'
    )
    environ = {"BACKSTEP_CONFIG_DIR": str(tmp_path), "BACKSTEP_DATA_DIR": str(tmp_path)}
    settings = load_settings({"base_url": "http://flag.test/v1"}, environ=environ)
    llms = LLMs(settings, keys=Keys(environ={}))
    assert llms.embedding(name).name.endswith(f" at {address}")
    chat = llms.get("vectors")
    assert isinstance(chat, OpenAICompatibleLLM)
    assert chat.base_url == "http://flag.test/v1"
    await llms.close()


# The built-in one


async def distances(text: str, *others: str) -> list[float]:
    vectors = await HashedWords().embed([text, *others])
    return [float(np.linalg.norm(vectors[0] - row)) for row in vectors[1:]]


async def test_the_task_counts_beside_a_long_page_as_it_does_beside_a_short_one():
    posts = "\n".join(f'[{n}] link "post {n} by somebody about something"' for n in range(200))
    same_task, same_page = await distances(
        f"Task: Like 3 posts by @ann.\nState:\n{posts}",
        "Task: Like 7 posts by @bob.\nState:\n" + "\n".join(f'[{n}] link "offer {n}"' for n in range(200)),
        f"Task: Write to the shop about a parcel.\nState:\n{posts}",
    )
    assert same_task < same_page


async def test_the_roles_of_a_page_tell_equal_tasks_apart():
    radios, boxes = await distances(
        'Task: Select abc and click Submit.\nState:\n[1] radio "abc"\n[2] radio "xy"\n[3] button "Submit"',
        'Task: Select efg and click Submit.\nState:\n[1] radio "efg"\n[2] radio "qqq"\n[3] button "Submit"',
        'Task: Select efg and click Submit.\nState:\n[1] checkbox "efg"\n[2] checkbox "xy"\n[3] button "Submit"',
    )
    assert radios < boxes
