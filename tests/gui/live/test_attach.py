"""An agent's own Playwright, connected to the embedded browser through the browser address."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import httpx2
import pytest
from playwright.async_api import Browser, Dialog, Error, Page, Playwright, async_playwright
from starlette.applications import Starlette
from starlette.routing import Mount

from core.attach.agent_connection import ActMessage, OnAct, Refused, Swallowed
from core.attach.agent_connection import connected as protocol
from core.attach.browser_proxy import BrowserProxy
from core.attach.server import AgentServer
from core.browser import dialogs
from gui.live.page_area import PageArea
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site

pytestmark = pytest.mark.browser


async def carry_out(message: ActMessage) -> None:
    """Hold nothing."""


@asynccontextmanager
async def served(browser: Browsing, on_act: OnAct = carry_out) -> AsyncGenerator[str, None]:
    """Serve the browser address, and yield it."""
    proxy = BrowserProxy(browser.host, on_act)
    server = AgentServer(Starlette(routes=[Mount(proxy.path, proxy.app())]))
    await server.start()
    try:
        yield f"http://127.0.0.1:{server.port}{proxy.path}"
    finally:
        await proxy.close()
        await server.close()


Agent = Callable[..., AbstractAsyncContextManager[Browser]]


@pytest.fixture(scope="module")
def driver(started: Browsing) -> Iterator[Playwright]:
    """A Playwright of an agent's own."""
    playwright = started.worker.run(async_playwright().start())
    yield playwright
    started.worker.run(playwright.stop())


@pytest.fixture
def agent(browser: Browsing, driver: Playwright) -> Agent:
    """Connects it, as long as the context lasts."""

    @asynccontextmanager
    async def connected(on_act: OnAct = carry_out) -> AsyncGenerator[Browser, None]:
        async with served(browser, on_act) as address:
            client = await driver.chromium.connect_over_cdp(address)
            yield client
            await client.close()

    return connected


def page_of(connected: Browser) -> Page:
    page = connected.contexts[0].pages[0]
    page.set_default_timeout(20_000)
    return page


@in_browser
async def test_it_acts_in_the_page_that_is_shown_and_has_its_cookies(
    browser: Browsing, agent: Agent, site: Site
) -> None:
    url = site.page("<label>Name <input></label><button onclick=\"this.textContent = 'done'\">go</button>")
    async with agent() as connected:
        page, context = page_of(connected), connected.contexts[0]
        await context.add_cookies([{"name": "a", "value": "b", "url": url}])
        assert [(one["name"], one["value"]) for one in await context.cookies()] == [("a", "b")]
        await page.goto(url)
        assert await page.evaluate("document.cookie") == "a=b"
        await page.get_by_label("Name").fill("Ada")
        await page.get_by_role("button").click()
        assert await page.get_by_role("button").inner_text() == "done"
        assert len(await page.screenshot()) > 1000
        await page.mouse.wheel(0, 100)
    await browser.find("button", "done")


@in_browser
async def test_it_opens_and_closes_tabs_of_the_window_and_makes_one_context_that_is_the_clean_profile(
    browser: Browsing, agent: Agent, site: Site
) -> None:
    url = site.page("<p>two")
    async with agent() as connected:
        second = await connected.contexts[0].new_page()
        await second.goto(url)
        assert await second.locator("p").inner_text() == "two"
        assert len(await browser.tabs.list()) == 2
        await page_of(connected).goto(site.page("<button>one</button>"))
        await page_of(connected).bring_to_front()
        await page_of(connected).get_by_role("button").click()
        await second.close()
        assert len(await browser.tabs.list()) == 1
        context = await connected.new_context()
        page = await context.new_page()
        await page.goto(url)
        assert await page.locator("p").inner_text() == "two"
        with pytest.raises(Error, match="one browser context"):
            await connected.new_context()


@in_browser
async def test_gestures_that_end_the_engine_are_answered_otherwise_and_a_page_keeps_its_size(
    browser: Browsing, agent: Agent, site: Site
) -> None:
    async with agent() as connected:
        page = page_of(connected)
        await page.goto(site.page("<div style='height: 5000px'></div>"))
        session = await connected.contexts[0].new_cdp_session(page)
        await session.send("Input.synthesizeScrollGesture", {"x": 50, "y": 50, "yDistance": -300})
        await page.wait_for_function("scrollY > 100")
        with pytest.raises(Error, match="crashes at this gesture"):
            await session.send("Input.synthesizePinchGesture", {"x": 50, "y": 50, "scaleFactor": 2})
        width = await page.evaluate("innerWidth")
        await page.set_viewport_size({"width": 3000, "height": 2000})
        assert await page.evaluate("innerWidth") == width


@in_browser
async def test_tabs_have_names_that_are_the_same_for_whoever_does_the_same_again(
    browser: Browsing, agent: Agent, site: Site
) -> None:
    url = site.page("<iframe srcdoc='<p>inside'></iframe>")
    names: list[list[str]] = []
    for _ in range(2):
        async with agent() as connected:
            second = await connected.contexts[0].new_page()
            await second.goto(url)
            assert await second.frame_locator("iframe").locator("p").inner_text() == "inside"
            session = await connected.new_browser_cdp_session()
            infos = (await session.send("Target.getTargets"))["targetInfos"]
            pages = {one["targetId"]: one["url"] for one in infos if one["type"] == "page"}
            names.append(sorted(pages))
            (name,) = [one for one, shown in pages.items() if shown == url]
            await session.send("Target.closeTarget", {"targetId": name})
            assert len(await browser.tabs.list()) == 1
    assert names[0] == names[1]
    assert [one[-4:] for one in names[0]] == ["0001", "0002"]


@in_browser
async def test_a_tab_is_reached_by_its_name_at_an_address_of_its_own_with_its_token(
    browser: Browsing,
) -> None:
    async with served(browser) as address, httpx2.AsyncClient() as client:
        assert (await client.get(f"{address}/json/version")).status_code == 200
        wrong = address.rsplit("/", 1)[0]
        assert (await client.get(f"{wrong}/guessed/json/version")).status_code == 404
        (listed,) = (await client.get(f"{address}/json/list")).json()
        assert listed["id"] == listed["webSocketDebuggerUrl"].rsplit("/", 1)[1]
        assert listed["id"] not in await browser.host.tabs()
        engine = (await browser.host.protocol_address()).partition("//")[2]
        assert engine not in listed["webSocketDebuggerUrl"]
        async with protocol(listed["webSocketDebuggerUrl"]) as link:
            await link.send(json.dumps({"id": 1, "method": "Page.getFrameTree"}))
            answer = json.loads(await link.recv())
        assert answer["result"]["frameTree"]["frame"]["id"] == listed["id"]
        opened = (await client.put(f"{address}/json/new")).json()["id"]
        assert opened[-4:] == "0002"
        await client.get(f"{address}/json/close/{opened}")
        assert len(await browser.host.tabs()) == 1


BUTTON = "<button onclick=\"this.textContent = 'done'\">go</button><p>words"


@in_browser
async def test_what_it_does_is_held_until_it_may_be_done_and_nothing_overtakes_it(
    browser: Browsing, agent: Agent, site: Site
) -> None:
    held, go_on = asyncio.Event(), asyncio.Event()

    async def hold(message: ActMessage) -> None:
        if message.part.act.kind == "click" and message.part.begins:
            held.set()
            await go_on.wait()

    async with agent(hold) as connected:
        page = page_of(connected)
        await page.goto(site.page(BUTTON))
        clicking = asyncio.ensure_future(page.get_by_role("button").click())
        await held.wait()
        reading = asyncio.ensure_future(page.locator("p").inner_text())
        await browser.find("button", "go")
        assert not clicking.done()
        assert not reading.done()
        go_on.set()
        assert await reading == "words"
        await clicking
        assert await page.get_by_role("button").inner_text() == "done"


@in_browser
async def test_what_is_refused_is_an_error_and_what_is_swallowed_is_none_and_neither_happens(
    browser: Browsing, agent: Agent, site: Site
) -> None:
    async def refuse(message: ActMessage) -> None:
        if message.part.act.kind in ("click", "script"):
            raise Refused("Refused by the person.")

    async def swallow(message: ActMessage) -> None:
        if message.part.act.kind == "click" and not message.part.announces:
            raise Swallowed

    async with agent(refuse) as connected:
        page = page_of(connected)
        await page.goto(site.page(BUTTON))
        with pytest.raises(Error, match="Refused by the person"):
            await page.get_by_role("button").click()
        with pytest.raises(Error, match="Refused by the person"):
            await page.evaluate("document.querySelector('button').click()")
    await browser.find("button", "go")
    async with agent(swallow) as connected:
        await page_of(connected).get_by_role("button").click()
    await browser.find("button", "go")


ASKING = "<button onclick=\"said.textContent = confirm('sure?') + '/' + prompt('name?', 'd')\">go</button><p id=said>"


@in_browser
async def test_dialogs_are_answered_by_the_agent(browser: Browsing, agent: Agent, site: Site) -> None:
    async def answer(dialog: Dialog) -> None:
        await (dialog.dismiss() if dialog.type == "confirm" else dialog.accept("Ada"))

    async with agent() as connected:
        page = page_of(connected)
        page.on("dialog", answer)
        await page.goto(site.page(ASKING))
        for _ in range(2):
            await page.get_by_role("button").click()
            assert await page.locator("p").inner_text() == "false/Ada"
    said = [event.text for event in browser.tabs.browser.take_events() if event.kind == "dialog"]
    assert said[:2] == [
        'The page asked (confirm): "sure?"; it was dismissed by the agent.',
        'The page asked (prompt): "name?"; it was accepted by the agent.',
    ]


@in_browser
async def test_a_dialog_that_no_agent_answers_is_answered_by_the_rule(
    browser: Browsing, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialogs, "SECONDS", 0.2)
    url = site.page("<script>setTimeout(() => { document.title = confirm('sure?') })</script>")
    async with served(browser) as address, httpx2.AsyncClient() as client:
        (listed,) = (await client.get(f"{address}/json/list")).json()
        async with protocol(listed["webSocketDebuggerUrl"]) as link:
            for number, (method, given) in enumerate((("Page.enable", {}), ("Page.navigate", {"url": url}))):
                await link.send(json.dumps({"id": number + 1, "method": method, "params": given}))
            while json.loads(await link.recv()).get("method") != "Page.javascriptDialogClosed":
                pass
    (event,) = [one for one in browser.tabs.browser.take_events() if one.kind == "dialog"]
    assert "by rule, for the agent had not answered within 0.2 s" in event.text


@pytest.fixture
def another_area(area: PageArea) -> Iterator[PageArea]:
    """Tabs in the same engine that are none of the browser's."""
    another = PageArea()
    another.open_profile(None)
    yield another
    another.close_pages()
    another.deleteLater()


@pytest.mark.usefixtures("another_area")
@in_browser
async def test_a_page_that_is_no_tab_of_the_window_is_not_the_agents(browser: Browsing, agent: Agent) -> None:
    async with agent() as connected:
        assert [page.url for page in connected.contexts[0].pages] == ["about:blank"]
        session = await connected.new_browser_cdp_session()
        found = (await session.send("Target.getTargets"))["targetInfos"]
        assert len([one for one in found if one["type"] == "page"]) == 1
