"""Ways by which an agent acts in a page other than by mouse and keys: none is done unheld."""

import contextlib
from collections.abc import Awaitable, Callable

import pytest
from playwright.async_api import Error, Page
from werkzeug import Request, Response

from core.attach.agent_connection import ActMessage, Refused
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site
from tests.gui.live.test_attach import Agent, agent, driver, page_of

__all__ = ["agent", "driver"]
pytestmark = pytest.mark.browser

PAGE = """
<form id=form action=/beacon/form><input id=name name=n><input id=day type=date><input id=box type=checkbox></form>
<select id=list><option>a<option>b</select><input id=file type=file>
<button onclick="said.textContent = 'One was pressed'; pressed = 1">One</button><p id=said>words</p>
<div style="height: 3000px"></div><script>pressed = 0; function order() { said.textContent = 'ordered' }</script>
"""
STATE = """[location.href, document.title, document.body.outerHTML, pressed, scrollY, day.value, box.checked,
document.getElementById('name').value, list.value, file.files.length, localStorage.length, document.cookie,
document.activeElement.tagName].join('|')"""

Act = Callable[[Page], Awaitable[object]]


def script(words: str) -> Act:
    return lambda page: page.evaluate(words)


def on_button(words: str) -> Act:
    return lambda page: page.locator("button").evaluate(words)


ACTS: dict[str, Act] = {
    "click by a script": script("() => document.querySelector('button').click()"),
    "click by an element": on_button("e => e.click()"),
    "click by an element named r": on_button("(r) => r.click()"),
    "click by an element named node": on_button("node => node.click()"),
    "click by a computed name": on_button("e => e['cl' + 'ick']()"),
    "click by all": lambda page: page.locator("button").evaluate_all("all => all.forEach(e => e.click())"),
    "click by a handle": lambda page: page.eval_on_selector("button", "e => e.click()"),
    "click after an await": script("async () => { await null; document.querySelector('button').click() }"),
    "click by a promise": script(
        "() => { Promise.resolve().then(() => document.querySelector('button').click()) }"
    ),
    "click by a timer": script("() => { setTimeout(() => document.querySelector('button').click()) }"),
    "an event": lambda page: page.dispatch_event("button", "click"),
    "an event of a locator": lambda page: page.locator("button").dispatch_event("click"),
    "the page's own function": script("() => order()"),
    "a statement": script("var e = document.querySelector('button'); e.click()"),
    "an expression": script("said.textContent = 'changed'"),
    "a value given": lambda page: page.locator("#name").evaluate("(e, v) => { e.value = v }", "x"),
    "a script that is given as text": lambda page: page.evaluate(
        "async (text) => { return eval('(' + text + ')')() }", "() => order()"
    ),
    "a script that runs another that only reads": lambda page: page.evaluate(
        "async (expr) => { order(); return eval('(' + expr + ')') }", "1"
    ),
    "a script tag": lambda page: page.add_script_tag(content="order()"),
    "a style tag": lambda page: page.add_style_tag(content="p { display: none }"),
    "a condition": lambda page: page.wait_for_function("() => { order(); return true }", timeout=3000),
    "a condition as an expression": lambda page: page.wait_for_function("(order(), true)", timeout=3000),
    "a command of the editor": script("() => document.execCommand('selectAll')"),
    "fetch": script("() => { fetch('/beacon/fetch') }"),
    "a form": lambda page: page.locator("form").evaluate("e => HTMLFormElement.prototype.submit.call(e)"),
    "a worker": script("() => { new Worker(URL.createObjectURL(new Blob(['1']))) }"),
    "content": lambda page: page.set_content("<p>other"),
    "storage": script("() => localStorage.setItem('a', 'b')"),
    "an address": script("() => { location.hash = 'there' }"),
    "scrolling": script("() => scrollTo(0, 500)"),
    "a date": lambda page: page.locator("#day").fill("2026-01-02"),
    "files of memory": lambda page: page.locator("#file").set_input_files(
        [{"name": "a.txt", "mimeType": "text/plain", "buffer": b"x"}]
    ),
    "an option": lambda page: page.locator("#list").select_option("b"),
    "blur": lambda page: page.locator("#name").blur(),
    "the page's content by the protocol": lambda page: _sent(
        page, "Page.setDocumentContent", html="<p>other"
    ),
}
READS: dict[str, Act] = {
    "text": script("() => document.body.innerText"),
    "an expression": script("document.title"),
    "elements": script("() => [...document.querySelectorAll('*')].map(e => e.tagName)"),
    "styles": script("() => getComputedStyle(document.body).color"),
    "a box": script("() => { const r = said.getBoundingClientRect(); return {x: r.x, y: r.y} }"),
    "an element": on_button("e => e.textContent"),
    "an element with more": lambda page: page.locator("button").evaluate(
        "(e, a) => [e.textContent, a.b.c, a.d]", {"b": {"c": [1, None]}, "d": "x"}
    ),
    "the locators' own": lambda page: page.locator("button").inner_text(),
    "states": lambda page: page.locator("#box").is_checked(),
    "content": lambda page: page.content(),
    "a condition": lambda page: page.wait_for_function("() => document.title === 'page'"),
    "a condition with an argument": lambda page: page.wait_for_function(
        "title => document.title === title", arg="page"
    ),
    "waiting": lambda page: page.wait_for_selector("button"),
    "an accessibility snapshot": lambda page: page.locator("body").aria_snapshot(),
    "hovering": lambda page: page.locator("button").hover(),
    "a picture": lambda page: page.screenshot(),
}


async def _sent(page: Page, method: str, **given: str) -> object:
    session = await page.context.new_cdp_session(page)
    frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    return await session.send(method, {"frameId": frame, **given})


async def state_of(browser: Browsing) -> str:
    asked = {"expression": STATE, "returnByValue": True}
    answer = await browser.tabs.current.send("Runtime.evaluate", asked)
    return str(answer["result"].get("value", answer))


@in_browser
async def test_what_a_script_does_is_held_before_it_has_any_effect(
    browser: Browsing, agent: Agent, site: Site
) -> None:
    held: list[str] = []
    asked: list[str] = []

    async def refuse(message: ActMessage) -> None:
        if message.part.act.kind != "goto":
            held.append(str(message.part.act))
            raise Refused("Refused by the person.")

    def beacon(request: Request) -> Response:
        asked.append(request.path)
        return Response("here")

    site.serve_under("/beacon/", beacon)
    url = site.page(PAGE)
    escaped: list[str] = []
    async with agent(refuse) as connected:
        page = page_of(connected)
        for name, act in ACTS.items():
            await page.goto(url)
            before = await state_of(browser)
            held.clear()
            with contextlib.suppress(Error):
                await act(page)
            await page.wait_for_timeout(30)  # Longer than a timer or a frame takes, if one was begun.
            if not held or asked or await state_of(browser) != before:
                escaped.append(f"{name}: held {held}, asked {asked}")
                asked.clear()
    assert escaped == []


@in_browser
async def test_what_only_reads_is_not_held(browser: Browsing, agent: Agent, site: Site) -> None:
    held: list[str] = []

    async def note(message: ActMessage) -> None:
        held.append(str(message.part.act))

    async with agent(note) as connected:
        page = page_of(connected)
        await page.goto(site.page(PAGE))
        taken: dict[str, list[str]] = {}
        for name, read in READS.items():
            held.clear()
            await read(page)
            taken[name] = list(held)
    assert {name: acts for name, acts in taken.items() if acts} == {}


@in_browser
async def test_a_script_that_passes_brings_what_it_read(browser: Browsing, agent: Agent, site: Site) -> None:
    async with agent() as connected:
        page = page_of(connected)
        await page.goto(site.page(PAGE))
        assert await page.evaluate("() => said.textContent") == "words"
        assert await page.evaluate("x => [x.a, x.b, said.id]", {"a": 1.5, "b": None}) == [1.5, None, "said"]
        assert await page.evaluate("var a = 2; a + 1") == 3
        with pytest.raises(Error, match="is not defined"):
            await page.evaluate("() => missing.name")
        with pytest.raises(Error, match="SyntaxError"):
            await page.evaluate("() => {{")
        assert await page.locator("#name").evaluate(
            "(e, other) => e.form === other.form", await page.query_selector("#day")
        )
