"""How the page is awaited: by what an action set off, bounded, and never by what goes on by itself."""

import asyncio

import pytest
from werkzeug import Request, Response

from core.browser.settling import Bounds
from core.schema.errors import ActionError
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site


@in_browser
async def test_a_slow_navigation_is_awaited(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<a href='/slow?seconds=0.7'>go</a>"))
    await browser.do('click [link "go"]')
    assert "came late" in await browser.words()
    assert browser.settled.reason == "navigated"


@in_browser
async def test_a_redirect_is_followed_to_its_end(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<form action=/away><button>go</button></form>"))
    await browser.do('click [button "go"]')
    assert "arrived" in await browser.words()


@in_browser
async def test_what_a_request_brings_is_awaited(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<button onclick=\"fetch('/slow?seconds=0.7').then(r => r.text()).then("
            "() => document.body.append('brought'))\">get</button>"
        )
    )
    await browser.do('click [button "get"]')
    assert "brought" in await browser.words()


@in_browser
async def test_what_a_page_has_begun_since_it_was_opened_is_awaited_for_an_environment(
    browser: Browsing, site: Site
) -> None:
    await browser.driver.goto(site.page("<p>opened"))
    begins = "void fetch('/held').then(() => document.body.append('brought'))"
    await browser.driver.evaluate(begins, main_world=True)
    await browser.driver.evaluate("new Promise(done => setTimeout(done, 300))")
    settling = asyncio.ensure_future(browser.driver.settle())
    await asyncio.sleep(0.5)  # As long as a page takes to come to rest that has begun nothing.
    assert not settling.done()
    site.released.set()
    await settling
    site.released.clear()
    assert "brought" in await browser.words()


@in_browser
async def test_requests_that_follow_one_another_are_awaited_to_the_last(
    browser: Browsing, site: Site
) -> None:
    asks = "await (await fetch('/slow?seconds=0.01')).text();" * 20
    await browser.open(
        site.page(
            f"<button onclick=\"(async () => {{ {asks} document.body.append('brought') }})()\">get</button>"
        )
    )
    await browser.do('click [button "get"]')
    assert "brought" in await browser.words()


@in_browser
async def test_what_a_slow_server_answers_is_part_of_the_step(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<button onclick=\"fetch('/slow?seconds=6').then(r => r.text()).then("
            "() => document.body.append('brought'))\">get</button>"
        )
    )
    await browser.do('click [button "get"]')
    assert browser.settled.reason == "quiet"
    assert "brought" in await browser.words()


@in_browser
async def test_a_page_that_moves_on_by_itself_is_awaited(browser: Browsing, site: Site) -> None:
    last = site.page("<p>last")
    middle = site.page(f"<script>location.replace('{last}')</script>")
    await browser.open(site.page(f"<a href='{middle}'>go</a>"))
    await browser.do('click [link "go"]')
    assert "last" in await browser.words()


def refreshing(site: Site, how: str, seconds: float, url: str) -> str:
    """Return the URL of a page that opens another one after so many seconds."""
    said = f"{seconds:g};url={url}" if url else f"{seconds:g}"
    if how == "header":
        return site.page("<p>A moment.", headers={"Refresh": said})
    return site.page("<p>A moment.", head=f'<meta http-equiv="refresh" content="{said}">')


@pytest.mark.parametrize("how", ["element", "header"])
@in_browser
async def test_an_announced_redirect_is_awaited(browser: Browsing, site: Site, how: str) -> None:
    there = site.page("<button>Here</button>")
    wait = refreshing(site, how, 1, refreshing(site, how, 0, there))
    await browser.open(site.page(f"<a href='{wait}'>Go</a>"))
    await browser.do('click [link "Go"]')
    await browser.find("button", "Here")


@in_browser
async def test_an_announced_redirect_of_a_frame_is_awaited(browser: Browsing, site: Site) -> None:
    wait = refreshing(site, "element", 1, site.page("<button>Here</button>"))
    await browser.open(site.page(f"<a href='{wait}' target=f>Go</a><iframe name=f></iframe>"))
    await browser.do('click [link "Go"]')
    await browser.find("button", "Here")


@pytest.mark.parametrize(
    ("seconds", "itself"), [(60, False), (4, True)], ids=["in a minute", "of the page itself"]
)
@in_browser
async def test_a_page_that_is_to_be_read_first_is_not_left(
    browser: Browsing, site: Site, seconds: int, itself: bool
) -> None:
    there = site.page("<button>Here</button>")
    wait = refreshing(site, "element", seconds, "" if itself else there)
    await browser.open(site.page(f"<a href='{wait}'>Go</a>"))
    await browser.do('click [link "Go"]')
    assert not browser.tabs.current.loading.announced
    await browser.find("paragraph", "A moment.")


@in_browser
async def test_pages_that_show_each_other_in_turn_hold_nothing_up_for_long(
    browser: Browsing, site: Site
) -> None:
    shown: list[str] = []

    def page(request: Request) -> Response:
        shown.append(request.path)
        other = "/turn/b" if request.path == "/turn/a" else "/turn/a"
        return Response(
            f"<meta http-equiv=refresh content='1;url={other}'><p>{other}", content_type="text/html"
        )

    await browser.open(site.serve_under("/turn/", page) + "a")
    assert len(shown) < 8


@in_browser
async def test_addresses_changed_by_script_are_no_navigation(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<button onclick=\"history.pushState(null, '', '/elsewhere'); this.textContent = 'there'\">go</button>"
        )
    )
    before = (await browser.find("button")).ref
    await browser.do(f"click [{before}]")
    assert browser.settled.reason == "quiet"
    seen = await browser.see()
    assert seen.url.endswith("/elsewhere")
    assert [(e.ref, e.name) for e in seen.elements] == [(before, "there")]
    await browser.do("go_back")
    assert browser.settled.seconds < 5


@pytest.mark.parametrize(
    "script",
    [
        "new EventSource('/stream').onmessage = e => { document.title = e.data }",
        "new WebSocket(location.href.replace('http', 'ws'))",
        "setInterval(() => document.body.dataset.n = Math.random(), 5)",
        "document.body.animate([{opacity: 0}, {opacity: 1}], {duration: 500, iterations: Infinity})",
    ],
    ids=["event source", "web socket", "ticking", "animated"],
)
@in_browser
async def test_a_page_that_never_rests_holds_nothing_up(browser: Browsing, site: Site, script: str) -> None:
    settled = await browser.open(
        site.page(f"<button onclick=\"this.textContent='done'\">b</button><script>{script}</script>")
    )
    assert settled.reason in ("navigated", "still changing")
    await browser.do('click [button "b"]')
    assert browser.settled.reason in ("quiet", "still changing")
    await browser.find("button", "done")


@in_browser
async def test_a_long_poll_is_waited_for_once_only(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<button onclick=\"fetch('/held')\">b</button>"))
    await browser.do('click [button "b"]', Bounds(requests=0.7))
    assert browser.settled.reason == "requests still pending"
    await browser.do('click [button "b"]')
    assert browser.settled.reason == "quiet"
    site.released.set()
    site.released.clear()


@in_browser
async def test_a_request_that_was_slow_once_is_waited_for_again(browser: Browsing, site: Site) -> None:
    answered = "then(r => r.text()).then(() => document.body.append(' answered'))"
    ask = f"window.answer = fetch('/held').{answered}"
    other = '<button onclick="fetch(location.href)">c</button>'
    await browser.open(site.page(f'<button onclick="{ask}">b</button>{other}'))
    await browser.do('click [button "b"]', Bounds(requests=0.1))
    assert browser.settled.reason == "requests still pending"
    site.released.set()
    await browser.js("window.answer")
    site.released.clear()
    # What the protocol tells of another request comes after the end of the slow one.
    await browser.do('click [button "c"]')
    asyncio.get_running_loop().call_later(1, site.released.set)
    await browser.do('click [button "b"]', Bounds(requests=20))
    assert browser.settled.reason == "quiet"
    assert (await browser.words()).count("answered") == 2
    site.released.clear()


@in_browser
async def test_a_picture_that_never_comes_is_waited_for_once_only(browser: Browsing, site: Site) -> None:
    picture = site.page("<img src=/held><button>b</button>")
    await browser.open(site.page(f"<a href='{picture}'>go</a>"))
    await browser.do('click [link "go"]', Bounds(rest=0.7))
    assert browser.settled.reason == "still loading"
    await browser.do('click [button "b"]')
    assert browser.settled.reason == "quiet"
    site.released.set()
    site.released.clear()


@in_browser
async def test_a_page_that_was_given_up_does_not_come_later(
    browser: Browsing, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.browser.tabs.GOTO_SECONDS", 1.0)
    await browser.open(site.page("<p>before"))
    with pytest.raises(ActionError, match="did not answer within 1 s"):
        await browser.do(f"goto [{site.home}/held]")
    site.released.set()
    await browser.do("wait [1]")
    site.released.clear()
    assert "before" in await browser.words()


@in_browser
async def test_a_link_that_brings_no_page_holds_nothing_up(browser: Browsing, site: Site) -> None:
    for address in ("/nothing", "javascript:void 0", "/file"):
        await browser.open(site.page(f"<a href='{address}'>go</a>"))
        await browser.do('click [link "go"]')
        assert browser.settled.seconds < 3, address
        assert "go" in await browser.words()
        downloads = [event.text for event in browser.events() if event.kind == "download"]
        refused = ["The page offered the download report.csv; it was refused."]
        assert downloads == (refused if address == "/file" else []), address


@in_browser
async def test_a_document_written_by_a_link_is_read(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<a href=\"javascript:'<p>made here'\">go</a>"))
    await browser.do('click [link "go"]')
    assert "made here" in await browser.words()


@in_browser
async def test_the_script_of_a_worker_is_not_waited_for(browser: Browsing, site: Site) -> None:
    script = site.serve(lambda _: Response("postMessage('up')", content_type="text/javascript"))
    for address in (f"'{script}'", "URL.createObjectURL(new Blob(['postMessage(1)']))"):
        settled = await browser.open(site.page(f"<script>new Worker({address})</script>"))
        assert settled.reason == "navigated"
