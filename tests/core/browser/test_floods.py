"""What pages cause in any number and size is thinned and cut before it goes further, and what is left out is told."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from core.browser.floods import LARGEST, MOST, WHILE, BrowserEvents, FloodLimit, MessageFilter, shortened
from core.browser.log.listener import PageListener
from core.browser.log.records import LONGEST, LogPart, PageLog, counts
from core.browser.sent_requests import SentLog
from core.schema.errors import ActionError, BrowserError
from core.schema.events import BrowserEvent
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.hostile_pages import HOSTILE
from tests.core.browser.site import Site
from tests.core.browser.test_recovery import harmless_page_works


def of_kinds(log: PageLog) -> dict[Any, int]:
    return dict(counts([LogPart(moment="in the action", log=log)]))


# The limit


def test_of_a_flood_the_first_pass_and_of_its_next_while_a_tenth() -> None:
    now = 0.0
    limit = FloodLimit(lambda: now)
    passed = []
    for _ in range(4):
        passed.append(sum(limit.admits("title", 100) for _ in range(1000)))
        now += WHILE
    assert passed == [100, 10, 10, 10]
    now += WHILE
    assert sum(limit.admits("title", 100) for _ in range(1000)) == 100


def test_kinds_have_limits_of_their_own_and_slow_events_all_pass() -> None:
    now = 0.0
    limit = FloodLimit(lambda: now)
    assert not all(limit.admits("title", 5) for _ in range(6))
    assert limit.admits("dialog", 5)
    for _ in range(1000):
        now += WHILE / 5
        assert limit.admits("popup", 5)


def test_a_flood_is_known_as_one_when_its_next_while_begins_and_forgotten_after_it() -> None:
    now = 0.0
    limit = FloodLimit(lambda: now)
    for _ in range(1000):
        limit.admits("title", 100)
    assert limit.excess == 900
    now += WHILE + 1
    assert limit.excess == 900
    limit.admits("title", 100)
    assert limit.excess == 900
    now += WHILE
    assert limit.excess == 0


# Events of hosts


async def test_events_that_are_left_out_are_told_as_a_number_of_each_kind() -> None:
    events, told, asked = BrowserEvents(), list[BrowserEvent](), []

    def place() -> tuple[str, str]:
        asked.append(1)
        return "tab", "http://page/"

    events.follow(told.append)
    for _ in range(3000):
        events.tell("console", "said", place)
    events.tell("dialog", "asked", place)
    await asyncio.sleep(0)
    assert len(told) == len(asked) == MOST + 1
    events.tell_left_out()
    events.tell_left_out()
    assert [one.text for one in told[MOST + 1 :]] == [
        "Too many events at once: 2,900 more events were only counted (console)."
    ]


async def test_a_crash_is_told_however_many_there_were() -> None:
    events, told = BrowserEvents(), list[BrowserEvent]()
    events.follow(told.append)
    for _ in range(2 * MOST):
        events.tell("crash", "ended", lambda: ("tab", ""))
    await asyncio.sleep(0)
    assert len(told) == 2 * MOST


async def test_texts_and_addresses_are_cut_with_their_length_told() -> None:
    events, told = BrowserEvents(), list[BrowserEvent]()
    events.follow(told.append)
    events.tell("dialog", "q" * 1_000_000, lambda: ("tab", "u" * 2_000_000))
    await asyncio.sleep(0)
    assert told[0].text.endswith("(… 998,000 more characters left out)")
    assert len(told[0].text) < LONGEST + 100
    assert len(told[0].url) == LONGEST
    assert shortened("short") == "short"


# Messages of the driver


class Filtered:
    """A filter, and what it had told."""

    def __init__(self) -> None:
        self.left_out: list[str] = []
        self.too_long: list[tuple[str, int]] = []
        self.filter = MessageFilter(
            lambda kind, _: self.left_out.append(kind), lambda what, size: self.too_long.append((what, size))
        )

    def pass_through(self, make: Callable[[int], bytes], count: int) -> int:
        return sum(self.filter.admits(make(number)) for number in range(count))


def message(method: str, params: str) -> bytes:
    return f'{{"guid":"cdp-session@1","method":"event","params":{{"method":"{method}","params":{params}}}}}'.encode()


def request(number: int, method: str = "GET", kind: str = "Fetch", url: str = "http://a/") -> bytes:
    sent = f'"request":{{"url":"{url}","method":"{method}","headers":{{}}}}'
    return message("Network.requestWillBeSent", f'{{"requestId":"7.{number}",{sent},"type":"{kind}"}}')


def test_console_messages_beyond_the_first_are_counted_and_not_parsed() -> None:
    seen = Filtered()
    passed = seen.pass_through(lambda _: message("Runtime.consoleAPICalled", '{"type":"error"}'), 5000)
    assert passed + len(seen.left_out) == 5000
    assert set(seen.left_out) == {"console"}
    assert passed == 1000


def test_requests_that_are_left_out_have_their_answers_left_out_and_others_keep_theirs() -> None:
    seen = Filtered()
    passed = seen.pass_through(request, 4000)
    answers = seen.pass_through(
        lambda number: message("Network.loadingFinished", f'{{"requestId":"7.{number}"}}'), 4000
    )
    assert passed == answers == 4000 - len(seen.left_out) < 4000


def console(number: int, when: float) -> bytes:
    return message("Runtime.consoleAPICalled", f'{{"args":["{number}"],"timestamp":{when * 1000}}}')


@pytest.mark.parametrize(("seconds", "endless"), [(50, False), (80, True)])
def test_a_flood_is_endless_by_the_pages_own_clock(seconds: int, endless: bool) -> None:
    seen = Filtered()
    seen.pass_through(lambda number: console(number, 1_795_697_306 + number * seconds / 7000), 7000)
    assert (seen.filter.flooded, seen.filter.endless) == (True, endless)


def test_two_bursts_with_a_pause_between_are_no_endless_flood() -> None:
    seen = Filtered()
    for began in (1_795_697_306, 1_795_697_406):
        seen.pass_through(lambda number, began=began: console(number, began + number / 1000), 4000)
    assert (seen.filter.flooded, seen.filter.endless) == (True, False)


def test_answers_that_are_left_out_are_a_flood_and_end_their_requests() -> None:
    seen = Filtered()
    seen.pass_through(request, 6000)
    left_out = len(seen.left_out)
    assert seen.filter.open_requests == left_out
    seen.pass_through(
        lambda number: message("Network.responseReceived", f'{{"requestId":"7.{number}"}}'), 6000
    )
    assert seen.filter.open_requests == left_out
    seen.pass_through(
        lambda number: message("Network.loadingFinished", f'{{"requestId":"7.{number}"}}'), 6000
    )
    assert seen.filter.flooded
    assert seen.filter.open_requests == 0


@pytest.mark.parametrize("kept", [{"method": "POST"}, {"kind": "Document"}])
def test_what_changes_a_server_and_documents_are_never_left_out(kept: dict[str, str]) -> None:
    seen = Filtered()
    seen.pass_through(request, 4000)
    assert seen.filter.admits(request(5000, **kept))
    quoted = r"http://a/\"method\":\"GET\""
    assert seen.filter.admits(request(5001, **kept, url=quoted))


def test_a_message_of_many_megabytes_is_told_by_its_size() -> None:
    seen = Filtered()
    long = message("Runtime.consoleAPICalled", '{"args":["' + "c" * LARGEST + '"]}')
    assert not seen.filter.admits(long)
    assert seen.too_long == [("Runtime.consoleAPICalled", len(long))]
    log = PageListener()
    log.note_too_long(*seen.too_long[0])
    assert "left out: it is too large" in log.collected().entries[0].text


def test_answers_to_questions_always_pass() -> None:
    seen = Filtered()
    answer = b'{"id":3,"result":{"result":{"value":"' + b"x" * LARGEST + b'"}}}'
    assert seen.filter.admits(answer)
    assert seen.filter.admits(message("Runtime.executionContextCreated", '{"context":{"id":1}}'))


def test_of_what_a_page_sends_the_first_are_kept_and_the_rest_is_a_number() -> None:
    sent = SentLog()
    for _ in range(10_000):
        sent.on_request({"request": {"method": "POST", "url": "http://a/order"}})
    kept = sent.take()
    assert (len(kept), str(kept[0])) == (501, "POST http://a/order")
    assert str(kept[-1]) == "9,500 more of which only the number was recorded"
    assert sent.take() == ()


# In a browser


@in_browser
@pytest.mark.browser
@pytest.mark.parametrize(
    ("name", "kind"),
    [("console errors", "console"), ("messages", "request")],
)
async def test_all_of_a_flood_is_counted_and_a_part_of_it_read(
    browser: Browsing, site: Site, name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    add = PageListener._add

    def counted(self: PageListener, kind: Any, values: Any) -> None:
        read.append(kind)
        add(self, kind, values)

    monkeypatch.setattr(PageListener, "_add", counted)
    await browser.open(HOSTILE[name].serve(site, 3000 if kind == "console" else 1500))
    expected = 3000  # A message is sent, and answered.
    while of_kinds(browser.tabs.browser.log.collected())[kind] < expected:
        await browser.js("1")
    assert read.count(kind) < expected
    await browser.find("paragraph")


@in_browser
@pytest.mark.browser
async def test_a_line_of_megabytes_is_told_and_the_page_works_on(browser: Browsing, site: Site) -> None:
    await browser.open(HOSTILE["a long console line"].serve(site, 2 * LARGEST))
    while not any(
        "left out: it is too large" in one.text for one in browser.tabs.browser.log.collected().entries
    ):
        await browser.js("1")
    assert "hostile" in await browser.words()


_BURST = """
    <button onclick="for (let i = 0; i < 3000; i++) { BODY } document.title = 'logged'">Log</button>
"""


@in_browser
@pytest.mark.browser
async def test_a_burst_that_ends_costs_neither_page_nor_renderer(browser: Browsing, site: Site) -> None:
    body = "console.log('line ' + i, {a: i}); fetch('data:,x' + i).catch(() => {})"
    await browser.open(site.page(_BURST.replace("BODY", body)))
    await browser.do('click [button "Log"]')
    assert (await browser.see()).title == "logged"
    assert browser.events() == []
    left_out = {one.kind: one.count for one in browser.tabs.browser.log.collected().left_out}
    assert left_out["console"] == 2500
    assert left_out["request"] >= 2400


@in_browser
@pytest.mark.browser
async def test_a_burst_of_requests_to_a_server_is_waited_out(browser: Browsing, site: Site) -> None:
    body = (
        "fetch('/said?' + i).catch(() => {}).finally(() => { if (++done == 2000) document.title = 'over' })"
    )
    burst = _BURST.replace("BODY", body).replace("3000", "2000")
    await browser.open(site.page("<script>let done = 0</script>" + burst))
    await browser.do('click [button "Log"]')
    assert (await browser.see()).title == "over"
    assert browser.events() == []


@in_browser
@pytest.mark.browser
@pytest.mark.usefixtures("impatient")
async def test_a_flood_without_end_is_ended_and_told(
    browser: Browsing, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.browser.floods.ENDLESS", 1.5)
    with suppress(ActionError, BrowserError):
        await browser.open(HOSTILE["console errors in a loop"].serve(site))
        await browser.see()
    assert "hang" in [one.kind for one in browser.events()]
    await harmless_page_works(browser, site)
