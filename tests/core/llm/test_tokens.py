"""The estimate beside counts that are published: OpenAI's cookbook, "How to count tokens with tiktoken"."""

import time
from itertools import pairwise

import pytest

from core.llm.tokens import TOKENS_PER_MESSAGE, TOKENS_PER_REPLY, count_tokens

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
