"""Actions that a place, a button, a wheel or a held key makes different: what the page hears of them."""

import pytest

from core.schema.action import Click, RefTarget
from core.schema.errors import ActionError
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site

LOG = "<script>const heard = []; const hear = (...words) => heard.push(words.join(' '))</script>"
CANVAS = (
    "<style>body { margin: 0 }</style><canvas id=c width=200 height=100 tabindex=0></canvas><script>"
    "for (const kind of ['click', 'dblclick', 'contextmenu']) c.addEventListener(kind, e => {"
    " e.preventDefault(); hear(kind, e.offsetX, e.offsetY) })</script>"
)


@in_browser
async def test_a_right_click_opens_the_menu_of_the_page(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<button oncontextmenu=\"menu.hidden = false; hear('menu', event.button); return false\">b</button>"
            "<ul id=menu hidden role=menu><li role=menuitem onclick=\"hear('chosen')\">Copy</li></ul>",
            head=LOG,
        )
    )
    done = await browser.do('right_click [button "b"]')
    assert done is not None
    assert done.note == ""
    await browser.do('click [menuitem "Copy"]')
    assert await browser.js("heard") == ["menu 2", "chosen"]


@in_browser
async def test_where_the_page_has_no_menu_a_right_click_opens_none_and_says_so(
    browser: Browsing, site: Site
) -> None:
    await browser.open(
        site.page(
            "<button oncontextmenu=\"hear('heard')\">plain</button>"
            "<div oncontextmenu='event.stopPropagation()'><button>stopped</button></div>",
            head=LOG,
        )
    )
    for name in ("plain", "stopped"):
        done = await browser.do(f'right_click [button "{name}"]')
        assert done is not None
        assert "has no context menu" in done.note
        await browser.js("addEventListener('click', () => hear('click'), { once: true })")
        await browser.do(f'click [button "{name}"]')
    assert await browser.js("heard") == ["heard", "click", "click"]


@in_browser
async def test_a_right_click_in_a_frame_is_heard_there(browser: Browsing, site: Site) -> None:
    inner = site.page("<button oncontextmenu=\"hear('menu'); return false\">in</button>", head=LOG)
    await browser.open(site.page(f"<p>words</p><iframe src='{site.elsewhere(inner)}'></iframe>"))
    done = await browser.do(f"right_click [{(await browser.find('button', 'in')).ref}]")
    assert done is not None
    assert done.note == ""
    assert await browser.tabs.current.playwright_page.frames[1].evaluate("heard") == ["menu"]


@in_browser
async def test_clicks_go_to_the_place_of_an_element(browser: Browsing, site: Site) -> None:
    await browser.open(site.page(CANVAS, head=LOG))
    ref = (await browser.find("canvas")).ref
    await browser.do(f"click [{ref}] [at=0.25,0.7]")
    await browser.do(f"right_click [{ref}] [x=0.5 y=0.1]")
    await browser.do(f"double_click [{ref}] [at=1,1]")
    assert await browser.js("heard") == [
        "click 50 70",
        "contextmenu 100 10",
        "click 199 99",
        "click 199 99",
        "dblclick 199 99",
    ]


@in_browser
async def test_a_place_out_of_view_is_scrolled_to_and_a_covered_one_refused(
    browser: Browsing, site: Site
) -> None:
    await browser.open(
        site.page(
            "<div style='height:300px;overflow:auto;position:relative' id=box><canvas id=c width=200 height=4000 "
            "tabindex=0></canvas><button style='position:absolute;left:0;top:0'>over</button></div><script>"
            "c.onclick = e => hear(e.offsetX, e.offsetY)</script>",
            head=LOG,
        )
    )
    ref = (await browser.find("canvas")).ref
    done = await browser.do(f"click [{ref}] [at=0.5,0.75]")
    assert done is not None
    assert done.scrolled
    assert await browser.js("heard") == ["100 3000"]
    with pytest.raises(ActionError, match='is covered by button "over" at that place'):
        await browser.do(f"click [{ref}] [at=0.01,0.001]")


@in_browser
async def test_a_click_on_an_image_map_reaches_its_area(browser: Browsing, site: Site) -> None:
    picture = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='100' height='100'/>"
    await browser.open(
        site.page(
            f'<img src="{picture}" width=100 height=100 usemap=#m alt=map onclick="hear(\'map\')">'
            "<map name=m><area shape=rect coords=50,0,100,100 onclick=\"hear('right')\" href=#r></map>",
            head=LOG,
        )
    )
    await browser.do('click [img "map"] [at=0.8,0.5]')
    assert await browser.js("heard") == ["right"]


@in_browser
async def test_a_click_at_a_pixel_names_the_element_and_its_place(browser: Browsing, site: Site) -> None:
    await browser.open(site.page(CANVAS, head=LOG))
    ref = (await browser.find("canvas")).ref
    done = await browser.do("click_at [50] [70]")
    assert done is not None
    assert done.action == Click(target=RefTarget(ref=ref), at="0.25,0.7")
    await browser.do(str(done.action))
    assert await browser.js("heard") == ["click 50 70", "click 50 70"]
    with pytest.raises(ActionError, match=r"5000, 3 is outside the window, which is \d+ × \d+ pixels"):
        await browser.do("click_at [5000] [3]")


@in_browser
async def test_keys_are_held_while_clicking_and_let_go_afterwards(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<button onclick=\"hear('click', event.ctrlKey, event.shiftKey)\">b</button><script>"
            "for (const kind of ['keydown', 'keyup']) addEventListener(kind, e => hear(kind, e.key))</script>",
            head=LOG,
        )
    )
    await browser.do('click [button "b"] [keys=ctrl+Shift]')
    await browser.do('click [button "b"]')
    assert await browser.js("heard") == [
        "keydown Control",
        "keydown Shift",
        "click true true",
        "keyup Shift",
        "keyup Control",
        "click false false",
    ]


@in_browser
async def test_a_range_of_a_list_is_chosen_with_shift(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<p>one two</p><p>three four</p><p id=l>five six</p><a href=#a>link</a>"))
    first, last = [one.ref for one in (await browser.see()).elements if one.role == "paragraph"][::2]
    await browser.do(f"click [{first}] [at=0,0.5]")
    await browser.do(f"click [{last}] [keys=Shift] [at=1,0.5]")
    assert (
        await browser.js("getSelection().toString().split(/\\s+/)")
    ) == "one two three four five six".split()


@in_browser
async def test_an_option_of_several_is_taken_back(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            '<select multiple aria-label=m onchange="hear([...this.selectedOptions].map(o => o.text))">'
            "<option selected>a<option selected>b<option>c</select><select aria-label=s><option>a<option>b</select>",
            head=LOG,
        )
    )
    await browser.do('select [listbox "m"] [a] [selected=0]')
    await browser.do('select [listbox "m"] [c]')
    await browser.do('select [listbox "m"] [a] [selected=0]')
    assert await browser.js("heard") == ["b", "b,c"]
    with pytest.raises(ActionError, match="allows only one option"):
        await browser.do('select [combobox "s"] [a] [selected=0]')


@in_browser
async def test_a_wheel_goes_to_a_page_that_takes_it_and_scrolls_where_none_does(
    browser: Browsing, site: Site
) -> None:
    await browser.open(
        site.page(
            "<div id=map tabindex=0 role=button aria-label=map style='width:200px;height:200px'></div>"
            "<div id=list tabindex=0 role=button aria-label=list style='width:200px;height:100px;overflow:auto'>"
            "<div style='height:1000px'>rows</div></div><button style='margin-bottom:3000px'>b</button><script>"
            "map.addEventListener('wheel', e => { e.preventDefault(); hear('zoom', Math.sign(e.deltaY)) });"
            "list.addEventListener('wheel', e => hear('seen', e.isTrusted), { passive: true });"
            "list.addEventListener('scroll', () => hear('followed'))</script>",
            head=LOG,
        )
    )
    await browser.do('scroll [up] [button "map"]')
    assert await browser.js("[heard, scrollY]") == [["zoom -1"], 0]
    await browser.do('scroll [down] [button "list"]')
    assert await browser.js("[list.scrollTop, scrollY]") == [80, 0]
    assert await browser.js("heard.slice(1)") == ["seen true", "followed"]
    await browser.do('scroll [down] [button "b"]')
    assert await browser.js("scrollY > 100")
    await browser.js("list.scrollTop = 0; scrollTo(0, 0)")
    with pytest.raises(ActionError, match="cannot scroll further up"):
        await browser.do('scroll [up] [button "list"]')


@in_browser
async def test_a_wheel_that_the_page_stops_on_its_way_scrolls_all_the_same(
    browser: Browsing, site: Site
) -> None:
    await browser.open(
        site.page(
            "<div id=list tabindex=0 role=button aria-label=list style='height:100px;overflow:auto' "
            "onwheel='event.stopPropagation()'><div style='height:1000px'>rows</div></div>"
        )
    )
    await browser.do('scroll [down] [button "list"]')
    assert await browser.js("list.scrollTop") == 80


@in_browser
async def test_a_page_that_turns_by_the_wheel_alone_is_scrolled(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<style>body { overflow: hidden; margin: 0 }</style><h1 id=h>first</h1><script>"
            "addEventListener('wheel', () => { h.textContent = 'second' })</script>"
        )
    )
    await browser.do("scroll [down]")
    assert await browser.js("h.textContent") == "second"
    await browser.open(site.page("<p>short</p>"))
    with pytest.raises(ActionError, match="The page cannot scroll further down"):
        await browser.do("scroll [down]")


@in_browser
async def test_a_frame_gets_the_wheel_that_is_meant_for_it(browser: Browsing, site: Site) -> None:
    inner = site.page(
        "<button>in</button><script>addEventListener('wheel', e => { e.preventDefault(); hear('wheel') },"
        " { passive: false })</script>",
        head=LOG,
    )
    await browser.open(site.page(f"<p>words</p><iframe src='{site.elsewhere(inner)}'></iframe>"))
    await browser.do(f"scroll [down] [{(await browser.find('button', 'in')).ref}]")
    assert await browser.tabs.current.playwright_page.frames[1].evaluate("heard") == ["wheel"]


@in_browser
async def test_a_line_is_drawn_from_place_to_place(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            CANVAS + "<script>c.onmousedown = e => hear('down', e.offsetX, e.offsetY);"
            "c.onmouseup = e => hear('up', e.offsetX, e.offsetY);"
            "var moves = 0; c.onmousemove = e => moves += e.buttons</script>",
            head=LOG,
        )
    )
    ref = (await browser.find("canvas")).ref
    await browser.do(f"drag [{ref}] [{ref}] [from_at=0.1,0.5] [to_at=0.9,0.5]")
    assert (await browser.js("heard"))[:2] == ["down 20 50", "up 180 50"]
    assert await browser.js("moves") >= 8


FAR = (
    "<div id=a draggable=true role=button aria-label=a>drag me</div>"
    "<div id=m role=button aria-label=m onmousedown='held = true'>mouse</div>"
    "<div style='height:4000px'></div><div id=z role=button aria-label=z style='height:50px'>here</div>"
    "<div style='height:4000px'></div><script>var held = false;"
    "a.ondragstart = e => e.dataTransfer.setData('text', 'gift'); z.ondragover = e => e.preventDefault();"
    "z.ondrop = e => hear(e.dataTransfer.getData('text'));"
    "z.onmouseup = () => { if (held) hear('moved'); held = false }</script>"
)


@in_browser
async def test_things_are_dragged_to_where_the_window_has_to_scroll(browser: Browsing, site: Site) -> None:
    await browser.open(site.page(FAR, head=LOG))
    await browser.do('drag [button "m"] [button "z"]')
    await browser.do('drag [button "a"] [button "z"] [to_at=0.5,0.9]')
    assert await browser.js("heard") == ["moved", "gift"]


SELECTED = "getSelection().toString().replace(/\\s+/g, ' ').trim()"


@in_browser
async def test_words_are_selected_by_mouse_across_inline_children(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<p id=p>One <b>two</b> three <i>four</i> five</p><p id=q>six seven</p><script>"
            "document.onselectionchange = () => hear('changed'); p.onmouseup = e => hear('up', e.isTrusted)</script>",
            head=LOG,
        )
    )
    done = await browser.do('select_text [xpath=//*[@id="p"]] [two three four]')
    assert done is not None
    assert done.note == ""
    assert await browser.js(SELECTED) == "two three four"
    assert {"changed", "up true"} <= set(await browser.js("heard"))
    await browser.do('select_text [xpath=//*[@id="p"]] [three]')
    assert await browser.js(SELECTED) == "three"
    await browser.do('select_text [xpath=//*[@id="q"]] []')
    assert await browser.js(SELECTED) == "six seven"
    await browser.do("select_text [xpath=//body] [five six]")
    assert await browser.js(SELECTED) == "five six"


@in_browser
async def test_words_are_selected_over_more_than_the_window_shows(browser: Browsing, site: Site) -> None:
    lines = "<br>".join(f"line {number} of many" for number in range(300))
    await browser.open(site.page(f"<p id=p>{lines}</p>"))
    done = await browser.do("select_text [xpath=//p] []")
    assert done is not None
    assert done.note == ""
    chosen = await browser.js(SELECTED)
    assert (chosen[:14], chosen[-16:]) == ("line 0 of many", "line 299 of many")


@in_browser
async def test_words_in_fields_and_editors_are_selected(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<input aria-label=i value='one two one'><textarea aria-label=t>first line\nsecond 👍🏽 line</textarea>"
            "<input type=email aria-label=e value='ada@example.org'>"
            "<div contenteditable role=textbox aria-label=r>rich <b>text</b> here</div><script>"
            "document.addEventListener('select', e => hear(e.target.tagName))</script>",
            head=LOG,
        )
    )
    await browser.do('select_text [textbox "i"] [one] [nth=2]')
    assert await browser.js(
        "[document.activeElement.selectionStart, document.activeElement.selectionEnd]"
    ) == [8, 11]
    await browser.do('select_text [textbox "t"] [second 👍🏽]')
    await browser.do("press [x]")
    assert await browser.js("document.querySelector('textarea').value") == "first line\nx line"
    await browser.do('select_text [textbox "e"] [example]')
    await browser.do("press [x]")
    assert await browser.js("document.querySelector('[type=email]').value") == "ada@x.org"
    await browser.do('select_text [textbox "r"] [text here]')
    await browser.do("press [x]")
    assert await browser.js("document.querySelector('[role=textbox]').textContent") == "rich x"
    assert {"INPUT", "TEXTAREA"} <= set(await browser.js("heard"))


@in_browser
async def test_words_that_the_mouse_cannot_select_are_selected_otherwise_and_it_is_said(
    browser: Browsing, site: Site
) -> None:
    await browser.open(
        site.page(
            "<p><a href=#there>all of a link</a></p><div style='user-select:none'>not these words</div>"
        )
    )
    done = await browser.do("select_text [xpath=//p] [of a]")
    assert done is not None
    assert "selected by script" in done.note
    assert await browser.js(f"[{SELECTED}, location.hash]") == ["of a", ""]
    with pytest.raises(ActionError, match="does not allow this text to be selected"):
        await browser.do("select_text [xpath=//div] [these]")


@in_browser
async def test_words_that_are_not_there_or_stand_there_often_are_refused(
    browser: Browsing, site: Site
) -> None:
    await browser.open(site.page("<p>to be or not to be</p><p></p>"))
    with pytest.raises(ActionError, match='has no text "perhaps"; it has "to be or not to be"'):
        await browser.do("select_text [xpath=//p[1]] [perhaps]")
    with pytest.raises(ActionError, match='has "to be" 2 times: say which with nth, from 1 to 2'):
        await browser.do("select_text [xpath=//p[1]] [to be]")
    with pytest.raises(ActionError, match="not 3 times"):
        await browser.do("select_text [xpath=//p[1]] [to be] [nth=3]")
    await browser.do("select_text [xpath=//p[1]] [to be] [nth=2]")
    assert await browser.js("getSelection().getRangeAt(0).startOffset") == 13


@in_browser
async def test_a_row_that_is_taken_hold_of_by_a_held_mouse_is_dragged(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<button id=a>a</button><button id=b>b</button><script>let held = false, taking;"
            "a.onmousedown = () => { taking = setTimeout(() => { held = true }, 250) };"
            "onmouseup = event => { clearTimeout(taking); document.title = held ? event.target.id : 'not held' }"
            "</script>"
        )
    )
    await browser.do('drag [button "a"] [button "b"]')
    assert await browser.js("document.title") == "b"


@in_browser
async def test_what_is_dragged_is_let_go_once_the_rows_that_make_room_have_come_to_rest(
    browser: Browsing, site: Site
) -> None:
    await browser.open(
        site.page(
            "<style>body { margin: 0 } li { height: 40px; list-style: none }</style><ul id=list style='width:200px'>"
            "<li>Alpha</li><li>Beta</li><li>Gamma</li></ul><script>"
            "let held = null, busy = false;"
            "list.onmousedown = event => { held = event.target; event.preventDefault() };"
            "list.onmousemove = event => { const over = event.target;"
            "  if (!held || busy || over === held || over === list) return;"
            "  held.compareDocumentPosition(over) & 2 ? over.before(held) : over.after(held); busy = true;"
            "  over.animate([{ transform: 'translateY(-40px)' }, {}], 150).onfinish = () => { busy = false } };"
            "onmouseup = () => { held = null };</script>"
        )
    )
    await browser.do("drag [xpath=//li[3]] [xpath=//li[1]]")
    assert await browser.js("[...list.children].map(one => one.textContent).join()") == "Gamma,Alpha,Beta"
