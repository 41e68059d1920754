"""What a page shows only while the pointer is over something: offered as hover, and recorded before the click on it."""

import asyncio

import pytest

from core.agent.general_space import permissible_of
from core.browser.demonstration import Demonstration
from core.schema.observation import Element, Observation
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site

ROWS = """<div class=row>Letter from Ann <button class=tool onclick="document.title='Ann filed'">File</button></div>
<div class=row>Letter from Ben <button class=tool onclick="document.title='Ben filed'">File</button></div>"""
TABLE = """<table><tr><td>Bill 1</td><td><button onclick="document.title='edit 1'">Edit</button></td></tr>
<tr><td>Bill 2</td><td><button onclick="document.title='edit 2'">Edit</button></td></tr></table>"""
CARDS = """<ul><li><h3>Lamp</h3><p>A light</p><div class=more><a href=#lamp>Buy</a></div></li>
<li><h3>Chair</h3><p>A seat</p><div class=more><a href=#chair>Buy</a></div></li></ul>"""
STYLES = {
    "display": (ROWS, ".row .tool { display: none } .row:hover .tool { display: inline }"),
    "opacity": (ROWS, ".row .tool { opacity: 0 } .row:hover > .tool { opacity: 1 }"),
    "off the page": (ROWS, ".tool { position: absolute; left: -999px } .row:hover .tool { left: 200px }"),
    "no height": (
        ROWS,
        ".tool { height: 0; padding: 0; border: 0; overflow: hidden } .row:hover .tool { height: auto }",
    ),
    "or the focus": (
        ROWS,
        ".tool { display: none } .row:is(:hover, :focus-within) .tool { display: inline }",
    ),
    "where it is not": (ROWS, ".row:not(:hover) .tool { visibility: hidden }"),
    "has": (ROWS, ".tool { display: none } .row:has(:hover) .tool, .row:hover .tool { display: inline }"),
    "nested": (ROWS, ".row { .tool { display: none } &:hover .tool { display: inline } }"),
    "in a query": (
        ROWS,
        "@media (min-width: 1px) { .tool { display: none } .row:hover .tool { display: inline } }",
    ),
    "of a utility": (ROWS, ".tool { display: none } .tool:is(:where(.row):hover *) { display: inline }"),
    "any child": (
        f"<div class=list>{ROWS}</div>",
        ".tool { display: none } .list > :hover .tool { display: inline }",
    ),
}


EACH = "for (const row of document.querySelectorAll('.row')) "
LISTENERS = {
    "each row": f"{EACH} row.onmouseenter = () => show(row);",
    "by attribute": f"{EACH} row.setAttribute('onmouseover', 'show(this)');",
    "pointer events": f"{EACH} row.addEventListener('pointerenter', () => show(row));",
    "the list": "document.querySelector('ul').addEventListener('mouseover', e => show(e.target.closest('li')));",
}
SHOW = "function show(row) { row.querySelector('.tool').hidden = false }"


def hoverable(page: Observation) -> list[Element]:
    """Return what can be hovered and not clicked."""
    hover = permissible_of(page).action("hover")
    target = hover.parameter("target") if hover is not None else None
    offered = {choice.value for choice in target.choices} if target is not None else set()
    return [one for one in page.elements if str(one.ref) in offered and "click" not in one.uses]


async def file_ben(browser: Browsing) -> None:
    page = await browser.see()
    rows = hoverable(page)
    assert [one.name for one in rows] == ["Letter from Ann", "Letter from Ben"]
    await browser.do(f"hover [{rows[1].ref}]")
    shown = await browser.see()
    await browser.do(f"click [{[one for one in shown.elements if one.name == 'File'][-1].ref}]")
    assert await browser.js("document.title") == "Ben filed"


@in_browser
async def test_a_row_that_shows_its_controls_under_the_pointer_can_be_hovered(
    browser: Browsing, site: Site
) -> None:
    """What shows them differs in the first ones, and only how that is written in the others."""
    for at, (how, (body, style)) in enumerate(STYLES.items()):
        await browser.open(site.page(body, head=f"<style>{style}</style>"))
        offered = [one.name for one in hoverable(await browser.see())]
        assert offered == ["Letter from Ann", "Letter from Ben"], how
        if at < 4:
            await file_ben(browser)


@pytest.mark.parametrize("how", LISTENERS)
@in_browser
async def test_a_row_that_listens_for_the_pointer_can_be_hovered(
    browser: Browsing, site: Site, how: str
) -> None:
    rows = ROWS.replace("class=tool", "class=tool hidden")
    if how == "the list":
        rows = f"<ul>{rows.replace('<div', '<li').replace('</div>', '</li>')}</ul>"
    await browser.open(site.page(f"{rows}<script>{SHOW}{LISTENERS[how]}</script>"))
    await file_ben(browser)


@in_browser
async def test_rows_of_a_table_can_be_hovered_and_keep_their_cells(browser: Browsing, site: Site) -> None:
    style = "<style>td button { visibility: hidden } tr:hover button { visibility: visible }</style>"
    await browser.open(site.page(TABLE, head=style))
    page = await browser.see()
    rows = hoverable(page)
    assert [one.role for one in rows] == ["row", "row"]
    assert [one.name for one in page.elements if one.role == "cell" and one.name] == ["Bill 1", "Bill 2"]
    await browser.do(f"hover [{rows[1].ref}]")
    await browser.do(f"click [{(await browser.find('button', 'Edit')).ref}]")
    assert await browser.js("document.title") == "edit 2"


@in_browser
async def test_a_box_of_other_boxes_is_hovered_by_what_is_in_it(browser: Browsing, site: Site) -> None:
    style = "<style>.more { display: none } li:hover .more { display: block }</style>"
    await browser.open(site.page(CARDS, head=style))
    cards = hoverable(await browser.see())
    assert [one.name for one in cards] == ["Lamp A light", "Chair A seat"]
    await browser.do(f"hover [{cards[1].ref}]")
    await browser.do(f"click [{(await browser.find('link', 'Buy')).ref}]")
    assert await browser.js("location.hash") == "#chair"


@in_browser
async def test_a_menu_beside_what_is_hovered_is_found_and_a_changed_colour_offers_nothing(
    browser: Browsing, site: Site
) -> None:
    style = (
        "<style>.menu { display: none } .head:hover + .menu, .menu:hover { display: block }"
        " p:hover { opacity: 0.5 } p:hover b { color: red } p .plain { display: block }</style>"
    )
    body = "<div class=head>More</div><div class=menu><a href=#x>Delete</a></div><p>Words <b>bold</b></p>"
    await browser.open(site.page(body, head=style))
    assert [one.name for one in hoverable(await browser.see())] == ["More"]


@in_browser
async def test_what_came_by_a_style_that_is_added_later_can_be_hovered(browser: Browsing, site: Site) -> None:
    await browser.open(site.page(ROWS))
    assert hoverable(await browser.see()) == []
    style = "document.head.append(Object.assign(document.createElement('style'), {textContent: `%s`}))"
    await browser.js(style % ".row .tool { display: none } .row:hover .tool { display: inline }")
    await file_ben(browser)


@pytest.mark.parametrize("how", ["by style", "by listener"])
@in_browser
async def test_a_click_on_what_only_the_pointer_shows_is_recorded_with_the_hover(
    browser: Browsing, site: Site, how: str
) -> None:
    style = "<style>.row .tool { display: none } .row:hover .tool { display: inline }</style>"
    rows, script = ROWS, ""
    if how == "by listener":
        rows, style = ROWS.replace("class=tool", "class=tool hidden"), ""
        script = f"<script>{SHOW}{LISTENERS['each row']}</script>"
    await browser.open(site.page(f"{rows}<button>Other</button>{script}", head=style))
    before = await browser.see()
    demonstration = Demonstration()
    await demonstration.follow(browser.tabs.current)
    row = hoverable(before)[1]
    await browser.do(f"hover [{row.ref}]")
    shown = await browser.see()
    tool = [one for one in shown.elements if one.name == "File"][-1]
    await browser.do(f"click [{tool.ref}]")
    await browser.do('click [button "Other"]')
    await demonstration.stop()
    found = []
    while not demonstration.human_actions.empty():
        one = demonstration.human_actions.get_nowait()
        if one.kind != "look":
            found.append(str(one.action(shown)))
    other = await browser.find("button", "Other")
    assert found == [f"hover [{row.ref}]", f"click [{tool.ref}]", f"click [{other.ref}]"]


BOX = "width: 120px; height: 20px; position: absolute; left: 10px; top:"
MENUS = {
    "by nested styles": (
        "<ul><li class=shop>Shop<ul class=sub><li class=lamps>Lamps<ul class=more><li><a href=#desk>Desk lamp</a>"
        "</ul></ul></ul>"
        "<style>ul { width: 120px } .sub, .more { display: none }"
        ".shop:hover > .sub, .lamps:hover > .more { display: block }</style>",
        [".shop", ".lamps"],
    ),
    "by listeners that wait": (
        f"<div class=shop style='{BOX} 10px'>Shop</div><div class=lamps hidden style='{BOX} 40px'>Lamps</div>"
        f"<a class=desk hidden href=#desk style='{BOX} 70px'>Desk lamp</a><script>"
        "const by = name => document.querySelector('.' + name);"
        "by('shop').onmouseenter = () => setTimeout(() => { by('lamps').hidden = false; }, 80);"
        "by('lamps').onmouseenter = () => setTimeout(() => { by('desk').hidden = false; }, 80);</script>",
        [".shop", ".lamps"],
    ),
    "by one that listens for all": (
        f"<main style='height: 600px'><button class=shop style='{BOX} 10px'>Shop</button><p></p></main><script>"
        "document.querySelector('main').onmouseover = event => { if (event.target.className === 'shop')"
        f" document.querySelector('p').innerHTML = '<a href=#desk style=\"{BOX} 32px\">Desk lamp</a>'; }};</script>",
        [".shop"],
    ),
}


async def recorded_by_mouse(browser: Browsing, *steps: tuple[str, str]) -> list[str]:
    """Go to places with the mouse, click where the step says so, and return what was recorded, by XPath."""
    demonstration = Demonstration()
    await demonstration.follow(browser.tabs.current)
    page = browser.tabs.current.playwright_page
    for act, selector in steps:
        box = await page.locator(selector).bounding_box()
        assert box is not None
        place = box["x"] + min(box["width"] / 2, 30), box["y"] + min(box["height"] / 2, 8)
        await page.mouse.move(*place, steps=4)
        await asyncio.sleep(0.2)  # A person rests there; the menu comes up meanwhile.
        if act == "click":
            await page.mouse.click(*place)
        await browser.see()
    await demonstration.stop()
    found = []
    while not demonstration.human_actions.empty():
        one = demonstration.human_actions.get_nowait()
        if one.kind != "look":
            found.append(str(one.replace(ref=None).action(await browser.see())))
    return found


@pytest.mark.parametrize("how", MENUS)
@in_browser
async def test_an_entry_of_menus_under_the_mouse_is_recorded_with_each_hover_and_reached_again(
    browser: Browsing, site: Site, how: str
) -> None:
    menu, hovered = MENUS[how]
    other = "<button class=other style='position: absolute; left: 10px; top: 400px'>Other</button>"
    url = site.page(menu + other)
    await browser.open(url)
    await browser.see()
    found = await recorded_by_mouse(
        browser,
        ("hover", ".other"),
        *(("hover", one) for one in hovered),
        ("click", "[href='#desk']"),
        ("click", ".other"),
    )
    assert [one.split(" ")[0] for one in found] == ["hover"] * len(hovered) + ["click", "click"]
    await browser.open(url)
    for action in found[:-1]:
        await browser.see()
        await browser.do(action)
    assert await browser.js("location.hash") == "#desk"


@in_browser
async def test_what_a_click_or_the_page_itself_brings_up_is_recorded_without_a_hover(
    browser: Browsing, site: Site
) -> None:
    body = (
        "<main style='height: 600px'><button class=ask>Ask</button> <button class=other>Other</button></main><script>"
        "document.querySelector('main').onmouseover = () => {};"
        "const late = (name, left) => document.body.insertAdjacentHTML('beforeend',"
        "`<button class=${name} style='position: fixed; left: ${left}px; top: 300px'>${name}</button>`);"
        "document.querySelector('.ask').onclick = () => setTimeout(late, 100, 'yes', 20);"
        "document.querySelector('.other').onmouseover = () => setTimeout(late, 50, 'loaded', 300);</script>"
    )
    await browser.open(site.page(body))
    await browser.see()
    steps = (
        ("click", ".ask"),
        ("click", ".yes"),
        ("hover", ".ask"),
        ("hover", ".other"),
        ("click", ".loaded"),
    )
    found = await recorded_by_mouse(browser, *steps)
    assert [one.split(" ")[0] for one in found] == ["click", "click", "click"]
