"""What an observation holds: everything a person could see or use, and refs that stay with it."""

import pytest

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
    assert seen.page_size[1] > 3000
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


@pytest.mark.parametrize(
    "script",
    [
        "p.textContent = 'other'",
        "p.textContent = '👍 👎'",
        "p.textContent = '👎👎'",
        "p.remove()",
        "document.body.prepend(document.createElement('hr'), b)",
        "document.body.append('at the end', document.createElement('hr'))",
        "document.body.textContent = ''",
        "scrollTo(0, 100)",
    ],
)
@in_browser
async def test_what_is_read_again_is_what_would_be_read_anew(
    browser: Browsing, site: Site, script: str
) -> None:
    words = "".join(f"<p>{number} 👍 words</p>" for number in range(30))
    await browser.open(
        site.page(f"<p id=p>👍</p><button id=b>b</button>{words}<div style='height:3000px'></div>")
    )
    page, capturer = browser.tabs.current, browser.capturer
    await capturer.capture(page)
    await browser.js(f"{{ {script} }}; 0")
    again = await capturer.capture(page)
    anew = await Capturer(pictures=False).capture(page)
    assert again.observation == anew.observation
    assert again.html == anew.html == await browser.js("document.documentElement.outerHTML")


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
