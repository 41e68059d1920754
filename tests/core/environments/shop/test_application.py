import re
from urllib.parse import parse_qsl, urlsplit

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from core.environments.shop.application import ShopApplication, ShopState, read_price
from core.environments.shop.catalogue import bundled_catalogue
from core.environments.sites import SiteRequest

APPLICATION = ShopApplication(bundled_catalogue())
LAMP = next(product for product in bundled_catalogue().products if len(product.groups) == 2)


def visit(address: str, state: ShopState | None = None, form: dict[str, str] | None = None):
    """Return status, page and state of one request."""
    parts = urlsplit(address)
    request = SiteRequest(
        method="GET" if form is None else "POST",
        path=parts.path,
        query=dict(parse_qsl(parts.query, keep_blank_values=True)),
        form=form or {},
    )
    answer, after = APPLICATION.answer(request, state or ShopState())
    return answer, BeautifulSoup(answer.body, "lxml"), after


def choose_all(product) -> dict[str, str]:
    return {group.name: group.values[0] for group in product.groups}


def test_results_come_ten_to_a_page_and_every_product_found_is_on_one():
    seen: list[str] = []
    address = "/search?q=yoga+mat"
    while address:
        _, page, _ = visit(address)
        links = [link["data-item-id"] for link in page.select("a[data-item-id]")]
        following = page.select_one("a[rel=next]")
        address = following["href"] if following else ""
        assert len(links) == 10 or not address
        seen += links
    total = re.search(r"Total results: (\d+)", page.get_text())
    assert total is not None
    assert int(total[1]) == len(seen) == len(set(seen))


def test_previous_leads_back_to_the_page_before_and_the_first_has_none():
    _, second, _ = visit("/search?q=yoga+mat&max_price=50&page=2")
    assert second.select_one("a[rel=prev]")["href"] == "/search?q=yoga+mat&max_price=50"
    _, first, _ = visit("/search?q=yoga+mat&max_price=50")
    assert first.select_one("a[rel=prev]") is None


def test_a_page_beyond_the_last_leads_to_the_last():
    answer, _, _ = visit("/search?q=yoga+mat&page=999")
    assert answer.status == 303
    _, page, _ = visit(answer.location)
    assert page.select_one("a[rel=next]") is None
    assert page.select("a[data-item-id]")


@pytest.mark.parametrize(
    ("address", "field", "problem"),
    [
        ("/search?q=", "q", "Type at least one word to search for."),
        ("/search?q=lamp&max_price=cheap", "max_price", "Give the maximum price as a number"),
        ("/search?q=lamp&max_price=-5", "max_price", "Give the maximum price as a number"),
    ],
)
def test_a_search_that_cannot_be_made_says_why_at_its_field(address, field, problem):
    _, page, _ = visit(address)
    described = page.select_one(f"#{field}")["aria-describedby"].split()[-1]
    alert = page.select_one(f"#{described}")
    assert alert["role"] == "alert"
    assert problem in alert.get_text()


def test_nothing_found_is_said_in_words():
    _, page, _ = visit("/search?q=zzyzx&max_price=3")
    assert "Nothing was found for $3.00 or less." in " ".join(
        page.select_one("[role=status]").get_text().split()
    )


def test_an_item_once_opened_is_marked_in_the_results():
    _, page, state = visit("/search?q=yoga+mat")
    link = page.select_one("a[data-item-id]")
    _, _, state = visit(link["href"], state)
    _, page, _ = visit("/search?q=yoga+mat", state)
    marked = page.select("article[data-visited]")
    assert [article["data-item-id"] for article in marked] == [link["data-item-id"]]
    assert "Already looked at" in marked[0].get_text()


def test_an_item_keeps_the_way_back_to_its_results():
    _, results, _ = visit("/search?q=yoga+mat&max_price=50&page=2")
    _, item, _ = visit(results.select_one("a[data-item-id]")["href"])
    assert item.find("a", string="Back to results")["href"] == "/search?q=yoga+mat&max_price=50&page=2"


def test_chosen_options_stay_on_every_page_of_the_item():
    chosen = choose_all(LAMP)
    query = "&".join(f"{name}={value.replace(' ', '+')}" for name, value in chosen.items())
    _, page, _ = visit(f"/item/{LAMP.id}?{query}")
    for name in ("Overview", "Description", "Features", "Reviews"):
        link = page.select_one("nav.tabs").find("a", string=name)
        _, page, _ = visit(link["href"])
        assert page.select_one("nav.tabs [aria-current]").get_text() == name
        pressed = {button["name"]: button["value"] for button in page.select("button[aria-pressed=true]")}
        assert pressed == chosen


def test_choosing_in_one_group_keeps_what_was_chosen_in_the_others():
    first, second = LAMP.groups
    _, page, _ = visit(f"/item/{LAMP.id}?q=lamp&{first.name}={first.values[0]}")
    form = page.select_one(f"[data-option-group={second.name}]").find_parent("form")
    kept = {field["name"]: field["value"] for field in form.select("input[type=hidden]")}
    assert kept == {"q": "lamp", first.name: first.values[0]}


def test_option_buttons_are_named_by_their_value():
    _, page, _ = visit(f"/item/{LAMP.id}")
    for group in LAMP.groups:
        buttons = page.select(f"[data-option-group={group.name}] button")
        assert tuple(button.get_text() for button in buttons) == group.values


def test_the_pages_of_an_item_tell_its_texts_and_list_no_attributes():
    _, description, _ = visit(f"/item/{LAMP.id}/description")
    assert LAMP.description in description.get_text()
    _, features, _ = visit(f"/item/{LAMP.id}/features")
    assert [item.get_text() for item in features.select(".about li")] == list(LAMP.features)
    _, reviews, _ = visit(f"/item/{LAMP.id}/reviews")
    assert len(reviews.select("article.review")) == len(bundled_catalogue().reviews(LAMP))
    _, overview, _ = visit(f"/item/{LAMP.id}")
    text = overview.get_text().replace(LAMP.title, "").lower()
    assert not [name for name in LAMP.attributes if name in text]


def test_buying_leads_to_a_page_of_thanks_and_into_the_history():
    chosen = choose_all(LAMP)
    answer, _, state = visit("/buy", form={"item": LAMP.id, **chosen})
    assert (answer.status, answer.location) == (303, "/orders/1")
    _, thanks, _ = visit("/orders/1", state)
    assert "Thank you" in thanks.select_one("h1").get_text()
    _, history, _ = visit("/orders", state)
    assert LAMP.title in history.select_one("table").get_text()
    order = state.orders[0]
    assert order.options == chosen
    assert (order.price, order.price) == LAMP.price_range(chosen)


def test_buying_without_all_options_says_which_are_missing_and_buys_nothing():
    first, second = LAMP.groups
    answer, _, state = visit("/buy", form={"item": LAMP.id, "q": "lamp", first.name: first.values[0]})
    assert answer.status == 303
    assert state.orders == ()
    _, page, _ = visit(answer.location)
    alert = page.select_one("[role=alert]").get_text()
    assert f"Choose {second.title.lower()} before you buy." in alert
    assert first.title.lower() not in alert
    assert page.select_one("button[aria-pressed=true]")["value"] == first.values[0]


def test_a_value_that_is_not_on_offer_is_named_and_not_bought():
    name = LAMP.groups[0].name
    answer, _, state = visit("/buy", form={"item": LAMP.id, **choose_all(LAMP), name: "plaid"})
    assert state.orders == ()
    _, page, _ = visit(answer.location)
    assert "“plaid”" in page.select_one("[role=alert]").get_text()


def test_a_history_without_orders_says_so():
    _, page, _ = visit("/orders")
    assert "You have not bought anything yet." in page.get_text()


@pytest.mark.parametrize(
    "address", ["/nowhere", "/item/BK00000000", "/item", f"/item/{LAMP.id}/secrets", "/orders/7", "/orders/x"]
)
def test_an_address_that_leads_nowhere_is_not_found(address):
    answer, page, state = visit(address)
    assert answer.status == 404
    assert page.select_one("[role=alert]").get_text()
    assert state == ShopState()


def test_buying_takes_a_post_and_nothing_else_does():
    assert visit("/buy")[0].status == 405
    assert visit("/search", form={"q": "lamp"})[0].status == 405


def test_what_was_typed_is_shown_as_text():
    _, page, _ = visit("/search?q=lamp+%3Cscript%3Ealert(1)%3C/script%3E")
    assert page.select("script") == []
    assert "<script>" in page.select_one("h1").get_text()


def test_reading_changes_nothing_but_what_was_looked_at():
    before = ShopState(visited=(LAMP.id,))
    for address in ("/", "/search?q=lamp", f"/item/{LAMP.id}", "/orders"):
        assert visit(address, before)[2] == before


def test_every_field_and_button_has_a_name_and_every_id_is_used_once():
    chosen = choose_all(LAMP)
    _, _, state = visit("/buy", form={"item": LAMP.id, **chosen})
    for address in ("/", "/search?q=lamp", f"/item/{LAMP.id}?missing=options", "/orders", "/orders/1"):
        _, page, _ = visit(address, state)
        assert len(page.select("h1")) == 1
        assert len(page.select("main")) == 1
        for field in page.select("input:not([type=hidden])"):
            assert page.select_one(f"label[for={field['id']}]").get_text()
        for named in page.select("button, a"):
            assert named.get_text().strip()
        ids = [element["id"] for element in page.select("[id]")]
        assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    ("typed", "cents"),
    [("", None), ("40", 4000), ("$40", 4000), ("39.99", 3999), ("39.9", 3990), ("1,200", 120000), ("0", 0)],
)
def test_a_price_is_read_as_people_type_it(typed, cents):
    assert read_price(typed) == cents


@pytest.mark.parametrize("typed", ["x", "-1", "1.234", "1e3", ".", "99999999"])
def test_what_is_no_price_is_refused(typed):
    with pytest.raises(ValueError):
        read_price(typed)


@given(
    path=st.sampled_from(
        ["/", "/search", f"/item/{LAMP.id}", f"/item/{LAMP.id}/reviews", "/buy", "/orders/1"]
    )
    | st.text(max_size=20),
    method=st.sampled_from(["GET", "POST"]),
    fields=st.dictionaries(
        st.sampled_from(
            ["q", "max_price", "page", "item", "missing", *(group.name for group in LAMP.groups)]
        ),
        st.text(max_size=20) | st.just(LAMP.id) | st.sampled_from(LAMP.groups[0].values),
    ),
)
def test_any_request_gets_an_answer_and_leaves_a_state_that_can_be_taken_down(path, method, fields):
    request = SiteRequest(method=method, path=path, query=fields, form=fields)
    answer, state = APPLICATION.answer(request, ShopState())
    assert answer.status in (200, 303, 404, 405)
    assert (answer.status == 303) == bool(answer.location)
    assert ShopState.model_validate_json(state.model_dump_json()) == state
