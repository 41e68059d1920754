"""A web site on the loopback interface for tests: pages given inline or from tests/pages, and odd answers."""

import base64
import hashlib
import re
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

PAGES = Path(__file__).resolve().parents[2] / "pages"
Handler = Callable[[Request], Response]


class Site:
    """Serves until left; `host` and `other` reach the same pages as two sites foreign to each other."""

    def __init__(self) -> None:
        self._server = HTTPServer(host="127.0.0.1", threaded=True)
        self._number = count(1)
        self.released = threading.Event()
        """Lets answers that are held back go."""

    def __enter__(self) -> "Site":
        self._server.start()
        self.home = self._server.url_for("").rstrip("/")
        self.other = self.home.replace("127.0.0.1", "localhost")
        self._odd_answers()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Answer nothing any more."""
        self.released.set()
        if self._server.is_running():
            self._server.stop()

    def page(self, body: str, *, head: str = "", headers: dict[str, str] | None = None) -> str:
        """Serve a page with this body, and return its URL."""
        text = f"<!doctype html><html><head><title>page</title>{head}</head><body>{body}</body></html>"
        return self.serve(lambda _: Response(text, content_type="text/html; charset=utf-8", headers=headers))

    def file(self, name: str) -> str:
        """Serve a page of tests/pages, and return its URL."""
        text = (PAGES / name).read_text(encoding="utf-8")
        return self.serve(lambda _: Response(text, content_type="text/html; charset=utf-8"))

    def serve(self, handler: Handler) -> str:
        path = f"/{next(self._number)}"
        self._server.expect_request(path).respond_with_handler(handler)
        return self.home + path

    def serve_under(self, prefix: str, handler: Handler) -> str:
        """Let `handler` answer all paths that begin with `prefix`, and return the URL of that."""
        self._server.expect_request(re.compile(re.escape(prefix))).respond_with_handler(handler)
        return self.home + prefix

    def elsewhere(self, url: str) -> str:
        """Return the same page as a foreign site has it."""
        return url.replace(self.home, self.other)

    def _odd_answers(self) -> None:
        answers: dict[str, Handler] = {
            "/slow": self._slow,
            "/held": self._held,
            "/said": lambda _: Response("said", content_type="text/plain"),
            "/nothing": lambda _: Response(status=204),
            "/missing": lambda _: Response(
                "<!doctype html><p>no such page", status=404, content_type="text/html"
            ),
            "/broken": lambda _: Response("<!doctype html><p>it broke", status=500, content_type="text/html"),
            "/empty-error": lambda _: Response(b"", status=404),
            "/round": lambda _: Response(status=302, headers={"Location": "/round"}),
            "/away": lambda _: Response(status=302, headers={"Location": "/arrived"}),
            "/arrived": lambda _: Response("<!doctype html><p>arrived", content_type="text/html"),
            "/file": lambda _: Response(
                b"abc", headers={"Content-Disposition": "attachment; filename=report.csv"}
            ),
            "/stream": self._stream,
            "/socket": self._socket,
            "/favicon.ico": lambda _: Response(status=204),
        }
        for path, handler in answers.items():
            self._server.expect_request(path).respond_with_handler(handler)

    @staticmethod
    def _slow(request: Request) -> Response:
        # The server's own slowness is what is tested; the test itself waits for the answer, not for a time.
        time.sleep(float(request.args.get("seconds", "0.5")))
        return Response("<!doctype html><title>slow</title><p>came late", content_type="text/html")

    def _held(self, _: Request) -> Response:
        self.released.wait(30)
        return Response("let go", content_type="text/plain")

    @staticmethod
    def _socket(request: Request) -> Response:
        """Accept a WebSocket, send as many messages as the address asks for, and read until it is closed."""
        connection = request.environ["werkzeug.socket"]
        key = request.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accepted = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        connection.sendall(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {accepted}\r\n\r\n".encode()
        )

        def send() -> None:
            try:
                for number in range(int(request.args["messages"])):
                    text = f"answer {number}".encode()
                    connection.sendall(bytes([0x81, len(text)]) + text)
            except OSError:
                return  # The page has gone.

        sending = threading.Thread(target=send, daemon=True)
        sending.start()
        try:
            while connection.recv(1 << 20):
                pass
        except OSError:
            pass  # The page has gone.
        sending.join()
        return Response()

    def _stream(self, _: Request) -> Response:
        def events() -> Iterator[str]:
            yield "data: begun\n\n"
            while not self.released.wait(0.2):
                yield "data: more\n\n"

        return Response(events(), content_type="text/event-stream")
