"""Nothing that a server sends raises anything but LLMError, holds a run for ever, or is taken without limit."""

import asyncio
import contextlib
import gzip
import json
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer

from core.llm import wire
from core.llm.embedding import EndpointEmbedding
from core.llm.endpoint_check import check_endpoint
from core.llm.openai_compatible import OpenAICompatibleLLM
from core.llm.openai_format import LONGEST_ARGUMENTS, LONGEST_TEXT, Assembly
from core.llm.repair import read_reply
from core.llm.replies import CUT, MOST_ACTIONS, load_json, plain
from core.schema.errors import LLMError
from core.schema.messages import LLMReply, LLMRequest, Message
from core.trace.encoding import decode_reply, encode_reply
from tests.core.llm.asking import ask, failure, make
from tests.llm_server import Call, LLMServer, Reply, call

EVENTS = "text/event-stream"
DEEP = "[" * 100_000 + "]" * 100_000


def event(value: object) -> str:
    return f"data: {value if isinstance(value, str) else json.dumps(value)}\n\n"


def chunk(delta: dict[str, object], **more: object) -> str:
    return event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}], **more})


END = event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}) + event("[DONE]")


def error_of(code: str) -> str:
    return '{"error": {"message": "busy", "code": ' + code + "}}"


class TestRepliesThatBroke:
    @pytest.mark.parametrize(
        ("reply", "words"),
        [
            pytest.param(Reply(body=DEEP), "is not JSON (it is nested too deep)", id="whole and nested"),
            pytest.param(
                Reply(body='{"choices": ' + "[" * 150 + "]" * 150 + "}"),
                "is not JSON (it is nested too deep)",
                id="whole and nested as deep as Python still reads",
            ),
            pytest.param(
                Reply(body=event(DEEP), content_type=EVENTS),
                "is not JSON (it is nested too deep)",
                id="nested in a chunk",
            ),
            pytest.param(
                Reply(body=chunk({"content": "half"}) + event(DEEP), content_type=EVENTS),
                "(it is nested too deep), half-way, after 4 characters",
                id="nested in a later chunk",
            ),
            pytest.param(
                Reply(body='{"error": ' * 500 + '"x"' + "}" * 500),
                "is not JSON (it is nested too deep)",
                id="an error nested in errors",
            ),
            pytest.param(
                Reply(status=400, body='{"error": ' * 500 + '"x"' + "}" * 500),
                "answered 400: HTTP status 400",
                id="a refusal nested in errors",
            ),
            pytest.param(Reply(body=error_of('"²"')), "broke off with an error: busy", id="code ²"),
            pytest.param(
                Reply(body=event(error_of('"²"')), content_type=EVENTS),
                "broke off with an error: busy",
                id="code ² in a chunk",
            ),
            pytest.param(
                Reply(body=error_of('"' + "1" * 5000 + '"')),
                "broke off with an error: busy",
                id="code of 5000 digits",
            ),
            pytest.param(
                Reply(body=error_of("1" * 5000)),
                "is not JSON (a number in it is too long)",
                id="code that is a number of 5000 digits",
            ),
            pytest.param(
                Reply(body='{"x": "' + "x" * wire.LARGEST_ANSWER + '"}'),
                "sent more than 2 MB, which is over the limit",
                id="whole and large",
            ),
            pytest.param(
                Reply(body=event("x" * (1 << 20) + "x"), content_type=EVENTS),
                "sent a piece of more than 1 MB, which is over the limit",
                id="a large chunk",
            ),
            pytest.param(
                Reply(body="data: " + "x" * (3 << 20), content_type=EVENTS),
                "sent a piece of more than 1 MB, which is over the limit",
                id="a chunk without an end",
            ),
            pytest.param(
                Reply(body=gzip.compress(b" " * 1_000_000), headers={"Content-Encoding": "gzip"}),
                "compressed its answer without being asked to",
                id="compressed",
            ),
            pytest.param(
                Reply(status=500, body=gzip.compress(b"{}"), headers={"Content-Encoding": "gzip"}),
                "compressed its answer without being asked to",
                id="a compressed refusal",
            ),
            pytest.param(
                Reply(status=418, body="<" * 1_000_000, content_type="text/html"),
                "answered 418: <<<",
                id="a refusal that only opens tags",
            ),
            pytest.param(
                Reply(status=418, body="<script" * 100_000, content_type="text/html"),
                "answered 418: ",
                id="a refusal that only opens scripts",
            ),
            pytest.param(Reply(status=400, body='"\\ud800 \\u0000"'), "answered 400: ", id="half a pair"),
        ],
    )
    async def test_it_is_one_sentence(self, llm_server, reply, words):
        llm = make(llm_server, attempts=1)
        llm_server.otherwise = reply
        began = time.thread_time()
        error = str(await failure(llm))
        assert time.thread_time() - began < 2
        await llm.close()
        assert words in error
        assert len(error) < 700
        assert plain(error) == error

    @pytest.mark.parametrize(
        "usage",
        [
            {"prompt_tokens": 10**30, "completion_tokens": 1},
            {"prompt_tokens": -5, "completion_tokens": 1},
            {"prompt_tokens": True},
            {"prompt_tokens": 1e400},
            {"prompt_tokens": [1]},
        ],
    )
    async def test_a_count_of_tokens_that_cannot_be_right_is_not_taken(self, llm_server, llm, usage):
        llm_server.say("ok", usage=usage)
        reply = await llm.reply(ask())
        assert reply.usage.estimated
        assert 0 < reply.usage.prompt_tokens < 1000

    async def test_numbers_that_are_no_json_beside_the_reply_do_not_matter(self, llm_server, llm):
        body = chunk({"content": "ok"}, probability=float("nan"), other=float("-inf")) + END
        llm_server.script(Reply(body=body, content_type=EVENTS))
        assert (await llm.reply(ask())).text == "ok"

    @pytest.mark.parametrize("whole", [True, False])
    async def test_words_are_as_a_database_and_a_window_keep_them(self, llm_server, llm, whole):
        odd = "a\ud800b\0c"
        llm_server.say(odd, Call(odd, odd, odd), reasoning=odd, model=odd, finish_reason=odd, whole=whole)
        heard: list[str] = []
        reply = await llm.reply(ask(), on_text=heard.append)
        assert reply.text == reply.reasoning == reply.model == reply.finish_reason == "a\ufffdb\ufffdc"
        assert reply.tool_calls[0].arguments == "a\ufffdb\ufffdc"
        assert "".join(heard) == "a\ufffdb\ufffdc"
        assert decode_reply(encode_reply(reply)[1][0]) == reply

    async def test_a_character_whose_halves_come_apart_is_whole_in_the_reply(self, llm_server, llm):
        body = chunk({"content": "a\ud83d"}) + chunk({"content": "\ude42b"}) + END
        llm_server.script(Reply(body=body, content_type=EVENTS))
        assert (await llm.reply(ask())).text == "a\U0001f642b"

    @pytest.mark.parametrize("kind", ["", "text/plain", "text/event-stream; charset=latin-1"])
    async def test_a_stream_of_another_type_is_read_all_the_same(self, llm_server, llm, kind):
        body = event('{"choices": [{"delta": {"content": "ä"}}]}') + "event: ping\ndata:\n\n" + END
        llm_server.script(Reply(body=body, content_type=kind))
        assert (await llm.reply(ask())).text == "ä"

    async def test_what_comes_after_the_end_does_not_hold_the_reply(self, llm_server, llm):
        body = chunk({"content": "ok"}) + END
        llm_server.script(Reply(body=body, content_type=EVENTS, drip=0.0))
        assert (await llm.reply(ask())).text == "ok"


class TestHowMuchIsTaken:
    @pytest.mark.parametrize("whole", [True, False])
    async def test_calls_beyond_the_limit_are_left_out_and_it_is_said(self, llm_server, llm, whole):
        llm_server.say("", *(call("click", target=number) for number in range(5000)), whole=whole)
        reply = await llm.reply(ask())
        assert [one.arguments for one in reply.tool_calls] == [
            json.dumps({"target": number}) for number in range(MOST_ACTIONS)
        ]
        assert (reply.finish_reason, reply.note) == (
            CUT,
            "The reply was cut: at most 100 tool calls are read.",
        )

    async def test_as_many_calls_as_are_taken_are_whole(self, llm_server, llm):
        llm_server.say("", *(call("click", target=number) for number in range(MOST_ACTIONS)))
        reply = await llm.reply(ask())
        assert (len(reply.tool_calls), reply.finish_reason, reply.note) == (MOST_ACTIONS, "tool_calls", "")

    @pytest.mark.parametrize("piece", [8, 10_000])
    async def test_an_argument_beyond_the_limit_is_cut_and_its_repair_says_so(
        self, llm_server, llm, piece, monkeypatch
    ):
        long = json.dumps({"text": "x" * 1_000_000})
        llm_server.say("", Call("type", long), piece=piece)
        taken: list[object] = []
        add = Assembly.add
        monkeypatch.setattr(Assembly, "add", lambda self, chunk: (taken.append(chunk), add(self, chunk))[1])
        reply = await llm.reply(ask())
        assert len(taken) < LONGEST_ARGUMENTS / piece + 10
        assert reply.tool_calls[0].arguments == long[:LONGEST_ARGUMENTS]
        assert reply.note == "The reply was cut: at most 100000 characters of arguments are read."
        proposal, queue = read_reply(reply, ask(), "tools")
        assert proposal.problem.endswith("The reply was cut off: it was longer than the limit.")
        assert queue == ()

    @pytest.mark.parametrize("what", ["text", "reasoning"])
    @pytest.mark.parametrize("whole", [True, False])
    async def test_a_text_beyond_the_limit_is_cut_and_it_is_said(self, llm_server, llm, what, whole):
        llm_server.script(Reply(**{what: "x" * 300_000}, piece=10_000, whole=whole))
        reply = await llm.reply(ask())
        assert len(getattr(reply, what)) == LONGEST_TEXT
        assert reply.note == f"The reply was cut: at most 200000 characters of {what} are read."

    @pytest.mark.parametrize(
        ("form", "text"),
        [
            ("json", json.dumps({"actions": [{"name": "click", "target": 1}] * 101})),
            ("lines", "ACTION: click [1]\n" * 101),
        ],
    )
    def test_more_actions_than_are_taken_are_a_problem_that_says_so(self, form, text):
        proposal, _ = read_reply(LLMReply(text=text), ask(), form)
        assert (
            proposal.problem == "The reply has 101 actions, but at most 100 are allowed; answer with fewer."
        )


class TestTheWholeAnswerHasALimitOfTime:
    @pytest.mark.parametrize(
        "reply",
        [
            pytest.param(Reply(body=": alive\n\n", content_type=EVENTS), id="a stream of comments"),
            pytest.param(Reply(body=chunk({"content": "x"}), content_type=EVENTS), id="a stream"),
            pytest.param(Reply(body=" "), id="a whole answer"),
            pytest.param(Reply(status=503, body=" "), id="a refusal"),
        ],
    )
    async def test_a_server_that_drips_is_left_and_not_asked_again(self, llm_server, reply):
        llm = make(llm_server, total_timeout_seconds=0.5)
        llm_server.otherwise = Reply(
            status=reply.status, body=reply.body, content_type=reply.content_type, drip=0.01
        )
        error = str(await failure(llm))
        await llm.close()
        assert "did not end its answer within 0.5 seconds" in error
        assert "raise total_timeout_seconds, lower max_tokens, or choose a faster LLM." in error
        assert len(llm_server.requests) == 1

    async def test_a_reply_that_is_finished_counts_though_the_stream_does_not_end(self, llm_server):
        llm = make(llm_server, total_timeout_seconds=0.5)
        llm_server.say("ok", hold_after=3)
        assert (await llm.reply(ask())).text == "ok"
        await llm.close()

    async def test_a_listener_that_times_out_itself_is_not_taken_for_the_server(self, llm_server, llm):
        llm_server.say("text")

        def slow(text: str) -> None:
            raise TimeoutError("mine")

        with pytest.raises(TimeoutError, match="mine"):
            await llm.reply(ask(), on_text=slow)


@pytest.fixture
def other_server() -> Iterator[HTTPServer]:
    with HTTPServer(host="127.0.0.1") as server:
        yield server


BROKEN = [
    pytest.param(DEEP, id="nested"),
    pytest.param("{", id="cut"),
    pytest.param("null", id="null"),
    pytest.param('{"data": 7}', id="no list"),
    pytest.param('{"data": [7, null, {}]}', id="no entries"),
    pytest.param('{"data": [{"id": ' + "1" * 5000 + ', "embedding": []}]}', id="5000 digits"),
    pytest.param('{"data": "' + "x" * wire.LARGEST_VECTORS + '"}', id="large"),
]


class TestTheOtherAnswers:
    @pytest.mark.parametrize("body", BROKEN)
    async def test_a_broken_list_of_models_is_one_sentence(self, other_server, body):
        other_server.expect_request("/v1/models").respond_with_data(body, content_type="application/json")
        llm = OpenAICompatibleLLM("m", base_url=other_server.url_for("/v1"), attempts=1)
        said = await check_endpoint(llm)
        await llm.close()
        assert said.startswith("m: The LLM server at ")
        assert len(said) < 500

    async def test_a_list_of_more_models_than_anyone_has_is_refused(self, other_server):
        data = [{"id": f"model-{number}"} for number in range(6000)]
        other_server.expect_request("/v1/models").respond_with_json({"data": data})
        llm = OpenAICompatibleLLM("m", base_url=other_server.url_for("/v1"), attempts=1)
        with pytest.raises(LLMError, match="lists more than 5000 models"):
            await llm.models()
        await llm.close()

    @pytest.mark.parametrize("body", BROKEN)
    async def test_broken_embeddings_are_one_sentence(self, other_server, body):
        await self.refused(other_server, body, "embedding")

    @pytest.mark.parametrize(
        "vector", ["[1e400]", "[" + "1" * 400 + "]", '["1"]', "[[1]]", "[null]", "[NaN]", "[true]", "7", "[]"]
    )
    async def test_vectors_that_are_none_are_refused(self, other_server, vector):
        await self.refused(
            other_server, '{"data": [{"index": 0, "embedding": ' + vector + "}]}", "cannot be|not of"
        )

    async def refused(self, server: HTTPServer, body: str, words: str) -> None:
        server.expect_request("/v1/embeddings").respond_with_data(body, content_type="application/json")
        llm = OpenAICompatibleLLM("m", base_url=server.url_for("/v1"), attempts=1)
        embedding = EndpointEmbedding(llm)
        with pytest.raises(LLMError, match=words) as caught:
            await embedding.embed(["a"])
        await embedding.close()
        assert len(str(caught.value)) < 500


# Fuzzing

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(
        ["", "²", "stop", "click", "1" * 5000, "\ud800", "\0", '{"target": 1}', "{", DEEP[:500]]
    )
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "choices delta message content refusal reasoning tool_calls index id function name arguments error "
                "code param usage prompt_tokens completion_tokens completion_tokens_details model finish_reason "
                "thought actions target effect aligned subtask detail".split()
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@st.composite
def chunks(draw: st.DrawFn) -> dict[str, object]:
    """A chunk of about the right shape, with anything in it."""
    delta = draw(
        st.fixed_dictionaries(
            {}, optional={"content": anything, "tool_calls": st.lists(anything, max_size=3) | anything}
        )
    )
    return {
        "choices": [{"delta": delta, "finish_reason": draw(anything)}],
        "usage": draw(anything),
        "model": draw(anything),
    }


def is_kept(reply: LLMReply) -> None:
    """Check that a reply can be stored, read again, and read as actions or a problem."""
    assert decode_reply(encode_reply(reply)[1][0]) == reply
    plain_request = LLMRequest(purpose="decide", messages=(Message(role="user", text="x"),))
    for form in ("tools", "json", "lines"):
        proposal, _ = read_reply(reply, plain_request, form)
        assert (proposal.action is None) == bool(proposal.problem)
        proposal.model_dump_json().encode()


@given(st.lists(anything | chunks(), max_size=5))
def test_any_chunks_become_a_reply_or_are_passed_over(values):
    assembly = Assembly()
    for value in values:
        assembly.add(value).encode()
    is_kept(
        LLMReply(
            text=assembly.text,
            tool_calls=assembly.tool_calls,
            usage=assembly.usage({"messages": []}),
            model=assembly.model,
            finish_reason=assembly.finish_reason,
            reasoning=assembly.reasoning,
            reasoning_tokens=assembly.reasoning_tokens,
        )
    )


@given(st.text() | anything.map(json.dumps))
def test_any_text_is_json_of_bearable_depth_or_a_value_error(text):
    with contextlib.suppress(ValueError):
        json.dumps(load_json(text, constants=True))


@pytest.fixture(scope="module")
def talk():
    """Return what asks once, and is given what the server sends."""
    with LLMServer() as server, asyncio.Runner() as runner:
        llm = make(server, attempts=1, total_timeout_seconds=20)

        def talk(reply: Reply) -> None:
            server.reset()
            server.otherwise = reply
            sentence = ""
            try:
                is_kept(runner.run(llm.reply(ask())))
            except LLMError as error:
                sentence = str(error)
            assert len(sentence) < 1000
            assert plain(sentence) == sentence

        yield talk
        runner.run(llm.close())


@given(
    body=st.binary(max_size=300),
    kind=st.sampled_from(["application/json", EVENTS, "text/html", "", "x; charset=no-such"]),
    status=st.sampled_from([200, 200, 200, 400, 401, 429, 500, 599]),
)
def test_any_bytes_become_a_reply_or_an_llm_error(talk, body, kind, status):
    talk(Reply(body=body, content_type=kind, status=status))


@given(
    values=st.lists(anything | chunks(), max_size=4),
    ends=st.booleans(),
    between=st.sampled_from(["\n\n", "\r\n\r\n", "\n", "\r\r", "\n: x\n\n", "\nevent: error\n\n"]),
)
def test_any_stream_becomes_a_reply_or_an_llm_error(talk, values, ends, between):
    body = "".join(f"data: {json.dumps(value)}{between}" for value in values)
    talk(Reply(body=body + (END if ends else ""), content_type=EVENTS))


@given(
    value=anything | chunks(),
    status=st.sampled_from([200, 200, 400, 404, 422, 429, 500]),
    after=st.sampled_from(["", "1", "²", "1e400", "nan", "-1", "Mon, 99 Foo 99999 99:99:99 GMT"]),
)
def test_any_answer_or_refusal_becomes_a_reply_or_an_llm_error(talk, value, status, after):
    headers = {"Retry-After": after.encode().decode("latin-1")} if after else {}
    talk(Reply(body=json.dumps(value), status=status, headers=headers))
