import pytest

from core.agent.spaces.draft import DraftPage, draft_space, group_pages
from core.agent.spaces.file import read_space
from core.agent.spaces.recognition import recognise_state
from core.schema.action_text import parse_action
from core.schema.observation import Observation
from tests.core.agent.spaces.pages import element, page


def search(path="/") -> Observation:
    return page(
        element(1, "heading", "Corner shop"),
        element(2, "searchbox", "Find", uses=("type",)),
        element(3, "button", "Search", uses=("click",)),
        url=f"http://corner.test{path}",
    )


def results(words: str, *items: str) -> Observation:
    links = [element(20 + n, "link", item, uses=("click",)) for n, item in enumerate(items)]
    return page(
        element(1, "heading", f"Results for {words}"),
        element(2, "link", "Back to search", uses=("click",)),
        element(3, "button", "Next page", uses=("click",)),
        *links,
        url=f"http://corner.test/results?q={words}",
    )


def item(name: str, number: int) -> Observation:
    return page(
        element(1, "heading", name),
        element(2, "link", "Back to results", uses=("click",)),
        element(3, "button", "Buy now", uses=("click",)),
        element(4, "tab", "Reviews", uses=("click",)),
        url=f"http://corner.test/item/B{number}",
    )


def recorded() -> list[DraftPage]:
    steps = [
        (search(), 'type [2] [a "red" lamp]'),
        (search(), "click [3]"),
        (results("lamp", "Red lamp", "Blue lamp", "Desk lamp", "Floor lamp"), "click [20]"),
        (item("Red lamp", 71), "click [2]"),
        (results("lamp", "Red lamp", "Blue lamp", "Desk lamp", "Floor lamp"), "click [21]"),
        (item("Blue lamp", 8), "click [2]"),
        (results("lamp", "Red lamp", "Blue lamp", "Desk lamp", "Floor lamp"), "click [22]"),
        (item("Desk lamp", 19), "click [2]"),
        (results("rug", "Round rug", "Long rug", "Bath rug"), "click [20]"),
        (item("Round rug", 12), "click [3]"),
    ]
    return [DraftPage(observation=seen, action=parse_action(text)) for seen, text in steps]


def test_pages_of_like_structure_are_one_state_whatever_they_list():
    assert [(state.name, state.pages) for state in group_pages(recorded())] == [
        ("corner_shop", [0, 1]),
        ("results", [2, 4, 6, 8]),
        ("item", [3, 5, 7, 9]),
    ]


@pytest.mark.parametrize("one_address", [False, True])
def test_the_draft_can_be_read_and_recognises_each_page_as_its_own_state_alone(tmp_path, one_address):
    pages = recorded()
    if one_address:
        pages = [one.replace(observation=one.observation.replace(url="http://a.test/")) for one in pages]
    path = tmp_path / "draft.toml"
    path.write_text(draft_space(pages, title='The "corner"', environment="corner"), encoding="utf-8")
    space = read_space(path)
    found = [recognise_state(space, one.observation) for one in pages]
    assert [one.also for one in found] == [()] * len(pages)
    by_state = [one.state for one in found]
    assert by_state[0] == by_state[1]
    assert by_state[2] == by_state[4] == by_state[8]
    assert by_state[3] == by_state[5] == by_state[9]
    assert len(set(by_state)) == 3


def test_what_was_done_in_a_state_becomes_its_actions_with_where_they_led(tmp_path):
    path = tmp_path / "draft.toml"
    path.write_text(draft_space(recorded(), title="Corner"), encoding="utf-8")
    space = read_space(path)
    found = {state.name: {one.name: one for one in state.action} for state in space.state}
    assert found["corner_shop"]["type_find"].does == ('type [searchbox "Find"] [{text}]',)
    assert found["corner_shop"]["click_search"].leads_to == ("results",)
    assert found["results"]["click_link"].parameter[0].from_page.element == "link"
    assert found["item"]["click_buy_now"].does == ('click [button "Buy now"]',)


def test_without_pages_there_is_nothing_to_draft():
    with pytest.raises(ValueError, match="no recorded pages"):
        draft_space([], title="x")


def test_one_page_seen_twice_is_one_state():
    assert [state.pages for state in group_pages([DraftPage(observation=search())] * 2)] == [[0, 1]]
