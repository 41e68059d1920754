"""Whether a page is still as it was read: what changes by itself is noticed, and what rests is not read again."""

import pytest

from core.schema.observation import Capture
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site

BODY = (
    "<style>.c:empty{width:9px}#box{height:60px;overflow:auto}</style><p id=p>words</p>"
    "<input id=i value=a><input id=c type=checkbox><textarea id=t>x</textarea>"
    "<select id=s><option>1<option>2</select><select id=m multiple><option>1<option>2</select>"
    "<div id=box><div style='height:900px'>in</div></div>"
    "<div id=host></div><div id=shut></div><div style='height:3000px'></div>"
    "<script>host.attachShadow({mode: 'open'}).innerHTML ="
    " '<b id=b>deep</b><input id=i><div id=box style=\"height:9px;overflow:auto\"><p>a<p>b</div>';"
    "var sealed = shut.attachShadow({mode: 'closed'}); sealed.innerHTML = '<b>closed</b>'</script>"
)
CHANGES = {
    "words": "p.firstChild.data = 'other'",
    "an element": "p.after(document.createElement('hr'))",
    "an attribute": "p.ariaLabel = 'x'",
    "the title": "document.title = 'other'",
    "the address": "history.pushState(null, '', '#elsewhere')",
    "the page scrolled": "scrollTo(0, 50)",
    "a box scrolled": "box.scrollTop = 30",
    "a box in a shadow scrolled": "host.shadowRoot.getElementById('box').scrollTop = 5",
    "a value": "i.value = 'b'",
    "a value in a shadow": "host.shadowRoot.getElementById('i').value = 'b'",
    "a long value": "t.value = 'y'",
    "a box checked": "c.checked = true",
    "a box made undecided": "c.indeterminate = true",
    "an option chosen": "s.selectedIndex = 1",
    "one of many options chosen": "m.options[1].selected = true",
    "the focus": "i.focus({preventScroll: true})",
    "the focus in a shadow": "host.shadowRoot.getElementById('i').focus({preventScroll: true})",
    "words in a shadow": "host.shadowRoot.getElementById('b').textContent = 'other'",
    "words in a closed shadow": "sealed.firstChild.textContent = 'other'",
    "a new shadow": "p.attachShadow({mode: 'open'}).innerHTML = 'other'",
    "a style rule's value": "document.styleSheets[0].cssRules[1].style.height = '70px'",
    "a style rule": "document.styleSheets[0].insertRule('p { margin-left: 70px }')",
    "an adopted style sheet": (
        "var sheet = new CSSStyleSheet(); sheet.replaceSync('p { color: red }'); document.adoptedStyleSheets = [sheet]"
    ),
    "a listener": "p.addEventListener('click', () => {})",
    "an animation": "p.animate([{opacity: 0}, {opacity: 1}], 60000)",
    "a new document": "document.open(); document.write('<p>anew'); document.close()",
}
AFRESH = {"a box scrolled", "a box in a shadow scrolled", "a value", "a new document"}
"""What is tried in the page as it was opened: it may still scroll from the change before, or is animated."""


async def read(browser: Browsing) -> Capture:
    return await browser.capturer.capture(browser.tabs.current, await browser.tabs.list())


async def still(browser: Browsing, capture: Capture) -> bool:
    return await browser.capturer.unchanged(browser.tabs.current, capture)


async def two_frames(browser: Browsing) -> None:
    await browser.js(
        "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
    )


@in_browser
async def test_a_page_at_rest_is_unchanged_however_often_it_is_asked(browser: Browsing, site: Site) -> None:
    inner = site.page("<button>in</button>")
    await browser.open(
        site.page(f"{BODY}<iframe src='{inner}'></iframe><iframe src='{site.elsewhere(inner)}'></iframe>")
    )
    await browser.see()
    capture = await read(browser)
    for _ in range(3):
        await two_frames(browser)
        assert await still(browser, capture)
    before = await read(browser)
    assert not await still(browser, capture)
    assert await still(browser, before)


@in_browser
async def test_a_change_without_an_action_is_noticed(browser: Browsing, site: Site) -> None:
    url = site.page(BODY)
    await browser.open(url)
    for what, script in CHANGES.items():
        if what in AFRESH:
            await browser.open(url)
        await browser.see()
        capture = await read(browser)
        assert await still(browser, capture), what
        await browser.js(f"{{ {script} }}; 0")
        assert not await still(browser, capture), what


@pytest.mark.parametrize("place", ["own", "nested"])
@in_browser
async def test_a_change_in_a_frame_is_noticed(browser: Browsing, site: Site, place: str) -> None:
    inner = site.page("<b id=b>in</b><input id=i><div style='height:3000px'></div>")
    nested = site.page(f"<iframe src='{inner}'></iframe>")
    url = {"own": inner, "nested": site.elsewhere(nested)}[place]
    await browser.open(site.page(f"<iframe src='{url}'></iframe>"))
    frame = browser.tabs.current.playwright_page.frames[-1]
    other = site.page("<p>other")
    for script in (
        "b.textContent = 'x'",
        "i.value = 'x'",
        "scrollTo(0, 40)",
        "document.body.append(document.createElement('iframe'))",
        f"location.replace('{other}')",
    ):
        await browser.see()
        capture = await read(browser)
        assert await still(browser, capture)
        await frame.evaluate(f"() => {{ {script} }}")
        if "location" in script:
            await frame.wait_for_url("**" + other.removeprefix(site.home))
        assert not await still(browser, capture)


@in_browser
async def test_another_tab_and_a_navigation_are_noticed(browser: Browsing, site: Site) -> None:
    url = site.page("<p>words")
    await browser.open(url)
    capture = await read(browser)
    await browser.do("new_tab")
    assert not await still(browser, capture)
    await browser.do("tab_focus [0]")
    capture = await read(browser)
    assert await still(browser, capture)
    await browser.open(url)
    assert not await still(browser, capture)


@in_browser
async def test_a_page_that_may_move_is_read_anew(browser: Browsing, site: Site) -> None:
    for body in (
        "<canvas width=50 height=50></canvas>",
        "<style>@keyframes k { to { margin-left: 50px } } p { animation: k 1s infinite }</style><p>words",
        "<p id=p>0</p><script>setInterval(() => { p.textContent++ }, 5)</script>",
    ):
        await browser.open(site.page(body))
        capture = await read(browser)
        await two_frames(browser)
        assert not await still(browser, capture), body


@in_browser
async def test_a_picture_that_comes_late_is_noticed(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<div id=d style='width:50px;height:50px'></div>"))
    capture = await read(browser)
    assert await still(browser, capture)
    await browser.js(
        "new Promise(done => { const picture = new Image(); picture.onload = picture.onerror = done;"
        " picture.src = '/said?picture' })"
    )
    assert not await still(browser, capture)
