"""Diff: which pair is asked for, and what is said where there is none."""

import pytest

from gui.panels.diff import DiffPanel
from tests.gui.reading_samples import PAIR, times


@pytest.fixture
def panel(qtbot, theme):
    panel = DiffPanel(theme)
    qtbot.addWidget(panel)
    panel.resize(700, 240)
    panel.show()
    panel.set_seen(True)
    qtbot.waitExposed(panel)
    return panel


@pytest.fixture
def asked(panel):
    pairs = []
    panel.pair_requested.connect(lambda left, right: pairs.append((left, right)))
    return pairs


def test_the_step_in_view_stands_beside_the_one_before(panel, asked):
    panel.show_viewed(18, 5)
    panel.show_steps(times().steps)
    assert asked == [((18, 4), (18, 5))]
    panel.show_pair(PAIR)
    names = [row.text for row in panel.beside.names.rows]
    assert names == ["plan", "page", "clean observation", "prompt"]


def test_any_other_step_can_be_chosen_and_stays_chosen(panel, asked):
    panel.show_viewed(18, 5)
    panel.show_steps(times().steps)
    panel.other.setCurrentIndex(2)
    panel.other.activated.emit(2)
    panel.show_viewed(18, 4)
    assert asked[1:] == [((18, 2), (18, 5)), ((18, 2), (18, 4))]
    panel.show_steps(times(6).steps)
    assert panel.other.currentText().startswith("step 2")


def test_a_step_under_way_is_read_again_as_it_goes_on(panel, asked):
    panel.show_steps(times().steps)
    panel.show_viewed(18, 5)
    panel.show_viewed(18, 5, again=True)
    panel.show_viewed(18, 5)
    assert asked == [((18, 4), (18, 5))] * 2


def test_nothing_is_asked_while_it_cannot_be_seen(panel, asked):
    panel.set_seen(False)
    panel.show_steps(times().steps)
    panel.show_viewed(18, 5)
    assert asked == []
    panel.set_seen(True)
    assert asked == [((18, 4), (18, 5))]


def test_it_says_why_there_is_no_pair(panel):
    assert "No step is in view" in panel.or_words.words.text()
    panel.show_viewed(18, 1)
    panel.show_steps(times(1).steps)
    assert "only one step" in panel.or_words.words.text()
    panel.show_steps(times(3).steps)
    assert "Choose another step above" in panel.or_words.words.text()


def test_a_late_answer_to_another_pair_is_left_aside(panel, asked):
    panel.show_steps(times().steps)
    panel.show_viewed(18, 3)
    panel.show_pair(PAIR)
    assert panel.beside.names.rows == ()
