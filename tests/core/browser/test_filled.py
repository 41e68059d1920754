"""What stands in a field after it was filled in is compared with what was asked."""

import re
from pathlib import Path

import pytest

from core.schema.errors import ActionError
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site

LATER = "requestAnimationFrame(() => { %s })"
FIELDS = {
    "shorter": ("<input maxlength=4>", "abcdefgh", 'The field now holds "abcd".'),
    "digits only": (
        "<input oninput=\"value = value.replace(/\\D/g, '')\">",
        "a1b2",
        'The field now holds "12".',
    ),
    "refuses all": ("<input onbeforeinput='return false'>", "abc", "The field now holds nothing."),
    "a mask": (
        "<input oninput=\"value = value.replace(/\\D/g, '').replace(/^(\\d{3})(\\d+)$/, '($1) $2')\">",
        "5551234",
        'The field now holds "(555) 1234".',
    ),
    "no number": ("<input type=number>", "abc", "The field now holds nothing."),
    "a number": ("<input type=number>", "12.50", ""),
    "cleared later": (f'<input oninput="{LATER % "value = ``"}">', "abc", "The field now holds nothing."),
    "put back on leaving": (
        "<input value=old oninput=\"this.value = 'old'\">",
        "new",
        'The field now holds "old".',
    ),
    "upper case": ("<input oninput='value = value.toUpperCase()'>", "abc", 'The field now holds "ABC".'),
    "of several lines": ("<textarea></textarea>", "one\ntwo", ""),
    "several lines cut": ("<textarea maxlength=5></textarea>", "one\ntwo", 'The field now holds "one\nt".'),
    "editable": ("<div contenteditable role=textbox></div>", "two  words", ""),
    "editable that refuses": (
        "<div contenteditable role=textbox onbeforeinput='return false'></div>",
        "words",
        "The field now holds nothing.",
    ),
    "a password": ("<input type=password maxlength=3>", "secret", 'The field now holds "•••".'),
    "a whole password": ("<input type=password>", "secret", ""),
    "a date": ("<input type=date>", "2024-05-31", ""),
    "a date put back": (
        "<input type=date value=2024-01-01 oninput=\"this.value = '2024-01-01'\">",
        "2024-05-31",
        'The field now holds "2024-01-01".',
    ),
    "as asked": ("<input>", "abc", ""),
    "emptied": ("<input value=x>", "", ""),
    "gone": ("<input oninput='this.remove()'>", "abc", ""),
}


@in_browser
async def test_typing_says_what_the_field_holds_instead(browser: Browsing, site: Site) -> None:
    fields = (re.sub(r"^<\w+", rf"\g<0> aria-label='{how}'", field) for how, (field, _, _) in FIELDS.items())
    await browser.open(site.page("".join(f"<p>{field}</p>" for field in fields)))
    found = {one.name: one.ref for one in (await browser.see()).elements if "type" in one.uses}
    for how, (_, text, said) in FIELDS.items():
        await browser.do(f"type [{found[how]}] [{text}]")
        assert browser.said == said, how


@in_browser
async def test_a_text_that_is_added_is_compared_with_the_whole(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<input aria-label=Code maxlength=4 value=ab>"))
    await browser.do('type [textbox "Code"] [c] [append=1]')
    assert browser.said == ""
    await browser.do('type [textbox "Code"] [de] [append=1]')
    assert browser.said == 'The field now holds "abcd".'


@in_browser
async def test_with_enter_the_field_is_compared_before_its_text_is_taken(
    browser: Browsing, site: Site
) -> None:
    takes = "onkeydown=\"if (event.key === 'Enter') this.value = ''\""
    await browser.open(
        site.page(f"<input aria-label=Say {takes}><input aria-label=Code maxlength=2 {takes}>")
    )
    await browser.do('type [textbox "Say"] [hello] [enter=1]')
    assert browser.said == ""
    await browser.do('type [textbox "Code"] [abc] [enter=1]')
    assert browser.said == 'The field now holds "ab".'


@in_browser
async def test_a_text_for_a_list_chooses_the_option_with_that_label_or_value(
    browser: Browsing, site: Site
) -> None:
    await browser.open(
        site.page("<select aria-label=Country><option value=se>Sweden<option value=no>Norway</select>")
    )
    await browser.do('type [combobox "Country"] [no]')
    assert browser.said == "It is a list: the option was chosen."
    assert await browser.js("document.querySelector('select').selectedIndex") == 1
    await browser.do('type [combobox "Country"] [Sweden]')
    assert await browser.js("document.querySelector('select').selectedIndex") == 0
    with pytest.raises(ActionError, match="has no option"):
        await browser.do('type [combobox "Country"] [Denmark]')


@in_browser
async def test_an_option_that_is_put_back_is_told(browser: Browsing, site: Site) -> None:
    options = "<option>Small<option>Large</select>"
    await browser.open(
        site.page(
            f"<select aria-label=Kept>{options}<select aria-label=Back onchange='this.selectedIndex = 0'>{options}"
            f'<select aria-label=Later onchange="{LATER % "this.selectedIndex = -1"}">{options}'
            f"<select aria-label=Several multiple onchange='this.options[1].selected = true'>{options}"
        )
    )
    await browser.do('select [combobox "Kept"] [Large]')
    assert browser.said == ""
    await browser.do('select [combobox "Back"] [Large]')
    assert browser.said == 'The list now holds "Small".'
    await browser.do('select [combobox "Later"] [Large]')
    assert browser.said == "The list now holds nothing."
    await browser.do('select [listbox "Several"] [Small]')
    assert browser.said == ""
    await browser.do('select [listbox "Several"] [Large] [selected=0]')
    assert browser.said == 'The list now holds "Small, Large".'


@in_browser
async def test_a_box_that_is_put_back_is_told(browser: Browsing, site: Site) -> None:
    back = LATER % "this.checked = false"
    await browser.open(site.page(f'<label><input type=checkbox onchange="{back}">Agree</label>'))
    try:
        await browser.do('check [checkbox "Agree"]')
    except ActionError as error:  # It was put back before it was looked at for the first time.
        browser.said = str(error)
    assert browser.said.endswith(("It is now not checked.", "is not checked after it was clicked."))


@in_browser
async def test_a_file_that_the_field_does_not_keep_is_told(
    browser: Browsing, site: Site, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("a")
    await browser.open(
        site.page(
            "<input type=file aria-label=Kept><input type=file aria-label=Back onchange=\"this.value = ''\">"
            "<input type=file id=h hidden onchange=\"this.value = ''\"><p></p><p></p><p></p>"
            "<button onclick='h.click()'>Choose</button>"
        )
    )
    for name, said in (("Kept", ""), ("Back", "The field now holds nothing.")):
        await browser.do(f'upload [button "{name}"] [{tmp_path / "a.txt"}]')
        assert browser.said == said
    await browser.do(f'upload [button "Choose"] [{tmp_path / "a.txt"}]')
    assert browser.said == "The field now holds nothing."


TOGGLE = "onclick=\"this.setAttribute('aria-checked', this.getAttribute('aria-checked') !== 'true')\""


@pytest.mark.parametrize("role", ["checkbox", "menuitemcheckbox"])
@in_browser
async def test_a_drawn_box_is_checked_and_cleared_and_left_as_it_is(
    browser: Browsing, site: Site, role: str
) -> None:
    around = "role=menu" if role.startswith("menu") else ""
    await browser.open(
        site.page(
            f"<div {around}><div role={role} tabindex=0 aria-checked=false {TOGGLE}>News</div>"
            f"<button role={role} aria-checked=true {TOGGLE}>Dark</button>"
            f"<span role={role} tabindex=0 aria-checked=mixed {TOGGLE}>Some</span></div>"
        )
    )

    async def states() -> list[bool]:
        page = await browser.see()
        boxes = [one for one in page.elements if one.role == role]
        assert all("check" in one.uses for one in boxes)
        return ["checked" in one.states for one in boxes]

    refs = {one.name: one.ref for one in (await browser.see()).elements if one.role == role}
    for name in ("News", "News", "Dark"):
        await browser.do(f"check [{refs[name]}]")
    assert (await states())[:2] == [True, True]
    await browser.do(f"check [{refs['News']}] [checked=0]")
    await browser.do(f"check [{refs['Some']}] [checked=0]")
    assert await states() == [False, True, False]
    await browser.do(f"check [{refs['Some']}]")
    assert await states() == [False, True, True]


@pytest.mark.parametrize("role", ["radio", "menuitemradio"])
@in_browser
async def test_a_drawn_radio_button_is_chosen_and_cannot_be_cleared(
    browser: Browsing, site: Site, role: str
) -> None:
    choose = "onclick=\"for (const one of this.parentNode.children) one.setAttribute('aria-checked', one === this)\""
    await browser.open(
        site.page(
            f"<div role={'menu' if role.startswith('menu') else 'radiogroup'}>"
            f"<div role={role} tabindex=0 aria-checked=true {choose}>A</div>"
            f"<div role={role} tabindex=0 aria-checked=false {choose}>B</div></div>"
        )
    )
    await browser.do(f'check [{role} "B"]')
    assert "checked" in (await browser.find(role, "B")).states
    assert "checked" not in (await browser.find(role, "A")).states
    with pytest.raises(ActionError, match="is a radio button, which cannot be cleared"):
        await browser.do(f'check [{role} "B"] [checked=0]')


@in_browser
async def test_a_drawn_box_round_a_hidden_one_is_checked_by_that(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<label role=switch tabindex=0 style='display:block;width:60px;height:20px' aria-label=Wifi>"
            "<input type=checkbox style='position:absolute;opacity:0;width:0;height:0'></label>"
        )
    )
    found = next(one for one in (await browser.see()).elements if "check" in one.uses)
    await browser.do(f"check [{found.ref}]")
    assert await browser.js("document.querySelector('input').checked") is True
    await browser.do(f"check [{found.ref}]")
    assert await browser.js("document.querySelector('input').checked") is True
