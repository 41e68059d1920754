"""The editor of texts: opened where one is offered, checked as one types, applied, and kept where the run goes on."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.debugger.editing.views import EditText
from core.debugger.editing.words import Word
from core.schema.errors import DataError, UsageError
from gui.editing.controller import EditingController
from gui.shell.main_window import MainWindow
from tests.gui import samples
from tests.gui.stand_ins import AskedService

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
MEMORY = EditText(
    name="memory", title="Buffer and memory", hint="What is kept.", language="toml", text="a = 1"
)
POLICY = EditText(
    name="policies/shop/search.md",
    title="The policy shop/search.md",
    text="Search.",
    note="Saves to your own copy, /home/me/search.md. The bundled file stays unchanged.",
    preview="### system\nSearch.",
)


@pytest.fixture
def service() -> AskedService:
    return AskedService("files_listed")


@pytest.fixture
def controller(window: MainWindow, service: AskedService, session, qtbot: QtBot) -> EditingController:
    made = EditingController(window, service)
    show(qtbot, window, session)
    return made


def show(qtbot: QtBot, window: MainWindow, session, **changes) -> None:
    view = samples.SESSION.replace(**changes)
    session.session_changed.send(view)
    qtbot.waitUntil(lambda: window.view == view)


def opened(qtbot: QtBot, controller, source, view: EditText):
    source.send(view.replace(asked=True))
    qtbot.waitUntil(lambda: view.name in controller.editors and controller.editors[view.name].isVisible())
    editor = controller.editors[view.name]
    qtbot.waitUntil(editor.isActiveWindow)
    return editor


@pytest.fixture
def editor(qtbot: QtBot, controller, session):
    return opened(qtbot, controller, session.text_offered, MEMORY)


def typed(qtbot: QtBot, editor, text: str) -> str:
    qtbot.keyClicks(editor.field, text)
    return editor.text


def test_an_offered_text_is_edited_checked_as_one_types_and_its_problems_are_marked(
    editor, session, qtbot: QtBot
):
    assert (editor.windowTitle(), editor.text, editor.hint.text()) == (
        "Buffer and memory",
        "a = 1",
        "What is kept.",
    )
    assert not editor.pane.preview.isVisible()
    assert editor.focusWidget() is editor.field
    text = typed(qtbot, editor, "x")
    qtbot.waitUntil(lambda: ("check_text", "memory", text) in session.asked)
    session.text_offered.send(MEMORY.replace(text=text, problem="Line 1: no such key."))
    qtbot.waitUntil(lambda: editor.problem.text() == "Line 1: no such key.")
    assert not editor.apply_button.isEnabled()
    qtbot.keyClick(editor.field, Qt.Key.Key_Return, CTRL)
    assert not [one for one in session.asked if one[0] == "apply_text"]
    session.text_offered.send(MEMORY.replace(text="something else"))
    typed(qtbot, editor, "y")
    assert editor.apply_button.isEnabled()
    text = typed(qtbot, editor, "x")
    error = DataError("memory.toml, line 1: first.")
    error.problems = ((1, "first."), (3, "second."))
    session.text_offered.send(MEMORY.replace(text=text).wrong(error))
    qtbot.waitUntil(lambda: editor.problem.text() == "memory.toml, line 1: first. (1 more in the margin: F8)")
    assert {line: sign.words for line, sign in editor.field.signs.items()} == {0: "first.", 2: "second."}


def test_what_is_applied_closes_the_window_and_can_be_undone_when_it_is_opened_again(
    editor, session, qtbot: QtBot, controller
):
    text = typed(qtbot, editor, "0")
    qtbot.keyClick(editor.field, Qt.Key.Key_Return, CTRL)
    qtbot.waitUntil(lambda: ("apply_text", "memory", text) in session.asked)
    assert editor.isVisible()
    session.text_offered.send(MEMORY.replace(text=text, applied=True))
    qtbot.waitUntil(lambda: not editor.isVisible())
    assert not editor.edited
    text = typed(qtbot, editor, "0")
    session.text_offered.send(MEMORY.replace(text=text, applied=True))
    qtbot.waitUntil(lambda: not editor.isVisible())
    opened(qtbot, controller, session.text_offered, MEMORY.replace(text=text))
    qtbot.keyClick(editor.field, Qt.Key.Key_Z, CTRL)
    assert (editor.text, editor.edited) == ("a = 1", True)


def test_escape_leaves_the_run_as_it_is_and_keeps_the_draft(editor, controller, session, qtbot: QtBot):
    text = typed(qtbot, editor, "0")
    qtbot.keyClick(editor.field, Qt.Key.Key_Escape)
    assert not editor.isVisible()
    assert not [one for one in session.asked if one[0] == "apply_text"]
    again = opened(qtbot, controller, session.text_offered, MEMORY)
    assert again is editor
    assert editor.text == text
    assert "your draft from before" in editor.draft_note.text()
    editor.pane.reload_button.click()
    assert session.asked[-1] == ("begin_text", "memory")
    opened(qtbot, controller, session.text_offered, MEMORY)
    qtbot.waitUntil(lambda: editor.text == "a = 1")
    assert editor.draft_note.text() == ""


def test_undo_goes_back_before_the_window_was_closed_and_before_it_was_reloaded(
    editor, controller, session, qtbot: QtBot
):
    text = typed(qtbot, editor, "0")
    editor.close()
    opened(qtbot, controller, session.text_offered, MEMORY)
    editor.pane.reload_button.click()
    opened(qtbot, controller, session.text_offered, MEMORY)
    qtbot.waitUntil(lambda: editor.text == "a = 1")
    qtbot.keyClick(editor.field, Qt.Key.Key_Z, CTRL)
    assert editor.text == text
    qtbot.keyClick(editor.field, Qt.Key.Key_Z, CTRL)
    assert (editor.text, editor.edited) == ("a = 1", False)


def test_the_bundled_file_is_shown_beside_ones_own_and_words_of_a_file_are_completed(
    controller, service, qtbot: QtBot
):
    words = (Word(name="description", kind="key"),)
    view = POLICY.replace(name="policies/words.md", text="+++\n", language="markdown", words=words)
    editor = opened(qtbot, controller, service.changed, view)
    editor.field.go_to_line(2)
    qtbot.keyClicks(editor.field, "de")
    qtbot.keyClick(editor.field.names.popup, Qt.Key.Key_Return)
    assert editor.text == "+++\ndescription"
    view = POLICY.replace(bundled="Search!")
    editor = opened(qtbot, controller, service.changed, view)
    button = editor.pane.diff_button
    button.click()
    assert (editor.pane.sides.left.source, editor.pane.sides.right.source) == ("Search!", "Search.")
    assert not editor.field.isVisible()
    button.click()
    assert editor.field.hasFocus()
    editor.field.put("Search!")
    assert (button.isEnabled(), button.toolTip()) == (False, "The text is that of the bundled file")
    own = opened(qtbot, controller, service.changed, POLICY.replace(name="policies/own.md"))
    assert not own.pane.diff_button.isVisible()


ODD = "a =\u00a01\r\nb\u2028c\r\n"


def test_of_a_text_that_the_field_shows_otherwise_nothing_else_is_changed(controller, session, qtbot: QtBot):
    editor = opened(qtbot, controller, session.text_offered, MEMORY.replace(text=ODD))
    assert (editor.edited, editor.text) == (False, ODD)
    editor.close()
    again = opened(qtbot, controller, session.text_offered, MEMORY)
    assert again is editor
    assert (editor.text, editor.draft_note.text()) == ("a = 1", "")
    editor.close()
    editor = opened(qtbot, controller, session.text_offered, MEMORY.replace(text=ODD))
    assert typed(qtbot, editor, "0") == "0" + ODD
    qtbot.keyClick(editor.field, Qt.Key.Key_Return, CTRL)
    qtbot.waitUntil(lambda: ("apply_text", "memory", "0" + ODD) in session.asked)
    session.text_offered.send(MEMORY.replace(text="0" + ODD, applied=True))
    qtbot.waitUntil(lambda: not editor.isVisible())
    assert not editor.edited
    editor.close()
    several = MEMORY.replace(name="frame", text="a\r\nb\n")
    editor = opened(qtbot, controller, session.text_offered, several)
    assert (editor.edited, editor.text) == (False, "a\r\nb\n")
    assert typed(qtbot, editor, "0") == "0a\nb\n"


def test_a_draft_stays_while_the_run_goes_on_and_that_is_said(editor, window, session, qtbot: QtBot):
    text = typed(qtbot, editor, "0")
    show(qtbot, window, session, mode="running")
    qtbot.waitUntil(lambda: "pause it (F5)" in editor.draft_note.text())
    assert not editor.apply_button.isEnabled()
    show(qtbot, window, session, step=6)
    qtbot.waitUntil(lambda: "gone on since this was read at step 5" in editor.draft_note.text())
    assert editor.text == text
    assert editor.apply_button.isEnabled()
    assert session.asked[-1] == ("check_text", "memory", text)


def test_the_prompt_of_a_call_that_was_sent_is_not_applied_and_a_window_opens_at_the_size_it_was_left(
    controller, window, session, qtbot: QtBot, editor
):
    show(qtbot, window, session, held_call=3)
    prompt = EditText(name="prompt", title="The prompt of call 3", text="### user\nGo")
    editor = opened(qtbot, controller, session.text_offered, prompt)
    assert editor.apply_button.isEnabled()
    show(qtbot, window, session)
    qtbot.waitUntil(lambda: "Call 3 has gone on" in editor.draft_note.text())
    assert not editor.apply_button.isEnabled()
    editor.resize(700, 500)
    editor.close()
    other = opened(qtbot, controller, session.text_offered, MEMORY.replace(name="frame"))
    assert (other.width(), other.height()) == (700, 500)


def test_a_file_of_a_panel_opens_in_the_editor_beside_the_prompt_that_would_result(
    controller, window, service, qtbot: QtBot
):
    window.stack.file_wanted.emit("/x/policies/shop/search.md")
    assert service.asked == [("open_path", "/x/policies/shop/search.md")]
    editor = opened(qtbot, controller, service.changed, POLICY.replace(base="Old."))
    assert editor.pane.preview.source == POLICY.preview
    assert editor.note.text() == POLICY.note
    assert editor.apply_button.text() == "Save"
    text = typed(qtbot, editor, "!")
    qtbot.waitUntil(lambda: ("check", POLICY.name, text) in service.asked)
    qtbot.keyClick(editor.field, Qt.Key.Key_Return, CTRL)
    qtbot.waitUntil(lambda: ("save", POLICY.name, text, "Old.") in service.asked)
    qtbot.keyClick(editor.field, Qt.Key.Key_Return, CTRL | SHIFT)
    qtbot.waitUntil(lambda: ("try_here", POLICY.name, text, "Old.") in service.asked)


def test_a_file_is_saved_over_what_its_draft_began_with_or_what_was_saved_last(
    controller, service, qtbot: QtBot
):
    editor = opened(qtbot, controller, service.changed, POLICY.replace(base="Old."))
    text = typed(qtbot, editor, "!")
    opened(qtbot, controller, service.changed, POLICY.replace(base="Written meanwhile."))
    qtbot.keyClick(editor.field, Qt.Key.Key_Return, CTRL)
    qtbot.waitUntil(lambda: ("save", POLICY.name, text, "Old.") in service.asked)
    more = typed(qtbot, editor, "!")
    service.changed.send(POLICY.replace(text=text, base=text, applied=True))
    qtbot.waitUntil(lambda: editor.base == text)
    qtbot.keyClick(editor.field, Qt.Key.Key_Return, CTRL)
    qtbot.waitUntil(lambda: ("save", POLICY.name, more, text) in service.asked)


def test_a_file_opens_beside_the_prompt_that_would_result_which_stays_beside_a_mistake(
    controller, service, qtbot: QtBot
):
    editor = opened(qtbot, controller, service.changed, POLICY)
    now = editor.pane.preview_head.text()
    text = typed(qtbot, editor, "!")
    wrong = POLICY.replace(asked=False, text=text, preview="").wrong(UsageError("Line 1: no policy."))
    service.changed.send(wrong)
    qtbot.waitUntil(lambda: editor.problem.isVisible())
    assert editor.pane.preview.source == POLICY.preview
    assert editor.field.signs[0].words == "Line 1: no policy."
    assert "before the mistake" in editor.pane.preview_head.text()
    service.changed.send(POLICY.replace(asked=False, text=text, preview="Another prompt."))
    qtbot.waitUntil(lambda: editor.pane.preview.source == "Another prompt.")
    assert editor.pane.preview_head.text() == now
    editor = opened(
        qtbot,
        controller,
        service.changed,
        POLICY.replace(name="policies/b.md", why_no_try="Step first (F10)."),
    )
    assert not editor.try_button.isEnabled()
    assert editor.try_button.toolTip() == "Step first (F10)."


def test_a_file_is_chosen_from_all_there_are(controller, window, service, qtbot: QtBot):
    qtbot.waitUntil(window.isActiveWindow)
    qtbot.keyClick(window, Qt.Key.Key_O, CTRL | SHIFT)
    assert service.asked == [("list_files",)]
    service.files_listed.send(("policies/a.md", "presets/plain.toml"))
    from PySide6.QtWidgets import QInputDialog

    qtbot.waitUntil(lambda: any(one.isVisible() for one in window.findChildren(QInputDialog)))
    (dialog,) = [one for one in window.findChildren(QInputDialog) if one.isVisible()]
    dialog.setTextValue("presets/plain.toml")
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    assert service.asked[-1] == ("open", "presets/plain.toml")
