"""Ask again: what is put, what comes of it, and what is said where there is nothing."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.debugger.ask_again.views import AskView, Question, ReplyAgain, WhatIf
from core.schema.messages import Image, LLMChoice, Message, ToolCall
from gui.ask_again.window import AskAgain

MESSAGES = (
    Message(role="system", text="You operate a web page. Answer with one action."),
    Message(role="user", text="Objective: book a flight.\n[1] button 'One way'"),
    Message(role="assistant", text="click [1]"),
    Message(role="user", text="Objective: buy a green table lamp.\n[5] radio 'blue'\n[6] radio 'green'"),
)
GREEN = ReplyAgain(action="click [6]", thought="Green is wanted.", tokens=812, seconds=1.4, cost=0.004)
BLUE = ReplyAgain(
    action="click [5]", thought="Blue is near enough.", more=("click [9]",), tokens=800, seconds=1.1
)
BROKEN = ReplyAgain(problem="The reply names no action: write one ACTION line.", thought="Hm.")


def asked(number: int, *answers: ReplyAgain, **changes: object) -> WhatIf:
    values: dict[str, object] = {
        "run": 18,
        "step": 3,
        "call": 3,
        "llm": "gpt-4o",
        "count": len(answers),
        "when": 1_700_000_000.0 + number,
        "recorded": "click [5]",
    }
    return WhatIf.model_validate({"number": number, "answers": answers, **values, **changes})


FIRST = asked(1, GREEN, GREEN, GREEN, BLUE, BROKEN)
SECOND = asked(
    2,
    GREEN,
    GREEN,
    messages=(Message(role="user", text="Think first."),),
    changed=("-Answer with one action.", "+Think first."),
    temperature=0.9,
)
VIEW = AskView(
    run=18, step=3, recorded="click [5]", llm="gpt-4o", messages=MESSAGES, temperature=0.7, asked=(FIRST,)
)
AGENTS = AskView(
    run=21,
    step=2,
    recorded='click({"ref": "e7"})',
    reply='I buy it.\n\n### tool_call click\n{"ref": "e7"}',
    llm="gpt-4o",
    messages=MESSAGES[:2],
    parts_known=True,
)
"""A step of an attached agent."""
LLMS = (LLMChoice(name="rules", title="Rules"), LLMChoice(name="llama", title="llama3.3"))


@pytest.fixture
def dialog(qtbot: QtBot, theme) -> AskAgain:
    dialog = AskAgain(theme)
    qtbot.addWidget(dialog)
    dialog.show_llms(LLMS)
    dialog.show_view(VIEW)
    dialog.show()
    qtbot.waitExposed(dialog)
    dialog.activateWindow()
    return dialog


def put(qtbot: QtBot, dialog: AskAgain) -> Question:
    with qtbot.waitSignal(dialog.ask_requested) as asking:
        dialog.ask_button.click()
    return asking.args[0]


def texts(dialog: AskAgain) -> list[str]:
    return [message.text for message in dialog.messages.messages]


def figures(dialog: AskAgain) -> list[tuple[str, str, bool]]:
    return [(bar.key, bar.word, bar.recorded) for bar in dialog.answers.bars.rows]


def test_the_question_as_recorded_leaves_messages_llm_and_temperature_to_the_record(dialog, qtbot):
    assert put(qtbot, dialog) == Question(run=18, step=3, count=5)


def test_control_enter_asks(dialog, qtbot):
    with qtbot.waitSignal(dialog.ask_requested):
        qtbot.keyClick(dialog, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)


def test_what_is_set_is_asked(dialog, qtbot):
    dialog.llm.setCurrentIndex(dialog.llm.findData("llama"))
    dialog.temperature.setValue(0.9)
    dialog.times.setValue(20)
    question = put(qtbot, dialog)
    assert (question.llm, question.temperature, question.count) == ("llama", 0.9, 20)


def test_an_edited_message_is_asked_with_the_others_as_they_were(dialog, qtbot):
    dialog.messages.sections[0].editor.appendPlainText("Never choose blue.")
    question = put(qtbot, dialog)
    assert question.messages == (
        MESSAGES[0].replace(text=f"{MESSAGES[0].text}\nNever choose blue."),
        *MESSAGES[1:],
    )


def test_a_message_that_is_only_unfolded_stays_as_it_was_recorded(dialog):
    odd = Message(role="user", text="a\u00a0b\r\nc")
    dialog.show_view(VIEW.replace(messages=(odd,)))
    assert dialog.messages.sections[0].editor is not None
    assert not dialog.messages.edited


def test_pictures_and_tool_calls_stay_with_an_edited_message(dialog):
    picture, call = Image(data=b"x"), ToolCall(name="click", arguments='{"target": 6}')
    message = Message(role="assistant", text="a", images=(picture,), tool_calls=(call,))
    dialog.show_view(VIEW.replace(messages=(message,)))
    section = dialog.messages.sections[0]
    section.editor.setPlainText("b")
    section.editor.document().setModified(True)
    assert section.message == message.replace(text="b")
    assert 'click({"target": 6})' in section.note.text()
    assert "1 picture" in section.note.text()


def test_messages_are_left_out_doubled_and_moved(dialog, qtbot):
    one, two, three, four = (message.text for message in MESSAGES)
    dialog.messages.sections[1].delete_button.click()
    assert texts(dialog) == [one, three, four]
    dialog.messages.sections[1].up_button.click()
    assert texts(dialog) == [three, one, four]
    dialog.messages.sections[2].copy_button.click()
    assert texts(dialog) == [three, one, four, four]
    dialog.messages.sections[0].down_button.click()
    assert texts(dialog) == [one, three, four, four]
    qtbot.waitUntil(dialog.reset_button.isEnabled)
    dialog.reset_button.click()
    assert texts(dialog) == [one, two, three, four]


def test_the_keys_of_a_section_move_the_one_with_the_focus(dialog, qtbot):
    section = dialog.messages.sections[3]
    section.fold_button.setFocus()
    qtbot.keyClick(section.fold_button, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert dialog.messages.sections[2] is section
    qtbot.keyClick(section.fold_button, Qt.Key.Key_Delete, Qt.KeyboardModifier.AltModifier)
    assert texts(dialog) == [message.text for message in MESSAGES[:3]]


def test_the_last_message_cannot_be_left_out(dialog):
    for _ in range(3):
        dialog.messages.sections[0].delete_button.click()
    assert not dialog.messages.sections[0].delete_button.isEnabled()


def test_each_message_tells_its_tokens_and_follows_its_edits(dialog, qtbot):
    section = dialog.messages.sections[0]
    qtbot.waitUntil(lambda: section.tokens > 5)
    before = section.tokens
    section.editor.appendPlainText("word " * 50)
    qtbot.waitUntil(lambda: section.tokens >= before + 50)
    assert f"{section.tokens} tokens" in section.fact.text()


def test_a_text_too_long_to_edit_is_shown_and_asked_as_it_is(dialog, qtbot):
    long = Message(role="user", text="word " * 60_000)
    dialog.show_view(VIEW.replace(messages=(MESSAGES[0], long)))
    section = dialog.messages.sections[1]
    assert section.editor.isReadOnly()
    assert "too long" in section.note.text()
    dialog.messages.sections[0].delete_button.click()
    assert put(qtbot, dialog).messages == (long,)


def test_edits_are_kept_while_answers_come_and_gone_with_another_step(dialog):
    dialog.messages.sections[0].delete_button.click()
    dialog.show_view(VIEW.replace(asked=(FIRST, SECOND), busy=True))
    assert len(dialog.messages.sections) == 3
    dialog.wait(18, 4)
    dialog.show_view(VIEW.replace(step=4))
    assert len(dialog.messages.sections) == 4


def test_the_actions_stand_in_order_with_count_share_and_the_recorded_one_named(dialog):
    assert figures(dialog) == [
        ("click [6]", "3 of 5 · 60%", False),
        ("click [5]", "1 of 5 · 20%", True),
        ("", "1 of 5 · 20%", False),
    ]
    spoken = [
        dialog.answers.bars.rows_model.index(row).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(3)
    ]
    assert spoken[1] == "click [5] · ✓ recorded. 1 of 5 · 20%"
    assert spoken[2].startswith("no usable answer")


def test_the_recorded_action_is_reported_where_nobody_proposed_it_again(dialog):
    dialog.show_view(VIEW.replace(asked=(SECOND,)))
    assert figures(dialog)[-1] == ("click [5]", "0 of 2 · 0%", True)
    dialog.answers.bars.select_key("click [5]")
    assert "None of the answers" in dialog.answers.thoughts.rows[0].text


def test_the_thoughts_are_those_of_the_chosen_action(dialog):
    assert {row.text for row in dialog.answers.thoughts.rows} == {"Green is wanted."}
    dialog.answers.bars.select_key("click [5]")
    (row,) = dialog.answers.thoughts.rows
    assert row.text == "Blue is near enough."
    assert "then: click [9]" in row.detail
    dialog.answers.bars.select_key("")
    (row,) = dialog.answers.thoughts.rows
    assert row.text == BROKEN.problem
    assert "Hm." in row.detail


def test_what_was_changed_in_the_prompt_is_reported_line_by_line(dialog):
    assert dialog.answers.changes_section.fact.text() == "as recorded"
    dialog.show_view(VIEW.replace(asked=(FIRST, SECOND)))
    assert [row.text for row in dialog.answers.changes.rows] == [
        "- Answer with one action.",
        "+ Think first.",
    ]
    assert dialog.answers.changes_section.fact.text() == "−1 +1 lines"


def test_an_earlier_question_can_be_looked_at_again(dialog, qtbot):
    dialog.show_view(VIEW.replace(asked=(FIRST, SECOND)))
    assert len(figures(dialog)) == 2
    dialog.questions.setFocus()
    qtbot.keyClick(dialog.questions, Qt.Key.Key_Down)
    assert len(figures(dialog)) == 3
    dialog.show_view(VIEW.replace(asked=(FIRST, SECOND), busy=True))
    assert len(figures(dialog)) == 3


def test_while_answers_come_the_progress_is_reported_and_only_cancel_is_offered(dialog, qtbot):
    put(qtbot, dialog)
    dialog.show_view(VIEW.replace(busy=True))
    assert dialog.progress.text() == "0 of 5"
    assert "Waiting for the first answer" in dialog.answers.or_words.words.text()
    coming = asked(0, GREEN, BLUE, GREEN, count=5)
    dialog.show_view(VIEW.replace(busy=True, asked=(FIRST, coming)))
    assert dialog.progress.text() == "3 of 5"
    assert figures(dialog)[0] == ("click [6]", "2 of 3 · 67%", False)
    assert (dialog.ask_button.isEnabled(), dialog.cancel_button.isEnabled()) == (False, True)
    with qtbot.waitSignal(dialog.cancel_requested):
        dialog.cancel_button.click()
    dialog.show_view(VIEW.replace(asked=(FIRST, coming.replace(number=2))))
    assert dialog.progress.text() == ""
    assert "3 of 5 answers came" in dialog.questions.rows[0].detail
    assert (dialog.ask_button.isEnabled(), dialog.cancel_button.isEnabled()) == (True, False)


@pytest.mark.parametrize(
    ("adoptable", "action", "offered"),
    [(True, "click [6]", True), (True, "", False), (False, "click [6]", False)],
)
def test_adopting_is_offered_at_the_review_and_for_an_action(dialog, adoptable, action, offered):
    dialog.set_adoptable(adoptable)
    dialog.answers.bars.select_key(action)
    assert dialog.adopt_button.isEnabled() is offered


def test_the_chosen_action_is_adopted(dialog, qtbot):
    dialog.set_adoptable(True)
    dialog.answers.bars.select_key("click [5]")
    with qtbot.waitSignal(dialog.adopt_requested) as adopted:
        dialog.adopt_button.click()
    assert adopted.args == ["click [5]"]


def test_a_step_that_asked_nobody_says_so_and_offers_nothing(dialog):
    dialog.show_view(AskView(run=18, step=9, problem="Step 9 of run 18 asked no LLM for its action."))
    assert "asked no LLM" in dialog.or_words.words.text()
    assert not dialog.ask_button.isEnabled()
    assert "press Ask" in dialog.answers.or_words.words.text()


def test_what_went_wrong_is_said_and_gone_with_the_next_question(dialog, qtbot):
    dialog.show_view(VIEW.replace(problem="There is no LLM llama."))
    assert dialog.problem.text() == "There is no LLM llama."
    assert len(texts(dialog)) == 4
    put(qtbot, dialog)
    assert not dialog.problem.isVisible()


def test_an_attached_agents_reply_is_edited_and_its_run_gone_on_with(dialog, qtbot):
    dialog.show_view(AGENTS)
    assert (dialog.go_on_button.isVisible(), dialog.adopt_button.isVisible()) == (True, False)
    dialog.go_on_button.click()
    assert dialog.reply.text.toPlainText() == AGENTS.reply
    assert "step 2 of run 21" in dialog.reply.words.text()
    dialog.reply.text.setPlainText("### tool_call click\n{not JSON")
    dialog.reply.go_on_button.click()
    assert "Line 2: the arguments of click are not JSON" in dialog.reply.problem.text()
    assert dialog.reply.isVisible()
    with qtbot.waitSignal(dialog.go_on_requested) as gone_on:
        dialog.reply.text.setPlainText('### tool_call click\n{"ref": "e8"}')
        dialog.reply.go_on_button.click()
    assert gone_on.args == [21, 2, '### tool_call click\n{"ref": "e8"}']
    assert not dialog.reply.isVisible()


def test_the_chosen_answer_is_what_an_attached_agent_gets(dialog):
    other = ReplyAgain(action='click({"ref": "e8"})', reply='### tool_call click\n{"ref": "e8"}')
    dialog.show_view(AGENTS.replace(asked=(asked(1, other, other, recorded=AGENTS.recorded),)))
    dialog.answers.bars.select_key(other.action)
    dialog.go_on_button.click()
    assert dialog.reply.text.toPlainText() == other.reply
    dialog.reply.reject()
    dialog.answers.bars.select_key(AGENTS.recorded)
    dialog.go_on_button.click()
    assert dialog.reply.text.toPlainText() == AGENTS.reply


def test_a_step_of_a_built_in_agent_has_no_reply_to_go_on_with(dialog):
    assert (dialog.go_on_button.isVisible(), dialog.adopt_button.isVisible()) == (False, True)
