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


@pytest.mark.parametrize(
    ("action", "name", "does"),
    [
        ("click [1]", "购买", {"click_button": ('click [button "购买"]',)}),
        ("click [1]", "At", {"click_button": ('click [button "At"]',)}),
        ("type [1] [x]", "Купить", {"type_button": ('type [button "Купить"] [{text}]',)}),
        ("click [1]", "Add {item}", {}),
        ("drag [1] [2]", "Map", {}),
        ("upload [1] [/a]", "Photo", {}),
        ("select_text [1] [x]", "Words", {}),
    ],
)
def test_the_draft_can_be_read_whatever_was_done_and_however_it_is_called(tmp_path, action, name, does):
    seen = page(element(1, "button", name, uses=("click",)), element(2, "heading", "Shop"))
    path = tmp_path / "draft.toml"
    text = draft_space([DraftPage(observation=seen, action=parse_action(action))], title="x")
    path.write_text(text, encoding="utf-8")
    assert {one.name: one.does for one in read_space(path).state[0].action} == does


def test_without_pages_there_is_nothing_to_draft():
    with pytest.raises(ValueError, match="no recorded pages"):
        draft_space([], title="x")


def test_one_page_seen_twice_is_one_state():
    assert [state.pages for state in group_pages([DraftPage(observation=search())] * 2)] == [[0, 1]]


# Kinds of pages, and data in names

TOOLBAR = ("Home", "Users", "Reports", "Settings", "Help", "Log out")


def admin(path: str, heading: str, *controls: tuple[str, str], toolbar: bool = True) -> Observation:
    links = TOOLBAR if toolbar else ()
    return page(
        *(element(n, "link", name, uses=("click",)) for n, name in enumerate(links, start=1)),
        element(20, "heading", heading),
        *(element(n, role, name, uses=("click",)) for n, (role, name) in enumerate(controls, start=21)),
        url=f"http://admin.test{path}",
    )


LIST = (("button", "Add user"), ("searchbox", "Filter"), ("button", "Export"))
FORM = (("textbox", "Email"), ("button", "Save"), ("button", "Delete"))


def grouped(*observations: Observation) -> list[list[int]]:
    return [state.pages for state in group_pages([DraftPage(observation=one) for one in observations])]


def test_a_list_and_a_form_below_the_same_tool_bar_are_two_states():
    found = grouped(
        admin("/login", "Log in", ("button", "Log in"), toolbar=False),
        admin("/users", "Users", *LIST),
        admin("/users/7", "Ada", *FORM),
        admin("/users?page=2", "Users", *LIST),
        admin("/users/12", "Bob", *FORM),
    )
    assert found == [[0], [1, 3], [2, 4]]


def test_pages_that_differ_by_id_slug_query_and_page_number_are_one_state(tmp_path):
    pages = [
        admin("/", "Welcome", ("button", "Start")),
        *(
            admin(f"/blog/{slug}", slug, *FORM)
            for slug in ("first-words", "on-lamps", "a-rug", "post-7?page=2")
        ),
    ]
    assert grouped(*pages) == [[0], [1, 2, 3, 4]]
    path = tmp_path / "draft.toml"
    path.write_text(draft_space([DraftPage(observation=one) for one in pages], title="t"), encoding="utf-8")
    space = read_space(path)
    assert recognise_state(space, admin("/blog/unseen", "Unseen", *FORM)).state == "blog"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("4 pages created in demo", "7 pages created in demo"),
        ("Pages created in demo", "Pages created in sales"),
        ("Updated on Monday by Ada", "Updated on Friday by Bob"),
    ],
)
def test_names_with_data_in_them_are_no_part_of_the_draft(one, other):
    pages = [
        DraftPage(
            observation=admin("/dash", "Overview", ("link", name), ("button", "New page")),
            action=parse_action(action),
        )
        for name, action in ((one, "click [21]"), (other, "click [21]"), (other, "click [22]"))
    ]
    text = draft_space(pages, title="t")
    assert "click_new_page" in text
    assert one not in text
    assert other not in text
    assert "parameter" not in text


def test_what_one_page_of_another_state_shows_does_not_tell_it_apart():
    pages = [
        admin("/", "Overview", ("button", "New page")),
        admin("/", "Overview", ("button", "New page"), ("list", "Ada's drafts"), *FORM, *LIST),
        admin("/", "Overview", ("button", "New page"), ("list", "Bob's drafts"), *FORM, *LIST),
    ]
    text = draft_space([DraftPage(observation=one) for one in pages], title="t")
    assert "drafts" not in text
