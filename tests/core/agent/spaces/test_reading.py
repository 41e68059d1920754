"""What is kept of a candidate's pages, and what of it the page in view does not show."""

from core.agent.spaces.file import SpaceState
from core.agent.spaces.reading import KEPT_TOKENS, cut_to, noticed, text_of, unseen
from core.agent.spaces.recognition import offered_actions
from core.llm.costs import count_tokens
from core.schema.pattern import parse_pattern
from core.schema.progress import SpaceMemory
from tests.core.agent.spaces.pages import element, page

STATE = SpaceState.model_validate(
    {
        "name": "item",
        "candidate": "item",
        "candidate_from": {"element": 'paragraph ~"^No (?P<value>B[0-9]+)"'},
        "keeps": {"price": 'paragraph ~"^Price: (?P<value>.+)"', "features": 'region "Features"'},
        "action": [
            {"name": "features", "description": "Read.", "does": ["click [1]"], "reads": "features"},
            {"name": "buy", "description": "Buy.", "does": ["click [2]"]},
        ],
    }
)
NUMBER, PRICE = element(1, "paragraph", "No B1 of ten"), element(2, "paragraph", "Price: $ 9")
FEATURES = (
    element(3, "region", "Features"),
    element(4, "heading", "Features", parent=3),
    element(5, "listitem", "Made of  jute, see care", parent=3),
    element(6, "link", "see care", parent=5),
    element(7, "listitem", "Folds\nflat", parent=3),
    element(8, "textbox", "Note", value="mine", parent=3),
)


def seen(*elements, memory=SpaceMemory()):  # noqa: B008 - it is frozen
    return noticed(memory, STATE, page(*elements), "", step=4)


def offered(memory):
    return [one.name for one in offered_actions(STATE, page(), memory=memory)]


def test_what_the_page_says_is_kept_in_one_line_and_nothing_twice():
    text = text_of(parse_pattern('region "Features"'), page(*FEATURES))
    assert text == "Made of jute, see care / Folds flat / Note / mine"


def test_what_was_read_of_a_candidate_adds_up_and_is_not_offered_again():
    first = seen(NUMBER, PRICE)
    assert offered(first) == ["features", "buy"]
    both = seen(NUMBER, *FEATURES, memory=first)
    assert [(one.candidate, one.name, one.step) for one in both.kept] == [
        ("B1", "price", 4),
        ("B1", "features", 4),
    ]
    assert offered(both) == ["buy"]


def test_the_price_is_the_one_that_was_seen_last():
    memory = seen(NUMBER, element(2, "paragraph", "Price: $ 12"), memory=seen(NUMBER, PRICE))
    assert [one.text for one in memory.kept] == ["$ 12"]


def test_what_is_read_on_a_page_that_was_opened_otherwise_is_of_the_candidate_that_the_page_names():
    memory = seen(NUMBER, PRICE, memory=SpaceMemory(remembered={"item": "B9", "words": "mat"}))
    assert memory.remembered == {"words": "mat", "item": "B1"}
    assert memory.kept_of("B9") == ()
    assert seen(PRICE, memory=memory).remembered == {"words": "mat"}


def test_only_what_the_page_in_view_does_not_show_is_told_beside_it():
    memory = seen(NUMBER, PRICE, *FEATURES)
    shown = page(NUMBER, PRICE).lines()
    assert [one.name for one in unseen(memory, STATE, shown)] == ["features"]
    assert unseen(memory, STATE, page(NUMBER, PRICE, *FEATURES).lines()) != ()
    flat = (element(3, "region", "Features"), element(4, "listitem", "Folds", parent=3))
    assert unseen(seen(NUMBER, *flat), STATE, page(*flat).lines()) == ()


def test_a_long_text_is_cut_and_says_by_how_much():
    memory = seen(NUMBER, element(3, "region", "Features"), element(4, "paragraph", "jute " * 900, parent=3))
    (kept,) = memory.kept
    assert count_tokens(kept.text) <= KEPT_TOKENS
    assert kept.cut == count_tokens(" ".join(["jute"] * 900)) - count_tokens(kept.text)
    assert kept.told.endswith(f"jute … (cut here, about {kept.cut} more tokens)")
    assert cut_to("jute " * 3, 0) == ("", count_tokens("jute " * 3))
