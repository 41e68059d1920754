"""What is known of a run, over the page: from the row of the tree, without a question to the database."""

import pytest
from PySide6.QtCore import Qt

from core.schema.task import Verdict
from gui.panels.runs.card import last_step
from gui.widgets.remembered import OpenedTask
from tests.gui import samples


@pytest.fixture
def shown(window, session, qtbot):
    session.session_changed.send(samples.SESSION)
    session.runs_changed.send(samples.RUNS)
    session.step_changed.send(samples.STEP)
    qtbot.waitUntil(lambda: window.step_in_view is not None and window.runs.model.rowCount() > 0)
    session.asked.clear()
    return window


def choose(window, row):
    window.runs.run_chosen.emit(row)
    return window.run_card


def test_a_click_on_a_run_s_row_shows_what_is_known_of_it_and_its_buttons_ask_for_more(shown, session, qtbot):
    tree = shown.runs.tree
    place = tree.visualRect(shown.runs.model.run_index(17)).center()
    qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    card = shown.run_card
    assert card.isVisible()
    assert card.outcome.text().startswith("✗ no success")
    assert card.values["Task"].text() == "miniwob/email-inbox-forward-nl"
    assert not any(one[0] != "open_run" for one in session.asked)
    row = samples.run_row(
        19,
        verdict=Verdict(success=False, reward=0.5, judge="page", reason="Too dear."),
        parent_run=18,
        parent_step=3,
        grade="exact",
        steps=2,
        cost=0.31,
        llm_calls=2,
        prompt_tokens=1200,
        completion_tokens=30,
    )
    card = choose(shown, row)
    assert card.outcome.text() == "✗ no success, reward 0.5, judged by page"
    assert card.reason.text() == "Too dear."
    assert card.values["Branch of"].text().startswith("Run 18, from before step 3")
    assert card.values["Cost"].text() == "$0.31"
    assert last_step(row) == 4
    wanted = []
    shown.deciding_step_requested.connect(wanted.append)
    shown.runs.compare_run_requested.connect(wanted.append)
    card = choose(shown, samples.run_row(16, steps=4))
    card.last.click()
    assert session.asked[-1] == ("show_step", 16, 4)
    card.deciding.click()
    card.compare.click()
    assert wanted == [16, 16]
    opened = []
    shown.tasks.open_requested.connect(lambda one, allow: opened.append(one))
    card.again.click()
    assert opened == [OpenedTask(task="miniwob/book-flight", seed=3)]
    card = choose(shown, samples.run_row(15, steps=0))
    assert not card.last.isEnabled()
    assert not card.deciding.isEnabled()
    card = choose(shown, samples.run_row(18, steps=5))
    assert card.last.isEnabled()
    assert not card.compare.isEnabled()
    assert "another run" in card.compare.toolTip()


def test_it_follows_what_becomes_of_its_run_and_goes_with_escape_or_a_recorded_step(shown, session, qtbot):
    card = choose(shown, samples.RUNS.runs[1])
    assert "current" in card.outcome.text()
    ended = samples.run_row(18, steps=5, verdict=Verdict(success=True, judge="page"))
    runs = tuple(ended if row.run == 18 else row for row in samples.RUNS.runs)
    session.runs_changed.send(samples.RUNS.replace(runs=runs))
    qtbot.waitUntil(lambda: card.outcome.text().startswith("✓ success"))
    card = choose(shown, samples.run_row(16))
    session.runs_changed.send(samples.RUNS.replace(query="lamp", runs=samples.RUNS.runs[:1]))
    qtbot.waitUntil(lambda: shown.runs.model.runs() == (samples.RUNS.runs[0].run,))
    assert card.isVisible()
    session.runs_changed.send(samples.RUNS)
    session.step_changed.send(samples.STEP.replace(observation=samples.ABSTRACTED))
    qtbot.waitUntil(lambda: shown.step_in_view.observation == samples.ABSTRACTED)
    assert card.isVisible()
    qtbot.keyClick(shown, Qt.Key.Key_Escape)
    assert not card.isVisible()
    choose(shown, samples.run_row(16))
    kept = tuple(row for row in samples.RUNS.runs if row.run != 16)
    session.runs_changed.send(samples.RUNS.replace(runs=kept, more=False))
    qtbot.waitUntil(lambda: not card.isVisible())
    choose(shown, samples.run_row(16))
    session.step_changed.send(samples.recorded_step())
    qtbot.waitUntil(lambda: not card.isVisible())
    assert shown.page.covered
