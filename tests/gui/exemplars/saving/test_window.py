"""Save as exemplar: what is kept and left out, how a prompt would show it, and what comes of saving."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from core.debugger.exemplars.library.views import ExemplarPrompt
from core.debugger.exemplars.saving.views import Saved, SavingContrast, SavingStep, SavingView
from core.debugger.exemplars.trying.views import ReplayResult
from core.exemplars.library.records import Provenance
from core.exemplars.problem import Problem
from core.schema.exemplar import Contrast, Exemplar, ExemplarStep, Retrieved
from core.schema.messages import Message
from gui.exemplars.saving.window import SavingWindow, saved_words
from gui.shell.undo import Reversible, UndoHistory
from tests.gui import samples

PAGE = '[1] textbox "Username"\n[2] textbox "Password"\n[3] button "Login"\n[4] link "Forgot password?"'
EXEMPLAR = Exemplar(
    id="miniwob/login-user/run-12",
    family="login-user",
    task='Enter the username "leonie" and the password "x8Q" into the text fields and press login.',
    environment="miniwob",
    steps=(
        ExemplarStep(observation=PAGE, thought="The name goes in first.", actions=("type [1] [leonie]",)),
        ExemplarStep(observation=PAGE, actions=("type [2] [x8Q]", "click [3]")),
    ),
    contrasts=(Contrast(observation=PAGE, tried="click [4]", right="click [3]"),),
    source="run 12, miniwob/login-user seed 3",
)


def step(number: int, action: str, target: str, **more: object) -> SavingStep:
    why, chosen = more.pop("why", ""), more.pop("chosen", None)
    row = samples.step_row(12, number, action=action, target=target, **more)
    return SavingStep(row=row, why=why, chosen=not why if chosen is None else chosen)


VIEW = SavingView(
    run=12,
    ready=True,
    task="miniwob/login-user, seed 3",
    instruction=EXEMPLAR.task,
    success=True,
    steps=(
        step(1, "type [1] [leonie]", 'textbox "Username"', thought="The name goes in first."),
        step(
            2,
            "click [4]",
            'link "Forgot password?"',
            why="a later step went back before it",
            thought="Help is near.",
        ),
        step(3, "type [2] [x8Q]", 'textbox "Password"', origin="person"),
        step(4, "click [3]", 'button "Login"', origin="person"),
        step(5, "click [9]", 'button "Again"', why="it failed", outcome="failed"),
    ),
    contrasts=(
        SavingContrast(
            step=4,
            tried='click [4] · link "Forgot password?"',
            right='click [3] · button "Login"',
            chosen=True,
        ),
    ),
    id=EXEMPLAR.id,
    free_id=EXEMPLAR.id,
    family="login-user",
    families=("login-user", "click-test", "enter-text"),
    tags=("checked", "login"),
    placeholders={"leonie": "{username}", "x8Q": "{password}"},
    exemplar=EXEMPLAR,
    provenance=Provenance(origin="branch", run=12, step=4),
    prompt=ExemplarPrompt(
        messages=(
            Message(role="user", text=f"Objective: {EXEMPLAR.task}\n\n{PAGE}"),
            Message(role="assistant", text="REASON: The name goes in first.\nACTION: type [1] [leonie]"),
            Message(role="user", text=PAGE),
            Message(
                role="assistant", text="REASON: This is next.\nACTION: type [2] [x8Q]\nACTION: click [3]"
            ),
        ),
        tokens=184,
    ),
    key=f"Task: {EXEMPLAR.task}\nState:\n{PAGE}",
)
NO_SUCCESS = VIEW.replace(
    success=False,
    question="Run 12 failed, and its exemplar teaches the LLM to fail in the same way. Save it anyway?",
    problems=(
        Problem(
            id=EXEMPLAR.id,
            kind="element",
            at=("steps", 1, "actions", 0),
            text="click [9] names [9], which its step does not show.",
        ),
        Problem(
            id=EXEMPLAR.id,
            kind="length",
            at=("steps", 0),
            level="note",
            text="It has about 5200 tokens, more than 4000; step 1 alone has 3100.",
        ),
    ),
)
FOUND = tuple(
    Retrieved(id=name, family=family, task="Log in.", distance=far, voted=True, used=far < 0.5)
    for name, family, far in (
        (EXEMPLAR.id, "login-user", 0.0),
        ("miniwob/login-user/4", "login-user", 0.113),
        ("miniwob/login-user-popup/2", "login-user-popup", 0.274),
        ("miniwob/enter-password/0", "enter-password", 0.631),
    )
)
PLAYED = ReplayResult(id=EXEMPLAR.id, task="miniwob/login-user", seed=3, success=True, looks=4)
SAVED = VIEW.replace(
    played=PLAYED,
    saved=Saved(
        id=EXEMPLAR.id,
        change=f"save “{EXEMPLAR.id}”",
        preset="combined",
        rank=1,
        distance=0.0,
        found=FOUND,
    ),
)


def said(signal) -> list[tuple]:
    """Return a list that fills with what a signal says."""
    found: list[tuple] = []
    signal.connect(lambda *values: found.append(values))
    return found


@pytest.fixture
def history() -> UndoHistory:
    return UndoHistory()


@pytest.fixture
def shown(qtbot: QtBot, theme, history: UndoHistory) -> SavingWindow:
    window = SavingWindow(theme, history)
    qtbot.addWidget(window)
    window.wait(12)
    window.show()
    return window


def test_what_is_left_out_is_shown_with_the_reason(shown: SavingWindow):
    assert "being read" in shown.or_words.words.text()
    shown.show_view(VIEW)
    rows = shown.steps.rows
    assert [row.checked for row in rows] == [True, False, True, True, False]
    assert rows[1].detail.startswith("left out: a later step went back before it")
    assert rows[1].quiet
    assert shown.steps_section.fact.text() == "3 kept, 2 left out"
    assert "leonie" in shown.text.toPlainText()


def test_ticking_a_step_puts_it_back_in_and_says_what_to_think_of_it(shown: SavingWindow):
    shown.show_view(VIEW)
    emitted = said(shown.chosen)
    shown.steps.toggled.emit(5, True)
    ((choice,),) = emitted
    assert choice.steps == frozenset({1, 3, 4, 5})
    assert choice.contrasts == frozenset({4})
    assert "included, although it failed" in shown.steps.rows[4].detail


def test_a_correction_is_kept_with_its_reason_or_left_out(shown: SavingWindow, qtbot: QtBot):
    shown.show_view(VIEW)
    (correction,) = shown.contrasts.corrections
    with qtbot.waitSignal(shown.chosen):
        QTest.keyClicks(correction.reason, "Help is not asked for.")
    assert shown.choice.reasons == {4: "Help is not asked for."}
    correction.tick.click()
    assert shown.choice.contrasts == frozenset()


def test_what_is_written_stays_while_views_come(shown: SavingWindow):
    shown.show_view(VIEW)
    shown.form.family.setText("logins")
    shown.form.tags.setText("mine, checked, mine")
    shown.show_view(VIEW)
    assert (shown.choice.family, shown.choice.tags, shown.choice.id) == ("logins", ("mine", "checked"), "")
    shown.form.id.setEditText("logins/one")
    assert shown.choice.id == "logins/one"
    shown.wait(13)
    assert shown.choice.tags == ()


def test_placeholders_are_put_in_if_they_are_ticked_and_not_in_another_run(shown: SavingWindow):
    shown.show_view(VIEW)
    assert "“leonie” → {username}" in shown.form.placeholders.text()
    assert not shown.choice.placeholders
    shown.form.placeholders.click()
    assert shown.choice.placeholders
    shown.show_view(VIEW.replace(placeholders={}))
    assert shown.form.placeholders.isHidden()
    shown.wait(13)
    assert not shown.choice.placeholders


def test_enter_in_a_line_saves(shown: SavingWindow, qtbot: QtBot):
    shown.show_view(VIEW)
    for field in (shown.form.id.lineEdit(), shown.form.family, shown.form.note):
        with qtbot.waitSignal(shown.save_requested):
            qtbot.keyClick(field, Qt.Key.Key_Return)


def test_ctrl_return_saves_and_a_run_that_was_no_success_is_asked_about_once(
    shown: SavingWindow, qtbot: QtBot
):
    with qtbot.waitActive(shown):
        shown.activateWindow()
    shown.show_view(VIEW)
    emitted = said(shown.save_requested)
    shown.save_button.click()
    assert [known for _, known in emitted] == [False]
    shown.show_view(NO_SUCCESS)
    assert shown.question.isVisible()
    assert shown.save_button.text() == "Save anyway"
    QTest.keyClick(shown, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: [known for _, known in emitted] == [False, True])


def test_after_saving_it_says_what_is_found_and_what_is_saved_next_is_a_new_version(
    shown: SavingWindow, history: UndoHistory
):
    shown.show_view(VIEW)
    shown.show_view(SAVED)
    assert "no other exemplar is as near (distance 0.000)" in shown.saved.words.text()
    assert [row.word for row in shown.saved.rows.rows] == ["0.000", "0.113", "0.274", "0.631"]
    assert shown.choice.id == EXEMPLAR.id
    undone: list[str] = []
    words = SAVED.saved.change
    history.record(Reversible(words, lambda done: (undone.append(words), done("")), lambda done: done("")))
    assert shown.undo_button.toolTip() == f"Undo {words} (Ctrl+Z)"
    shown.undo_button.click()
    assert undone == [words]
    shown.show_view(SAVED.replace(saved=SAVED.saved.replace(undone=True)))
    assert shown.saved.words.text().startswith("Undone")
    assert not shown.undo_button.isVisible()


def test_what_is_found_and_not_used_is_said_with_what_to_do(shown: SavingWindow):
    others = tuple(one.replace(used=False) for one in FOUND)
    why = "2 of the 3 nearest are of the family enter-password."
    saved = SAVED.saved.replace(found=others, why=why)
    shown.show_view(SAVED.replace(saved=saved))
    assert f"But it is not used: {why} Save it with that family" in shown.saved.words.text()


def test_what_no_run_recalls_yet_is_not_said_to_be_found():
    saved = SAVED.saved.replace(unused="It is new: runs find it once it is reviewed.", found=())
    words = saved_words(saved, busy=False)
    assert "It is new: runs find it once it is reviewed." in words
    assert "from now on" not in words
    assert "not used" not in words
    assert "from now on" in saved_words(SAVED.saved, busy=False)


def test_a_preset_that_uses_no_exemplars_is_named_and_can_be_made_to(shown: SavingWindow):
    wanted = said(shown.memory_requested)
    shown.show_view(SAVED)
    assert "Runs with the preset combined look it up from now on." in shown.saved.words.text()
    assert not shown.saved.memory_button.isVisible()
    without = SAVED.saved.replace(preset="plain", recalls=False, found=())
    shown.show_view(SAVED.replace(saved=without))
    assert "The preset plain uses no exemplars, so its runs do not find it." in shown.saved.words.text()
    assert "from now on" not in shown.saved.words.text()
    shown.saved.memory_button.click()
    assert len(wanted) == 1
    shown.show_view(SAVED.replace(saved=without.replace(preset="")))
    assert not shown.saved.memory_button.isVisible()


def test_the_replay_is_shown_with_its_result_and_can_be_left_out(shown: SavingWindow):
    asked = said(shown.replay_requested)
    shown.show_view(VIEW.replace(playing="step 2 of 4"))
    assert (shown.plays.text(), shown.save_button.isEnabled()) == (
        "It is being replayed from the start: step 2 of 4…",
        True,
    )
    shown.replay_button.click()
    shown.show_view(VIEW)
    assert shown.plays.text() == "It was not replayed."
    shown.replay_button.click()
    assert asked == [(False,), (True,)]
    shown.show_view(SAVED)
    assert shown.plays.text() == "Plays: yes, 4 steps, success."
    assert "without a replay" not in shown.saved.words.text()
    failed = PLAYED.replace(success=False, looks=1, stopped_at=2, problem="click [7] failed: it is gone.")
    shown.show_view(SAVED.replace(played=failed))
    assert shown.plays.text() == "Plays: no, step 2: click [7] failed: it is gone."
    shown.show_view(SAVED.replace(played=None))
    assert shown.saved.words.text().endswith("It was saved without a replay.")


def test_what_cannot_be_kept_is_reported_and_cannot_be_saved(shown: SavingWindow):
    shown.show_view(VIEW.replace(exemplar=None, prompt=ExemplarPrompt(), problem="No step is left."))
    assert shown.problem.text() == "No step is left."
    assert not shown.save_button.isEnabled()
    shown.show_view(SavingView(run=12, problem="There is no run 12."))
    assert shown.or_words.words.text() == "There is no run 12."
