"""The server of bundled sites: a state for each session, and an answer whatever happens."""

import http.client
import logging
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from core.environments.sites import SiteAnswer, SiteRequest, SiteServer
from core.schema.errors import DataError
from core.schema.record import Record


class Count(Record):
    visits: int = 0


class Counter:
    """A site that counts a session's visits, and fails at /fail."""

    name = "counter"
    state_type = Count

    def answer(self, request: SiteRequest, state: Count) -> tuple[SiteAnswer, Count]:
        if request.path == "/fail":
            raise RuntimeError("a mistake")
        seen = Count(visits=state.visits + 1)
        return SiteAnswer(body=str(seen.visits).encode()), seen


@pytest.fixture
def server(tmp_path: Path):
    server = SiteServer(Counter(), tmp_path)
    yield server
    server.close()


def ask(server, path: str = "/", session: str = "") -> tuple[int, str, str]:
    connection = http.client.HTTPConnection(urlsplit(server.origin).netloc, timeout=5)
    try:
        headers = {"Cookie": f"counter_session={session}"} if session else {}
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers.get("Set-Cookie", "")
    finally:
        connection.close()


def test_each_session_has_a_state_of_its_own(server):
    one, other = server.sessions.begin(), server.sessions.begin()
    assert [ask(server, session=id)[1] for id in (one, one, other)] == ["1", "2", "1"]


def test_whoever_comes_without_a_session_gets_one(server):
    status, text, cookie = ask(server)
    assert (status, text) == (200, "1")
    session = cookie.partition("=")[2].partition(";")[0]
    assert ask(server, session=session)[1] == "2"


def test_a_state_is_taken_down_put_back_and_given_to_a_branch(server):
    one = server.sessions.begin()
    ask(server, session=one)
    snapshot = server.sessions.snapshot(one)
    branch = server.sessions.restored(snapshot)
    assert [ask(server, session=id)[1] for id in (one, one, branch)] == ["2", "3", "2"]
    with pytest.raises(DataError, match="not a state of the counter site"):
        server.sessions.restored("{}x")


def test_a_mistake_in_the_site_is_answered_and_logged_and_the_session_stays(server, caplog):
    one = server.sessions.begin()
    ask(server, session=one)
    with caplog.at_level(logging.ERROR):
        status, text, _ = ask(server, "/fail", session=one)
    assert (status, "the log" in text) == (500, True)
    assert "The counter site failed at GET /fail" in caplog.text
    assert ask(server, session=one)[1] == "2"
