"""Copies of runs without secrets, whatever shows them to be secret."""

import json

import pytest

from core.schema.action import RefTarget, Type
from core.schema.element_identity import ElementMark, RecordedInput
from core.schema.messages import LLMReply, LLMRequest, Message, ToolCall
from core.schema.observation import Box, Element, Observation
from core.schema.step import Acted, CallRecord, Decided, Observed, Proposal, Reviewed, record_of
from core.trace.calls import stored_prompt, stored_reply
from core.trace.encoding import encode_prompt, encode_reply
from core.trace.exports.hiding import without_secrets
from core.trace.exports.registry import FORMATS, format_named
from tests.core.trace.exports.test_secrets import texts_of
from tests.core.trace.making import start


def typed_run(
    store, label: str, text: str, *, said: str = "", arguments: str = "", proposed: Type | None = None
) -> int:
    """Write a run that types into a field which only its label shows to be secret, and sees it there.

    `said` and `arguments` are of the reply, and `proposed` what a person corrected.
    """
    field = Element(ref=3, role="textbox", name=label, uses=("type",), box=Box(x=0, y=0, width=9, height=9))
    action = Type(target=RefTarget(ref=3), text=text)
    run = store.begin_run(start())
    store.begin_step(run, 1)
    words = f'You did {action}, and see:\n[3] textbox "{label}" value="{text}"\nThere is a room 4711 B.'
    call = ToolCall(name="type", arguments=arguments or json.dumps({"target": 3, "text": text}))
    messages = (Message(role="user", text=words), Message(role="assistant", text=said))
    prompt = encode_prompt(LLMRequest(purpose="decide", messages=messages))
    reply, blob = encode_reply(LLMReply(text=said, tool_calls=(call,)))
    record = CallRecord(
        number=1, step=1, purpose="decide", llm="x", messages=prompt.hash, reply=reply, started=1.0
    )
    store.calls.save(run, record, blobs=(*prompt.blobs, blob))
    done = RecordedInput(step=1, action=action, marks={"target": ElementMark(element=field)})
    for record in (
        Observed(observation=Observation(url="https://a.test/", elements=(field,))),
        Decided(proposal=Proposal(action=proposed or action, thought="I type it.")),
        Reviewed(origin="agent", action=action, thought="I type it."),
        Acted(effect="page action", outcome="done", target=f'textbox "{label}"', inputs=(done,)),
    ):
        store.save_phase(run, 1, record)
    store.begin_step(run, 2)
    seen = Observation(url="https://a.test/", elements=(field.replace(value=text),))
    store.save_phase(run, 2, Observed(observation=seen))
    return run


@pytest.mark.parametrize(
    ("label", "text", "told"),
    [
        ("PIN", "4711", "1 PIN was left out."),
        ('Your "secret" API key', "my key]-is\\77", "1 key was left out."),
        ("Card code", "987", "1 card code was left out."),
        ("Schlüssel PIN", "四七", "1 PIN was left out."),
        ("API key", "schlüssel-77-x", "1 key was left out."),
        ("PIN", "\ud83d1", "1 PIN was left out."),
    ],
)
def test_what_is_typed_into_a_field_that_its_label_shows_to_be_secret_is_bullets(store, label, text, told):
    run = typed_run(store, label, text)
    with without_secrets(store, run) as hidden:
        assert hidden.left_out == told
        exported = {form.name: texts_of(form.write(hidden, run)).decode(errors="replace") for form in FORMATS}
        exported["otel"] = format_named("otel").write(hidden, run, content=True).decode()
        assert hidden.steps(run)[0].action == f"type [3] [{'•' * len(text)}]"
        assert hidden.step(run, 2).records[0].observation.elements[0].value == "•" * len(text)
    assert "warn(" in exported["playwright"]
    for name, whole in exported.items():
        held = whole.replace("room 4711 B", "")
        ways = {text, json.dumps(text)[1:-1], json.dumps(json.dumps(text)[1:-1])[1:-1]}
        assert [way for way in ways if f"[{way}" in held or f'"{way}' in held] == [], name


@pytest.mark.parametrize(
    ("text", "reply", "shown"),
    [
        (
            "4711",
            'The PIN is "4711".\n{"name":"type","target":3,"text":"4711"}',
            'The PIN is "••••".\n{"name":"type","target":3,"text":"••••"}',
        ),
        (
            "4711",
            '{"actions":[{"target":3,"text":"4711"},{"target":5,"text":"4711"}]}',
            '{"actions":[{"target":3,"text":"••••"},{"target":5,"text":"••••"}]}',
        ),
        ("4", '{"target": "4", "text": "4"}', '{"target": "4", "text": "•"}'),
        ("type", '{"name": "type","target":3,"text":"type"}', '{"name": "type","target":3,"text":"••••"}'),
        ("text", '{"target":3, "text": "text"}', '{"target":3, "text": "••••"}'),
        ("4711", 'type [3] "4711"', 'type [3] "••••"'),
    ],
)
def test_of_a_reply_only_what_it_asked_to_type_is_bullets_wherever_it_stands(store, text, reply, shown):
    run = typed_run(store, "PIN", text, said=reply, arguments=reply)
    with without_secrets(store, run) as hidden:
        (call,) = hidden.calls.of(run)
        stored = stored_reply(hidden, call)
        said = [stored.text, stored.tool_calls[0].arguments, stored_prompt(hidden, call).messages[1].text]
        assert said == [shown] * 3


def test_what_was_proposed_for_another_target_is_bullets_too(store):
    run = typed_run(store, "PIN", "4711", proposed=Type(target=RefTarget(ref=7), text="4711"))
    with without_secrets(store, run) as hidden:
        decided = record_of(Decided, hidden.step(run, 1).records)
        assert str(decided.proposal.action) == "type [7] [••••]"


def test_the_same_words_typed_into_another_field_stay(store):
    pin, amount = (
        Element(ref=ref, role="textbox", name=name, uses=("type",), box=Box(x=0, y=0, width=9, height=9))
        for ref, name in ((3, "PIN"), (4, "Amount"))
    )
    run = store.begin_run(start())
    for number, field in enumerate((pin, amount), 1):
        action = Type(target=RefTarget(ref=field.ref), text="20")
        call = ToolCall(name="type", arguments=json.dumps({"text": "20", "target": field.ref}))
        words = 'The text is "20" or {"text": "20"}.'
        prompt = encode_prompt(LLMRequest(purpose="decide", messages=(Message(role="user", text=words),)))
        reply, blob = encode_reply(LLMReply(text="20", tool_calls=(call,)))
        record = CallRecord(
            number=number,
            step=number,
            purpose="decide",
            llm="x",
            messages=prompt.hash,
            reply=reply,
            started=1.0,
        )
        store.begin_step(run, number)
        store.calls.save(run, record, blobs=(*prompt.blobs, blob))
        done = RecordedInput(step=number, action=action, marks={"target": ElementMark(element=field)})
        for phase in (
            Observed(observation=Observation(url="https://a.test/", elements=(pin, amount))),
            Reviewed(origin="agent", action=action, thought=""),
            Acted(effect="page action", outcome="done", target=f'textbox "{field.name}"', inputs=(done,)),
        ):
            store.save_phase(run, number, phase)
    with without_secrets(store, run) as hidden:
        assert [row.action for row in hidden.steps(run)] == ["type [3] [••]", "type [4] [20]"]
        stored = [record_of(Reviewed, hidden.step(run, number).records).action.text for number in (1, 2)]
        assert stored == ["••", "20"]
        replies = [stored_reply(hidden, call) for call in hidden.calls.of(run)]
        assert [(one.text, json.loads(one.tool_calls[0].arguments)["text"]) for one in replies] == [
            ("20", "••"),
            ("20", "20"),
        ]
        assert [stored_prompt(hidden, call).messages[0].text for call in hidden.calls.of(run)] == [words] * 2
