"""Serves the files of one folder on a loopback address of a free port."""

import mimetypes
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import unquote, urlsplit

from core.environments.loopback import Loopback, QuietServer


class StaticServer:
    """Answers GET and HEAD for the files below `root`; nothing else exists to it.

    No folder listings, no path that leaves `root`, no log. It listens on
    127.0.0.1 alone and runs in a daemon thread.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._loopback = Loopback(self._make, what=str(self.root))

    @property
    def origin(self) -> str:
        """``http://127.0.0.1:PORT``; starts the server where it is not running."""
        return self._loopback.origin

    def close(self) -> None:
        """Stop serving and free the port; the next use of `origin` starts anew on another port."""
        self._loopback.close()

    def _make(self, address: tuple[str, int]) -> "_Server":
        server = _Server(address, _Handler)
        server.root = self.root
        return server


class _Server(QuietServer):
    root: Path


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = 30
    server_version = "Backstep"
    sys_version = ""

    def do_GET(self) -> None:
        file = self._file()
        if file is None and self.path == "/favicon.ico":
            # Browsers ask for it unbidden, and would report its absence as an error of the page.
            self._answer(HTTPStatus.NO_CONTENT, b"", "image/x-icon")
            return
        if file is None:
            self._answer(HTTPStatus.NOT_FOUND, b"There is no such file here.", "text/plain")
            return
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        if kind.startswith("text/") or kind in ("application/javascript", "application/json"):
            kind += "; charset=utf-8"
        self._answer(HTTPStatus.OK, file.read_bytes(), kind)

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _file(self) -> Path | None:
        path = unquote(urlsplit(self.path).path).lstrip("/")
        if "\0" in path or "\\" in path:
            return None
        try:
            file = (self.server.root / path).resolve()
        except OSError:
            return None
        return file if file.is_relative_to(self.server.root) and file.is_file() else None

    def _answer(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-cache")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
