"""The editor of an exemplar: typing, undo, looks, faults at their place, saving and leaving."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from pytestqt.qtbot import QtBot

from core.debugger.exemplars.editor.views import Conflict, EditorView, VersionTexts
from core.memory.editing.draft import EMPTY
from gui.exemplars.editor.window import EditorWindow
from tests.gui.exemplars.editor import samples

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def shown(window, qtbot: QtBot) -> EditorWindow:
    shown = EditorWindow(window.theme, window.history, window)
    shown.asked = []
    shown.check_requested.connect(lambda draft, *_: shown.asked.append(draft))
    shown.show_view(samples.view())
    shown.show()
    qtbot.waitExposed(shown)
    shown.activateWindow()
    return shown


def show(shown: EditorWindow, draft, **more) -> None:
    """Show another draft as if it had been opened, and checked."""
    serial = shown.opened.serial + 1
    opened = samples.opened(draft, serial=serial, base=samples.DRAFT)
    shown.show_view(samples.view(draft, opened=opened, **more))
    shown.show_view(samples.view(draft, opened=opened, edit=shown._edit, **more))


def button(shown: EditorWindow, words: str):
    (found,) = [one for one in shown.asking.buttons() if one.text().replace("&", "").startswith(words)]
    return found


def test_what_is_opened_is_shown_with_its_first_look_and_is_checked_at_once(shown):
    assert shown.head.task.toPlainText() == samples.DRAFT.task
    assert (shown.head.tags.text(), shown.head.id.isReadOnly()) == ("checked, short", True)
    assert shown.look.title.text() == "Look 1 of 3"
    assert shown.look.actions_field.toPlainText() == "type [3] [Oakland]\nwait [2.0]"
    assert shown.asked[0] == samples.DRAFT
    assert (shown.modified, shown.save_button.isEnabled()) == (False, False)
    assert "version 3, saved" in shown.fact.text()


def test_typing_changes_the_draft_and_is_checked_once_the_person_pauses(shown, qtbot):
    shown.asked.clear()
    qtbot.keyClicks(shown.look.thought, "So. ")
    assert shown.edits.now.steps[0].thought.startswith("So. The airport")
    assert shown.asked == []
    qtbot.waitUntil(lambda: len(shown.asked) == 1)
    assert shown.asked[0] == shown.edits.now
    assert (shown.modified, shown.isWindowModified(), shown.save_button.isEnabled()) == (True, True, True)


def test_undo_takes_back_the_words_of_a_field_by_name_also_from_within_it(shown, qtbot):
    shown.look.thought.setFocus()
    qtbot.keyClicks(shown.look.thought, "So. ")
    shown.head.family.setFocus()
    qtbot.keyClicks(shown.head.family, "s")
    assert shown.undo_button.toolTip() == "Undo edit the family (exemplar) (Ctrl+Z)"
    qtbot.keyClick(shown.head.family, Qt.Key.Key_Z, CTRL)
    qtbot.keyClick(shown.look.thought, Qt.Key.Key_Z, CTRL)
    assert shown.edits.now == samples.DRAFT
    assert (shown.head.family.text(), shown.modified) == ("book-flight", False)
    qtbot.keyClick(shown.look.thought, Qt.Key.Key_Z, CTRL | SHIFT)
    assert shown.look.thought.toPlainText().startswith("So. The airport")


def test_looks_are_merged_split_and_moved_with_the_keys(shown, qtbot):
    shown.looks.choose(0, 1)
    qtbot.keyClick(shown.looks.list, Qt.Key.Key_M, CTRL)
    assert shown.edits.now.steps[0].actions == (
        "type [3] [Oakland]",
        "wait [2.0]",
        'click [listitem "Oakland, CA (OAK)"]',
    )
    assert "by role and name" in shown.note.text()
    shown.look.actions_field.go_to_line(2)
    qtbot.keyClick(shown.looks.list, Qt.Key.Key_M, CTRL | SHIFT)
    assert [len(one.actions) for one in shown.edits.now.steps] == [2, 1, 1]
    assert (shown.looks.current, shown.look.title.text()) == (1, "Look 2 of 3")
    shown.looks.list.setFocus()
    qtbot.keyClick(shown.looks.list, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert [len(one.actions) for one in shown.edits.now.steps] == [1, 2, 1]
    assert shown.looks.current == 0
    qtbot.keyClick(shown.looks.list, Qt.Key.Key_Delete)
    qtbot.keyClick(shown.looks.list, Qt.Key.Key_Insert)
    assert [len(one.actions) for one in shown.edits.now.steps] == [2, 0, 1]
    shown.looks.list.dropped.emit(3)
    assert [len(one.actions) for one in shown.edits.now.steps] == [2, 1, 0]
    assert shown.undo_button.toolTip() == "Undo move a look (exemplar) (Ctrl+Z)"


def test_the_last_look_can_go_and_another_be_put_in(shown):
    shown.looks.choose(0, 2)
    shown.looks.delete_button.click()
    assert shown.edits.now.steps == ()
    assert "no look" in shown.looks.or_words.words.text()
    shown.looks.insert_button.click()
    assert (len(shown.edits.now.steps), shown.look.title.text()) == (1, "Look 1 of 1")


def test_the_element_of_the_action_with_the_cursor_is_marked_and_named(shown):
    marks = [(one.line, one.kind) for one in shown.look.observation._marks]
    assert marks == [(2, "current")]
    assert 'Action 1 is on [3] textbox "From:"' in shown.look.meant.text()
    shown.look.actions_field.go_to_line(1)
    assert [one.kind for one in shown.look.observation._marks] == ["meant"]
    assert shown.look.meant.text() == ""


def test_faults_are_reported_at_their_place_and_gone_to(shown, qtbot):
    show(shown, samples.BROKEN)
    assert shown.tabs.tabText(1) == "Problems 4"
    assert "Action 2: There is no action" in shown.look.problem.text()
    assert [one.line for one in shown.look.actions_field._marks] == [0, 1]
    assert "1 problem" in shown.looks.list.item(2).text()
    assert shown.head.task.toolTip().startswith("Enter the task")
    assert (shown.save_button.isEnabled(), "task" in shown.save_button.toolTip()) == (False, True)
    shown.problems.rows.pressed_on.emit(shown.problems.rows.rows[1].key)
    assert shown.look.title.text() == "Look 3 of 3"
    shown.go_to("look 1, action 2")
    assert (shown.looks.current, shown.look.actions_field.line) == (0, 1)
    shown.go_to("contrast 1, right")
    assert shown.tabs.currentWidget() is shown.contrasts
    shown.go_to("task")
    qtbot.waitUntil(shown.head.task.hasFocus)


def test_what_was_found_before_the_last_edit_is_not_shown(shown, qtbot):
    qtbot.keyClicks(shown.look.thought, "x")
    shown.show_view(samples.view(checked=samples.checked(samples.BROKEN, 0)))
    assert shown.tabs.tabText(1) == "Problems"


def test_it_is_saved_with_what_was_changed_in_words(shown, qtbot):
    qtbot.keyClicks(shown.look.thought, "x")
    shown.looks.choose(1)
    shown.looks.delete_button.click()
    with qtbot.waitSignal(shown.save_requested) as asked:
        qtbot.keyClick(shown.looks.list, Qt.Key.Key_S, CTRL)
    assert asked.args == [shown.edits.now, 1, "save", "edit the thought of look 1, delete a look"]
    saved = samples.opened(base=shown.edits.now, version=4)
    shown.show_view(samples.view(opened=saved, saves=1, notice="Saved as version 4."))
    assert (shown.modified, "Saved as version 4." in shown.fact.text()) == (False, True)
    assert shown.undo_button.isEnabled()


def test_a_conflict_offers_a_new_version_or_a_copy(shown, qtbot):
    qtbot.keyClicks(shown.look.thought, "x")
    shown.show_view(samples.view(conflict=Conflict(id="a", text="It is at version 4.")))
    assert shown.asking.text() == "It is at version 4."
    with qtbot.waitSignal(shown.save_requested) as asked:
        button(shown, "Save as its new version").click()
    assert asked.args[2] == "over"
    shown.asking = None
    shown.show_view(samples.view(conflict=Conflict(id="a", text="It is at version 4.", number=2)))
    assert shown.asking is not None


def test_closing_asks_where_something_is_not_saved_and_nothing_is_lost_by_escape(shown, qtbot):
    qtbot.keyClicks(shown.look.thought, "x")
    qtbot.keyClick(shown.looks.list, Qt.Key.Key_Escape)
    assert shown.isVisible()
    button(shown, "Cancel").click()
    assert shown.isVisible()
    shown.close()
    shown.asked.clear()
    with qtbot.waitSignal(shown.left) as left:
        button(shown, "Keep as a draft").click()
    assert (left.args, shown.asked[0].steps[0].thought[0]) == ([True], "x")
    assert not shown.isVisible()


def test_closing_saves_first_and_waits_for_it(shown, qtbot):
    qtbot.keyClicks(shown.look.thought, "x")
    shown.close()
    with qtbot.waitSignal(shown.save_requested):
        button(shown, "Save").click()
    assert shown.isVisible()
    with qtbot.waitSignal(shown.left) as left:
        shown.show_view(samples.view(opened=samples.opened(base=shown.edits.now), saves=1))
    assert (left.args, shown.isVisible()) == ([False], False)


def test_closing_what_is_saved_asks_nothing_and_an_unfinished_one_cannot_be_saved(shown):
    show(shown, samples.BROKEN)
    shown.close()
    assert not button(shown, "Save").isEnabled()
    button(shown, "Discard").click()
    assert not shown.isVisible()
    shown.show_view(samples.view(opened=samples.opened(serial=9)))
    shown.show()
    shown.asking = None
    shown.close()
    assert (shown.asking, shown.isVisible()) == (None, False)


def test_a_value_that_is_selected_becomes_a_placeholder_in_the_places_that_are_ticked(shown, qtbot):
    shown.look.actions_field.setFocus()
    cursor = shown.look.actions_field.textCursor()
    cursor.setPosition(10)
    cursor.setPosition(17, QTextCursor.MoveMode.KeepAnchor)
    shown.look.actions_field.setTextCursor(cursor)
    qtbot.keyClick(shown.look.actions_field, Qt.Key.Key_G, CTRL)
    assert shown.values.value.text() == "Oakland"
    assert (shown.values.ok.isEnabled(), "lowercase letters" in shown.values.fact.text()) == (False, True)
    shown.values.name.setText("{city}")
    assert shown.values.fact.text() == "Changes 12 times, in 10 places of 10."
    shown.values.list.item(0).setCheckState(Qt.CheckState.Unchecked)
    shown.values.ok.click()
    assert "Oakland" in shown.edits.now.task
    assert shown.edits.now.steps[0].actions[0] == "type [3] [{city}]"
    assert shown.undo_button.toolTip() == "Undo generalise “Oakland” (exemplar) (Ctrl+Z)"


def test_contrasts_and_pairs_are_added_edited_and_deleted(shown, qtbot):
    shown.tabs.setCurrentWidget(shown.contrasts)
    shown.contrasts.add_button.click()
    qtbot.keyClicks(shown.contrasts.fields["tried"], "click [1]")
    assert [one.tried for one in shown.edits.now.contrasts] == ["click [7]", "click [1]"]
    shown.contrasts.up_button.click()
    assert [one.tried for one in shown.edits.now.contrasts] == ["click [1]", "click [7]"]
    shown.contrasts.delete_button.click()
    shown.pairs.delete_button.click()
    assert (len(shown.edits.now.contrasts), shown.edits.now.abstraction) == (1, ())
    assert "no pair" in shown.pairs.or_words.words.text()


def test_the_program_is_tried_on_the_page_that_is_chosen(shown, qtbot):
    shown.tabs.setCurrentWidget(shown.parser)
    shown.parser.page.setCurrentIndex(1)
    with qtbot.waitSignal(shown.test_requested) as asked:
        qtbot.keyClick(shown.parser.code, Qt.Key.Key_Return, CTRL)
    assert asked.args[1].kind == "pair"
    shown.show_view(samples.view(trial=samples.TRIAL))
    assert "310 ms · 15 of the page's 96 tokens" in shown.parser.fact.text()
    shown.show_view(samples.view(trial=samples.FAILED))
    assert "KeyError" in shown.parser.error.text()
    shown.show_view(samples.view(trial=samples.TRIAL.replace(running=True)))
    assert (shown.parser.test_button.isEnabled(), shown.parser.cancel_button.isEnabled()) == (False, True)


def test_versions_are_compared_and_made_current_only_where_nothing_is_unsaved(shown, qtbot):
    page = shown.versions
    shown.tabs.setCurrentWidget(page)
    page.list.setCurrentRow(1)
    with qtbot.waitSignal(shown.compare_requested) as asked:
        page.compare_button.click()
    assert asked.args == [2, None]
    shown.show_view(samples.view(texts=VersionTexts(left=2, right=None, left_draft=samples.BROKEN)))
    assert shown.compared.isVisible()
    assert "lines differ" in shown.compared.windowTitle() or "line differ" in shown.compared.windowTitle()
    with qtbot.waitSignal(shown.versions.current_requested):
        page.current_button.click()
    qtbot.keyClicks(shown.look.thought, "x")
    assert not page.current_button.isEnabled()


def test_a_new_one_has_an_id_to_be_given_and_no_versions(shown):
    opened = samples.opened(EMPTY, serial=5, id="", version=0, base=EMPTY)
    shown.show_view(samples.view(EMPTY, opened=opened, versions=()))
    assert not shown.head.id.isReadOnly()
    assert shown.windowTitle() == "New exemplar[*]"
    assert "not in the library yet" in shown.fact.text()
    assert "first save" in shown.versions.or_words.words.text()


def test_a_text_too_long_to_edit_is_shown_in_part_and_kept(shown):
    step = samples.DRAFT.steps[0].replace(raw="x" * 300_000)
    show(shown, samples.DRAFT.replace(steps=(step,)))
    assert shown.look.raw.isReadOnly()
    assert "more characters" in shown.look.raw.toPlainText()
    assert len(shown.edits.now.steps[0].raw) == 300_000


def test_nothing_open_says_so(window):
    shown = EditorWindow(window.theme, window.history, window)
    assert "being read" in shown.or_words.words.text()
    shown.show_view(EditorView(problem="There is no exemplar x any more."))
    assert "no exemplar x" in shown.or_words.words.text()


def test_what_was_reported_of_one_that_was_put_away_is_not_shown_any_more(shown):
    shown.close()
    shown.show_view(samples.view())
    assert (shown.opened, "being read" in shown.or_words.words.text()) == (None, True)
    shown.show_view(samples.view(opened=samples.opened(serial=2)))
    assert shown.opened is not None
