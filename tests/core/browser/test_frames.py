"""Documents inside a page: what is read of one has the numbers that an action finds, however its frame came about."""

from collections.abc import Callable

import pytest
from werkzeug import Response

from core.browser.checkpoints.page_state import read_page_state
from core.schema.observation import Element
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site

LAMP = "<button onclick=\"top.document.title = 'lit'\">Light the lamp</button>"
WRITTEN = "b.contentDocument.open(); b.contentDocument.write(lamp); b.contentDocument.close()"


def _quoted(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;")


def _scripted(body: str, act: str, url: str) -> str:
    lamp = LAMP.replace('"', "`")
    return f"{body}<script>const lamp = \"{lamp}\".replaceAll('`', '\"'), url = '{url}'; {act}</script>"


PAGES: dict[str, Callable[[Site], str]] = {
    "with its source": lambda site: f'<iframe srcdoc="{_quoted(LAMP)}"></iframe>',
    "nested": lambda site: f"<iframe src='{site.page(f'<iframe src={site.page(LAMP)}></iframe>')}'></iframe>",
    "nested source": lambda site: (
        f'<iframe srcdoc="{_quoted(f"""<p>in</p><iframe srcdoc="{_quoted(LAMP)}"></iframe>""")}"></iframe>'
    ),
    "blank and filled": lambda site: _scripted(
        "<iframe id=b></iframe>", "b.contentDocument.body.innerHTML = lamp", ""
    ),
    "written": lambda site: _scripted("<iframe id=b></iframe>", WRITTEN, ""),
    "written over": lambda site: _scripted(
        f"<iframe id=b src='{site.page('<p>before')}'></iframe>", f"onload = () => {{ {WRITTEN} }}", ""
    ),
    "sent elsewhere": lambda site: _scripted(
        f"<iframe id=b src='{site.page('<p>before')}'></iframe>",
        "onload = () => { b.src = url }",
        site.page(LAMP),
    ),
    "put in anew": lambda site: _scripted(
        "<div id=b><iframe srcdoc='before'></iframe></div>",
        "onload = () => { b.innerHTML = `<iframe src=${url}></iframe>` }",
        site.page(LAMP),
    ),
    "object": lambda site: f"<object data='{site.page(LAMP)}' width=300 height=100></object>",
    "sandboxed": lambda site: (
        f"<iframe sandbox='allow-scripts allow-same-origin' src='{site.page(LAMP)}'></iframe>"
    ),
}


async def observed(browser: Browsing, name: str = "Light the lamp") -> Element:
    """Do what the observe phase does: read the page and what the browser stores for it; return the button."""
    found = await browser.find("button", name)
    state = await read_page_state(browser.tabs.current, touched="", server="")
    assert state.content
    assert not state.unread
    return found


async def light(browser: Browsing) -> Element:
    """Click the button as it was observed, and check that it was pressed."""
    button = await observed(browser)
    await browser.do(f"click [{button.ref}]")
    assert await browser.js("document.title") == "lit"
    return button


@in_browser
async def test_the_first_action_in_a_frame_finds_what_was_read(browser: Browsing, site: Site) -> None:
    for how, page in PAGES.items():
        await browser.open(site.page(page(site)))
        button = await light(browser)
        assert (await observed(browser)).ref == button.ref, how


@in_browser
async def test_frames_of_a_frameset_are_read_and_acted_in(browser: Browsing, site: Site) -> None:
    menu = site.page(f"<a href='{site.page(LAMP)}' target=main>Lamps</a>")
    page = (
        f"<!doctype html><frameset cols='30%,*'><frame src='{menu}'>"
        f"<frame name=main src='{site.page('')}'></frameset>"
    )
    await browser.open(site.serve(lambda _: Response(page, content_type="text/html")))
    link = await browser.find("link", "Lamps")
    await read_page_state(browser.tabs.current, touched="", server="")
    await browser.do(f"click [{link.ref}]")
    await light(browser)


@in_browser
async def test_a_frame_that_its_page_reaches_into_is_read_like_any_other(
    browser: Browsing, site: Site
) -> None:
    inner = site.page(f"<label>Code <input></label>{LAMP}")
    code = "b.contentDocument.querySelector('input').oninput = e => document.title = e.target.value"
    await browser.open(
        site.page(f"<iframe id=b src='{inner}'></iframe><button onclick=\"{code}\">Listen</button>")
    )
    listen, field = await observed(browser, "Listen"), await browser.find("textbox", "Code")
    await browser.do(f"click [{listen.ref}]")
    await browser.do(f"type [{field.ref}] [ab]")
    assert await browser.js("document.title") == "ab"


@in_browser
async def test_each_new_page_with_a_frame_is_acted_in_at_once(browser: Browsing, site: Site) -> None:
    second = site.page(f"<iframe src='{site.page(LAMP)}'></iframe>")
    await browser.open(
        site.page(f"<iframe src='{site.page(f'<a href={second} target=_top>To the lamps</a>')}'></iframe>")
    )
    link = await browser.find("link", "To the lamps")
    await read_page_state(browser.tabs.current, touched="", server="")
    await browser.do(f"click [{link.ref}]")
    await light(browser)


@in_browser
async def test_what_is_kept_of_a_page_tells_changes_in_its_frames(browser: Browsing, site: Site) -> None:
    inner = site.page("<input value=a>")
    await browser.open(site.page(f"<iframe src='{inner}'></iframe><iframe src='{site.elsewhere(inner)}'>"))

    async def content() -> str:
        return (await read_page_state(browser.tabs.current, touched="", server="")).content

    before = await content()
    assert await content() == before
    await browser.js("frames[0].document.querySelector('input').value = 'b'")
    assert await content() != before


@in_browser
async def test_a_frame_that_goes_to_another_site_and_back_is_acted_in(browser: Browsing, site: Site) -> None:
    own, other = site.page(LAMP), site.elsewhere(site.page("<button>There</button>"))
    await browser.open(site.page(f"<iframe id=b src='{own}'></iframe>"))
    for _ in range(2):
        await observed(browser)
        await browser.js(f"b.src = '{other}'")
        while "There" not in await browser.words():
            pass
        await browser.do('click [button "There"]')
        await browser.js(f"b.src = '{own}'")
        while "Light the lamp" not in await browser.words():
            pass
    await light(browser)


@in_browser
async def test_what_is_left_out_of_a_frame_is_counted(
    browser: Browsing, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = "<button>a</button><button>b</button><button>c</button>"
    await browser.open(site.page(f"<iframe srcdoc='{inner}'></iframe>"))
    monkeypatch.setattr("core.browser.capturer.LIMIT", 3)
    seen = await browser.see()
    assert (len(seen.elements), seen.omitted) == (3, 1)
