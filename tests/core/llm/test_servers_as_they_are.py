"""What servers do not honour, how they say so, and what the user lets an LLM use."""

import json
import re
import time
from dataclasses import replace

import pytest

from core.llm.costs import Price, Prices
from core.llm.honoured import SCHEMA_LEVELS, Honoured, HonouredFile
from core.llm.limits import Limits, Meter
from core.schema.action_space import Permissible
from core.schema.messages import Image, Message, PromptView, Sampling, Usage
from core.schema.observation import CleanObservation
from tests.core.llm.asking import CLICK, KEY, ask, failure, make
from tests.llm_server import Reply, Request

SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}},
    "required": ["colour"],
    "additionalProperties": False,
}


def refusing(takes, status=400):
    """Answer with the schema's own reply where `takes` holds for the response_format, and refuse it elsewhere."""

    def answer(request: Request) -> Reply:
        form = request.body.get("response_format")
        if form is None or takes(form):
            return Reply(text='{"colour": "red"}')
        message = f"response_format {form['type']} is not something that I can do"
        return Reply(status=status, body=json.dumps({"error": {"message": message}}))

    return answer


VIEW = PromptView(objective="Do it.", observation=CleanObservation(url="about:blank"))


class TestJsonReplies:
    @pytest.mark.parametrize("status", [400, 422, 500])
    @pytest.mark.parametrize(
        ("takes", "level"),
        [
            (lambda form: True, "strict"),
            (lambda form: "strict" not in form.get("json_schema", {"strict": 1}), "schema"),
            (lambda form: form["type"] == "json_object", "object with schema"),
            (lambda form: form == {"type": "json_object"}, "object"),
            (lambda form: False, "none"),
        ],
    )
    async def test_the_most_exact_form_that_is_taken_is_found_once_and_said(
        self, llm_server, llm, takes, level, status
    ):
        llm_server.otherwise = refusing(takes, status)
        first = await llm.reply(ask(reply_schema=SCHEMA))
        second = await llm.reply(ask(reply_schema=SCHEMA))
        assert first.text == second.text == '{"colour": "red"}'
        assert len(first.retries) == SCHEMA_LEVELS.index(level)
        assert second.retries == ()
        assert llm.honoured.schema_level == level

    async def test_two_replies_in_a_row_that_do_not_keep_to_the_schema_have_the_next_asked_otherwise(
        self, llm_server, llm
    ):
        llm_server.otherwise = Reply(text="It is red.")
        asked = 2 * len(SCHEMA_LEVELS) - 1
        notes = [(await llm.reply(ask(reply_schema=SCHEMA))).note for _ in range(asked)]
        assert notes[:2] == [
            "The reply does not follow a strict JSON schema.",
            "The reply does not follow a strict JSON schema; "
            "from now on, the server is asked with a JSON schema that is not strict.",
        ]
        assert notes[-1] == ""
        assert "response_format" not in llm_server.requests[-1].body
        assert len(llm_server.requests) == asked

    async def test_a_reply_that_keeps_to_the_schema_makes_up_for_one_that_did_not(self, llm_server, llm):
        for text in ("It is red.", '{"colour": "red"}', "It is red."):
            llm_server.say(text)
            await llm.reply(ask(reply_schema=SCHEMA))
        assert llm.honoured.schema_level == "strict"

    @pytest.mark.parametrize(
        "odd",
        [
            Reply(text=""),
            Reply(text="<think>Hm.</think>"),
            Reply(text="I cannot", finish_reason="content_filter"),
            Reply(text="I cannot do that.", refuses=True),
            Reply(text="It is red.", finish_reason="tool_calls"),
        ],
    )
    @pytest.mark.parametrize("whole", [True, False])
    async def test_an_empty_refused_or_filtered_reply_says_nothing_of_the_schema(
        self, llm_server, llm, odd, whole
    ):
        llm_server.otherwise = replace(odd, whole=whole)
        for _ in range(4):
            assert (await llm.reply(ask(reply_schema=SCHEMA))).text == odd.text
        assert llm.honoured.schema_level == "strict"

    async def test_what_replies_show_in_passing_ends_with_the_program_and_what_is_refused_does_not(
        self, llm_server, tmp_path
    ):
        path = tmp_path / "llm-servers.json"
        first = make(llm_server, kept=HonouredFile(path))
        llm_server.otherwise = Reply(text="It is red.")
        for _ in range(2):
            await first.reply(ask(reply_schema=SCHEMA))
        assert first.honoured.schema_level == "schema"
        assert not path.exists()
        refused = Reply(status=400, body=json.dumps({"error": {"message": "seed is not supported"}}))
        llm_server.otherwise = lambda request: refused if "seed" in request.body else Reply(text="ok")
        await first.reply(ask(sampling=Sampling(seed=1)))
        await first.close()
        again = make(llm_server, kept=HonouredFile(path))
        assert (again.honoured.schema_level, again.honoured.given_up) == ("strict", ("seed",))
        await again.close()

    async def test_a_test_goes_before_what_replies_showed_in_passing(self, llm_server, llm):
        llm_server.otherwise = Reply(text="It is red.")
        for _ in range(2):
            await llm.reply(ask(reply_schema=SCHEMA))
        assert llm.honoured.schema_level == "schema"
        llm.use_honoured(Honoured(tested=1.0))
        assert llm.honoured == Honoured(tested=1.0)

    async def test_a_reply_that_was_cut_off_says_nothing_of_the_schema(self, llm_server, llm):
        llm_server.say('{"colour": "r', finish_reason="length")
        reply = await llm.reply(ask(reply_schema=SCHEMA))
        assert (reply.note, llm.honoured.schema_level) == ("", "strict")

    async def test_what_was_found_out_holds_for_the_next_client_of_the_same_model(self, llm_server, tmp_path):
        path = tmp_path / "state" / "llm-servers.json"
        first = make(llm_server, kept=HonouredFile(path), key=KEY)
        llm_server.otherwise = refusing(lambda form: form["type"] == "json_object")
        await first.reply(ask(reply_schema=SCHEMA))
        await first.close()
        again = make(llm_server, kept=HonouredFile(path))
        assert (await again.reply(ask(reply_schema=SCHEMA))).retries == ()
        await again.close()
        other = make(llm_server, model="other", kept=HonouredFile(path))
        assert other.honoured.schema_level == "strict"
        await other.close()
        assert KEY not in path.read_text()

    async def test_a_damaged_file_of_what_was_found_out_is_begun_anew(self, llm_server, tmp_path):
        path = tmp_path / "llm-servers.json"
        path.write_text("{ half")
        llm = make(llm_server, kept=HonouredFile(path))
        llm_server.otherwise = refusing(lambda form: form["type"] == "json_object")
        assert (await llm.reply(ask(reply_schema=SCHEMA))).text
        await llm.close()
        assert "object with schema" in path.read_text()


class TestRealServersAsTheyAre:
    @pytest.mark.parametrize(
        ("status", "message"),
        [
            (400, "the request exceeds the available context size, try increasing it"),
            (400, "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens"),
            (400, "litellm.ContextWindowExceededError: prompt is too long"),
            (500, "Requested tokens (9000) exceed context window of 2048"),
        ],
    )
    async def test_a_prompt_that_is_too_long_says_so(self, llm_server, llm, status, message):
        llm_server.otherwise = Reply(status=status, body=json.dumps({"error": {"message": message}}))
        error = str(await failure(llm, sampling=Sampling(max_tokens=9)))
        assert message in error
        assert "is too long for test-model: choose an LLM" in error
        assert "check the model" not in error
        assert len(llm_server.requests) == 1

    @pytest.mark.parametrize(
        "message",
        [
            "max_tokens must be at least 1 for the maximum context length of 4096 tokens: 3000 in the messages, "
            "4096 in the completion",
            "max_tokens is too large: 4096. This model supports at most 2048 completion tokens.",
        ],
    )
    async def test_a_limit_that_nobody_has_set_is_no_reason_to_fail(self, llm_server, llm, message):
        def answer(request: Request) -> Reply:
            if "max_tokens" in request.body:
                return Reply(status=400, body=json.dumps({"error": {"message": message}}))
            return Reply(text="ok")

        llm_server.otherwise = answer
        reply = await llm.reply(ask())
        assert reply.text == "ok"
        assert "asked again without a limit" in reply.retries[0].reason

    @pytest.mark.parametrize(
        ("status", "message"),
        [
            (
                500,
                "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
            ),
            (400, "m is not a multimodal model"),
            (400, "unknown variant `image_url`, expected `text`"),
        ],
    )
    async def test_pictures_that_are_not_taken_are_left_out_and_that_is_said(
        self, llm_server, status, message
    ):
        llm = make(llm_server, images=True)
        assert llm.takes_images

        def answer(request: Request) -> Reply:
            if isinstance(request.body["messages"][0]["content"], list):
                return Reply(status=status, body=json.dumps({"error": {"message": message}}))
            return Reply(text="I see nothing.")

        llm_server.otherwise = answer
        picture = Message(role="user", text="Look.", images=(Image(data=b"picture"),))
        reply = await llm.reply(ask(messages=(picture,)))
        await llm.close()
        assert reply.text == "I see nothing."
        assert [retry.reason for retry in reply.retries] == [
            "The server does not accept pictures; asked again without the picture."
        ]
        assert len(llm_server.requests) == 2
        assert not llm.takes_images

    @pytest.mark.parametrize(
        ("status", "message"),
        [
            (500, "The model produced output that does not match the expected peg-native format"),
            (500, "error parsing tool call: raw='{\"a' err=unexpected end"),
            (400, "Failed to call a function. Please adjust your prompt."),
        ],
    )
    async def test_what_the_server_cannot_read_of_its_model_is_the_models_mistake(
        self, llm_server, llm, status, message
    ):
        llm_server.otherwise = Reply(status=status, body=json.dumps({"error": {"message": message}}))
        reply = await llm.reply(ask(tools=(CLICK,), permissible=Permissible()))
        assert (reply.text, reply.tool_calls) == ("", ())
        assert reply.note == f"The server could not read what its model wrote: {message}"
        assert len(llm_server.requests) == 1
        error = str(await failure(llm))
        assert "the server cannot read what test-model writes" in error
        assert len(llm_server.requests) == 2

    async def test_what_had_come_before_the_server_could_not_read_on_is_kept(self, llm_server, llm):
        chunk = {"choices": [{"index": 0, "delta": {"content": '{"colour": "red"}'}, "finish_reason": None}]}
        error = {
            "error": {"message": "output that does not match the expected peg-native format", "code": 500}
        }
        body = "".join(f"data: {json.dumps(one)}\n\n" for one in (chunk, error))
        llm_server.script(Reply(body=body, content_type="text/event-stream"))
        reply = await llm.reply(ask(reply_schema=SCHEMA))
        assert reply.text == '{"colour": "red"}'
        assert "does not match the expected peg-native format" in reply.note
        assert (len(llm_server.requests), llm.honoured.schema_level) == (1, "strict")

    async def test_a_reply_that_was_reasoning_alone_is_asked_for_again_with_more_room(self, llm_server, llm):
        llm.prices = Prices((Price(models=("*",), input=1, output=10),))
        usage = {"prompt_tokens": 10_000, "completion_tokens": 4096}
        llm_server.say("", reasoning="Hm, hm, hm", finish_reason="length", usage=usage)
        llm_server.say("Yes.", reasoning="Hm.", usage=usage)
        reply = await llm.reply(ask())
        assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (20_000, 8192)
        assert reply.cost == llm.meter.spent == pytest.approx(0.02 + 0.08192)
        assert reply.text == "Yes."
        assert [request.body["max_tokens"] for request in llm_server.requests] == [4096, 16384]
        assert "Reasoning used up" in reply.retries[0].reason

    async def test_the_limit_of_an_agent_s_prompt_is_for_what_is_said(self, llm_server, llm):
        prompt = {"view": VIEW, "sampling": Sampling(max_tokens=512)}
        llm_server.say("", reasoning="Hm, hm, hm", finish_reason="length")
        llm_server.otherwise = Reply(text="Yes.", reasoning="Hm.")
        assert (await llm.reply(ask(**prompt))).text == "Yes."
        await llm.reply(ask(**prompt))
        await llm.reply(ask(sampling=Sampling(max_tokens=512)))
        limits = [request.body["max_tokens"] for request in llm_server.requests]
        assert limits == [512, 512 + 16384, 512 + 16384, 512]

    @pytest.mark.parametrize(
        ("most", "limits"), [(400, [512, 512]), (20_000, [512, 512 + 16384]), (1000, [512, 1000])]
    )
    async def test_a_limit_that_the_user_has_set_bounds_the_room_for_reasoning(
        self, llm_server, most, limits
    ):
        llm = make(llm_server, sampling=Sampling(max_tokens=most))
        prompt = ask(view=VIEW, sampling=Sampling(max_tokens=512))
        llm_server.script(Reply(text="Yes."))
        await llm.reply(prompt)
        llm.use_honoured(llm.honoured.replace(reasons=True))
        llm_server.script(Reply(text="Yes."))
        await llm.reply(prompt)
        assert [request.body["max_tokens"] for request in llm_server.requests] == limits
        await llm.close()

    async def test_room_for_reasoning_that_the_server_does_not_have_means_no_limit(self, llm_server, llm):
        llm.use_honoured(llm.honoured.replace(reasons=True))
        message = "max_tokens is too large: 16896. This model supports at most 4096 completion tokens."
        llm_server.script(Reply(status=400, body=json.dumps({"error": {"message": message}})))
        llm_server.otherwise = Reply(text="Yes.")
        reply = await llm.reply(ask(view=VIEW, sampling=Sampling(max_tokens=512)))
        assert [request.body.get("max_tokens") for request in llm_server.requests] == [512 + 16384, None]
        assert reply.retries[0].reason.endswith("asked again without a limit.")


class TestLimits:
    PRICES = Prices((Price(models=("test-model",), input=1000, output=1000),))

    async def test_an_llm_that_has_cost_its_limit_is_not_asked_again(self, llm_server):
        llm = make(llm_server, prices=self.PRICES, limits=Limits(max_cost=0.2))
        llm_server.otherwise = Reply(text="ok")
        await llm.reply(ask())
        await llm.reply(ask())
        error = str(await failure(llm))
        await llm.close()
        assert "has cost $0.22 since the program started, and its max_cost is $0.2" in error
        assert len(llm_server.requests) == 2

    async def test_a_limit_that_cannot_be_kept_for_want_of_a_price_is_said(self, llm_server):
        llm = make(llm_server, limits=Limits(max_cost=0.2))
        llm_server.otherwise = Reply(text="ok")
        await llm.reply(ask())
        assert "no price is known for test-model; add one to prices.toml" in str(await failure(llm))
        await llm.close()

    async def test_a_price_that_is_added_later_is_counted_at_once_for_earlier_calls_too(
        self, llm_server, tmp_path
    ):
        own = tmp_path / "prices.toml"
        llm = make(llm_server, limits=Limits(max_cost=0.2), prices=Prices(own=own))
        llm_server.otherwise = Reply(text="ok")
        await llm.reply(ask())
        assert "no price is known for test-model" in str(await failure(llm))
        own.write_text('[[price]]\nmodels = ["test-*"]\ninput = "two"\n', encoding="utf-8")
        assert "cannot be enforced" in str(await failure(llm))
        assert "prices.toml, line 3" in str(await failure(llm))
        own.write_text('[[price]]\nmodels = ["test-*"]\ninput = 1000\noutput = 1000\n', encoding="utf-8")
        await llm.reply(ask())
        assert "has cost $0.22 since the program started, and its max_cost is $0.2" in str(await failure(llm))
        await llm.close()

    async def test_a_model_with_a_price_may_be_asked_after_one_without(self, llm_server):
        meter = Meter()
        old = make(
            llm_server, model="old-model", limits=Limits(max_cost=0.1), meter=meter, prices=self.PRICES
        )
        llm_server.otherwise = Reply(text="ok")
        await old.reply(ask())
        assert "no price is known for old-model" in str(await failure(old))
        llm = make(llm_server, limits=Limits(max_cost=0.1), meter=meter, prices=self.PRICES)
        await llm.reply(ask())
        assert "not counting calls of old-model, which have no price" in str(await failure(llm))
        assert "no price is known for old-model" in str(await failure(old))
        for one in (old, llm):
            await one.close()

    async def test_a_call_beyond_the_rate_waits_for_its_turn_and_says_so(self, llm_server, monkeypatch):
        monkeypatch.setattr("core.llm.limits._MINUTE", 0.3)
        llm = make(llm_server, limits=Limits(requests_per_minute=2))
        llm_server.otherwise = Reply(text="ok")
        began = time.monotonic()
        replies = [await llm.reply(ask()) for _ in range(3)]
        took = time.monotonic() - began
        await llm.close()
        assert took >= 0.3
        held = [retry for reply in replies for retry in reply.retries]
        assert held
        assert all("requests_per_minute = 2 of the LLM test-model is reached" in one.reason for one in held)
        assert not any(one.attempt for one in held)

    def test_tokens_of_a_minute_are_bounded_and_one_long_prompt_is_let_through(self):
        meter, limits = Meter(), Limits(tokens_per_minute=100)
        assert meter.wait(limits, 500) == (0.0, "")
        wait, limit = meter.wait(limits, 1)
        assert 0 < wait <= 60
        assert limit == "tokens_per_minute = 100"

    @pytest.mark.parametrize(
        ("words", "counted", "times"),
        # Of a short prompt the form of the chat is most; and some servers leave out what they have in their cache.
        [(1000, 1500, 1.5), (1000, 1, 0.5), (1000, 10**9, 2), (5, 300, 1)],
    )
    async def test_an_estimate_is_corrected_by_what_the_server_has_counted(
        self, llm_server, words, counted, times
    ):
        llm = make(llm_server)
        long = {"messages": (Message(role="user", text="word " * 1000),)}
        sizes = []
        for is_known in (False, True):
            if is_known:
                llm_server.say("ok", usage={"prompt_tokens": counted, "completion_tokens": 1})
                await llm.reply(ask(messages=(Message(role="user", text="word " * words),)))
            for _ in range(2):  # It is asked once more without a limit on the reply.
                llm_server.fail(400, "the prompt exceeds the context length")
            sizes.append(int(re.search(r"of about (\d+) tokens", str(await failure(llm, **long)))[1]))
        await llm.close()
        assert sizes[1] / sizes[0] == pytest.approx(times, rel=0.02)

    def test_replies_count_towards_the_tokens_of_a_minute(self):
        meter, limits = Meter(), Limits(tokens_per_minute=100)
        assert meter.wait(limits, 40)[0] == 0
        meter.count(Usage(completion_tokens=50), 0.0, "m", "m")
        assert meter.wait(limits, 5)[0] == 0
        assert meter.wait(limits, 10)[0] > 0
