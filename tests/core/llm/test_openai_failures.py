"""The client and all that a server can do wrong, on the loopback address."""

import json
import socket
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from core.llm.endpoint_check import check_endpoint
from core.llm.openai_compatible import OpenAICompatibleLLM
from core.schema.errors import LLMRefused
from core.schema.messages import Retry, Sampling
from tests.core.llm.asking import CLICK, KEY, ask, failure, make
from tests.llm_server import Reply, Request


class TestFailuresThatPass:
    @pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
    async def test_it_is_tried_again_and_said(self, llm_server, llm, status):
        llm_server.fail(status, "busy")
        llm_server.say("ok")
        seen: list[Retry] = []
        reply = await llm.reply(ask(), on_retry=seen.append)
        assert reply.text == "ok"
        assert reply.retries == tuple(seen)
        assert len(seen) == 1
        assert f"answered {status}: busy; attempt 2 of 4" in seen[0].reason
        assert 0 < seen[0].waited <= 0.001
        assert seen[0].attempt

    async def test_waits_double_and_keep_below_the_longest(self, llm_server):
        llm = make(llm_server, attempts=6, first_wait=0.002, longest_wait=0.008)
        for _ in range(5):
            llm_server.fail(500)
        llm_server.say("ok")
        waits = [retry.waited for retry in (await llm.reply(ask())).retries]
        await llm.close()
        for wait, full in zip(waits, [0.002, 0.004, 0.008, 0.008, 0.008], strict=True):
            assert full / 2 <= wait <= full

    @pytest.mark.parametrize(
        ("headers", "least", "most"),
        [
            ({"Retry-After": "0.005"}, 0.005, 0.005),
            ({"retry-after-ms": "3"}, 0.003, 0.003),
            ({"Retry-After": "3600"}, 0.01, 0.01),
            ({"Retry-After": format_datetime(datetime.now(UTC) + timedelta(days=1))}, 0.01, 0.01),
            ({"Retry-After": format_datetime(datetime.now(UTC) - timedelta(days=1))}, 0, 0),
            ({"Retry-After": "soon"}, 0.0005, 0.001),
        ],
    )
    async def test_the_wait_a_server_asks_for_is_kept_within_bounds(
        self, llm_server, llm, headers, least, most
    ):
        llm_server.fail(429, headers=headers)
        llm_server.say("ok")
        assert least <= (await llm.reply(ask())).retries[0].waited <= most

    async def test_after_the_last_attempt_the_error_says_how_many_and_why(self, llm_server):
        llm = make(llm_server, attempts=3)
        llm_server.otherwise = Reply(status=503, body='{"error": "model is loading"}')
        error = await failure(llm)
        await llm.close()
        assert len(llm_server.requests) == 3
        assert "answered 503: model is loading in the last of 3 attempts" in str(error)

    async def test_a_stream_that_breaks_half_way_is_asked_for_again(self, llm_server, llm):
        llm_server.say("a text that is never ended", break_after=3)
        llm_server.say("whole")
        heard: list[str] = []
        reply = await llm.reply(
            ask(), on_text=heard.append, on_retry=lambda retry: heard.append(f"<{retry.reason}>")
        )
        assert reply.text == "whole"
        assert heard[:2] == ["a text t", "hat is n"]
        assert "half-way, after 16 characters" in heard[2]
        assert heard[3] == "whole"

    async def test_a_stream_that_ends_early_without_a_word_is_asked_for_again(self, llm_server, llm):
        body = 'data: {"choices": [{"delta": {"content": "half"}}]}\n\n'
        llm_server.script(Reply(body=body, content_type="text/event-stream"))
        llm_server.say("whole")
        reply = await llm.reply(ask())
        assert reply.text == "whole"
        assert "ended its answer too early" in reply.retries[0].reason

    async def test_a_connection_dropped_before_the_answer_is_tried_again(self, llm_server, llm):
        llm_server.say("", break_after=0)
        llm_server.say("ok")
        assert len((await llm.reply(ask())).retries) == 1

    @pytest.mark.parametrize(
        "body",
        [
            "data: {not json}\n\n",
            "data: \xff\n\n",
            "data: 5\n\n",
            "data: null\n\n",
            "data: []\n\n",
            'data: {"choices": 7}\n\n',
            'data: {"error": "overloaded"}\n\n',
        ],
    )
    async def test_nonsense_or_an_error_within_a_stream_is_tried_again(self, llm_server, llm, body):
        llm_server.script(Reply(body=body, content_type="text/event-stream"))
        llm_server.say("ok")
        assert (await llm.reply(ask())).text == "ok"

    @pytest.mark.parametrize("body", ["{broken", "[]", '{"choices": []}', '{"error": {"message": "oops"}}'])
    async def test_nonsense_in_place_of_a_stream_is_tried_again(self, llm_server, llm, body):
        llm_server.script(Reply(body=body))
        llm_server.say("ok")
        assert (await llm.reply(ask())).text == "ok"

    @pytest.mark.parametrize(
        ("body", "words"),
        [
            (
                "<!doctype html><html><head><title>Log in &amp; go</title></head>x</html>",
                "page (Log in & go) instead",
            ),
            ("\n <html>x</html>", "sent a web page instead of JSON"),
            ("<html>" + "x" * 100_000, "sent a web page instead of JSON"),
        ],
    )
    @pytest.mark.parametrize("kind", ["text/html; charset=utf-8", "application/json", "text/event-stream"])
    async def test_a_web_page_with_the_status_of_success_is_said_to_be_one(
        self, llm_server, llm, body, words, kind
    ):
        llm_server.script(Reply(body=body, content_type=kind))
        error = await failure(llm)
        assert words in str(error)
        assert "check base_url (most end in /v1), and whether it needs a login" in str(error)
        assert isinstance(error, LLMRefused)
        assert len(llm_server.requests) == 1

    async def test_a_server_that_never_finishes_the_tls_handshake_is_told_from_one_that_is_slow(
        self, monkeypatch
    ):
        monkeypatch.setattr("core.llm.openai_compatible._CONNECT_SECONDS", 0.3)
        monkeypatch.setattr("core.llm.openai_compatible._LIST_SECONDS", 0.6)
        with closing(socket.create_server(("127.0.0.1", 0))) as silent:
            address = f"https://127.0.0.1:{silent.getsockname()[1]}"
            llm = OpenAICompatibleLLM("x", base_url=f"{address}/v1", attempts=1)
            error = str(await failure(llm))
            listed = await check_endpoint(llm)
            await llm.close()
        said = f"The LLM server at {address} accepted the connection but did not finish the TLS handshake in time"
        assert error.startswith(said)
        assert error.endswith("check that the server runs, and the port and http or https in base_url.")
        assert said in listed

    async def test_an_address_that_only_the_client_finds_wrong_is_one_sentence(self):
        llm = OpenAICompatibleLLM("x", base_url="http://☃.net/v1")
        assert "The address http://☃.net/v1 of the LLM x cannot be used" in str(await failure(llm))

    async def test_silence_is_given_up_after_the_timeout(self, llm_server):
        llm = make(llm_server, timeout_seconds=0.05, attempts=2)
        llm_server.otherwise = Reply(hold=True)
        error = await failure(llm)
        await llm.close()
        assert "sent nothing for 0.05 seconds in the last of 2 attempts; raise timeout_seconds" in str(error)

    async def test_nobody_at_the_address_is_said_with_what_to_do(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        llm = OpenAICompatibleLLM("m", base_url=f"http://127.0.0.1:{port}/v1", attempts=2, first_wait=0.001)
        error = await failure(llm)
        await llm.close()
        assert str(error) == (
            f"The LLM server at http://127.0.0.1:{port} refused the connection in the last of 2 attempts; "
            "start the server, or correct base_url."
        )

    async def test_an_error_of_a_listener_is_not_taken_for_the_servers(self, llm_server, llm):
        llm_server.say("text")

        def broken(text: str) -> None:
            raise KeyError(text)

        with pytest.raises(KeyError):
            await llm.reply(ask(), on_text=broken)
        assert len(llm_server.requests) == 1


class TestFailuresForGood:
    async def test_an_unknown_model_is_answered_with_the_nearest_and_all_served(self, llm_server):
        llm_server.models = ("llama3.2:3b", "qwen3:8b")
        llm_server.fail(404, "model not found")
        llm = make(llm_server, model="llama3:3b")
        error = await failure(llm)
        await llm.close()
        assert str(error).endswith(
            "does not have the model llama3:3b; did you mean llama3.2:3b? It serves: llama3.2:3b, qwen3:8b."
        )
        assert len(llm_server.requests) == 1

    async def test_a_wrong_path_is_answered_with_the_base_url(self, llm_server):
        llm_server.models = None
        llm_server.fail(404, "nothing here")
        llm = make(llm_server)
        assert "check base_url (most end in /v1)" in str(await failure(llm))
        await llm.close()

    async def test_a_missing_key_is_said_with_its_name(self, llm_server):
        llm_server.key = KEY
        llm = make(llm_server, key_name="MY_KEY", why_key=lambda name: f"No key {name} in the environment.")
        error = str(await failure(llm))
        await llm.close()
        assert "it needs a key: set MY_KEY in the environment or the keyring. No key MY_KEY in" in error
        assert llm_server.requests == []

    @pytest.mark.parametrize(
        ("status", "words"),
        [
            (400, "check the model's name, test-model, and its settings"),
            (403, "check that the key its key may use test-model"),
            (413, "answered 413: no"),
        ],
    )
    async def test_other_refusals_are_final_at_once(self, llm_server, llm, status, words):
        llm_server.fail(status, "no")
        assert words in str(await failure(llm))
        assert len(llm_server.requests) == 1

    @pytest.mark.parametrize("status", [401, 402, 403, 404])
    async def test_what_every_call_would_come_to_is_told_apart(self, llm_server, llm, status):
        llm_server.fail(status, "no")
        llm_server.fail(400, "this one is wrong")
        assert isinstance(await failure(llm), LLMRefused)
        assert not isinstance(await failure(llm), LLMRefused)

    async def test_an_empty_account_is_not_tried_again(self, llm_server, llm):
        body = '{"error": {"message": "You have no money left", "code": "insufficient_quota"}}'
        llm_server.script(Reply(status=429, body=body))
        assert "no credit left" in str(await failure(llm))
        assert len(llm_server.requests) == 1

    async def test_an_llm_without_tools_is_said_with_the_way_out(self, llm_server, llm):
        llm_server.fail(400, "registry/gemma does not support tools")
        assert "choose a preset that replies in JSON or lines" in str(await failure(llm, tools=(CLICK,)))

    async def test_a_page_of_html_is_cut_down_to_its_words(self, llm_server, llm):
        page = "<html><style>b{}</style><body><h1>Bad   gateway</h1>" + "<p>x</p>" * 500
        llm_server.script(Reply(status=418, body=page, content_type="text/html"))
        error = str(await failure(llm))
        assert "Bad gateway x x" in error
        assert len(error) < 500

    async def test_a_key_with_odd_characters_is_refused_before_it_is_sent(self, llm_server):
        llm = make(llm_server, key="sk-\u2026bad", key_name="MY_KEY")
        error = str(await failure(llm))
        assert "The key MY_KEY contains invalid characters" in error
        assert "bad" not in error


class TestPartsAServerDoesNotTake:
    @pytest.mark.parametrize(
        ("refusal", "asked", "gone"),
        [
            pytest.param(
                "Unrecognized request argument supplied: stream_options", {}, "stream_options", id="stream"
            ),
            pytest.param(
                'tool_choice = "required" is not supported!',
                {"tools": (CLICK,), "tool_choice": "required"},
                "required",
                id="tool_choice",
            ),
            pytest.param(
                "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.",
                {"tools": (CLICK,), "sampling": Sampling(parallel_tool_calls=False)},
                "parallel_tool_calls",
                id="parallel_tool_calls",
            ),
            pytest.param(
                "Unrecognized request argument supplied: reasoning_effort",
                {"sampling": Sampling(reasoning_effort="low")},
                "reasoning_effort",
                id="reasoning_effort",
            ),
            pytest.param("Unknown parameter: seed", {"sampling": Sampling(seed=1)}, "seed", id="seed"),
            pytest.param(
                "Unsupported value: 'temperature' does not support 0.3 with this model.",
                {"sampling": Sampling(temperature=0.3)},
                "temperature",
                id="temperature",
            ),
            pytest.param(
                "Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead.",
                {"sampling": Sampling(max_tokens=9)},
                "max_tokens",
                id="max_tokens",
            ),
        ],
    )
    async def test_it_is_left_out_once_and_for_all_and_said(self, llm_server, llm, refusal, asked, gone):
        def answer(request: Request) -> Reply:
            refused = gone in request.body or request.body.get("tool_choice") == gone
            body = json.dumps({"error": {"message": refusal}})
            return Reply(status=400, body=body) if refused else Reply(text="ok")

        llm_server.otherwise = answer
        first = await llm.reply(ask(**asked))
        second = await llm.reply(ask(**asked))
        assert first.text == second.text == "ok"
        assert [(retry.waited, retry.attempt) for retry in first.retries] == [(0.0, False)]
        assert first.retries[0].reason.endswith(".")
        assert second.retries == ()
        assert len(llm_server.requests) == 3

    async def test_the_limit_goes_on_under_its_other_name_and_is_dropped_last(self, llm_server, llm):
        def answer(request: Request) -> Reply:
            for name in ("max_tokens", "max_completion_tokens"):
                if name in request.body:
                    detail = [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs"}]
                    return Reply(status=422, body=json.dumps({"detail": detail}))
            return Reply(text="ok")

        llm_server.otherwise = answer
        reply = await llm.reply(ask(sampling=Sampling(max_tokens=9)))
        assert len(reply.retries) == 2
        assert llm_server.requests[1].body["max_completion_tokens"] == 9

    @pytest.mark.parametrize(
        ("message", "sampling"),
        [
            ("max_tokens is too large: 99999. This model supports at most 4096.", Sampling(max_tokens=99999)),
            ("Invalid 'temperature': must be at most 2.", Sampling(temperature=3.0)),
        ],
    )
    async def test_a_value_out_of_range_is_no_reason_to_drop_it(self, llm_server, llm, message, sampling):
        llm_server.fail(400, message)
        assert message in str(await failure(llm, sampling=sampling))
        assert len(llm_server.requests) == 1

    async def test_a_server_that_refuses_everything_is_asked_only_so_often(self, llm_server, llm):
        refusal = (
            "unsupported: stream_options tool_choice seed temperature top_p max_tokens max_completion_tokens"
        )
        llm_server.otherwise = Reply(status=400, body=json.dumps({"error": {"message": refusal}}))
        sampling = Sampling(seed=1, temperature=0.1, top_p=0.1, max_tokens=1)
        await failure(llm, tools=(CLICK,), tool_choice="required", sampling=sampling)
        assert len(llm_server.requests) == 8
