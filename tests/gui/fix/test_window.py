"""Fix: what is proposed is in view, what is typed is checked and kept, and buttons follow what came of it."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from core.debugger.editing.views import EditText
from core.debugger.fix.views import FixView, Rerun
from gui.fix.controller import FixController
from gui.fix.window import FixWindow
from gui.shell.main_window import MainWindow
from tests.gui import samples as of_window
from tests.gui.fix import samples
from tests.gui.stand_ins import AskedService, choose_entry

CTRL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier


@pytest.fixture
def service() -> AskedService:
    return AskedService()


@pytest.fixture
def controller(window: MainWindow, service: AskedService, session, qtbot: QtBot) -> FixController:
    made = FixController(window, service)
    view = of_window.SESSION
    session.session_changed.send(view)
    session.runs_changed.send(of_window.RUNS)
    session.step_changed.send(of_window.STEP)
    qtbot.waitUntil(window.actions_by_name["fix"].isEnabled)
    return made


def show(qtbot: QtBot, controller: FixController, view: FixView) -> FixWindow:
    """Send a view of the run that is asked for, as the service does."""
    controller.open(view.run, 0)
    controller._service.changed.send(view)
    shown = controller.fix_window
    assert shown is not None
    qtbot.waitUntil(lambda: shown.view == view and shown.isActiveWindow())
    return shown


def again(qtbot: QtBot, shown: FixWindow, service: AskedService, view: FixView) -> None:
    service.changed.send(view)
    qtbot.waitUntil(lambda: shown.view == view)


def test_the_key_asks_for_the_run_in_view_and_the_tree_for_a_step(controller, service, window, qtbot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_Period, CTRL)
    qtbot.waitUntil(lambda: service.asked != [])
    assert service.asked[-1] == ("open", of_window.STEP.run, 0)
    choose_entry(window.runs, window.runs.model.step_index(of_window.STEP.run, 1), "Fix from this step")
    assert service.asked[-1] == ("open", of_window.STEP.run, 1)


def test_the_key_asks_for_the_run_whose_row_has_the_focus(controller, service, window, qtbot) -> None:
    other = next(one.run for one in of_window.RUNS.runs if one.run != of_window.STEP.run)
    window.activateWindow()
    window.runs.tree.setFocus()
    window.runs.tree.setCurrentIndex(window.runs.model.run_index(other))
    qtbot.waitUntil(window.runs.tree.hasFocus)
    qtbot.keyClick(window.runs.tree, Qt.Key.Key_Period, CTRL)
    qtbot.waitUntil(lambda: service.asked != [])
    assert service.asked[-1] == ("open", other, 0)


def test_the_file_is_open_at_the_likely_line_and_the_step_is_shown_in_the_main_window(
    controller, session, qtbot
) -> None:
    shown = show(qtbot, controller, samples.VIEW)
    assert shown.field.textCursor().block().text().startswith("Enter the words in the search field.")
    assert shown.field.hasFocus()
    assert "they differ from step 3" in shown.reason.text()
    assert shown.steps.currentData() == 3
    assert ("show_step", 14, 3) in session.asked


def test_what_is_typed_is_checked_and_saved_with_one_key(controller, service, qtbot) -> None:
    shown = show(qtbot, controller, samples.VIEW)
    qtbot.keyClicks(shown.field, "Never. ")
    qtbot.waitUntil(lambda: service.asked[-1][0] == "check")
    assert service.asked[-1] == ("check", samples.NAME, shown.text)
    assert "Never. Enter the words" in shown.text
    qtbot.keyClick(shown, Qt.Key.Key_Return, CTRL)
    qtbot.waitUntil(lambda: service.asked[-1][0] == "rerun")
    assert service.asked[-1] == ("rerun", samples.NAME, shown.text, False)


def test_a_mistake_is_told_and_cannot_be_run_until_something_else_is_typed(
    controller, service, qtbot
) -> None:
    shown = show(qtbot, controller, samples.VIEW)
    qtbot.keyClicks(shown.field, "x")
    problem = 'search_shop.md, line 2: unknown key "x"; did you mean name?'
    wrong = samples.TEXT.replace(text=shown.text, problem=problem, preview="")
    again(qtbot, shown, service, samples.VIEW.replace(text=wrong))
    assert shown.problem.text() == problem
    assert not shown.rerun_button.isEnabled()
    assert shown.rerun_button.toolTip() == problem
    assert "before the mistake" in shown.pane.preview_head.text()
    assert samples.TEXT.preview in shown.pane.preview.toPlainText()
    qtbot.keyClicks(shown.field, "y")
    assert shown.rerun_button.isEnabled()


def test_a_draft_is_kept_while_another_file_is_looked_at(controller, service, qtbot) -> None:
    shown = show(qtbot, controller, samples.VIEW)
    qtbot.keyClicks(shown.field, "Draft. ")
    draft = shown.text
    shown.places.setCurrentIndex(2)
    shown.places.activated.emit(2)
    assert service.asked[-1] == ("choose_place", samples.PROMPT.name)
    prompt = samples.TEXT.replace(name=samples.PROMPT.name, text="{{ task }}", asked=True)
    again(qtbot, shown, service, samples.VIEW.replace(place=samples.PROMPT, text=prompt))
    assert shown.text == "{{ task }}"
    again(qtbot, shown, service, samples.VIEW.replace(text=samples.TEXT.replace(asked=True, note="")))
    assert shown.text == draft


def test_a_draft_is_kept_where_the_window_is_closed_and_fix_is_asked_for_again(
    controller, service, qtbot
) -> None:
    shown = show(qtbot, controller, samples.VIEW)
    qtbot.keyClicks(shown.field, "Draft. ")
    draft = shown.text
    shown.close()
    show(qtbot, controller, samples.VIEW.replace(text=samples.TEXT.replace(asked=True, note="Read again.")))
    assert shown.text == draft


def test_keys_typed_after_ctrl_f_and_ctrl_h_are_not_typed_into_the_file(controller, qtbot) -> None:
    shown = show(qtbot, controller, samples.VIEW)
    assert shown.isWindow()
    for key in (Qt.Key.Key_F, Qt.Key.Key_H):
        for focused in (shown.field, shown.pane.preview, shown.steps):
            focused.setFocus()
            QTest.keyClick(shown.windowHandle(), key, CTRL)
            for letter in "price":
                QTest.keyClick(shown.windowHandle(), letter)
            assert shown.field.finder.field.text() == "price"
            QTest.keyClick(shown.windowHandle(), Qt.Key.Key_Return)
            QTest.keyClick(shown.windowHandle(), Qt.Key.Key_Up)
            QTest.keyClick(shown.windowHandle(), Qt.Key.Key_Escape)
            assert (shown.field.finder.isVisible(), shown.isVisible()) == (False, True)
    assert (shown.text, shown.field.edited) == (samples.POLICY, False)


def test_what_was_typed_can_be_undone_after_another_file_and_after_escape(controller, service, qtbot) -> None:
    shown = show(qtbot, controller, samples.VIEW)
    qtbot.keyClicks(shown.field, "Draft. ")
    prompt = samples.TEXT.replace(name=samples.PROMPT.name, text="{{ task }}", asked=True)
    again(qtbot, shown, service, samples.VIEW.replace(place=samples.PROMPT, text=prompt))
    qtbot.keyClick(shown.field, Qt.Key.Key_Escape)
    assert not shown.isVisible()
    show(qtbot, controller, samples.VIEW.replace(text=samples.TEXT.replace(asked=True, note="Read again.")))
    assert "Draft. " in shown.text
    qtbot.keyClick(shown.field, Qt.Key.Key_Z, CTRL)
    assert (shown.text, shown.field.edited) == (samples.POLICY, False)


def test_a_draft_of_an_action_belongs_to_its_step(controller, service, qtbot) -> None:
    def of_step(step: int, action: str) -> FixView:
        text = EditText(name="action", title="The action", text=action, asked=True)
        return samples.VIEW.replace(step=step, place=samples.ACTION, text=text)

    shown = show(qtbot, controller, of_step(3, "click [1]"))
    qtbot.keyClicks(shown.field, "x")
    again(qtbot, shown, service, of_step(4, "click [2]"))
    assert (shown.text, shown.field.document().isUndoAvailable()) == ("click [2]", False)
    again(qtbot, shown, service, of_step(3, "click [1]"))
    assert shown.text == "xclick [1]"


def test_reload_puts_the_saved_text_back_and_undo_the_draft(controller, service, qtbot) -> None:
    shown = show(qtbot, controller, samples.VIEW)
    qtbot.keyClicks(shown.field, "Draft. ")
    draft = shown.text
    qtbot.keyClick(shown, Qt.Key.Key_R, ALT)
    qtbot.waitUntil(lambda: service.asked[-1] == ("choose_place", samples.NAME))
    again(qtbot, shown, service, samples.VIEW.replace(text=samples.TEXT.replace(asked=True, note="Read.")))
    assert shown.text == samples.POLICY
    shown.field.undo()
    assert shown.text == draft


def test_what_is_changed_in_the_bundled_file_is_shown(controller, service, qtbot) -> None:
    bundled = samples.POLICY.replace(" Put the price into the keywords.", "")
    shown = show(
        qtbot, controller, samples.VIEW.replace(text=samples.TEXT.replace(asked=True, bundled=bundled))
    )
    qtbot.keyClick(shown, Qt.Key.Key_D, ALT)
    qtbot.waitUntil(shown.pane.sides.isVisible)
    assert (shown.pane.sides.changed, shown.field.isVisible()) == (1, False)
    qtbot.keyClick(shown, Qt.Key.Key_D, ALT)
    qtbot.waitUntil(shown.field.isVisible)
    assert shown.field.hasFocus()


def test_what_stays_done_is_told_and_has_to_be_known_before_the_run_goes_on(controller, qtbot) -> None:
    irreversible = "Going back to step 3 does not undo POST http://shop.example/order (step 4)"
    shown = show(qtbot, controller, samples.VIEW.replace(irreversible=irreversible))
    assert shown.stays.text() == f"{irreversible}."
    assert not shown.rerun_button.isEnabled()
    shown.known.click()
    assert shown.rerun_button.isEnabled()


def test_a_success_can_be_kept_saved_put_back_and_tried_at_other_seeds(
    controller, service, window, qtbot
) -> None:
    shown = show(qtbot, controller, samples.VIEW)
    assert not shown.keep_button.isEnabled()
    assert not shown.family_button.isEnabled()
    view = samples.VIEW.replace(rerun=samples.ENDED, saved=(samples.NAME,))
    again(qtbot, shown, service, view)
    assert "✗ no success" in shown.outcome.before.text()
    assert "✓ success, reward 1, 5 steps" in shown.outcome.after.text()
    assert (shown.seeds.value(), shown.seeds.text()) == (5, "5 seeds")
    shown.seeds.setValue(3)
    assert "at 3 other seeds" in shown.family_button.toolTip()
    qtbot.keyClick(shown, Qt.Key.Key_F, ALT)
    qtbot.waitUntil(lambda: service.asked[-1] == ("run_family", 3))
    assert window.remembered.fix_seeds == 3
    again(qtbot, shown, service, view.replace(family=samples.FAMILY, family_busy=True))
    assert "0 of 2 before, 2 of 2 after" in shown.outcome.family.text()
    assert (shown.outcome.progress.value(), shown.outcome.progress.maximum()) == (4, 10)
    assert not shown.seeds.isEnabled()
    shown.family_button.click()
    assert service.asked[-1] == ("cancel_family",)
    with qtbot.waitSignal(window.runs.keep_requested) as kept:
        shown.save_button.click()
    assert kept.args == [15, ()]
    shown.keep_button.click()
    shown.revert_button.click()
    assert service.asked[-2:] == [("keep",), ("revert",)]


def test_the_same_text_run_again_is_no_proof(controller, service, qtbot) -> None:
    shown = show(qtbot, controller, samples.VIEW)
    again(qtbot, shown, service, samples.VIEW.replace(rerun=samples.ENDED.replace(unchanged=True)))
    assert "the same text run again" in shown.outcome.after.text()
    assert shown.outcome.after.property("tone") in (None, "")


def test_an_exemplar_can_be_retired(controller, service, window, qtbot) -> None:
    shown = show(qtbot, controller, samples.VIEW.replace(place=samples.EXEMPLAR, places=(samples.EXEMPLAR,)))
    assert shown.keep_button.text() == "Retire it"
    with qtbot.waitSignal(window.retire_requested) as retired:
        shown.keep_button.click()
    assert retired.args == ["buy-lamp"]
    assert ("keep",) not in service.asked


def test_a_page_that_is_lost_offers_the_task_afresh(controller, service, qtbot) -> None:
    lost = Rerun(
        run=15, step=3, state="lost", words="Back at step 3: lost. There is no way to go back to it."
    )
    shown = show(qtbot, controller, samples.VIEW)
    assert shown.fresh_button.isHidden()
    again(qtbot, shown, service, samples.VIEW.replace(rerun=lost))
    assert "There is no way to go back to it. Run afresh" in shown.outcome.after.text()
    shown.fresh_button.click()
    assert service.asked[-1] == ("rerun_fresh",)


def test_an_attached_agent_offers_its_reply_in_place_of_files(controller, window, qtbot) -> None:
    why = "An attached agent made this run, and Backstep does not have its files."
    view = samples.VIEW.replace(attached=True, why_not=why, places=(), place=None, text=None)
    shown = show(qtbot, controller, view)
    assert not shown.field.isVisible()
    assert not shown.rerun_button.isEnabled()
    with qtbot.waitSignal(window.runs.ask_requested) as asked:
        shown.extra_button.click()
    assert asked.args == [14, 3]


def test_the_message_of_a_failed_run_leads_to_fix(controller, service, session, window, qtbot) -> None:
    ended = of_window.SESSION.replace(mode="ended", success=False, judged=True, message="Nothing was done.")
    session.session_changed.send(ended)
    qtbot.waitUntil(lambda: window.page.messages.fix_button.isVisible())
    window.page.messages.fix_button.click()
    qtbot.waitUntil(lambda: service.asked != [] and service.asked[-1][0] == "open")
    session.session_changed.send(ended.replace(success=True))
    qtbot.waitUntil(lambda: not window.page.messages.fix_button.isVisible())


def test_the_patch_of_a_cause_is_put_into_the_text_by_a_key_and_taken_out_by_undo(
    controller, service, qtbot
) -> None:
    shown = show(qtbot, controller, samples.VIEW)
    assert not shown.patch_button.isVisible()
    again(qtbot, shown, service, samples.VIEW.replace(step=1))
    assert shown.patch_button.isVisible()
    qtbot.waitUntil(shown.patch_button.isEnabled)
    qtbot.keyClick(shown, Qt.Key.Key_P, ALT)
    qtbot.waitUntil(lambda: 'actions = ["hover", "type", "click"' in shown.text)
    qtbot.waitUntil(lambda: not shown.patch_button.isEnabled())
    QTest.keyClick(shown.field, Qt.Key.Key_Z, CTRL)
    qtbot.waitUntil(lambda: shown.text == samples.POLICY)
    qtbot.waitUntil(shown.patch_button.isEnabled)
    again(qtbot, shown, service, samples.VIEW.replace(step=1, place=samples.PROMPT))
    assert not shown.patch_button.isVisible()
