import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.debugger.session_view import SessionView
from core.debugger.steps.views import GradeView, JudgementView, PlanView
from core.schema.progress import Subtask
from core.schema.step import RemedyRecord
from gui.panels.plan.panel import NONE, PlanPanel, subtask_row
from tests.gui import samples

CTRL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier


@pytest.fixture
def panel(qtbot: QtBot, theme) -> PlanPanel:
    panel = PlanPanel(theme)
    qtbot.addWidget(panel)
    panel.resize(320, 700)
    panel.show()
    qtbot.waitExposed(panel)
    panel.activateWindow()
    panel.show_session(samples.SESSION)
    return panel


def says(panel: PlanPanel) -> str:
    box = panel.or_words
    return box.words.text()


def test_without_a_plan_it_says_how_to_get_one(panel: PlanPanel):
    panel.show_plan(PlanView())
    assert says(panel) == NONE


def test_a_message_stands_in_place_of_the_rest(panel: PlanPanel):
    panel.show_plan(samples.PLAN.replace(message="The plan could not be made: ask again."))
    assert says(panel) == "The plan could not be made: ask again."


def test_each_subtask_has_its_status_in_words_and_an_icon(panel: PlanPanel):
    panel.show_plan(samples.PLAN)
    assert [row.word for row in panel.subtasks.rows] == ["done", "needless", "current", "waiting"]
    assert len({row.icon for row in panel.subtasks.rows}) == 4
    assert "steps 3–5" in panel.subtasks.rows[2].detail


def test_the_fact_names_the_current_subtask_and_the_trial(panel: PlanPanel, qtbot: QtBot):
    with qtbot.waitSignal(panel.fact_changed) as emitted:
        panel.show_plan(samples.PLAN)
    assert emitted.args == ["3 of 4 · trial 2 of 3"]
    assert "revision 2" in panel.plan.fact.text()


def test_a_plan_that_is_through_counts_what_is_done(panel: PlanPanel, qtbot: QtBot):
    subtasks = (Subtask(text="a", status="done"), Subtask(text="b", status="needless"))
    with qtbot.waitSignal(panel.fact_changed) as emitted:
        panel.show_plan(PlanView(subtasks=subtasks))
    assert emitted.args == ["2 of 2 done"]


def test_a_persons_plan_is_called_theirs(panel: PlanPanel):
    panel.show_plan(samples.PLAN.replace(author="person"))
    assert "yours" in panel.plan.fact.text()


def test_a_remedy_tells_its_step_its_state_and_what_became_of_it(panel: PlanPanel):
    panel.show_plan(samples.PLAN)
    rows = panel.waiting.rows
    assert [row.word for row in rows] == ["waiting", "waiting", "chosen", "tried", "dropped"]
    assert "from step 5" in rows[0].detail
    assert "The size may be told there." in rows[0].detail
    assert "equals an action already tried" in rows[4].detail
    assert panel.remedies.fact.text() == "2 waiting"


def test_a_judgement_tells_what_was_answered_and_how(panel: PlanPanel):
    panel.show_plan(samples.PLAN)
    rows = panel.judged.rows
    assert [row.word for row in rows] == ["aligned", "not aligned", "aligned", "unclear"]
    assert "by rule, without the LLM: the page is as it was" in rows[1].detail
    assert "a summary was judged" in rows[2].detail
    panel.show_plan(
        PlanView(judgements=(JudgementView(step=9, sentence="Done.", subtask_done=True, task_done=True),))
    )
    assert "step 9 · subtask done · task done" in panel.judged.rows[0].detail


def test_going_back_tells_its_grade_with_what_differs(panel: PlanPanel):
    panel.show_plan(PlanView(grades=(samples.PLAN.grades[0], GradeView(step=9, to=2, grade="lost"))))
    first, second = panel.went_back.rows
    assert (first.word, second.word) == ("same page", "lost")
    assert "step 4: back to step 3" in first.text
    assert 'differs: radio "blue" is checked and was not' in first.detail


def test_what_was_learned_of_failed_trials_is_reported(panel: PlanPanel):
    panel.show_plan(samples.PLAN)
    assert "blue lamp" in panel.experience_text.toPlainText()
    panel.show_plan(samples.PLAN.replace(experience=""))
    assert not panel.experience.isVisible()


# Firing a remedy


def test_the_topmost_waiting_remedy_is_fired_at_once(panel: PlanPanel, qtbot: QtBot):
    panel.show_plan(samples.PLAN)
    with qtbot.waitSignal(panel.edit_wanted) as fired:
        panel.fire_button.click()
    assert fired.args == ["FireRemedy", {"number": 4}]


def test_the_selected_remedy_is_fired_by_enter(panel: PlanPanel, qtbot: QtBot):
    panel.show_plan(samples.PLAN)
    panel.waiting.setFocus()
    panel.waiting.select_key(2)
    with qtbot.waitSignal(panel.edit_wanted) as fired:
        qtbot.keyClick(panel.waiting, Qt.Key.Key_Return)
    assert fired.args == ["FireRemedy", {"number": 2}]


def test_a_selection_outlives_a_new_snapshot(panel: PlanPanel):
    panel.show_plan(samples.PLAN)
    panel.waiting.select_key(2)
    panel.show_plan(samples.PLAN.replace(remedies=samples.PLAN.remedies[1:]))
    assert panel.remedy == 2


@pytest.mark.parametrize("number", [5, 3, 1])
def test_a_remedy_that_does_not_wait_cannot_be_fired(panel: PlanPanel, qtbot: QtBot, number):
    panel.show_plan(samples.PLAN)
    panel.waiting.select_key(number)
    assert not panel.fire_button.isEnabled()
    with qtbot.assertNotEmitted(panel.edit_wanted):
        qtbot.keyClick(panel.waiting, Qt.Key.Key_Return)


@pytest.mark.parametrize(
    ("session", "live"),
    [
        (samples.SESSION.replace(mode="acting"), True),
        (samples.SESSION.replace(mode="ended"), True),
        (SessionView(), True),
        (samples.SESSION, False),
    ],
)
def test_a_remedy_is_fired_only_while_the_run_rests_and_now_is_in_view(panel: PlanPanel, session, live):
    panel.show_session(session)
    panel.show_plan(samples.PLAN, live=live)
    assert panel.remedy is None
    assert not panel.fire_button.isEnabled()


def test_the_run_goes_on_to_the_chosen_subtask_else_to_the_next_one(panel: PlanPanel, qtbot: QtBot):
    panel.show_session(SessionView(mode="waiting", run=18))
    panel.show_plan(samples.PLAN)
    assert panel.subtask == 3
    panel.subtasks.select_key(3)
    menu = panel.entries(panel.subtasks.currentIndex())
    assert [(one.text, one.enabled) for one in menu[:2]] == [
        ("Run to this subtask", True),
        ("Edit the plan", True),
    ]
    with qtbot.waitSignal(panel.subtask_wanted) as asked:
        menu[0].do()
    assert asked.args == [3]


def test_a_subtask_that_is_done_or_current_cannot_be_run_to(panel: PlanPanel):
    panel.show_session(SessionView(mode="waiting", run=18))
    panel.show_plan(samples.PLAN)
    for key in (0, 2):
        panel.subtasks.select_key(key)
        assert panel.subtask is None
        run, *_ = panel.entries(panel.subtasks.currentIndex())
        assert not run.enabled
        assert "waits" in run.why


def test_without_a_waiting_remedy_there_is_no_button(panel: PlanPanel):
    panel.show_plan(PlanView(remedies=(RemedyRecord(number=1, step=2, action="click [1]", state="tried"),)))
    assert not panel.fire_button.isVisible()


# Editing the plan


def edit(panel: PlanPanel, plan: PlanView = samples.PLAN):
    panel.show_plan(plan)
    panel.edit()
    assert panel.editing
    return panel.editor


def test_a_plan_is_edited_by_keys_alone(panel: PlanPanel, qtbot: QtBot):
    editor = edit(panel)
    editor.list.setCurrentRow(1)
    qtbot.keyClick(editor.list, Qt.Key.Key_Delete)
    editor.list.setCurrentRow(2)
    qtbot.keyClick(editor.list, Qt.Key.Key_Up, ALT)
    qtbot.keyClick(editor.list, Qt.Key.Key_Space)
    with qtbot.waitSignal(panel.edit_wanted) as emitted:
        qtbot.keyClick(editor.list, Qt.Key.Key_Return, CTRL)
    texts = ("Search for a green table lamp", "Buy it", "Check the item and its options")
    assert emitted.args == ["EditPlan", {"subtasks": texts, "current": 1}]
    assert not panel.editing


def test_a_subtask_is_added_below_and_named_in_place(panel: PlanPanel, qtbot: QtBot):
    editor = edit(panel)
    editor.list.setCurrentRow(0)
    qtbot.keyClick(editor.list, Qt.Key.Key_Insert)
    item = editor.list.currentItem()
    assert editor.list.row(item) == 1
    field = editor.list.focusWidget()
    field.selectAll()
    qtbot.keyClicks(field, "Sort by price")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: editor.texts[1] == "Sort by price")
    assert editor.current == 3


def test_what_is_still_being_typed_is_applied_too(panel: PlanPanel, qtbot: QtBot):
    editor = edit(panel)
    editor.list.setCurrentRow(0)
    editor.rename()
    field = editor.list.focusWidget()
    field.selectAll()
    qtbot.keyClicks(field, "Look for lamps")
    with qtbot.waitSignal(panel.edit_wanted) as emitted:
        editor.apply_button.click()
    assert emitted.args[1]["subtasks"][0] == "Look for lamps"


def test_ctrl_enter_applies_from_within_a_name(panel: PlanPanel, qtbot: QtBot):
    editor = edit(panel)
    editor.list.setCurrentRow(0)
    editor.rename()
    field = editor.list.focusWidget()
    field.selectAll()
    qtbot.keyClicks(field, "Look for lamps")
    with qtbot.waitSignal(panel.edit_wanted) as emitted:
        qtbot.keyClick(field, Qt.Key.Key_Return, CTRL)
    assert emitted.args[1]["subtasks"][0] == "Look for lamps"


def test_deleting_the_current_subtask_makes_the_next_one_current(panel: PlanPanel):
    editor = edit(panel)
    editor.list.setCurrentRow(2)
    editor.delete()
    assert editor.current == 2
    assert editor.texts[editor.current] == "Buy it"


def test_blank_subtasks_are_left_out_and_a_plan_of_none_cannot_be_applied(panel: PlanPanel, qtbot: QtBot):
    editor = edit(panel)
    editor.list.item(0).setText("  ")
    with qtbot.waitSignal(panel.edit_wanted) as emitted:
        editor.apply_button.click()
    assert emitted.args[1]["subtasks"][0] == "Leave out lamps that are too high"
    assert emitted.args[1]["current"] == 1
    editor = edit(panel)
    for _ in range(4):
        editor.delete()
    assert not editor.apply_button.isEnabled()
    assert "at least one" in editor.note.text()


def test_cancelling_leaves_the_plan_as_it_is(panel: PlanPanel, qtbot: QtBot):
    editor = edit(panel)
    editor.delete()
    with qtbot.assertNotEmitted(panel.edit_wanted):
        qtbot.keyClick(editor.list, Qt.Key.Key_Escape)
    assert not panel.editing
    assert len(panel.subtasks.rows) == 4


def test_a_draft_outlives_a_new_snapshot_and_waits_while_it_cannot_be_applied(panel: PlanPanel):
    editor = edit(panel)
    editor.list.setCurrentRow(0)
    editor.delete()
    panel.show_plan(samples.PLAN.replace(editable=False))
    assert panel.editing
    assert len(editor.texts) == 3
    assert not editor.apply_button.isEnabled()
    assert editor.note.text()
    panel.show_plan(samples.PLAN)
    assert editor.apply_button.isEnabled()


def test_a_plan_that_is_not_editable_has_no_edit(panel: PlanPanel):
    panel.show_plan(samples.PLAN.replace(editable=False))
    assert not panel.edit_button.isEnabled()
    panel.edit()
    assert not panel.editing


def test_a_person_can_write_the_first_plan(panel: PlanPanel, qtbot: QtBot):
    editor = edit(panel, PlanView(editable=True))
    field = editor.list.focusWidget()
    field.selectAll()
    qtbot.keyClicks(field, "Press the button")
    with qtbot.waitSignal(panel.edit_wanted) as emitted:
        editor.apply_button.click()
    assert emitted.args == ["EditPlan", {"subtasks": ("Press the button",), "current": 0}]


def test_a_plan_without_a_current_subtask_goes_on_at_the_first_that_waits(panel: PlanPanel):
    subtasks = (Subtask(text="a", status="done"), Subtask(text="b"), Subtask(text="c"))
    assert edit(panel, PlanView(subtasks=subtasks, editable=True)).current == 1


def test_the_lists_are_as_high_as_their_rows_at_any_width(panel: PlanPanel, qtbot: QtBot):
    panel.show_plan(samples.PLAN)
    narrow = panel.waiting.height()
    panel.resize(900, 700)
    qtbot.waitUntil(lambda: panel.waiting.height() < narrow)
    assert panel.waiting.verticalScrollBar().maximum() == 0


def test_steps_in_a_row_are_shown_as_ranges():
    subtask = Subtask(text="Buy", status="done", steps=(7, 1, 2, 3))
    assert subtask_row(0, subtask).detail == "steps 1–3, 7"


def test_of_an_attached_agent_it_tells_what_would_say_the_plan(panel: PlanPanel):
    panel.show_plan(PlanView(told=True, remedies=samples.PLAN.remedies))
    assert "backstep_sdk.plan(…)" in panel.no_plan.text()
    panel.show_plan(PlanView(told=True, subtasks=samples.PLAN.subtasks))
    assert "backstep_sdk.remedy(…)" in panel.no_remedies.text()
