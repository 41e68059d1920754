"""Fix: what is proposed is in view, what is typed is checked and kept, and buttons follow what came of it."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.debugger.editing.views import EditText
from core.debugger.fix.views import CausesView, FixView, Rerun
from core.schema.task import Verdict
from gui.fix.controller import FixController
from gui.fix.window import FixWindow
from gui.shell.main_window import MainWindow
from tests.gui import samples as of_window
from tests.gui.fix import samples
from tests.gui.stand_ins import AskedService, choose_entry

CTRL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier


@pytest.fixture
def service() -> AskedService:
    return AskedService("reported", "looked")


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


def test_the_key_asks_for_the_run_in_view_or_with_the_focus_and_the_tree_for_a_step(
    controller, service, window, qtbot
) -> None:
    qtbot.keyClick(window, Qt.Key.Key_Period, CTRL)
    qtbot.waitUntil(lambda: service.asked != [])
    assert service.asked[-1] == ("open", of_window.STEP.run, 0, None)
    choose_entry(window.runs, window.runs.model.step_index(of_window.STEP.run, 1), "Fix from this step")
    assert service.asked[-1] == ("open", of_window.STEP.run, 1, None)
    service.asked.clear()
    other = next(one.run for one in of_window.RUNS.runs if one.run != of_window.STEP.run)
    window.activateWindow()
    window.runs.tree.setFocus()
    window.runs.tree.setCurrentIndex(window.runs.model.run_index(other))
    qtbot.waitUntil(window.runs.tree.hasFocus)
    qtbot.keyClick(window.runs.tree, Qt.Key.Key_Period, CTRL)
    qtbot.waitUntil(lambda: service.asked != [])
    assert service.asked[-1] == ("open", other, 0, None)


def test_the_file_is_open_at_the_likely_line_and_what_is_typed_is_checked_and_saved_with_one_key(
    controller, session, qtbot, service
) -> None:
    shown = show(qtbot, controller, samples.VIEW)
    assert shown.field.textCursor().block().text().startswith("Enter the words in the search field.")
    assert shown.field.hasFocus()
    assert "they differ from step 3" in shown.clues.rows.rows[0].text
    assert shown.steps.currentData() == 3
    assert ("show_step", 14, 3) in session.asked
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


def test_a_run_again_that_is_the_same_or_lost_or_stays_done_says_so(controller, service, qtbot) -> None:
    shown = show(qtbot, controller, samples.VIEW)
    qtbot.keyClick(shown, Qt.Key.Key_C, ALT)
    qtbot.waitUntil(lambda: service.asked[-1] == ("report",))
    service.reported.send("# Run 14")
    qtbot.waitUntil(lambda: "in the clipboard" in shown.notice.text())
    assert QApplication.clipboard().text() == "# Run 14"
    shown = show(qtbot, controller, samples.VIEW)
    again(qtbot, shown, service, samples.VIEW.replace(rerun=samples.ENDED.replace(unchanged=True)))
    assert "the same text run again" in shown.outcome.after.text()
    assert shown.outcome.after.property("tone") in (None, "")
    lost = Rerun(
        run=15, step=3, state="lost", words="Back at step 3: lost. There is no way to go back to it."
    )
    shown = show(qtbot, controller, samples.VIEW)
    assert shown.fresh_button.isHidden()
    again(qtbot, shown, service, samples.VIEW.replace(rerun=lost))
    assert "There is no way to go back to it. Run afresh" in shown.outcome.after.text()
    shown.fresh_button.click()
    assert service.asked[-1] == ("rerun_fresh",)
    irreversible = "Going back to step 3 does not undo POST http://shop.example/order (step 4)"
    shown = show(qtbot, controller, samples.VIEW.replace(irreversible=irreversible))
    assert shown.stays.text() == f"{irreversible}."
    assert not shown.rerun_button.isEnabled()
    shown.known.click()
    assert shown.rerun_button.isEnabled()


def test_a_success_can_be_kept_saved_and_put_back(controller, service, window, qtbot) -> None:
    shown = show(qtbot, controller, samples.VIEW)
    assert not shown.keep_button.isEnabled()
    names = (samples.NAME,)
    view = samples.VIEW.replace(rerun=samples.ENDED, saved=names, unkept=names)
    again(qtbot, shown, service, view)
    assert "✗ no success" in shown.outcome.before.text()
    assert "✓ success, reward 1, 5 steps" in shown.outcome.after.text()
    with qtbot.waitSignal(window.runs.keep_requested) as kept:
        shown.save_button.click()
    assert kept.args == [15, ()]
    shown.keep_button.click()
    shown.revert_button.click()
    assert service.asked[-2:] == [("keep",), ("revert",)]
    again(qtbot, shown, service, view.replace(unkept=()))
    assert not shown.keep_button.isEnabled()
    assert shown.revert_button.isEnabled()


def test_from_a_failed_run_to_a_kept_change_it_takes_three_keys(controller, service, window, qtbot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_Period, CTRL)
    qtbot.waitUntil(lambda: service.asked != [] and service.asked[-1][0] == "open")
    shown = show(qtbot, controller, samples.PROPOSED)
    rows = shown.clues.rows
    assert rows.hasFocus()
    qtbot.keyClick(rows, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: service.asked[-1][0] == "prove")
    assert service.asked[-1] == ("prove", samples.NAME, samples.POLICY, 8)
    again(qtbot, shown, service, samples.PROVING)
    asked = len(service.asked)
    qtbot.keyClick(rows, Qt.Key.Key_Return)
    assert len(service.asked) == asked  # It is being proved.
    again(qtbot, shown, service, samples.PROVEN)
    assert len(service.asked) == asked  # The cause stays open, although it is another row.
    assert rows.hasFocus()
    assert rows.key == ("clue", 0)
    qtbot.keyClick(rows, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: service.asked[-1] == ("keep",))


def test_a_proof_shows_its_runs_and_what_came_of_it_and_only_what_mends_is_kept(
    controller, service, window, qtbot
) -> None:
    shown = show(qtbot, controller, samples.PROPOSED)
    shown.pairs.setValue(5)
    assert window.remembered.fix_pairs == 5
    shown.prove_button.click()
    assert service.asked[-1] == ("prove", samples.NAME, samples.POLICY, 5)
    again(qtbot, shown, service, samples.PROVING)
    assert "7 of at most 34 runs: unchanged 0 of 5, changed 5 of 5" in shown.outcome.proof.text()
    assert (shown.outcome.progress.value(), shown.outcome.progress.maximum()) == (7, 34)
    assert not shown.pairs.isEnabled()
    assert not shown.outcome.before.isVisible()
    qtbot.keyClick(shown, Qt.Key.Key_F, ALT)
    qtbot.waitUntil(lambda: service.asked[-1] == ("cancel_proof",))
    other = samples.PROPOSED.clues[2].replace(candidate=samples.CHANGE.replace(files={"prompts/a.j2": "b"}))
    clues = (*samples.PROVING.clues[:2], other)
    shown = show(qtbot, controller, samples.PROVING.replace(clues=clues, chosen=2))
    asked = len(service.asked)
    qtbot.keyClick(shown.clues.rows, Qt.Key.Key_Return)
    assert service.asked[asked:] == []
    shown = show(qtbot, controller, samples.PROVEN)
    told = [(row.text, row.word) for row in shown.clues.rows.rows]
    assert told[0] == ("1 · hover is not permitted to the policy; the success took it here.", "proven")
    assert ("Step 1, page", "") in told
    assert (f"{samples.NAME}:3", "") in told
    assert ('actions = ["hover", "type", "click", "press", "go_back", "wait"]', "added") in told
    assert (
        "Last proof: unchanged 0 of 5, changed 5 of 5, sealed 4 of 4, 12 of 12 others unharmed",
        "",
    ) in told
    assert told[-1] == ("3 · The policy search_shop returned nothing.", "possible")
    for outcome, can in (("mended", True), ("harmful", False), ("inconclusive", False)):
        proof = samples.PROOF.replace(outcome=outcome)
        clues = (samples.PROVEN.clues[0].replace(proof=proof), *samples.PROVEN.clues[1:])
        shown = show(qtbot, controller, samples.PROVEN.replace(clues=clues))
        assert shown.clues.rows.rows[0].word == outcome
        assert shown.keep_button.isEnabled() is can
        asked = len(service.asked)
        qtbot.keyClick(shown.clues.rows, Qt.Key.Key_Return)
        assert service.asked[asked:] == ([("keep",)] if can else [])
    clues = (samples.PROVEN.clues[0].replace(stale=True), *samples.PROVEN.clues[1:])
    shown = show(qtbot, controller, samples.PROVEN.replace(clues=clues))
    assert shown.clues.rows.rows[0].word == "proven, files changed since"
    assert any("Other files of the agent were changed since." in row.detail for row in shown.clues.rows.rows)
    qtbot.keyClick(shown.clues.rows, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: service.asked[-1][0] == "prove")
    shown = show(qtbot, controller, samples.PROVEN.replace(place=samples.EXEMPLAR))
    retired = []
    window.retire_requested.connect(retired.append)
    shown.clues.rows.setFocus()
    qtbot.keyClick(shown.clues.rows, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: service.asked[-1] == ("keep",))
    assert retired == []


def test_an_exemplar_is_retired_and_an_attached_agent_offers_its_reply(
    controller, service, window, qtbot
) -> None:
    shown = show(qtbot, controller, samples.VIEW.replace(place=samples.EXEMPLAR, places=(samples.EXEMPLAR,)))
    assert shown.keep_button.text() == "Retire it"
    with qtbot.waitSignal(window.retire_requested) as retired:
        shown.keep_button.click()
    assert retired.args == ["buy-lamp"]
    assert ("keep",) not in service.asked
    why = "An attached agent made this run, and Backstep does not have its files."
    view = samples.VIEW.replace(attached=True, why_not=why, places=(), place=None, text=None)
    shown = show(qtbot, controller, view)
    assert not shown.field.isVisible()
    assert not shown.rerun_button.isEnabled()
    with qtbot.waitSignal(window.runs.ask_requested) as asked:
        shown.extra_button.click()
    assert asked.args == [14, 3]
    shown = show(qtbot, controller, samples.PROPOSED.replace(place=None, places=(), text=None))
    shown.prove_button.click()
    assert service.asked[-1] == ("prove", "", "", 8)


def test_an_llm_is_asked_for_a_change_by_a_key_and_can_be_given_up(controller, service, qtbot) -> None:
    shown = show(qtbot, controller, samples.VIEW)
    assert not shown.propose_button.isEnabled()
    assert "built-in LLM cannot propose" in shown.propose_button.toolTip()
    again(qtbot, shown, service, samples.VIEW.replace(proposer="qwen3:8b"))
    qtbot.waitUntil(shown.propose_button.isEnabled)
    qtbot.keyClick(shown, Qt.Key.Key_L, ALT)
    qtbot.waitUntil(lambda: service.asked[-1] == ("propose",))
    view = samples.VIEW.replace(
        proposer="qwen3:8b", proposing=True, proof_says="qwen3:8b is asked for a change…"
    )
    shown = show(qtbot, controller, view)
    assert shown.outcome.proof.text() == view.proof_says
    assert not shown.outcome.after.isVisible()
    assert not shown.prove_button.isEnabled()
    qtbot.keyClick(shown, Qt.Key.Key_L, ALT)
    qtbot.waitUntil(lambda: service.asked[-1] == ("cancel_proof",))
    view = samples.VIEW.replace(proving=7, done=3, of=34, proof_says="Running.")
    shown = show(qtbot, controller, view)
    assert shown.outcome.proof.text() == "Proof for run 7   3 of at most 34 runs: Running."
    shown.prove_button.click()
    assert service.asked[-1] == ("cancel_proof",)


def test_the_line_of_a_cause_is_gone_to_in_its_file(controller, service, qtbot) -> None:
    shown = show(qtbot, controller, samples.PROPOSED)
    shown.clues.rows.pressed_on.emit(("place",))
    assert shown.field.place == "line 3, column 1"
    qtbot.waitUntil(shown.field.hasFocus)
    again(qtbot, shown, service, samples.PROPOSED.replace(place=samples.PROMPT))
    shown.clues.rows.pressed_on.emit(("place",))
    assert service.asked[-1] == ("choose_place", samples.NAME)


def test_another_card_is_opened_by_arrow_and_its_evidence_leads_to_the_panel_and_the_element(
    controller, service, session, window, qtbot
) -> None:
    shown = show(qtbot, controller, samples.PROPOSED)
    rows = shown.clues.rows
    qtbot.keyClick(rows, Qt.Key.Key_Up)
    qtbot.waitUntil(lambda: service.asked[-1] == ("choose_clue", 0))
    again(qtbot, shown, service, samples.PROPOSED)
    window.place("Log").bring()
    run = of_window.STEP.run
    element = of_window.STEP.observation.elements[0]
    evidence = samples.PROPOSED.clues[1].evidence[0].replace(run=run, step=1, ref=element.ref)
    shown.evidence_opened.emit(evidence)
    assert ("show_step", run, 1) in session.asked
    assert window.place("Observation").is_seen
    session.step_changed.send(of_window.STEP.replace(number=1))
    qtbot.waitUntil(lambda: window.elements.pinned == element.ref)


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
    again(qtbot, shown, service, samples.PROPOSED)
    assert shown.patch_button.isVisible()
    qtbot.waitUntil(shown.patch_button.isEnabled)
    qtbot.keyClick(shown, Qt.Key.Key_P, ALT)
    qtbot.waitUntil(lambda: 'actions = ["hover", "type", "click"' in shown.text)
    qtbot.waitUntil(lambda: not shown.patch_button.isEnabled())
    QTest.keyClick(shown.field, Qt.Key.Key_Z, CTRL)
    qtbot.waitUntil(lambda: shown.text == samples.POLICY)
    qtbot.waitUntil(shown.patch_button.isEnabled)
    again(qtbot, shown, service, samples.PROPOSED.replace(place=samples.PROMPT))
    assert not shown.patch_button.isVisible()


def test_the_causes_of_the_run_in_view_are_asked_for_where_they_are_seen_and_lead_to_page_and_fix(
    controller, service, window, qtbot, session
) -> None:
    run, panel = of_window.STEP.run, window.causes
    qtbot.waitUntil(lambda: controller._in_view == run)
    assert service.asked == []
    qtbot.keyClick(window, Qt.Key.Key_0, ALT)
    qtbot.waitUntil(lambda: service.asked == [("look", run)])
    assert panel.words.words.text() == "Looking for the causes…"
    service.looked.send(CausesView(run=run, clues=samples.VIEW.clues))
    qtbot.waitUntil(lambda: panel.view.clues != ())
    rows = panel.cards.rows
    assert window.place("Causes").fact == "3 causes"
    assert [row.text for row in rows.rows][-3:] == [
        "Change it in Fix…",
        *(f"{at} · {samples.VIEW.clues[at - 1].what}" for at in (2, 3)),
    ]
    qtbot.waitUntil(rows.hasFocus)
    rows.select_key(("clue", 1))
    qtbot.waitUntil(lambda: panel.cards.open == samples.VIEW.clues[1])
    qtbot.keyClick(rows, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: service.asked[-1] == ("open", run, 0, samples.VIEW.clues[1]))
    run, element = of_window.STEP.run, of_window.STEP.observation.elements[0]
    window.place("Causes").bring()
    qtbot.waitUntil(lambda: ("look", run) in service.asked)
    evidence = samples.VIEW.clues[1].evidence[0].replace(ref=element.ref)
    clue = samples.VIEW.clues[1].replace(evidence=(evidence, evidence.replace(part="prompt")))
    service.looked.send(CausesView(run=run, clues=(clue,)))
    qtbot.waitUntil(lambda: window.causes.view.clues == (clue,))
    window.causes.cards.rows.pressed_on.emit(("evidence", 0))
    assert ("show_step", run, 1) in session.asked
    assert window.place("Causes").is_seen
    session.step_changed.send(of_window.STEP.replace(number=1))
    qtbot.waitUntil(lambda: window.elements.pinned == element.ref)
    window.causes.cards.rows.pressed_on.emit(("evidence", 1))
    assert window.place("Prompt").is_seen
    run = of_window.STEP.run
    window.place("Causes").bring()
    show(qtbot, controller, samples.PROVEN.replace(run=run))
    qtbot.waitUntil(lambda: window.causes.view.clues == samples.PROVEN.clues)
    assert window.causes.cards.rows.rows[0].word == "proven"


def test_causes_say_why_there_are_none_and_the_open_one_stays_open(
    controller, service, window, session, qtbot
) -> None:
    run = of_window.STEP.run
    window.place("Causes").bring()
    qtbot.waitUntil(lambda: ("look", run) in service.asked)
    service.looked.send(CausesView(run=run, words=f"Run {run} has not ended."))
    qtbot.waitUntil(lambda: window.causes.words.words.text() == f"Run {run} has not ended.")
    asked = len(service.asked)
    session.session_changed.send(of_window.SESSION.replace(mode="ended", success=False))
    qtbot.waitUntil(lambda: service.asked[asked:] == [("look", run)])
    row = of_window.run_row(run, outcome="done", verdict=Verdict(success=False))
    for runs in ((row,), (row.replace(outcome="running"), of_window.run_row(run + 1)), (row,)):
        session.runs_changed.send(of_window.RUNS.replace(runs=runs))
        qtbot.waitUntil(lambda runs=runs: set(window.runs.model.runs()) == {one.run for one in runs})
    qtbot.waitUntil(lambda: service.asked[asked:] == [("look", run)] * 2)
    service.looked.send(CausesView(run=run + 1, clues=samples.VIEW.clues))
    service.looked.send(CausesView(run=run, clues=samples.VIEW.clues[:1]))
    qtbot.waitUntil(lambda: len(window.causes.view.clues) == 1)
    run, panel = of_window.STEP.run, window.causes
    window.place("Causes").bring()
    panel.show_view(CausesView(run=run, clues=samples.VIEW.clues))
    panel.cards.chosen.emit(2)
    last = samples.VIEW.clues[2]
    panel.show_view(CausesView(run=run, clues=samples.PROVEN.clues))
    assert panel.cards.open == last
    panel.show_view(CausesView(run=run, clues=(last, *samples.VIEW.clues[:2])))
    assert panel.cards.open == last
    panel.show_view(CausesView(run=run, clues=samples.VIEW.clues[:2]))
    assert panel.cards.open == samples.VIEW.clues[0]
