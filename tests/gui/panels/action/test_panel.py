import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.debugger.live_page import Picked
from core.debugger.session_view import SessionView
from core.debugger.steps.views import ActionView, PersonQuestion
from core.schema.messages import Message
from gui.panels.action.panel import ActionPanel
from tests.gui import samples

QUESTION = PersonQuestion(purpose="decide", messages=(Message(role="user", text="What next?"),))


@pytest.fixture
def panel(qtbot: QtBot, theme) -> ActionPanel:
    panel = ActionPanel(theme)
    qtbot.addWidget(panel)
    panel.resize(330, 460)
    panel.show()
    qtbot.waitExposed(panel)
    panel.activateWindow()
    return panel


@pytest.fixture
def reviewing(panel: ActionPanel) -> ActionPanel:
    panel.show_session(samples.SESSION)
    panel.show_action(samples.ACTION)
    return panel


def write(panel: ActionPanel, text: str) -> None:
    panel.form.line.setText(text)
    panel.form.line.textEdited.emit(text)


def test_without_a_task_the_panel_says_how_to_open_one(panel: ActionPanel):
    assert "Ctrl+N" in panel.or_words.words.text()
    panel.show_session(samples.SESSION)
    panel.show_action(ActionView())
    assert "F10" in panel.or_words.words.text()


def test_thought_and_action_show_before_they_happen(reviewing: ActionPanel):
    assert samples.ACTION.thought in reviewing.thought.toPlainText()
    assert reviewing.form.text == "click [6]"
    assert reviewing.buttons.accept.isEnabled()
    assert reviewing.queue.texts == ("click [7]",)


def test_the_samples_of_a_decision_show_beside_the_action(reviewing: ActionPanel):
    assert reviewing.votes.isHidden()
    votes = ("2 of 3 samples agreed", "call 4: click [6]", "call 5: click [7]", "call 6: click [6]")
    reviewing.show_action(samples.ACTION.replace(votes=votes))
    assert reviewing.votes.text() == "\n".join(votes)
    assert reviewing.votes.isVisible()


def test_what_was_dropped_of_the_queue_is_told_with_its_reason(reviewing: ActionPanel):
    assert reviewing.cut.isHidden()
    told = "An action that was to follow was not done: click [7]. The action before them failed."
    reviewing.show_action(samples.ACTION.replace(queue=(), cut=told))
    assert reviewing.cut.text() == told


def test_the_words_of_the_llm_show_as_they_come(panel: ActionPanel):
    panel.show_session(samples.SESSION.replace(mode="asking"))
    panel.show_action(ActionView(outcome="thinking"))
    assert "F5" in panel.message.text()
    for text in ("The lamp", "The lamp is green", "The lamp is green."):
        panel.show_action(ActionView(outcome="thinking", streaming=text))
        assert panel.streaming.toPlainText() == text
    panel.show_action(ActionView(outcome="thinking", streaming="Anew"))
    assert panel.streaming.toPlainText() == "Anew"
    assert panel.buttons.isHidden()


def test_an_edit_is_reported_once_the_person_rests(reviewing: ActionPanel, qtbot: QtBot):
    with qtbot.waitSignal(reviewing.edit_requested) as asked:
        write(reviewing, "click [7")
        write(reviewing, "click [7]")
    assert asked.args == ["click [7]"]
    assert reviewing.origin.text == "person"
    assert reviewing.proposed.text() == "The agent had proposed: click [6]"


def test_an_action_that_cannot_be_taken_is_not_reported(reviewing: ActionPanel, qtbot: QtBot):
    with qtbot.assertNotEmitted(reviewing.edit_requested, wait=600):
        write(reviewing, "click [44]")
    assert not reviewing.buttons.accept.isEnabled()


def test_accepting_an_unchanged_action_takes_it_at_once(reviewing: ActionPanel, qtbot: QtBot):
    with qtbot.waitSignal(reviewing.accept_requested):
        reviewing.buttons.accept.click()


def test_accepting_a_changed_action_waits_until_the_session_has_it(reviewing: ActionPanel, qtbot: QtBot):
    asked: list[str] = []
    reviewing.edit_requested.connect(asked.append)
    reviewing.accept_requested.connect(lambda: asked.append("accept"))
    write(reviewing, "click [7]")
    reviewing.accept()
    assert asked == ["click [7]"]
    reviewing.show_action(samples.ACTION)
    assert asked == ["click [7]"]
    taken = {"action": "click [7]", "proposed": "click [6]", "origin": "person"}
    reviewing.show_action(samples.ACTION.replace(**taken))
    assert asked == ["click [7]", "accept"]


def test_a_refused_edit_never_lets_the_old_action_through(reviewing: ActionPanel, qtbot: QtBot):
    write(reviewing, "click [7]")
    reviewing.accept()
    with qtbot.assertNotEmitted(reviewing.accept_requested):
        reviewing.show_action(samples.ACTION.replace(problem="The page has changed."))
        reviewing.show_action(samples.ACTION)
    assert reviewing.form.text == "click [7]"


def test_a_refusal_is_shown_with_the_draft(reviewing: ActionPanel):
    write(reviewing, "click [7]")
    reviewing.accept()
    reviewing.show_action(samples.ACTION.replace(problem="The page has changed."))
    assert reviewing.form.note.text() == "The page has changed."
    assert reviewing.form.text == "click [7]"


def test_what_is_being_typed_survives_other_news(reviewing: ActionPanel):
    write(reviewing, "click [7]")
    reviewing.show_action(samples.ACTION.replace(message="A tab was opened."))
    assert reviewing.form.text == "click [7]"


def test_the_echo_of_an_earlier_edit_leaves_the_later_draft(reviewing: ActionPanel):
    write(reviewing, "click [7]")
    reviewing._send_edit()
    write(reviewing, "click [8]")
    reviewing.show_action(samples.ACTION.replace(action="click [7]", proposed="click [6]"))
    assert reviewing.form.text == "click [8]"
    assert reviewing.changed


def test_a_new_action_of_the_agent_replaces_an_old_draft(reviewing: ActionPanel):
    write(reviewing, "click [7]")
    reviewing.show_action(samples.ACTION.replace(action="click [1]"))
    assert reviewing.form.text == "click [1]"


def test_the_next_step_starts_without_the_old_draft(reviewing: ActionPanel):
    write(reviewing, "click [7]")
    reviewing.show_action(ActionView(outcome="thinking"))
    reviewing.show_action(samples.ACTION)
    assert reviewing.form.text == "click [6]"


def test_enter_in_the_panel_accepts(reviewing: ActionPanel, qtbot: QtBot):
    reviewing.form.line.setFocus()
    with qtbot.waitSignal(reviewing.accept_requested):
        qtbot.keyClick(reviewing.form.line, Qt.Key.Key_Return)
    target = reviewing.form.field("target").box.lineEdit()
    target.setFocus()
    with qtbot.waitSignal(reviewing.accept_requested):
        qtbot.keyClick(target, Qt.Key.Key_Return)


def test_buttons_ask_for_what_they_say(reviewing: ActionPanel, qtbot: QtBot):
    with qtbot.waitSignal(reviewing.skip_requested):
        reviewing.buttons.skip.click()
    with qtbot.waitSignal(reviewing.ask_again_requested):
        reviewing.buttons.again.click()
    with qtbot.waitSignal(reviewing.pointing_requested) as asked:
        reviewing.buttons.point.click()
    assert asked.args == [True]


def test_a_picked_element_becomes_the_target_only_when_clicked(reviewing: ActionPanel):
    reviewing.show_picked(Picked(ref=8, label="button"))
    assert reviewing.form.text == "click [6]"
    reviewing.show_picked(Picked(ref=8, label="button", final=True))
    assert reviewing.form.text == "click [8]"


def test_a_whole_row_of_the_list_is_reported_at_once(reviewing: ActionPanel, qtbot: QtBot):
    with qtbot.waitSignal(reviewing.edit_requested, timeout=100) as asked:
        reviewing.show_row(samples.PERMISSIBLE.rows()[1])
    assert asked.args == ["click [2]"]


def test_an_old_step_tells_its_outcome_and_offers_nothing(panel: ActionPanel):
    panel.show_session(samples.SESSION)
    panel.show_action(samples.recorded_step().action)
    assert panel.outcome.text() == "✗ failed"
    assert panel.message.text().startswith("The element [5] is covered")
    assert panel.taken.text() == "click [5]"
    assert panel.buttons.isHidden()
    assert panel.form.isHidden()


def test_what_a_person_changed_shows_both_versions(panel: ActionPanel):
    panel.show_session(samples.SESSION)
    view = ActionView(action="click [7]", proposed="click [6]", origin="person", outcome="done")
    panel.show_action(view)
    assert panel.origin.text == "person"
    assert panel.taken.text() == "click [7]"
    assert panel.proposed.text() == "The agent had proposed: click [6]"


def test_a_gate_is_shown_beside_the_action(panel: ActionPanel):
    panel.show_session(samples.SESSION.replace(message="This action cannot be undone."))
    panel.show_action(samples.ACTION)
    assert panel.notice.text() == "This action cannot be undone."


@pytest.fixture
def answering(panel: ActionPanel) -> ActionPanel:
    panel.show_session(samples.SESSION.replace(mode="answering"))
    panel.show_action(ActionView(form=samples.PERMISSIBLE.actions, elements=samples.ELEMENTS))
    panel.show_question(QUESTION)
    return panel


def test_the_person_answers_with_thought_and_action(answering: ActionPanel, qtbot: QtBot):
    assert not answering.buttons.answer.isEnabled()
    answering.thought_edit.setPlainText("It fits.")
    write(answering, "click [6]")
    with qtbot.waitSignal(answering.answer_requested) as asked:
        answering.buttons.answer.click()
    assert asked.args == ["It fits.", "click [6]"]


def test_pointing_begins_an_answer(answering: ActionPanel):
    answering.show_picked(Picked(ref=7, label="button", final=True))
    assert answering.form.text == "click [7]"
    assert answering.buttons.answer.isEnabled()


def test_an_answer_in_the_making_survives_other_news(answering: ActionPanel):
    write(answering, "click [7]")
    answering.show_action(
        ActionView(form=samples.PERMISSIBLE.actions, elements=samples.ELEMENTS, message="x")
    )
    assert answering.form.text == "click [7]"


def test_a_question_that_wants_only_words_can_be_answered_without_an_action(panel: ActionPanel, qtbot: QtBot):
    panel.show_session(samples.SESSION.replace(mode="answering"))
    panel.show_question(QUESTION.replace(needs_action=False))
    panel.thought_edit.setPlainText("Because.")
    with qtbot.waitSignal(panel.answer_requested) as asked:
        panel.buttons.answer.click()
    assert asked.args == ["Because.", ""]


def test_a_withdrawn_question_ends_answering(answering: ActionPanel):
    answering.show_session(samples.SESSION)
    answering.show_question(None)
    assert answering.thought_edit.isHidden()
    assert not answering.answering


def test_a_long_thought_leaves_room_for_the_form(panel: ActionPanel):
    panel.show_session(samples.SESSION)
    panel.show_action(samples.ACTION.replace(thought="A long thought. " * 500))
    assert panel.thought.height() < 140
    assert panel.form.isVisible()


def test_an_ended_run_points_to_the_recorded_steps(panel: ActionPanel):
    panel.show_session(SessionView(mode="ended", run=3))
    panel.show_action(ActionView())
    assert "Runs & steps" in panel.or_words.words.text()


def test_what_a_person_did_and_what_the_browser_reported_is_shown_with_the_step(panel: ActionPanel):
    asked = 'The page asked: "Sure?"; it was accepted.'
    panel.show_session(samples.SESSION)
    panel.show_action(samples.recorded_step().action)
    panel.show_remarks(("12:00:01 ada: edit click [6] → click [7]",), (asked,))
    assert panel.remarks.text().splitlines() == ["◆ 12:00:01 ada: edit click [6] → click [7]", asked]
    panel.show_remarks((), ())
    assert panel.remarks.isHidden()


def test_what_the_outcome_says_already_is_not_reported_again(panel: ActionPanel):
    message = "The page opened a new tab."
    panel.show_action(ActionView(action="click [5]", outcome="done", message=message))
    panel.show_remarks((), (message, "A download was refused."))
    assert panel.remarks.text() == "A download was refused."


def test_nothing_can_be_taken_while_the_person_has_the_page(reviewing: ActionPanel, qtbot: QtBot):
    reviewing.show_session(samples.SESSION.replace(handed_over=True))
    assert not reviewing.buttons.accept.isEnabled()
    assert not reviewing.buttons.skip.isEnabled()
    with qtbot.assertNotEmitted(reviewing.accept_requested):
        reviewing.accept()
    reviewing.show_session(samples.SESSION)
    assert reviewing.buttons.accept.isEnabled()


def test_the_focus_stays_in_the_panel_when_the_answer_is_taken(answering: ActionPanel, qtbot: QtBot):
    qtbot.waitUntil(answering.thought_edit.hasFocus)
    answering.show_session(samples.SESSION)
    answering.show_question(None)
    answering.show_action(samples.ACTION)
    assert answering.isAncestorOf(answering.window().focusWidget()) or answering.hasFocus()


def test_a_problem_scrolls_into_view(reviewing: ActionPanel, qtbot: QtBot):
    reviewing.resize(330, 230)
    write(reviewing, "klick [6]")
    note = reviewing.form.note
    qtbot.waitUntil(
        lambda: note.isVisible() and note.visibleRegion().boundingRect().height() == note.height()
    )


def test_actions_that_wait_are_painted(reviewing: ActionPanel, qtbot: QtBot):
    items = reviewing.queue.list
    reviewing.show_action(samples.ACTION.replace(queue=("click [7]", "click [8]")))
    qtbot.waitUntil(lambda: items.visualItemRect(items.item(1)).height() > 0)
    one = items.viewport().grab().toImage()
    reviewing.show_action(samples.ACTION.replace(queue=("press [Enter]", "stop [done]")))
    assert items.viewport().grab().toImage() != one
    assert items.visualItemRect(items.item(1)).top() > 0


def test_actions_that_wait_are_rewritten_and_removed_in_place(reviewing: ActionPanel, qtbot: QtBot):
    items = reviewing.queue.list
    with qtbot.waitSignal(reviewing.queue_edited) as asked:
        items.item(0).setText("click [8]")
    assert asked.args == [("click [8]",)]
    items.setCurrentRow(0)
    with qtbot.waitSignal(reviewing.queue_edited) as asked:
        qtbot.keyClick(items, Qt.Key.Key_Delete)
    assert asked.args == [()]


def test_actions_that_wait_stay_as_they_are_in_a_recorded_step(reviewing: ActionPanel, qtbot: QtBot):
    reviewing.show_action(samples.ACTION.replace(editable=False))
    items = reviewing.queue.list
    items.setCurrentRow(0)
    with qtbot.assertNotEmitted(reviewing.queue_edited):
        qtbot.keyClick(items, Qt.Key.Key_Delete)
    assert reviewing.queue.texts == ("click [7]",)
