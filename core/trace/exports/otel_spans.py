"""A run as one OpenTelemetry trace, by the conventions for generative AI (``gen_ai.*``, status Development).

The run is the root (``invoke_agent``), each step lies in it, each phase in its step, each LLM call (``chat``)
and each action (``execute_tool``) in its phase. Other attributes begin with ``backstep.``. A phase begins at
the end of the one before, so it includes a person's thinking time. In a file, the spans are OTLP/JSON, the
format that collectors read.
"""

import json
from typing import Any, Literal
from urllib.parse import urlsplit

from core.llm.registry import PREFIX
from core.schema.events import BrowserEvent
from core.schema.messages import LLMReply, Message
from core.schema.record import Record
from core.schema.step import Acted, CallRecord, Phase, calls_of
from core.settings.settings import LOCAL_PREFIX
from core.system.program import program_version
from core.trace.calls import stored_prompt, stored_reply
from core.trace.encoding import Prompt
from core.trace.exports.hiding import hiding
from core.trace.exports.steps import AGENT, RunStep, id_of, steps_of
from core.trace.records import RunRow, StepTimes
from core.trace.store import TraceStore

Value = str | bool | int | float | tuple[str, ...]
_FAILURES = ("crash", "hang", "replaced", "certificate", "load_failed")
"""Kinds of browser events that are written as exceptions."""


class SpanEvent(Record):
    """An event at one moment of a span."""

    name: str
    time: int
    """Nanoseconds since the epoch."""
    attributes: dict[str, Value] = {}


class Span(Record):
    """One span; the trace's and the spans' ids are the same whenever a run is exported."""

    trace: str
    """32 hexadecimal digits."""
    id: str
    """16 hexadecimal digits."""
    parent: str = ""
    name: str
    kind: Literal["internal", "client"] = "internal"
    start: int
    """Nanoseconds since the epoch."""
    end: int
    attributes: dict[str, Value] = {}
    events: tuple[SpanEvent, ...] = ()
    error: str | None = None
    """Why what it stands for failed; None if it did not."""


def resource() -> dict[str, Value]:
    """Return what all spans of a run come from."""
    return {"service.name": AGENT, "service.version": program_version()}


def spans_of(store: TraceStore, run: int, *, content: bool = False) -> tuple[Span, ...]:
    """Return the spans of a run, each after its parent; raises TraceError if a part of it is damaged.

    Without `content` they hold no words of the task, the pages, the prompts
    and the replies, and nothing that was typed.
    """
    row = store.run(run)
    made = _Spans(store, row, content)
    steps = steps_of(store, run)
    times = {one.number: one for one in store.times(run)}
    end = row.ended or max([row.started, *(one.ended for one in times.values())])
    spans = [made.of_run(end)]
    spans += [made.of_call(call, spans[0].id) for call in store.calls.of(run) if call.step == 0]
    for step in steps:
        spans += made.of_step(step, times[step.number], spans[0].id)
    return tuple(spans)


class _Spans:
    """Makes the spans of one run."""

    def __init__(self, store: TraceStore, row: RunRow, content: bool) -> None:
        self._store = store
        self._row = row
        self._content = content
        self._trace = id_of(row)

    def of_run(self, end: float) -> Span:
        row = self._row
        attributes: dict[str, Value | None] = {
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
            attributes["gen_ai.input.messages"] = _json([_message("user", row.instruction)])
            attributes["gen_ai.output.messages"] = _json([_message("assistant", row.answer)])
            attributes["url.full"] = row.start_url
        events = [self._event(event.event, event.time) for event in self._store.pages.events(row.run)]
        error = row.error or "The run failed." if row.outcome == "error" else None
        if error is not None:
            attributes["error.type"] = "run failed"
            events.append(_exception("run failed", error, end))
        return self._span(
            f"invoke_agent {AGENT}", ("run",), "", row.started, end, attributes, events=events, error=error
        )

    def of_step(self, step: RunStep, times: StepTimes, parent: str) -> list[Span]:
        """Return the step's span, and those of its phases, calls and action."""
        row = step.row
        attributes: dict[str, Value | None] = {
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
        spans, by_phase = [whole], dict[Phase, Span]()
        since = times.begun
        for timed in times.phases:
            phase = timed.phase
            about: dict[str, Value | None] = {"backstep.step": row.number, "backstep.phase": phase}
            by_phase[phase] = self._span(phase, (row.number, phase), whole.id, since, timed.saved, about)
            since = max(since, timed.saved)
        spans += by_phase.values()
        asked_in = {number: record.phase for record in step.detail.records for number in calls_of(record)}
        for call in step.detail.calls:
            phase_span = by_phase.get(asked_in.get(call.number, "decide"), whole)
            spans.append(self.of_call(call, phase_span.id))
        if step.acted is not None and step.acted.effect == "page action" and "act" in by_phase:
            spans.append(self._of_action(step, step.acted, by_phase["act"]))
        return spans

    def of_call(self, call: CallRecord, parent: str) -> Span:
        """Return the span of an LLM call."""
        prompt, reply = stored_prompt(self._store, call), stored_reply(self._store, call)
        sampling = prompt.sampling
        attributes: dict[str, Value | None] = {
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
            SpanEvent(
                name="backstep.retry",
                time=_nanoseconds(call.started),
                attributes={"backstep.reason": retry.reason, "backstep.waited": retry.waited},
            )
            for retry in call.retries
        ]
        if call.error:
            attributes["error.type"] = "LLMError"
            events.append(_exception("LLMError", call.error, end))
        return self._span(
            f"chat {call.model or call.llm}",
            ("call", call.number),
            parent,
            call.started,
            end,
            attributes,
            kind="client",
            events=events,
            error=call.error or None,
        )

    def _of_action(self, step: RunStep, acted: Acted, phase: Span) -> Span:
        action = step.action
        name = action.name if action is not None else "none"
        attributes: dict[str, Value | None] = {
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
            attributes["gen_ai.tool.call.arguments"] = _json(values)
            attributes["gen_ai.tool.call.result"] = acted.message or acted.outcome
            attributes["backstep.target"] = acted.target
        end = phase.end / 1e9
        events = [self._event(event, end) for event in acted.events]
        error = (acted.message or "The action failed.") if acted.outcome == "failed" else None
        if error is not None:
            attributes["error.type"] = "ActionError"
            events.append(_exception("ActionError", error, end))
        return self._span(
            f"execute_tool {name}",
            (step.number, "action"),
            phase.id,
            phase.start / 1e9,
            end,
            attributes,
            events=events,
            error=error,
        )

    def _event(self, event: BrowserEvent, time: float) -> SpanEvent:
        if event.kind in _FAILURES:
            return _exception(event.kind, event.text, time)
        attributes: dict[str, Value] = {"backstep.text": event.text} if self._content else {}
        return SpanEvent(
            name=f"backstep.browser.{event.kind}", time=_nanoseconds(time), attributes=attributes
        )

    def _span(
        self,
        name: str,
        parts: tuple[object, ...],
        parent: str,
        start: float,
        end: float,
        attributes: dict[str, Value | None],
        *,
        kind: Literal["internal", "client"] = "internal",
        events: list[SpanEvent] | None = None,
        error: str | None = None,
    ) -> Span:
        return Span(
            trace=self._trace,
            id=id_of(self._row, "span", *parts, digits=16),
            parent=parent,
            name=name,
            kind=kind,
            start=_nanoseconds(start),
            end=_nanoseconds(max(start, end)),
            attributes={key: value for key, value in attributes.items() if value is not None},
            events=tuple(events or ()),
            error=error,
        )


def _provider(llm: str) -> str:
    """Return who provides an LLM: ourselves, or a server that speaks OpenAI's protocol."""
    return AGENT if llm in ("rules", "person") or llm.startswith((LOCAL_PREFIX, PREFIX)) else "openai"


def _said(prompt: Prompt, reply: LLMReply | None) -> dict[str, Value | None]:
    attributes: dict[str, Value | None] = {}
    system = [message.text for message in prompt.messages if message.role == "system"]
    if system:
        attributes["gen_ai.system_instructions"] = _json(
            [{"type": "text", "content": text} for text in system]
        )
    rest = [_parts(message) for message in prompt.messages if message.role != "system"]
    attributes["gen_ai.input.messages"] = _json(rest)
    if prompt.tools:
        attributes["gen_ai.tool.definitions"] = _json(
            [{"type": "function", **tool.model_dump()} for tool in prompt.tools]
        )
    if reply is not None:
        answer = _parts(Message(role="assistant", text=reply.text, tool_calls=reply.tool_calls))
        attributes["gen_ai.output.messages"] = _json([{**answer, "finish_reason": reply.finish_reason}])
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


def _exception(kind: str, message: str, time: float) -> SpanEvent:
    return SpanEvent(
        name="exception",
        time=_nanoseconds(time),
        attributes={"exception.type": kind, "exception.message": message},
    )


def _plain_url(url: str) -> str:
    """Return the URL without what may be typed into it."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https", "file"):
        return f"{parts.scheme}:" if parts.scheme else ""
    return parts._replace(query="", fragment="", netloc=parts.netloc.rpartition("@")[2]).geturl()


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1e9)


def _json(value: object) -> str:
    return json.dumps(value)


_KINDS = {"internal": 1, "client": 3}
_ERROR = 2


@hiding
def export_otel(store: TraceStore, run: int, *, content: bool = False) -> str:
    """Return the trace as one OTLP/JSON object; what was said and typed is in it only with `content`."""
    scope = {"name": AGENT, "version": program_version()}
    spans = [_span(span) for span in spans_of(store, run, content=content)]
    whole = {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes(resource())},
                "scopeSpans": [{"scope": scope, "spans": spans}],
            }
        ]
    }
    return json.dumps(whole)


def _span(span: Span) -> dict[str, Any]:
    encoded: dict[str, Any] = {
        "traceId": span.trace,
        "spanId": span.id,
        "parentSpanId": span.parent,
        "name": span.name,
        "kind": _KINDS[span.kind],
        "startTimeUnixNano": str(span.start),
        "endTimeUnixNano": str(span.end),
        "attributes": _attributes(span.attributes),
        "events": [
            {
                "name": event.name,
                "timeUnixNano": str(event.time),
                "attributes": _attributes(event.attributes),
            }
            for event in span.events
        ],
        "status": {} if span.error is None else {"code": _ERROR, "message": span.error},
    }
    return encoded


def _attributes(values: dict[str, Value]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items()]


def _value(value: Value) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case tuple():
            return {"arrayValue": {"values": [{"stringValue": one} for one in value]}}
    return {"stringValue": value}
