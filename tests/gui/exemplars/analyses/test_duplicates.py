import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.debugger.exemplars.analyses.views import Duplicates, PairTexts
from core.exemplars.analysis.records import NearPair
from gui.exemplars.analyses.duplicates import DuplicatesPage
from gui.exemplars.analyses.page import View
from gui.shell.undo import UndoHistory


def pair(id, other, distance=0.05, **more):
    found = {
        "same": "task",
        "families": ("login", "login"),
        "tasks": ("Log in as Ada.", "Log in as Bob."),
        "number": 1,
        **more,
    }
    return NearPair(id=id, other_id=other, distance=distance, other=2, **found)


FOUND = Duplicates(
    within=0.2,
    members=40,
    done=40,
    pairs=(pair("a", "b", 0.01), pair("b", "c", 0.1, same="neither"), pair("x", "y", 0.15, number=-1)),
)
VIEW = View(result=FOUND)


@pytest.fixture
def page(theme, qtbot: QtBot) -> DuplicatesPage:
    page = DuplicatesPage(theme, UndoHistory())
    qtbot.addWidget(page)
    page.resize(1100, 700)
    page.show()
    qtbot.waitExposed(page)
    return page


def keys(page):
    return [line.key for line in page.table.lines]


def test_before_it_was_asked_the_page_says_what_to_do(page):
    assert "press Find (Ctrl+Enter)" in page.body.words.text()


def test_what_is_asked_is_the_distance_that_was_chosen(page, qtbot):
    page.within.setValue(0.3)
    with qtbot.waitSignal(page.find_requested) as asked:
        qtbot.keyClick(page, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert asked.args == [0.3, False]


def test_what_is_found_has_the_keys_at_once(page, qtbot):
    page.within.setFocus()
    page.show_view(VIEW)
    assert page.table.hasFocus()
    with qtbot.waitSignal(page.merge_requested) as asked:
        qtbot.keyClick(page.window().focusWidget(), Qt.Key.Key_Left, Qt.KeyboardModifier.ControlModifier)
    assert asked.args == ["a", "b"]


def test_pairs_are_listed_by_groups_and_the_first_is_asked_for(page, qtbot):
    with qtbot.waitSignal(page.pair_requested) as asked:
        page.show_view(VIEW)
    assert asked.args == ["a", "b"]
    assert keys(page) == [("a", "b"), ("b", "c"), ("x", "y")]
    assert page.table.lines[0].cells[:3] == ("1: 3 alike", "0.010", "same task, other steps")
    assert page.note.text() == "3 pairs in 2 groups within 0.2."


def test_both_are_shown_beside_each_other_with_what_differs_marked(page, qtbot):
    page.show_view(VIEW)
    texts = PairTexts(ids=("a", "b"), left="task: one\nclick [1]", right="task: two\nclick [1]")
    page.show_view(View(result=FOUND.replace(texts=texts)))
    assert page.same.text() == "0.010 apart: same task, other steps"
    assert page.sides.changed == 1
    assert page.names[0].text() == "a"


def test_going_down_the_list_shows_the_next_pair_and_it_stays_when_more_are_found(page, qtbot):
    page.show_view(VIEW)
    page.table.setFocus()
    with qtbot.waitSignal(page.pair_requested) as asked:
        qtbot.keyClick(page.table, Qt.Key.Key_Down)
    assert asked.args == ["b", "c"]
    page.show_view(View(result=FOUND.replace(pairs=(pair("m", "n", 0.0), *FOUND.pairs))))
    assert page.chosen.ids == page.table.current_key == ("b", "c")
    page.show_view(View(result=FOUND.replace(retired={"b"})))
    assert page.chosen.ids == ("x", "y")


def test_each_way_of_dealing_with_a_pair_is_asked_for(page, qtbot):
    page.show_view(VIEW)
    for id, signal, args in (
        ("keep", page.keep_requested, ["a", "b", True]),
        ("left", page.merge_requested, ["a", "b"]),
        ("right", page.merge_requested, ["b", "a"]),
        ("open_right", page.exemplar_opened, ["b"]),
    ):
        with qtbot.waitSignal(signal) as asked:
            page.commands.by_id[id].action.trigger()
        assert asked.args == args


def test_a_command_that_cannot_be_used_says_why(page):
    commands = page.commands.by_id
    assert not commands["left"].action.isEnabled()
    assert "Choose a pair first" in commands["left"].action.toolTip()
    page.show_view(VIEW.replace(busy=True))
    assert commands["left"].action.isEnabled()
    assert "Exemplars are being compared" in commands["find"].action.toolTip()


def test_one_of_a_file_is_named_as_such(page, qtbot):
    page.show_view(VIEW)
    page.table.choose(("x", "y"))
    assert page.names[0].text() == "x (in a file)"


def test_a_part_is_shown_as_a_part_and_nothing_as_nothing(page):
    page.show_view(View(result=FOUND.replace(done=12, more=True)))
    assert "there may be more" in page.note.text()
    assert "only 12 of 40 were compared with all" in page.note.text()
    pairs = FOUND.pairs[:2]
    kept = FOUND.replace(pairs=pairs, kept=frozenset(pair.ids for pair in pairs))
    page.show_view(View(result=kept))
    assert page.body.words.text() == (
        "No two of the 40 exemplars lie within 0.2. 2 pairs marked to keep both are not listed."
    )
    page.show_view(View(result=kept.replace(with_kept=True)))
    assert page.commands.by_id["keep"].action.text() == "List again"
    page.show_view(View(result=FOUND.replace(pairs=(), done=3)))
    assert page.body.words.text() == "Cancelled before anything was found."
    page.show_view(View(result=FOUND.replace(pairs=(), done=0, members=0)))
    assert "There are no exemplars yet" in page.body.words.text()
