"""A collector of OpenTelemetry spans on a loopback address."""

import threading
from http.server import BaseHTTPRequestHandler

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from core.environments.static_server import LoopbackServer


class Collector:
    """Takes spans over OTLP/HTTP and reads them as protobuf."""

    def __init__(self, status: int = 200, location: str = "") -> None:
        self.status = status
        self.paths: list[str] = []
        self.spans: list = []
        self.resources: list[dict[str, str]] = []
        self._lock = threading.Lock()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if collector.status == 200:
                    collector.take(self.path, ExportTraceServiceRequest.FromString(body))
                answer = ExportTraceServiceResponse().SerializeToString()
                self.send_response(collector.status)
                self.send_header("Content-Type", "application/x-protobuf")
                if location:
                    self.send_header("Location", location)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = LoopbackServer(Handler, what="a collector")

    def take(self, path: str, request: ExportTraceServiceRequest) -> None:
        with self._lock:
            self.paths.append(path)
            for one in request.resource_spans:
                self.resources.append(values(one.resource.attributes))
                self.spans += [span for scope in one.scope_spans for span in scope.spans]


def values(attributes):
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}
