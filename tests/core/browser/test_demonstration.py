"""What a person does in a page, recorded as actions: each once, and nothing that only prepares another."""

import asyncio

import pytest

from core.browser.demonstration import Demonstration, HumanAction
from core.schema.observation import Observation
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site

FORM = """
<label>Name <input id=n></label> <label>Secret <input type=password></label>
<label><input type=checkbox> Gift</label>
<label>Size <select><option>S<option>M</select></label>
<textarea aria-label=Notes></textarea>
<div contenteditable aria-label=Rich role=textbox>old</div>
<button><b>Save</b></button> <a href="#there">There</a>
<p onclick="this.textContent = 'hit'">Plain words</p>
"""


async def recorded(browser: Browsing, demonstration: Demonstration, *actions: str) -> list[str]:
    """Do the actions with real mouse and keys; return what was recorded, as actions by role and name."""
    for text in actions:
        page = await browser.see()
        for element in page.elements:
            text = text.replace(f"<{element.name}>", str(element.ref))
        await browser.do(text)
    page = await browser.see()
    await demonstration.stop()
    found = []
    while not demonstration.human_actions.empty():
        human_action = demonstration.human_actions.get_nowait()
        if human_action.kind == "look":
            continue
        action = human_action.action(page)
        words = str(action)
        for element in page.elements:
            words = words.replace(f"[{element.ref}]", f"[{element.name}]", 1)
        found.append(words)
    return found


async def demonstrating(browser: Browsing, site: Site, body: str) -> Demonstration:
    await browser.open(site.page(body))
    await browser.see()
    demonstration = Demonstration()
    await demonstration.follow(browser.tabs.current)
    return demonstration


@in_browser
async def test_a_password_is_recorded_as_bullets_also_while_the_page_shows_it(
    browser: Browsing, site: Site
) -> None:
    shows = "<button onclick=\"document.querySelector('[type=password]').type = 'text'\">Show</button>"
    demonstration = await demonstrating(browser, site, FORM + shows)
    found = await recorded(
        browser, demonstration, "type [<Secret>] [hunter2]", "click [<Show>]", "type [<Secret>] [hunter23]"
    )
    assert found == ["type [Secret] [•••••••]", "click [Show]", "type [Secret] [••••••••]"]


@in_browser
async def test_typing_is_one_action_reported_when_the_field_is_left(browser: Browsing, site: Site) -> None:
    demonstration = await demonstrating(browser, site, FORM)
    found = await recorded(
        browser, demonstration, "click [<Name>]", "press [A]", "press [d]", "click [<Save>]"
    )
    assert found == ["type [Name] [Ad]", "click [Save]"]


@in_browser
async def test_what_was_typed_last_is_reported_at_the_end(browser: Browsing, site: Site) -> None:
    demonstration = await demonstrating(browser, site, FORM)
    assert await recorded(browser, demonstration, "type [<Notes>] [two words]") == [
        "type [Notes] [two words]"
    ]


@in_browser
async def test_enter_in_a_field_is_the_text_and_then_the_key(browser: Browsing, site: Site) -> None:
    demonstration = await demonstrating(browser, site, FORM)
    found = await recorded(browser, demonstration, "type [<Name>] [Ada]", "press [Enter]")
    assert found == ["type [Name] [Ada]", "press [Enter]"]


@in_browser
async def test_buttons_keys_and_places_of_the_mouse_are_recorded(browser: Browsing, site: Site) -> None:
    body = (
        "<style>body { margin: 0 }</style><canvas width=200 height=100 aria-label=Map tabindex=0 "
        "oncontextmenu='return false'></canvas><button oncontextmenu='return false'>Save</button>"
    )
    demonstration = await demonstrating(browser, site, body)
    actions = ("right_click [<Save>]", "click [<Save>] [keys=Control+Shift]", "click [<Map>] [at=0.25,0.5]")
    found = await recorded(browser, demonstration, *actions)
    assert found == [text.replace("<", "").replace(">", "") for text in actions]


@in_browser
async def test_what_was_done_in_a_new_tab_before_it_is_listened_to_is_reported_as_lost(
    browser: Browsing, site: Site
) -> None:
    opens = f"<a target=_blank href='{site.page(FORM)}'>Open</a>"
    for before, wanted in ((("click [<Save>]",), ["lost"]), ((), [])):
        demonstration = await demonstrating(browser, site, opens)
        for text in ("click [<Open>]", *before):
            for element in (await browser.see()).elements:
                text = text.replace(f"<{element.name}>", str(element.ref))
            await browser.do(text)
        await demonstration.follow(browser.tabs.current)
        found = [demonstration.human_actions.get_nowait() for _ in range(demonstration.human_actions.qsize())]
        await demonstration.stop()
        assert [one.kind for one in found if one.kind not in ("look", "click")] == wanted


@in_browser
async def test_of_a_list_of_several_what_was_chosen_and_taken_back_is_recorded(
    browser: Browsing, site: Site
) -> None:
    body = "<select multiple aria-label=List size=3><option selected>a<option>b<option>c</select>"
    demonstration = await demonstrating(browser, site, body)
    await browser.js("document.querySelector('select').focus()")
    found = await recorded(browser, demonstration, "press [End]", "press [Shift+ArrowUp]")
    assert found == [
        "select [List] [a] [selected=0]",
        "select [List] [c]",
        "select [List] [b]",
    ]


@in_browser
async def test_enter_in_a_form_is_the_key_and_no_click_on_its_button(browser: Browsing, site: Site) -> None:
    form = "<form onsubmit='return false'><label>City <input></label> <button>Send</button></form>"
    demonstration = await demonstrating(browser, site, form)
    found = await recorded(browser, demonstration, "type [<City>] [Rome]", "press [Enter]", "click [<Send>]")
    assert found == ["type [City] [Rome]", "press [Enter]", "click [Send]"]


@in_browser
async def test_what_a_script_writes_into_a_field_is_not_reported_as_typing(
    browser: Browsing, site: Site
) -> None:
    body = (
        "<input aria-label=City id=c> <ul onclick=\"c.value = 'Rome'\"><li>Rome</li><li>Romford</li></ul>"
        "<button>Save</button>"
    )
    demonstration = await demonstrating(browser, site, body)
    found = await recorded(
        browser, demonstration, "type [<City>] [Rom]", "click [<Romford>]", "click [<Save>]"
    )
    assert found == ["type [City] [Rom]", "click [Romford]", "click [Save]"]


@in_browser
async def test_what_came_up_since_the_page_was_read_is_looked_at_before_it_is_clicked(
    browser: Browsing, site: Site
) -> None:
    body = "<button onclick=\"menu.innerHTML = '<a href=#x>Entry</a>'\">Menu</button><p id=menu></p>"
    demonstration = await demonstrating(browser, site, body)
    page = await browser.see()
    await browser.do(f"click [{next(one.ref for one in page.elements if one.name == 'Menu')}]")
    await browser.do("hover [xpath=//a]")
    kinds = []
    while "look" not in kinds:
        kinds.append((await asyncio.wait_for(demonstration.human_actions.get(), 30)).kind)
    assert kinds == ["click", "look"]
    await demonstration.stop()


@in_browser
async def test_a_look_that_follows_a_click_is_no_action_that_waits(browser: Browsing, site: Site) -> None:
    body = "<button onclick=\"menu.innerHTML = '<a href=#x>Entry</a>'\">Menu</button><p id=menu></p>"
    demonstration = await demonstrating(browser, site, body)
    await browser.do('click [button "Menu"]')
    await browser.do("hover [xpath=//a]")
    taken = [(await asyncio.wait_for(demonstration.take(), 30)).kind]
    assert not demonstration.waiting
    await browser.do('click [button "Menu"]')
    async with asyncio.timeout(30):
        while taken.count("click") < 2:
            taken.append((await demonstration.take()).kind)
    assert "look" in taken
    assert not demonstration.waiting
    await demonstration.stop()


@in_browser
async def test_a_box_and_a_choice_are_recorded_with_what_they_hold(browser: Browsing, site: Site) -> None:
    demonstration = await demonstrating(browser, site, FORM)
    found = await recorded(
        browser, demonstration, "click [<Gift>]", "check [<Gift>] [checked=0]", "click [<There>]"
    )
    assert found == ["check [Gift]", "check [Gift] [checked=0]", "click [There]"]


@in_browser
async def test_a_click_on_a_part_is_one_on_what_is_used(browser: Browsing, site: Site) -> None:
    demonstration = await demonstrating(browser, site, FORM)
    assert await recorded(browser, demonstration, "click [<Save>]", "click [<Plain words>]") == [
        "click [Save]",
        "click [hit]",
    ]


@in_browser
async def test_what_scripts_do_by_themselves_is_not_reported(browser: Browsing, site: Site) -> None:
    demonstration = await demonstrating(
        browser,
        site,
        FORM + "<script>setInterval(() => document.querySelector('button').click(), 5)</script>",
    )
    await asyncio.sleep(0.1)
    await demonstration.stop()
    assert demonstration.human_actions.empty()


@in_browser
async def test_it_goes_on_in_the_next_document_and_ends_when_it_is_told_to(
    browser: Browsing, site: Site
) -> None:
    second = site.page("<button>Second</button>")
    demonstration = await demonstrating(browser, site, f'<a href="{second}">Next</a>')
    page = await browser.see()
    await browser.do(f"click [{next(one.ref for one in page.elements if one.name == 'Next')}]")
    page = await browser.see()
    button = next(one.ref for one in page.elements if one.name == "Second")
    await browser.do(f"click [{button}]")
    await demonstration.stop()
    await browser.do(f"click [{button}]")
    human_actions = [
        demonstration.human_actions.get_nowait() for _ in range(demonstration.human_actions.qsize())
    ]
    assert [(human_action.kind, human_action.label) for human_action in human_actions] == [
        ("click", 'link "Next"'),
        ("click", 'button "Second"'),
    ]


@pytest.mark.parametrize(
    ("human_action", "words"),
    [
        (HumanAction(kind="click", xpath="//button"), "click"),
        (HumanAction(kind="press", keys="Control+a"), "press [Control+a]"),
        (HumanAction(kind="click"), "None"),
        (HumanAction(kind="drag", xpath="//b"), "None"),
    ],
)
def test_an_element_that_was_not_seen_is_named_by_its_place(human_action: HumanAction, words: str) -> None:
    assert str(human_action.action(Observation(url="x"))).startswith(words)


@in_browser
async def test_a_pause_in_typing_is_reported_as_a_look(browser: Browsing, site: Site) -> None:
    demonstration = await demonstrating(browser, site, FORM)
    page = await browser.see()
    await browser.do(f"type [{next(one.ref for one in page.elements if one.name == 'Name')}] [Ada]")
    human_action = await asyncio.wait_for(demonstration.human_actions.get(), 30)
    assert (human_action.kind, human_action.action(page)) == ("look", None)
    await demonstration.stop()


FRAME_FORM = "<label>Name <input></label><button>Save</button>"
FRAMES = {
    "of another site": "<iframe src='{other}'></iframe>",
    "with its source": "<iframe srcdoc='" + FRAME_FORM + "'></iframe>",
    "written later": "<iframe id=b></iframe>",
    "put in later": "<div id=b></div>",
    "of another site later": "<iframe id=b src='{empty}'></iframe>",
}
LATER = {
    "written later": "b.contentDocument.body.innerHTML = `{form}`",
    "put in later": "b.innerHTML = `<iframe src='{inner}'></iframe>`",
    "of another site later": "b.src = '{other}'",
}


@pytest.mark.parametrize("how", FRAMES)
@in_browser
async def test_what_is_done_in_a_frame_is_recorded(browser: Browsing, site: Site, how: str) -> None:
    inner = site.page(FRAME_FORM)
    names = {
        "inner": inner,
        "other": site.elsewhere(inner),
        "empty": site.page("<p>empty</p>"),
        "form": FRAME_FORM,
    }
    body = FRAMES[how].format(**names)
    demonstration = await demonstrating(browser, site, f"{body}<button>Outside</button>")
    if how in LATER:
        await browser.js(LATER[how].format(**names))
        while "Save" not in await browser.words():
            pass
    found = await recorded(
        browser, demonstration, "type [<Name>] [Ada]", "click [<Save>]", "click [<Outside>]"
    )
    assert found == ["type [Name] [Ada]", "click [Save]", "click [Outside]"]
    assert (await browser.find("textbox", "Name")).value == "Ada"


@in_browser
async def test_a_link_that_is_clicked_with_the_wheel_of_the_mouse_is_a_click_with_control(
    browser: Browsing, site: Site
) -> None:
    demonstration = await demonstrating(
        browser, site, f'<a href="{site.page("there")}">There</a><p>Words</p>'
    )
    page = browser.tabs.current.playwright_page
    link = await page.locator("a").bounding_box()
    words = await page.locator("p").bounding_box()
    assert link is not None
    assert words is not None
    for box in (link, words):
        await page.mouse.click(box["x"] + 4, box["y"] + 4, button="middle")
    taken = []
    while demonstration.waiting:
        taken.append(await demonstration.take())
    assert [(one.kind, one.label, one.keys) for one in taken] == [("click", 'link "There"', "Control")]
    await demonstration.stop()


@in_browser
async def test_what_is_dropped_from_outside_of_the_page_is_told_as_lost(
    browser: Browsing, site: Site
) -> None:
    body = "<p ondragover='event.preventDefault()' ondrop='event.preventDefault()'>Drop here</p>"
    demonstration = await demonstrating(browser, site, body)
    box = await browser.tabs.current.playwright_page.locator("p").bounding_box()
    assert box is not None
    data = {"items": [{"mimeType": "text/plain", "data": "words"}], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        event = {"type": kind, "x": box["x"] + 4, "y": box["y"] + 4, "data": data}
        await browser.tabs.current.send("Input.dispatchDragEvent", event)
    lost = await asyncio.wait_for(demonstration.take(), 30)
    assert (lost.kind, lost.action(await browser.see())) == ("lost", None)
    assert "dragged in from outside" in lost.text
    await demonstration.stop()
