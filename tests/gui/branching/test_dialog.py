"""The fork dialog: what is chosen, what differs, what is asked for."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.debugger.branching.views import ForkView, PolicyChoice
from core.debugger.catalogue import Catalogue, PresetOption
from core.debugger.session_view import AmountView
from core.schema.changes import Changes
from core.schema.messages import LLMChoice
from gui.branching.dialog import ForkDialog

CATALOGUE = Catalogue(
    presets=(PresetOption(name="plain", title="Plain"), PresetOption(name="laser", title="Laser")),
    llms=(LLMChoice(name="rules", title="Built-in rules"), LLMChoice(name="fast", title="fast")),
)
VIEW = ForkView(
    run=12,
    step=3,
    ready=True,
    action="click [5]",
    task="miniwob/click-test-2, seed 0",
    preset="plain",
    llm="fast",
    amounts=(AmountView(mechanism="memory", label="exemplars that vote", value=3, least=1, most=50),),
    policies=(PolicyChoice(id="web/find", text="+++\n+++\n# Instruction\nFind it."),),
)


@pytest.fixture
def dialog(theme, qtbot: QtBot) -> ForkDialog:
    dialog = ForkDialog(theme)
    qtbot.addWidget(dialog)
    dialog.form.show_catalogue(CATALOGUE)
    dialog.wait(12, 3)
    dialog.show_view(VIEW)
    dialog.show()
    return dialog


def pick(box, name: str) -> None:
    box.setCurrentIndex(box.findData(name))


def test_nothing_is_asked_for_that_is_as_in_the_run(dialog: ForkDialog):
    assert dialog.form.changes == Changes()
    assert dialog.form.differs == ()
    assert "Nothing differs" in dialog.summary.text()


def test_only_what_was_chosen_is_shown_as_different_and_asked_for(dialog: ForkDialog, qtbot: QtBot):
    pick(dialog.form.preset, "laser")
    dialog.form.amounts["memory"].setValue(5)
    dialog.form.exemplars.choice.setCurrentIndex(2)
    wanted = Changes(preset="laser", exemplars="none", amounts={"memory": 5})
    assert dialog.form.changes == wanted
    assert dialog.form.differs == (
        "preset laser (was plain)",
        "exemplars none",
        "5 exemplars that vote (were 3)",
    )
    with qtbot.waitSignal(dialog.fork_requested) as asked:
        dialog.fork_button.click()
    assert asked.args == [12, 3, wanted, False]


def test_recorded_replies_are_repeated_and_then_the_llm_goes_on(dialog: ForkDialog):
    dialog.form.replay.setCurrentIndex(1)
    assert dialog.form.changes.llm == "replay:12:fast"
    pick(dialog.form.llm, "rules")
    assert dialog.form.changes.llm == "replay:12:rules"
    dialog.form.replay.setCurrentIndex(2)
    assert dialog.form.changes.llm == "replay:12"


def test_a_policy_is_rewritten_and_taken_back(dialog: ForkDialog):
    pick(dialog.form.policy, "web/find")
    assert dialog.form.text.toPlainText() == VIEW.policies[0].text
    dialog.form.text.setPlainText("other words")
    assert dialog.form.changes.policy_texts == {"web/find": "other words"}
    dialog.form.text.setPlainText(VIEW.policies[0].text)
    assert dialog.form.changes.policy_texts == {}


def test_every_choice_is_taken_back_and_made_again(dialog: ForkDialog):
    pick(dialog.form.preset, "laser")
    dialog.form.replay.setCurrentIndex(1)
    dialog.form.exemplars.choice.setCurrentIndex(2)
    whole = dialog.form.changes
    for _ in range(3):
        assert dialog.undo_button.isEnabled()
        dialog.undo_button.click()
    assert dialog.form.changes == Changes()
    assert not dialog.undo_button.isEnabled()
    for _ in range(3):
        dialog.redo_button.click()
    assert dialog.form.changes == whole


def test_what_stays_done_is_reported_first_and_has_to_be_ticked(dialog: ForkDialog, qtbot: QtBot):
    dialog.wait(12, 3)
    stays = "Going back to step 3 does not undo POST http://shop/order (step 4)"
    dialog.show_view(VIEW.replace(irreversible=stays))
    assert "does not undo POST http://shop/order" in dialog.irreversible_words.text()
    assert not dialog.fork_button.isEnabled()
    dialog.irreversible.setChecked(True)
    with qtbot.waitSignal(dialog.fork_requested) as asked:
        dialog.fork_button.click()
    assert asked.args[3] is True


def test_an_error_is_reported_in_the_dialog_and_the_choices_stay(dialog: ForkDialog):
    pick(dialog.form.preset, "laser")
    dialog.show_view(VIEW.replace(busy=True))
    assert not dialog.fork_button.isEnabled()
    dialog.show_view(VIEW.replace(problem="There are no exemplars in /tmp/none."))
    assert dialog.problem.isVisible()
    assert dialog.form.changes == Changes(preset="laser")
    assert dialog.fork_button.isEnabled()


def test_a_step_that_cannot_be_gone_back_to_says_why(dialog: ForkDialog):
    dialog.wait(12, 9)
    dialog.show_view(ForkView(run=12, step=9, problem="Step 9 was recorded without the agent."))
    assert dialog.or_words.words.text() == "Step 9 was recorded without the agent."
    assert not dialog.fork_button.isEnabled()


def test_esc_closes_it_and_while_a_fork_is_under_way_gives_that_up(dialog: ForkDialog, qtbot: QtBot):
    dialog.show_view(VIEW.replace(busy=True))
    with qtbot.waitSignal(dialog.cancel_requested):
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert dialog.isVisible()
    dialog.show_view(VIEW.replace(problem="It was given up."))
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_pages_are_offered_only_where_answers_were_recorded(dialog: ForkDialog):
    assert not dialog.form.pages.isVisibleTo(dialog)
    dialog.wait(12, 4)
    dialog.show_view(VIEW.replace(recorded=True, step=4))
    assert dialog.form.pages.isVisibleTo(dialog)
    dialog.form.pages.setCurrentIndex(2)
    assert dialog.form.changes == Changes(offline=True)
    assert dialog.form.differs == ("recorded answers",)
    dialog.form.pages.setCurrentIndex(1)
    assert dialog.form.changes == Changes()
    dialog.form.undo()
    assert dialog.form.changes == Changes(offline=True)


def test_an_attached_agent_goes_on_without_what_only_built_in_ones_have(dialog: ForkDialog):
    dialog.wait(12, 4)
    dialog.show_view(VIEW.replace(step=4, preset="attached", attached=True))
    form = dialog.form
    own = (form.policies, form.policy, form.exemplars, *form.amounts.values())
    assert not any(field.isVisibleTo(form) for field in own)
    form.take(Changes(llm="rules", exemplars="none"))
    assert form.changes == Changes(llm="rules")
    pick(form.preset, "laser")
    own = (form.policies, form.policy, form.exemplars, *form.amounts.values())
    assert all(field.isVisibleTo(form) for field in own)


def test_the_button_says_whether_it_goes_back_or_forks_and_its_key_works_for_both(
    dialog: ForkDialog, qtbot: QtBot
):
    assert dialog.fork_button.text() == "Go back"
    with qtbot.waitSignal(dialog.fork_requested) as asked:
        qtbot.keyClick(dialog, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert asked.args == [12, 3, Changes(), False]
    pick(dialog.form.preset, "laser")
    assert dialog.fork_button.text() == "Fork"
    with qtbot.waitSignal(dialog.fork_requested) as asked:
        qtbot.keyClick(dialog, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert asked.args == [12, 3, Changes(preset="laser"), False]


def test_the_deciding_step_is_looked_for_from_here(dialog: ForkDialog, qtbot: QtBot):
    with qtbot.waitSignal(dialog.bisect_requested) as asked:
        dialog.bisect_button.click()
    assert asked.args == [12]
    assert not dialog.isVisible()
