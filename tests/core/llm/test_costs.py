import time
from itertools import pairwise

import pytest

from core.llm.costs import TOKENS_PER_MESSAGE, TOKENS_PER_REPLY, Price, Prices, count_tokens, load_prices
from core.schema.errors import DataError
from core.schema.messages import Usage

MESSAGES = (
    (
        "",
        "You are a helpful, pattern-following assistant that translates corporate jargon into plain English.",
    ),
    ("example_user", "New synergies will help drive top-line growth."),
    ("example_assistant", "Things working well together will increase revenue."),
    (
        "example_user",
        "Let's circle back when we have more bandwidth to touch base on opportunities "
        "for increased leverage.",
    ),
    ("example_assistant", "Let's talk later when we're less busy about how to do better."),
    ("", "This late pivot means we don't have time to boil the ocean for the client deliverable."),
)
COUNTED_BY_THE_SERVER = 129


def test_the_estimate_for_a_conversation_is_within_a_tenth_of_the_servers_count():
    total = TOKENS_PER_REPLY
    for name, text in MESSAGES:
        total += TOKENS_PER_MESSAGE + 1 + count_tokens(text)
        if name:
            total += count_tokens(name) + 1
    assert total == pytest.approx(COUNTED_BY_THE_SERVER, rel=0.1)


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("tiktoken is great!", 6),
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 9),
        ("", 0),
    ],
)
def test_the_estimate_for_a_string_is_off_by_two_at_most(text, exact):
    assert abs(count_tokens(text) - exact) <= 2


def test_a_longer_text_never_has_fewer_tokens():
    page = '[12] button "Save all 1024 files…"\n\t— größer, 日本 🤚🏾 {"a": [1.5, null]}\n'
    counts = [count_tokens(page[:length]) for length in range(len(page) + 1)]
    assert all(after >= before - 1 for before, after in pairwise(counts))
    assert counts[-1] > 20


def test_a_page_of_a_hundred_thousand_characters_is_counted_without_a_stall():
    page = '[12] button "Save me"\n' * 5000
    started = time.process_time()
    assert count_tokens(page) == 5000 * count_tokens(page[:22])
    assert time.process_time() - started < 1.0


USAGE = Usage(prompt_tokens=1_000_000, completion_tokens=100_000, cached_tokens=400_000)


def test_cached_tokens_have_their_own_price():
    prices = Prices((Price(models=("m",), input=2.0, cached=0.5, output=8.0),))
    assert prices.costs("m", USAGE)[0] == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 0.1 * 8)


def test_cached_tokens_cost_as_others_where_the_list_does_not_say():
    assert Prices((Price(models=("m",), input=2.0, output=8.0),)).costs("m", USAGE)[0] == pytest.approx(2.8)


def test_the_first_pattern_that_matches_holds():
    prices = Prices(
        (Price(models=("gpt-?-mini",), input=1, output=0), Price(models=("gpt-*",), input=9, output=0))
    )
    usage = Usage(prompt_tokens=1_000_000)
    assert prices.costs("gpt-5-mini", usage)[0] == 1
    assert prices.costs("gpt-5", usage)[0] == 9


def test_a_prompt_beyond_the_bound_of_a_price_takes_the_next():
    prices = Prices(
        (Price(models=("m",), up_to=10, input=1, output=0), Price(models=("m",), input=2, output=0))
    )
    assert prices.costs("m", Usage(prompt_tokens=10))[0] == pytest.approx(10e-6)
    assert prices.costs("m", Usage(prompt_tokens=11))[0] == pytest.approx(22e-6)


@pytest.mark.parametrize("model", ["gpt-4o-audio-preview", "qwen3:8b", "openai/gpt-4o", "", "GPT-4O"])
def test_a_model_that_is_not_in_the_list_has_no_cost(model):
    assert load_prices().costs(model, USAGE)[0] is None


@pytest.mark.parametrize(
    ("model", "dollars"), [("gpt-4o", 0.6 * 2.5 + 0.4 * 1.25 + 1.0), ("gpt-4.1-mini-2025-04-14", 0.44)]
)
def test_the_shipped_list_knows_models_and_their_dated_names(model, dollars):
    assert load_prices().costs(model, USAGE)[0] == pytest.approx(dollars)


def test_the_users_own_file_goes_before_the_shipped_one(tmp_path):
    own = tmp_path / "prices.toml"
    own.write_text('[[price]]\nmodels = ["gpt-4o"]\ninput = 1\noutput = 0\n')
    prices = load_prices(own=own)
    assert prices.costs("gpt-4o", USAGE)[0] == pytest.approx(1.0)
    assert prices.costs("gpt-4o-mini", USAGE)[0] is not None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[[price]]\nmodels = ["a"]\ninput = 1\noutput = 1\n\n[[price]]\nmodels = ["b"]\nimput = 1\n',
         'line 8: there is no key "imput" in [price]; did you mean input?'),
        ('[[price]]\nmodels = ["a"]\ninput = -1\noutput = 1\n',
         'line 3: "input" = -1 in [price] cannot be used: '),
        ('[[price]]\nmodels = ["a"]\n', 'line 1: the key "input" is missing in [price]; add it.'),
        ("[[price]\n", "line 1: this is not TOML ("),
        ('price = "cheap"\n', 'line 1: "price"'),
    ],
)  # fmt: skip
def test_a_wrong_file_is_one_sentence_with_file_and_line(tmp_path, text, sentence):
    own = tmp_path / "prices.toml"
    own.write_text(text)
    with pytest.raises(DataError) as caught:
        load_prices(own=own)
    assert str(caught.value).startswith(f"{own}, {sentence}")
    assert "\n" not in str(caught.value)
