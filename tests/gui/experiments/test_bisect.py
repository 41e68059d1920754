"""The bisect window: what is asked, how far it is, the plot, the table and the branches."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from core.debugger.experiments.bisect import Bisection, BisectRequest, PrefixResult
from core.debugger.experiments.measurement import RunResult
from core.debugger.experiments.views import BisectView
from core.debugger.snapshots import Catalogue, PresetOption
from core.schema.messages import LLMChoice
from gui.experiments.bisect import BisectPage

CATALOGUE = Catalogue(
    presets=(PresetOption(name="plain", title="plain"), PresetOption(name="laser", title="laser")),
    llms=(LLMChoice(name="rules", title="Built-in rules"), LLMChoice(name="person", title="You")),
)


def prefix(step: int, successes: int, judged: int, low: float, high: float, **more) -> PrefixResult:
    branches = tuple(
        RunResult(run=step * 10 + at, success=at < successes, steps=4, llm_calls=3, cost=0.01, seconds=2.5)
        for at in range(judged)
    )
    return PrefixResult(
        step=step,
        action=f"click [{step}]",
        runs=tuple(one.run for one in branches if one.run),
        successes=successes,
        judged=judged,
        low=low,
        high=high,
        branches=branches,
        **more,
    )


UNJUDGED = PrefixResult(
    step=7,
    action="stop []",
    problems=("The browser has ended.",),
    branches=(RunResult(outcome="error", error="The browser has ended."),),
)
WHOLE = Bisection(
    number=4,
    run=12,
    preset="plain",
    llm="fast",
    times=4,
    chosen=(1, 3, 5, 7),
    when=1_700_000_000.0,
    state="done",
    results=(
        prefix(1, 1, 4, 0.05, 0.70),
        prefix(3, 4, 4, 0.51, 1.0),
        prefix(5, 2, 4, 0.15, 0.85),
        UNJUDGED,
    ),
)
STEPS = tuple((number, f"click [{number}]") for number in range(1, 9))
VIEW = BisectView(
    run=12,
    ready=True,
    task="miniwob/click-test-2, seed 0",
    preset="plain",
    llm="fast",
    steps=STEPS,
    browser="It runs in a separate process with its own embedded browser, offscreen, and does not touch the "
    "page in this window. At a gate, the rule is “refuse”.",
    kept=(WHOLE,),
)
EMPTY = VIEW.replace(kept=())
GOING = VIEW.replace(under_way=WHOLE.replace(number=5, state="running", results=WHOLE.results[:2]))


@pytest.fixture
def page(theme, qtbot: QtBot) -> BisectPage:
    shown = BisectPage(theme)
    qtbot.addWidget(shown)
    shown.form.show_catalogue(CATALOGUE)
    shown.show()
    qtbot.waitExposed(shown)
    return shown


@pytest.fixture
def shown(page: BisectPage) -> BisectPage:
    page.show_view(VIEW)
    return page


def test_a_run_that_was_never_bisected_says_what_to_do(page: BisectPage):
    page.show_view(EMPTY)
    assert "press Bisect (Ctrl+Enter)" in page.or_words.words.text()
    assert not page.export_button.isEnabled()
    assert page.browser.text() == VIEW.browser


def test_what_is_asked_is_what_was_chosen(shown: BisectPage, qtbot: QtBot):
    form = shown.form
    assert "8 steps × 3: 24 branches" in form.total.text()
    form.which.setCurrentIndex(1)
    form.every.setValue(3)
    assert "3 steps × 3: 9 branches" in form.total.text()
    form.preset.setCurrentIndex(form.preset.findData("laser"))
    form.llm.setCurrentIndex(form.llm.findData("rules"))
    form.times.setValue(5)
    form.limits.calls.setValue(40)
    form.limits.cost.setValue(0.5)
    with qtbot.waitSignal(shown.start_requested) as asked:
        qtbot.keyClick(shown, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    request = BisectRequest(
        run=12, every=3, times=5, preset="laser", llm="rules", most_calls=40, most_cost=0.5
    )
    assert asked.args == [request]
    assert form.llm.findData("person") < 0


def test_steps_that_are_written_wrong_are_reported_before_anything_is_asked(shown: BisectPage):
    shown.form.which.setCurrentIndex(2)
    for text, expected in (("", "such as 1, 3, 5-8"), ("two", "is not a step"), ("1, 99", "no step 99")):
        shown.form.steps.setText(text)
        assert expected in shown.form.total.text()
        assert not shown.start_button.isEnabled()
    shown.form.steps.setText("1, 3-4")
    assert shown.form.request.steps == (1, 3, 4)
    assert shown.start_button.isEnabled()


def test_the_plot_goes_by_keys_and_tells_each_point_in_words(shown: BisectPage, qtbot: QtBot):
    plot = shown.plot
    plot.setFocus()
    assert shown.sentence.text() == ("From step 1: 1 of 4 succeeded (25%), 95 % interval 5% to 70%.")
    qtbot.keyClick(plot, Qt.Key.Key_Right)
    assert plot.step == 3
    assert plot.accessibleDescription() == shown.sentence.text()
    assert shown.table.currentIndex().row() == 1
    qtbot.keyClick(plot, Qt.Key.Key_End)
    assert shown.sentence.text() == "From step 7: 1 branch, none of them judged."
    qtbot.keyClick(plot, Qt.Key.Key_Home)
    assert plot.step == 1


def test_success_may_rise_and_fall_and_is_drawn_as_it_is(shown: BisectPage):
    heights = [shown.plot.place_of(step).y() for step in (1, 3, 5)]
    assert heights[1] < heights[2] < heights[0]


def test_a_click_on_a_point_or_a_row_lists_its_branches_and_one_opens_in_the_window(
    shown: BisectPage, qtbot: QtBot
):
    place = shown.plot.place_of(5).toPoint()
    qtbot.mouseClick(shown.plot.viewport(), Qt.MouseButton.LeftButton, pos=place + QPoint(3, 0))
    assert [row.text for row in shown.branches.rows] == ["Run 50", "Run 51", "Run 52", "Run 53"]
    assert [row.word for row in shown.branches.rows][:3] == ["success", "success", "no success"]
    shown.table.choose(3)
    assert shown.plot.step == 3
    assert shown.branches.rows[0].text == "Run 30"
    with qtbot.waitSignal(shown.run_opened) as opened:
        shown.branches.pressed_on.emit(shown.branches.rows[1].key)
    assert opened.args == [31, 3]


def test_the_table_has_the_numbers_beside_the_plot(shown: BisectPage):
    lines = shown.table.lines
    assert lines[1].cells == ("3", "4 of 4", "51% – 100%", "12", "$0.04", "click [3]")
    assert lines[3].cells[1] == "not judged"
    index = shown.table.lines_model.index(3, 0)
    for role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleDescriptionRole):
        assert "The browser has ended." in index.data(role)


def test_one_under_way_shows_how_far_it_is_and_can_be_cancelled(shown: BisectPage, qtbot: QtBot):
    shown.show_view(GOING)
    assert (shown.foot.progress.value(), shown.foot.progress.maximum()) == (8, 16)
    assert "8 of 16 branches, 24 LLM calls, $0.08" in shown.foot.words.text()
    assert "going on" in shown.choice.currentText()
    assert not shown.start_button.isEnabled()
    with qtbot.waitSignal(shown.cancel_requested):
        shown.cancel_button.click()
    assert shown.table.lines[2].cells[1] == "not tried yet"


def test_an_earlier_one_is_chosen_and_stays_in_view(shown: BisectPage):
    shown.show_view(GOING)
    shown.choice.setCurrentIndex(1)
    shown.choice.activated.emit(1)
    assert shown.shown == WHOLE
    shown.show_view(GOING)
    assert shown.shown == WHOLE


def test_the_table_is_exported_to_a_file_that_is_asked_for(shown: BisectPage, qtbot: QtBot, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("/tmp/table.csv", ""))
    with qtbot.waitSignal(shown.export_requested) as asked:
        shown.export_button.click()
    assert asked.args == [WHOLE, "/tmp/table.csv"]
