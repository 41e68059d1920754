"""What a person does with mouse and keys, recorded, and done again by the actor: the page comes to the same."""

from pathlib import Path

import pytest
from playwright.async_api import Page

from core.browser.demonstration import Demonstration
from core.schema.action import Action, RefTarget
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site

BODY = """
<style>
body { margin: 0; font: 14px sans-serif }
section { position: absolute; left: 0; width: 600px } [hidden] { display: none }
#handle, #zone, #card, #bin { position: absolute; width: 60px; height: 40px; background: #9cf; user-select: none }
#days span { display: inline-block; width: 40px; height: 24px }
#list { height: 90px; width: 200px; overflow: auto }
</style>
<section style="top: 0">
  <label>Day <input type=date id=day></label> <label>Time <input type=time id=time></label>
  <label>Ink <input type=color id=ink></label> <label>Size <input type=range id=size min=0 max=100 value=50></label>
  <label>Count <input type=number id=count value=1></label> <label>File <input type=file id=file></label>
</section>
<section style="top: 60px; height: 50px">
  <div id=handle aria-label=Handle style="left: 10px">pull</div><div id=zone style="left: 200px">zone</div>
  <div id=card draggable=true style="left: 300px">card</div><div id=bin style="left: 420px">bin</div>
</section>
<section style="top: 120px"><canvas id=map width=200 height=80 aria-label=Map></canvas>
  <button id=twice>Twice</button> <button id=right oncontextmenu="return false">Right</button></section>
<section style="top: 220px"><input id=picked aria-label=Departure readonly>
  <div id=days hidden><span>1</span><span>2</span><span>3</span></div></section>
<section style="top: 290px"><p id=words>one two three two</p><textarea id=notes aria-label=Notes></textarea></section>
<section style="top: 380px"><div id=list tabindex=0 aria-label=List></div></section>
<input type=file id=files multiple aria-label=Files style="position: absolute; left: 300px; top: 400px; width: 150px">
<section style="top: 500px; height: 900px"><button id=menu>Menu</button><div id=popup hidden>popup</div></section>
<script>
const log = [], by = id => document.getElementById(id);
const note = (...words) => log.push(words.join(" "));
by("list").innerHTML = Array.from({ length: 60 }, (_, at) => `<div>row ${at}</div>`).join("");
// A handle that follows the mouse, as libraries do it.
by("handle").onmousedown = down => {
  const left = by("handle").offsetLeft;
  const move = event => { by("handle").style.left = left + event.clientX - down.clientX + "px"; };
  const up = () => {
    removeEventListener("mousemove", move); removeEventListener("mouseup", up);
    const zone = by("zone").getBoundingClientRect(), box = by("handle").getBoundingClientRect();
    note("handle", box.right > zone.left && box.left < zone.right ? "on zone" : "elsewhere");
  };
  addEventListener("mousemove", move); addEventListener("mouseup", up);
};
by("bin").ondragover = event => event.preventDefault();
by("card").ondragstart = event => event.dataTransfer.setData("text", "card");
by("bin").ondrop = event => { event.preventDefault(); note("dropped", event.dataTransfer.getData("text")); };
let from = null;
const spot = event => [Math.round(event.offsetX / 20), Math.round(event.offsetY / 20)];
by("map").onmousedown = event => { from = spot(event); };
by("map").onmouseup = event => note("drawn", from, "to", spot(event));
by("twice").ondblclick = () => note("twice");
by("twice").onclick = () => note("once");
by("right").addEventListener("contextmenu", () => note("right"));
// A calendar that takes the day as the mouse goes down, and is gone before there is a click.
by("picked").onfocus = () => { by("days").hidden = false; };
by("days").onmousedown = event => {
  if (event.target.tagName === "SPAN") { by("picked").value = event.target.textContent; by("days").innerHTML = ""; }
};
by("notes").onkeydown = event => { if (event.ctrlKey && event.key === "Enter") note("sent", by("notes").value); };
by("menu").onclick = () => { by("popup").hidden = false; };
document.onclick = event => {
  if (event.target.id === "menu" || by("popup").hidden) return;
  by("popup").hidden = true;
  note("closed");
};
function state() {
  const held = ["day", "time", "ink", "size", "count", "picked", "notes"].map(id => `${id}=${by(id).value}`);
  const file = [...by("file").files, ...by("files").files].map(one => one.name).join();
  const scrolled = [by("list").scrollTop > 0, scrollY > 0];
  return { held, log, file, scrolled, selected: String(getSelection()), popup: by("popup").hidden };
}
</script>
"""


class Hand:
    """A person's mouse and keys."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def spot(self, selector: str, across: float = 0.5, down: float = 0.5) -> tuple[float, float]:
        box = await self.page.locator(selector).bounding_box()
        assert box is not None
        return box["x"] + box["width"] * across, box["y"] + box["height"] * down

    async def click(self, selector: str, **more: object) -> None:
        await self.page.mouse.click(*await self.spot(selector), **more)  # type: ignore[arg-type]

    async def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        await self.page.mouse.move(*start)
        await self.page.mouse.down()
        await self.page.mouse.move(start[0] + 8, start[1] + 2, steps=2)
        await self.page.mouse.move(*end, steps=6)
        await self.page.mouse.up()


async def recorded(demonstration: Demonstration, browser: Browsing) -> list[tuple[str, Action]]:
    """Return what was recorded, with names in place of refs, and by XPath, which another document has as well."""
    await demonstration.stop()
    page, found = await browser.see(), []
    while demonstration.waiting:
        one = await demonstration.take()
        demonstration.done()
        if one.kind == "upload":
            one = await one.with_path(browser.tabs.current)
        if (action := one.action(page)) is None:
            continue
        words = str(action)
        for target in action.targets:
            if isinstance(target, RefTarget):
                words = words.replace(f"[{target}]", f"[{page.element(target.ref).name}]", 1)
        to = one.to.replace(ref=None) if one.to is not None else None
        again = one.replace(ref=None, to=to).action(page)
        assert again is not None
        found.append((words, again))
    return found


async def date_typed(hand: Hand, path: Path) -> None:
    await hand.page.mouse.click(*await hand.spot("#day", 0.15))
    await hand.page.keyboard.type("05172024", delay=20)
    await hand.click("#twice")


async def time_by_arrows(hand: Hand, path: Path) -> None:
    await hand.page.mouse.click(*await hand.spot("#time", 0.15))
    await hand.page.keyboard.type("0130PM", delay=20)
    await hand.page.keyboard.press("ArrowDown")


async def size_slid(hand: Hand, path: Path) -> None:
    await hand.drag(await hand.spot("#size", 0.5), await hand.spot("#size", 0.8))


async def count_spun(hand: Hand, path: Path) -> None:
    await hand.click("#count")
    for _ in range(3):
        await hand.page.keyboard.press("ArrowUp")


async def file_chosen(hand: Hand, path: Path) -> None:
    async with hand.page.expect_file_chooser() as chooser:
        await hand.click("#file")
    await (await chooser.value).set_files(path)


async def files_chosen(hand: Hand, path: Path) -> None:
    other = path.with_name("other [2].txt")
    other.write_text("words")
    async with hand.page.expect_file_chooser() as chooser:
        await hand.click("#files")
    await (await chooser.value).set_files([path, other])


async def handle_dragged(hand: Hand, path: Path) -> None:
    await hand.drag(await hand.spot("#handle"), await hand.spot("#zone"))


async def card_dropped(hand: Hand, path: Path) -> None:
    await hand.drag(await hand.spot("#card"), await hand.spot("#bin"))


async def line_drawn(hand: Hand, path: Path) -> None:
    await hand.drag(await hand.spot("#map", 0.1, 0.25), await hand.spot("#map", 0.8, 0.75))


async def clicked_twice(hand: Hand, path: Path) -> None:
    await hand.click("#twice", click_count=2)


async def clicked_right(hand: Hand, path: Path) -> None:
    await hand.click("#right", button="right")


async def day_picked(hand: Hand, path: Path) -> None:
    await hand.click("#picked")
    await hand.click("#days span:nth-child(2)")


async def words_selected(hand: Hand, path: Path) -> None:
    places = await hand.page.evaluate(
        """() => { const range = document.createRange(), node = by("words").firstChild;
        range.setStart(node, 14); range.setEnd(node, 17); const box = range.getBoundingClientRect();
        return [box.left + 1, box.right - 1, box.top + box.height / 2]; }"""
    )
    await hand.page.mouse.move(places[0], places[2])
    await hand.page.mouse.down()
    await hand.page.mouse.move(places[0] + 8, places[2], steps=2)
    await hand.page.mouse.move(places[1] + 1, places[2], steps=4)
    await hand.page.mouse.up()


async def word_selected_by_two_clicks(hand: Hand, path: Path) -> None:
    place = await hand.page.evaluate(
        """() => { const range = document.createRange(), node = by("words").firstChild;
        range.setStart(node, 8); range.setEnd(node, 13); const box = range.getBoundingClientRect();
        return [box.left + 5, box.top + box.height / 2]; }"""
    )
    await hand.page.mouse.dblclick(*place)


async def chord_pressed(hand: Hand, path: Path) -> None:
    await hand.click("#notes")
    await hand.page.keyboard.type("first", delay=5)
    await hand.page.keyboard.press("Control+a")
    await hand.page.keyboard.type("second", delay=5)
    await hand.page.keyboard.press("Control+Enter")


async def list_scrolled(hand: Hand, path: Path) -> None:
    await hand.page.mouse.move(*await hand.spot("#list"))
    for _ in range(2):
        await hand.page.mouse.wheel(0, 40)
    await hand.page.wait_for_function("by('list').scrollTop === 80")


async def page_scrolled(hand: Hand, path: Path) -> None:
    await hand.page.mouse.move(560, 10)
    await hand.page.mouse.wheel(0, 200)
    await hand.page.wait_for_function("scrollY === 200")


async def popup_closed_beside(hand: Hand, path: Path) -> None:
    await hand.click("#menu")
    await hand.page.mouse.click(560, 470)


DONE = {
    "a date typed": (date_typed, ["type [Day] [2024-05-17]", "click [Twice]"]),
    "a time by keys": (time_by_arrows, ["type [Time] [01:30]"]),
    "a slider dragged": (size_slid, None),
    "a number by its arrows": (count_spun, ["type [Count] [4]"]),
    "a file chosen": (file_chosen, None),
    "files chosen at once": (files_chosen, None),
    "a handle dragged": (handle_dragged, None),
    "a card dropped": (card_dropped, ["drag [card] [bin]"]),
    "a line drawn": (line_drawn, ["drag [Map] [Map] [from_at=0.1,0.25] [to_at=0.8,0.75]"]),
    "a double click": (clicked_twice, ["double_click [Twice]"]),
    "a right click": (clicked_right, ["right_click [Right]"]),
    "a day of a calendar": (day_picked, None),
    "words selected": (words_selected, ["select_text [one two three two] [two] [nth=2]"]),
    "a word selected": (word_selected_by_two_clicks, ["select_text [one two three two] [three]"]),
    "chords": (
        chord_pressed,
        ["type [Notes] [first]", "press [Control+a]", "type [Notes] [second]", "press [Control+Enter]"],
    ),
    "a list scrolled": (list_scrolled, ["scroll [down] [List]"]),
    "the page scrolled": (page_scrolled, ["scroll [down]"]),
    "a popup closed": (popup_closed_beside, None),
}


@pytest.mark.parametrize("done", DONE)
@in_browser
async def test_what_was_done_by_hand_is_done_again_by_its_record(
    browser: Browsing, site: Site, tmp_path: Path, done: str
) -> None:
    do, wanted = DONE[done]
    path = tmp_path / "chosen.txt"
    path.write_text("words")
    url = site.page(BODY)
    await browser.open(url)
    await browser.see()
    demonstration = Demonstration()
    await demonstration.follow(browser.tabs.current)
    await do(Hand(browser.tabs.current.playwright_page), path)
    await browser.tabs.settle(browser.tabs.mark())
    actions = await recorded(demonstration, browser)
    words = [one for one, _ in actions]
    print(words)
    state = await browser.js("state()")
    await browser.open(url)
    fresh = await browser.js("state()")
    assert state != fresh
    for _, action in actions:
        await browser.see()
        await browser.do(str(action))
    assert await browser.js("state()") == state
    if wanted is not None:
        assert words == wanted


@in_browser
async def test_clicks_that_change_nothing_are_no_steps(browser: Browsing, site: Site) -> None:
    await browser.open(site.page(BODY))
    await browser.see()
    demonstration = Demonstration()
    await demonstration.follow(browser.tabs.current)
    hand = Hand(browser.tabs.current.playwright_page)
    await hand.page.mouse.click(560, 470)
    await hand.page.mouse.click(*await hand.spot("#words", 0.9))
    await hand.drag((560, 470), (590, 490))
    await browser.tabs.settle(browser.tabs.mark())
    assert await recorded(demonstration, browser) == []


@in_browser
async def test_the_words_of_a_password_are_not_told_by_selecting_them(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<input type=password value=hunter2 style='width:300px'><p>words</p>"))
    await browser.see()
    demonstration = Demonstration()
    await demonstration.follow(browser.tabs.current)
    hand = Hand(browser.tabs.current.playwright_page)
    await hand.drag(await hand.spot("input", 0.02), await hand.spot("input", 0.9))
    await hand.page.mouse.dblclick(*await hand.spot("input", 0.05))
    await browser.tabs.settle(browser.tabs.mark())
    assert await recorded(demonstration, browser) == []


INNER = """<style>body {{ margin: 0 }} .menu {{ display: none }} nav:hover .menu {{ display: block }}</style>
<nav style="width: 90px">More<div class=menu><button onclick="document.title = 'picked'">Pick</button></div></nav>
<button onclick="document.title = 'saved'" style="position: absolute; top: 80px">Save</button>
<p style="height: {height}px"></p>{more}"""


@pytest.mark.parametrize("foreign", [False, True], ids=["of the same site", "of another site"])
@in_browser
async def test_what_is_done_in_nested_frames_is_found_again_in_the_same_one(
    browser: Browsing, site: Site, foreign: bool
) -> None:
    """The same XPath leads to an element of each document here, so that it says nothing by itself."""

    def address(url: str) -> str:
        return site.elsewhere(url) if foreign else url

    frame = (
        "<iframe width=300 height=150 style='position: absolute; left: 150px; top: 10px' src='{}'></iframe>"
    )
    innermost = address(site.page(INNER.format(height=900, more="")))
    middle = address(site.page(INNER.format(height=10, more=frame.format(innermost))))
    url = site.page(INNER.format(height=10, more=frame.format(middle)))

    async def shown() -> tuple[list[str], float]:
        documents = browser.tabs.current.playwright_page.frames
        titles = [await one.title() for one in documents]
        return titles, await documents[-1].evaluate("scrollY")

    await browser.open(url)
    await browser.see()
    demonstration = Demonstration()
    await demonstration.follow(browser.tabs.current)
    mouse = browser.tabs.current.playwright_page.mouse
    await mouse.move(320, 30)  # Its menu, in the innermost document.
    await mouse.move(325, 34)
    await mouse.click(325, 52)
    await mouse.click(165, 110)
    await mouse.move(400, 140)
    await mouse.wheel(0, 120)
    while (await shown())[1] < 120:
        pass
    await demonstration.stop()
    page, actions = await browser.see(), []
    while demonstration.waiting:
        one = await demonstration.take()
        demonstration.done()
        if one.kind != "look":
            actions.append((await one.replace(ref=None).in_frames(browser.tabs.current)).action(page))
    assert [one.kind for one in actions] == ["hover", "click", "click", "scroll"]
    await browser.open(url)
    await browser.see()
    for action in actions:
        await browser.do(str(action))
    titles, scrolled = await shown()
    assert titles[1:] == ["saved", "picked"]
    assert scrolled > 0
