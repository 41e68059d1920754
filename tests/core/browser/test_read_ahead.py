"""A page read while it is awaited: what is kept of it is the page as it rests, with its picture of that moment."""

import io

import pytest
from PIL import Image

from core.agent.gates import Gates
from core.agent.world import World
from core.browser.capturer import Capturer
from core.environments.web import OpenWeb
from core.schema.action_text import parse_action
from core.schema.observation import Capture
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site

LATE = {
    "nothing": "1",
    "words": "p.textContent = 'other'",
    "a style alone": "document.styleSheets[0].cssRules[0].style.marginLeft = '70px'",
    "the page scrolled": "scrollTo(0, 50)",
    "a value": "i.value = 'b'",
    "the focus": "i.focus({preventScroll: true})",
    "a box checked": "c.checked = true",
    "a listener": "p.addEventListener('click', () => {})",
    "words of a frame": "f.contentDocument.body.textContent = 'other'",
    "another page": "location = 'about:blank'",
}
BODY = (
    "<style>p{margin-left:9px}</style><p id=p>words</p><input id=i value=a><input id=c type=checkbox>"
    "<iframe id=f srcdoc='<p>inner'></iframe><button>Go</button><div style='height:3000px'></div>"
)


def world_of(browser: Browsing, *, pictures: bool = False) -> World:
    capturer = Capturer(browser.host, pictures=pictures)
    return World(
        tabs=browser.tabs, actor=browser.actor, capturer=capturer, environment=OpenWeb(), gates=Gates(())
    )


async def done(browser: Browsing, world: World, action: str, last: Capture) -> Capture:
    """Act, wait and read as a step does."""
    before = browser.tabs.mark()
    await browser.actor.act(parse_action(action))
    ahead = world.read_ahead(before, last)
    await browser.tabs.settle(before)
    return await world.capturer.with_picture(await world.read(ahead))


@pytest.mark.parametrize("frames", [0, 1, 2])
@pytest.mark.parametrize("change", LATE.values(), ids=LATE)
@in_browser
async def test_what_changes_while_the_page_is_awaited_is_read(
    browser: Browsing, site: Site, change: str, frames: int
) -> None:
    for _ in range(frames):
        change = f"requestAnimationFrame(() => {{{change}}})"
    await browser.open(
        site.page(BODY + f"<script>document.querySelector('button').onclick = () => {{{change}}}</script>")
    )
    world = world_of(browser)
    read = await done(browser, world, 'click [button "Go"]', await world.read())
    anew = await Capturer(browser.host, pictures=False).capture(
        browser.tabs.current, await browser.tabs.list()
    )
    assert read.observation == anew.observation
    assert read.html == anew.html


@in_browser
async def test_the_picture_shows_the_page_as_it_was_read(browser: Browsing, site: Site) -> None:
    script = (
        "let at = 0; onclick = () => document.body.style.background = ['#ff0000', '#00ff00', '#0000ff'][at++]"
    )
    await browser.open(site.page(f"<button>Go</button><script>{script}</script>"))
    world = world_of(browser, pictures=True)
    shown = await world.read()
    for wanted in ((255, 0, 0), (0, 255, 0), (0, 0, 255)):
        shown = await done(browser, world, 'click [button "Go"]', shown)
        pixel = Image.open(io.BytesIO(shown.screenshot)).convert("RGB").getpixel((300, 200))
        assert isinstance(pixel, tuple)
        assert all(abs(one - other) < 12 for one, other in zip(pixel, wanted, strict=True))


@in_browser
async def test_a_page_that_nothing_was_done_to_is_not_read_again(browser: Browsing, site: Site) -> None:
    await browser.open(site.page(BODY))
    world = world_of(browser)
    # The first key of a page has its style made anew: the focus is shown otherwise from then on.
    last = await done(browser, world, "press [Shift]", await world.read())
    assert await done(browser, world, "press [Shift]", last) is last
    await browser.js("p.textContent = 'other'")
    read = await done(browser, world, "press [Shift]", last)
    assert "other" in read.observation.lines()
