"""Two texts beside each other: level, marked, and quick whatever their length."""

import time

import pytest
from pytestqt.qtbot import QtBot

from gui.widgets.side_by_side import SideBySide


@pytest.fixture
def beside(qtbot: QtBot, theme) -> SideBySide:
    beside = SideBySide(theme)
    qtbot.addWidget(beside)
    beside.resize(700, 300)
    beside.show()
    qtbot.waitExposed(beside)
    return beside


def marks(view) -> list[tuple[str, str]]:
    return [(line.text, line.mark) for line in view.lines]


def test_lines_are_level_and_what_differs_is_marked(beside):
    beside.show_texts("a\nb\nc", "a\nB\nnew\nc")
    assert marks(beside.left) == [("a", ""), ("b", "taken out"), ("", "gap"), ("c", "")]
    assert marks(beside.right) == [("a", ""), ("B", "put in"), ("new", "put in"), ("c", "")]
    assert beside.changed == 2


def test_a_long_line_is_carried_on_and_its_counterpart_waits_for_it(beside):
    beside.show_texts("word " * 60 + "\nend", "short\nend")
    left, right = beside.left.lines, beside.right.lines
    assert len(left) == len(right) > 3
    assert [line.first for line in left[:3]] == [True, False, False]
    assert right[1].mark == "gap"
    assert (left[-1].text, right[-1].text) == ("end", "end")


def test_it_begins_at_the_first_change_and_scrolls_as_one(beside, qtbot):
    lines = [f"line {at}" for at in range(400)]
    beside.show_texts("\n".join(lines), "\n".join([*lines[:300], "other", *lines[301:]]))
    qtbot.waitUntil(lambda: beside.right.verticalScrollBar().value() == 297)
    beside.right.verticalScrollBar().setValue(50)
    assert beside.left.verticalScrollBar().value() == 50


def test_only_what_differs_is_shown_with_a_few_lines_around(beside):
    lines = [f"line {at}" for at in range(100)]
    beside.show_texts("\n".join(lines), "\n".join([*lines[:50], "other", *lines[51:]]))
    beside.set_only_changes(True)
    texts = [line.text for line in beside.right.lines]
    assert texts[0] == "⋯ 47 equal lines"
    assert texts[4] == "other"
    assert texts[-1] == "⋯ 46 equal lines"
    beside.set_only_changes(False)
    assert len(beside.right.lines) == 100


def test_a_wider_window_breaks_lines_anew(beside, qtbot):
    beside.show_texts("word " * 60, "word " * 60 + "more")
    before = len(beside.left.lines)
    beside.resize(1400, 300)
    qtbot.waitUntil(lambda: len(beside.left.lines) < before)


@pytest.mark.parametrize(
    "right",
    ["\n".join(f"[{at}] link 'Other {at}'" for at in range(9_000)), "x" * 400_000, ""],
    ids=["other lines", "one long line", "nothing"],
)
def test_large_texts_are_shown_in_an_instant(beside, qtbot, right):
    left = "\n".join(f"[{at}] link 'Lamp number {at}'" for at in range(9_000))
    begun = time.process_time()
    beside.show_texts(left, right)
    assert time.process_time() - begun < 1.5
    qtbot.waitUntil(lambda: beside.left.complete and beside.right.complete, timeout=20_000)
