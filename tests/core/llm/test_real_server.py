"""The client at a real server, where BACKSTEP_LLM_SERVER gives the address of one; see tests/README.md.

A tiny model with random weights will do: nothing here depends on what it says.
"""

import asyncio
import os

import pytest

from core.agent.general_space import permissible_of
from core.llm.openai_compatible import OpenAICompatibleLLM
from core.llm.probes import Prober, in_words
from core.llm.repair import read_reply
from core.schema.errors import LLMError
from core.schema.messages import Image, LLMRequest, Message, Sampling, Tool
from tests.core.observations import element, observation, options

SERVER = os.environ.get("BACKSTEP_LLM_SERVER", "")
pytestmark = [
    pytest.mark.program,
    pytest.mark.skipif(not SERVER, reason="BACKSTEP_LLM_SERVER names no LLM server"),
]

PAGE = observation(
    element(1, "button", "Save"),
    element(2, "textbox", "Name", uses=("click", "type")),
    element(3, "combobox", "City", uses=("select",), options=options("Oslo", "Rome")),
    element(4, "checkbox", "I agree", uses=("check",)),
)
ONE_PIXEL = (
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cfc0000003010100"
    "18dd8db00000000049454e44ae426082"
)


@pytest.fixture
async def llm():
    model = os.environ.get("BACKSTEP_LLM_MODEL", "")
    if not model:
        first = OpenAICompatibleLLM("first", base_url=SERVER)
        model = (await first.models())[0]
        await first.close()
    llm = OpenAICompatibleLLM(model, base_url=SERVER, attempts=1, timeout_seconds=120, images=True)
    yield llm
    await llm.close()


def asked(text: str, **more) -> LLMRequest:
    return LLMRequest(purpose="decide", messages=(Message(role="user", text=text),), **more)


async def test_a_test_finds_out_what_the_server_honours(llm):
    found = await Prober(llm, lambda what: None).probe()
    assert found.tested
    assert in_words(found)
    assert llm.honoured == found


async def test_each_reply_is_a_permissible_action_where_the_server_keeps_to_a_schema(llm):
    permissible = permissible_of(PAGE, back=1)
    request = asked(
        "Reply with one JSON object: what do you do next?",
        permissible=permissible,
        reply_schema=permissible.reply_schema(1),
        sampling=Sampling(temperature=1.0, max_tokens=400),
    )
    kept = 0
    for seed in range(5):
        reply = await llm.reply(request.replace(sampling=request.sampling.replace(seed=seed)))
        if llm.honoured.schema_level not in ("strict", "schema", "object with schema"):
            pytest.skip("this server keeps to no schema")
        # What a random model leaves without an end is cut off, or the server cannot read it; all else is an action.
        if reply.finish_reason == "length" or reply.note:
            continue
        proposal, queue = read_reply(reply, request, "json")
        # A schema of llama.cpp bounds no fractions, such as the seconds to wait.
        assert proposal.problem == "" or "wait cannot use seconds" in proposal.problem, reply.text
        assert queue == ()
        kept += 1
    assert kept


async def test_a_picture_is_taken_or_left_out_and_said(llm):
    picture = Message(
        role="user", text="Look.", images=(Image(data=bytes.fromhex(ONE_PIXEL), mime="image/png"),)
    )
    request = LLMRequest(purpose="judge", messages=(picture,), sampling=Sampling(max_tokens=8))
    reply = await llm.reply(request)
    assert llm.takes_images or "does not accept pictures" in reply.retries[0].reason


async def test_a_tool_call_comes_back_or_a_reason_why_there_is_none(llm):
    lamp = Tool(
        name="switch_lamp", description="Switches it.", parameters={"type": "object", "properties": {}}
    )
    request = asked(
        "Switch the lamp on.",
        tools=(lamp,),
        tool_choice="required",
        permissible=permissible_of(PAGE),
        sampling=Sampling(max_tokens=64),
    )
    reply = await llm.reply(request)
    assert reply.tool_calls or reply.text or reply.note or reply.finish_reason == "length"


async def test_a_prompt_beyond_the_context_says_so(llm):
    said = ""
    try:
        async with asyncio.timeout(60):
            await llm.reply(asked("word " * 300_000, sampling=Sampling(max_tokens=1)))
    except TimeoutError:
        pytest.skip("this server does not answer a prompt that is too long")
    except LLMError as error:
        said = str(error)
    if not said or "broke" in said:
        pytest.skip("this server takes prompts of any length, or breaks off")
    assert "is too long for" in said


async def test_a_call_can_be_made_after_one_was_cancelled(llm):
    begun = asyncio.Event()
    long = asked("Write the numbers from one to five hundred in words.", sampling=Sampling(max_tokens=4000))
    task = asyncio.ensure_future(llm.reply(long, on_text=lambda piece: begun.set()))
    begins = asyncio.ensure_future(begun.wait())
    await asyncio.wait({task, begins}, return_when=asyncio.FIRST_COMPLETED)
    begins.cancel()
    task.cancel()
    await asyncio.wait({task})
    reply = await llm.reply(asked("Say yes.", sampling=Sampling(max_tokens=8)))
    assert reply.usage.prompt_tokens > 0
