"""The editor of texts: what is typed, replaced and found, and its lines."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QDialog
from pytestqt.qtbot import QtBot

from gui.widgets.code_editor import CodeEditor
from gui.widgets.lined_text import LineSign

CTRL = Qt.KeyboardModifier.ControlModifier
TEXT = st.text("ab\n😀\xa0", max_size=12)


@pytest.fixture
def editor(theme, qtbot: QtBot) -> Iterator[CodeEditor]:
    window = QDialog()
    qtbot.addWidget(window)
    window.resize(500, 300)
    editor = CodeEditor(theme, window)
    editor.resize(500, 300)
    window.show()
    qtbot.waitExposed(window)
    yield editor
    window.close()


def test_line_ends_and_no_break_spaces_stay_as_they_were_read(editor, qtbot):
    editor.begin("a\xa0b\r\nc\r\n")
    assert (editor.text, editor.edited) == ("a\xa0b\r\nc\r\n", False)
    qtbot.keyClicks(editor, "x")
    assert (editor.text, editor.edited) == ("xa\xa0b\r\nc\r\n", True)
    editor.undo()
    assert not editor.edited


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(TEXT, TEXT, st.data())
def test_a_text_that_is_put_in_place_is_one_edit_that_can_be_undone(editor, old, new, data):
    at = data.draw(st.integers(0, len(new)))
    editor.begin(old)
    editor.put(new, at)
    assert (editor.searched, editor.selected) == (new, (at, at))
    if new != old:
        editor.undo()
    assert editor.searched == old
    assert not editor.document().isUndoAvailable()


def test_words_are_found_in_what_is_typed_and_escape_closes_the_field_only(editor, qtbot):
    editor.begin("one 😀 two\ntwo three")
    editor.setFocus()
    qtbot.keyClick(editor, Qt.Key.Key_F, CTRL)
    qtbot.keyClicks(editor.finder.field, "two")
    qtbot.waitUntil(lambda: editor.finder.counted.text() == "2 found")
    qtbot.keyClick(editor.finder.field, Qt.Key.Key_Return)
    assert editor.place == "line 2, column 1"
    qtbot.keyClicks(editor, "two ")
    qtbot.waitUntil(lambda: editor.finder.counted.text() == "3 found")
    assert editor.place == "line 2, column 5"
    qtbot.keyClick(editor.finder.field, Qt.Key.Key_Escape)
    assert (editor.finder.isVisible(), editor.found, editor.window().isVisible()) == (False, 0, True)
    assert editor.hasFocus()


def test_a_selected_word_is_found_at_once(editor, qtbot):
    editor.begin("ab ab")
    for _ in range(2):
        qtbot.keyClick(editor, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert editor.selected == (0, 2)
    editor.open_finder()
    assert editor.finder.counted.text() == "2 found"


def test_lines_are_gone_to_by_line_and_column_and_are_numbered(editor):
    editor.begin("\n".join(f"😀 line {number}" for number in range(1, 120)))
    editor.go_to_line(100, 3)
    assert editor.place == "line 100, column 4"  # Qt counts the picture as two.
    before = editor.grab(QRect(0, 0, 40, 290)).toImage()
    number = editor.firstVisibleBlock().blockNumber() + 2
    editor.show_signs({number: LineSign("bad", "!", "Wrong")})
    assert editor.grab(QRect(0, 0, 40, 290)).toImage() != before
    editor.mark_problem("policies/a.md, line 7: this is not TOML.")
    assert editor.signs == {6: LineSign("bad", "!", "policies/a.md, line 7: this is not TOML.")}
    editor.mark_problem("")
    assert editor.signs == {}
    editor.go_to_line(500)
    assert editor.place == "line 100, column 4"
