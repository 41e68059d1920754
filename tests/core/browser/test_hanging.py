"""A page that only works, waits or stands still for long is no page that hangs: what it comes to is a success."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from werkzeug import Response

from core.browser.chromium import ChromiumHost
from core.browser.hanging import ScriptPatience
from core.browser.live_browser import LiveBrowser
from core.schema.errors import ActionError, BrowserError
from core.schema.events import ScriptWait
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site
from tests.core.browser.test_patience import renderers
from tests.core.browser.test_recovery import harmless_page_works
from tests.core.system.busy import busy

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("impatient")]
linux_only = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="Processes are stopped by signals of Linux."
)
_COMPUTE = (
    "let work = () => { for (const end = performance.now() + MILLISECONDS; performance.now() < end;); };"
)
_WORK = f"""
    <button onclick="work(); this.textContent = 'clicked ' + ++clicks">b</button>
    <script>let clicks = 0; {_COMPUTE}</script>
"""


def works_for(milliseconds: int) -> str:
    """Return a page whose button computes, longer than a page is waited for by the clock, and then succeeds."""
    return _WORK.replace("MILLISECONDS", str(milliseconds))


@contextmanager
def heard(patience: ScriptPatience, listener: Callable[[ScriptWait | None], None]) -> Iterator[None]:
    patience.waiting.connect(listener)
    try:
        yield
    finally:
        patience.waiting.disconnect(listener)


@pytest.fixture
def patient(impatient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a script to loop after more processor time than the tests here take, and a silent page as late."""
    monkeypatch.setattr("core.browser.hanging.ScriptPatience.seconds", 67.0)
    monkeypatch.setattr("core.browser.hanging._SILENT_SECONDS", 60.0)


@pytest.mark.usefixtures("patient")
@in_browser
async def test_a_click_whose_handler_works_for_long_beside_busy_processes_succeeds_once(
    browser: Browsing, site: Site
) -> None:
    await browser.open(site.page(works_for(2500)))
    with busy(8):
        await browser.do('click [button "b"]')
        shown = await browser.words()
    assert browser.events() == []
    assert "clicked 1" in shown


@pytest.mark.usefixtures("patient")
@in_browser
async def test_a_page_that_works_again_and_again_is_read_between(browser: Browsing, site: Site) -> None:
    await browser.open(site.page(works_for(2500)))
    await browser.js("setTimeout(work), setTimeout(work)")
    await browser.find("button", "b")
    assert browser.events() == []


@in_browser
async def test_a_click_before_a_loop_that_had_begun_is_carried_out(browser: Browsing, site: Site) -> None:
    loop = "<script>onpointermove = () => { onpointermove = null; while (true); }</script>"
    await browser.open(site.page("<button onclick=\"this.textContent = 'clicked'\">b</button>" + loop))
    await browser.do('click [button "b"]')
    await browser.find("button", "clicked")
    assert [event.kind for event in browser.events()] == ["hang"]


@in_browser
async def test_while_a_page_does_not_answer_it_is_told_for_how_long_and_a_person_may_wait_for_it(
    browser: Browsing, site: Site
) -> None:
    told: list[ScriptWait | None] = []
    patience = browser.tabs.browser.script_patience
    asked = site.serve(lambda _: Response("work" if len(told) < 2 else "end", content_type="text/plain"))
    until_told = f"""
        const compute = work;
        work = () => {{
            const request = new XMLHttpRequest();
            do {{ compute(); request.open("GET", "{asked}", false); request.send(); }}
            while (request.responseText == "work");
        }};
    """
    with heard(patience, told.append), heard(patience, lambda wait: patience.keep_waiting()):
        await browser.open(site.page(works_for(2500) + f"<script>{until_told}</script>"))
        await browser.do('click [button "b"]')
        assert "clicked 1" in await browser.words()
    assert browser.events() == []
    assert told[0] is not None
    assert (told[0].url, told[0].left) == (browser.tabs.current.playwright_page.url, 1)
    assert [one.left for one in told[1:-1] if one is not None] == [None] * (len(told) - 2)
    assert told[-1] is None


@pytest.mark.usefixtures("patient")
@in_browser
async def test_a_person_may_end_the_script_of_a_page_that_does_not_answer(
    browser: Browsing, site: Site
) -> None:
    patience = browser.tabs.browser.script_patience
    with heard(patience, lambda wait: patience.end_script()):
        await browser.open(site.page("<button onclick='while (true);'>b</button>"))
        await browser.do('click [button "b"]')
        await browser.find("button", "b")
    assert [event.kind for event in browser.events()] == ["hang"]


@pytest.mark.usefixtures("patient")
@linux_only
@in_browser
async def test_a_renderer_that_was_stopped_for_a_while_is_waited_for(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<button onclick=\"this.textContent = 'clicked'\">b</button>"))
    processes = await renderers(browser)
    for process in processes:
        os.kill(process, signal.SIGSTOP)

    def go_on() -> None:
        for process in processes:
            os.kill(process, signal.SIGCONT)

    asyncio.get_running_loop().call_later(5, go_on)
    await browser.do('click [button "b"]')
    await browser.find("button", "clicked")
    assert browser.events() == []


@linux_only
@in_browser
async def test_a_renderer_that_is_stopped_for_ever_is_told_to_hang_and_replaced(
    browser: Browsing, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("_SILENT_SECONDS", "_SERVER_SECONDS"):
        monkeypatch.setattr(f"core.browser.hanging.{limit}", 1.0)
    await browser.open(site.page("<button>b</button>"))
    for process in await renderers(browser):
        os.kill(process, signal.SIGSTOP)
    with pytest.raises((ActionError, BrowserError), match=r"crashed|renderer could not be stopped"):
        await browser.do('click [button "b"]')
    assert [event.kind for event in browser.events()] in (["hang", "crash"], ["hang", "replaced"])
    await harmless_page_works(browser, site)


@in_browser
async def test_a_script_that_waits_for_its_server_is_not_taken_to_hang(
    browser: Browsing, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.browser.hanging._SILENT_SECONDS", 1.0)
    ask = "const asked = new XMLHttpRequest(); asked.open('GET', '/slow?seconds=6', false); asked.send();"
    await browser.open(site.page(f"<button onclick=\"{ask} this.textContent = 'answered'\">b</button>"))
    await browser.do('click [button "b"]')
    await browser.find("button", "answered")
    assert browser.events() == []


@in_browser
async def test_a_dialog_that_stays_open_for_a_while_is_waited_for(
    browser: Browsing, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not isinstance(browser.host, ChromiumHost):
        pytest.skip("Qt answers dialogs before anyone could wait.")
    answered = ChromiumHost._on_dialog

    async def later(*given: object) -> None:
        await asyncio.sleep(4)
        await answered(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(ChromiumHost, "_on_dialog", later)
    await browser.open(site.page("<button onclick=\"this.textContent = confirm('Sure?')\">b</button>"))
    await browser.do('click [button "b"]')
    await browser.find("button", "true")
    assert [event.kind for event in browser.events()] == ["dialog"]


@pytest.mark.usefixtures("patient")
@in_browser
async def test_a_new_tab_that_works_for_long_while_it_loads_is_followed(
    browser: Browsing, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LiveBrowser._attach.__kwdefaults__, "seconds", 2.0)
    other = site.page(f"<p>the other</p><script>{_COMPUTE.replace('MILLISECONDS', '3000')} work()</script>")
    await browser.open(site.page(f"<a href='{other}' target=_blank rel=noopener>open</a>"))
    await browser.do('click [link "open"]')
    assert "the other" in await browser.words()
    assert [event.kind for event in browser.events()] == ["popup"]
