from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gui.widgets.text_view import _SLICE, Piece, TextView


@pytest.fixture
def view(qtbot: QtBot, theme) -> TextView:
    view = TextView(theme, "Text")
    qtbot.addWidget(view)
    view.resize(500, 300)
    view.show()
    qtbot.waitExposed(view)
    return view


def _in_place(view: TextView, work: Callable[[], object]) -> int:
    """Return how many characters `work` put in."""
    before = view.document().characterCount()
    work()
    return view.document().characterCount() - before


def fill(qtbot: QtBot, view: TextView) -> None:
    qtbot.waitUntil(lambda: view.complete)


@pytest.mark.parametrize(
    "text",
    ["<p>" + "x" * 1_000_000, "\n".join(f"[{at}] link" for at in range(60_000)), "wörter 語 " * 100_000],
    ids=["one line", "many lines", "other scripts"],
)
def test_a_megabyte_comes_in_without_holding_up_the_window(view: TextView, qtbot: QtBot, text: str):
    parts = [_in_place(view, lambda: view.show_text(text))]
    while not view.complete:
        parts.append(_in_place(view, QApplication.processEvents))
    assert len(parts) > len(text) // (2 * _SLICE)
    assert max(parts) <= 2 * _SLICE
    assert view.source == text


def test_copying_a_broken_line_joins_it_again(view: TextView, qtbot: QtBot):
    text = "a" * 4_500 + "\nb"
    view.show_text(text)
    fill(qtbot, view)
    assert view.document().blockCount() == 6
    view.selectAll()
    assert view.createMimeDataFromSelection().text() == text


def test_the_same_text_again_leaves_place_and_selection(view: TextView, qtbot: QtBot):
    text = "\n".join(str(at) for at in range(1000))
    view.show_text(text)
    fill(qtbot, view)
    view.verticalScrollBar().setValue(400)
    view.show_text(text)
    assert view.verticalScrollBar().value() == 400
    view.show_text("other")
    assert view.toPlainText() == "other"


def test_searching_counts_and_goes_round(view: TextView, qtbot: QtBot):
    view.show_text("Lamp one\nlamp two\nno\nLAMP three")
    fill(qtbot, view)
    assert view.search("lamp") == 3
    lines = []
    for _ in range(4):
        lines.append(view.textCursor().blockNumber())
        view.go_to_match(1)
    assert lines == [0, 1, 3, 0]
    view.go_to_match(-1)
    assert view.found_index == 0
    assert view.search("absent") == 0
    assert view.extraSelections() == []


def test_a_match_far_down_is_reached_also_while_the_text_still_comes_in(view: TextView, qtbot: QtBot):
    view.show_text("\n".join(f"line {at}" for at in range(20_000)) + "\nneedle")
    assert not view.complete
    assert view.search("needle") == 1
    fill(qtbot, view)
    assert view.textCursor().blockNumber() == 20_000


def test_matches_are_found_behind_characters_that_count_twice_in_qt(view: TextView, qtbot: QtBot):
    view.show_text("😀😀 needle")
    fill(qtbot, view)
    view.search("needle")
    cursor = QTextCursor(view.textCursor())
    cursor.movePosition(QTextCursor.MoveOperation.EndOfWord, QTextCursor.MoveMode.KeepAnchor)
    assert cursor.selectedText() == "needle"


def test_headings_can_be_pressed_by_mouse_and_keyboard(view: TextView, qtbot: QtBot):
    view.show_pieces(
        (Piece("First", heading=0), Piece("body\nmore"), Piece("Second", heading=1), Piece("end"))
    )
    fill(qtbot, view)
    assert view.toPlainText() == "First\nbody\nmore\nSecond\nend"
    block = view.document().findBlockByNumber(3)
    place = view.cursorRect(QTextCursor(block)).center()
    with qtbot.waitSignal(view.heading_pressed) as pressed:
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert pressed.args == [1]
    view.setTextCursor(QTextCursor(view.document().findBlockByNumber(0)))
    with qtbot.waitSignal(view.heading_pressed) as pressed:
        qtbot.keyClick(view, Qt.Key.Key_Return)
    assert pressed.args == [0]
    with qtbot.assertNotEmitted(view.heading_pressed):
        view.setTextCursor(QTextCursor(view.document().findBlockByNumber(1)))
        qtbot.keyClick(view, Qt.Key.Key_Return)


def test_seeking_goes_to_a_match_behind_a_heading(qtbot, theme):
    view = TextView(theme, "Prompt")
    qtbot.addWidget(view)
    pieces = [Piece("one", heading=0), Piece("a lamp 😀"), Piece("two", heading=1), Piece("a Lamp, a lamp")]
    view.show_pieces(pieces)
    qtbot.waitUntil(lambda: view.complete)
    assert view.seek("lamp", heading=1)
    assert view.found_index == 1
    assert view.textCursor().block().text() == "a Lamp, a lamp"
    assert view.seek("lamp", heading=1, nth=1)
    assert view.found_index == 2
    assert view.seek("lamp", heading=1, nth=99)
    assert view.found_index == 2
    assert not view.seek("zebra")
    assert view.found == 0
