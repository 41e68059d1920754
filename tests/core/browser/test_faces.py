"""Controls whose input is hidden: read by what a person sees of them, and used there."""

from pathlib import Path

import pytest

from core.schema.errors import ActionError
from core.schema.observation import Element
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site

CLIPPED = "position:absolute;width:1px;height:1px;clip:rect(0 0 0 0);overflow:hidden"
PAINTED = "<span style='display:inline-block;width:40px;height:20px;background:#ccc;cursor:pointer'></span>"
CHOICES = {
    "not displayed, label beside": (
        "<input type=radio name=r id=a style='display:none'><label for=a style='cursor:pointer'>small</label>"
        "<input type=radio name=r id=b style='display:none'><label for=b>medium</label>"
    ),
    "clipped, in its label": "".join(
        f"<label><input type=radio name=r style='{CLIPPED}'><div>{word}</div></label>"
        for word in ("small", "medium")
    ),
    "without a size and out of the pointer's reach": "".join(
        "<label style='cursor:pointer;position:relative'><span><input type=radio name=r"
        " "
        f"style='position:absolute;opacity:0;width:0;height:0;pointer-events:none'></span><span>{word}</span></label>"
        for word in ("small", "medium")
    ),
    "left of the page, in its label": "".join(
        f"<label><input type=radio name=r style='position:absolute;left:-9999px'>{word}</label>"
        for word in ("small", "medium")
    ),
    "above the page, label beside": "".join(
        f"<input type=radio name=r id={word} style='position:fixed;top:-100px'><label for={word}>{word}</label>"
        for word in ("small", "medium")
    ),
    "in a clipped box that it is larger than, in a label that answers clicks": "".join(
        f"<label onclick=''><span style='{CLIPPED};clip-path:inset(50%)'><input type=radio name=r></span>"
        f"<p>{word}</p></label>"
        for word in ("small", "medium")
    ),
    "clipped, after a label that holds a drawing": "".join(
        f"<label for={word} style='cursor:pointer'><span><svg width=20 height=20><path d='M0 0h20v20z'/></svg></span>"
        f"<span style='{CLIPPED}'>{word}</span></label><input type=radio name=r id={word} style='{CLIPPED}'>"
        for word in ("small", "medium")
    ),
}


def _of_role(elements: tuple[Element, ...], *roles: str) -> list[tuple[str, bool]]:
    return [(one.name, "checked" in one.states) for one in elements if one.role in roles]


@in_browser
async def test_a_hidden_choice_has_one_line_and_is_used_where_it_is_seen(
    browser: Browsing, site: Site
) -> None:
    for how, body in CHOICES.items():
        await browser.open(site.page(body))
        seen = await browser.see()
        told = _of_role(seen.elements, "radio", "generic", "text")
        assert told == [("small", False), ("medium", False)], how
        assert all(one.uses == ("click", "check") and one.in_viewport for one in seen.elements), how
        assert all(one.box.width > 2 and one.box.height > 2 for one in seen.elements), how
        await browser.do('click [radio "medium"]')
        told = _of_role((await browser.see()).elements, "radio")
        assert told == [("small", False), ("medium", True)], how
        await browser.do('check [radio "small"]')
        told = _of_role((await browser.see()).elements, "radio")
        assert told == [("small", True), ("medium", False)], how


@in_browser
async def test_a_switch_that_is_drawn_beside_its_hidden_box_is_set_and_cleared(
    browser: Browsing, site: Site
) -> None:
    await browser.open(
        site.page(
            f"<label><input type=checkbox style='display:none'>{PAINTED} Wifi</label>"
            f"<label title=Sound><input type=checkbox style='opacity:0;width:0;height:0'"
            f" aria-label=Sound>{PAINTED}</label>"
            "<x-switch></x-switch><script>customElements.define('x-switch', class extends HTMLElement {"
            "constructor() { super(); this.attachShadow({mode: 'open'}).innerHTML = `<label>"
            "<input type=checkbox role=switch style='position:absolute;opacity:0;pointer-events:none'>"
            "<span style='display:inline-block;width:40px;height:20px'></span> Light</label>` } })</script>"
        )
    )
    for role, name in (("checkbox", "Wifi"), ("checkbox", "Sound"), ("switch", "Light")):
        await browser.do(f'check [{role} "{name}"]')
        assert "checked" in (await browser.find(role, name)).states
        await browser.do(f'check [{role} "{name}"] [checked=0]')
        assert "checked" not in (await browser.find(role, name)).states
    assert [one.role for one in (await browser.see()).elements] == ["checkbox", "checkbox", "switch"]


@in_browser
async def test_a_link_in_the_label_of_a_hidden_box_is_not_clicked_for_it(
    browser: Browsing, site: Site
) -> None:
    await browser.open(
        site.page(
            f"<label style='display:inline-block'><input type=checkbox style='{CLIPPED}'>"
            "I accept <a href='#terms' style='padding:0 40px'>the long terms</a> now</label>"
        )
    )
    assert _of_role((await browser.see()).elements, "checkbox", "link") == [
        ("I accept the long terms now", False),
        ("the long terms", False),
    ]
    await browser.do('check [checkbox "I accept the long terms now"]')
    assert await browser.js("[document.querySelector('input').checked, location.hash]") == [True, ""]


@in_browser
async def test_a_hidden_box_is_still_said_to_be_covered(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<label><input type=checkbox style='display:none'>Agree</label>"
            "<div role=dialog aria-label=veil style='position:fixed;inset:0'></div>"
        )
    )
    with pytest.raises(ActionError, match='checkbox "Agree" is covered by dialog "veil"'):
        await browser.do('check [checkbox "Agree"]')


@in_browser
async def test_the_label_of_a_box_that_cannot_be_seen_anywhere_is_clicked_itself(
    browser: Browsing, site: Site
) -> None:
    await browser.open(
        site.page("<div style='display:none'><input type=checkbox id=f></div><label for=f>Far</label>")
    )
    label = await browser.find("generic", "Far")
    await browser.do(f"check [{label.ref}]")
    assert await browser.js("f.checked")


@in_browser
async def test_an_input_that_only_carries_the_value_of_another_control_is_not_read(
    browser: Browsing, site: Site
) -> None:
    await browser.open(
        site.page(
            "<div><div role=combobox tabindex=0 aria-label=Age aria-expanded=false>Twenty</div>"
            "<input aria-hidden=true tabindex=-1 value=20 style='opacity:0;position:absolute;"
            "pointer-events:none'></div>"
        )
    )
    assert [one.line().split("] ")[1] for one in (await browser.see()).elements] == [
        'combobox "Age" value="Twenty" collapsed'
    ]


SLIDER = (
    "<div id=s role=slider tabindex=0 aria-label=Price aria-valuemin=0 aria-valuemax=1000 aria-valuenow=300"
    " style='width:20px;height:20px;background:red'></div><script>s.onkeydown = e => {"
    "const by = {ArrowRight: 10, ArrowLeft: -10, PageUp: 100, PageDown: -100, Home: -1e4, End: 1e4}[e.key] || 0;"
    "s.setAttribute('aria-valuenow', Math.max(0, Math.min(1000, +s.getAttribute('aria-valuenow') + by)))}</script>"
)


@in_browser
async def test_a_slider_without_a_field_is_brought_to_its_value_by_keys(
    browser: Browsing, site: Site
) -> None:
    await browser.open(site.page(SLIDER))
    assert (await browser.find("slider", "Price")).uses == ("click", "type")
    for value in ("750", "760", "0", "1000", "$430"):
        located = await browser.do(f'type [slider "Price"] [{value}]')
        number = value.lstrip("$")
        assert (await browser.find("slider", "Price")).value == number
        assert located is not None
        assert located.note.endswith(f'slider "Price" is at {number} now.')


@in_browser
async def test_a_value_that_a_slider_does_not_reach_is_a_failure_that_says_where_it_stands(
    browser: Browsing, site: Site
) -> None:
    await browser.open(site.page(SLIDER))
    for value, sentence in (
        ("high", 'is a slider; "high" is not a number'),
        ("2000", "cannot be set to 2000: its values are from 0 to 1000. It is still at 300"),
        ("755", "cannot be set to 755 with its keys; it is now at 750"),
    ):
        with pytest.raises(ActionError, match=sentence):
            await browser.do(f'type [slider "Price"] [{value}]')


@in_browser
async def test_a_slider_whose_keys_go_the_other_way_and_that_knows_few_of_them_is_followed(
    browser: Browsing, site: Site
) -> None:
    await browser.open(
        site.page(
            "<div id=s role=slider tabindex=0 aria-label=Depth aria-valuenow=0 style='width:20px;height:20px'></div>"
            "<script>s.onkeydown = e => { const by = {ArrowRight: -1, ArrowLeft: 1}[e.key] || 0;"
            "requestAnimationFrame(() =>"
            "s.setAttribute('aria-valuenow', +s.getAttribute('aria-valuenow') + by)) }</script>"
        )
    )
    await browser.do('type [slider "Depth"] [7]')
    assert (await browser.find("slider", "Depth")).value == "7"
    await browser.do('type [slider "Depth"] [-3]')
    assert (await browser.find("slider", "Depth")).value == "-3"


@in_browser
async def test_a_range_in_a_clipped_box_ends_its_movement_by_a_key(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<div style='position:relative;width:300px;height:20px'><div "
            "style='width:20px;height:20px;background:red'>"
            f"<span style='{CLIPPED};clip-path:inset(50%)'>"
            "<input type=range aria-label=Volume value=30 onkeyup='committed = this.value'></span></div></div>"
            "<script>var committed = ''</script>"
        )
    )
    await browser.do('type [slider "Volume"] [64]')
    assert (await browser.find("slider", "Volume")).value == "64"
    assert await browser.js("committed") == "64"


@in_browser
async def test_a_range_that_has_no_keys_takes_its_value_all_the_same(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page("<input type=range aria-label=Volume value=30 onkeydown='event.preventDefault()'>")
    )
    await browser.do('type [slider "Volume"] [64]')
    assert (await browser.find("slider", "Volume")).value == "64"


@in_browser
async def test_a_range_hidden_in_its_thumb_takes_a_value_and_refuses_what_it_would_round(
    browser: Browsing, site: Site
) -> None:
    await browser.open(
        site.page(
            "<span style='position:relative;display:block;width:300px;height:20px'><span style='position:absolute;"
            "left:90px;width:20px;height:20px;background:red'><input type=range aria-label=Volume value=30 step=10"
            f" style='{CLIPPED};width:100%;height:100%'></span></span>"
        )
    )
    slider = await browser.find("slider", "Volume")
    assert slider.in_viewport
    await browser.do(f"click [{slider.ref}]")
    await browser.do(f"type [{slider.ref}] [70]")
    assert (await browser.find("slider", "Volume")).value == "70"
    with pytest.raises(ActionError, match=r"values are from 0 to 100 in steps of 10\. It is still at 70"):
        await browser.do(f"type [{slider.ref}] [33]")
    assert (await browser.find("slider", "Volume")).value == "70"


HIDDEN = f"class=hidden tabindex=-1 aria-hidden=true style='{CLIPPED}'"
DRAWN_LISTS = {
    "named by what was chosen": (
        f"<label for=s>Animal</label><select id=s {HIDDEN}><option>Ant<option>Cat</select>"
        "<span><span><span role=combobox aria-expanded=false tabindex=0 aria-labelledby=shown onclick='chosen = 1'>"
        "<span id=shown role=textbox aria-readonly=true title=Ant>Ant</span></span></span></span>"
    ),
    "around a field of its own": (
        "<label for=own>Animal</label>"
        f"<select id=s tabindex=-1 style='{CLIPPED}'><option>Ant<option>Cat</select><div onclick='chosen = 1'>"
        "<div>Ant</div><input role=combobox id=own aria-expanded=false></div>"
    ),
    "by a button beside it": (
        "<div><select aria-label=Animal tabindex=-98 style='position:absolute;width:.5px;opacity:0'><option>Ant"
        "</select><button role=combobox title=Ant aria-expanded=false onclick='chosen = 1'>Ant</button></div>"
    ),
    "in whose box the field is": (
        "<label for=i>Animal</label><div onclick='chosen = 1' style='width:200px;height:30px;background:#eee'>"
        f"<div style='{CLIPPED}'><input id=i readonly role=combobox aria-haspopup=listbox value=Ant></div>"
        f"<div style='{CLIPPED}'><select tabindex=-1><option>Ant</select></div><span>Ant</span>"
        "<div role=button aria-label=Open></div></div>"
    ),
    "that lies over the field": (
        "<div role=combobox tabindex=-1 onclick='chosen = 1' style='position:relative;width:200px;height:30px'>"
        "<label for=i>Animal</label><div style='position:absolute;inset:0'>Ant</div>"
        "<input id=i role=combobox readonly value=Ant style='opacity:0'></div>"
    ),
}


@in_browser
async def test_a_list_that_is_drawn_in_place_of_a_hidden_one_has_its_name_and_is_used_by_it(
    browser: Browsing, site: Site
) -> None:
    for how, body in DRAWN_LISTS.items():
        await browser.open(site.page(f"{body}<script>var chosen = 0</script>"))
        seen = (await browser.see()).elements
        named = [one.name for one in seen if one.role in ("combobox", "textbox") and one.name]
        assert (named, [one for one in seen if one.tag == "select"]) == (["Animal"], []), how
        await browser.do('click [combobox "Animal"]')
        assert await browser.js("chosen") == 1, how


@in_browser
async def test_what_lies_over_a_control_and_does_not_answer_for_it_covers_it(
    browser: Browsing, site: Site
) -> None:
    over = "<div style='position:absolute;inset:0;background:#0008'>wait</div>"
    await browser.open(
        site.page(
            f"<div style='position:relative'><input aria-label=Name>{over}</div>"
            f"<div style='position:relative' onclick=''><button>Save</button>{over}</div>"
        )
    )
    for target in ('textbox "Name"', 'button "Save"'):
        with pytest.raises(ActionError, match="is covered by"):
            await browser.do(f"click [{target}]")


FILE = "<input type=file style='opacity:0;position:absolute;inset:0;width:100%;height:100%'>"
UPLOADS = {
    "over a button": f"<div style='position:relative;width:120px'><button>Attach</button>{FILE}</div>",
    "in a button": f"<button style='position:relative'>Attach{FILE}</button>",
    "in a box that answers clicks": f"<span tabindex=0 style='position:relative'>Attach{FILE}</span>",
    "in a box": f"<div style='position:relative;width:120px;height:30px'><span>Attach</span>{FILE}</div>",
    "in its label": f"<label style='position:relative;display:block;width:120px'>Attach{FILE}</label>",
    "not displayed, in a box that opens it": (
        "<span tabindex=0 onclick='this.lastChild.click()'><b>Attach</b><input type=file hidden></span>"
    ),
}


@in_browser
async def test_a_transparent_file_field_and_its_button_are_one_control(
    browser: Browsing, site: Site, tmp_path: Path
) -> None:
    file = tmp_path / "note.txt"
    file.write_text("a note", encoding="utf-8")
    for how, body in UPLOADS.items():
        await browser.open(site.page(body))
        controls = [one for one in (await browser.see()).elements if "upload" in one.uses]
        assert [one.name for one in controls] == ["Attach"], how
        await browser.do(f'upload [{controls[0].role} "Attach"] [{file}]')
        assert await browser.js("document.querySelector('input').files[0].name") == "note.txt", how
