"""States and places that are told of elements, parts that nobody sees, and words that would be lost."""

import pytest

from core.schema.errors import ActionError
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site

PICTURE = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='200' height='100'/%3E"


async def lines_of(browser: Browsing, site: Site, body: str) -> list[str]:
    """Return the lines of a page with this body, without refs and indentation."""
    await browser.open(site.page(body))
    return [line.strip().split("] ", 1)[1] for line in (await browser.words()).splitlines()]


TOLD = {
    'heading "Title" level 3': "<h3>Title</h3>",
    'heading "Title" level 5': "<div role=heading aria-level=5>Title</div>",
    'treeitem "Leaf" selected level 2': "<div role=treeitem aria-level=2 aria-selected=true>Leaf</div>",
    'status "Loading" busy': "<div role=status aria-busy=true>Loading</div>",
    'button "Bold" mixed': "<button aria-pressed=mixed>Bold</button>",
    'link "Here" current': "<a href='#' aria-current=page>Here</a>",
    'textbox "f" required invalid': "<input aria-label=f required aria-invalid=spelling>",
    'combobox "Age" value="Twenty"': "<div role=combobox aria-label=Age tabindex=0>Twenty</div>",
    'combobox "Fruit" value="Apple"': "<button role=combobox aria-label=Fruit><span>Apple</span></button>",
    'combobox "City" value="Oslo" readonly': (
        "<div style='position:relative;height:30px'><span><input role=combobox aria-label=City readonly"
        " style='opacity:0;position:absolute;inset:0'></span><span>Oslo</span></div>"
    ),
    'combobox "City"': (
        "<div style='height:30px'><span><input role=combobox aria-label=City style='width:2px'></span>"
        "<span class=x-placeholder>Choose</span></div>"
    ),
}
"""By the line that is told of it, a part of a page."""


@in_browser
async def test_states_and_values_are_told(browser: Browsing, site: Site) -> None:
    lines = await lines_of(browser, site, "".join(f"<div>{body}</div>" for body in TOLD.values()))
    assert [line for line in TOLD if line not in lines] == []


@in_browser
async def test_what_was_chosen_in_a_list_is_told_once(browser: Browsing, site: Site) -> None:
    for inside in (
        "<div class=single-value>Twenty</div><div><input role=combobox aria-label=Age style='width:2px'></div>",
        "<span><input role=combobox aria-label=Age style='opacity:0;width:90px'></span><span title=20>Twenty</span>",
    ):
        body = f"<div style='display:flex;height:36px;width:300px'>{inside}</div><p>Age</p><div>Twenty</div>"
        assert await lines_of(browser, site, body) == [
            'combobox "Age" value="Twenty"',
            'paragraph "Age"',
            'text "Twenty"',
        ]


@in_browser
async def test_what_a_disabled_box_holds_is_disabled_unless_it_says_otherwise(
    browser: Browsing, site: Site
) -> None:
    assert await lines_of(
        browser,
        site,
        "<div role=radiogroup aria-label=Size aria-disabled=true><div role=radio tabindex=-1>Small</div>"
        "<p>Sold out</p><div aria-disabled=false><button>Remind me</button></div><x-more></x-more></div>"
        "<button>Buy</button><script>customElements.define('x-more', class extends HTMLElement {"
        "constructor() { super(); this.attachShadow({mode: 'open'}).innerHTML = '<a href=#more>More</a>' } })"
        "</script>",
    ) == [
        'radiogroup "Size" disabled',
        'radio "Small" disabled',
        'paragraph "Sold out"',
        'button "Remind me"',
        'link "More" disabled',
        'button "Buy"',
    ]
    for disabled in ('radio "Small"', 'link "More"'):
        with pytest.raises(ActionError, match="is disabled"):
            await browser.do(f"click [{disabled}]")
    await browser.do('click [button "Remind me"]')


@in_browser
async def test_tables_tell_their_size_their_order_and_where_a_part_stands(
    browser: Browsing, site: Site
) -> None:
    assert await lines_of(
        browser,
        site,
        "<table aria-rowcount=100 aria-colcount=5><tr aria-rowindex=1><th aria-sort=descending>Name</th></tr>"
        "<tr aria-rowindex=42><td aria-colindex=2>Ada</td></tr></table><div role=grid aria-rowcount=-1>words</div>",
    ) == [
        "table 100 rows 5 columns",
        "row row 1",
        'columnheader "Name" sorted descending',
        "row row 42",
        'cell "Ada" column 2',
        "grid unknown number of rows",
        'text "words"',
    ]


@in_browser
async def test_what_is_closed_inert_or_not_drawn_is_not_read(browser: Browsing, site: Site) -> None:
    hidden = (
        "loose words<p>a paragraph</p><button>b</button><div style='display:contents'><i>inside</i></div>"
    )
    assert await lines_of(
        browser,
        site,
        f"<details><summary>More</summary>{hidden}</details><div inert>{hidden}</div>"
        f"<div hidden=until-found>{hidden}</div><div style='content-visibility:hidden'>{hidden}</div>"
        "<x-host></x-host><script>customElements.define('x-host', class extends HTMLElement { constructor() {"
        "super(); this.attachShadow({mode: 'open'}).innerHTML = '<p inert>a</p><p>read</p>' } })</script>",
    ) == ['button "More" collapsed', 'paragraph "read"']
    await browser.do('click [button "More"]')
    assert [one.name for one in (await browser.see()).elements] == [
        "loose words",
        "More",
        "a paragraph",
        "b",
        "inside",
        "read",
    ]


@in_browser
async def test_an_invalid_field_is_told_once_the_person_has_been_there(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<input type=email aria-label=mail><button>b</button>"))
    assert (await browser.find("textbox", "mail")).states == ()
    await browser.do('type [textbox "mail"] [nobody]')
    await browser.do('click [button "b"]')
    assert (await browser.find("textbox", "mail")).states == ("invalid",)


@in_browser
async def test_words_in_boxes_are_read_whatever_the_box_is_called(browser: Browsing, site: Site) -> None:
    assert await lines_of(
        browser,
        site,
        "<section aria-label=Result>42 items</section><main aria-label=Main>some <b>bold</b> words</main>"
        "<ul><li aria-label=First>listed <button>Go</button></li></ul>"
        "<dialog open>Are you sure?<button>Yes</button></dialog>"
        "<table><tr><td><div aria-label=Rating>4 of 5</div></td></tr></table>",
    ) == [
        'region "Result"',
        'text "42 items"',
        'main "Main"',
        'text "some bold words"',
        "list",
        'listitem "First"',
        'text "listed"',
        'button "Go"',
        "dialog expanded",
        'text "Are you sure?"',
        'button "Yes"',
        "table",
        "row",
        'cell "Rating 4 of 5"',
    ]


@in_browser
async def test_words_of_a_box_have_a_ref_of_their_own_that_stays(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<main onclick='1'>words</main><form>form words</form>"))
    refs = [one.ref for one in (await browser.see()).elements]
    assert len(set(refs)) == len(refs)
    await browser.do(f"click [{(await browser.find('text', 'form words')).ref}]")
    assert [one.ref for one in (await browser.see()).elements] == refs


@in_browser
async def test_areas_of_a_picture_are_links_with_their_place(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            f'<div style="height:3000px"></div><img src="{PICTURE}" width=200 height=100 usemap="#m" alt=map>'
            "<map name=m><area shape=rect coords='0,0,50,50' href='#rect' alt=Rect>"
            "<area shape=circle coords='120,50,30' href='#circle' alt=Circle>"
            "<area shape=poly coords='160,0,200,0,200,40' href='#poly' title=Poly><area shape=default alt=None></map>"
        )
    )
    seen = {one.name: one for one in (await browser.see()).elements}
    assert list(seen) == ["map", "Rect", "Circle", "Poly"]
    assert (seen["Circle"].box.width, seen["Circle"].box.x - seen["map"].box.x) == (60, 90)
    for name in ("Rect", "Circle", "Poly"):
        await browser.do(f'click [link "{name}"]')
        assert await browser.js("location.hash") == f"#{name.lower()}"


# Without its end tag, Chromium under load sometimes never loads the document of an object.
@pytest.mark.parametrize("html", ["<object data='{}' {}></object>", "<embed src='{}' {}>"])
@in_browser
async def test_documents_in_objects_are_read_and_used(browser: Browsing, site: Site, html: str) -> None:
    inner = site.page("<button onclick=\"this.textContent='done'\">in</button>")
    await browser.open(site.page(html.format(inner, "type='text/html' width=300 height=100")))
    assert [one.role for one in (await browser.see()).elements] == ["iframe", "button"]
    await browser.do(f"click [{(await browser.find('button', 'in')).ref}]")
    await browser.find("button", "done")


@in_browser
async def test_an_object_that_shows_nothing_gives_way_to_what_is_in_it(browser: Browsing, site: Site) -> None:
    assert 'text "instead"' in await lines_of(
        browser, site, "<object data='/missing'><b>instead</b></object>"
    )


@in_browser
async def test_drawings_tell_what_can_be_had_of_them(browser: Browsing, site: Site) -> None:
    assert await lines_of(
        browser,
        site,
        "<canvas width=90 height=40>sales by year</canvas><canvas width=90 height=40 title=Chart></canvas>"
        "<i title=Done style='display:inline-block;width:10px;height:10px;background:green'></i>"
        f'<img src="{PICTURE}#" width=30 height=30>',
    ) == ['canvas "sales by year" (90×40)', 'canvas "Chart" (90×40)', 'img "Done"', "img (30×30)"]


@in_browser
async def test_a_name_in_capitals_of_the_style_sheet_is_found_as_it_is_written_and_as_it_is_shown(
    browser: Browsing, site: Site
) -> None:
    await browser.open(
        site.page(
            "<button style='text-transform:uppercase' onclick='window.clicks = (window.clicks || 0) + 1'>"
            "Straße wählen</button>"
        )
    )
    for name in ("Straße wählen", "STRASSE WÄHLEN", "straße wählen"):
        await browser.do(f'click [button "{name}"]')
    assert await browser.js("clicks") == 3


@in_browser
async def test_a_named_part_that_takes_the_focus_keeps_its_words(browser: Browsing, site: Site) -> None:
    assert await lines_of(
        browser, site, "<div role=tabpanel tabindex=0 aria-label=First>The first part</div>"
    ) == ['tabpanel "First"', 'text "The first part"']


@in_browser
async def test_what_a_box_that_shows_nothing_holds_is_not_read_unless_it_gets_out(
    browser: Browsing, site: Site
) -> None:
    empty = "width:0;height:0;overflow:hidden"
    assert await lines_of(
        browser,
        site,
        f"<div style='{empty}'><div role=option>never seen</div></div>"
        "<div aria-hidden=true style='position:absolute;width:1px;height:1px;clip:rect(0 0 0 0);overflow:hidden'>"
        "<button>measured only</button></div>"
        f"<div style='{empty}'><b style='position:absolute;left:0;top:50px'>placed elsewhere</b></div>"
        f"<div style='{empty};position:relative'><b style='position:absolute'>held</b>"
        "<i style='position:fixed;top:80px'>fixed</i></div>",
    ) == ['text "placed elsewhere"', 'text "fixed"']


@in_browser
async def test_a_control_of_several_boxes_has_one_line(browser: Browsing, site: Site) -> None:
    assert await lines_of(
        browser,
        site,
        "<x-radio role=radio aria-checked=false tabindex=0>Small</x-radio><x-button onclick=''>Save</x-button>"
        "<div onclick=''><div role=tab tabindex=0>First</div></div>"
        "<div role=tab tabindex=0>Second <i onclick='' style='display:inline-block;width:8px;height:8px'></i></div>"
        "<div onclick=''>A card <button>Open</button></div><script>"
        "const made = html => class extends HTMLElement { constructor() {"
        " super(); this.attachShadow({mode: 'open'}).innerHTML = html } };"
        "customElements.define('x-radio', made('<span onclick=\"\" style=\"display:block\"><slot></slot></span>'));"
        "customElements.define('x-button', made('<button><slot></slot></button>'))</script>",
    ) == [
        'radio "Small"',
        'button "Save"',
        'tab "First"',
        'tab "Second"',
        'generic (beside "Second")',
        'generic "A card"',
        'button "Open"',
    ]


@in_browser
async def test_a_head_among_cells_is_that_of_its_row(browser: Browsing, site: Site) -> None:
    assert await lines_of(
        browser,
        site,
        "<table><thead><tr><th>Name<th>Age<td>-<tbody><tr><th>Kari<td>7</table>",
    ) == [
        "table",
        "row",
        'columnheader "Name"',
        'columnheader "Age"',
        'cell "-"',
        "row",
        'rowheader "Kari"',
        'cell "7"',
    ]
