"""A run's OpenTelemetry spans as OTLP/JSON, the form that collectors read from files."""

import json
from typing import Any

from core.trace.exports.identity import AGENT, backstep_version
from core.trace.exports.otel_spans import Span, Value, resource, spans_of
from core.trace.store import TraceStore

_KINDS = {"internal": 1, "client": 3}
_ERROR = 2


def export_otel(store: TraceStore, run: int, *, content: bool = False) -> str:
    """Return the trace as one OTLP/JSON object; what was said and typed is in it only with `content`."""
    scope = {"name": AGENT, "version": backstep_version()}
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
    told: dict[str, Any] = {
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
    return told


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
