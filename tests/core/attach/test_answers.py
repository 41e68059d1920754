"""What is read from an LLM's answer to an attached agent."""

import json

from core.attach.answers import said_of, texts_of, thought_of
from core.schema.messages import LLMReply, ToolCall

ANSWER = {
    "memory": "Rome it is.",
    "next_goal": "Rome it is.",
    "action": [{"input": {"index": 3, "text": "Rome"}}],
}


def test_the_thought_is_what_agents_have_put_under_such_names() -> None:
    assert thought_of(LLMReply(text=json.dumps(ANSWER))) == "Rome it is."
    assert thought_of(LLMReply(text="I press it.")) == "I press it."


def test_what_is_to_be_typed_stands_in_the_answer_or_in_its_tool_calls() -> None:
    call = ToolCall(id="1", name="fill", arguments='{"ref": "e3", "value": "Oslo"}')
    assert list(texts_of(LLMReply(text=json.dumps(ANSWER), tool_calls=(call,)))) == ["Rome", "Oslo"]
    assert list(texts_of(LLMReply(text="type it"))) == []


def test_answers_that_differ_in_the_thought_alone_say_the_same() -> None:
    other = {**ANSWER, "memory": "To Rome.", "next_goal": "Type it."}
    said = '{"action": [{"input": {"index": 3, "text": "Rome"}}]}'
    assert {said_of(LLMReply(text=json.dumps(one))) for one in (ANSWER, other)} == {said}
    call = ToolCall(id="1", name="click", arguments='{"ref": "e3"}')
    assert said_of(LLMReply(text="I click.", tool_calls=(call,))) == 'click({"ref": "e3"})'
    assert said_of(LLMReply(text="<think>Which?</think>Two")) == "Two"
