"""Servers on a loopback address of a free port, and the one that serves the files of a folder."""

import mimetypes
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from core.schema.errors import WorldError
from core.system.loopback import foreign_request

PLAIN = "text/plain; charset=utf-8"


class _QuietServer(ThreadingHTTPServer):
    """Answers each connection in a daemon thread and says nothing of those that are dropped."""

    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Stay quiet: a browser drops connections whenever a page is left."""


class LoopbackServer:
    """Serves on 127.0.0.1 alone, in a daemon thread, from when its address is first asked for."""

    def __init__(self, handler: Callable[..., BaseHTTPRequestHandler], *, what: str) -> None:
        """`handler` answers a request; `what` is served, in words, for when no port can be opened."""
        self._handler = handler
        self._what = what
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None

    @property
    def origin(self) -> str:
        """``http://127.0.0.1:PORT``; starts the server where it is not running, raises WorldError if it cannot."""
        if self._server is None:
            self._server = self._start()
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        """Stop serving and free the port; the next use of `origin` starts again on another port."""
        if self._server is None or self._thread is None:
            return
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._server = self._thread = None

    def _start(self) -> ThreadingHTTPServer:
        try:
            server = _QuietServer(("127.0.0.1", 0), self._handler)
        except OSError as error:
            raise WorldError(
                f"No loopback port could be opened to serve {self._what}: {error.strerror or error}."
            ) from error
        self._thread = threading.Thread(
            target=server.serve_forever,
            kwargs={"poll_interval": 0.05},
            daemon=True,
            name=f"serves {self._what}",
        )
        self._thread.start()
        return server


class LoopbackHandler(BaseHTTPRequestHandler, ABC):
    """Answers the requests of one server, without a log."""

    protocol_version = "HTTP/1.1"
    # Headers and body leave in one packet; apart, the second waits some 40 ms for the first's receipt.
    wbufsize = -1
    disable_nagle_algorithm = True
    timeout = 30
    server_version = "Backstep"
    sys_version = ""

    @abstractmethod
    def do_GET(self) -> None: ...

    def do_HEAD(self) -> None:
        self.do_GET()

    def parse_request(self) -> bool:
        """Read the head of a request; one of a page of another origin is answered with its refusal."""
        if not super().parse_request():
            return False
        hosts, origins = self.headers.get_all("Host", []), self.headers.get_all("Origin", [])
        why = foreign_request(hosts, origins, self.connection.getsockname()[1])
        if why:
            self.close_connection = True
            self.send(HTTPStatus.FORBIDDEN, why.encode(errors="replace"), PLAIN)
            self.wfile.flush()
        return not why

    def log_message(self, format: str, *args: object) -> None:
        pass

    def send_file(self, root: Path, name: str) -> None:
        """Answer with a file below `root`; nothing else exists."""
        file = _file_below(root, name)
        if file is not None:
            kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
            if kind.startswith("text/") or kind in ("application/javascript", "application/json"):
                kind += "; charset=utf-8"
            self.send(HTTPStatus.OK, file.read_bytes(), kind)
        elif name == "favicon.ico":
            # Browsers ask for it unbidden, and would report its absence as an error of the page.
            self.send(HTTPStatus.NO_CONTENT, b"", "image/x-icon")
        else:
            self.send(HTTPStatus.NOT_FOUND, b"There is no such file here.", PLAIN)

    def send(
        self,
        status: int,
        body: bytes,
        kind: str,
        *,
        cache: str = "no-cache",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Answer with a body and its headers, of which only those that say something are sent."""
        own = {"Content-Type": kind, "Content-Length": str(len(body)), "Cache-Control": cache}
        self.send_response(status)
        for name, value in {**(headers or {}), **own}.items():
            if value:
                self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _file_below(root: Path, name: str) -> Path | None:
    if "\0" in name or "\\" in name:
        return None
    try:
        file = (root / name).resolve()
    except OSError:
        return None
    return file if file.is_relative_to(root) and file.is_file() else None


class StaticServer(LoopbackServer):
    """Answers GET and HEAD for the files below `root`: no folder listings, and no path that leaves it."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        super().__init__(partial(_StaticHandler, self.root), what=str(self.root))


class _StaticHandler(LoopbackHandler):
    def __init__(self, root: Path, *connection: Any) -> None:
        self._root = root
        super().__init__(*connection)

    def do_GET(self) -> None:
        self.send_file(self._root, unquote(urlsplit(self.path).path).lstrip("/"))
