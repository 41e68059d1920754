"""A run as one OpenTelemetry trace, by the conventions for generative AI (``gen_ai.*``, status Development).

The run is the root (``invoke_agent``), each step lies in it, each phase in its step, each LLM call (``chat``)
and each action (``execute_tool``) in its phase. Other attributes begin with ``backstep.``. A phase begins at
the end of the one before, so it includes a person's thinking time. In a file, the spans are OTLP/JSON, the
format that collectors read.
"""

import json
from base64 import b64decode
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from core.llm.registry import PREFIX
from core.schema.events import BrowserEvent
from core.schema.formats import encodable
from core.schema.messages import LLMReply, Message, Prompt
from core.schema.step import Acted, CallRecord, Phase, calls_of
from core.settings.settings import LOCAL_PREFIX
from core.system.program import program_version
from core.trace.calls import stored_prompt, stored_reply
from core.trace.exports.hiding import hiding
from core.trace.exports.steps import AGENT, RunStep, id_of, steps_of
from core.trace.records import RunRow, StepTimes
from core.trace.store import TraceStore

Value = str | bool | int | float | tuple[str, ...] | None
_FAILURES = ("crash", "hang", "replaced", "certificate", "load_failed")
"""Kinds of browser events that are written as exceptions."""
_FAILED = {
    "run failed": "The run failed.",
    "LLMError": "The LLM call failed.",
    "ActionError": "The action failed.",
}
"""What is said of each kind of failure without its own words, which may quote a page, an address or typed text."""


def spans_of(store: TraceStore, run: int, *, content: bool = False) -> tuple[ReadableSpan, ...]:
    """Return the spans of a run, each after its parent; raises TraceError if a part of it is damaged.

    Their ids are the same whenever a run is exported. Without `content` they hold no words of the task, the pages,
    the prompts and the replies, nothing that was typed, and of failures only their kinds.
    """
    row = store.run(run)
    made = _Spans(store, row, content)
    steps = steps_of(store, run)
    times = {one.number: one for one in store.times(run)}
    end = row.ended or max([row.started, *(one.ended for one in times.values())])
    spans = [made.of_run(end)]
    spans += [made.of_call(call, spans[0]) for call in store.calls.of(run) if call.step == 0]
    for step in steps:
        spans += made.of_step(step, times[step.number], spans[0])
    return tuple(spans)


class _Spans:
    """Makes the spans of one run."""

    def __init__(self, store: TraceStore, row: RunRow, content: bool) -> None:
        self._store = store
        self._row = row
        self._content = content
        self._trace = id_of(row)
        self._resource = Resource({"service.name": AGENT, "service.version": program_version()})
        self._scope = InstrumentationScope(AGENT, program_version())

    def of_run(self, end: float) -> ReadableSpan:
        row = self._row
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": _provider(row.llm),
            "gen_ai.agent.name": AGENT,
            "gen_ai.agent.version": program_version(),
            "gen_ai.conversation.id": self._trace,
            "gen_ai.request.model": row.llm,
            "gen_ai.usage.input_tokens": row.prompt_tokens,
            "gen_ai.usage.output_tokens": row.completion_tokens,
            "backstep.run": row.run,
            "backstep.task": row.task,
            "backstep.seed": row.seed,
            "backstep.preset": row.preset,
            "backstep.browser": row.browser,
            "backstep.outcome": row.outcome,
            "backstep.success": row.verdict.success,
            "backstep.reward": row.verdict.reward,
            "backstep.judge": row.verdict.judge,
            "backstep.steps": row.steps,
            "backstep.llm_calls": row.llm_calls,
            "backstep.cost": row.cost,
            "backstep.touched": row.touched,
            "backstep.left_out": self._store.left_out or None,
        }
        if self._content:
            attributes["gen_ai.input.messages"] = json.dumps([_message("user", row.instruction)])
            attributes["gen_ai.output.messages"] = json.dumps([_message("assistant", row.answer)])
            attributes["url.full"] = row.start_url
        events = [self._event(event.event, event.time) for event in self._store.pages.events(row.run)]
        error = ("run failed", row.error) if row.outcome == "error" else None
        return self._span(
            f"invoke_agent {AGENT}", ("run",), None, row.started, end, attributes, events=events, error=error
        )

    def of_step(self, step: RunStep, times: StepTimes, parent: ReadableSpan) -> list[ReadableSpan]:
        """Return the step's span, and those of its phases, calls and action."""
        row = step.row
        attributes: dict[str, Value] = {
            "backstep.step": row.number,
            "backstep.trial": row.trial,
            "backstep.origin": step.origin,
            "backstep.effect": row.effect,
            "backstep.outcome": row.outcome,
            "backstep.state": row.state,
            "backstep.sealed": row.sealed,
            "backstep.undone_by_step": step.undone_by,
            "url.full": row.url if self._content else _plain_url(row.url),
        }
        if self._content:
            attributes |= {"backstep.thought": row.thought, "backstep.action": row.action}
        whole = self._span(f"step {row.number}", (row.number,), parent, times.begun, times.ended, attributes)
        spans, by_phase = [whole], dict[Phase, ReadableSpan]()
        since = times.begun
        for timed in times.phases:
            phase = timed.phase
            about: dict[str, Value] = {"backstep.step": row.number, "backstep.phase": phase}
            by_phase[phase] = self._span(phase, (row.number, phase), whole, since, timed.saved, about)
            since = max(since, timed.saved)
        spans += by_phase.values()
        asked_in = {number: record.phase for record in step.detail.records for number in calls_of(record)}
        for call in step.detail.calls:
            spans.append(self.of_call(call, by_phase.get(asked_in.get(call.number, "decide"), whole)))
        if step.acted is not None and step.acted.effect == "page action" and "act" in by_phase:
            spans.append(self._of_action(step, step.acted, by_phase["act"]))
        return spans

    def of_call(self, call: CallRecord, parent: ReadableSpan) -> ReadableSpan:
        """Return the span of an LLM call."""
        prompt, reply = stored_prompt(self._store, call), stored_reply(self._store, call)
        sampling = prompt.sampling
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": _provider(call.llm),
            "gen_ai.conversation.id": self._trace,
            "gen_ai.request.model": call.llm,
            "gen_ai.request.temperature": sampling.temperature,
            "gen_ai.request.top_p": sampling.top_p,
            "gen_ai.request.max_tokens": sampling.max_tokens,
            "gen_ai.request.seed": sampling.seed,
            "gen_ai.response.model": call.model or None,
            "gen_ai.response.finish_reasons": (reply.finish_reason,)
            if reply and reply.finish_reason
            else None,
            "gen_ai.usage.input_tokens": call.usage.prompt_tokens,
            "gen_ai.usage.output_tokens": call.usage.completion_tokens,
            "gen_ai.usage.cache_read.input_tokens": call.usage.cached_tokens,
            "backstep.usage.estimated": call.usage.estimated,
            "backstep.call": call.number,
            "backstep.step": call.step,
            "backstep.purpose": call.purpose,
            "backstep.cost": call.cost,
        }
        if self._content:
            attributes |= _said(prompt, reply)
        end = call.started + call.seconds
        events = [
            _event(
                "backstep.retry",
                call.started,
                {
                    "backstep.reason": retry.reason if self._content else None,
                    "backstep.waited": retry.waited,
                },
            )
            for retry in call.retries
        ]
        return self._span(
            f"chat {call.model or call.llm}",
            ("call", call.number),
            parent,
            call.started,
            end,
            attributes,
            kind=SpanKind.CLIENT,
            events=events,
            error=("LLMError", call.error) if call.error else None,
        )

    def _of_action(self, step: RunStep, acted: Acted, phase: ReadableSpan) -> ReadableSpan:
        action = step.action
        name = action.name if action is not None else "none"
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": f"step-{step.number}",
            "backstep.step": step.number,
            "backstep.settled": acted.settled,
            "backstep.primitives": tuple(primitive.action.kind for primitive in acted.primitives) or None,
            **{f"backstep.milliseconds.{part}": spent for part, spent in acted.milliseconds.items()},
        }
        if self._content and action is not None:
            values = action.model_dump(mode="json", exclude={"kind", "name"})
            attributes["gen_ai.tool.call.arguments"] = json.dumps(values)
            attributes["gen_ai.tool.call.result"] = acted.message or acted.outcome
            attributes["backstep.target"] = acted.target
        assert phase.start_time is not None
        assert phase.end_time is not None
        end = phase.end_time / 1e9
        events = [self._event(event, end) for event in acted.events]
        failed = acted.outcome == "failed"
        return self._span(
            f"execute_tool {name}",
            (step.number, "action"),
            phase,
            phase.start_time / 1e9,
            end,
            attributes,
            events=events,
            error=("ActionError", acted.message) if failed else None,
        )

    def _event(self, event: BrowserEvent, time: float) -> Event:
        if event.kind in _FAILURES:
            return self._exception(event.kind, event.text, time)
        attributes: dict[str, Value] = {"backstep.text": event.text} if self._content else {}
        return _event(f"backstep.browser.{event.kind}", time, attributes)

    def _exception(self, kind: str, message: str, time: float) -> Event:
        said = (message or _FAILED.get(kind)) if self._content else None
        return _event("exception", time, {"exception.type": kind, "exception.message": said})

    def _span(
        self,
        name: str,
        parts: tuple[object, ...],
        parent: ReadableSpan | None,
        start: float,
        end: float,
        attributes: dict[str, Value],
        *,
        kind: SpanKind = SpanKind.INTERNAL,
        events: Sequence[Event] = (),
        error: tuple[str, str] | None = None,
    ) -> ReadableSpan:
        """Return a span; `error` is the kind and the words of what failed."""
        status = Status()
        if error is not None:
            attributes["error.type"] = error[0]
            events = [*events, self._exception(*error, end)]
            status = Status(StatusCode.ERROR, encodable((self._content and error[1]) or _FAILED[error[0]]))
        id = int(id_of(self._row, "span", *parts, digits=16), 16)
        flags = TraceFlags(TraceFlags.SAMPLED)
        return ReadableSpan(
            name=encodable(name),
            context=SpanContext(int(self._trace, 16), id, is_remote=False, trace_flags=flags),
            parent=parent.context if parent is not None else None,
            resource=self._resource,
            attributes=_clean(attributes),
            events=events,
            kind=kind,
            instrumentation_scope=self._scope,
            status=status,
            start_time=_nanoseconds(start),
            end_time=_nanoseconds(max(start, end)),
        )


def _provider(llm: str) -> str:
    """Return who provides an LLM: ourselves, or a server that speaks OpenAI's protocol."""
    return AGENT if llm in ("rules", "person") or llm.startswith((LOCAL_PREFIX, PREFIX)) else "openai"


def _said(prompt: Prompt, reply: LLMReply | None) -> dict[str, Value]:
    attributes: dict[str, Value] = {}
    system = [message.text for message in prompt.messages if message.role == "system"]
    if system:
        attributes["gen_ai.system_instructions"] = json.dumps(
            [{"type": "text", "content": text} for text in system]
        )
    rest = [_parts(message) for message in prompt.messages if message.role != "system"]
    attributes["gen_ai.input.messages"] = json.dumps(rest)
    if prompt.tools:
        attributes["gen_ai.tool.definitions"] = json.dumps(
            [{"type": "function", **tool.model_dump()} for tool in prompt.tools]
        )
    if reply is not None:
        answer = _parts(Message(role="assistant", text=reply.text, tool_calls=reply.tool_calls))
        attributes["gen_ai.output.messages"] = json.dumps([{**answer, "finish_reason": reply.finish_reason}])
    return attributes


def _parts(message: Message) -> dict[str, Any]:
    """Return a message as the conventions have it; pictures are named by their type alone."""
    if message.role == "tool":
        answer = {"type": "tool_call_response", "id": message.tool_call_id, "response": message.text}
        return {"role": "tool", "parts": [answer]}
    converted = _message(message.role, message.text)
    converted["parts"] += [
        {"type": "blob", "modality": "image", "mime_type": image.mime} for image in message.images
    ]
    converted["parts"] += [
        {"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments}
        for call in message.tool_calls
    ]
    return converted


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}] if text else []}


def _event(name: str, time: float, attributes: dict[str, Value]) -> Event:
    return Event(name, _clean(attributes), _nanoseconds(time))


def _clean(attributes: dict[str, Value]) -> dict[str, Any]:
    """Return the attributes that have a value."""
    return {
        key: encodable(value) if isinstance(value, str) else value
        for key, value in attributes.items()
        if value is not None
    }


def _plain_url(url: str) -> str:
    """Return the URL without what may be typed into it."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""  # It is not an address.
    if parts.scheme not in ("http", "https", "file"):
        return f"{parts.scheme}:" if parts.scheme else ""
    return parts._replace(query="", fragment="", netloc=parts.netloc.rpartition("@")[2]).geturl()


def _nanoseconds(seconds: float) -> int:
    """Return a moment as spans have it; OTLP has none before 1970 or after 2554."""
    return min(max(round(seconds * 1e9), 0), (1 << 64) - 1)


@hiding
def export_otel(store: TraceStore, run: int, *, content: bool = False) -> str:
    """Return the trace as one OTLP/JSON object; what was said and typed is in it only with `content`."""
    request = encode_spans(spans_of(store, run, content=content))
    whole = MessageToDict(request, use_integers_for_enums=True)
    (source,) = whole["resourceSpans"]
    for span in source["scopeSpans"][0]["spans"]:
        for key in span.keys() & {"traceId", "spanId", "parentSpanId"}:
            span[key] = b64decode(span[key]).hex()  # OTLP writes ids otherwise than other JSON of protobuf.
    return json.dumps(whole)
