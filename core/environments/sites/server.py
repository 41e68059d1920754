"""Serves a bundled site on a loopback address of a free port, with a state of its own for each session.

The session is told by a cookie, so a page has the same address in each of
them: a branch that goes back gets a copy of the state and a cookie of its own.
"""

import json
import logging
import mimetypes
import secrets
import threading
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Generic
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import ValidationError

from core.environments.loopback import Loopback, QuietServer
from core.environments.sites.application import SiteAnswer, SiteApplication, SiteRequest, State
from core.schema.errors import DataError

log = logging.getLogger(__name__)

LARGEST_BODY = 1_000_000
"""Bytes of a POST; more is refused."""
MOST_SESSIONS = 2_000
"""The sessions that were idle longest are forgotten beyond this."""


class Sessions(Generic[State]):
    """The states of all sessions of one site; safe to use from any thread."""

    def __init__(self, application: SiteApplication[State]) -> None:
        self._application = application
        self._states: dict[str, State] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def begin(self, state: State | None = None) -> str:
        """Return the id of a new session in `state`, or in the site's fresh one."""
        id = secrets.token_hex(10)
        self._put(id, self._application.fresh() if state is None else state)
        return id

    def state(self, id: str) -> State:
        """Return the state now; raises DataError for a session that is not there."""
        with self._lock:
            found = self._states.get(id)
        if found is None:
            raise DataError(
                f"The {self._application.name} site has no session {id!r} any more: open the task anew."
            )
        return found

    def snapshot(self, id: str) -> str:
        """Return the state as JSON text, for `restore` and `fork`."""
        return self.state(id).model_dump_json()

    def restore(self, id: str, snapshot: str) -> None:
        """Put a session, new or old, into a state that `snapshot` gave; raises DataError for another text."""
        try:
            state = self._application.state_type.model_validate_json(snapshot)
        except ValidationError as error:
            raise DataError(
                f"This is no state of the {self._application.name} site: {error.errors()[0]['msg']}."
            ) from error
        self._put(id, state)

    def fork(self, id: str) -> str:
        """Return the id of a new session that begins in the state of `id`."""
        return self.begin(self.state(id))

    def known(self, id: str) -> bool:
        with self._lock:
            return id in self._states

    def answer(self, id: str, request: SiteRequest) -> SiteAnswer:
        """Let the site answer, and keep the state it leaves."""
        with self._lock:
            lock = self._locks.setdefault(id, threading.Lock())
        with lock:
            answer, state = self._application.answer(request, self.state(id))
            self._put(id, state)
        return answer

    def _put(self, id: str, state: State) -> None:
        with self._lock:
            # Put at the end, so that a session in use outlives those that came once and went.
            self._states.pop(id, None)
            self._states[id] = state
            while len(self._states) > MOST_SESSIONS:
                oldest = next(iter(self._states))
                del self._states[oldest]
                self._locks.pop(oldest, None)


class SiteServer(Generic[State]):
    """The site's application at ``/`` and the files of its folder at ``/static/``, on 127.0.0.1 alone.

    Whoever comes without a session gets a fresh one.
    """

    def __init__(self, application: SiteApplication[State], static: Path) -> None:
        self.application = application
        self.sessions = Sessions(application)
        self.cookie = f"{application.name}_session"
        self.static = static.resolve()
        self._loopback = Loopback(self._make, what=f"the {application.name} site")

    @property
    def origin(self) -> str:
        """``http://127.0.0.1:PORT``; starts the server where it is not running."""
        return self._loopback.origin

    def close(self) -> None:
        """Stop serving and free the port; sessions stay, and the next use of `origin` starts anew."""
        self._loopback.close()

    def _make(self, address: tuple[str, int]) -> "_Server":
        server = _Server(address, _Handler)
        server.site = self
        return server


class _Server(QuietServer):
    site: "SiteServer[Any]"


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    # Headers and body leave in one packet; apart, the second waits some 40 ms for the first's receipt.
    wbufsize = -1
    disable_nagle_algorithm = True
    timeout = 30
    server_version = "Backstep"
    sys_version = ""

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        if path == "/favicon.ico":
            self._send(SiteAnswer(kind="image/x-icon", status=HTTPStatus.NO_CONTENT))
        elif path.startswith("/static/"):
            self._send(self._file(path.removeprefix("/static/")))
        else:
            self._ask_site()

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        self._ask_site()

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _ask_site(self) -> None:
        request = self._request()
        if request is None:
            return
        site = self.server.site
        id, cookie = self._session(), ""
        if not site.sessions.known(id):
            id = site.sessions.begin()
            cookie = f"{site.cookie}={id}; Path=/; SameSite=Lax; HttpOnly"
        try:
            answer = site.sessions.answer(id, request)
        except Exception:
            log.exception("The %s site failed at %s %s", site.application.name, request.method, request.path)
            answer = _plain(
                HTTPStatus.INTERNAL_SERVER_ERROR, "The site failed; the log of Backstep says at what."
            )
        self._send(answer, cookie)

    def _session(self) -> str:
        try:
            found = SimpleCookie(self.headers.get("Cookie", "")).get(self.server.site.cookie)
        except CookieError:
            return ""
        return found.value if found is not None else ""

    def _request(self) -> SiteRequest | None:
        parts = urlsplit(self.path)
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit() or int(length) > LARGEST_BODY:
            self.close_connection = True
            self._send(_plain(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The request is too large."))
            return None
        body = self.rfile.read(int(length))
        form: dict[str, str] = {}
        data: Any = None
        if self.headers.get_content_type() == "application/json" and body:
            try:
                data = json.loads(body)
            except ValueError:
                self._send(_plain(HTTPStatus.BAD_REQUEST, "The body is not JSON."))
                return None
        elif body:
            form = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        return SiteRequest(
            method="GET" if self.command == "HEAD" else self.command,
            path=unquote(parts.path),
            query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            form=form,
            json_body=data,
        )

    def _file(self, name: str) -> SiteAnswer:
        root = self.server.site.static
        nothing = _plain(HTTPStatus.NOT_FOUND, "There is no such file here.")
        if "\0" in name or "\\" in name:
            return nothing
        try:
            file = (root / name).resolve()
        except OSError:
            return nothing
        if not file.is_relative_to(root) or not file.is_file():
            return nothing
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        if kind.startswith("text/") or kind == "application/json":
            kind += "; charset=utf-8"
        return SiteAnswer(body=file.read_bytes(), kind=kind)

    def _send(self, answer: SiteAnswer, cookie: str = "") -> None:
        self.send_response(answer.status)
        if answer.location:
            self.send_header("Location", answer.location)
        if cookie:
            self.send_header("Set-Cookie", cookie)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(answer.body)))
        self.send_header("Cache-Control", "no-store" if answer.kind.startswith("text/html") else "no-cache")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)


def _plain(status: int, text: str) -> SiteAnswer:
    return SiteAnswer(status=status, body=text.encode(), kind="text/plain; charset=utf-8")
