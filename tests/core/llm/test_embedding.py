import json

import numpy as np
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from core.llm.embedding import BATCH, EndpointEmbedding
from core.schema.errors import LLMError


@pytest.fixture
def server():
    with HTTPServer(host="127.0.0.1") as server:
        yield server


def serve(server: HTTPServer, vectors) -> list[int]:
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
                    "usage": {"prompt_tokens": 1, "total_tokens": 1},
                }
            ),
            content_type="application/json",
        )

    server.expect_request("/v1/embeddings").respond_with_handler(answer)
    return sizes


async def embedded(server: HTTPServer, texts, **more):
    embedding = EndpointEmbedding(base_url=server.url_for("/v1"), model="m", **more)
    try:
        return await embedding.embed(texts)
    finally:
        await embedding.close()


async def test_texts_are_sent_in_batches_and_come_back_in_order_at_unit_length(server):
    sizes = serve(server, lambda text: [float(text), 1.0])
    rows = await embedded(server, [str(n) for n in range(BATCH + 3)])
    assert sizes == [BATCH, 3]
    assert np.allclose(rows[5], np.array([5.0, 1.0]) / np.sqrt(26.0))


@pytest.mark.parametrize("vector", [[0.0, 0.0], [float("inf"), 1.0]])
async def test_vectors_that_cannot_be_compared_are_refused(server, vector):
    serve(server, lambda text: vector)
    with pytest.raises(LLMError, match="cannot be"):
        await embedded(server, ["a"])


async def test_vectors_of_different_lengths_are_refused(server):
    serve(server, lambda text: [1.0] * len(text))
    with pytest.raises(LLMError, match="not of one length"):
        await embedded(server, ["a", "bb"])


async def test_a_refusal_says_who_refused_and_why(server):
    server.expect_request("/v1/embeddings").respond_with_json(
        {"error": {"message": "no such model"}}, status=404
    )
    with pytest.raises(LLMError, match=r"m at http.* refused to embed \(404\)"):
        await embedded(server, ["a"])


async def test_a_server_that_is_not_there_is_named():
    embedding = EndpointEmbedding(base_url="http://127.0.0.1:9/v1", model="m", timeout=2)
    embedding._client.max_retries = 0
    with pytest.raises(LLMError, match="is the server running"):
        await embedding.embed(["a"])
    await embedding.close()
