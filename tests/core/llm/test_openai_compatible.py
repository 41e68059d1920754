"""The client against a real server on the loopback address."""

import asyncio
import base64
import json
import logging
import sys
import threading
import traceback

import pytest

from core.llm.costs import Price, Prices
from core.schema.errors import LLMError
from core.schema.messages import Image, Message, Retry, Sampling, ToolCall
from tests.core.llm.asking import CLICK, KEY, ask, failure, make
from tests.llm_server import Call, Reply, call


class TestAnAnswer:
    async def test_text_streams_in_pieces_that_add_up_to_the_reply(self, llm_server, llm):
        llm_server.say("The Save button is number twelve.")
        pieces: list[str] = []
        reply = await llm.reply(ask(), on_text=pieces.append)
        assert reply.text == "".join(pieces) == "The Save button is number twelve."
        assert len(pieces) > 1
        assert reply.finish_reason == "stop"
        assert reply.model == "test-model"
        assert reply.seconds > 0

    async def test_several_tool_calls_come_together_from_their_pieces(self, llm_server, llm):
        llm_server.say(
            "", call("click", target=3), Call("type", '{"target": 4, "text": "söme \\"words\\""}', "b")
        )
        reply = await llm.reply(ask(tools=(CLICK,)))
        assert [one.name for one in reply.tool_calls] == ["click", "type"]
        assert json.loads(reply.tool_calls[1].arguments) == {"target": 4, "text": 'söme "words"'}
        assert reply.tool_calls[1].id == "b"

    async def test_a_server_that_does_not_stream_is_read_all_the_same(self, llm_server, llm):
        llm_server.say("Whole.", call("click", target=3), whole=True)
        reply = await llm.reply(ask())
        assert reply.text == "Whole."
        assert reply.tool_calls == (ToolCall(id="call_0", name="click", arguments='{"target": 3}'),)
        assert reply.usage.prompt_tokens == 100

    async def test_a_whole_answer_without_a_reason_to_end_is_whole(self, llm_server, llm):
        llm_server.script(Reply(body='{"choices": [{"message": {"content": "yes"}}]}'))
        reply = await llm.reply(ask())
        assert (reply.text, reply.finish_reason, reply.retries) == ("yes", "stop", ())

    @pytest.mark.parametrize(
        "deltas",
        [
            pytest.param(
                [
                    {"index": 0, "id": "a", "function": {"name": "click", "arguments": '{"target": 1}'}},
                    {"index": 0, "id": "b", "function": {"name": "click", "arguments": '{"target": 2}'}},
                ],
                id="every index is 0",
            ),
            pytest.param(
                [
                    {"function": {"name": "click", "arguments": '{"target": 1}'}},
                    {"function": {"name": "click", "arguments": {"target": 2}}},
                ],
                id="no index, no id",
            ),
            pytest.param(
                [
                    {"index": 0, "id": "a", "function": {"name": "click", "arguments": ""}},
                    {"index": 0, "id": "a", "function": {"arguments": '{"target"'}},
                    {"index": 0, "function": {"arguments": ": 1}"}},
                    {"index": 1, "id": "b", "function": {"name": "click", "arguments": '{"target": 2}'}},
                ],
                id="id repeated, then left out",
            ),
            pytest.param(
                [
                    {"index": 0, "id": "a", "function": {"name": "click", "arguments": '{"target": 1}'}},
                    {"index": 1, "id": "a", "function": {"name": "click", "arguments": '{"target": 2}'}},
                ],
                id="every id is the same",
            ),
            pytest.param(
                [
                    {"index": 0, "id": "a", "function": {"name": "click", "arguments": '{"target": 1}'}},
                    {"index": 0, "id": "a", "function": {"name": "click", "arguments": '{"target": 2}'}},
                ],
                id="id and index are the same",
            ),
            pytest.param(
                [
                    {"index": 0, "id": "", "function": {"name": "click", "arguments": '{"target"'}},
                    {"index": 0, "id": "", "function": {"name": "click", "arguments": ": 1}"}},
                    {"index": 0, "id": "", "function": {"name": "click", "arguments": ""}},
                    {"index": 1, "id": "", "function": {"name": "click", "arguments": '{"target"'}},
                    {"index": 1, "id": "", "function": {"name": "click", "arguments": ": 2}"}},
                ],
                id="the name with every piece, no id",
            ),
            pytest.param(
                [
                    {"id": "a", "function": {"name": "click", "arguments": '{"target"'}},
                    {"id": "b", "function": {"name": "click", "arguments": '{"target"'}},
                    {"id": "a", "function": {"arguments": ": 1}"}},
                    {"id": "b", "function": {"arguments": ": 2}"}},
                ],
                id="no index, by turns",
            ),
            pytest.param(
                [
                    {"index": 0, "id": "a", "function": {"name": "click", "arguments": '{"target"'}},
                    {"index": 0, "id": "b", "function": {"arguments": ": 1}"}},
                    {"index": 1, "id": "c", "function": {"name": "click", "arguments": '{"target": 2}'}},
                ],
                id="a new id with every piece",
            ),
        ],
    )
    async def test_calls_are_told_apart_however_a_server_numbers_them(self, llm_server, llm, deltas):
        lines = [json.dumps({"choices": [{"delta": {"tool_calls": [delta]}}]}) for delta in deltas]
        lines.append('{"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}')
        body = "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"])
        llm_server.script(Reply(body=body, content_type="text/event-stream"))
        reply = await llm.reply(ask(tools=(CLICK,)))
        assert [json.loads(one.arguments) for one in reply.tool_calls] == [{"target": 1}, {"target": 2}]
        assert len({one.id for one in reply.tool_calls}) == 2

    @pytest.mark.parametrize("index", [0, None, "by place"])
    async def test_calls_of_a_whole_answer_with_one_id_are_each_a_call(self, llm_server, llm, index):
        calls = [
            {"id": "a", "index": place if index == "by place" else index, "type": "function"}
            | {"function": {"name": name, "arguments": arguments}}
            for place, (name, arguments) in enumerate(
                [("go_back", ""), ("go_back", ""), ("click", '{"target": 1}')]
            )
        ]
        choice = {
            "index": 0,
            "message": {"role": "assistant", "tool_calls": calls},
            "finish_reason": "tool_calls",
        }
        llm_server.script(Reply(body=json.dumps({"choices": [choice]})))
        reply = await llm.reply(ask(tools=(CLICK,)))
        assert [one.name for one in reply.tool_calls] == ["go_back", "go_back", "click"]
        assert reply.tool_calls[2].arguments == '{"target": 1}'
        assert len({one.id for one in reply.tool_calls}) == 3

    @pytest.mark.parametrize("inside", ["First I look.", [{"type": "text", "text": "First I look."}]])
    async def test_a_reply_in_parts_is_read_with_its_thinking_apart(self, llm_server, llm, inside):
        parts = [{"type": "thinking", "thinking": inside}, {"type": "text", "text": "Yes."}]
        choice = {"index": 0, "message": {"role": "assistant", "content": parts}, "finish_reason": "stop"}
        llm_server.script(Reply(body=json.dumps({"choices": [choice]})))
        reply = await llm.reply(ask())
        assert (reply.text, reply.reasoning) == ("Yes.", "First I look.")

    async def test_chunks_of_an_odd_shape_are_passed_over(self, llm_server, llm):
        odd = ["{}", '{"choices": null}', '{"choices": [{}]}', '{"choices": [{"delta": null}]}']
        odd += [
            '{"choices": [{"delta": {"content": "yes"}, "finish_reason": "stop"}]}',
            '{"usage": {}}',
            "[DONE]",
        ]
        body = ": keep-alive\n\n" + "".join(f"data: {line}\n\n" for line in odd)
        llm_server.script(Reply(body=body, content_type="text/event-stream"))
        assert (await llm.reply(ask())).text == "yes"

    async def test_the_servers_count_of_tokens_is_taken_with_cached_ones(self, llm_server, llm):
        usage = {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 5}}
        llm_server.say("ok", usage=usage)
        found = (await llm.reply(ask())).usage
        assert (found.prompt_tokens, found.completion_tokens, found.cached_tokens, found.estimated) == (
            7,
            3,
            5,
            False,
        )

    async def test_tokens_are_estimated_where_the_server_counts_none(self, llm_server, llm):
        llm_server.say("one two three", usage=None)
        found = (await llm.reply(ask())).usage
        assert found.estimated
        assert found.completion_tokens == 3
        assert 10 < found.prompt_tokens < 40

    async def test_what_cached_tokens_cost_is_told_apart(self, llm_server):
        prices = Prices((Price(models=("test-model",), input=2, cached=0.5, output=8),))
        llm = make(llm_server, prices=prices)
        details = {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_cache_hit_tokens": 800}
        llm_server.say("ok", usage=details)
        reply = await llm.reply(ask())
        await llm.close()
        assert reply.usage.cached_tokens == 800
        assert reply.cost == pytest.approx((200 * 2 + 800 * 0.5 + 100 * 8) / 1e6)
        assert reply.cached_cost == pytest.approx(800 * 0.5 / 1e6)

    @pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
    @pytest.mark.parametrize("whole", [True, False])
    async def test_reasoning_is_kept_apart_from_the_text(self, llm_server, llm, name, whole):
        usage = {
            "prompt_tokens": 9,
            "completion_tokens": 60,
            "completion_tokens_details": {"reasoning_tokens": 55},
        }
        llm_server.say(
            "Yes.", reasoning="First I look, then I say.", reasoning_name=name, usage=usage, whole=whole
        )
        heard: list[str] = []
        reply = await llm.reply(ask(), on_text=heard.append)
        assert (reply.text, "".join(heard)) == ("Yes.", "Yes.")
        assert reply.reasoning == "First I look, then I say."
        assert reply.reasoning_tokens == 55

    async def test_a_priced_model_has_a_cost_and_another_has_none(self, llm_server):
        prices = Prices((Price(models=("test-*",), input=1.0, output=2.0),))
        priced, free = make(llm_server, prices=prices), make(llm_server, model="local", prices=prices)
        llm_server.say("ok")
        llm_server.say("ok")
        assert (await priced.reply(ask())).cost == pytest.approx((100 * 1 + 10 * 2) / 1_000_000)
        assert (await free.reply(ask())).cost is None
        await priced.close()
        await free.close()

    async def test_the_connection_is_used_again(self, llm_server, llm):
        for _ in range(3):
            llm_server.say("ok")
            await llm.reply(ask())
        assert llm_server.connections == 1

    async def test_it_can_be_asked_again_after_it_was_closed(self, llm_server, llm):
        llm_server.say("one")
        llm_server.say("two")
        await llm.reply(ask())
        await llm.close()
        assert (await llm.reply(ask())).text == "two"

    async def test_two_requests_at_once_are_both_answered(self, llm_server, llm):
        llm_server.otherwise = lambda request: Reply(text=request.texts[-1])
        replies = await asyncio.gather(
            *(llm.reply(ask(messages=(Message(role="user", text=text),))) for text in ("one", "two"))
        )
        assert [reply.text for reply in replies] == ["one", "two"]


class TestARequest:
    async def test_messages_tools_and_sampling_arrive_as_they_were_given(self, llm_server, llm):
        llm_server.say("ok")
        messages = (
            Message(role="system", text="S"),
            Message(
                role="assistant", tool_calls=(ToolCall(id="c", name="click", arguments='{"target": 1}'),)
            ),
            Message(role="tool", tool_call_id="c", text="done"),
        )
        sampling = Sampling(temperature=0.0, top_p=0.5, max_tokens=64, seed=7)
        await llm.reply(ask(messages=messages, tools=(CLICK,), tool_choice="required", sampling=sampling))
        body = llm_server.requests[0].body
        assert body["messages"][0] == {"role": "system", "content": "S"}
        assert body["messages"][1]["tool_calls"][0]["function"] == {
            "name": "click",
            "arguments": '{"target": 1}',
        }
        assert body["messages"][2] == {"role": "tool", "tool_call_id": "c", "content": "done"}
        assert body["tools"][0]["function"]["parameters"] == CLICK.parameters
        assert body["tool_choice"] == "required"
        assert {name: body[name] for name in ("temperature", "top_p", "max_tokens", "seed")} == {
            "temperature": 0.0,
            "top_p": 0.5,
            "max_tokens": 64,
            "seed": 7,
        }

    async def test_the_requests_sampling_goes_before_the_llms_own(self, llm_server):
        llm = make(llm_server, sampling=Sampling(temperature=1.0, seed=1))
        llm_server.say("ok")
        await llm.reply(ask(sampling=Sampling(temperature=0.0)))
        await llm.close()
        body = llm_server.requests[0].body
        assert (body["temperature"], body["seed"]) == (0.0, 1)

    async def test_what_is_not_set_is_left_to_the_server(self, llm_server, llm):
        llm_server.say("ok")
        await llm.reply(ask())
        assert not {
            "temperature",
            "top_p",
            "seed",
            "reasoning_effort",
            "parallel_tool_calls",
            "tools",
            "tool_choice",
            "response_format",
        } & set(llm_server.requests[0].body)

    async def test_a_reply_schema_is_sent_where_there_are_no_tools(self, llm_server, llm):
        llm_server.say("{}")
        await llm.reply(ask(reply_schema={"type": "object"}))
        assert llm_server.requests[0].body["response_format"]["json_schema"]["schema"] == {"type": "object"}

    async def test_a_strict_schema_requires_every_field_and_lets_an_optional_one_be_null(
        self, llm_server, llm
    ):
        llm_server.say('{"name": "type", "enter": null}')
        properties = {"name": {"type": "string", "enum": ["type"]}, "enter": {"type": "boolean"}}
        schema = {"type": "object", "properties": properties, "required": ["name"]}
        reply = await llm.reply(ask(reply_schema=schema))
        sent = llm_server.requests[0].body["response_format"]["json_schema"]
        assert sent["strict"] is True
        assert sent["schema"]["required"] == ["name", "enter"]
        assert sent["schema"]["additionalProperties"] is False
        assert sent["schema"]["properties"]["enter"] == {"type": ["boolean", "null"]}
        assert reply.note == ""

    async def test_a_schema_with_more_values_than_a_strict_one_may_have_is_sent_as_it_is(
        self, llm_server, llm
    ):
        llm_server.say("7")
        await llm.reply(ask(reply_schema={"type": "integer", "enum": list(range(1001))}))
        assert "strict" not in llm_server.requests[0].body["response_format"]["json_schema"]

    @pytest.mark.parametrize(
        ("own", "of_the_request", "sent"),
        [
            (Sampling(), Sampling(), 4096),
            (Sampling(max_tokens=64), Sampling(), 64),
            (Sampling(max_tokens=64), Sampling(max_tokens=32), 32),
            (Sampling(max_tokens=0), Sampling(), None),
            (Sampling(reasoning_effort="high"), Sampling(), 16384),
            (Sampling(reasoning_effort="none"), Sampling(), 4096),
        ],
    )
    async def test_a_reply_is_bounded_where_nothing_else_is_said(self, llm_server, own, of_the_request, sent):
        llm = make(llm_server, sampling=own)
        llm_server.say("ok")
        await llm.reply(ask(sampling=of_the_request))
        await llm.close()
        assert llm_server.requests[0].body.get("max_tokens") == sent

    async def test_reasoning_effort_and_parallel_tool_calls_are_sent_where_they_are_set(self, llm_server):
        llm = make(llm_server, sampling=Sampling(reasoning_effort="low", parallel_tool_calls=False))
        llm_server.say("ok")
        llm_server.say("ok")
        await llm.reply(ask(tools=(CLICK,), sampling=Sampling(reasoning_effort="high")))
        await llm.reply(ask())
        await llm.close()
        first, second = (request.body for request in llm_server.requests)
        assert (first["reasoning_effort"], first["parallel_tool_calls"]) == ("high", False)
        assert second["reasoning_effort"] == "low"
        assert "parallel_tool_calls" not in second

    async def test_headers_and_body_of_ones_own_go_with_each_request(self, llm_server):
        llm = make(
            llm_server, headers={"X-Title": "Backstep"}, body={"top_k": 5, "options": {"num_ctx": 8192}}
        )
        llm_server.say("Backstep said so")
        reply = await llm.reply(ask())
        await llm.close()
        request = llm_server.requests[0]
        assert request.headers["x-title"] == "Backstep"
        assert (request.body["top_k"], request.body["options"]) == (5, {"num_ctx": 8192})
        assert reply.text == "Backstep said so"

    async def test_a_secret_header_is_looked_up_by_its_name_and_hidden_in_errors(self, llm_server, caplog):
        caplog.set_level("DEBUG")
        secret = "f00dfeed-team-token"
        llm = make(
            llm_server,
            headers={"X-Api-Key": "$TEAM_TOKEN"},
            find_secret={"TEAM_TOKEN": secret}.get,
            attempts=1,
        )
        llm_server.fail(400, f"{secret} is not welcome")
        error = await failure(llm)
        await llm.close()
        assert llm_server.requests[0].headers["x-api-key"] == secret
        assert "[key] is not welcome" in str(error)
        assert secret not in caplog.text

    async def test_a_secret_header_that_is_not_there_is_said_before_anything_is_sent(self, llm_server):
        llm = make(llm_server, headers={"X-Api-Key": "$TEAM_TOKEN"})
        assert 'The header "X-Api-Key" of the LLM test-model needs the key TEAM_TOKEN' in str(
            await failure(llm)
        )
        assert llm_server.requests == []

    async def test_azure_gets_its_version_and_the_key_in_its_own_header(self, llm_server):
        llm = make(llm_server, key=KEY, api_version="2024-10-21")
        llm_server.say("ok")
        await llm.reply(ask())
        await llm.close()
        request = llm_server.requests[0]
        assert request.query == "api-version=2024-10-21"
        assert request.headers["api-key"] == KEY
        assert "authorization" not in request.headers

    @pytest.mark.parametrize("takes_images", [True, False])
    async def test_pictures_go_only_to_an_llm_that_takes_them(self, llm_server, takes_images):
        llm = make(llm_server, images=takes_images)
        llm_server.say("ok")
        image = Image(data=b"\x00picture", mime="image/webp")
        await llm.reply(ask(messages=(Message(role="user", text="Look.", images=(image,)),)))
        await llm.close()
        content = llm_server.requests[0].body["messages"][0]["content"]
        if takes_images:
            url = "data:image/webp;base64," + base64.b64encode(b"\x00picture").decode()
            assert content == [
                {"type": "text", "text": "Look."},
                {"type": "image_url", "image_url": {"url": url}},
            ]
        else:
            assert content == "Look."

    async def test_no_key_sends_no_authorization_whatever_the_environment_holds(
        self, llm_server, monkeypatch
    ):
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
        llm = make(llm_server)
        llm_server.say("ok")
        await llm.reply(ask())
        await llm.close()
        headers = llm_server.requests[0].headers
        assert "authorization" not in headers
        assert "openai-organization" not in headers

    async def test_a_proxy_in_the_environment_does_not_stand_before_a_local_server(
        self, llm_server, monkeypatch
    ):
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        llm = make(llm_server)
        llm_server.say("ok")
        assert (await llm.reply(ask())).text == "ok"
        await llm.close()


class TestCancelling:
    @pytest.mark.parametrize("reply", [Reply(hold=True), Reply(text="a longer text", hold_after=2)])
    async def test_the_server_sees_the_client_go_at_once(self, llm_server, llm, reply):
        llm_server.script(reply)
        task = asyncio.create_task(llm.reply(ask()))
        await asyncio.to_thread(llm_server.wait_for_requests, 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 10)
        await asyncio.to_thread(llm_server.wait_for_disconnects, 1)
        llm_server.say("still usable")
        assert (await llm.reply(ask())).text == "still usable"

    async def test_a_wait_between_attempts_ends_at_once(self, llm_server):
        llm = make(llm_server, first_wait=60, longest_wait=60)
        llm_server.fail(500)
        waiting = asyncio.Event()
        task = asyncio.create_task(llm.reply(ask(), on_retry=lambda _: waiting.set()))
        await asyncio.wait_for(waiting.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 10)
        await llm.close()


class TestKeys:
    @pytest.fixture
    async def keyed(self, llm_server):
        llm = make(llm_server, key=KEY, key_name="MY_KEY")
        yield llm
        await llm.close()

    async def test_the_key_is_looked_up_off_the_loop_and_sent(self, llm_server):
        threads: list[str] = []

        def find() -> str:
            threads.append(threading.current_thread().name)
            return f" {KEY}\n"

        llm = make(llm_server, key=find)
        llm_server.key = KEY
        llm_server.say("ok")
        await llm.reply(ask())
        await llm.close()
        assert threads
        assert threads[0] != threading.main_thread().name

    async def test_a_server_that_echoes_the_key_does_not_leak_it(self, llm_server, keyed, caplog):
        caplog.set_level(logging.DEBUG)
        echo = json.dumps({"error": {"message": f"Incorrect API key provided: Bearer {KEY}."}})
        llm_server.script(Reply(status=503, body=echo), Reply(status=401, body=echo))
        retries: list[Retry] = []
        with pytest.raises(LLMError) as caught:
            await keyed.reply(ask(), on_retry=retries.append)
        assert "Incorrect API key provided" in str(caught.value)
        whole = "".join(traceback.format_exception(caught.value))
        for text in (whole, repr(keyed), str(retries), caplog.text):
            assert KEY not in text
            assert KEY[:12] not in text
        causes = [caught.value.__cause__, caught.value.__context__]
        assert all(KEY not in repr(vars(cause)) for cause in causes if cause is not None)

    async def test_a_half_hidden_key_is_hidden_whole(self, llm_server, keyed):
        llm_server.fail(401, "Incorrect API key provided: sk-test-****cdef.")
        assert "cdef" not in str(await failure(keyed))

    @pytest.mark.parametrize("key", [KEY, "test", "x"])
    async def test_no_reply_is_altered_though_the_key_stands_in_it(self, llm_server, key):
        llm = make(llm_server, key=key)
        arguments = json.dumps({"text": f"the {key} user"})
        llm_server.say(f"Your key is {key}", Call("type", arguments), reasoning=f"{key}?")
        reply = await llm.reply(ask())
        await llm.close()
        assert (reply.text, reply.reasoning) == (f"Your key is {key}", f"{key}?")
        assert reply.tool_calls[0].arguments == arguments

    @pytest.mark.parametrize("key", ["x", "test", "EMPTY", "password", "not-needed", "sk-1"])
    async def test_a_word_in_place_of_a_key_is_not_taken_out_of_an_error(self, llm_server, key):
        llm = make(llm_server, key=key, attempts=1)
        llm_server.fail(400, f"the argument text is not {key}: try a longer one")
        error = await failure(llm)
        await llm.close()
        assert f"the argument text is not {key}: try a longer one" in str(error)


def test_importing_the_client_does_not_import_openai():
    import subprocess

    code = "import sys, core.llm.openai_compatible, core.llm.registry; assert 'openai' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
