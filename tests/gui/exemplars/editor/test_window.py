"""The editor of an exemplar: typing, undo, commands, problems at their place, saving and leaving."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QTextCursor
from pytestqt.qtbot import QtBot

from core.debugger.editing.words import words_of_exemplar
from core.debugger.exemplars.editor.views import EditorView, NewText
from core.debugger.exemplars.library.views import ComparedVersions
from core.exemplars.editing.reading import read
from core.exemplars.editing.toml_text import NEW_TEXT
from gui.exemplars.editor.window import EditorWindow
from gui.shell.main_window import MainWindow
from tests.gui.exemplars.editor import samples
from tests.gui.stand_ins import AskedSession, DrawnPage

CTRL, SHIFT, ALT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
)


@pytest.fixture(scope="module")
def window(qapp, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MainWindow]:
    """The main window to which the editors of all these tests belong."""
    settings = QSettings(str(tmp_path_factory.mktemp("editor") / "window.ini"), QSettings.Format.IniFormat)
    window = MainWindow(DrawnPage(), settings)
    window.begin(AskedSession())
    window.show()
    yield window
    window.close()
    window.deleteLater()


@pytest.fixture
def shown(window, qtbot: QtBot) -> Iterator[EditorWindow]:
    shown = EditorWindow(window.theme, window)
    shown.asked = []
    shown.check_requested.connect(lambda text, *_: shown.asked.append(text))
    shown.show_view(samples.view())
    shown.show()
    qtbot.waitExposed(shown)
    shown.activateWindow()
    qtbot.waitUntil(shown.isActiveWindow)
    yield shown
    shown.hide()
    shown.deleteLater()


def check(shown: EditorWindow, **more) -> None:
    """Answer the check of what is in the editor."""
    text = shown.text.text
    opened = shown.opened
    shown.show_view(samples.view(text, edit=shown._edit, **{"opened": opened, **more}))


def open_other(shown: EditorWindow, text: str, **more) -> None:
    """Show another text as if it had been opened, and checked."""
    key = more.pop("key", "")
    opened = samples.opened(text, serial=shown.opened.serial + 1, base=samples.TEXT, key=key)
    shown.show_view(samples.view(text, opened=opened, **more))
    check(shown, **more)


def go_to(shown: EditorWindow, words: str, *, select: bool = False) -> None:
    """Put the cursor before words, or select them."""
    cursor = shown.text.textCursor()
    at = shown.text.searched.index(words)
    cursor.setPosition(at)
    if select:
        cursor.setPosition(at + len(words), QTextCursor.MoveMode.KeepAnchor)
    shown.text.setTextCursor(cursor)


def write_comment(shown: EditorWindow, qtbot: QtBot) -> None:
    """Type a line that says nothing."""
    qtbot.keyClicks(shown.text, "# x")
    qtbot.keyClick(shown.text, Qt.Key.Key_Return)


def draft(shown: EditorWindow):
    return read(shown.text.text, lambda _: ()).draft


def button(shown: EditorWindow, words: str):
    (found,) = [one for one in shown.asking.buttons() if one.text().replace("&", "").startswith(words)]
    return found


def test_what_is_opened_is_shown_as_text_and_is_checked_at_once(shown):
    assert shown.text.text == shown.asked[0] == samples.TEXT
    assert (shown.modified, shown.save_button.isEnabled()) == (False, False)
    assert shown.save_button.toolTip().startswith("There is nothing to save")
    assert "version 3, saved" in shown.fact.text()
    assert shown.problem_list.isHidden()


def test_typing_is_checked_once_the_person_pauses_and_keeps_the_text_as_typed(shown, qtbot):
    shown.asked.clear()
    go_to(shown, "That is it.")
    qtbot.keyClicks(shown.text, "So.  ")
    assert shown.asked == []
    qtbot.waitUntil(lambda: len(shown.asked) == 1)
    assert shown.asked[0] == shown.text.text == samples.TEXT.replace("That is", "So.  That is")
    assert (shown.modified, shown.isWindowModified(), shown.save_button.isEnabled()) == (True, True, True)


def test_undo_is_that_of_the_text_in_the_whole_window_and_stays_possible_after_a_save(shown, qtbot, window):
    go_to(shown, "That is it.")
    qtbot.keyClicks(shown.text, "So. ")
    saved = shown.text.text
    shown.show_view(samples.view(opened=samples.opened(base=saved, version=4), notice="Saved."))
    assert (shown.modified, "Saved." in shown.fact.text()) == (False, True)
    qtbot.keyClick(shown.text, Qt.Key.Key_Z, CTRL)
    assert (shown.text.text, shown.modified) == (samples.TEXT, True)
    shown.preview.text.setFocus()
    qtbot.keyClick(shown.preview.text, Qt.Key.Key_Z, CTRL | SHIFT)
    assert (shown.text.text, shown.modified) == (saved, False)
    assert (shown.undo_button.isEnabled(), shown.redo_button.isEnabled()) == (True, False)
    assert window.history.next_undo == ""


def test_it_is_reverted_to_what_is_saved_as_one_edit(shown, qtbot):
    revert = shown.commands.by_id["revert"].action
    assert not revert.isEnabled()
    go_to(shown, "That is it.")
    qtbot.keyClicks(shown.text, "So. ")
    typed = shown.text.text
    qtbot.keyClick(shown.text, Qt.Key.Key_R, ALT)
    assert (shown.text.text, shown.modified, revert.isEnabled()) == (samples.TEXT, False, False)
    qtbot.keyClick(shown.text, Qt.Key.Key_Z, CTRL)
    assert shown.text.text == typed


def test_undo_goes_back_before_it_was_closed(shown, qtbot):
    open_other(shown, samples.TEXT, key="flights/oakland")
    go_to(shown, "That is it.")
    qtbot.keyClicks(shown.text, "So. ")
    typed = shown.text.text
    open_other(shown, NEW_TEXT, key="new")
    assert (shown.text.text, shown.undo_button.isEnabled()) == (NEW_TEXT, False)
    open_other(shown, typed, key="flights/oakland")
    qtbot.keyClick(shown.text, Qt.Key.Key_Z, CTRL)
    assert (shown.text.text, shown.modified) == (samples.TEXT, False)


def test_words_are_found_and_replaced_and_keys_of_an_exemplar_completed(shown, qtbot):
    shown.show_view(samples.view(words=words_of_exemplar(("book-flight",))))
    qtbot.keyClick(shown.text, Qt.Key.Key_H, CTRL)
    qtbot.keyClicks(shown.text.finder.field, "Oakland")
    qtbot.keyClicks(shown.text.finder.other, "Bergen")
    qtbot.keyClick(shown.text.finder.other, Qt.Key.Key_Return, CTRL | ALT)
    qtbot.waitUntil(lambda: "replaced" in shown.text.finder.counted.text())
    assert "Oakland" not in shown.text.text
    qtbot.keyClick(shown.text.finder.other, Qt.Key.Key_Escape)
    assert shown.isVisible()
    shown.text.undo()
    assert shown.text.text == samples.TEXT
    shown.text.go_to(0)
    qtbot.keyClicks(shown.text, "nev")
    assert shown.text.names.offered == ("never",)


def test_commands_change_the_look_with_the_cursor_and_each_is_one_undo(shown, qtbot):
    go_to(shown, "That is it.")
    qtbot.keyClick(shown.text, Qt.Key.Key_Insert)
    write_comment(shown, qtbot)
    qtbot.keyClick(shown.text, Qt.Key.Key_Up, ALT)
    assert [one.thought[:4] for one in draft(shown).steps] == ["The ", "", "That", "Now "]
    qtbot.keyClick(shown.text, Qt.Key.Key_Delete, ALT)
    go_to(shown, "That is it.")
    qtbot.keyClick(shown.text, Qt.Key.Key_D, CTRL)
    assert [one.thought[:4] for one in draft(shown).steps] == ["The ", "That", "That", "Now "]
    qtbot.keyClick(shown.text, Qt.Key.Key_Z, CTRL)
    assert [one.thought[:4] for one in draft(shown).steps] == ["The ", "That", "Now "]
    for _ in range(20):
        qtbot.keyClick(shown.text, Qt.Key.Key_Z, CTRL)
    assert shown.text.text == samples.TEXT


def test_looks_are_merged_and_split_and_what_to_check_is_said(shown, qtbot):
    go_to(shown, "wait [2.0]")
    qtbot.keyClick(shown.text, Qt.Key.Key_M, CTRL)
    assert draft(shown).steps[0].actions[2:] == ('click [listitem "Oakland, CA (OAK)"]',)
    assert "by role and name" in shown.note.text()
    go_to(shown, "wait [2.0]")
    qtbot.keyClick(shown.text, Qt.Key.Key_M, CTRL | SHIFT)
    assert [len(one.actions) for one in draft(shown).steps] == [1, 2, 1]
    go_to(shown, "task")
    qtbot.keyClick(shown.text, Qt.Key.Key_Delete, ALT)
    assert shown.note.text().startswith("Put the cursor in a table")
    assert len(draft(shown).steps) == 3


def test_a_contrast_of_the_look_and_a_pair_are_added(shown, qtbot):
    go_to(shown, "That is it.")
    qtbot.keyClick(shown.text, Qt.Key.Key_A, CTRL | SHIFT)
    assert draft(shown).contrasts[1].observation == samples.SECOND
    qtbot.keyClick(shown.text, Qt.Key.Key_A, CTRL | ALT)
    assert len(draft(shown).abstraction) == 2


def test_the_element_of_the_action_with_the_cursor_is_highlighted_and_the_look_named(shown, qtbot):
    check(shown)
    go_to(shown, "type [3]")
    line = samples.TEXT.split("\n").index('[3] textbox "From:" focused')
    qtbot.waitUntil(lambda: shown.text.lit == {line})
    assert shown.place.text() == "Line 36, column 4 · step 1 of 3 · 120 tokens"
    go_to(shown, "wait [2.0]")
    qtbot.waitUntil(lambda: shown.text.lit == frozenset())


def test_problems_are_listed_and_marked_at_their_lines_and_gone_to(shown, qtbot):
    open_other(shown, samples.BROKEN_TEXT)
    rows = shown.problem_list.rows.rows
    assert [row.key[1:] for row in rows] == [(3, 1), (36, 3), (37, 3), (55, 1)]
    assert {line: sign.tone for line, sign in shown.text.signs.items()} == {
        2: "bad",
        35: "remedy",
        36: "remedy",
        54: "bad",
    }
    assert "There is no action" in shown.text.signs[36].words
    assert not shown.save_button.isEnabled()
    assert shown.save_button.toolTip().startswith("It cannot be saved yet. Line 3: Enter the task")
    shown.problem_list.rows.pressed_on.emit(rows[2].key)
    assert shown.text.place == "line 37, column 3"
    places = []
    for _ in range(2):
        qtbot.keyClick(shown.text, Qt.Key.Key_F8)
        places.append(shown.text.place)
    qtbot.keyClick(shown.text, Qt.Key.Key_F8, SHIFT)
    assert places == ["line 55, column 1", "line 3, column 1"]
    assert shown.text.place == "line 55, column 1"


def test_the_worst_problem_of_a_line_marks_it_and_all_are_in_its_tooltip(shown):
    open_other(
        shown, "[[contrasts]]\ntried = ''\n[[steps]]\nobservation = ''\nactions = ['stop [done]', 'jump']\n"
    )
    assert [sign.tone for sign in shown.text.signs.values()].count("bad") == 2
    (last,) = [sign for line, sign in shown.text.signs.items() if line == 4]
    assert (last.tone, last.words.count("\n")) == ("remedy", 1)


def test_what_was_found_before_the_last_edit_is_not_shown(shown, qtbot):
    qtbot.keyClicks(shown.text, "#")
    shown.show_view(samples.view(checked=samples.checked(samples.BROKEN_TEXT, shown._edit - 1)))
    assert shown.problem_list.isHidden()
    assert shown.save_button.isEnabled()


def test_a_text_that_cannot_be_read_keeps_the_last_prompt_and_says_so(shown, qtbot):
    check(shown)
    qtbot.keyClicks(shown.text, "x")
    check(shown)
    assert samples.DRAFT.task in shown.preview.text.source
    assert "last text that could" in shown.preview.note.text()
    assert not shown.parser.test_button.isEnabled()


def test_it_is_saved_and_a_copy_takes_its_new_id(shown, qtbot):
    write_comment(shown, qtbot)
    with qtbot.waitSignal(shown.save_requested) as asked:
        qtbot.keyClick(shown.text, Qt.Key.Key_S, CTRL)
    assert asked.args == [shown.text.text, 1, "save"]
    with qtbot.waitSignal(shown.save_requested) as asked:
        qtbot.keyClick(shown.text, Qt.Key.Key_S, CTRL | SHIFT)
    copy = asked.args[0].replace("flights/oakland", "flights/oakland-copy")
    write_comment(shown, qtbot)
    saved = samples.opened(base=copy, id="flights/oakland-copy", version=1)
    shown.show_view(samples.view(opened=saved))
    assert 'id = "flights/oakland-copy"' in shown.text.text
    assert shown.modified, "something was typed meanwhile"
    assert shown.windowTitle() == "Edit flights/oakland-copy[*]"


def test_a_conflict_offers_a_new_version_or_a_copy(shown, qtbot):
    write_comment(shown, qtbot)
    shown.show_conflict("It is at version 4.")
    assert shown.asking.text() == "It is at version 4."
    with qtbot.waitSignal(shown.save_requested) as asked:
        button(shown, "Save as its new version").click()
    assert asked.args[2] == "over"


def test_closing_asks_where_something_is_not_saved_and_nothing_is_lost_by_escape(shown, qtbot):
    write_comment(shown, qtbot)
    qtbot.keyClick(shown.text, Qt.Key.Key_Escape)
    assert shown.isVisible()
    button(shown, "Cancel").click()
    assert shown.isVisible()
    shown.close()
    shown.asked.clear()
    with qtbot.waitSignal(shown.left) as left:
        button(shown, "Keep as a draft").click()
    assert (left.args, shown.asked[0][:3]) == ([True], "# x")
    assert not shown.isVisible()


def test_closing_saves_first_and_waits_for_it(shown, qtbot):
    write_comment(shown, qtbot)
    shown.close()
    with qtbot.waitSignal(shown.save_requested):
        button(shown, "Save").click()
    assert shown.isVisible()
    with qtbot.waitSignal(shown.left) as left:
        shown.show_view(samples.view(opened=samples.opened(base=shown.text.text)))
    assert (left.args, shown.isVisible()) == ([False], False)


def test_closing_what_is_saved_asks_nothing_and_an_unfinished_one_cannot_be_saved(shown):
    open_other(shown, samples.BROKEN_TEXT)
    shown.close()
    assert not button(shown, "Save").isEnabled()
    button(shown, "Discard").click()
    assert not shown.isVisible()
    shown.show_view(samples.view(opened=samples.opened(serial=9)))
    shown.show()
    shown.asking = None
    shown.close()
    assert (shown.asking, shown.isVisible()) == (None, False)


def test_a_value_that_is_selected_becomes_a_placeholder_everywhere(shown, qtbot):
    go_to(shown, "Oakland", select=True)
    qtbot.keyClick(shown.text, Qt.Key.Key_G, CTRL)
    dialog = shown.asking
    assert (dialog.value.text(), dialog.ok.isEnabled()) == ("Oakland", True)
    dialog.value.setText("Bergen")
    assert ("occurs nowhere" in dialog.fact.text(), dialog.ok.isEnabled()) == (True, False)
    dialog.value.setText("Oakland")
    dialog.other.setText("{city}")
    assert "12 times" in dialog.fact.text()
    dialog.ok.click()
    assert draft(shown).task == "Book the cheapest one-way flight from {city} to Oslo."
    assert draft(shown).steps[0].actions[0] == "type [3] [{city}]"
    shown.undo_button.click()
    assert shown.text.text == samples.TEXT


def test_the_program_is_tried_on_the_page_that_is_chosen(shown, qtbot):
    check(shown)
    shown.tabs.setCurrentWidget(shown.parser)
    shown.parser.page.setCurrentIndex(1)
    with qtbot.waitSignal(shown.test_requested) as asked:
        qtbot.keyClick(shown.text, Qt.Key.Key_Return, CTRL)
    assert (asked.args[0], asked.args[1].kind) == (samples.TEXT, "pair")
    check(shown, trial=samples.TRIAL)
    assert "310 ms · 15 of the page's 96 tokens" in shown.parser.fact.text()
    check(shown, trial=samples.FAILED)
    assert "KeyError" in shown.parser.error.text()
    check(shown, trial=samples.TRIAL.replace(running=True))
    assert (shown.parser.test_button.isEnabled(), shown.parser.cancel_button.isEnabled()) == (False, True)


def test_a_version_is_compared_with_the_text_and_taken_up_as_an_edit(shown, qtbot):
    check(shown)
    shown.tabs.setCurrentWidget(shown.versions)
    with qtbot.waitSignal(shown.compare_requested) as asked:
        shown.versions.table.selectRow(1)
    assert asked.args == [2, None, samples.TEXT]
    compared = ComparedVersions(
        id=samples.DRAFT.id, left=2, left_text=samples.BROKEN_TEXT, right_text=samples.TEXT
    )
    shown.versions.show_compared(compared)
    assert shown.versions.texts.changed
    assert shown.versions.title.text().startswith("Version 2, left, and your text")
    with qtbot.waitSignal(shown.version_requested) as asked:
        shown.versions.button.click()
    assert asked.args == [2]
    shown.show_new_text(NewText(samples.BROKEN_TEXT, "This is version 2."))
    assert (shown.text.text, shown.note.text()) == (samples.BROKEN_TEXT, "This is version 2.")
    with qtbot.waitSignal(shown.compare_requested, timeout=5000):
        check(shown)
    qtbot.keyClick(shown.text, Qt.Key.Key_Z, CTRL)
    assert shown.text.text == samples.TEXT


def test_a_new_one_has_no_versions_and_says_what_is_missing(shown):
    opened = samples.opened(NEW_TEXT, serial=5, id="", version=0)
    shown.show_view(samples.view(opened=opened, versions=()))
    check(shown, versions=())
    assert shown.windowTitle() == "New exemplar[*]"
    assert "not in the library yet" in shown.fact.text()
    assert "first save" in shown.versions.or_words.words.text()
    assert [row.key[1] for row in shown.problem_list.rows.rows] == [1, 2, 3, 9]


def test_nothing_open_says_so(window):
    shown = EditorWindow(window.theme, window)
    assert "being read" in shown.or_words.words.text()
    shown.show_view(EditorView(problem="There is no exemplar x any more."))
    assert "no exemplar x" in shown.or_words.words.text()


def test_what_was_reported_of_one_that_was_put_away_is_not_shown_any_more(shown):
    shown.close()
    shown.show_view(samples.view())
    assert (shown.opened, "being read" in shown.or_words.words.text()) == (None, True)
    shown.show_view(samples.view(opened=samples.opened(serial=2)))
    assert shown.opened is not None
