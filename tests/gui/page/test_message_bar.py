"""The bar over the page: what it says of a page that does not answer, and what a person can do then."""

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from core.debugger.session_view import CommandResult, SessionView
from core.schema.events import ScriptWait
from gui.page.message_bar import MessageBar
from gui.widgets.layouts import in_column


@pytest.fixture
def bar(qtbot, theme):
    over = QWidget()
    over.resize(800, 400)
    qtbot.addWidget(over)
    bar = MessageBar(theme, over)
    in_column(over, 1, bar)
    over.show()
    yield bar
    over.close()


def busy(seconds: int, left: int | None) -> SessionView:
    return SessionView(mode="acting", script=ScriptWait(url="http://x.test/", seconds=seconds, left=left))


def test_it_counts_down_until_the_script_is_ended_and_offers_to_wait_or_to_end_it(bar, qtbot):
    bar.show_session(busy(9, 6))
    assert bar.shown
    assert bar.text.text() == "Its script has been running for 9 s. It will be ended in 6 s."
    with qtbot.waitSignal(bar.wait_requested):
        bar.wait_button.click()
    bar.show_session(busy(10, None))
    assert bar.text.text() == "Its script has been running for 10 s. You wait for it."
    assert bar.wait_button.isHidden()
    with qtbot.waitSignal(bar.end_script_requested):
        bar.end_script_button.click()
    assert bar.success_button.isHidden()


def test_a_page_that_does_not_answer_is_waited_for_and_its_script_ended_by_key(bar, qtbot):
    over = bar.parentWidget()
    over.show()
    qtbot.waitUntil(over.isActiveWindow)
    for key, asked in ((Qt.Key.Key_W, bar.wait_requested), (Qt.Key.Key_K, bar.end_script_requested)):
        bar.show_session(busy(9, 6))
        with qtbot.waitSignal(asked):
            qtbot.keyClick(over, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier)
            qtbot.keyClick(over, key)


def test_a_page_that_is_not_the_recorded_one_says_so_with_what_to_do(bar):
    said = "Back at step 3 by reload: lost, 4 differences."
    bar.show_session(SessionView(mode="waiting", run=7, message=said, doubt="lost"))
    assert bar.title.text() == "✗ Not the recorded page"
    assert bar.text.text().startswith(said)
    assert "go back to an earlier step (Ctrl+B), or open the task again (Ctrl+R)" in bar.text.text()
    bar.show_session(SessionView(mode="running", run=7))
    assert not bar.shown


def test_the_next_seed_is_offered_where_it_makes_another_task(bar):
    ended = SessionView(mode="ended", run=7, task="web/open", success=True, message="The run has ended.")
    bar.show_session(ended)
    assert (bar.again_button.isHidden(), bar.next_seed_button.isHidden()) == (False, True)
    bar.show_session(ended.replace(seeded=True, run=8))
    assert not bar.next_seed_button.isHidden()


def test_a_restored_page_that_looks_different_offers_both_pictures_until_the_run_goes_on(bar, qtbot):
    said = "Back at step 3 by history: same page, 1 difference."
    bar.show_session(SessionView(mode="waiting", run=7, message=said, doubt="picture"))
    assert (bar.title.text(), bar.text.text()) == ("The page looks different", said)
    with qtbot.waitSignal(bar.pictures_requested) as asked:
        bar.pictures_button.click()
    assert asked.args == [7]
    bar.show_session(SessionView(mode="waiting", run=7))
    assert not bar.shown


def test_it_goes_once_the_page_answers_and_stays_closed_where_it_was_closed(bar):
    bar.show_session(busy(9, 6))
    bar.dismiss()
    bar.show_session(busy(10, 5))
    assert not bar.shown
    bar.show_session(SessionView(mode="acting"))
    bar.show_session(busy(8, 7))
    assert bar.shown
    bar.show_session(SessionView(mode="acting"))
    assert not bar.shown


ENDED = SessionView(mode="ended", run=3, success=False, message="attributes 2 of 3", judged=True)


def told(view: SessionView, text: str, *, done: bool = True, number: int = 1) -> SessionView:
    return view.replace(told=CommandResult(number=number, text=text, done=done))


def test_what_a_command_came_to_takes_the_place_of_how_the_run_ended_and_gives_it_back(bar):
    bar.show_session(ENDED)
    bar.show_session(told(ENDED, "Run 3 was written to run-3.html."))
    assert (bar.title.text(), bar.text.text()) == ("✓ Done", "Run 3 was written to run-3.html.")
    bar.dismiss()
    assert bar.shown
    assert (bar.title.text(), bar.text.text()) == ("✗ No success", "attributes 2 of 3")
    bar.dismiss()
    assert not bar.shown


def test_what_a_command_came_to_is_shown_over_a_recorded_step(bar):
    bar.show_session(ENDED)
    bar.set_aside(True, ENDED)
    assert not bar.shown
    bar.show_session(told(ENDED, "Run 3 was written to run-3.html."))
    assert bar.shown
    bar.dismiss()
    assert not bar.shown


def test_the_same_refusal_is_told_once_more_after_it_was_closed(bar):
    resting = SessionView(mode="waiting", run=3)
    bar.show_session(told(resting, "Pause first.", done=False))
    assert bar.title.text() == "✗ Not done"
    bar.dismiss()
    bar.show_session(told(resting, "Pause first.", done=False))
    assert not bar.shown
    bar.show_session(told(resting, "Pause first.", done=False, number=2))
    assert bar.shown


def test_a_refusal_goes_once_the_run_goes_on_and_an_outcome_stays_a_while(bar):
    resting, acting = SessionView(mode="waiting", run=3), SessionView(mode="acting", run=3)
    bar.show_session(told(resting, "Pause first.", done=False))
    bar.show_session(told(acting, "Pause first.", done=False))
    assert not bar.shown
    bar.show_session(told(acting, "Saved item.toml.", number=2))
    bar.show_session(told(resting, "Saved item.toml.", number=2))
    assert bar.text.text() == "Saved item.toml."
    bar._patience.timeout.emit()
    assert not bar.shown


def test_a_run_that_has_ended_can_be_opened_again_or_with_the_next_seed(bar, qtbot):
    bar.show_session(ENDED.replace(task="miniwob/click-test-2", success=True))
    with qtbot.waitSignal(bar.again_requested):
        bar.again_button.click()
    with qtbot.waitSignal(bar.next_seed_requested):
        bar.next_seed_button.click()
    bar.show_session(ENDED.replace(task="mine", attached=True))
    assert bar.again_button.isHidden()


def test_a_question_has_a_button_and_stays_until_it_is_answered(bar, qtbot: QtBot):
    resting = SessionView(mode="waiting", run=3)
    question = CommandResult(
        number=1, text="Going back to step 2 does not undo POST /order.", done=False, asks=True
    )
    bar.show_session(resting.replace(told=question))
    assert (bar.back_button.isHidden(), bar._patience.isActive()) == (False, False)
    with qtbot.waitSignal(bar.back_requested):
        bar.back_button.click()
    bar.show_session(told(resting, "Pause first.", done=False, number=2))
    assert (bar.back_button.isHidden(), bar._patience.isActive()) == (True, True)


def test_what_is_not_recorded_is_told_until_it_is_closed(bar, qtbot):
    said = CommandResult(number=1, text="Not recorded: it was dragged in.", done=False, title="⚠ Recording")
    bar._patience.setInterval(0)
    bar.show_session(SessionView(mode="waiting", handed_over=True, told=said))
    QApplication.sendEvent(bar, QEvent(QEvent.Type.Leave))
    bar.show_session(SessionView(mode="waiting", handed_over=True, told=said, step=2))
    QTest.qWait(50)
    assert (bar.shown, bar.title.text(), bar.text.text()) == (True, "⚠ Recording", said.text)
    assert bar.back_button.isHidden()
    bar.close_button.click()
    assert not bar.shown
