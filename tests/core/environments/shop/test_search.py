from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from core.environments.shop.catalogue import bundled_catalogue
from core.environments.shop.search import SearchIndex, search_words

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
