"""A server on a loopback address of a free port, started when its address is first asked for."""

import threading
from collections.abc import Callable
from http.server import ThreadingHTTPServer

from core.schema.errors import WorldError


class QuietServer(ThreadingHTTPServer):
    """Answers each connection in a daemon thread and says nothing of those that are dropped."""

    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Stay quiet: a browser drops connections whenever a page is left."""


class Loopback:
    """Starts and stops the server that `make` returns; it runs in a daemon thread."""

    def __init__(self, make: Callable[[tuple[str, int]], ThreadingHTTPServer], *, what: str) -> None:
        """`what` is served, in words, for when no port can be opened."""
        self._make = make
        self._what = what
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None

    @property
    def origin(self) -> str:
        """``http://127.0.0.1:PORT``; starts the server where it is not running, raises WorldError if it cannot."""
        if self._server is None:
            self._start()
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        """Stop serving and free the port; the next use of `origin` starts anew on another port."""
        if self._server is None or self._thread is None:
            return
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._server = self._thread = None

    def _start(self) -> None:
        try:
            self._server = self._make(("127.0.0.1", 0))
        except OSError as error:
            raise WorldError(
                f"No loopback port could be opened to serve {self._what}: {error.strerror or error}."
            ) from error
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": 0.05},
            daemon=True,
            name=f"serves {self._what}",
        )
        self._thread.start()
