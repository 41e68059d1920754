"""What an agent gets that takes the gateway for its LLM server: asked with the openai package, as agents do."""

import asyncio
import json

import httpx2
import openai
import pytest
from openai import AsyncAzureOpenAI, AsyncOpenAI
from starlette.applications import Starlette
from starlette.routing import Mount
from werkzeug import Response

from core.attach import gateway as gateway_module
from core.attach.gateway import AgentQuestion, Gateway
from core.attach.partly import Partly
from core.attach.server import AgentServer
from core.attach.upstream import QuestionLLM, answer_beside, refuse
from core.attach.wire_formats import CHAT, RESPONSES
from core.llm.openai_compatible import OpenAICompatibleLLM
from core.schema.errors import LLMError
from core.schema.messages import LLMReply, Message, ToolCall, Usage
from tests.llm_server import call

MESSAGES = [{"role": "user", "content": "Buy herbal tea"}]
CLICK = {
    "type": "function",
    "function": {
        "name": "click",
        "description": "Click it",
        "parameters": {"type": "object", "properties": {"at": {"type": "integer"}}},
    },
}


class Stage:
    """A gateway on its server, whose questions `ask` answers."""

    def __init__(self, llm):
        self.llm = llm
        self.questions = []
        self.replies = []
        self.holds = False
        self.rewrite = lambda request: request
        self.edit = lambda reply: reply
        self.notices = []
        self.partly = Partly(lambda: True)
        self.partly.on_notice = self.notices.append
        self.gateway = Gateway(self.ask, lambda path, body: answer_beside(self.llm, path, body), self.partly)
        routes = [Mount("/v1", self.gateway.app()), Mount("/", self.gateway.app())]
        self.server = AgentServer(Starlette(routes=routes))

    async def ask(self, question):
        self.questions.append(question)
        forwarded = QuestionLLM(question, self.llm, holds_replies=self.holds)
        try:
            reply = await forwarded.reply(self.rewrite(question.request))
        except LLMError as error:
            refuse(question, error)
            return
        self.replies.append(reply)
        forwarded.complete(await self._edited(reply))

    async def _edited(self, reply):
        edited = self.edit(reply)
        return await edited if asyncio.iscoroutine(edited) else edited

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.port}/v1"

    def client(self, **settings):
        given = {
            "api_key": self.gateway.key,
            "base_url": self.url,
            "max_retries": 0,
            "timeout": 20,
        } | settings
        return AsyncOpenAI(**given)


@pytest.fixture
async def stage(llm_server):
    llm_server.key = "sk-the-users-own"
    llm = OpenAICompatibleLLM(
        "mine", base_url=llm_server.base_url, model="test-model", key="sk-the-users-own"
    )
    made = Stage(llm)
    await made.server.start()
    yield made
    await made.gateway.close()
    await made.server.close()
    await llm.close()


async def test_a_chat_completion_is_that_of_the_users_server(stage, llm_server):
    llm_server.say("I click it.", call("click", at=3))
    async with stage.client() as client:
        answer = await client.chat.completions.create(model="gpt-4", messages=MESSAGES, tools=[CLICK])
    message = answer.choices[0].message
    assert message.content == "I click it."
    assert json.loads(message.tool_calls[0].function.arguments) == {"at": 3}
    assert answer.usage.prompt_tokens == 100
    (asked,) = llm_server.requests
    assert asked.body["model"] == "test-model"
    assert asked.body["tools"] == [CLICK]
    assert stage.questions[0].request.tools[0].name == "click"
    assert stage.replies[0].tool_calls[0].name == "click"
    assert stage.replies[0].usage == Usage(prompt_tokens=100, completion_tokens=10)


async def test_an_answer_that_repeats_the_key_goes_back_as_it_came_and_is_hidden_where_it_is_stored(
    stage, llm_server
):
    llm_server.key = "sk-0123456789abcdef"
    stage.llm = OpenAICompatibleLLM("keyed", base_url=llm_server.base_url, key=llm_server.key)
    llm_server.say(f"Your key is {llm_server.key}.")
    async with stage.client() as client:
        answer = await client.chat.completions.create(model="gpt-4", messages=MESSAGES)
    assert answer.choices[0].message.content == stage.replies[0].text == "Your key is sk-0123456789abcdef."
    assert QuestionLLM(stage.questions[0], stage.llm, holds_replies=False).hidden == (llm_server.key,)
    await stage.llm.close()


async def test_a_streamed_completion_goes_back_in_the_pieces_it_comes_in(stage, llm_server):
    llm_server.say("One two three four five six seven.")
    async with stage.client() as client:
        stream = await client.chat.completions.create(model="gpt-4", messages=MESSAGES, stream=True)
        pieces = [chunk.choices[0].delta.content async for chunk in stream if chunk.choices]
    assert "".join(filter(None, pieces)) == "One two three four five six seven."
    assert len(pieces) > 3
    assert stage.replies[0].text == "One two three four five six seven."


async def test_what_the_agent_sends_reaches_the_server_as_it_is(stage, llm_server):
    llm_server.say("ok")
    messages = [
        {
            "role": "developer",
            "content": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "x"}}],
        },
        {"role": "user", "name": "ada", "content": "Go"},
    ]
    async with stage.client() as client:
        await client.chat.completions.create(
            model="gpt-4", messages=messages, logit_bias={"5": 1}, extra_body={"top_k": 3}
        )
    body = llm_server.requests[0].body
    assert body["messages"] == messages
    assert body["logit_bias"] == {"5": 1}
    assert body["top_k"] == 3
    assert [one.role for one in stage.questions[0].request.messages] == ["system", "user"]


async def test_an_edited_request_is_sent_with_the_other_messages_as_they_came(stage, llm_server):
    llm_server.say("ok")
    messages = [{"role": "user", "name": "ada", "content": "One"}, {"role": "user", "content": "Two"}]

    def rewrite(request):
        first, second = request.messages
        return request.replace(messages=(first, second.replace(text="Three")))

    stage.rewrite = rewrite
    async with stage.client() as client:
        await client.chat.completions.create(model="gpt-4", messages=messages)
    assert llm_server.requests[0].body["messages"] == [messages[0], {"role": "user", "content": "Three"}]


def test_of_messages_that_read_alike_each_stays_as_it_came():
    alike = [{"role": "user", "name": name, "content": "Go"} for name in ("ada", "bob", "eve")]
    chat = {"messages": alike}
    responses = {
        "instructions": "Be brief.",
        "input": [{"role": "user", "id": name, "content": "Go"} for name in "abc"],
    }
    for format, body, items in ((CHAT, chat, "messages"), (RESPONSES, responses, "input")):
        asked = format.read(body)
        *before, first, second, third = asked.messages
        edited = asked.replace(messages=(*before, first.replace(text="Stop"), second, third))
        assert format.rewritten(body, asked, edited)[items][1:] == body[items][1:]
        moved = asked.replace(messages=(*before, first.replace(text="Stop"), first, second, third))
        assert format.rewritten(body, asked, moved)[items][2:] == [*body[items][2:], body[items][0]]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_reply_that_a_person_writes_reaches_the_agent(stage, llm_server, stream):
    llm_server.say("I click it.")
    stage.holds = True
    other = (ToolCall(id="c1", name="click", arguments='{"at": 9}'),)
    stage.edit = lambda reply: reply.replace(text="No, this one.", tool_calls=other)
    async with stage.client() as client:
        if stream:
            async with client.chat.completions.stream(model="gpt-4", messages=MESSAGES) as events:
                answer = await events.get_final_completion()
        else:
            answer = await client.chat.completions.create(model="gpt-4", messages=MESSAGES)
    message = answer.choices[0].message
    assert message.content == "No, this one."
    assert message.tool_calls[0].function.arguments == '{"at": 9}'
    assert answer.choices[0].finish_reason == "tool_calls"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_reply_of_another_llm_is_written_as_a_response(stage, stream):
    class Other:
        name, takes_images = "other", False

        async def reply(self, request, *, on_text=None, on_retry=None):
            assert request.messages == (
                Message(role="system", text="Be brief."),
                Message(role="user", text="Go"),
            )
            calls = (ToolCall(id="c1", name="click", arguments='{"at": 3}'),)
            return LLMReply(text="I click.", reasoning="Hm.", tool_calls=calls, model="other")

    stage.llm = Other()
    async with stage.client() as client:
        asked = {"model": "gpt-4", "instructions": "Be brief.", "input": "Go"}
        if stream:
            async with client.responses.stream(**asked) as events:
                kinds = [event.type async for event in events]
                answer = await events.get_final_response()
            assert "response.output_text.delta" in kinds
        else:
            answer = await client.responses.create(**asked)
    assert answer.output_text == "I click."
    assert answer.status == "completed"
    (called,) = [item for item in answer.output if item.type == "function_call"]
    assert (called.call_id, called.name, called.arguments) == ("c1", "click", '{"at": 3}')


async def test_a_server_without_responses_is_asked_for_a_chat_completion(stage, llm_server):
    llm_server.say("I click it.", call("click", at=3))
    async with stage.client() as client:
        answer = await client.responses.create(model="gpt-4", instructions="Be brief.", input="Go")
    assert answer.output_text == "I click it."
    assert [one["role"] for one in llm_server.requests[0].body["messages"]] == ["system", "user"]


async def test_the_items_of_a_response_are_messages(stage):
    seen = []

    class Other:
        name, takes_images = "other", False

        async def reply(self, request, *, on_text=None, on_retry=None):
            seen.append(request)
            return LLMReply(text="done", model="other")

    stage.llm = Other()
    given = [
        {"role": "user", "content": [{"type": "input_text", "text": "Look"}]},
        {"type": "function_call", "call_id": "c1", "name": "click", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "clicked"},
    ]
    tool = {"type": "function", "name": "click", "parameters": {"type": "object"}}
    async with stage.client() as client:
        await client.responses.create(model="gpt-4", input=given, tools=[tool])
    assert seen[0].messages == (
        Message(role="user", text="Look"),
        Message(role="assistant", tool_calls=(ToolCall(id="c1", name="click"),)),
        Message(role="tool", text="clicked", tool_call_id="c1"),
    )
    assert seen[0].tools[0].name == "click"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_client_that_waits_is_sent_signs_of_life(stage, llm_server, monkeypatch, stream):
    monkeypatch.setattr(gateway_module, "_BEAT", 0.05)
    llm_server.say("At last.")
    stage.holds = True
    go_on = asyncio.Event()

    async def wait(reply):
        await go_on.wait()
        return reply

    stage.edit = wait
    body = {"model": "m", "messages": MESSAGES, "stream": stream}
    headers = {"Authorization": f"Bearer {stage.gateway.key}"}
    came = b""
    async with (
        httpx2.AsyncClient() as client,
        client.stream("POST", f"{stage.url}/chat/completions", json=body, headers=headers) as answer,
    ):
        async for piece in answer.aiter_raw():
            came += piece
            if len(came) >= 2:
                go_on.set()
    assert came.startswith(b": held" if stream else b"  ")
    assert b"At last." in came or stream
    if not stream:
        assert json.loads(came)["choices"][0]["message"]["content"] == "At last."


async def test_a_refusal_of_the_server_is_one_for_the_agent(stage, llm_server):
    llm_server.fail(429, "slow down")
    async with stage.client() as client:
        with pytest.raises(openai.RateLimitError, match="slow down"):
            await client.chat.completions.create(model="gpt-4", messages=MESSAGES)


@pytest.fixture
def alive(monkeypatch):
    """Is set once a sign of life goes out, which is soon."""
    monkeypatch.setattr(gateway_module, "_BEAT", 0.05)
    alive, sign = asyncio.Event(), AgentQuestion._sign_of_life.fget
    monkeypatch.setattr(AgentQuestion, "_sign_of_life", property(lambda self: alive.set() or sign(self)))
    return alive


async def test_a_client_asks_again_if_its_call_fails_after_a_sign_of_life(stage, llm_server, alive, caplog):
    llm_server.fail(503, "overloaded")
    llm_server.say("At last.")
    ask = stage.gateway._ask

    async def late(question):
        await alive.wait()
        await ask(question)

    stage.gateway._ask = late
    async with stage.client(max_retries=1) as client:
        answer = await client.chat.completions.create(model="gpt-4", messages=MESSAGES)
    assert answer.choices[0].message.content == "At last."
    assert len(stage.questions) == 2
    assert all(record.name != "uvicorn.error" for record in caplog.records)


async def test_a_stream_that_fails_after_a_sign_of_life_says_why(stage, alive):
    async def ask(question):
        await alive.wait()
        refuse(question, LLMError("The server is overloaded."))

    stage.gateway._ask = ask
    async with stage.client() as client:
        stream = await client.chat.completions.create(model="gpt-4", messages=MESSAGES, stream=True)
        with pytest.raises(openai.APIError, match="overloaded"):
            [chunk async for chunk in stream]


async def test_a_server_that_is_gone_is_a_bad_gateway(stage, unused_tcp_port):
    stage.llm = OpenAICompatibleLLM("gone", base_url=f"http://127.0.0.1:{unused_tcp_port}/v1")
    async with stage.client() as client:
        with pytest.raises(openai.InternalServerError, match=r"127\.0\.0\.1"):
            await client.chat.completions.create(model="gpt-4", messages=MESSAGES)
    await stage.llm.close()


async def test_whoever_has_not_the_token_is_refused(stage):
    async with stage.client(api_key="sk-guessed") as client:
        with pytest.raises(openai.AuthenticationError, match="OPENAI_API_KEY"):
            await client.chat.completions.create(model="gpt-4", messages=MESSAGES)
        with pytest.raises(openai.AuthenticationError):
            await client.models.list()
    assert stage.questions == []


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'"text"', b"\xff", b"[" * 100_000])
async def test_a_body_that_is_no_request_is_refused_with_a_sentence(stage, body):
    headers = {"Authorization": f"Bearer {stage.gateway.key}"}
    async with httpx2.AsyncClient() as client:
        answer = await client.post(f"{stage.url}/chat/completions", content=body, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith("The body is not")


async def test_an_agent_that_goes_away_is_noticed(stage):
    asked = asyncio.Event()

    async def wait(question: AgentQuestion):
        stage.questions.append(question)
        asked.set()
        await question.left.wait()

    stage.gateway._ask = wait
    async with stage.client() as client:
        asking = asyncio.ensure_future(client.chat.completions.create(model="m", messages=MESSAGES))
        await asked.wait()
        asking.cancel()
        await asyncio.wait([asking])
        async with asyncio.timeout(20):
            await stage.questions[0].left.wait()


async def test_models_and_embeddings_are_answered(stage):
    async with stage.client() as client:
        assert [one.id async for one in client.models.list()] == ["mine"]
        stage.llm = type("Other", (), {"name": "rules"})()
        made = await client.embeddings.create(model="e", input=["one", "two"])
    assert len(made.data) == 2
    assert made.data[0].embedding != made.data[1].embedding


async def test_a_request_for_embeddings_reaches_the_users_server_as_it_came(stage, httpserver):
    seen, counted = [], []

    def answer(request):
        seen.append(request.get_json())
        return Response(json.dumps({"data": [], "usage": {"prompt_tokens": 7}}), mimetype="application/json")

    httpserver.expect_request("/v1/embeddings").respond_with_handler(answer)
    stage.llm = OpenAICompatibleLLM("mine", base_url=httpserver.url_for("/v1"), model="chat")
    stage.llm.meter.count = lambda usage, cost, model, answered: counted.append((usage.prompt_tokens, model))
    asked = {
        "model": "e-3",
        "input": [[1, 2], [3]],
        "dimensions": 64,
        "encoding_format": "base64",
        "user": "ada",
    }
    async with httpx2.AsyncClient() as client:
        headers = {"Authorization": f"Bearer {stage.gateway.key}"}
        for body in (asked, {"input": "one"}):
            got = await client.post(f"{stage.url}/embeddings", json=body, headers=headers)
            assert got.status_code == 200
    assert seen == [asked, {"input": "one", "model": "chat", "encoding_format": "float"}]
    assert counted == [(7, "e-3"), (7, "chat")]
    await stage.llm.close()


@pytest.mark.parametrize(
    ("answer", "status", "text"),
    [(["no object"], 200, "no object"), (LLMError("The key was refused."), 502, "refused")],
)
async def test_an_odd_answer_for_embeddings_and_an_error_of_the_client_reach_the_agent(
    stage, monkeypatch, answer, status, text
):
    async def embeddings(self, body):
        if isinstance(answer, LLMError):
            raise answer
        return answer

    monkeypatch.setattr(type(stage.llm), "embeddings", embeddings)
    async with httpx2.AsyncClient() as client:
        headers = {"Authorization": f"Bearer {stage.gateway.key}"}
        got = await client.post(f"{stage.url}/embeddings", json={"input": "one"}, headers=headers)
    assert got.status_code == status
    assert text in got.text


@pytest.mark.parametrize("path", ["", "/v1"])
async def test_the_paths_of_azure_are_served(stage, llm_server, path):
    llm_server.say("I click it.")
    azure = {"azure_endpoint": stage.url.removesuffix("/v1") + path, "api_version": "2024-10-21"}
    async with AsyncAzureOpenAI(api_key=stage.gateway.key, max_retries=0, **azure) as client:
        answer = await client.chat.completions.create(model="mine", messages=MESSAGES)
        assert answer.choices[0].message.content == "I click it."
        stage.llm = type("Other", (), {"name": "rules"})()
        assert len((await client.embeddings.create(model="mine", input="one")).data) == 1
    assert stage.notices == []


UNSERVED = {
    "/v1/messages": ("Anthropic", ("error", "message")),
    "/v1/v1/messages": ("Anthropic", ("error", "message")),
    "/v1beta/models/gemini-2.5-pro:generateContent": ("Gemini", ("error", "message")),
    "/v1beta/models/gemini-2.5-pro:streamGenerateContent": ("Gemini", ("error", "message")),
    "/v1/v1beta/models/gemini-2.5-pro:generateContent": ("Gemini", ("error", "message")),
    "/v1/projects/p/locations/l/publishers/google/models/g:generateContent": ("Gemini", ("error", "message")),
    "/api/chat": ("Ollama", ("error",)),
    "/v1/api/generate": ("Ollama", ("error",)),
    "/v2/chat": ("Cohere", ("message",)),
    "/v1/completions": ("OpenAI's older completions", ("error", "message")),
    "/v1/openai/deployments/mine/completions": ("", ("error", "message")),
    "/v1/images/generations": ("", ("error", "message")),
}


@pytest.mark.parametrize(("path", "format", "place"), [(path, *told) for path, told in UNSERVED.items()])
async def test_a_format_that_is_not_served_is_refused_in_its_own_shape_and_told_once(
    stage, path, format, place
):
    stage.partly.llm = stage.url
    async with httpx2.AsyncClient() as client:
        for _ in range(2):
            answer = await client.post(stage.url.removesuffix("/v1") + path, json={"model": "m"})
    assert answer.status_code == 404
    said = answer.json()
    for name in place:
        said = said[name]
    assert stage.notices == [said]
    assert said.startswith(f"POST {path} is a ")
    assert f"in the format of {format}, which" in said or not format
    assert said.endswith(f"set its base URL to OPENAI_BASE_URL ({stage.url}) and its key to OPENAI_API_KEY.")


async def test_what_only_asks_what_is_there_is_refused_and_not_told(stage):
    async with httpx2.AsyncClient() as client:
        for path in ("/", "/api/tags", "/favicon.ico"):
            answer = await client.get(stage.url.removesuffix("/v1") + path)
            assert answer.status_code == 404
            assert "Backstep does not serve" in answer.text
    assert stage.notices == []


async def test_another_key_is_told(stage):
    async with stage.client(api_key="sk-its-own") as client:
        with pytest.raises(openai.AuthenticationError):
            await client.chat.completions.create(model="gpt-4", messages=MESSAGES)
    assert stage.notices == [
        "The agent's LLM call was refused: This is not the key that Backstep gave the agent (OPENAI_API_KEY)."
    ]
