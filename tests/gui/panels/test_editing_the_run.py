"""What panels and menus offer to put right in the live run: asked for by mouse and key, or said why not."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QInputDialog, QLabel
from pytestqt.qtbot import QtBot

from core.debugger.editing.views import RefusedEdit
from core.debugger.session_view import EditMade
from gui.shell.main_window import MainWindow
from tests.gui import samples

CTRL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier


@pytest.fixture
def shown(window: MainWindow, session, qtbot: QtBot) -> MainWindow:
    """A window on a run that rests at a review."""
    show(qtbot, window, session)
    beside = samples.STEP.permissible.replace(beside=("scroll", "goto"))
    step = samples.STEP.replace(permissible=beside, state=samples.SPACE)
    session.step_changed.send(step)
    qtbot.waitUntil(lambda: window.step_in_view == step)
    session.asked.clear()
    qtbot.waitUntil(window.isActiveWindow)
    return window


def show(qtbot: QtBot, window: MainWindow, session, **changes) -> None:
    view = samples.SESSION.replace(**changes)
    session.session_changed.send(view)
    qtbot.waitUntil(lambda: window.view == view)


def entry(entries, text):
    return next(one for one in entries if one.text.startswith(text))


def rows(view):
    return {row.key: view.rows_model.index(at) for at, row in enumerate(view.rows)}


def open_dialogs(window: MainWindow) -> list[QInputDialog]:
    return [one for one in window.findChildren(QInputDialog) if one.isVisible()]


def answer(qtbot: QtBot, window: MainWindow, text: str) -> None:
    """Write a line in the dialog that is open, and press Enter."""
    qtbot.waitUntil(lambda: bool(open_dialogs(window)))
    (dialog,) = open_dialogs(window)
    dialog.setTextValue(text)
    qtbot.keyClick(dialog, Qt.Key.Key_Return)


def chord(qtbot: QtBot, window: MainWindow, key: Qt.Key) -> None:
    qtbot.keyClick(window, Qt.Key.Key_P, CTRL)
    qtbot.keyClick(window, key)


# Plan & remedies


def test_a_remedy_is_rewritten_added_moved_and_dropped_unless_it_was_tried(shown, session, qtbot: QtBot):
    waiting = shown.plan.waiting
    first = next(one.number for one in samples.PLAN.remedies if one.state == "waiting")
    entry(shown.plan.remedy_entries(rows(waiting)[first]), "Edit it").do()
    answer(qtbot, shown, "scroll [down]")
    assert session.asked[-1] == ("ask_for", "EditRemedy", {"number": first, "action": "scroll [down]"})
    shown.plan.add_button.click()
    answer(qtbot, shown, "click [6]")
    assert session.asked[-1] == ("ask_for", "AddRemedy", {"action": "click [6]"})
    session.asked.clear()
    waiting = shown.plan.waiting
    shown.place("Plan & remedies").bring()
    waiting.setFocus()
    first, second = (one.number for one in samples.PLAN.remedies if one.state == "waiting")
    waiting.select_key(second)
    qtbot.keyClick(waiting, Qt.Key.Key_Up, ALT)
    qtbot.keyClick(waiting, Qt.Key.Key_Down, ALT)
    waiting.select_key(first)
    qtbot.keyClick(waiting, Qt.Key.Key_Delete)
    assert session.asked == [
        ("ask_for", "MoveRemedy", {"number": second, "sooner": 1}),
        ("ask_for", "MoveRemedy", {"number": second, "sooner": -1}),
        ("ask_for", "DropRemedy", {"number": first}),
    ]
    session.asked.clear()
    tried = next(one.number for one in samples.PLAN.remedies if one.state == "tried")
    texts = [one.text for one in shown.plan.remedy_entries(rows(shown.plan.waiting)[tried])]
    assert texts == ["Add a remedy…", "Ask for the remedies again"]


def test_the_last_judgement_is_overruled_and_earlier_ones_are_not(shown, session):
    judged = shown.plan.judged.rows_model
    entry(shown.plan.judgement_entries(judged.index(0)), "It was wrong").do()
    entry(shown.plan.judgement_entries(judged.index(0)), "The task is not done").do()
    assert session.asked == [
        ("ask_for", "OverruleJudgement", {"part": "aligned", "is_so": False}),
        ("ask_for", "OverruleJudgement", {"part": "task", "is_so": False}),
    ]
    earlier = entry(shown.plan.judgement_entries(judged.index(1)), "It was right")
    assert not earlier.enabled
    assert "Go back to it on a branch" in earlier.why


# Policy stack, state, permissible actions


def test_the_policy_at_work_is_popped_restarted_and_another_pushed_and_only_the_last_answer_is_edited(
    shown, session, qtbot: QtBot
):
    at_work = shown.stack.frames.rows_model.index(0)
    entry(shown.stack.entries(at_work), "Pop it").do()
    answer(qtbot, shown, "three lamps")
    entry(shown.stack.entries(at_work), "Pop it").do()
    answer(qtbot, shown, "lacked: a price")
    entry(shown.stack.entries(at_work), "Restart it").do()
    shown.stack.push_button.click()
    answer(qtbot, shown, "search_shop [lamp]")
    entry(shown.stack.entries(at_work), "Edit argument").do()
    assert session.asked == [
        ("ask_for", "PopFrame", {"answer": "three lamps"}),
        ("ask_for", "PopFrame", {"lacked": "a price"}),
        ("ask_for", "RestartFrame", {}),
        ("ask_for", "PushPolicy", {"call": "search_shop [lamp]"}),
        ("begin_text", "frame"),
    ]
    ended = shown.stack.ended.rows_model
    texts = [[one.text for one in shown.stack.entries(ended.index(at))] for at in range(3)]
    assert [any("came back with" in text for text in some) for some in texts] == [False, True, False]


def test_a_state_is_forced_and_what_the_page_offers_beside_is_permitted(shown, session, qtbot: QtBot):
    entry(shown.state.entries("item"), "Treat the page as item").do()
    entry(shown.state.entries("item"), "Recognise").do()
    shown.actions_by_name["force_state"].trigger()
    answer(qtbot, shown, "results")
    assert session.asked == [
        ("ask_for", "ForceState", {"state": "item"}),
        ("ask_for", "ForceState", {}),
        ("ask_for", "ForceState", {"state": "results"}),
    ]
    session.asked.clear()
    shown.permissible.permit_button.click()
    answer(qtbot, shown, "goto")
    assert session.asked == [("ask_for", "PermitAction", {"action": "goto"})]
    shown.permissible.show_permissible(samples.STEP.permissible)
    shown.permissible.show_rights()
    assert not shown.permissible.permit_button.isEnabled()
    assert "already permissible" in shown.permissible.permit_button.toolTip()


# Exemplars and observation


def test_exemplars_are_left_out_and_added_and_the_clean_observation_is_edited_and_made_anew(
    shown, session, qtbot: QtBot
):
    used = next(one for one in samples.STEP.exemplars.rows if one.used)
    near = next(one for one in samples.STEP.exemplars.rows if not one.used)
    entry(shown.exemplars.entries(rows(shown.exemplars.used)[used.id]), "Leave it out").do()
    entry(shown.exemplars.entries(rows(shown.exemplars.nearest)[near.id]), "Use this one too").do()
    shown.exemplars.pin_button.click()
    answer(qtbot, shown, "shop/lamp/7")
    shown.exemplars.recall_button.click()
    assert session.asked == [
        ("ask_for", "DropExemplar", {"id": used.id}),
        ("ask_for", "PinExemplar", {"id": near.id}),
        ("ask_for", "PinExemplar", {"id": "shop/lamp/7"}),
        ("ask_for", "AskQuestionAgain", {"what": "recall"}),
    ]
    session.asked.clear()
    near = next(one for one in samples.STEP.exemplars.rows if not one.used)
    shown.exemplars.pin_button.click()
    answer(qtbot, shown, f"{near.id}  {near.task}")
    assert session.asked == [("ask_for", "PinExemplar", {"id": near.id})]
    session.asked.clear()
    shown.observation.edit_button.click()
    shown.observation.again_button.click()
    shown.observation.program_button.click()
    assert session.asked == [
        ("begin_text", "observation"),
        ("ask_for", "AskQuestionAgain", {"what": "abstraction"}),
        ("begin_text", "parser"),
    ]


# Refused lines


def refuse(session, problem: str) -> None:
    """Have the session refuse the edit that was asked for last."""
    _, name, values = session.asked[-1]
    session.edit_refused.send(RefusedEdit(name=name, values=values, problem=problem))


def words_in(dialog: QInputDialog) -> list[str]:
    return [one.text() for one in dialog.findChildren(QLabel) if one.isVisible()]


def test_a_line_that_is_refused_or_not_sent_is_asked_for_again_as_it_was_written(
    shown, session, qtbot: QtBot
):
    shown.stack.push()
    answer(qtbot, shown, "serch_shop [steel bottle]")
    assert open_dialogs(shown) == []
    problem = 'There is no policy "serch_shop"; did you mean search_shop?'
    refuse(session, problem)
    qtbot.waitUntil(lambda: bool(open_dialogs(shown)))
    (dialog,) = open_dialogs(shown)
    assert dialog.windowTitle() == "Push a policy"
    assert dialog.textValue() == "serch_shop [steel bottle]"
    qtbot.waitUntil(lambda: problem in words_in(dialog))
    answer(qtbot, shown, "search_shop [steel bottle]")
    assert session.asked[-1] == ("ask_for", "PushPolicy", {"call": "search_shop [steel bottle]"})
    refuse(session, "The policies are too deep.")
    qtbot.waitUntil(lambda: bool(open_dialogs(shown)))
    (dialog,) = open_dialogs(shown)
    assert dialog.textValue() == "search_shop [steel bottle]"
    assert problem not in words_in(dialog)
    dialog.reject()
    session.asked.clear()
    shown.stack.push()
    qtbot.waitUntil(lambda: bool(open_dialogs(shown)))
    show(qtbot, shown, session, mode="running")
    answer(qtbot, shown, "search_shop [steel bottle]")
    qtbot.waitUntil(lambda: bool(open_dialogs(shown)))
    (dialog,) = open_dialogs(shown)
    assert dialog.textValue() == "search_shop [steel bottle]"
    qtbot.waitUntil(lambda: any("pause it (F5)" in words for words in words_in(dialog)))
    assert session.asked == []


def test_what_was_asked_for_without_a_line_opens_no_dialog_where_it_is_refused(shown, session, qtbot: QtBot):
    shown.stack.push()
    answer(qtbot, shown, "search_shop [steel bottle]")
    line = session.asked[-1]
    shown.stack.restart()
    refuse(session, "Nothing to restart.")
    session.edit_refused.send(RefusedEdit(name=line[1], values=line[2], problem="Too late."))
    session.session_changed.send(samples.SESSION.replace(message="After it."))
    qtbot.waitUntil(lambda: shown.view.message == "After it.")
    assert open_dialogs(shown) == []


# Keys, and when not


def test_two_keys_in_a_row_ask_for_an_edit(shown, session, qtbot: QtBot):
    for key, asked in (
        (Qt.Key.Key_M, ("begin_text", "memory")),
        (Qt.Key.Key_F, ("begin_text", "frame")),
        (Qt.Key.Key_L, ("begin_text", "experience")),
        (Qt.Key.Key_Y, ("ask_for", "OverruleJudgement", {"part": "aligned", "is_so": True})),
        (Qt.Key.Key_N, ("ask_for", "OverruleJudgement", {"part": "aligned", "is_so": False})),
        (Qt.Key.Key_D, ("ask_for", "OverruleJudgement", {"part": "task", "is_so": True})),
        (Qt.Key.Key_T, ("ask_for", "StartNewTrial", {})),
        (Qt.Key.Key_A, ("ask_for", "RestartFrame", {})),
        (Qt.Key.Key_1, ("ask_for", "AskQuestionAgain", {"what": "plan"})),
        (Qt.Key.Key_5, ("ask_for", "AskQuestionAgain", {"what": "judgement"})),
        (Qt.Key.Key_6, ("ask_for", "ForceState", {})),
    ):
        session.asked.clear()
        chord(qtbot, shown, key)
        qtbot.waitUntil(lambda asked=asked: session.asked == [asked])


def test_keys_undo_the_last_edit_of_run_or_prompt_and_lead_to_the_next_call(shown, session, qtbot: QtBot):
    qtbot.keyClick(shown, Qt.Key.Key_F10, CTRL | Qt.KeyboardModifier.ShiftModifier)
    assert session.asked == [("to_call",)]
    session.asked.clear()
    show(qtbot, shown, session)
    qtbot.keyClick(shown, Qt.Key.Key_Z, CTRL)
    assert session.asked == []
    show(qtbot, shown, session, edits=(EditMade(key="edit 1", kind="plan"),))
    qtbot.keyClick(shown, Qt.Key.Key_Z, CTRL)
    assert session.asked == [("undo", "edit 1")]
    session.asked.clear()
    show(qtbot, shown, session)
    show(qtbot, shown, session, held_call=3)
    qtbot.keyClick(shown, Qt.Key.Key_Z, CTRL)
    assert session.asked == []
    show(qtbot, shown, session, held_call=3, held_edits=(EditMade(key="prompt 18.3.1", kind="prompt"),))
    qtbot.keyClick(shown, Qt.Key.Key_Z, CTRL)
    assert session.asked == [("undo", "prompt 18.3.1")]


def edits_of(window: MainWindow):
    """Return what of the panels can edit the run, as enabled or not with the reason."""
    buttons = (
        window.plan.add_button,
        window.stack.pop_button,
        window.stack.push_button,
        window.permissible.permit_button,
        window.exemplars.pin_button,
        window.exemplars.recall_button,
        window.observation.edit_button,
        window.observation.again_button,
        *window.state.memory_buttons,
    )
    entries = (
        *window.state.entries("item")[:3],
        *window.stack.entries(window.stack.frames.rows_model.index(0))[:4],
        *window.plan.judgement_entries(window.plan.judged.rows_model.index(0)),
    )
    actions = [
        window.actions_by_name[name] for name in ("edit_memory", "judge_right", "again_plan", "permit")
    ]
    return [
        *((one.isEnabled(), one.toolTip()) for one in (*buttons, *actions)),
        *((one.enabled, one.why) for one in entries),
    ]


def test_nothing_is_edited_that_the_run_does_not_allow_and_each_says_why(shown, session, qtbot: QtBot):
    for changes, why in (
        ({"mode": "running"}, "pause it (F5)"),
        ({"mode": "ended"}, "a run under way can be changed"),
        ({"handed_over": True}, "give it back first (F6)"),
        ({"held_call": 3}, "all 3 is held"),
        ({"held_reply": 3}, "reply to call 3 is held: only it can be changed"),
        ({"held_request": "POST http://x/"}, "request is held: let it go (F5, F10) or refuse it (Ctrl+J)"),
    ):
        assert all(on for on, _ in edits_of(shown))
        show(qtbot, shown, session, **changes)
        assert all(not on and why in said for on, said in edits_of(shown)), why
        show(qtbot, shown, session)
    why = "No policy is at work; choose a preset with policies (Ctrl+Shift+S), then step (F10)."
    show(qtbot, shown, session, refusals={"PopFrame": why, "frame": why})
    assert not shown.stack.pop_button.isEnabled()
    assert shown.stack.push_button.isEnabled()
    action = shown.actions_by_name["edit_frame"]
    assert (action.isEnabled(), action.toolTip()) == (False, f"{why} (Ctrl+P, F)")
    show(qtbot, shown, session)
    assert action.isEnabled()
    assert action.toolTip().startswith("Edit argument, notes and history")
    session.step_changed.send(samples.STEP.replace(live=False, state=samples.SPACE))
    qtbot.waitUntil(lambda: not shown.step_in_view.live)
    assert all(not on and "the step under way can be changed" in said for on, said in edits_of(shown))
