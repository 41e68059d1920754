"""What an observation holds: everything a person could see or use, and refs that stay with it."""

import re

from core.browser.capturer import Capturer
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site


def _lines(text: str) -> list[str]:
    """Return the lines of an observation without refs and indentation."""
    return [line.strip().split("] ", 1)[1] for line in text.splitlines()]


@in_browser
async def test_fields_are_read_with_name_value_states_and_options(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<label>Name <input value=Ada required></label>"
            "<label><input type=checkbox checked> Agree</label>"
            "<label><input type=radio name=r disabled> Never</label>"
            "<select aria-label=City><option>Oslo<option selected>Rome<option disabled>Bonn</select>"
            "<textarea aria-label=Note readonly>old</textarea>"
            "<input type=password aria-label=Secret value=abc>"
            "<details open><summary>More</summary><p>inside</p></details>"
        )
    )
    lines = _lines(await browser.words())
    assert 'textbox "Name" value="Ada" required' in lines
    assert 'checkbox "Agree" checked' in lines
    assert 'radio "Never" disabled' in lines
    assert 'combobox "City" value="Rome" options: Oslo | *Rome* | Bonn' in lines
    assert 'textbox "Note" value="old" readonly' in lines
    assert 'textbox "Secret" value="•••"' in lines
    assert 'button "More" expanded' in lines


@in_browser
async def test_passwords_are_bullets_also_where_the_page_shows_them_or_writes_them_into_its_html(
    browser: Browsing, site: Site
) -> None:
    await browser.open(
        site.page(
            "<input type=password aria-label=Old value=hunter1>"
            "<input autocomplete=new-password aria-label=New value=hunter2>"
            "<button onclick=\"document.querySelector('input').type = 'text'\">"
            "Show <input type=password value=hunter3></button>"
        )
    )
    for _ in range(2):
        capture = await browser.capturer.capture(browser.tabs.current, await browser.tabs.list())
        assert [one.value for one in capture.observation.elements if one.name in ("Old", "New")] == [
            "•••••••"
        ] * 2
        assert "hunter" not in capture.html + "".join(one.line() for one in capture.observation.elements)
        await browser.do(f"click [{(await browser.find('button')).ref}] [at=0.1,0.5]")
    assert await browser.js("document.querySelector('input').type") == "text"


@in_browser
async def test_elements_know_their_place_and_whether_they_are_in_the_window(
    browser: Browsing, site: Site
) -> None:
    await browser.open(
        site.page(
            "<style>body{margin:0}</style><button style='position:absolute;left:10px;top:20px;width:80px;"
            "height:30px'>near</button><button style='position:absolute;top:3000px'>far</button>"
        )
    )
    near, far = await browser.find("button", "near"), await browser.find("button", "far")
    assert (near.box.x, near.box.y, near.box.width, near.box.height) == (10, 20, 80, 30)
    assert near.in_viewport
    assert not far.in_viewport
    seen = await browser.see()
    assert seen.scroll == (0, 0)


@in_browser
async def test_hidden_elements_are_left_out(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<button style='display:none'>a</button><button style='visibility:hidden'>b</button>"
            "<div hidden><button>c</button></div><button>d</button><template><button>e</button></template>"
        )
    )
    assert [e.name for e in (await browser.see()).elements] == ["d"]


@in_browser
async def test_boxes_without_a_size_of_their_own_still_show_what_is_in_them(
    browser: Browsing, site: Site
) -> None:
    await browser.open(
        site.page(
            "<div style='display:contents'>loose words</div>"
            "<div style='height:0'>flat words</div>"
            "<a href='#x' style='display:inline-block;width:0'><img alt=logo width=40 height=40"
            " src='data:image/gif;base64,R0lGODlhAQABAAAAACw='></a>"
        )
    )
    lines = _lines(await browser.words())
    assert 'text "loose words"' in lines
    assert 'text "flat words"' in lines
    assert 'link "logo"' in lines


@in_browser
async def test_frames_are_read_and_clicked_wherever_they_come_from(browser: Browsing, site: Site) -> None:
    innermost = site.page("<button onclick=\"this.textContent='deep done'\">deep</button>")
    inner = site.page(
        f"<button onclick=\"this.textContent='mid done'\">mid</button>"
        f"<iframe style='margin:15px' src='{innermost}'></iframe>"
    )
    await browser.open(
        site.page(
            f"<p>top</p><iframe src='{innermost}'></iframe>"
            f"<iframe width=400 height=300 style='border:7px solid;padding:5px' src='{site.elsewhere(inner)}'></iframe>"
            "<iframe srcdoc=\"<button onclick=&quot;this.textContent='own done'&quot;>own</button>\"></iframe>"
        )
    )
    seen = await browser.see()
    assert [e.name for e in seen.elements if e.role == "button"] == ["deep", "mid", "deep", "own"]
    assert len(seen.frames) == 5
    for button in [e for e in seen.elements if e.role == "button"]:
        await browser.do(f"click [{button.ref}]")
    after = await browser.see()
    assert [e.name for e in after.elements if e.role == "button"] == [
        "deep done",
        "mid done",
        "deep done",
        "own done",
    ]
    assert [e.ref for e in after.elements if e.role == "button"] == [
        e.ref for e in seen.elements if e.role == "button"
    ]


@in_browser
async def test_refs_in_frames_and_page_are_never_the_same(browser: Browsing, site: Site) -> None:
    inner = site.page("<button>one</button><button>two</button>")
    await browser.open(
        site.page(
            f"<p>words</p><button>top</button><iframe src='{inner}'></iframe>"
            f"<iframe src='{site.elsewhere(inner)}'>"
        )
    )
    # Finding by XPath names elements between two readings, in each document.
    for _ in range(2):
        refs = [e.ref for e in (await browser.see()).elements]
        assert len(refs) == len(set(refs))
        await browser.do('click [button "top"]')
        await browser.do("click [xpath=//p[.='words']]")
        await browser.js(
            "document.body.append(Object.assign(document.createElement('button'), {textContent: 'new'}))"
        )


@in_browser
async def test_a_far_element_in_a_tall_frame_is_brought_into_view(browser: Browsing, site: Site) -> None:
    inner = site.page(
        "<div style='height:2500px'></div><button onclick=\"this.textContent='reached'\">low</button>"
    )
    for url in (inner, site.elsewhere(inner)):
        await browser.open(
            site.page(f"<div style='height:900px'></div><iframe height=2700 width=300 src='{url}'></iframe>")
        )
        await browser.do(f"click [{(await browser.find('button', 'low')).ref}]")
        await browser.find("button", "reached")


@in_browser
async def test_open_shadow_roots_are_read_slots_too(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<x-card>slotted words<button slot=act>Buy</button></x-card><script>"
            "customElements.define('x-card', class extends HTMLElement { constructor() { super();"
            "this.attachShadow({mode: 'open'}).innerHTML = '<h3>Card</h3><slot></slot><slot name=act></slot>"
            "<p id=p>listens</p>';"
            "this.shadowRoot.getElementById('p').addEventListener('click', e => e.target.textContent = 'heard')"
            "} })</script>"
        )
    )
    lines = _lines(await browser.words())
    assert 'heading "Card" level 3' in lines
    assert 'text "slotted words"' in lines
    assert 'button "Buy"' in lines
    listening = next(e for e in (await browser.see()).elements if e.name == "listens")
    assert "click" in listening.uses
    await browser.do(f"click [{listening.ref}]")
    assert "heard" in await browser.words()


@in_browser
async def test_closed_shadow_roots_are_read_and_clicked(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<x-shut></x-shut><div id=plain></div><script>"
            "const fill = (host, text) => { const root = host.attachShadow({mode: 'closed'});"
            "root.innerHTML = `<button>${text}</button>`;"
            "root.firstChild.onclick = () => root.firstChild.textContent += ' done' };"
            "customElements.define('x-shut', class extends HTMLElement {"
            "constructor() { super(); fill(this, 'shut') } });"
            "fill(document.getElementById('plain'), 'plain')</script>"
        )
    )
    for name in ("shut", "plain"):
        await browser.do(f"click [{(await browser.find('button', name)).ref}]")
        await browser.find("button", f"{name} done")
    assert await browser.js("document.querySelector('x-shut').shadowRoot") is None


@in_browser
async def test_a_ref_stays_with_its_element_and_is_not_given_again(browser: Browsing, site: Site) -> None:
    url = site.page("<button id=a>a</button><button id=b>b</button>")
    await browser.open(url)
    first = {e.name: e.ref for e in (await browser.see()).elements}
    await browser.js("document.body.prepend(b); a.textContent = 'A'")
    moved = {e.name: e.ref for e in (await browser.see()).elements}
    assert moved == {"b": first["b"], "A": first["a"]}
    await browser.js("a.remove(); document.body.insertAdjacentHTML('beforeend', '<button>c</button>')")
    assert (await browser.find("button", "c")).ref not in first.values()
    await browser.open(url)
    assert not {e.ref for e in (await browser.see()).elements} & set(first.values())
    await browser.do("new_tab")
    await browser.open(url)
    assert not {e.ref for e in (await browser.see()).elements} & set(first.values())


@in_browser
async def test_elements_that_only_listen_are_usable(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page("<div id=d>plain</div><p>other</p><script>d.addEventListener('click', () => {})</script>")
    )
    uses = {e.name: e.uses for e in (await browser.see()).elements}
    assert uses == {"plain": ("click",), "other": ()}


@in_browser
async def test_a_page_that_breaks_the_language_is_read_all_the_same(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<form><input name=id aria-label=field><input name=type><input name=parentElement></form>"
            "<img name=title><button onclick='this.textContent = 1'>go</button>",
            head=(
                "<script>Array.prototype.map = Array.prototype.push = JSON.stringify = WeakRef = Map = Set ="
                "getComputedStyle = Element.prototype.getBoundingClientRect = document.querySelectorAll ="
                "() => { throw new Error('mine') }; Object.prototype.toJSON = () => 'x'; Symbol = null;"
                "Promise = null; MutationObserver = requestAnimationFrame = null;</script>"
            ),
        )
    )
    await browser.do(f"click [{(await browser.find('button', 'go')).ref}]")
    await browser.find("button", "1")
    await browser.do(f"type [{(await browser.find('textbox', 'field')).ref}] [abc]")
    assert (await browser.find("textbox", "field")).value == "abc"


@in_browser
async def test_a_strict_content_policy_does_not_keep_us_out(browser: Browsing, site: Site) -> None:
    policy = "default-src 'none'; sandbox allow-forms; require-trusted-types-for 'script'"
    await browser.open(
        site.page("<label>Box <input type=checkbox></label>", headers={"Content-Security-Policy": policy})
    )
    await browser.do(f"check [{(await browser.find('checkbox', 'Box')).ref}]")
    assert set((await browser.find("checkbox", "Box")).states) == {"checked", "focused"}


@in_browser
async def test_a_huge_page_is_read_and_clicked(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<div id=all></div><script>all.innerHTML = Array.from({length: 20000},"
            "(_, i) => `<button onclick=\"this.textContent='done'\">b${i}</button>`).join('')</script>"
        )
    )
    seen = await browser.see()
    assert len(seen.elements) == 20_000
    await browser.do(f"click [{seen.elements[19_999].ref}]")
    assert (await browser.see()).elements[19_999].name == "done"


@in_browser
async def test_a_replaced_document_is_read_anew(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<button onclick=\"document.open(); document.write('<p>written anew</p>'); document.close()\">"
            "write</button>"
        )
    )
    await browser.do(f"click [{(await browser.find('button', 'write')).ref}]")
    assert "written anew" in await browser.words()
    await browser.js("document.documentElement.replaceWith(document.createElement('html'))")
    assert (await browser.see()).elements == ()


@in_browser
async def test_the_element_at_a_point_is_found_inside_frames(browser: Browsing, site: Site) -> None:
    inner = site.page("<style>body{margin:0}</style><button>deep</button>")
    await browser.open(
        site.page(f"<iframe style='border:10px solid;margin:20px' src='{site.elsewhere(inner)}'></iframe>")
    )
    button = await browser.find("button", "deep")
    found = await browser.tabs.current.element_at(*button.box.centre)
    assert found is not None
    assert found["ref"] == button.ref
    assert abs(found["box"]["x"] - button.box.x) < 1
    assert abs(found["box"]["y"] - button.box.y) < 1


@in_browser
async def test_what_is_read_again_is_what_would_be_read_anew(browser: Browsing, site: Site) -> None:
    words = "".join(f"<p>{number} 👍 words</p>" for number in range(30))
    await browser.open(
        site.page(f"<p id=p>👍</p><button id=b>b</button>{words}<div style='height:3000px'></div>")
    )
    page, capturer = browser.tabs.current, browser.capturer
    await capturer.capture(page)
    for script in (
        "p.textContent = 'other'",
        "p.textContent = '👍 👎'",
        "p.textContent = '👎👎'",
        "scrollTo(0, 100)",
        "document.body.prepend(document.createElement('hr'), b)",
        "document.body.append('at the end', document.createElement('hr'))",
        "p.remove()",
        "document.body.textContent = ''",
    ):
        await browser.js(f"{{ {script} }}; 0")
        again = await capturer.capture(page)
        anew = await Capturer(pictures=False).capture(page)
        assert again.observation == anew.observation, script
        assert again.html == anew.html == await browser.js("document.documentElement.outerHTML"), script


@in_browser
async def test_half_a_surrogate_pair_is_read_as_a_replacement_character(
    browser: Browsing, site: Site
) -> None:
    await browser.open(site.page("<p id=p>words</p>"))
    await browser.js(r"p.textContent = 'a\ud83d \\ud83d'; 0")
    assert [e.name for e in (await browser.see()).elements] == ["a\ufffd \\ud83d"]


@in_browser
async def test_reading_wakes_nothing_of_the_page_and_keeps_what_is_for_browsers_without_scripts(
    browser: Browsing, site: Site
) -> None:
    await browser.open(
        site.page(
            "<x-counted></x-counted><noscript><img src=x>&amp;</noscript><script>var made = 0;"
            "customElements.define('x-counted', class extends HTMLElement { constructor() { super(); made++ } })"
            "</script>"
        )
    )
    capture = await browser.capturer.capture(browser.tabs.current)
    assert await browser.js("made") == 1
    assert "<x-counted></x-counted><noscript><img src=x>&amp;</noscript></body>" in capture.html


@in_browser
async def test_each_cell_of_a_table_stands_under_its_head(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<style>table { border-spacing: 0 } td { padding: 0 }</style><table><tr><th>Name<th>Phone<th>City</tr>"
            "<tr><td>Kari<td><td>Oslo</tr><tr><td rowspan=2>Ada<td colspan=2>none</tr><tr><td><td>Bergen</tr></table>"
            "<div role=table><div role=row><span role=cell>Eva</span><span role=cell></span><span role=cell>Rome</span>"
            "</div></div>"
        )
    )
    assert _lines(await browser.words()) == [
        "table",
        *("row", 'columnheader "Name"', 'columnheader "Phone"', 'columnheader "City"'),
        *("row", 'cell "Kari"', "cell", 'cell "Oslo"'),
        *("row", 'cell "Ada"', 'cell "none"'),
        *("row", "cell column 2", 'cell "Bergen" column 3'),
        *("table", "row", 'cell "Eva"', "cell", 'cell "Rome"'),
    ]


@in_browser
async def test_a_box_that_answers_clicks_is_not_told_by_the_words_of_its_neighbours(
    browser: Browsing, site: Site
) -> None:
    await browser.open(
        site.page(
            "<style>tr, li, .box { cursor: pointer }</style><table><tr><td>Kari<td>1</tr><tr><td>Ada<td>2</tr></table>"
            "<ul><li><b>One</b></li><li></li></ul>"
            "<div class=box style='width:9px;height:9px'></div><ul><li>Three</li></ul>"
            "<span>Colour</span><span class=box style='display:inline-block;width:9px;height:9px'></span>"
        )
    )
    words = await browser.words()
    assert 'beside "Colour"' in words
    assert words.count("beside") == 1, words


@in_browser
async def test_a_label_is_told_where_its_control_is_named_by_something_else(
    browser: Browsing, site: Site
) -> None:
    await browser.open(
        site.page(
            "<label for=c>Country</label><button id=c aria-labelledby=v><span id=v>Norway</span></button>"
            "<label for=d>City</label><input id=d aria-label='City of birth'>"
            "<label>Fruit Apple<input aria-label=Fruit></label>"
        )
    )
    assert _lines(await browser.words()) == [
        'text "Country"',
        'button "Norway"',
        'textbox "City of birth"',
        'textbox "Fruit"',
    ]


STYLES = {
    "plainly": ".s::after { content: ' more' }",
    "of an attribute": ".s::after { content: ' ' attr(data-more) }",
    "of a variable": ":root { --more: ' more' } .s::after { content: var(--more) }",
    "with words for readers": ".s::after { content: '→' / 'more' }",
    "in a media query": "@media (min-width: 1px) { .s::after { content: ' more' } }",
    "in a nested rule": ".s { &::after { content: ' more' } }",
    "as a block": ".s::after { content: 'more'; display: block }",
    "beside an icon": r".s::before { content: '\f101' } .s::after { content: ' more' }",
}


@in_browser
async def test_words_that_a_style_sheet_writes_are_part_of_a_name(browser: Browsing, site: Site) -> None:
    """Each style has a class, a button and a link of its own here."""
    styles = "".join(re.sub(r"\.s\b", f".s{at}", style) for at, style in enumerate(STYLES.values()))
    pairs = "".join(
        f"<button class=s{at} data-more=more>Show {how},</button>"
        f"<a href=#><b class=s{at} data-more=more>Read {how},</b></a>"
        for at, how in enumerate(STYLES)
    )
    await browser.open(site.page(f"{pairs}<button>Plain</button>", head=f"<style>{styles}</style>"))
    told = [line for how in STYLES for line in (f'button "Show {how}, more"', f'link "Read {how}, more"')]
    assert _lines(await browser.words()) == [*told, 'button "Plain"']
    for how in STYLES:
        await browser.do(f'click [button "Show {how}, more"]')


@in_browser
async def test_what_a_style_sheet_draws_without_words_is_no_part_of_a_name(
    browser: Browsing, site: Site
) -> None:
    await browser.open(
        site.page(
            "<button class=a>One</button><button class=b>Two</button><button class=c>Three</button>"
            "<button class=d>Four</button><button class=e>Five</button><x-y></x-y><script>"
            "customElements.define('x-y', class extends HTMLElement { constructor() { super();"
            "this.attachShadow({mode: 'open'}).innerHTML ="
            "`<style>.a::after { content: ' inside' }</style><button class=a>Six</button>` } })</script>",
            head=r"<style>.a::before { content: '\f101' } .b::before { content: '' } "
            ".c::before { content: '→ ' / '' } .d::before { content: 'x'; display: none } "
            ".e::before { content: url(x.png) }</style>",
        )
    )
    assert _lines(await browser.words()) == [
        f'button "{name}"' for name in ("One", "Two", "Three", "Four", "Five", "Six inside")
    ]


@in_browser
async def test_what_a_class_says_was_chosen_is_told_as_selected(browser: Browsing, site: Site) -> None:
    classes = {
        "chip chip--selected": True,
        "v-chip v-chip--selected": True,
        "chip is-selected": True,
        "tag active": True,
        "filter-chip active": True,
        "day selected": True,
        "chip": False,
        "chip not-selected": False,
        "chip unselected": False,
        "field active": False,
        "chip selectable": False,
    }
    tags = ("span tabindex=0", "button", "a href=#", "div role=option")
    boxes = [f"<{tag} class='{one}'>{one}</{tag.split()[0]}>" for one in classes for tag in tags]
    told = (
        "<button class=selected aria-pressed=false>button</button>"
        "<div class=selected role=option aria-selected=false>option</div>"
    )
    await browser.open(site.page("".join(boxes) + told))
    seen = await browser.see()
    expected = {*classes.items(), ("button", False), ("option", False)}
    assert {(one.name, "selected" in one.states) for one in seen.elements} == expected


@in_browser
async def test_shapes_that_lie_beyond_their_picture_or_the_page_are_not_offered(
    browser: Browsing, site: Site
) -> None:
    shape = "<rect width=20 height=20 x={} onclick=''><title>{}</title></rect>"
    await browser.open(
        site.page(
            f"<svg width=100 height=50>{shape.format(10, 'in')}{shape.format(500, 'right')}"
            f"<g transform='translate(-90)'>{shape.format(10, 'left')}<text y=20 onclick=''>words</text></g></svg>"
            f"<svg width=100 height=50 style='overflow:visible'>{shape.format(150, 'shown')}</svg>"
            f"<svg style='position:absolute;left:-999px'>{shape.format(10, 'away')}</svg>"
            "<div style='overflow:auto;width:99px' id=box>"
            f"<svg width=900 height=50>{shape.format(10, 'scrolled')}</svg></div><script>box.scrollLeft = 500</script>"
        )
    )
    seen = await browser.see()
    assert [one.name for one in seen.elements if one.uses] == ["in", "shown", "scrolled"]
    await browser.do('click [graphics-symbol "scrolled"]')
