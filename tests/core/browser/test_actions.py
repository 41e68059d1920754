"""What each action does in a page, and the sentence that says why one could not be done."""

from pathlib import Path

import pytest

from core.schema.errors import ActionError
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site

LOG = "<script>const heard = []; const hear = word => heard.push(word)</script>"


@in_browser
async def test_a_double_click_is_one(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page("<button ondblclick=\"hear('double')\" onclick=\"hear('click')\">b</button>", head=LOG)
    )
    await browser.do('double_click [button "b"]')
    assert await browser.js("heard") == ["click", "click", "double"]


@in_browser
async def test_typing_replaces_appends_clears_and_enters(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<form onsubmit=\"hear('sent'); return false\"><input aria-label=f value=old "
            "onkeydown=\"hear('key')\" oninput=\"hear('input')\" onchange=\"hear('change')\"></form>",
            head=LOG,
        )
    )
    field = (await browser.find("textbox", "f")).ref
    await browser.do(f"type [{field}] [new]")
    assert (await browser.find("textbox", "f")).value == "new"
    await browser.do(f"type [{field}] [ and more] [append=1]")
    assert (await browser.find("textbox", "f")).value == "new and more"
    await browser.do(f"type [{field}] []")
    assert (await browser.find("textbox", "f")).value == ""
    await browser.do(f"type [{field}] [åß\u4e16 👍] [enter=1]")
    assert (await browser.find("textbox", "f")).value == "åß\u4e16 👍"
    heard = await browser.js("heard")
    assert heard[-1] == "sent"
    assert {"key", "input", "change"} <= set(heard)


@in_browser
async def test_a_long_text_arrives_whole(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<textarea aria-label=t onkeydown='window.keys = true'></textarea>"))
    text = "word " * 400 + "end"
    await browser.do(f'type [textbox "t"] [{text}]')
    assert await browser.js("[document.querySelector('textarea').value, keys]") == [text, True]


@in_browser
async def test_rich_text_is_typed_into(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page("<div contenteditable role=textbox aria-label=rich>old <b>bold</b></div><p>rest</p>")
    )
    await browser.do('type [textbox "rich"] [new]')
    assert await browser.js("document.querySelector('div').textContent") == "new"
    await browser.do('type [textbox "rich"] [ text] [append=1]')
    assert (await browser.find("textbox", "rich")).value == "new text"


PICKED = {
    "date": "2024-05-31",
    "time": "13:45",
    "month": "2024-05",
    "week": "2024-W22",
    "datetime-local": "2024-05-31T13:45",
    "color": "#ff8800",
    "range": "70",
}


@in_browser
async def test_fields_with_a_picker_take_their_value_whole(browser: Browsing, site: Site) -> None:
    told = "oninput=\"hear('input')\" onchange=\"hear('change')\""
    await browser.open(
        site.page("".join(f"<input id={kind} type={kind} {told}>" for kind in PICKED), head=LOG)
    )
    for kind, value in PICKED.items():
        await browser.do(f'type [xpath=//*[@id="{kind}"]] [{value}]')
        # A slider is brought to its value by a last key.
        assert await browser.js(f"[document.getElementById('{kind}').value, heard.splice(0)]") == [
            value,
            ["input", "change"] * (2 if kind == "range" else 1),
        ]
        if kind != "range":
            with pytest.raises(ActionError, match=r'does not accept "soon"; use a value such as'):
                await browser.do(f'type [xpath=//*[@id="{kind}"]] [soon]')


@in_browser
async def test_options_are_chosen_by_label_value_and_one_by_one(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<select aria-label=one onchange='hear(this.value)'><option value=o>Oslo<option value=r>Rome"
            "<option disabled>Bonn</select><select aria-label=many multiple><option>a<option>b<option>c</select>",
            head=LOG,
        )
    )
    await browser.do('select [combobox "one"] [Rome]')
    await browser.do('select [combobox "one"] [o]')
    assert await browser.js("heard") == ["r", "o"]
    await browser.do('select [listbox "many"] [a]')
    await browser.do('select [listbox "many"] [c]')
    assert (await browser.find("listbox", "many")).value == "a, c"
    with pytest.raises(ActionError, match=r'has no option "Paris"; there are: Oslo \| Rome \| Bonn'):
        await browser.do('select [combobox "one"] [Paris]')
    with pytest.raises(ActionError, match='has the option "Bonn", but it is disabled'):
        await browser.do('select [combobox "one"] [Bonn]')


@in_browser
async def test_boxes_are_checked_and_cleared_once(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<label><input type=checkbox onclick=\"hear('c')\"> a</label>"
            "<label><input type=radio name=r> x</label>"
            "<div role=checkbox aria-checked=false tabindex=0 aria-label=own "
            "onclick=\"this.setAttribute('aria-checked', true)\">own</div><button>none</button>",
            head=LOG,
        )
    )
    for _ in range(2):
        await browser.do('check [checkbox "a"]')
    assert "checked" in (await browser.find("checkbox", "a")).states
    await browser.do('check [checkbox "a"] [checked=0]')
    assert await browser.js("heard") == ["c", "c"]
    await browser.do('check [radio "x"]')
    with pytest.raises(ActionError, match="choose another one of its group"):
        await browser.do('check [radio "x"] [checked=0]')
    await browser.do('check [checkbox "own"]')
    assert "checked" in (await browser.find("checkbox", "own")).states
    with pytest.raises(ActionError, match="not a box that can be checked"):
        await browser.do('check [button "none"]')


@in_browser
async def test_things_are_dragged_by_mouse_and_by_the_drag_protocol(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<div id=a draggable=true role=button aria-label=a>drag me</div>"
            "<div id=z role=button aria-label=z style='margin-top:200px;height:50px'>here</div>"
            '<div id=m role=button aria-label=m onmousedown="held = true">mouse</div><script>var held = false;'
            "a.ondragstart = e => e.dataTransfer.setData('text', 'gift'); z.ondragover = e => e.preventDefault();"
            "z.ondrop = e => hear(e.dataTransfer.getData('text'));"
            "z.onmouseup = () => held && hear('moved')</script>",
            head=LOG,
        )
    )
    await browser.do('drag [button "a"] [button "z"]')
    await browser.do('drag [button "m"] [button "z"]')
    assert await browser.js("heard") == ["gift", "moved"]


@in_browser
async def test_files_are_given_to_fields_and_to_their_labels(
    browser: Browsing, site: Site, tmp_path: Path
) -> None:
    path = tmp_path / "a b.txt"
    path.write_text("x")
    await browser.open(
        site.page(
            "<input type=file aria-label=up onchange='hear(this.files[0].name)'>"
            "<label>Photo<input type=file style='display:none' onchange='hear(this.files[0].size)'></label>",
            head=LOG,
        )
    )
    await browser.do(f'upload [button "up"] [{path}]')
    label = next(e for e in (await browser.see()).elements if e.name == "Photo")
    assert label.uses == ("upload",)
    await browser.do(f"upload [{label.ref}] [{path}]")
    assert await browser.js("heard") == ["a b.txt", 1]
    with pytest.raises(ActionError, match="The file to upload does not exist"):
        await browser.do(f'upload [button "up"] [{tmp_path}/none]')


UPLOADS = """
    <span role=button tabindex=0 class="ant-upload" onclick="this.querySelector('input').click()">
      <input type=file hidden onclick="event.stopPropagation()" onchange="hear('ant ' + this.files[0].name)">
      <button type=button>Click to upload</button></span>
    <section><input type=file style="position:absolute;width:1px;height:1px;opacity:0"
      onchange="hear('browse ' + this.files[0].name)">
      <button onclick="this.previousElementSibling.click()">Browse files</button></section>
    <div class="dropzone dz-clickable" onclick="pick()" style="height:40px">Drop files here to upload</div>
    <p><input type=file hidden><button>Save</button><button>Cancel</button></p>
    <script>function pick() {
        const field = document.body.appendChild(document.createElement("input"));
        field.type = "file"; field.className = "dz-hidden-input"; field.style.visibility = "hidden";
        field.onchange = () => hear("dropped " + field.files[0].name);
        field.click();
    }</script>"""


@in_browser
async def test_files_are_given_where_a_button_or_a_drop_zone_asks_for_them(
    browser: Browsing, site: Site, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("x")
    await browser.open(site.page(UPLOADS, head=LOG))
    # The field that is drawn one pixel large is told as well, without a name.
    offered = [one for one in (await browser.see()).elements if "upload" in one.uses and one.name]
    assert {one.name for one in offered} == {"Click to upload", "Browse files", "Drop files here to upload"}
    for one in offered:
        await browser.do(f"upload [{one.ref}] [{path}]")
    heard = await browser.js("heard")
    assert {"ant a.txt", "browse a.txt", "dropped a.txt"} == set(heard)
    with pytest.raises(
        ActionError, match=r'button "Save" is not a file field, and clicking it opened no file dialog'
    ):
        await browser.do(f'upload [button "Save"] [{path}]')
    assert browser.events() == []


@in_browser
async def test_pages_and_boxes_scroll(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<div id=box tabindex=0 style='height:100px;overflow:auto'><div style='height:900px'>in</div></div>"
            "<div style='height:3000px'></div>"
        )
    )
    await browser.do("scroll [down]")
    assert (await browser.see()).scroll[1] > 400
    await browser.do("scroll [up]")
    assert (await browser.see()).scroll[1] == 0
    await browser.do("scroll [down] [xpath=//*[@id='box']]")
    assert await browser.js("box.scrollTop") == 80
    with pytest.raises(ActionError, match="cannot scroll further up"):
        await browser.do("scroll [up]")


@in_browser
async def test_keys_chords_and_hover_reach_the_page(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<input aria-label=f value=abc><button onmouseenter=\"hear('over')\">b</button>"
            "<script>onkeydown = e => hear((e.ctrlKey ? 'ctrl+' : '') + e.key)</script>",
            head=LOG,
        )
    )
    await browser.do('hover [button "b"]')
    await browser.do('click [textbox "f"]')
    await browser.do("press [ctrl+a]")
    await browser.do("press [Delete]")
    await browser.do("type [focus] [x]")
    await browser.do("press [Tab]")
    assert await browser.js("heard") == ["over", "ctrl+Control", "ctrl+a", "Delete", "x", "Tab"]
    assert (await browser.find("textbox", "f")).value == "x"
    assert "focused" in (await browser.find("button", "b")).states
    with pytest.raises(ActionError, match='"Foo" is not a key'):
        await browser.do("press [Foo]")


@in_browser
async def test_a_click_gives_the_focus_and_takes_it(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<input aria-label=a onfocus=\"hear('a in')\" onblur=\"hear('a out')\"><input aria-label=b>",
            head=LOG,
        )
    )
    await browser.do('click [textbox "a"]')
    await browser.do('click [textbox "b"]')
    assert await browser.js("[document.hasFocus(), heard]") == [True, ["a in", "a out"]]


@in_browser
async def test_history_goes_back_and_forward(browser: Browsing, site: Site) -> None:
    one, two = site.page("<p>one"), site.page("<p>two")
    await browser.open(one)
    await browser.open(two)
    await browser.do("go_back")
    assert "one" in await browser.words()
    assert (await browser.see()).url == one
    await browser.do("go_forward")
    assert "two" in await browser.words()
    with pytest.raises(ActionError, match="no page to go forward to"):
        await browser.do("go_forward")


@in_browser
async def test_tabs_are_opened_focused_and_closed(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<p>first"))
    await browser.do("new_tab")
    await browser.do(f"goto [{site.page('<p>second')}]")
    assert [tab.current for tab in (await browser.see()).tabs] == [False, True]
    await browser.do("tab_focus [0]")
    assert "first" in await browser.words()
    await browser.do("tab_focus [1]")
    await browser.do("close_tab")
    seen = await browser.see()
    assert "first" in seen.lines()
    assert len(seen.tabs) == 1
    with pytest.raises(ActionError, match="only tab"):
        await browser.do("close_tab")
    with pytest.raises(ActionError, match=r"no tab 4; there are 1"):
        await browser.do("tab_focus [4]")


FAULTY = """
<button disabled>off</button><button id=unseen style='visibility:hidden'>b</button>
<button id=gone style='display:none'>b</button><button>twin</button><button>twin</button><button>Go</button>
<i>1</i><i>2</i><i>3</i>
<p>words</p><input readonly aria-label=f><select aria-label=s><option>o</select>"""
FAILURES = {
    "type [focus] [x]": "Nothing has the keyboard focus",
    'click [button "off"]': "is disabled",
    "click [xpath=//*[@id='unseen']]": "is not visible",
    "click [xpath=//*[@id='gone']]": "is not visible",
    'click [button "twin"]': "2 elements match",
    "click [xpath=//i]": "3 elements match the XPath //i",
    "click [xpath=//u]": "There is no the XPath|There is no .*//u",
    "click [xpath=//i//]": "is not a valid XPath",
    "click [4711]": "is not in this page",
    "type [xpath=//p] [x]": "is not a field that takes text",
    'type [textbox "f"] [x]': "is read-only",
    "click [xpath=//option]": "is not visible|is an option",
    'select [button "Go"] [x]': "is not a select",
    "goto [javascript:alert(1)]": "javascript: addresses cannot be opened",
    "goto [http://127.0.0.1:9]": "refuses that port|no server answers",
    "goto [http://]": "is not a web address",
    "goto [http://nowhere.invalid/]": "host name cannot be found|no network",
}


@in_browser
async def test_a_failure_says_why_and_the_browser_goes_on(browser: Browsing, site: Site) -> None:
    await browser.open(site.page(FAULTY))
    for action, sentence in FAILURES.items():
        with pytest.raises(ActionError, match=sentence):
            await browser.do(action)
    cover = "<div aria-label=cover role=dialog style='position:fixed;inset:0'></div>"
    await browser.open(site.page(f"<button>b</button>{cover}"))
    with pytest.raises(ActionError, match='is covered by dialog "cover"'):
        await browser.do('click [button "b"]')
    await browser.open(site.page("<p>goes on"))
    assert "goes on" in await browser.words()


@in_browser
async def test_an_element_that_has_gone_is_said_to_be_gone(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<button>b</button>"))
    ref = (await browser.find("button")).ref
    await browser.js("document.querySelector('button').remove()")
    with pytest.raises(ActionError, match="is no longer in the page"):
        await browser.do(f"click [{ref}]")


@in_browser
async def test_a_cover_over_a_frame_is_noticed(browser: Browsing, site: Site) -> None:
    inner = site.page("<button>in</button>")
    await browser.open(
        site.page(
            f"<iframe src='{site.elsewhere(inner)}'></iframe>"
            "<div role=dialog aria-label=veil style='position:fixed;inset:0'></div>"
        )
    )
    button = await browser.find("button", "in")
    with pytest.raises(ActionError, match='is covered by dialog "veil"'):
        await browser.do(f"click [{button.ref}]")


@pytest.mark.usefixtures("impatient")
@in_browser
async def test_waiting_ends_with_a_change_and_is_no_hang(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page("<p>still</p><script>setTimeout(() => document.body.append('!'), 300)</script>")
    )
    await browser.do("wait [30]")
    assert "!" in await browser.words()
    await browser.do("wait [1.5]")
    assert browser.events() == []


HOVER = {
    "replaced by one like it": (
        "<div id=w><button id=b aria-label=like onclick=\"hear('old')\">o</button></div><script>"
        "b.onmouseenter = () => { w.innerHTML = '<button aria-label=like>*</button>';"
        " w.firstChild.onclick = () => hear('new') }</script>"
    ),
    "replaced by another icon in its place": (
        "<style>i{display:inline-block;width:30px;height:30px;cursor:pointer}</style><div id=w>"
        "<i id=b aria-label=like class=empty></i></div><script>"
        "b.onmouseenter = () => { w.innerHTML = '<i class=full></i>';"
        " w.firstChild.onclick = () => hear('new') }</script>"
    ),
    "hidden, with another shown": (
        "<style>div:hover .a, div .b {display:none} div:hover .b {display:inline}</style><div style='width:60px'>"
        "<button class=a aria-label=like onclick=\"hear('old')\">o</button>"
        "<button class=b aria-label=like onclick=\"hear('new')\">*</button></div>"
    ),
    "replaced a moment later, and elsewhere": (
        "<div id=w><button id=b aria-label=like>o</button></div><script>"
        "b.onmouseenter = () => { w.dataset.over = 1; requestAnimationFrame(() => {"
        " w.innerHTML = '<button aria-label=like style=\"margin:200px\">*</button>';"
        " w.firstChild.onclick = () => hear('new') }) }</script>"
    ),
}


@in_browser
async def test_what_gives_way_under_the_pointer_is_followed_and_said(browser: Browsing, site: Site) -> None:
    for how, body in HOVER.items():
        await browser.open(site.page(body, head=LOG))
        target = next(e for e in (await browser.see()).elements if e.name == "like")
        located = await browser.do(f"click [{target.ref}]")
        assert await browser.js("heard") == ["new"], how
        assert located is not None
        said = f'Under the pointer {target.role} "like" was replaced by {target.role}'
        assert located.note.startswith(said), how


@in_browser
async def test_what_moves_under_the_pointer_is_clicked_where_it_is_then(
    browser: Browsing, site: Site
) -> None:
    moving = site.page(
        "<button id=b style='position:absolute;left:0;top:0' onclick=\"hear('hit')\">b</button>"
        "<script>b.onmouseenter = () => { b.style.top = '150px' }</script>",
        head=LOG,
    )
    await browser.open(moving)
    located = await browser.do('click [button "b"]')
    assert await browser.js("heard") == ["hit"]
    assert located is not None
    assert located.note == ""
    await browser.open(site.page(f"<iframe src='{site.elsewhere(moving)}' height=300></iframe>"))
    await browser.do(f"click [{(await browser.find('button', 'b')).ref}]")
    frame = browser.tabs.current.playwright_page.frames[1]
    assert await frame.evaluate("heard") == ["hit"]


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (
            "b.onmouseenter = () => { v.hidden = false }",
            'is covered by dialog "veil" when the pointer is over',
        ),
        ("b.onmouseenter = () => b.remove()", "goes away when the pointer is over"),
        (
            "b.onmouseenter = () => { b.style.left = b.offsetLeft + 150 + 'px' }",
            "moves away from the pointer",
        ),
    ],
)
@pytest.mark.whole_chromium  # The headless shell tells the page of the pointer before it answers that it moved.
@in_browser
async def test_what_cannot_be_clicked_once_the_pointer_is_there_is_not(
    browser: Browsing, site: Site, script: str, sentence: str
) -> None:
    await browser.open(
        site.page(
            "<button id=b style='position:absolute;left:0;top:0' onclick=\"hear('hit')\">b</button>"
            "<div id=v hidden role=dialog aria-label=veil style='position:fixed;inset:0'"
            f" onclick=\"hear('veil')\"></div><script>{script}</script>",
            head=LOG,
        )
    )
    with pytest.raises(ActionError, match=sentence):
        await browser.do('click [button "b"]')
    assert await browser.js("heard") == []


@in_browser
async def test_a_covered_place_can_be_dropped_on_and_a_covered_thing_not_dragged(
    browser: Browsing, site: Site
) -> None:
    covered = site.page(
        "<div id=m role=button aria-label=m style='width:80px'>mouse</div>"
        "<div style='position:relative;margin-top:100px'><div id=z role=button aria-label=z>here</div>"
        "<div id=v role=button aria-label=veil style='position:absolute;inset:0'></div></div>"
        "<script>var held = false; m.onmousedown = () => { held = true };"
        "v.onmouseup = () => held && hear('dropped')</script>",
        head=LOG,
    )
    await browser.open(covered)
    await browser.do('drag [button "m"] [button "z"]')
    assert await browser.js("[heard, scrollY]") == [["dropped"], 0]
    with pytest.raises(ActionError, match='is covered by button "veil"'):
        await browser.do('drag [button "z"] [button "m"]')
    await browser.js("z.style.display = 'none'")
    with pytest.raises(ActionError, match="is not visible"):
        await browser.do('drag [button "m"] [xpath=//*[@id="z"]]')
    await browser.open(site.page(f"<p>words</p><iframe src='{site.elsewhere(covered)}' height=300></iframe>"))
    seen = {e.name: e.ref for e in (await browser.see()).elements}
    await browser.do(f"drag [{seen['m']}] [{seen['z']}]")
    assert await browser.tabs.current.playwright_page.frames[1].evaluate("heard") == ["dropped"]


@in_browser
async def test_a_slider_whose_keys_go_to_a_part_of_it_is_set(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<div role=slider aria-label=Volume aria-valuemin=0 aria-valuemax=100 aria-valuenow=30 id=s>"
            "<div tabindex=0 style='width:200px;height:20px;background:#acf' onkeydown=\"const by = "
            '{ArrowRight: 5, ArrowLeft: -5}[event.key] ?? 0; s.ariaValueNow = Number(s.ariaValueNow) + by"></div></div>'
        )
    )
    await browser.do('type [slider "Volume"] [75]')
    assert (await browser.find("slider", "Volume")).value == "75"


LATE_LISTS = {
    "after a while": "setTimeout(() => fill(ANIMALS.filter(one => one.toLowerCase().startsWith(field.value))), 300)",
    "from a server": (
        "fetch('/slow?seconds=0.8').then(() => fill(ANIMALS.filter(one => one.toLowerCase().startsWith(field.value))))"
    ),
    "at once": "fill(ANIMALS.filter(one => one.toLowerCase().startsWith(field.value)))",
}


@pytest.mark.parametrize(
    ("how", "enter"),
    [("after a while", True), ("from a server", False), ("from a server", True), ("at once", False)],
)
@in_browser
async def test_what_is_typed_waits_for_the_list_that_it_filters(
    browser: Browsing, site: Site, how: str, enter: bool
) -> None:
    await browser.open(
        site.page(
            "<input id=field role=combobox aria-label=Animal aria-expanded=true><ul role=listbox id=list></ul><script>"
            "const ANIMALS = ['Ant', 'Cat', 'Camel'];"
            "const fill = words => list.replaceChildren(...words.map(word => Object.assign("
            "document.createElement('li'), { role: 'option', textContent: word })));"
            "fill(ANIMALS);"
            f"field.oninput = () => {{ {LATE_LISTS[how]} }};"
            "field.onkeydown = event => { if (event.key === 'Enter') document.title = list.firstChild.textContent };"
            "</script>"
        )
    )
    await browser.do(f'type [combobox "Animal"] [ca] [enter={int(enter)}]')
    if enter:
        assert await browser.js("document.title") == "Cat"
    else:
        assert [one.name for one in (await browser.see()).elements if one.role == "option"] == [
            "Cat",
            "Camel",
        ]


@in_browser
async def test_local_storage_of_an_origin_is_set_before_its_server_is_asked_for_anything(
    browser: Browsing, site: Site
) -> None:
    url = site.page("<script>document.title = [localStorage.theme, localStorage.length].join(' ')</script>")
    await browser.driver.set_local_storage(site.home, {"theme": 'dark "1"', "other": "2"})
    await browser.open(url)
    assert await browser.js("document.title") == 'dark "1" 2'


@in_browser
async def test_an_answer_is_for_the_questions_of_the_next_action_alone(browser: Browsing, site: Site) -> None:
    body = (
        "<button onclick=\"document.title = confirm('Sure?') + ' ' + prompt('Who?', 'nobody')\">Ask</button>"
        "<button onclick=\"document.title = 'other'\">Other</button>"
    )
    await browser.open(site.page(body))
    await browser.see()

    async def titled(*actions: str) -> str:
        for action in actions:
            await browser.do(action)
        return str(await browser.js("document.title"))

    ask = 'click [button "Ask"]'
    assert await titled("answer_dialog [dismiss]", "answer_dialog [accept] [Ada]", ask) == "false Ada"
    assert await titled(ask) == "true nobody"
    assert await titled("answer_dialog [dismiss]", 'click [button "Other"]', ask) == "true nobody"
