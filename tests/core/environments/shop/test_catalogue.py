import hashlib
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.environments.shop.catalogue import (
    Dice,
    ProductCatalogue,
    SearchIndex,
    bundled_catalogue,
    search_words,
)
from core.environments.shop.words import read_words, with_article


def texts_of(product) -> str:
    return "\n".join((product.title, *product.features, product.description)).lower()


def names(text: str, attribute: str) -> bool:
    return re.search(rf"\b{re.escape(attribute)}\b", text) is not None


def test_the_words_of_the_shop_fit_together():
    words = read_words()
    assert {"q", "max_price", "page", "item", "missing"}.isdisjoint(
        words.groups
    )  # They are used in addresses.
    assert all(len(one.factors) in (0, len(one.values)) for one in words.lists.values())
    for kind in (kind for department in words.departments for kind in department.types):
        assert {name for slot in kind.slots for name in slot} <= set(words.attributes), kind.name
        assert all(group in words.groups and values in words.lists for group, values in kind.options), (
            kind.name
        )


def test_there_are_a_thousand_products_with_ids_and_titles_of_their_own(catalogue):
    assert len(catalogue.products) >= 1000
    assert len({product.id for product in catalogue.products}) == len(catalogue.products)
    assert len({product.title for product in catalogue.products}) == len(catalogue.products)
    assert all(re.fullmatch(r"BK[0-9A-Z]{8}", product.id) for product in catalogue.products)


def test_the_catalogue_is_the_same_on_every_machine(catalogue):
    whole = "\n".join(
        repr((product.model_dump(), [review.model_dump() for review in catalogue.reviews(product)]))
        for product in catalogue.products
    )
    assert hashlib.sha256(whole.encode()).hexdigest()[:16] == "5b7266f986406b78"


def test_a_catalogue_made_anew_holds_the_same_products(catalogue):
    assert ProductCatalogue(read_words()).products == catalogue.products


def test_a_product_keeps_its_id_and_content_when_other_types_go(catalogue):
    words = catalogue.words
    fewer = words.replace(departments=words.departments[3:])
    assert all(catalogue.find(product.id) == product for product in ProductCatalogue(fewer).products)


def test_every_attribute_can_be_read_somewhere_in_its_product(catalogue):
    for product in catalogue.products:
        assert 4 <= len(product.attributes) <= 5
        for attribute in product.attributes:
            assert names(texts_of(product), attribute), (product.id, attribute)


def test_no_product_claims_an_attribute_of_its_type_that_it_lacks(catalogue):
    pools = {
        kind.name: {name for slot in kind.slots for name in slot}
        for department in catalogue.words.departments
        for kind in department.types
    }
    for product in catalogue.products:
        said = texts_of(product)
        said += "\n".join(review.text.lower() for review in catalogue.reviews(product))
        for attribute in pools[product.type] - set(product.attributes):
            assert not names(said, attribute), (product.id, attribute)


def test_most_attributes_are_not_in_the_title(catalogue):
    named = [
        names(product.title.lower(), attribute)
        for product in catalogue.products
        for attribute in product.attributes
    ]
    assert 0.1 < sum(named) / len(named) < 0.5


def test_options_have_at_least_two_values_each_once(catalogue):
    for product in catalogue.products:
        for group in product.groups:
            assert len(set(group.values)) == len(group.values) >= 2
            assert not group.factors or len(group.factors) == len(group.values)
    assert any(not product.groups for product in catalogue.products)


def test_a_price_lies_within_the_range_shown_before_and_is_one_amount_in_the_end(catalogue):
    for product in catalogue.products:
        dice = Dice(product.id)
        before = product.price_range()
        assert 0 < before[0] <= before[1]
        chosen: dict[str, str] = {}
        for group in product.groups:
            chosen[group.name] = dice.pick(group.values)
            now = product.price_range(chosen)
            assert before[0] <= now[0] <= now[1] <= before[1]
            before = now
        assert before[0] == before[1]


def test_some_options_change_the_price(catalogue):
    assert sum(low < high for low, high in (p.price_range() for p in catalogue.products)) > 300


def test_reviews_have_text_and_are_the_same_at_each_look(catalogue):
    some = catalogue.products[::50]
    assert [catalogue.reviews(product) for product in some] == [catalogue.reviews(p) for p in some]
    for product in catalogue.products:
        reviews = catalogue.reviews(product)
        assert all(1 <= review.stars <= 5 and review.text and review.title for review in reviews)
        assert len({review.author for review in reviews}) == len(reviews)
    assert any(not catalogue.reviews(product) for product in catalogue.products)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("straw lid", "a straw lid"),
        ("oven safe pan", "an oven safe pan"),
        ("USB port", "a USB port"),
        ("LED display", "an LED display"),
    ],
)
def test_a_thing_gets_the_article_that_one_says(words, said):
    assert with_article(words) == said


def test_dice_keep_to_their_bounds_and_orders():
    dice = Dice("bounds")
    for count in range(1, 8):
        assert sorted(dice.shuffled(range(count))) == list(range(count))
        some = dice.some("abcdefgh", count)
        assert some == sorted(some)
        assert len(some) == count
        assert "".join(dice.run("abcdefgh", count)) in "abcdefgh"
        assert 0 <= dice.below(count) < count


# Search


CATALOGUE = bundled_catalogue()
INDEX = SearchIndex(CATALOGUE.products)


def test_the_type_named_comes_first(catalogue, index):
    for department in catalogue.words.departments:
        for kind in department.types:
            found = index.find(kind.name)
            assert {catalogue.product(id).type for id in found[:10]} == {kind.name}


def test_a_title_finds_its_product_first(catalogue, index):
    for product in catalogue.products[::40]:
        assert index.find(product.title)[0] == product.id


def test_another_form_of_a_word_finds_the_same(index):
    assert set(index.find("blanket")) == set(index.find("blankets"))


def test_a_text_below_features_or_description_is_found(catalogue, index):
    for product in catalogue.products[::60]:
        assert product.id in index.find(product.features[0])
        assert product.id in index.find(product.description)


def test_the_maximum_price_leaves_out_what_costs_more_in_every_make(catalogue, index):
    everything = index.find("water bottle")
    within = index.find("water bottle", 2000)
    assert 0 < len(within) < len(everything)
    assert within == tuple(id for id in everything if catalogue.product(id).price_range()[0] <= 2000)


def test_nothing_is_found_without_a_word_or_for_an_unknown_one(index):
    assert index.find("") == index.find(" ?! ") == index.find("zzyzx") == ()


def test_common_words_are_passed_over_unless_there_are_no_others(index):
    assert index.find("I want a water bottle, please") == index.find("water bottle")
    assert search_words("for the") == ["for", "the"]


def test_equal_matches_come_in_the_order_of_ids(index):
    found = index.find("outdoor sports pets")
    assert found == SearchIndex(tuple(reversed(CATALOGUE.products))).find("outdoor sports pets")


def test_several_threads_may_search_at_once(index):
    words = ["water bottle", "yoga mat", "linen curtains"] * 8
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(index.find, words)) == [index.find(one) for one in words]


@given(st.text(max_size=80), st.none() | st.integers(0, 10**12))
def test_any_text_can_be_searched_for(words, limit):
    found = INDEX.find(words, limit)
    assert len(set(found)) == len(found)
    assert all(limit is None or CATALOGUE.product(id).price_range()[0] <= limit for id in found)
