"""Compare: two runs aligned, the first difference chosen, and two steps part by part."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from core.debugger.compare.views import AlignedPair, Compared, ComparedView, PairView, Part
from gui.compare.window import CompareWindow
from gui.panels.diff import PICTURE
from tests.gui import samples

LEFT, RIGHT = (
    samples.run_row(18, name="with exemplars"),
    samples.run_row(21, parent_run=18, parent_step=2, llm="llama3.3"),
)
SEARCH, RESULTS, BLUE, GREEN, BUY = samples.STEPS
OTHER = samples.step_row(21, 2, action="click [14]", target='link "Brass lamp"')
END = samples.step_row(21, 3, action="stop [none]", target="", outcome="failed")
COMPARED = Compared(
    left=LEFT,
    right=RIGHT,
    pairs=(
        AlignedPair(left=SEARCH, right=SEARCH, shared=True),
        AlignedPair(left=RESULTS, right=OTHER, differs=("page", "action")),
        AlignedPair(left=BLUE, right=None),
        AlignedPair(left=GREEN, right=GREEN.replace(run=21, number=3)),
        AlignedPair(left=BUY, right=END, differs=("action", "outcome")),
    ),
)
VIEW = ComparedView(left=18, right=21, compared=COMPARED)
PAGE = "\n".join(f"[{at}] link 'Lamp number {at}'" for at in range(200))
PARTS = (
    Part(name="state", left="shop: results", right="shop: results"),
    Part(name="thought", left="The first lamp is green.", right="The brass lamp is cheaper."),
    Part(name="action", left='click [12]\nlink "Minton"', right='click [14]\nlink "Brass lamp"'),
    Part(name="plan", left="Find a lamp (done)", right=""),
    Part(name="page", left=PAGE, right=PAGE.replace("number 150'", "number 150, sold'")),
)
PAIR = PairView(left=(18, 2), right=(21, 2), parts=PARTS)


def with_pictures() -> PairView:
    """Return the pair with both pages; drawing them needs an application."""
    pictures = {"left_picture": samples.screenshot(), "right_picture": samples.screenshot(600, 380)}
    return PAIR.replace(**pictures)


@pytest.fixture
def compare(qtbot: QtBot, theme) -> CompareWindow:
    compare = CompareWindow(theme)
    qtbot.addWidget(compare)
    compare.show()
    qtbot.waitExposed(compare)
    compare.activateWindow()
    compare.show_compared(VIEW)
    return compare


def cells(compare: CompareWindow, row: int) -> list[str]:
    return [compare.model.index(row, column).data() for column in range(3)]


def row_of(compare: CompareWindow) -> int:
    return compare.table.currentIndex().row()


def words(compare: CompareWindow) -> dict[str, str]:
    return {row.key: row.word for row in compare.beside.names.rows}


def test_the_steps_stand_beside_each_other_with_what_differs_in_words(compare):
    assert cells(compare, 0)[2] == "one shared step"
    assert cells(compare, 1) == [
        '2. click link "Minton ceramic table lamp"',
        '2. click link "Brass lamp"',
        "First difference: page, action",
    ]
    assert cells(compare, 2)[1:] == ["–", "only on the left"]
    assert cells(compare, 3)[2] == "same"
    assert cells(compare, 4)[1:] == ["3. ✗ stop [none]", "action, outcome"]


def test_the_first_difference_is_chosen_and_read_at_first(qtbot, theme):
    compare = CompareWindow(theme)
    qtbot.addWidget(compare)
    with qtbot.waitSignal(compare.pair_requested) as asked:
        compare.show_compared(VIEW)
    assert asked.args == [(18, 2), (21, 2)]
    assert row_of(compare) == 1
    assert "differ from step 2" in compare.summary.text()


def test_n_and_shift_n_go_through_the_differences(compare, qtbot):
    qtbot.waitUntil(compare.isActiveWindow)
    visited = []
    for _ in range(3):
        QTest.keyClick(compare, Qt.Key.Key_N)
        visited.append(row_of(compare))
    assert visited == [2, 4, 4]
    assert not compare.next_button.isEnabled()
    QTest.keyClick(compare, Qt.Key.Key_N, Qt.KeyboardModifier.ShiftModifier)
    assert row_of(compare) == 2


def test_a_step_without_counterpart_is_asked_for_alone(compare, qtbot):
    with qtbot.waitSignal(compare.pair_requested) as asked:
        compare.go_on(1)
    assert asked.args == [(18, 3), None]


def test_any_step_can_be_put_beside_any_other(compare, qtbot):
    choice = compare.choices["Left"]
    place = choice.findText("Run 18, step 5.", Qt.MatchFlag.MatchStartsWith)
    choice.setCurrentIndex(place)
    with qtbot.waitSignal(compare.pair_requested) as asked:
        choice.activated.emit(place)
    assert asked.args == [(18, 5), (21, 2)]
    assert not compare.table.selectionModel().hasSelection()


def test_the_parts_tell_which_differ_and_the_first_that_does_is_shown(compare):
    compare.show_pair(with_pictures())
    assert words(compare) == {
        "state": "same",
        "thought": "differs",
        "action": "differs",
        "plan": "only left",
        "page": "differs",
        PICTURE: "differs",
    }
    assert compare.differing.text() == "5 parts differ"
    assert compare.beside.names.key == "thought"
    assert compare.beside.texts.left.source == "The first lamp is green."
    assert (compare.beside.left_title.text(), compare.beside.right_title.text()) == (
        "Run 18, step 2",
        "Run 21, step 2",
    )


def test_the_chosen_part_stays_while_it_differs_in_the_next_pair_too(compare):
    compare.show_pair(PAIR)
    compare.beside.names.select_key("page")
    compare.go_on(1)
    compare.show_pair(PairView(left=(18, 3), parts=(PARTS[1], PARTS[4])))
    assert compare.beside.names.key == "page"
    compare.go_on(1)
    compare.show_pair(PairView(left=(18, 5), right=(21, 3), parts=PARTS[:2]))
    assert compare.beside.names.key == "thought"


def test_a_pair_that_is_no_longer_wanted_is_not_shown(compare):
    compare.go_on(1)
    compare.show_pair(PAIR)
    assert compare.beside.names.rows == ()
    assert "Reading" in compare.beside.or_words.words.text()


def test_both_pictures_stand_beside_each_other(compare):
    compare.show_pair(with_pictures())
    compare.beside.names.select_key(PICTURE)
    assert compare.beside.left_picture.isVisible()
    assert compare.beside.right_picture.isVisible()
    assert compare.beside.left_picture.words == ""


def test_runs_that_are_read_that_cannot_be_and_that_are_empty_say_so(compare):
    compare.show_compared(ComparedView(left=18, right=21))
    assert "Reading and aligning" in compare.or_words.words.text()
    compare.show_compared(ComparedView(left=18, right=99, problem="There is no run 99."))
    assert compare.or_words.words.text() == "There is no run 99."
    compare.show_compared(VIEW.replace(compared=Compared(left=LEFT, right=RIGHT)))
    assert "Neither" in compare.or_words.words.text()


def test_runs_without_a_difference_begin_at_the_first_step(compare):
    same = Compared(left=LEFT, right=RIGHT, pairs=(AlignedPair(left=SEARCH, right=SEARCH, shared=True),))
    compare.show_compared(VIEW.replace(compared=same))
    assert row_of(compare) == 0
    assert "No step differs" in compare.summary.text()
    assert not compare.next_button.isEnabled()


def test_a_pair_that_cannot_be_read_says_why(compare):
    compare.show_pair(PairView(left=(18, 2), right=(21, 2), problem="The database is damaged."))
    assert compare.beside.or_words.words.text() == "The database is damaged."


def test_two_steps_alone_are_compared_without_the_table(compare, qtbot):
    with qtbot.waitSignal(compare.pair_requested) as asked:
        compare.show_steps((18, 2), (18, 4))
    assert asked.args == [(18, 2), (18, 4)]
    assert not compare.upper.isVisible()
    compare.show_pair(PAIR.replace(right=(18, 4)))
    assert compare.beside.names.isVisible()
