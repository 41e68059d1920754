"""Where a text stands: exactly, but for case and white space, or word by word."""

import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.debugger.provenance.text_match import find
from core.debugger.provenance.views import SOURCES, Lead, Source

WORDS = st.text(alphabet=string.ascii_letters + "äöüß 0123456789.,-\n\té—", min_size=1, max_size=300)
ANY = st.text(max_size=200)


def source(text, kind="prompt", **more):
    return Source(kind=kind, title="Call 1, user message", text=text, **more)


def only(text, *sources):
    (place,) = find(text, sources).places
    return place


@given(before=WORDS, taken=WORDS, after=WORDS)
def test_whatever_is_taken_from_a_text_is_found_in_it_exactly(before, taken, after):
    text, wanted = before + taken + after, taken.strip()
    assume(len(wanted) >= 3 and not wanted.isdecimal())
    places = find(wanted, [source(text)]).places
    assert places
    assert {place.how for place in places} == {"exact"}
    assert {place.found for place in places} == {wanted}


@given(words=st.lists(st.text(alphabet=string.ascii_letters, min_size=3, max_size=9), min_size=1, max_size=6))
def test_other_case_and_white_space_are_found_and_reported_as_such(words):
    place = only("\n ".join(words).upper(), source("before; " + " ".join(words).lower() + "; after"))
    assert place.how == "loose"
    assert place.found == " ".join(words).lower()


@given(wanted=ANY, texts=st.lists(st.tuples(st.sampled_from(SOURCES), ANY), max_size=6))
def test_any_texts_give_places_whose_spans_lie_in_their_excerpts(wanted, texts):
    found = find(wanted, [source(text, kind) for kind, text in texts])
    assert [SOURCES.index(place.kind) for place in found.places] == sorted(
        SOURCES.index(place.kind) for place in found.places
    )
    for place in found.places:
        assert place.spans
        for start, end in place.spans:
            assert 0 <= start < end <= len(place.excerpt)
        assert "\n" not in place.excerpt
        assert "\x00" not in place.excerpt


@given(text=st.text(alphabet="abc \n", max_size=200), wanted=st.text(alphabet="xyz ", max_size=40))
def test_what_shares_no_letter_stands_nowhere(text, wanted):
    found = find(wanted, [source(text)])
    assert found.places == ()
    assert set(found.missing) == {word for word in wanted.split() if len(word) > 1}


def test_the_match_is_marked_in_its_surroundings():
    place = only("table lamp", source("x" * 500 + " Buy a green table lamp today. " + "y" * 500))
    assert place.excerpt.startswith("…x")
    assert place.excerpt.endswith("y…")
    ((start, end),) = place.spans
    assert place.excerpt[start:end] == "table lamp"


def test_the_same_words_twice_are_two_places_and_many_are_counted():
    first, second = find("lamp", [source("lamp and LAMP and lamp")]).places
    assert (first.nth, second.nth) == (0, 2)
    places = find("lamp", [source("a lamp " * 50)]).places
    assert (len(places), places[-1].more) == (5, 45)


@pytest.mark.parametrize(
    ("wanted", "text", "there"),
    [
        ("42", "room 142 and 420", False),
        ("42", "room 42.", True),
        ("on", "London", False),
        ("on", "put on", True),
        ("日本", "東京は日本です", True),
        ("日本語", "東京の日本語です", True),
    ],
)
def test_numbers_and_very_short_words_must_stand_by_themselves(wanted, text, there):
    assert bool(find(wanted, [source(text)]).places) is there


def test_single_words_count_only_where_nothing_has_the_whole():
    page = source("a green lamp of oak\nsomething else", "page")
    found = find("Green oak chair", [page, source("nothing of it")])
    (place,) = found.places
    assert (place.how, place.words) == ("words", (2, 3))
    assert [place.excerpt[a:b] for a, b in place.spans] == ["green", "oak"]
    assert found.missing == ("chair",)
    assert only("green lamp", page, source("the lamp is green")).kind == "page"


def test_one_word_of_many_is_no_match():
    found = find("the cheapest flight to Oslo on Monday", [source("the the the")])
    assert found.places == ()
    assert "cheapest" in found.missing


def test_what_the_llm_said_before_is_told_apart():
    text = "You said: I will buy it. The page says I will buy it."
    spoken = source(text, own=((10, 24),))
    places = find("buy it", [spoken]).places
    assert [place.own for place in places] == [False, True]


def test_right_to_left_and_signs_of_expressions_are_only_text():
    text = "מחיר: 60 (.*) [a-z]+ \\d \x00 end"
    assert only("מחיר: 60", source(text)).how == "exact"
    assert only("(.*) [A-Z]+ \\D", source(text)).how == "loose"


def test_a_very_long_text_is_looked_for_by_its_beginning():
    page = source("word " * 50_000)
    place = find("word " * 40_000, [page]).places[0]
    assert place.how == "exact"
    assert len(place.excerpt) < 1000


def test_the_lead_goes_with_the_place():
    lead = Lead(run=3, step=4, call=7, part="7.1")
    assert only("lamp", source("a lamp", lead=lead)).lead == lead
