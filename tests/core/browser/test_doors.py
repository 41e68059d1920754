"""What a page reaches of Backstep's own servers and of the debugger, from inside the browser: nothing."""

from pathlib import Path

import httpx2
from starlette.applications import Starlette
from starlette.routing import Mount

from core.attach.bridge import AgentBridge
from core.attach.clock import HeldClock
from core.attach.server import AgentServer
from core.attach.told import TellingAddress, Told
from core.browser.chromium import ChromiumHost
from core.environments.static_server import StaticServer
from tests.core.browser.browsing import Browsing, Worker, in_browser
from tests.core.browser.site import Site
from tests.core.stage import need_chromium

TRIES = """async ({url, body}) => {
  const read = async options => {
    try { return await (await fetch(url, options)).text() } catch { return '' }
  };
  const opens = new Promise(done => {
    const socket = new WebSocket(url.replace('http', 'ws'));
    socket.onopen = () => done('open');
    socket.onerror = () => done('');
  });
  const framed = new Promise(done => {
    const frame = document.createElement('iframe');
    frame.src = url;
    frame.onload = () => {
      try { done(frame.contentDocument?.body.textContent ?? '') } catch { done('') }
    };
    document.body.append(frame);
  });
  return [
    await read({}),
    await read({mode: 'no-cors'}),
    await read({method: 'POST', mode: 'no-cors', body}),
    await read({method: 'POST', headers: {Authorization: 'Bearer x'}, body}),
    await opens,
    await framed,
  ];
}"""
NOTHING = ["", "", "", "", "", ""]
NOTE = '{"kind": "note", "text": "from a page"}'


async def tried(browser: Browsing, url: str) -> list[str]:
    """Return what a page gets of an address: read in several ways, by a socket, and in a frame."""
    got: list[str] = await browser.tabs.current.playwright_page.evaluate(TRIES, {"url": url, "body": NOTE})
    return got


@in_browser
async def test_a_page_gets_nothing_of_the_addresses_of_an_agent_though_it_knows_them(
    browser: Browsing, site: Site, tmp_path: Path
) -> None:
    told: list[Told] = []
    telling = TellingAddress(told.append)
    server = AgentServer(Starlette(routes=[Mount(telling.path, telling.app())]))
    bridge = AgentBridge(browser.host, lambda: None, HeldClock(tmp_path / "clock"))
    await server.start()
    try:
        addresses = await bridge.start()
        await browser.open(site.page("a page"))
        for url in (
            f"{addresses.llm}/models",
            f"{addresses.browser}/json/version",
            f"{addresses.browser}/devtools/browser/any",
            addresses.sdk,
            addresses.requests,
            f"http://127.0.0.1:{server.port}{telling.path}/",
            f"http://localhost:{server.port}{telling.path}/",
        ):
            assert await tried(browser, url) == NOTHING, url
        assert told == []
    finally:
        await bridge.close()
        await server.close()


@in_browser
async def test_a_page_gets_nothing_of_the_sites_of_another_run(
    browser: Browsing, site: Site, tmp_path: Path
) -> None:
    (tmp_path / "secret.html").write_text("secret")
    files = StaticServer(tmp_path)
    try:
        await browser.open(site.page("a page"))
        assert await tried(browser, f"{files.origin}/secret.html") == NOTHING
    finally:
        files.close()


@in_browser
async def a_page_gets_nothing_of_the_debugger(browser: Browsing, site: Site) -> None:
    """Check it for a browser that others can drive: all that its port offers, of this tab and of another."""
    await browser.tabs.open()
    await browser.open(site.page("a page"))
    port = await browser.host.protocol_address()
    async with httpx2.AsyncClient(trust_env=False) as client:
        targets = (await client.get(f"{port}/json/list")).json()
        version = (await client.get(f"{port}/json/version")).json()
        rebound = await client.get(f"{port}/json/list", headers={"Host": "rebound.example"})
    assert len([one for one in targets if one["type"] == "page"]) >= 2
    sockets = [one["webSocketDebuggerUrl"] for one in (version, *targets)]
    paths = ("/json", "/json/list", "/json/version", "/json/protocol", "/json/new?about:blank")
    for url in (*(f"{port}{path}" for path in paths), *(one.replace("ws", "http", 1) for one in sockets)):
        assert await tried(browser, url) == NOTHING, url
    assert rebound.status_code >= 400
    before = len(targets)
    async with httpx2.AsyncClient(trust_env=False) as client:
        assert len((await client.get(f"{port}/json/list")).json()) == before


def test_a_page_gets_nothing_of_a_chromium_that_agents_drive(site: Site) -> None:
    worker = Worker()
    browser = Browsing(ChromiumHost(need_chromium(), shared=True), worker)
    try:
        browser.begin()
        a_page_gets_nothing_of_the_debugger(browser=browser, site=site)
    finally:
        browser.close()
        worker.close()
