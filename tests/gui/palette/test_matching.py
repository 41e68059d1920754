"""Fuzzy matching: what is found, where, and which of two is the better match."""

import pytest

from gui.palette.matching import match


@pytest.mark.parametrize(
    ("words", "text", "places"),
    [
        ("step", "Run to a step", (9, 10, 11, 12)),
        ("rts", "Run to the subtask", (0, 7, 11)),
        ("step run", "Run to a step", (0, 1, 2, 9, 10, 11, 12)),
        ("BF", "miniwob/book-flight", (8, 13)),
        ("", "anything", ()),
        ("kl", "İstanbul: Klik", (10, 11)),
        ("istanbul", "ISTANBUL", (0, 1, 2, 3, 4, 5, 6, 7)),
        ("İS", "in İstanbul", (3, 4)),
    ],
)
def test_letters_are_found_in_their_order_and_at_the_starts_of_words_first(words, text, places):
    found = match(words, text)
    assert found is not None
    assert found.places == places


@pytest.mark.parametrize(
    ("words", "text"),
    [("pets", "step"), ("stepp", "step"), ("step zz", "step"), ("s", "\u017f"), ("sp", "\u017fpp")],
)
def test_a_text_that_lacks_a_letter_or_its_order_does_not_match(words, text):
    assert match(words, text) is None


@pytest.mark.parametrize(
    ("words", "better", "worse"),
    [
        ("set", "LLM settings", "Reset layout"),
        ("run", "Run", "Export run"),
        ("ae", "Accept everything", "Bake the tray"),
        ("step", "Step", "set this example up"),
    ],
)
def test_whole_words_and_starts_of_words_match_better(words, better, worse):
    first, second = match(words, better), match(words, worse)
    assert first is not None
    assert second is None or first.score > second.score


def test_a_long_text_without_a_match_is_given_up_at_once():
    assert match("a" * 30 + "b", "a" * 100_000) is None
