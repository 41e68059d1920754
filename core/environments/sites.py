"""Bundled sites as environments: served on a loopback address, with separate state for each session.

The session is identified by a cookie, so a page has the same address in each of
them: a branch that goes back gets a copy of the state and a cookie of its own.
"""

import asyncio
import json
import logging
import secrets
import threading
from abc import ABC, abstractmethod
from functools import partial
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import ValidationError

from core.environments.protocol import PageDriver
from core.environments.static_server import PLAIN, LoopbackHandler, LoopbackServer
from core.schema.errors import BrowserError, DataError
from core.schema.record import Record
from core.schema.task import Episode, Task

log = logging.getLogger(__name__)

LARGEST_BODY = 1_000_000
"""Bytes of a POST; more is refused."""
MOST_SESSIONS = 2_000
"""The sessions that were idle longest are forgotten beyond this."""

State = TypeVar("State", bound=Record)


class SiteRequest(Record):
    """What the browser asked for."""

    method: str
    path: str
    """Decoded, without the query, as in ``/item/B001``."""
    query: dict[str, str] = {}
    """The last value of each parameter."""
    form: dict[str, str] = {}
    """The body of a urlencoded POST, the last value of each field."""
    json_body: Any = None
    """The body of a JSON POST."""


class SiteAnswer(Record):
    """The response: a page, data, or a redirect."""

    body: bytes = b""
    kind: str = "text/html; charset=utf-8"
    status: int = 200
    location: str = ""
    """With the status 303: where to continue."""


class SiteApplication(Protocol, Generic[State]):
    """One bundled site.

    It keeps nothing of a session itself: all that a visit changes is in
    the state, a frozen model, so that the state can be taken down, given to
    another branch and put back.
    """

    name: str
    """Lower case, as in the session's cookie ``NAME_session``."""
    state_type: type[State]
    """Without arguments, the state of a session that begins."""

    def answer(self, request: SiteRequest, state: State) -> tuple[SiteAnswer, State]:
        """Answer one request; called for one session by one thread at a time."""
        ...


# Serving


class Sessions(Generic[State]):
    """The states of all sessions of one site; safe to use from any thread."""

    def __init__(self, application: SiteApplication[State]) -> None:
        self._application = application
        self._states: dict[str, State] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def begin(self) -> str:
        """Return the id of a new session, as that of a person who opens the address."""
        id = secrets.token_hex(10)
        self._put(id, self._application.state_type())
        return id

    def state(self, id: str) -> State:
        """Return the state now; raises DataError for a session that is not there."""
        with self._lock:
            found = self._states.get(id)
        if found is None:
            raise DataError(
                f"The {self._application.name} site no longer has the session {id!r}: open the task again."
            )
        return found

    def snapshot(self, id: str) -> str:
        """Return the state as JSON text, for `restored`."""
        return self.state(id).model_dump_json()

    def restored(self, snapshot: str) -> str:
        """Return the id of a new session in a state that `snapshot` gave; raises DataError for another text."""
        try:
            state = self._application.state_type.model_validate_json(snapshot)
        except ValidationError as error:
            raise DataError(
                f"This is not a state of the {self._application.name} site: {error.errors()[0]['msg']}."
            ) from error
        id = self.begin()
        self._put(id, state)
        return id

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


class SiteServer(LoopbackServer, Generic[State]):
    """The site's application at ``/`` and the files of its folder at ``/static/``.

    A request without a session gets a new one; sessions outlive the closing of the server.
    """

    def __init__(self, application: SiteApplication[State], static: Path) -> None:
        super().__init__(partial(_SiteHandler, self), what=f"the {application.name} site")
        self.application = application
        self.sessions = Sessions(application)
        self.cookie = f"{application.name}_session"
        self.static = static.resolve()


class _SiteHandler(LoopbackHandler):
    def __init__(self, site: SiteServer[Any], *connection: Any) -> None:
        self._site = site
        super().__init__(*connection)

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        if path == "/favicon.ico" or path.startswith("/static/"):
            self.send_file(self._site.static, path.removeprefix("/static").lstrip("/"))
        else:
            self._ask_site()

    def do_POST(self) -> None:
        self._ask_site()

    def _ask_site(self) -> None:
        request = self._request()
        if request is None:
            return
        site = self._site
        id, cookie = self._session(), ""
        if not site.sessions.known(id):
            id = site.sessions.begin()
            cookie = f"{site.cookie}={id}; Path=/; SameSite=Lax; HttpOnly"
        try:
            answer = site.sessions.answer(id, request)
        except Exception:
            log.exception("The %s site failed at %s %s", site.application.name, request.method, request.path)
            text = b"The site failed; the log of Backstep says at what."
            answer = SiteAnswer(status=HTTPStatus.INTERNAL_SERVER_ERROR, body=text, kind=PLAIN)
        self.send(
            answer.status,
            answer.body,
            answer.kind,
            cache="no-store" if answer.kind.startswith("text/html") else "no-cache",
            headers={"Location": answer.location, "Set-Cookie": cookie},
        )

    def _session(self) -> str:
        try:
            found = SimpleCookie(self.headers.get("Cookie", "")).get(self._site.cookie)
        except CookieError:
            return ""
        return found.value if found is not None else ""

    def _request(self) -> SiteRequest | None:
        parts = urlsplit(self.path)
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit() or int(length) > LARGEST_BODY:
            self.close_connection = True
            self.send(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, b"The request is too large.", PLAIN)
            return None
        body = self.rfile.read(int(length))
        form: dict[str, str] = {}
        data: Any = None
        if self.headers.get_content_type() == "application/json" and body:
            try:
                data = json.loads(body)
            except ValueError:
                self.send(HTTPStatus.BAD_REQUEST, b"The body is not JSON.", PLAIN)
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


# As an environment


class SiteEnvironment(ABC, Generic[State]):
    """What the environments of all bundled sites share; each task is done in a session of its own.

    Their tasks are listed from a file, so that a program which only lists
    them does not have to load what makes the site.
    """

    id: str
    session_cookies: tuple[str, ...]
    seeded: bool
    """Whether what a task asks for depends on its seed."""
    tasks_file: Path
    hidden_selectors: tuple[str, ...] = ()
    """None: no page of a site tells what is asked for or what it is worth."""

    def __init__(self) -> None:
        self._tasks: tuple[Task, ...] | None = None
        self._server: SiteServer[State] | None = None

    @abstractmethod
    def make_server(self) -> SiteServer[State]:
        """Return the server of the site; called once, when it is first needed."""

    @property
    def server(self) -> SiteServer[State]:
        """The site's server; no port is opened before its origin is asked for."""
        if self._server is None:
            self._server = self.make_server()
        return self._server

    def tasks(self) -> tuple[Task, ...]:
        """Return the tasks in the order of the file."""
        if self._tasks is None:
            listed = json.loads(self.tasks_file.read_text(encoding="utf-8"))
            self._tasks = tuple(Task(environment=self.id, seeded=self.seeded, **one) for one in listed)
        return self._tasks

    async def begin(self, task: Task, seed: int, page: PageDriver, path: str, instruction: str) -> Episode:
        """Open the site at `path` in a fresh session, for a task that says `instruction`."""
        url = f"{self.server.origin}{path}"
        session = self.server.sessions.begin()
        await self._put_session(page, session)
        await page.goto(url)
        return Episode(task=task, seed=seed, instruction=instruction, start_url=url, session=session)

    async def state_of(self, page: PageDriver) -> State | None:
        """Return the state of the session that the page's profile is in, whatever site it shows; None for none.

        Raises BrowserError if the browser does not answer.
        """
        from playwright.async_api import Error

        live = page.playwright_page
        try:
            protocol = await live.context.new_cdp_session(live)
            try:
                found = await protocol.send("Network.getCookies", {"urls": [f"{self.server.origin}/"]})
            finally:
                await protocol.detach()
        except Error as error:
            raise BrowserError(f"The browser did not return the session of the {self.id} site.") from error
        cookies = (str(one["value"]) for one in found["cookies"] if one["name"] == self.server.cookie)
        session = next(cookies, "")
        return self.server.sessions.state(session) if self.server.sessions.known(session) else None

    def snapshot(self, episode: Episode) -> str:
        """Return the session's state as JSON text; raises DataError if the session is gone."""
        return self.server.sessions.snapshot(episode.session)

    async def restore(self, episode: Episode, page: PageDriver, snapshot: str) -> Episode:
        """Give the page a new session in that state; raises DataError for another text."""
        session = self.server.sessions.restored(snapshot)
        await self._put_session(page, session)
        return episode.replace(session=session)

    async def close(self) -> None:
        """Stop serving; sessions stay, for an episode that is judged later."""
        if self._server is not None:
            await asyncio.to_thread(self._server.close)

    async def _put_session(self, page: PageDriver, session: str) -> None:
        """Let every tab of the page's profile continue in `session`; nothing is loaded again."""
        cookie = {"name": self.server.cookie, "value": session, "url": self.server.origin}
        await page.set_cookies([{**cookie, "path": "/", "httpOnly": True, "sameSite": "Lax"}])
