"""What pages tell beside their content, as it is kept: in a real browser, and in floods."""

from collections.abc import Callable
from typing import Any

import pytest

from core.browser.log.listener import PageListener
from core.browser.log.records import (
    LONGEST,
    ConsoleEntry,
    DialogEntry,
    ErrorEntry,
    LogPart,
    PageLog,
    RequestEntry,
    counts,
)
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site


class Session:
    """A protocol session that says what it is told to."""

    def __init__(self) -> None:
        self._listeners: dict[str, Callable[[dict[str, Any]], None]] = {}

    def on(self, event: str, listener: Callable[[dict[str, Any]], None]) -> None:
        self._listeners[event] = listener

    def say(self, event: str, **values: Any) -> None:
        self._listeners[event](values)

    def log(self, *words: object, kind: str = "log", at: float = 1000.0) -> None:
        self.say(
            "Runtime.consoleAPICalled",
            type=kind,
            timestamp=at,
            args=[{"type": "string", "value": word} for word in words],
        )

    def ask(self, number: int, url: str = "http://x/", at: float = 1.0, **more: Any) -> None:
        self.say(
            "Network.requestWillBeSent",
            requestId=str(number),
            request={"method": "GET", "url": url},
            type="XHR",
            timestamp=at,
            wallTime=100.0 + at,
            **more,
        )


@pytest.fixture
def session() -> Session:
    return Session()


@pytest.fixture
def listener(session: Session) -> PageListener:
    listener = PageListener()
    listener.listen(session)
    return listener


def of(log: PageLog, cls: type) -> list[Any]:
    return [entry for entry in log.entries if isinstance(entry, cls)]


@in_browser
async def test_console_errors_requests_and_dialogs_of_a_real_page_are_kept(
    browser: Browsing, site: Site
) -> None:
    browser.tabs.browser.log.drop()
    url = site.page(
        "<button onclick=\"console.warn('careful', {a: 1}, [1, 2]); fetch('/said?key=s3cret');"
        "fetch('/missing'); navigator.sendBeacon('/said', 'bye'); prompt('name?', 'Ada');"
        "setTimeout(() => { throw new TypeError('no such thing') })\">b</button>"
    )
    await browser.open(url)
    await browser.do('click [button "b"]')
    log = browser.tabs.browser.log.collected()
    warned = next(entry for entry in of(log, ConsoleEntry) if entry.text.startswith("careful"))
    assert (warned.level, warned.text) == ("warning", "careful {a: 1} [1, 2]")
    assert warned.place.startswith(url)
    (thrown,) = of(log, ErrorEntry)
    assert "TypeError: no such thing" in thrown.text
    asked = {entry.url.removeprefix(site.home): entry for entry in of(log, RequestEntry)}
    assert asked[url.removeprefix(site.home)].type == "Document"
    said = asked["/said?key=s3cret"]
    assert (said.method, said.type, said.status, said.ended) == ("GET", "Fetch", 200, True)
    assert said.milliseconds is not None
    assert said.bytes
    assert asked["/missing"].status == 404
    assert (asked["/said"].method, asked["/said"].type) == ("POST", "Ping")
    (dialog,) = of(log, DialogEntry)
    assert (dialog.dialog, dialog.text, dialog.answer) == ("prompt", "name?", 'accepted with "Ada"')


@in_browser
async def test_a_request_that_fails_says_why(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<p>here"))
    browser.tabs.browser.log.drop()
    await browser.js("fetch('http://127.0.0.1:9/nobody').catch(() => 0)")
    # The browser may ask for the page's icon meanwhile.
    (asked,) = [
        one for one in of(browser.tabs.browser.log.collected(), RequestEntry) if one.url.endswith("/nobody")
    ]
    assert asked.failed
    assert asked.status is None
    assert asked.text


@in_browser
async def test_a_new_profile_begins_with_an_empty_log(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<script>console.log('old')</script>"))
    await browser.tabs.open_profile()
    assert not of(browser.tabs.browser.log.collected(), ConsoleEntry)


@in_browser
async def test_a_page_that_logs_without_end_is_kept_at_both_ends(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<p>here"))
    browser.tabs.browser.log.drop()
    await browser.js("for (let i = 0; i < 10000; i++) console.log('line', i)")
    log = browser.tabs.browser.log.collected()
    lines = of(log, ConsoleEntry)
    assert len(lines) == 500
    assert (lines[0].text, lines[-1].text) == ("line 0", "line 9999")
    assert counts([LogPart(moment="in the action", log=log)])["console"] == 10_000


def test_a_flood_of_lines_pushes_no_request_out(session: Session, listener: PageListener) -> None:
    session.ask(1)
    for at in range(100_000):
        session.log(f"line {at}")
    log = listener.collected()
    assert len(of(log, RequestEntry)) == 1
    (gap,) = log.left_out
    assert (gap.kind, gap.count) == ("console", 99_500)


def test_long_and_odd_texts_are_cut_and_said_so(session: Session, listener: PageListener) -> None:
    session.log("x" * 1_000_000)
    session.log("nul \x00 and \u202eright to left\ud800")
    session.log()
    long, odd, none = of(listener.collected(), ConsoleEntry)
    assert len(long.text) == LONGEST
    assert long.cut > 0
    assert odd.text == "nul \x00 and \u202eright to left\ud800"
    assert none.text == "(log)"


def test_many_arguments_are_not_all_kept(session: Session, listener: PageListener) -> None:
    session.log(*["w"] * 1000)
    (line,) = of(listener.collected(), ConsoleEntry)
    assert line.text.endswith("w …")
    assert line.text.count("w") == 50


def test_a_request_open_at_the_end_of_a_part_is_reported_again_when_it_ends(
    session: Session, listener: PageListener
) -> None:
    session.ask(1, at=1.0)
    (open_,) = listener.collected().entries
    assert isinstance(open_, RequestEntry)
    assert not open_.ended
    listener.drop()
    assert listener.collected().empty
    session.say("Network.responseReceived", requestId="1", response={"status": 200}, type="XHR")
    session.say("Network.loadingFinished", requestId="1", timestamp=3.5, encodedDataLength=12)
    (ended,) = listener.collected().entries
    assert isinstance(ended, RequestEntry)
    assert (ended.ended, ended.began_before, ended.milliseconds, ended.bytes) == (True, True, 2500.0, 12)
    assert not open_.ended


def test_a_redirect_is_two_requests(session: Session, listener: PageListener) -> None:
    session.ask(1, "http://x/a", at=1.0)
    session.ask(1, "http://x/b", at=2.0, redirectResponse={"status": 302, "encodedDataLength": 5})
    session.say("Network.loadingFailed", requestId="1", timestamp=3.0, errorText="net::ERR_X", canceled=True)
    first, second = of(listener.collected(), RequestEntry)
    assert (first.url, first.status, first.milliseconds) == ("http://x/a", 302, 1000.0)
    assert (second.failed, second.text) == (True, "cancelled (net::ERR_X)")


def test_messages_over_a_web_socket_are_reported_with_their_address(
    session: Session, listener: PageListener
) -> None:
    session.say("Network.webSocketCreated", requestId="7", url="ws://x/chat")
    session.say(
        "Network.webSocketFrameSent", requestId="7", response={"opcode": 1, "payloadData": "hé" * 400}
    )
    session.say(
        "Network.webSocketFrameReceived", requestId="7", response={"opcode": 2, "payloadData": "AAAA"}
    )
    session.say("Network.webSocketClosed", requestId="7")
    entries = of(listener.collected(), RequestEntry)
    assert [one.method for one in entries] == ["OPEN", "SEND", "RECEIVE", "CLOSE"]
    assert {one.url for one in entries} == {"ws://x/chat"}
    assert (entries[1].bytes, len(entries[1].text), entries[1].cut) == (1200, 500, 300)
    assert (entries[2].text, entries[2].bytes) == ("(binary)", 3)


def test_requests_that_never_end_are_not_waited_for_without_end(
    session: Session, listener: PageListener
) -> None:
    for number in range(5000):
        session.ask(number)
    assert len(listener._open) == 2000


def test_a_question_without_a_dialog_is_reported_too(listener: PageListener) -> None:
    listener.note_question("The page asked for Geolocation; it was refused.", "http://x/")
    (asked,) = of(listener.collected(), DialogEntry)
    assert asked.dialog == "request"
    assert "Geolocation" in asked.text
