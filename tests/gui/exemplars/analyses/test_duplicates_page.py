import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.debugger.exemplars.analyses.views import DuplicatePair, DuplicatesView, PairTexts
from gui.exemplars.analyses.duplicates_page import DuplicatesPage
from gui.shell.undo import UndoHistory


def pair(id, other, distance=0.05, **more):
    found = {
        "same": "task",
        "family": "login",
        "other_family": "login",
        "task": "Log in as Ada.",
        "other_task": "Log in as Bob.",
        **more,
    }
    return DuplicatePair(id=id, other=other, distance=distance, **found)


VIEW = DuplicatesView(
    asked=True,
    within=0.2,
    members=40,
    compared=40,
    whole=True,
    groups=((pair("a", "b", 0.01), pair("b", "c", 0.1, same="neither")), (pair("x", "y", read_only=True),)),
)
NOTHING = VIEW.replace(groups=())


@pytest.fixture
def page(theme, qtbot: QtBot) -> DuplicatesPage:
    page = DuplicatesPage(theme, UndoHistory())
    qtbot.addWidget(page)
    page.resize(1100, 700)
    page.show()
    qtbot.waitExposed(page)
    return page


def keys(page):
    return [row.key for row in page.rows.rows]


def test_before_it_was_asked_the_page_says_what_to_do(page):
    assert "press Find (Ctrl+Enter)" in page.or_words.words.text()
    assert not page.undo_button.isEnabled()


def test_what_is_asked_is_the_distance_that_was_chosen(page, qtbot):
    page.within.setValue(0.3)
    with qtbot.waitSignal(page.find_requested) as asked:
        qtbot.keyClick(page, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert asked.args == [0.3, False]


def test_pairs_are_listed_by_groups_and_the_first_is_asked_for(page, qtbot):
    with qtbot.waitSignal(page.pair_requested) as asked:
        page.show_view(VIEW)
    assert asked.args == ["a", "b"]
    assert keys(page) == [None, ("a", "b"), ("b", "c"), None, ("x", "y")]
    assert page.rows.rows[0].title == "3 alike"
    assert page.rows.rows[1].title == "0.010  same task, other steps"
    assert page.words.text() == "3 pairs in 2 groups within 0.2."


def test_both_are_shown_beside_each_other_with_what_differs_marked(page, qtbot):
    page.show_view(VIEW)
    texts = PairTexts(id="a", other="b", left="task: one\nclick [1]", right="task: two\nclick [1]")
    page.show_view(VIEW.replace(pair=texts))
    assert page.same.text() == "0.010 apart: same task, other steps"
    assert page.sides.changed == 1
    assert page.left_name.text() == "a"


def test_going_down_the_list_shows_the_next_pair_and_it_stays_when_more_are_found(page, qtbot):
    page.show_view(VIEW)
    page.rows.setFocus()
    with qtbot.waitSignal(page.pair_requested) as asked:
        qtbot.keyClick(page.rows, Qt.Key.Key_Down)
    assert asked.args == ["b", "c"]
    more = VIEW.replace(groups=((pair("m", "n", 0.0),), *VIEW.groups))
    page.show_view(more)
    assert page.chosen.ids == ("b", "c")
    assert page.rows.rows[page.rows.currentIndex().row()].key == ("b", "c")


def test_each_way_of_dealing_with_a_pair_is_asked_for(page, qtbot):
    page.show_view(VIEW)
    for button, signal, args in (
        (page.keep_button, page.keep_requested, ["a", "b", True]),
        (page.keep_left, page.merge_requested, ["a", "b"]),
        (page.keep_right, page.merge_requested, ["b", "a"]),
        (page.open_right, page.exemplar_opened, ["b"]),
    ):
        with qtbot.waitSignal(signal) as asked:
            button.click()
        assert asked.args == args


def test_one_of_a_file_cannot_be_archived_and_the_button_says_so(page, qtbot):
    page.show_view(VIEW)
    page.rows.setCurrentIndex(page.rows.rows_model.index(4))
    assert (page.keep_left.isEnabled(), page.keep_right.isEnabled()) == (True, False)
    assert "cannot be archived" in page.keep_right.toolTip()
    assert "read-only" in page.left_name.text()


def test_a_part_is_shown_as_a_part_and_nothing_as_nothing(page):
    part = VIEW.replace(whole=False, compared=12, more=True)
    page.show_view(part)
    assert "there may be more" in page.words.text()
    assert "only 12 of 40 were compared with all" in page.words.text()
    page.show_view(NOTHING.replace(hidden=2))
    assert page.or_words.words.text() == (
        "No two of the 40 exemplars lie within 0.2. 2 pairs marked to keep both are not listed."
    )
