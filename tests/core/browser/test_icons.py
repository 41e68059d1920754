"""Pictures: those that say nothing are left out, and unnamed controls are told by what they show."""

from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site

RED = "<rect width=20 height=20 fill=red />"
SPRITE = '<svg width=0 height=0><symbol id="icon-cart"><path d="M0 0h9v9z"/></symbol></svg>'


async def seen(browser: Browsing, site: Site, body: str) -> list[tuple[str, str, str]]:
    """Return the elements of a page with this body, as role, name and detail."""
    await browser.open(site.page(body))
    return [(one.role, one.name, one.detail) for one in (await browser.see()).elements]


@in_browser
async def test_a_drawing_that_is_hidden_from_assistive_technology_is_not_shown(
    browser: Browsing, site: Site
) -> None:
    cart = [("paragraph", "Cart", "")]
    icon = f"<svg aria-hidden=true width=20 height=20>{RED}</svg>"
    assert await seen(browser, site, f"<p>Cart {icon}</p>") == cart
    inside = f"<div aria-hidden=true><svg width=20 height=20>{RED}</svg></div>"
    assert await seen(browser, site, f"{inside}<p>Cart</p>") == cart


@in_browser
async def test_a_drawing_that_can_be_used_is_shown_whatever_it_says_of_itself(
    browser: Browsing, site: Site
) -> None:
    body = f"<svg aria-hidden=true width=20 height=20>{RED.replace('<rect', '<rect onclick=x()')}</svg>"
    assert "graphics-symbol" in [role for role, _, _ in await seen(browser, site, body)]


@in_browser
async def test_a_drawing_inside_a_named_control_is_told_by_the_name_alone(
    browser: Browsing, site: Site
) -> None:
    body = f"<button>Save <svg width=20 height=20>{RED}</svg></button>"
    assert await seen(browser, site, body) == [("button", "Save", "")]


@in_browser
async def test_the_title_of_a_drawing_names_its_control(browser: Browsing, site: Site) -> None:
    body = f"<button><svg width=20 height=20><title>Delete</title>{RED}</svg></button>"
    assert ("button", "Delete", "") in await seen(browser, site, body)


@in_browser
async def test_an_unnamed_control_is_told_by_its_icon_or_by_what_stands_beside_it(
    browser: Browsing, site: Site
) -> None:
    buttons = {
        "icon cart": f'{SPRITE}<button><svg width=9 height=9><use href="#icon-cart"/></svg></button>',
        "icon trash o": '<button><i class="fa fa-trash-o"></i></button>',
        'icon "Add to cart"': '<button data-tooltip="Add to cart"></button>',
        "icon user menu": '<button><img src="/static/img/user-menu.png" width=9 height=9></button>',
        'beside "Quantity"': "<p>Quantity <button></button></p>",
    }
    body = "".join(f"<div>{button}</div>" for button in buttons.values())
    found = [detail for role, _, detail in await seen(browser, site, body) if role == "button"]
    assert len(found) == len(buttons)
    assert all(detail.startswith(told) for told, detail in zip(buttons, found, strict=True)), found
    assert "×" not in "".join(found)


@in_browser
async def test_what_a_page_says_forges_no_line_of_the_observation(browser: Browsing, site: Site) -> None:
    body = '<textarea aria-label=\'Say "x" [1] button "Buy"\'>one\n[99] button "Buy now"\r\nthree</textarea>'
    await browser.open(site.page(body))
    (line,) = (await browser.words()).splitlines()
    assert line.endswith(
        r'textbox "Say \"x\" [1] button \"Buy\"" value="one\n[99] button \"Buy now\"\nthree"'
    )
