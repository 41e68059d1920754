"""The editor of texts: what is typed, replaced and found, and its lines."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit, QPushButton, QToolTip
from pytestqt.qtbot import QtBot

from core.debugger.editing.words import Word
from core.exemplars.editing.reading import TextProblem
from gui.widgets.code_editor import CodeEditor
from gui.widgets.lined_text import LineSign

CTRL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
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
    editor.go_to_line(500)
    assert editor.place == "line 100, column 4"


# Find and replace


def found(qtbot: QtBot, editor: CodeEditor, words: str, count: str) -> None:
    qtbot.keyClicks(editor.finder.field, words)
    qtbot.waitUntil(lambda: editor.finder.counted.text() == count)


def keys_to_window(qtbot: QtBot, editor: CodeEditor, text: str) -> None:
    """Press keys as a keyboard does: they go to whatever has the focus."""
    for letter in text:
        QTest.keyClick(editor.window().windowHandle(), letter)


def test_keys_typed_after_ctrl_f_and_ctrl_h_land_in_the_search_field(editor, qtbot):
    editor.begin("one two")
    editor.setFocus()
    for key in (Qt.Key.Key_F, Qt.Key.Key_H):
        QTest.keyClick(editor.window().windowHandle(), key, CTRL)
        keys_to_window(qtbot, editor, "two")
        assert (editor.finder.field.text(), editor.text) == ("two", "one two")
        QTest.keyClick(editor.window().windowHandle(), Qt.Key.Key_Escape)
        assert editor.finder.isHidden()
        assert editor.window().isVisible()


def test_the_keys_work_while_another_part_of_the_window_has_the_focus(editor, qtbot):
    other = QLineEdit(editor.window())
    other.show()
    other.setFocus()
    editor.begin("one two")
    QTest.keyClick(editor.window().windowHandle(), Qt.Key.Key_F, CTRL)
    assert editor.finder.field.hasFocus()


def test_the_text_stays_in_view_below_the_search_fields(editor, qtbot):
    editor.begin("one\ntwo")
    editor.open_finder(replaces=True)
    assert editor.finder.geometry().bottom() <= editor.viewport().geometry().top()
    editor.close_finder()
    assert editor.viewport().geometry().top() <= 2


def test_escape_in_the_text_closes_the_search_fields_first(editor, qtbot):
    editor.begin("one")
    editor.open_finder()
    editor.setFocus()
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    assert (editor.finder.isVisible(), editor.window().isVisible()) == (False, True)
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    assert not editor.window().isVisible()


def test_matches_are_found_from_the_cursor_on_and_f3_goes_through_them(editor, qtbot):
    editor.begin("ab\nab\nab")
    editor.go_to_line(2)
    editor.open_finder()
    found(qtbot, editor, "ab", "3 found")
    assert editor.place == "line 2, column 1"
    qtbot.keyClick(editor, Qt.Key.Key_F3)
    assert editor.place == "line 3, column 1"
    qtbot.keyClick(editor, Qt.Key.Key_F3, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(editor, Qt.Key.Key_F3, Qt.KeyboardModifier.ShiftModifier)
    assert editor.place == "line 1, column 1"


def test_enter_replaces_one_match_after_the_other(editor, qtbot):
    editor.begin("😀a a\na")
    editor.open_finder(replaces=True)
    found(qtbot, editor, "A", "3 found")
    editor.finder.other.setText("aa😀")
    qtbot.keyClick(editor.finder.other, Qt.Key.Key_Return)
    assert (editor.text, editor.finder.counted.text()) == ("😀aa😀 a\na", "4 found")
    assert editor.place == "line 1, column 8"
    qtbot.keyClick(editor.finder.other, Qt.Key.Key_Return)
    assert editor.text == "😀aa😀 aa😀\na"


def test_all_matches_are_replaced_as_one_edit(editor, qtbot):
    editor.begin("a 😀 a\r\nba\r\n")
    editor.open_finder(replaces=True)
    found(qtbot, editor, "a", "3 found")
    qtbot.keyClicks(editor.finder.other, "xyz")
    qtbot.keyClick(editor.finder.other, Qt.Key.Key_Return, CTRL | ALT)
    qtbot.waitUntil(lambda: editor.finder.counted.text() == "3 matches replaced")
    assert editor.text == "xyz 😀 xyz\r\nbxyz\r\n"
    editor.undo()
    assert (editor.text, editor.edited) == ("a 😀 a\r\nba\r\n", False)


def test_words_that_are_not_there_replace_nothing(editor, qtbot):
    editor.begin("one")
    editor.open_finder(replaces=True)
    found(qtbot, editor, "two", "none found")
    for button in editor.finder.replacing.findChildren(QPushButton):
        button.click()
    assert (editor.text, editor.document().isUndoAvailable()) == ("one", False)


# Undo and drafts by name


def test_what_was_typed_can_be_undone_after_another_text_was_shown(editor, qtbot):
    editor.begin("one", name="a")
    qtbot.keyClicks(editor, "x")
    editor.begin("two", name="b", keep_draft=True)
    assert (editor.text, editor.document().isUndoAvailable()) == ("two", False)
    assert editor.begin("one", name="a", keep_draft=True)
    assert (editor.text, editor.edited) == ("xone", True)
    editor.undo()
    assert (editor.text, editor.edited) == ("one", False)


def test_a_file_that_was_changed_elsewhere_is_shown_and_its_change_can_be_undone(editor, qtbot):
    editor.begin("one\r\n", name="a")
    assert not editor.begin("two\r\n", name="a", keep_draft=True)
    assert (editor.text, editor.edited) == ("two\r\n", False)
    editor.undo()
    assert (editor.text, editor.edited) == ("one\r\n", True)


def test_what_was_read_is_put_back_as_one_edit(editor, qtbot):
    editor.begin("a\xa0b\r\nc", name="a")
    editor.put("wholly\nother")
    editor.revert()
    assert (editor.text, editor.edited) == ("a\xa0b\r\nc", False)
    editor.undo()
    assert editor.text == "wholly\r\nother"


def test_a_text_without_a_name_forgets_what_was_before(editor, qtbot):
    editor.begin("one")
    qtbot.keyClicks(editor, "x")
    assert not editor.begin("two", keep_draft=True)
    assert (editor.text, editor.document().isUndoAvailable()) == ("two", False)


# Completion

KEYS = (
    Word(name="title", kind="key", doc="What it is called."),
    Word(name="tokens", kind="key"),
    Word(name="fast", kind="value", at="mode"),
)


@pytest.fixture
def toml(editor) -> CodeEditor:
    editor.begin("", language="toml")
    editor.words = KEYS
    editor.setFocus()
    return editor


def offered(editor: CodeEditor) -> tuple[str, ...]:
    return editor.names.offered if editor.names.popup.isVisible() else ()


def test_names_are_offered_while_one_is_typed_and_enter_takes_the_selected_one(toml, qtbot):
    qtbot.keyClicks(toml, "t")
    assert offered(toml) == ("title", "tokens")
    qtbot.keyClick(toml.names.popup, Qt.Key.Key_Down)
    qtbot.keyClick(toml.names.popup, Qt.Key.Key_Return)
    assert (toml.text, offered(toml)) == ("tokens", ())
    toml.undo()
    assert toml.text == "t"


def test_ctrl_enter_takes_no_name(toml, qtbot):
    qtbot.keyClicks(toml, "ti")
    qtbot.keyClick(toml.names.popup, Qt.Key.Key_Return, CTRL)
    assert (toml.text, offered(toml)) == ("ti", ())


def test_tab_takes_the_first_and_keeps_the_focus(toml, qtbot):
    qtbot.keyClicks(toml, "ti")
    qtbot.keyClick(toml.names.popup, Qt.Key.Key_Tab)
    assert (toml.text, toml.hasFocus()) == ("title", True)


def test_enter_and_tab_are_not_taken_while_no_list_is_shown(toml, qtbot):
    other = QLineEdit(toml.window())
    other.show()
    qtbot.keyClicks(toml, "xy")
    assert offered(toml) == ()
    qtbot.keyClick(toml, Qt.Key.Key_Return)
    assert toml.text == "xy\n"
    qtbot.keyClick(toml, Qt.Key.Key_Tab)
    assert other.hasFocus()


def test_enter_begins_a_line_after_a_name_that_is_written_whole(toml, qtbot):
    toml.words = (*KEYS, Word(name="titles", kind="key"))
    qtbot.keyClicks(toml, "title")
    assert offered(toml) == ("title", "titles")
    qtbot.keyClick(toml.names.popup, Qt.Key.Key_Return)
    assert toml.text == "title\n"


def test_ctrl_space_lists_all_that_fit_and_escape_closes_the_list_only(toml, qtbot):
    qtbot.keyClick(toml, Qt.Key.Key_Space, CTRL)
    assert offered(toml) == ("title", "tokens")
    qtbot.keyClick(toml.names.popup, Qt.Key.Key_Escape)
    assert (offered(toml), toml.window().isVisible()) == ((), True)
    toml.put('mode = ""', 8)
    qtbot.keyClick(toml, Qt.Key.Key_Space, CTRL)
    qtbot.keyClick(toml.names.popup, Qt.Key.Key_Return)
    assert toml.text == 'mode = "fast"'


def test_the_list_follows_what_is_deleted_and_goes_with_the_cursor(toml, qtbot):
    qtbot.keyClicks(toml, "ti")
    qtbot.keyClick(toml.names.popup, Qt.Key.Key_Backspace)
    assert offered(toml) == ("title", "tokens")
    qtbot.keyClick(toml.names.popup, Qt.Key.Key_Left)
    assert offered(toml) == ()


# Problems


def test_each_line_with_a_problem_has_its_sentences_in_the_margin_and_f8_goes_to_it(editor, qtbot):
    editor.begin("a\nb\nc")
    editor.show_problems(
        (
            TextProblem(line=1, column=1, text="May be meant.", level="note"),
            TextProblem(line=3, column=1, text="First."),
            TextProblem(line=3, column=2, text="Second.", level="fault"),
        )
    )
    assert editor.signs == {
        0: LineSign("dim", "·", "May be meant."),
        2: LineSign("bad", "!", "First.\nSecond."),
    }
    margin = editor._margin
    assert margin is not None
    block = editor.document().findBlockByNumber(2)
    at = QPoint(4, round(editor.blockBoundingGeometry(block).translated(editor.contentOffset()).center().y()))
    QApplication.sendEvent(margin, QHelpEvent(QEvent.Type.ToolTip, at, margin.mapToGlobal(at)))
    assert QToolTip.text() == "First.\nSecond."
    for key, place in (("", (3, 1)), ("", (3, 2)), ("", (1, 1)), ("shift", (3, 2)), ("shift", (3, 1))):
        modifier = Qt.KeyboardModifier.ShiftModifier if key else Qt.KeyboardModifier.NoModifier
        qtbot.keyClick(editor, Qt.Key.Key_F8, modifier)
        assert editor.place == f"line {place[0]}, column {place[1]}"
    editor.show_problems(())
    assert editor.signs == {}
