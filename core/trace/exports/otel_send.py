"""A run's OpenTelemetry spans sent to a collector over OTLP/HTTP."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urljoin, urlsplit

import requests
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace.export import SpanExportResult

from core.schema.errors import UsageError, WorldError
from core.trace.exports.hiding import hiding
from core.trace.exports.otel_spans import spans_of
from core.trace.store import TraceStore

PATH = "/v1/traces"
SECONDS = 10.0


@hiding
def send_otel(store: TraceStore, run: int, endpoint: str, *, content: bool = False) -> int:
    """Send the run's spans and return how many there are; headers come from OTEL_EXPORTER_OTLP_HEADERS.

    Ids are the same each time, so sending a run again replaces it where the
    backend uses ids. A redirect is not followed, as headers can hold a key.
    Raises UsageError for what is not an address, and WorldError if nobody took
    the spans.
    """
    url = _traces_url(endpoint)
    spans = spans_of(store, run, content=content)
    session = requests.Session()
    redirects: list[str] = []

    def note(response: requests.Response, **_: object) -> None:
        if 300 <= response.status_code < 400:
            redirects.append(_bare(response.url, response.headers.get("Location", "")))

    session.hooks["response"].append(note)
    exporter = OTLPSpanExporter(endpoint=url, timeout=SECONDS, session=session)
    try:
        with _reasons() as reasons:
            result = exporter.export(spans)
    finally:
        exporter.shutdown()
    if redirects:  # The exporter takes them for a success.
        raise WorldError(
            f"The collector at {_bare(url)} redirects to {redirects[0]}, and redirects are not followed; "
            "give the address of the collector itself."
        )
    if result is not SpanExportResult.SUCCESS:
        why = f": {reasons[-1]}" if reasons else ""
        raise WorldError(
            f"The spans of run {run} were not accepted at {url}; check that a collector answers{why}"
        )
    return len(spans)


def _traces_url(endpoint: str) -> str:
    try:
        parts = urlsplit(endpoint)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_address = False
    if not is_address:
        raise UsageError(
            f'"{endpoint}" is not the address of a collector; give one such as http://127.0.0.1:4318.'
        )
    return endpoint if parts.path.endswith(PATH) else endpoint.rstrip("/") + PATH


def _bare(url: str, location: str = "") -> str:
    """Return an address, or where it redirects to, without user information, query and fragment."""
    try:
        parts = urlsplit(urljoin(url, location))
    except ValueError:
        return "what is no address"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


@contextmanager
def _reasons() -> Iterator[list[str]]:
    """Yield what the exporter logs meanwhile, in place of the terminal."""
    reasons: list[str] = []

    class Listening(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            reasons.append(record.getMessage())

    logger = logging.getLogger("opentelemetry.exporter")
    listening, passed_on = Listening(), logger.propagate
    logger.addHandler(listening)
    logger.propagate = False
    try:
        yield reasons
    finally:
        logger.removeHandler(listening)
        logger.propagate = passed_on
