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
    capturer = Capturer(pictures=pictures)
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


@pytest.mark.parametrize(
    ("frames", "changes"),
    [
        (0, ("nothing", "words", "another page")),
        (1, tuple(LATE)),
        (2, ("words", "a style alone", "another page")),
    ],
    ids=["at once", "a frame later", "two frames later"],
)
@in_browser
async def test_what_changes_while_the_page_is_awaited_is_read(
    browser: Browsing, site: Site, frames: int, changes: tuple[str, ...]
) -> None:
    for what in changes:
        change = LATE[what]
        for _ in range(frames):
            change = f"requestAnimationFrame(() => {{{change}}})"
        press = f"<script>document.querySelector('button').onclick = () => {{{change}}}</script>"
        await browser.open(site.page(BODY + press))
        world = world_of(browser)
        read = await done(browser, world, 'click [button "Go"]', await world.read())
        anew = await Capturer(pictures=False).capture(browser.tabs.current, await browser.tabs.list())
        assert read.observation == anew.observation, what
        assert read.html == anew.html, what


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


NUMBERED = """<style>body{margin:0} i{float:left;width:90px;height:90px} #rows{clear:both}</style>
<button>Go</button><br>
<div id=blocks></div><div id=rows></div><script>
let number = 1;
function paint() {
  document.title = `number ${number}`;
  blocks.innerHTML = rows.innerHTML = "";
  for (let bit = 0; bit < 8; bit++) {
    blocks.insertAdjacentHTML("beforeend", `<i style="background:${number >> bit & 1 ? "#f00" : "#00f"}"></i>`);
  }
  for (let at = 0; at < 1500; at++) rows.insertAdjacentHTML("beforeend", `<span>words ${at} of ${number}</span> `);
}
paint();
document.querySelector("button").onclick = () => { number++; paint(); };
</script>"""
"""Paints a number as eight blocks, and so much beside that painting it takes a while."""


@in_browser
async def test_no_picture_is_of_an_earlier_step(browser: Browsing, site: Site) -> None:
    await browser.open(site.page(NUMBERED))
    world = world_of(browser, pictures=True)
    shown = await world.read()
    for _ in range(15):
        shown = await done(browser, world, 'click [button "Go"]', shown)
        image = Image.open(io.BytesIO(shown.screenshot)).convert("RGB")
        top = next(one.box for one in shown.observation.elements if one.role == "button").height
        blocks = [image.getpixel((45 + 90 * bit, round(top) + 60)) for bit in range(8)]
        number = sum(1 << bit for bit, (red, _, blue) in enumerate(blocks) if red > blue)
        assert f"number {number}" == shown.observation.title


@pytest.mark.parametrize("ratio", [0.8, 2])
@in_browser
async def test_a_picture_has_one_pixel_for_each_css_pixel(
    browser: Browsing, site: Site, ratio: float
) -> None:
    await browser.open(site.page("<style>html{background:linear-gradient(90deg,#f00 50%,#00f 50%)}</style>"))
    metrics = {"width": 0, "height": 0, "deviceScaleFactor": ratio, "mobile": False}
    await browser.tabs.current.send("Emulation.setDeviceMetricsOverride", metrics)
    world = world_of(browser, pictures=True)
    seen = await world.capturer.with_picture(await world.read())
    await browser.tabs.current.send("Emulation.clearDeviceMetricsOverride", {})
    image = Image.open(io.BytesIO(seen.screenshot)).convert("RGB")
    width, height = seen.observation.viewport
    assert image.width == width
    assert abs(image.height - height) <= 1
    left, right = (image.getpixel((round(width * part), 50)) for part in (0.4, 0.6))
    assert left[0] > 200 > right[0]
    assert right[2] > 200 > left[2]


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
