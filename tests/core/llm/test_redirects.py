"""Redirects of LLM servers: none is followed, so no prompt and no key goes to an address that the user did not give."""

import re

import httpx2
import openai
import pytest
from pytest_httpserver import HTTPServer

from core.attach.gateway import AgentQuestion
from core.attach.upstream import QuestionLLM, answer_beside
from core.attach.wire_formats import CHAT
from core.llm.embedding import EndpointEmbedding
from core.llm.endpoint_check import check_endpoint
from core.llm.errors import REDIRECT, RelayError, from_exception
from core.llm.openai_compatible import OpenAICompatibleLLM
from core.llm.probes import Prober
from core.schema.errors import LLMError, LLMRefused
from tests.core.llm.asking import KEY, ask, make
from tests.llm_server import LLMServer

STATUSES = [301, 302, 303, 307, 308]


@pytest.fixture
def server():
    with HTTPServer(host="127.0.0.1") as server:
        yield server


@pytest.fixture
def elsewhere():
    with LLMServer() as server:
        yield server


@pytest.fixture
async def llm(server):
    llm = OpenAICompatibleLLM(
        "mine",
        base_url=server.url_for("/v1"),
        model="test-model",
        key=KEY,
        headers={"X-Team": "$TEAM"},
        find_secret=lambda name: "team-secret-12345",
        first_wait=0.001,
        timeout_seconds=20,
    )
    yield llm
    await llm.close()


def redirect(server: HTTPServer, location: str | None, status: int = 307, **headers: str) -> None:
    given = {} if location is None else {"Location": location}
    server.expect_request(re.compile(".*")).respond_with_data("", status, {**given, **headers})


async def refused(llm: OpenAICompatibleLLM) -> str:
    with pytest.raises(LLMRefused) as caught:
        await llm.reply(ask())
    return str(caught.value)


@pytest.mark.parametrize("status", STATUSES)
async def test_a_redirect_to_another_server_is_refused_at_once_and_said(server, elsewhere, llm, status):
    target = f"http://localhost:{elsewhere.port}/v1/chat/completions"
    redirect(server, target, status)
    said = await refused(llm)
    assert said == (
        f"The LLM server at http://127.0.0.1:{server.port} redirects to {target} on another server, and redirects "
        "are not followed; correct base_url of the LLM mine if the server has moved."
    )
    assert len(server.log) == 1
    assert elsewhere.connections == 0


async def ask_relay(llm: OpenAICompatibleLLM) -> None:
    question = AgentQuestion(CHAT, {"model": "m", "messages": [{"role": "user", "content": "hi"}]})
    await QuestionLLM(question, llm, holds_replies=False).reply(question.request)


async def ask_beside(llm: OpenAICompatibleLLM) -> None:
    answer = await answer_beside(llm, "/embeddings", {"input": "text"})
    assert answer.status_code == 502
    raise LLMError(bytes(answer.body).decode())


async def ask_check(llm: OpenAICompatibleLLM) -> None:
    raise LLMError(await check_endpoint(llm))


WAYS = {
    "reply": lambda llm: llm.reply(ask()),
    "relay": ask_relay,
    "embeddings of an agent": ask_beside,
    "models": OpenAICompatibleLLM.models,
    "check": ask_check,
    "embedding": lambda llm: EndpointEmbedding(llm).embed(["text"]),
    "probe": lambda llm: Prober(llm, lambda text: None).probe(),
}


@pytest.mark.parametrize("way", WAYS)
async def test_no_kind_of_call_follows_a_redirect_or_asks_again(server, elsewhere, llm, way):
    redirect(server, f"{elsewhere.base_url}/x", **{"x-should-retry": "true"})
    with pytest.raises(LLMError, match=rf"redirects to http://127\.0\.0\.1:{elsewhere.port}/v1/x, and"):
        await WAYS[way](llm)
    assert len(server.log) == 1
    assert elsewhere.connections == 0


async def test_the_client_of_an_agent_is_told_that_the_gateway_failed_and_not_to_go_elsewhere(server, llm):
    redirect(server, "http://localhost:9/v1/chat/completions")
    with pytest.raises(RelayError) as caught:
        await ask_relay(llm)
    assert caught.value.status == 0


@pytest.mark.parametrize(
    ("location", "base"),
    [
        ("/api/v1/chat/completions", "http://127.0.0.1:{port}/api/v1"),
        ("../openai/v1/chat/completions", "http://127.0.0.1:{port}/v1/openai/v1"),
        ("https://127.0.0.1:{port}/v1/chat/completions?token=abc", "https://127.0.0.1:{port}/v1"),
        ("//127.0.0.1:1/v1/chat/completions", "http://127.0.0.1:1/v1"),
    ],
)
async def test_for_another_address_of_the_same_host_the_base_url_to_set_is_named(server, llm, location, base):
    redirect(server, location.format(port=server.port))
    assert (await refused(llm)).endswith(
        f"redirects are not followed; set base_url of the LLM mine to {base.format(port=server.port)}."
    )


@pytest.mark.parametrize("location", ["/login?next=/v1", "/v1/chat/completions", "/v1/chat/completions/?a=b"])
async def test_where_no_base_url_is_known_to_help_none_is_named(server, llm, location):
    redirect(server, location)
    path = location.partition("?")[0]
    assert (await refused(llm)).endswith(
        f"redirects to {server.url_for(path)}, and redirects are not followed; correct base_url of the LLM mine."
    )


@pytest.mark.parametrize("location", [None, "", " ", "mailto:me@example.com", "http://a:b/"])
@pytest.mark.parametrize("status", [300, 304, *STATUSES])
async def test_a_redirect_without_a_valid_address_is_refused_at_once(llm_server, status, location):
    llm_server.fail(status, "moved", headers={} if location is None else {"Location": location})
    llm = make(llm_server)
    said = await refused(llm)
    await llm.close()
    assert said.endswith(
        f"sent a redirect ({status}) without a valid address; correct base_url of the LLM test-model."
    )
    assert len(llm_server.requests) == 1


async def test_secrets_in_the_address_of_a_redirect_are_not_repeated(server, llm):
    redirect(
        server,
        f"http://user:pass@localhost:9/{KEY}/team-secret-12345/v1/chat/completions?key={KEY}&s=abc#frag",
    )
    said = await refused(llm)
    assert "http://localhost:9/[key]/[key]/v1/chat/completions on another server" in said
    for secret in (KEY, "team-secret", "user", "pass", "abc", "frag"):
        assert secret not in said


def test_an_address_without_encryption_is_never_proposed_in_place_of_one_with_it():
    asked = "https://llm.example/v1/chat/completions"
    extensions = {REDIRECT: asked.replace("https", "http")}
    response = httpx2.Response(307, request=httpx2.Request("POST", asked), extensions=extensions)
    error = openai.APIStatusError("redirected", response=response, body=None)
    said = from_exception(error, name="mine", secrets=(), timeout=1.0).reason
    assert said.endswith("redirects are not followed; correct base_url of the LLM mine")
