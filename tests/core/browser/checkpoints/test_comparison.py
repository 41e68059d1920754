from collections import Counter

import pytest

from core.browser.checkpoints.comparison import Volatile, compare, kept_otherwise, load_volatile, not_compared
from core.browser.checkpoints.page_state import PageState
from core.schema.errors import DataError
from core.schema.observation import Observation, Option, PageFrame, Tab
from core.schema.restore import VERIFIED
from tests.core.agent.spaces.pages import element, page


def form(**changes) -> Observation:
    field = element(2, "textbox", "Name", value=changes.get("value", ""))
    box = element(3, "checkbox", "Agree", states=changes.get("states", ()))
    return page(
        element(1, "heading", changes.get("heading", "Order")),
        field,
        box,
        element(4, "button", "Send"),
        url=changes.get("url", "http://corner.test/form?id=3"),
    )


def test_an_untouched_or_replayed_page_without_a_difference_is_exact_and_a_restored_one_is_not():
    grades = [compare(form(), form(), how).grade for how in ("untouched", "replayed", "restored")]
    assert grades == ["exact", "exact", "equivalent"]


@pytest.mark.parametrize(
    ("changes", "part"),
    [({"value": "Ada"}, "value"), ({"states": ("checked",)}, "states"), ({"heading": "Ordered"}, "")],
)
def test_a_changed_part_is_reported_and_the_page_is_the_same_page_at_best(changes, part):
    found = compare(form(), form(**changes), "replayed")
    assert found.grade == "same page"
    assert part in [one.part for one in found.differences]


def test_what_changes_by_itself_leaves_a_page_equivalent_but_never_exact():
    volatile = Volatile(words=(r"\d+ minutes ago",), url_parameters=("ts",))
    then = form(heading="Order, 3 minutes ago", url="http://corner.test/form?id=3&ts=1")
    now = form(heading="Order, 9 minutes ago", url="http://corner.test/form?id=3&ts=2")
    found = compare(then, now, "replayed", volatile)
    assert found.grade == "equivalent"
    assert [one.volatile for one in found.differences] == [True, True]
    assert found.sentence == "equivalent, 2 in parts that change by themselves"
    assert 'name "Order, 3 minutes ago" is now "Order, 9 minutes ago"' in found.told
    assert compare(then, now, "replayed").grade == "lost"


def test_another_address_or_other_contents_is_lost():
    assert compare(form(), form(url="http://corner.test/form?id=4"), "restored").grade == "lost"
    other = page(element(1, "heading", "Sign in"), url="http://corner.test/form?id=3")
    assert compare(form(), other, "restored").grade == "lost"


def test_an_element_that_came_or_went_is_named():
    then, now = form(), page(*form().elements[:-1], element(9, "link", "Help"), url=form().url)
    differences = [(one.what, one.element) for one in compare(then, now, "restored").differences]
    assert differences == [("gone", 'button "Send"'), ("added", 'link "Help"')]


def test_the_chosen_option_counts():
    def chosen(first: bool) -> Observation:
        options = (
            Option(label="A", value="a", selected=first),
            Option(label="B", value="b", selected=not first),
        )
        return page(element(1, "combobox", "Pick", options=options))

    (difference,) = compare(chosen(True), chosen(False), "restored").differences
    assert (difference.part, difference.before, difference.now) == ("options", "*A* | B", "A | *B*")


def test_scrolling_is_a_difference():
    now = form().replace(scroll=(0, 40))
    assert compare(form(), now, "untouched").grade == "same page"


@pytest.mark.parametrize(
    ("then", "now", "equal"),
    [
        (element(1, "text", "10:30"), element(1, "text", "10:31"), True),
        (element(1, "timer", "left 10:30"), element(1, "timer", "left 10:29"), True),
        (element(1, "text", "Dentist 10:30"), element(1, "text", "Dentist 14:00"), False),
        (
            element(1, "textbox", "Start", value="10:30", uses=("type",)),
            element(1, "textbox", "Start", value="14:00", uses=("type",)),
            False,
        ),
    ],
)
def test_a_time_changes_by_itself_only_where_nothing_else_is_said_and_nobody_can_have_put_it(
    then, now, equal
):
    assert (compare(page(then), page(now), "restored", load_volatile()).grade in VERIFIED) is equal


def test_a_number_in_an_address_that_may_be_a_topic_does_not_change_by_itself():
    then, now = (form(url=f"http://forum.test/topic?t={number}") for number in (12, 99))
    assert compare(then, now, "restored", load_volatile()).grade == "lost"


def rows(*names: str) -> Observation:
    return page(*(element(at, "cell", name) for at, name in enumerate(names, start=1)))


def test_large_pages_that_differ_are_compared_and_their_order_counts():
    """Looking for the longest common order would take minutes."""
    mixed = ["yes" if at % 3 else "no" for at in range(20_000)]
    then, now = rows(*mixed), rows(*reversed(mixed))
    found = compare(then, now, "replayed")
    assert (found.grade, [one.part for one in found.differences]) == ("same page", ["order"])
    last = compare(then, rows(*mixed, "new"), "replayed").differences
    assert [(one.what, one.element) for one in last] == [("added", 'cell "new"')]
    more = compare(then, rows(*reversed(mixed), "new"), "replayed").differences
    assert ("added", 'cell "new"') in [(one.what, one.element) for one in more]


@pytest.mark.parametrize(("name", "number"), [("Add", 3_000), ("item {}", 30_000)])
def test_large_pages_of_which_every_second_row_has_changed_are_compared(name, number):
    """The same."""
    then, now = (
        rows(*(name.format(at) if at % 2 else f"{word} {at}" for at in range(number)))
        for word in ("was", "is")
    )
    found = compare(then, now, "replayed").differences
    assert Counter(one.what for one in found) == {"gone": number // 2, "added": number // 2}


def test_what_is_in_another_place_of_a_small_page_is_gone_and_added():
    found = compare(rows("a", "b", "c", "d"), rows("a", "c", "b", "d"), "replayed")
    assert sorted(one.what for one in found.differences) == ["added", "gone"]


def tabs(*urls: str, current: int = 0) -> tuple[Tab, ...]:
    return tuple(Tab(index=at, title="", url=url, current=at == current) for at, url in enumerate(urls))


@pytest.mark.parametrize(
    ("then", "now", "told"),
    [
        (
            {"tabs": tabs("http://a.test/", "http://b.test/cart")},
            {"tabs": tabs("http://a.test/", "http://b.test/placed")},
            'tab 2: url "http://b.test/cart" is now "http://b.test/placed"',
        ),
        (
            {"tabs": tabs("http://a.test/", "http://b.test/")},
            {"tabs": tabs("http://a.test/", "http://b.test/", current=1)},
            'the page: current tab "1" is now "2"',
        ),
        ({"omitted": 10}, {"omitted": 5000}, 'the page: elements left out "10" is now "5000"'),
        (
            {"frames": (PageFrame(id="1", url="http://a.test/"), PageFrame(id="2", url="http://pay.test/1"))},
            {"frames": (PageFrame(id="1", url="http://a.test/"), PageFrame(id="3", url="http://pay.test/2"))},
            'frame 1: url "http://pay.test/1" is now "http://pay.test/2"',
        ),
    ],
)
def test_other_tabs_frames_and_elements_that_are_not_read_are_compared(then, now, told):
    found = compare(form().replace(**then), form().replace(**now), "replayed")
    assert (found.grade, found.told) == ("same page", told)


def framed(url: str, words: str, number: int = 1) -> Observation:
    frames = (PageFrame(id="1", url="http://a.test/"), PageFrame(id=str(number), url=url))
    inner = element(9, "button", words).replace(frame=1)
    return form().replace(frames=frames, elements=(*form().elements, inner))


def test_other_parameters_of_a_frame_do_not_count_while_its_elements_are_equal():
    then, now = (framed(f"http://ads.test/box?cb={number}", "Close", number) for number in (17, 25))
    found = compare(then, now, "replayed")
    assert found.sentence == "equivalent, 1 in parts that change by themselves"
    other = compare(then, framed("http://ads.test/box?cb=25", "Open"), "replayed")
    assert 'frame 1: url "http://ads.test/box?cb=17" is now "http://ads.test/box?cb=25"' in other.told
    assert compare(then, framed("http://pay.test/box?cb=17", "Close"), "replayed").grade == "same page"
    assert compare(then, framed("http://ads.test/box?cb=17#open", "Close"), "replayed").grade == "same page"


def test_of_a_frame_without_elements_each_parameter_counts():
    then, now = (
        form().replace(
            frames=(
                PageFrame(id="1", url="http://a.test/"),
                PageFrame(id="2", url=f"http://pdf.test/?doc={number}"),
            )
        )
        for number in (1, 2)
    )
    assert compare(then, now, "replayed").grade == "same page"


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ({"omitted": 0}, {"omitted": 40}),
        (
            {"elements": (element(1, "textbox", "Body", value="x" * 1999 + "…"),)},
            {"elements": (element(1, "textbox", "Body", value="x" * 1999 + "…", digest="abc"),)},
        ),
    ],
)
def test_what_an_earlier_version_did_not_read_does_not_count_and_is_named_so(then, now):
    old, new = form().replace(**then, reader=5), form().replace(**now, reader=6)
    found = compare(old, new, "replayed")
    assert found.sentence == "equivalent, 1 because an earlier version read pages differently"
    assert compare(old.replace(reader=6), new, "replayed").grade not in VERIFIED


def test_what_an_earlier_version_did_read_still_counts():
    old, new = form().replace(omitted=40, reader=5), form().replace(omitted=0, reader=6)
    assert compare(old, new, "replayed").grade == "same page"
    texts = ("x" * 1999 + "…", "y" * 1999 + "…")
    old, new = (page(element(1, "textbox", "Body", value=one), url="http://a.test/") for one in texts)
    assert compare(old.replace(reader=5), new.replace(reader=6), "replayed").grade == "same page"


def test_a_parameter_of_another_tab_that_changes_by_itself_does_not_count():
    volatile = Volatile(url_parameters=("ts",))
    then, now = (form().replace(tabs=tabs("http://a.test/", f"http://b.test/?ts={time}")) for time in (1, 2))
    assert compare(then, now, "replayed", volatile).grade == "equivalent"


def test_the_file_that_comes_along_is_read_and_a_mistake_in_one_is_reported(tmp_path):
    assert load_volatile().text("posted 5 minutes ago at 10:32") == "posted … at 10:32"
    path = tmp_path / "volatile.toml"
    path.write_text('words = ["("]', encoding="utf-8")
    with pytest.raises(DataError, match=r"line 1: .*not a regular expression"):
        load_volatile(path)


def test_what_a_later_look_finds_otherwise_changes_by_itself_and_nothing_else_does():
    then, now, later = form(value="12"), form(value="15"), form(value="16")
    found = compare(then, now, "replayed", later=later)
    assert (found.grade, [one.volatile for one in found.differences]) == ("equivalent", [True])
    assert compare(then, now, "replayed", later=now).grade == "same page"
    checked = form(value="15", states=("checked",))
    ticking = form(value="16", states=("checked",))
    assert compare(then, checked, "replayed", later=ticking).grade == "same page"


def test_the_past_of_a_tab_and_unseen_html_are_reported_and_leave_a_page_equivalent():
    then, now = PageState(behind=("http://a.test/",), content="x"), PageState(behind=(), content="y")
    beside = kept_otherwise(then, now, Volatile())
    found = compare(form(), form(), "replayed", beside=beside)
    assert (found.grade, [one.part for one in found.differences]) == ("equivalent", ["history", "html"])
    assert found.sentence == "equivalent, other HTML that no element shows and another history of the tab"


def test_html_is_not_named_where_elements_show_it():
    beside = kept_otherwise(PageState(content="x"), PageState(content="y"), Volatile())
    found = compare(form(), form(value="Ada"), "replayed", beside=beside)
    assert [one.part for one in found.differences] == ["value"]


def test_what_was_not_read_is_not_compared():
    then = PageState(local=None, session={"s": "1"}, databases=None)
    now = PageState(local={"l": "1"}, session=None, databases='["x"]')
    assert [one.part for one in kept_otherwise(then, now, Volatile())] == ["session storage s"]


@pytest.mark.parametrize(
    ("then", "now", "told"),
    [
        (PageState(), PageState(), ""),
        (
            PageState(local=None, unread=("local storage is too large",)),
            PageState(local=None, unread=("local storage is too large",)),
            "Storage was not compared: local storage is too large.",
        ),
        (
            PageState().without_logins(),
            PageState(local={"cart": "3"}),
            "Storage was not compared: that of a named profile is not recorded.",
        ),
    ],
)
def test_what_was_not_read_is_told(then, now, told):
    assert not_compared(then, now) == told


@pytest.mark.parametrize(
    ("size", "detail", "grade"),
    [
        ((600, 400), "green use 18×16 at 23,120", "equivalent"),
        ((1000, 780), "green use 18×16 at 23,120", "same page"),
        ((600, 400), "red use 18×16 at 23,120", "same page"),
    ],
)
def test_a_drawn_thing_may_be_elsewhere_in_a_window_of_another_size_alone(size, detail, grade):
    def drawn(detail, viewport):
        shown = [element(1, "heading", "Order"), element(2, "textbox", "Name"), element(3, "button", "Send")]
        seen = page(*shown, element(4, "graphics-symbol", "", detail=detail))
        return seen.replace(viewport=viewport)

    then = drawn("green use 18×16 at 20,-5", (1000, 780))
    found = compare(then, drawn(detail, size), "restored")
    assert found.grade == grade
    if grade == "equivalent":
        assert found.sentence == "equivalent, 1 because of another window size"
