import json

import pytest
from opentelemetry.trace import SpanKind

from core.schema.action import Press
from core.schema.errors import TraceError, UsageError, WorldError
from core.schema.events import BrowserEvent
from core.schema.messages import LLMRequest, Retry
from core.schema.step import Acted, CallRecord, Reviewed
from core.schema.task import Verdict
from core.trace.encoding import encode_prompt
from core.trace.exports.otel_send import send_otel
from core.trace.exports.otel_spans import export_otel, spans_of
from tests.core.trace.exports.collector import Collector, values
from tests.core.trace.exports.replaying import run_by_rules
from tests.core.trace.exports.test_json_export import write_talkative_run
from tests.core.trace.making import page, start, write_run, write_step


@pytest.fixture
def collector():
    collector = Collector()
    yield collector
    collector.server.close()


def named(spans, name):
    return [span for span in spans if span.name == name]


@pytest.mark.browser
def test_a_real_run_is_one_trace_with_steps_phases_calls_and_actions(stage, collector):
    done = run_by_rules(stage, "miniwob/login-user", preset="reflect")
    count = send_otel(stage.services.store, done.run, collector.server.origin)
    spans = collector.spans
    assert collector.paths == ["/v1/traces"]
    assert len(spans) == count
    assert len({span.trace_id for span in spans}) == 1
    ids = {span.span_id for span in spans}
    assert len(ids) == count
    (root,) = [span for span in spans if not span.parent_span_id]
    assert root.name == "invoke_agent backstep"
    assert {span.parent_span_id for span in spans} - {b""} <= ids
    assert values(root.attributes)["gen_ai.usage.input_tokens"] == done.prompt_tokens
    assert sum(span.name.startswith("step ") for span in spans) == done.steps
    by_id = {span.span_id: span for span in spans}
    calls = named(spans, "chat rules")
    assert len(calls) == done.llm_calls
    purposes = {(values(one.attributes)["backstep.purpose"], by_id[one.parent_span_id].name) for one in calls}
    assert ("plan", "decide") in purposes
    assert ("remedies", "anticipate") in purposes
    tools = [span for span in spans if span.name.startswith("execute_tool ")]
    assert [by_id[span.parent_span_id].name for span in tools] == ["act"] * len(tools)
    assert collector.resources[0]["service.name"] == "backstep"
    assert all(span.end_time_unix_nano >= span.start_time_unix_nano > 0 for span in spans)


def test_a_call_tells_its_tokens_purpose_and_failure(store, collector):
    send_otel(store, write_talkative_run(store), collector.server.origin)
    (call,) = named(collector.spans, "chat some words")
    attributes = values(call.attributes)
    assert attributes["gen_ai.operation.name"] == "chat"
    assert attributes["gen_ai.usage.input_tokens"] == 1200
    assert attributes["gen_ai.usage.output_tokens"] == 34
    assert attributes["gen_ai.usage.cache_read.input_tokens"] == 56
    assert attributes["gen_ai.request.temperature"] == 0.5
    assert attributes["backstep.purpose"] == "decide"
    assert attributes["backstep.cost"] == 0.0125
    assert call.status.code == 2
    assert [event.name for event in call.events] == ["backstep.retry", "exception"]


@pytest.mark.parametrize(
    ("content", "words"),
    [(False, {}), (True, {"exception.message": "some words"})],
)
def test_a_failed_action_is_an_exception_of_its_tool(store, collector, content, words):
    send_otel(store, write_talkative_run(store), collector.server.origin, content=content)
    (tool,) = named(collector.spans, "execute_tool click")
    assert tool.status.code == 2
    assert tool.status.message == ("some words" if content else "The action failed.")
    events = {event.name: values(event.attributes) for event in tool.events}
    assert events["exception"] == {"exception.type": "ActionError", **words}
    assert "backstep.browser.dialog" in events


def test_sending_twice_gives_the_same_spans(store, collector):
    run = write_talkative_run(store)
    send_otel(store, run, collector.server.origin)
    send_otel(store, run, f"{collector.server.origin}/v1/traces")
    half = len(collector.spans) // 2
    assert [span.SerializeToString() for span in collector.spans[:half]] == [
        span.SerializeToString() for span in collector.spans[half:]
    ]


def test_what_was_said_and_typed_is_left_out_unless_it_is_asked_for(store):
    run = write_run(store, instruction="A secret errand", answer="A secret answer")
    assert "ecret" not in export_otel(store, run)
    assert "The draft is to be saved." not in export_otel(store, run)
    exported = export_otel(store, run, content=True)
    for words in ("A secret errand", "A secret answer", "The draft is to be saved."):
        assert words in exported


def test_what_failures_say_is_left_out_unless_it_is_asked_for(store):
    words = "secret of https://shop.example/find?q=gift"
    run = store.begin_run(start())
    store.begin_step(run, 1)
    store.save_phase(run, 1, Reviewed(origin="person", action=Press(keys="a")))
    hang = BrowserEvent(kind="hang", text=f"A hang, {words}")
    store.save_phase(
        run,
        1,
        Acted(effect="page action", outcome="failed", message=f"An action, {words}", events=(hang,)),
    )
    store.pages.save_event(run, 1, BrowserEvent(kind="load_failed", text=f"A load, {words}"))
    prompt = encode_prompt(LLMRequest(purpose="decide", messages=()))
    call = CallRecord(
        number=1,
        step=1,
        purpose="decide",
        llm="test",
        messages=prompt.hash,
        started=1.0,
        retries=(Retry(reason=f"A retry, {words}", waited=1.0),),
        error=f"A call, {words}",
    )
    store.calls.save(run, call, blobs=prompt.blobs)
    store.end_run(
        run, outcome="error", verdict=Verdict(), error=f"A run, {words}", seconds=1.0, seconds_in_llm=1.0
    )
    silent, told = export_otel(store, run), export_otel(store, run, content=True)
    assert "ecret" not in silent
    for kind in ("ActionError", "hang", "load_failed", "LLMError", "run failed"):
        assert f'"{kind}"' in silent
    for what in ("An action", "A hang", "A load", "A retry", "A call", "A run"):
        assert f"{what}, {words}" in told


def test_with_content_a_call_holds_its_messages(store):
    run = write_talkative_run(store)
    (call,) = [span for span in spans_of(store, run, content=True) if span.kind is SpanKind.CLIENT]
    assert json.loads(call.attributes["gen_ai.system_instructions"]) == [
        {"type": "text", "content": "some words"}
    ]
    user, assistant = json.loads(call.attributes["gen_ai.input.messages"])
    assert user["parts"][1] == {"type": "blob", "modality": "image", "mime_type": "image/webp"}
    assert assistant["parts"][0]["type"] == "tool_call"
    assert "gen_ai.output.messages" in call.attributes
    assert not any("messages" in key for span in spans_of(store, run) for key in span.attributes)


def test_the_file_is_otlp_json_with_the_same_spans_as_are_sent(store, collector):
    run = write_talkative_run(store)
    send_otel(store, run, collector.server.origin)
    (source,) = json.loads(export_otel(store, run))["resourceSpans"]
    written = source["scopeSpans"][0]["spans"]
    assert [(one["traceId"], one["spanId"], one.get("parentSpanId", ""), one["name"]) for one in written] == [
        (one.trace_id.hex(), one.span_id.hex(), one.parent_span_id.hex(), one.name) for one in collector.spans
    ]
    assert [(int(one["startTimeUnixNano"]), one["kind"]) for one in written] == [
        (one.start_time_unix_nano, one.kind) for one in collector.spans
    ]
    for one, sent in zip(written, collector.spans, strict=True):
        assert {entry["key"] for entry in one["attributes"]} == set(values(sent.attributes))


def test_addresses_lose_what_may_have_been_typed_into_them(store):
    run = store.begin_run(start())
    write_step(store, run, 1, observation=page("Go", url="https://me:pw@shop.example/find?q=gift#x"))
    (step,) = [span for span in spans_of(store, run) if span.name == "step 1"]
    assert step.attributes["url.full"] == "https://shop.example/find"


@pytest.mark.parametrize(("url", "started"), [("http://[bad/x", -5.0), ("http://[x", 5.9e10)])
def test_an_address_and_a_time_that_are_none_keep_no_run_from_being_exported(store, url, started):
    run = write_run(store, steps=0)
    write_step(store, run, 1, observation=page("Go", url=url))
    store._database.execute("UPDATE runs SET started = ?, ended = ?", (started, started))
    (source,) = json.loads(export_otel(store, run))["resourceSpans"]
    begun = int(source["scopeSpans"][0]["spans"][0].get("startTimeUnixNano", 0))
    assert begun == (0 if started < 0 else 2**64 - 1)


@pytest.mark.parametrize("endpoint", ["", "collector:4318", "ftp://x/", "http://[x"])
def test_what_is_no_address_is_refused(store, endpoint):
    with pytest.raises(UsageError, match="not the address of a collector"):
        send_otel(store, write_run(store), endpoint)


def test_a_collector_that_refuses_is_reported_with_its_answer(store):
    collector = Collector(status=400)
    try:
        with pytest.raises(WorldError, match=r"were not accepted at http://127\.0\.0\.1:\d+/v1/traces.*400"):
            send_otel(store, write_run(store), collector.server.origin)
    finally:
        collector.server.close()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_of_a_collector_is_not_followed_and_no_success(store, collector, status):
    redirecting = Collector(status, location=f"{collector.server.origin}/v1/traces?key=secret")
    origin = redirecting.server.origin
    try:
        with pytest.raises(WorldError) as caught:
            send_otel(store, write_run(store), origin)
    finally:
        redirecting.server.close()
    assert str(caught.value) == (
        f"The collector at {origin}/v1/traces redirects to {collector.server.origin}/v1/traces, "
        "and redirects are not followed; give the address of the collector itself."
    )
    assert collector.paths == []


def test_a_redirect_to_what_is_no_address_is_reported(store):
    redirecting = Collector(302, location="http://[x")
    try:
        with pytest.raises(WorldError, match="redirects to what is no address"):
            send_otel(store, write_run(store), redirecting.server.origin)
    finally:
        redirecting.server.close()


def test_a_run_that_is_not_there_is_refused(store):
    with pytest.raises(TraceError, match="no run 9"):
        export_otel(store, 9)
