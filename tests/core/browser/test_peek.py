"""A page that is scrolled for a person to look at, and put back."""

from core.browser.peek import Peek
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site

INNER = "<div style='height:2000px'>inner</div><button>Deep</button>"
BODY = f'<div style="height:2500px">Far</div><iframe style="height:200px" srcdoc="{INNER}"></iframe>'
SCROLLED = "[scrollY, document.querySelector('iframe').contentWindow.scrollY]"


@in_browser
async def test_an_element_deep_in_a_frame_is_shown_and_everything_put_back(
    browser: Browsing, site: Site
) -> None:
    await browser.open(site.page(BODY))
    await browser.js("scrollTo(0, 30)")
    button = await browser.find("button", "Deep")
    assert not button.in_viewport
    page, peek = browser.tabs.current, Peek()
    await peek.reveal(page, button.ref)
    box, seen = (await peek.places(page, [button.ref]))[button.ref]
    width, height = (await browser.see()).viewport
    assert (seen, 0 <= box.x < width, 0 <= box.y < height) == (True, True, True)
    assert (await browser.find("button", "Deep")).box == box
    await peek.put_back()
    assert await browser.js(SCROLLED) == [30, 0]
    assert not peek.active
    await peek.put_back()
    await browser.js("scrollTo(0, 40)")
    assert await browser.js(SCROLLED) == [40, 0]
