"""What servers answer is recorded, and given again to pages that reach no server."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from werkzeug import Request, Response

from core.browser.recorded.exchange import SOCKET, Exchange
from core.browser.recorded.offline_replay import Seal
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.hostile_pages import HOSTILE
from tests.core.browser.site import Site


class Served:
    """Pages of a site that note every request."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.asked: list[str] = []

    def __call__(
        self, text: str, *, content_type: str = "text/html", status: int = 200, **headers: str
    ) -> str:
        def answer(request: Request) -> Response:
            self.asked.append(f"{request.method} {request.path}")
            given = {name.replace("_", "-"): value for name, value in headers.items()}
            return Response(text, status=status, content_type=content_type, headers=given)

        return self._site.serve(answer)


@contextmanager
def counting_port() -> Iterator[tuple[int, list[bytes]]]:
    """A port of this machine that takes any connection, and what came over each."""
    came: list[bytes] = []
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    came.append(connection.recv(2000))

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1], came


class Tape:
    """What was recorded, with its contents."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.bodies: dict[str, bytes] = {}

    async def record(self, browser: Browsing) -> "Tape":
        for exchange, body in await browser.tabs.network.take():
            self.exchanges.append(exchange)
            self.bodies[exchange.body] = body
        return self

    def seal(self) -> Seal:
        return Seal(self.exchanges, lambda name: self.bodies[name])


async def recording(browser: Browsing) -> None:
    browser.tabs.network.wanted = True
    await browser.tabs.open_profile()
    browser.tabs.network.wanted = False


@in_browser
async def test_a_page_is_given_again_with_its_cookies_and_parts(browser: Browsing, site: Site) -> None:
    served = Served(site)
    part = served("from the server", content_type="text/plain")
    url = served(
        f"<p id=p></p><script>fetch('{part}').then(r => r.text()).then(t => p.textContent = t)</script>",
        Set_Cookie="a=1; Path=/; HttpOnly",
    )
    await recording(browser)
    await browser.open(url)
    tape = await Tape().record(browser)
    recorded = [(one.method, one.kind, one.status) for one in tape.exchanges]
    assert ("GET", "document", 200) in recorded
    assert ("GET", "fetch", 200) in recorded
    served.asked.clear()
    seal = tape.seal()
    async with browser.tabs.sealed(seal):
        await browser.tabs.open_profile()
        await browser.open(url)
        assert "from the server" in await browser.words()
        cookies = await browser.tabs.current.send("Network.getCookies", {"urls": [url]})
        assert [(one["name"], one["value"]) for one in cookies["cookies"]] == [("a", "1")]
    assert served.asked == []
    assert seal.remarks == ()


@in_browser
async def test_a_page_goes_on_live_after_it_was_given_again(browser: Browsing, site: Site) -> None:
    served = Served(site)
    part = served("live", content_type="text/plain")
    url = served(
        "<button aria-label=ask onclick=\"fetch('"
        + part
        + "').then(r => r.text(), String).then(t => this.textContent = t)\">"
        "ask</button>"
    )
    await recording(browser)
    await browser.open(url)
    tape = await Tape().record(browser)
    seal = tape.seal()
    async with browser.tabs.sealed(seal):
        await browser.tabs.open_profile()
        await browser.open(url)
        await browser.do('click [button "ask"]')
        assert "live" not in await browser.tabs.current.html()
    assert seal.remarks == (f"GET {part} was not recorded; it was blocked.",)
    await browser.do('click [button "ask"]')
    assert ">live</button>" in await browser.tabs.current.html()
    assert await browser.tabs.current.evaluate("WebSocket.toString().includes('native')", main_world=True)


@in_browser
async def test_redirects_of_pages_and_parts_lead_where_they_led(browser: Browsing, site: Site) -> None:
    served = Served(site)
    end = served("<p>the end</p>")
    part = served("part", content_type="text/plain")
    to_part = served("", status=302, Location=part)
    form = served("", status=303, Location=end, Set_Cookie="b=2; Path=/")
    url = served(
        f"<form method=post action='{form}'><input name=x value=1><button>send</button></form><p id=p></p>"
        f"<script>fetch('{to_part}').then(r => r.text()).then(t => p.textContent = t)</script>"
    )

    async def walk() -> list[str]:
        await browser.open(url)
        words = await browser.words()
        await browser.do('click [button "send"]')
        return [words, await browser.words(), browser.tabs.current.playwright_page.url]

    await recording(browser)
    live = await walk()
    tape = await Tape().record(browser)
    served.asked.clear()
    async with browser.tabs.sealed(tape.seal()):
        await browser.tabs.open_profile()
        assert await walk() == live
        history = await browser.tabs.current.send("Page.getNavigationHistory", {})
        assert [one["url"] for one in history["entries"]][-2:] == [url, end]
    assert served.asked == []
    assert "part" in live[0]
    assert "the end" in live[1]


LEAKS = """
<link rel=prefetch href='{x}/prefetch'><link rel=stylesheet href='{x}/style'>
<style>p {{background: url({x}/css)}}</style>
<img src='{x}/img'><iframe src='{other}/frame'></iframe><object data='{x}/object'></object>
<video src='{x}/video'></video>
<p>leaks</p><a id=pop href='{x}/popup' target=_blank>pop</a>
<script>
const told = [];
const note = (what) => (e) => told.push(what + ': ' + (e && e.message || e && e.type));
fetch('{x}/fetch', {{method: 'POST', body: 'x', mode: 'no-cors'}}).catch(note('fetch'));
navigator.sendBeacon('{x}/beacon', 'x');
const s = new WebSocket('ws://127.0.0.1:{port}/socket'); s.onerror = note('socket');
const e = new EventSource('{x}/events'); e.onerror = () => e.close();
new Worker(URL.createObjectURL(new Blob(["fetch('{x}/worker')"])));
try {{ new SharedWorker('{own}/shared') }} catch (e) {{ note('shared')(e) }}
navigator.serviceWorker.register('{own}/service').catch(note('service'));
onpagehide = () => navigator.sendBeacon('{x}/gone', 'x');
</script>
"""


@in_browser
async def test_nothing_leaves_a_sealed_page_by_any_way(browser: Browsing, site: Site) -> None:
    with counting_port() as (port, came):
        x = f"http://127.0.0.1:{port}"
        page = LEAKS.format(x=x, other=f"http://localhost:{port}", own=site.home, port=port)
        url = site.page(page)
        body = page.encode()
        exchange = Exchange(
            method="GET", url=url, status=200, headers=(("content-type", "text/html"),), body="page"
        )
        seal = Seal([exchange], lambda _: body)
        async with browser.tabs.sealed(seal):
            await browser.tabs.open_profile()
            await browser.open(url)
            results = await browser.tabs.current.evaluate("told.join()", main_world=True)
            assert "socket: error" in results
            assert "shared: SharedWorker is not available." in results
            assert "service: Service workers are not available." in results
            await browser.do('click [link "pop"]')
            await browser.tabs.goto("about:blank")
            held = " ".join(seal.remarks)
            assert f"POST {x}/fetch" in held
        assert came == []


@in_browser
async def test_failures_fail_again_and_sockets_are_noted(browser: Browsing, site: Site) -> None:
    served = Served(site)
    with closing(socket.create_server(("127.0.0.1", 0))) as unused:
        port = unused.getsockname()[1]  # Nobody listens there any more.
    url = served(
        f"<p id=p></p><script>fetch('http://127.0.0.1:{port}/', {{mode: 'no-cors'}})"
        ".catch(() => p.textContent = 'refused');"
        f"new WebSocket('ws://127.0.0.1:{port}/')</script>"
    )
    await recording(browser)
    await browser.open(url)
    tape = await Tape().record(browser)
    failed = next(one for one in tape.exchanges if one.error)
    assert (failed.status, failed.error) == (0, "net::ERR_CONNECTION_REFUSED")
    assert SOCKET in [one.kind for one in tape.exchanges]
    seal = tape.seal()
    async with browser.tabs.sealed(seal):
        await browser.tabs.open_profile()
        await browser.open(url)
        assert "refused" in await browser.words()
    assert seal.remarks == ()


@in_browser
async def test_nothing_is_recorded_unless_wanted_and_nothing_of_an_earlier_profile(
    browser: Browsing, site: Site
) -> None:
    url = site.page("<p>page</p>")
    await browser.open(url)
    assert await browser.tabs.network.take() == ()
    await recording(browser)
    await browser.open(url)
    await browser.tabs.open_profile()
    await browser.open(url)
    assert await browser.tabs.network.take() == ()


@in_browser
async def test_what_came_while_the_task_was_opened_says_so(browser: Browsing, site: Site) -> None:
    first, second = site.page("<p>1</p>"), site.page("<p>2</p>")
    await recording(browser)
    await browser.open(first)
    opening = {one.exchange.opening for one in await browser.tabs.network.take()}
    await browser.open(second)
    later = {one.exchange.opening for one in await browser.tabs.network.take()}
    assert (opening, later) == ({True}, {False})


@in_browser
async def test_of_requests_that_end_at_once_so_many_are_kept_with_their_content(
    browser: Browsing, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.browser.recorded.recorder.AT_ONCE", 2)
    await recording(browser)
    await browser.open(HOSTILE["requests"].serve(site, 50))
    await browser.js(
        "Promise.all([...Array(50).keys()].map(i => fetch('/said?again' + i).then(r => r.text())))"
    )
    taken = [one for one in await browser.tabs.network.take() if "/said" in one.exchange.url]
    missing = [one.exchange.missing for one in taken if one.exchange.missing]
    assert missing
    assert set(missing) == {"Too many requests ended at once."}
    assert [one for one in taken if one.body == b"said"]
