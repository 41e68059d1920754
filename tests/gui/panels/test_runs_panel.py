import pytest
from PySide6.QtCore import QAbstractItemModel, QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester, QSignalSpy
from pytestqt.qtbot import QtBot

from core.debugger.snapshots import RunsView, StepView
from core.task import Verdict
from gui.panels.runs_model import BLOCK, run_text, step_text, step_word, verdict_word
from gui.panels.runs_panel import RunsPanel
from tests.gui import samples


@pytest.fixture
def panel(qtbot: QtBot, theme) -> RunsPanel:
    panel = RunsPanel(theme)
    qtbot.addWidget(panel)
    panel.resize(300, 500)
    panel.show()
    qtbot.waitExposed(panel)
    panel.tester = QAbstractItemModelTester(
        panel.model, QAbstractItemModelTester.FailureReportingMode.Fatal, panel
    )
    return panel


def texts(model: QAbstractItemModel, parent: QModelIndex) -> list[str]:
    return [model.index(row, 0, parent).data() for row in range(model.rowCount(parent))]


def many_steps(run: int, count: int):
    return tuple(samples.step_row(run, number) for number in range(1, count + 1))


def test_an_empty_tree_says_what_to_do(panel: RunsPanel):
    assert "Ctrl+N" in panel.or_words.words.text()
    assert panel.or_words.currentWidget() is panel.or_words.words


def test_a_search_without_a_match_says_so(panel: RunsPanel):
    panel.show_runs(RunsView(query="lamp"))
    assert '"lamp"' in panel.or_words.words.text()


def test_runs_stand_newest_first_and_branches_under_their_run(panel: RunsPanel):
    panel.show_runs(samples.RUNS)
    model = panel.model
    assert [model.node(model.index(row, 0)).run.run for row in range(model.rowCount())] == [18, 17, 16, 15]
    inside = texts(model, model.run_index(18))
    assert inside[-1].startswith("Run 19")
    assert len(inside) == 6


def test_a_branch_whose_run_is_not_listed_stands_alone(panel: RunsPanel):
    panel.show_runs(RunsView(runs=(samples.run_row(19, parent_run=3, parent_step=1),), total=1))
    assert panel.model.rowCount() == 1


def test_opening_a_run_asks_for_its_steps(panel: RunsPanel, qtbot: QtBot):
    panel.show_runs(samples.RUNS)
    with qtbot.waitSignal(panel.run_requested) as asked:
        panel.tree.expand(panel.model.run_index(17))
    assert asked.args == [17]


def test_clicking_a_step_asks_to_show_it(panel: RunsPanel, qtbot: QtBot):
    panel.show_runs(samples.RUNS)
    index = panel.model.step_index(18, 2)
    with qtbot.waitSignal(panel.step_requested) as asked:
        qtbot.mouseClick(
            panel.tree.viewport(), Qt.MouseButton.LeftButton, pos=panel.tree.visualRect(index).center()
        )
    assert asked.args == [18, 2]


def test_a_step_can_be_reached_by_keyboard(panel: RunsPanel, qtbot: QtBot):
    panel.show_runs(samples.RUNS)
    panel.tree.setCurrentIndex(panel.model.step_index(18, 2))
    with qtbot.waitSignal(panel.step_requested) as asked:
        qtbot.keyClick(panel.tree, Qt.Key.Key_Return)
    assert asked.args == [18, 2]


def test_new_steps_are_added_without_collapsing_the_tree(panel: RunsPanel):
    view = samples.RUNS
    panel.show_runs(view)
    more = (*view.steps[18], samples.step_row(18, 6))
    panel.show_runs(view.model_copy(update={"steps": {18: more}}))
    assert panel.tree.isExpanded(panel.model.run_index(18))
    assert panel.model.step_index(18, 6).isValid()
    assert panel.model.node(panel.model.step_index(18, 6)).step.number == 6


def test_a_new_run_comes_on_top_and_leaves_the_others_as_they_were(panel: RunsPanel):
    panel.show_runs(samples.RUNS)
    panel.tree.expand(panel.model.run_index(18))
    new = samples.RUNS.model_copy(update={"runs": (samples.run_row(20), *samples.RUNS.runs), "current": 20})
    panel.show_runs(new)
    assert panel.model.node(panel.model.index(0, 0)).run.run == 20
    assert panel.tree.isExpanded(panel.model.run_index(18))


def test_another_list_of_runs_replaces_the_tree(panel: RunsPanel):
    panel.show_runs(samples.RUNS)
    panel.show_runs(RunsView(runs=(samples.run_row(3), samples.run_row(1)), total=2, query="x"))
    assert [panel.model.node(panel.model.index(row, 0)).run.run for row in range(2)] == [3, 1]


def test_a_step_that_changes_shows_its_new_outcome(panel: RunsPanel):
    panel.show_runs(samples.RUNS)
    steps = (*samples.STEPS[:4], samples.step_row(18, 5, outcome="failed"))
    panel.show_runs(samples.RUNS.model_copy(update={"steps": {18: steps}}))
    assert "failed" in panel.model.step_index(18, 5).data()


def test_a_long_run_shows_its_latest_steps_and_offers_the_earlier_ones(panel: RunsPanel):
    steps = many_steps(18, 2 * BLOCK + 100)
    view = samples.RUNS.model_copy(update={"steps": {18: steps}})
    panel.show_runs(view)
    run = panel.model.run_index(18)
    first = panel.model.index(0, 0, run)
    assert first.data() == f"Show {BLOCK} of {BLOCK + 100} earlier steps"
    assert panel.model.step_index(18, len(steps)).isValid()
    panel._on_chosen(first)
    assert panel.model.step_index(18, 101).isValid()
    panel._on_chosen(panel.model.index(0, 0, panel.model.run_index(18)))
    assert panel.model.index(0, 0, panel.model.run_index(18)).data().startswith("● 1 ")
    assert panel.model.steps_of(18) == steps


def test_a_long_run_that_grows_gets_one_row_and_is_not_made_anew(panel: RunsPanel):
    steps = many_steps(18, 5000)
    panel.show_runs(samples.RUNS.model_copy(update={"steps": {18: steps}}))
    rows = panel.model.rowCount(panel.model.run_index(18))
    made_anew = [QSignalSpy(panel.model.modelReset), QSignalSpy(panel.model.layoutChanged)]
    inserted, removed = QSignalSpy(panel.model.rowsInserted), QSignalSpy(panel.model.rowsRemoved)
    grown = samples.RUNS.model_copy(update={"steps": {18: (*steps, samples.step_row(18, 5001))}})
    panel.show_runs(grown)
    assert [spy.count() for spy in made_anew] == [0, 0]
    assert (inserted.count(), removed.count()) == (1, 0)
    assert panel.model.rowCount(panel.model.run_index(18)) == rows + 1


def test_the_step_in_view_is_marked(panel: RunsPanel):
    panel.show_runs(samples.RUNS)
    panel.show_step(samples.recorded_step())
    assert panel.delegate.viewed == (18, 3)
    assert panel.tree.currentIndex() == panel.model.step_index(18, 3)


def test_the_steps_beside_one_are_known(panel: RunsPanel):
    panel.show_runs(samples.RUNS)
    assert panel.neighbour(18, 3, -1) == (18, 2)
    assert panel.neighbour(18, 3, 1) == (18, 4)
    assert panel.neighbour(18, 1, -1) is None
    assert panel.neighbour(18, 5, 1) is None
    assert panel.neighbour(17, 1, -1) is None


def test_rows_paint_in_every_state(panel: RunsPanel):
    steps = tuple(
        samples.step_row(18, at + 1, origin=origin, outcome=outcome)
        for at, (origin, outcome) in enumerate(
            [("agent", "done"), ("person", "failed"), ("remedy", "skipped"), ("replay", "pending")]
        )
    )
    panel.show_runs(samples.RUNS.model_copy(update={"steps": {18: steps}}))
    blank = panel.grab().toImage()
    panel.show_runs(samples.RUNS)
    assert panel.grab().toImage() != blank


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"outcome": "running"}, "running"),
        ({"verdict": Verdict(success=True)}, "success"),
        ({"verdict": Verdict(success=False)}, "no success"),
        ({"verdict": Verdict(), "outcome": "budget"}, "out of budget"),
        ({"verdict": Verdict(), "outcome": "interrupted"}, "interrupted"),
    ],
)
def test_a_run_tells_how_it_went_in_a_word(changes, word):
    assert verdict_word(samples.run_row(1, **changes)) == word


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"outcome": "failed"}, "failed"),
        ({"outcome": "pending", "phase": "anticipate", "sealed": False}, "review"),
        ({"origin": "person"}, "person"),
        ({"effect": "stop"}, "stop"),
        ({}, "item"),
        ({"state": ""}, "done"),
    ],
)
def test_a_step_tells_what_became_of_it_in_a_word(changes, word):
    assert step_word(samples.step_row(1, 1, **changes)) == word


def test_an_action_is_told_with_what_it_acted_on():
    assert (
        step_text(samples.step_row(1, 1, action="type [3] [a [b]]", target='textbox "Q"'))
        == 'type textbox "Q" [a [b]]'
    )
    assert step_text(samples.step_row(1, 1, action="stop [42]", target="")) == "stop [42]"
    assert step_text(samples.step_row(1, 1, action="", outcome="skipped")) == "no action"


def test_a_step_under_way_joins_the_tree_before_it_is_sealed(panel: RunsPanel):
    runs = (samples.run_row(20, steps=0), samples.run_row(18))
    panel.show_runs(RunsView(runs=runs, total=2, current=20, steps={20: ()}))
    begun = samples.step_row(20, 1, outcome="pending", sealed=False, phase="anticipate")
    panel.show_step(StepView(run=20, number=1, row=begun))
    assert "review" in panel.model.step_index(20, 1).data()
    assert panel.tree.isExpanded(panel.model.run_index(20))
    panel.show_runs(RunsView(runs=runs, total=2, current=20, steps={20: ()}))
    assert panel.model.step_index(20, 1).isValid()
    sealed = samples.step_row(20, 1)
    panel.show_step(StepView(run=20, number=1, row=sealed))
    panel.show_step(StepView(run=20, number=2, row=samples.step_row(20, 2)))
    assert panel.model.steps_of(20) == (sealed, samples.step_row(20, 2))


def test_a_click_on_a_run_opens_it(panel: RunsPanel, qtbot: QtBot):
    panel.show_runs(RunsView(runs=(samples.run_row(18),), total=1))
    index = panel.model.run_index(18)
    with qtbot.waitSignal(panel.run_requested):
        qtbot.mouseClick(
            panel.tree.viewport(), Qt.MouseButton.LeftButton, pos=panel.tree.visualRect(index).center()
        )
    assert panel.tree.isExpanded(index)


def test_a_run_on_the_open_web_is_named_by_its_instruction():
    assert run_text(samples.run_row(3)) == "miniwob/book-flight · seed 3"
    web = samples.run_row(3).model_copy(update={"environment": "web", "instruction": "Find the address"})
    assert run_text(web) == "Find the address"
