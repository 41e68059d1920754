import pytest
from PySide6.QtCore import QAbstractItemModel, QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester, QSignalSpy
from pytestqt.qtbot import QtBot

from core.debugger.session_view import RunsView, SessionView
from core.debugger.steps.views import StepView
from core.schema.changes import Difference
from core.schema.task import Verdict
from gui.panels.runs.model import BLOCK, run_text, step_word, verdict_word
from gui.panels.runs.panel import RunsPanel
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
    assert not panel.or_words.words.isHidden()


def test_a_search_without_a_match_says_so(panel: RunsPanel):
    panel.show_runs(RunsView(query="lamp"))
    assert '"lamp"' in panel.or_words.words.text()


def test_a_task_that_could_not_be_opened_is_not_said_to_be_opening(panel: RunsPanel):
    panel.show_session(SessionView(mode="opening"))
    assert panel.or_words.words.text() == "Opening the task…"
    panel.show_session(SessionView(mode="empty"))
    assert panel.or_words.words.text().startswith("No run yet.")


def rows_under(panel: RunsPanel, index: QModelIndex) -> list[str]:
    return [text.split(":")[0] for text in texts(panel.model, index)]


def test_runs_stand_newest_first_and_branches_under_the_step_that_they_left(panel: RunsPanel):
    panel.show_runs(samples.RUNS)
    model = panel.model
    assert [model.node(model.index(row, 0)).run.run for row in range(model.rowCount())] == [18, 17, 16, 15]
    inside = texts(model, model.run_index(18))
    assert len(inside) == 5
    assert rows_under(panel, model.step_index(18, 3)) == ["Run 19"]
    assert panel.tree.isExpanded(model.step_index(18, 3))


def test_a_branch_of_a_run_that_is_not_loaded_stands_under_it_until_its_steps_come(panel: RunsPanel):
    panel.show_runs(samples.RUNS.replace(steps={}))
    assert rows_under(panel, panel.model.run_index(18)) == ["Run 19"]
    panel.tree.expand(panel.model.run_index(19))
    panel.show_runs(samples.RUNS)
    assert rows_under(panel, panel.model.step_index(18, 3)) == ["Run 19"]
    assert panel.tree.isExpanded(panel.model.run_index(19))


def test_branches_of_branches_stand_under_their_steps(panel: RunsPanel):
    panel.show_runs(samples.BRANCHED)
    assert rows_under(panel, panel.model.step_index(18, 3)) == ["Run 19", "Run 21"]
    assert rows_under(panel, panel.model.step_index(19, 4)) == ["Run 20"]


def test_the_current_branch_is_opened_and_reported(panel: RunsPanel, qtbot: QtBot):
    with qtbot.waitSignal(panel.fact_changed) as emitted:
        panel.show_runs(samples.BRANCHED)
    assert emitted.args == ["run 21 · branch of 18"]
    index = panel.model.run_index(21)
    assert panel.tree.isExpanded(index)
    assert index.data() == "Run 21: green first, current, branch of run 18 at step 3, equivalent"
    assert panel.model.run_index(19).data().endswith("left, branch of run 18 at step 3, exact")


def test_a_new_branch_comes_under_its_step_and_moves_the_mark_of_the_current_run(panel: RunsPanel):
    panel.show_runs(samples.RUNS)
    branch = samples.run_row(20, outcome="running", verdict=Verdict(), parent_run=18, parent_step=4, steps=1)
    left = samples.run_row(18, outcome="left", verdict=Verdict(), steps=5)
    runs = (branch, samples.RUNS.runs[0], left, *samples.RUNS.runs[2:])
    steps = {**samples.RUNS.steps, 20: (samples.step_row(20, 4, sealed=False, outcome="pending"),)}
    reset = QSignalSpy(panel.model.modelReset)
    panel.show_runs(samples.RUNS.replace(runs=runs, current=20, steps=steps))
    assert reset.count() == 0
    assert rows_under(panel, panel.model.step_index(18, 4)) == ["Run 20"]
    assert "current" in panel.model.run_index(20).data()
    assert "left" in panel.model.run_index(18).data()
    assert panel.tree.isExpanded(panel.model.run_index(20))


def test_what_was_folded_stays_folded_also_after_a_search(panel: RunsPanel):
    panel.show_runs(samples.BRANCHED)
    panel.tree.expand(panel.model.run_index(19))
    panel.tree.collapse(panel.model.step_index(18, 3))
    found = RunsView(runs=(samples.BRANCHED.runs[0], samples.run_row(16)), total=2, query="green")
    panel.show_runs(found)
    assert rows_under(panel, QModelIndex()) == ["Run 21", "Run 16"]
    panel.show_runs(samples.BRANCHED)
    assert not panel.tree.isExpanded(panel.model.step_index(18, 3))
    assert panel.tree.isExpanded(panel.model.run_index(19))
    assert panel.tree.isExpanded(panel.model.run_index(18))


def test_a_branch_at_an_earlier_step_moves_there_when_it_is_shown(panel: RunsPanel):
    runs = (samples.run_row(19, parent_run=18, parent_step=7), samples.run_row(18, steps=BLOCK + 100))
    panel.show_runs(RunsView(runs=runs, total=2, current=18, steps={18: many_steps(18, BLOCK + 100)}))
    assert rows_under(panel, panel.model.run_index(18))[-1] == "Run 19"
    panel._on_chosen(panel.model.index(0, 0, panel.model.run_index(18)))
    assert rows_under(panel, panel.model.step_index(18, 7)) == ["Run 19"]


def test_a_run_whose_steps_are_other_ones_keeps_its_branches(panel: RunsPanel):
    panel.show_runs(samples.BRANCHED)
    fewer = {**samples.BRANCHED.steps, 18: samples.STEPS[2:]}
    panel.show_runs(samples.BRANCHED.replace(steps=fewer))
    assert rows_under(panel, panel.model.step_index(18, 3)) == ["Run 19", "Run 21"]


def test_before_the_first_step_of_a_branch_comes_that_of_the_run_it_left(panel: RunsPanel):
    panel.show_runs(samples.BRANCHED)
    assert panel.model.neighbour(21, 3, -1) == (18, 2)
    assert panel.model.neighbour(21, 3, 1) == (21, 4)
    assert panel.model.neighbour(20, 4, -1) == (19, 3)


def entry(panel: RunsPanel, index: QModelIndex, text: str):
    return next(one for one in panel.entries(index) if one.text == text)


def test_a_step_offers_to_go_back_to_before_it(panel: RunsPanel, qtbot: QtBot):
    panel.show_runs(samples.BRANCHED)
    with qtbot.waitSignal(panel.back_requested) as asked:
        entry(panel, panel.model.step_index(19, 4), "Go back to before this step").do()
    assert asked.args == [19, 4]


def test_only_a_run_that_was_left_can_be_made_current(panel: RunsPanel, qtbot: QtBot):
    panel.show_runs(samples.BRANCHED)
    can = {
        run: entry(panel, panel.model.run_index(run), "Make current").enabled for run in (15, 17, 18, 19, 21)
    }
    assert can == {15: True, 17: False, 18: True, 19: True, 21: False}
    assert "It has ended" in entry(panel, panel.model.run_index(17), "Make current").why
    runs = (samples.run_row(22, outcome="running"), *samples.BRANCHED.runs)
    panel.show_runs(samples.BRANCHED.replace(runs=runs))
    assert "Another program" in entry(panel, panel.model.run_index(22), "Make current").why
    panel.show_runs(samples.BRANCHED)
    panel.tree.setFocus()
    panel.tree.setCurrentIndex(panel.model.run_index(19))
    with qtbot.waitSignal(panel.current_requested) as asked:
        qtbot.keyClick(panel.tree, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier)
    assert asked.args == [19]


def test_f2_asks_to_name_the_run_of_the_row(panel: RunsPanel, qtbot: QtBot):
    panel.show_runs(samples.BRANCHED)
    panel.tree.setCurrentIndex(panel.model.step_index(21, 4))
    panel.tree.setFocus()
    with qtbot.waitSignal(panel.naming_requested) as asked:
        qtbot.keyClick(panel.tree, Qt.Key.Key_F2)
    assert asked.args[0].run == 21


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
    panel.show_runs(view.replace(steps={18: more}))
    assert panel.tree.isExpanded(panel.model.run_index(18))
    assert panel.model.step_index(18, 6).isValid()
    assert panel.model.node(panel.model.step_index(18, 6)).step.number == 6


def test_a_new_run_comes_on_top_and_leaves_the_others_as_they_were(panel: RunsPanel):
    panel.show_runs(samples.RUNS)
    panel.tree.expand(panel.model.run_index(18))
    new = samples.RUNS.replace(runs=(samples.run_row(20), *samples.RUNS.runs), current=20)
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
    panel.show_runs(samples.RUNS.replace(steps={18: steps}))
    assert "failed" in panel.model.step_index(18, 5).data()


def test_a_long_run_shows_its_latest_steps_and_offers_the_earlier_ones(panel: RunsPanel):
    steps = many_steps(18, 2 * BLOCK + 100)
    view = samples.RUNS.replace(steps={18: steps})
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
    panel.show_runs(samples.RUNS.replace(steps={18: steps}))
    rows = panel.model.rowCount(panel.model.run_index(18))
    made_anew = [QSignalSpy(panel.model.modelReset), QSignalSpy(panel.model.layoutChanged)]
    inserted, removed = QSignalSpy(panel.model.rowsInserted), QSignalSpy(panel.model.rowsRemoved)
    grown = samples.RUNS.replace(steps={18: (*steps, samples.step_row(18, 5001))})
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
    assert panel.model.neighbour(18, 3, -1) == (18, 2)
    assert panel.model.neighbour(18, 3, 1) == (18, 4)
    assert panel.model.neighbour(18, 1, -1) is None
    assert panel.model.neighbour(18, 5, 1) is None
    assert panel.model.neighbour(17, 1, -1) is None


def test_rows_paint_in_every_state(panel: RunsPanel):
    steps = tuple(
        samples.step_row(18, at + 1, origin=origin, outcome=outcome)
        for at, (origin, outcome) in enumerate(
            [("agent", "done"), ("person", "failed"), ("remedy", "skipped"), ("replay", "pending")]
        )
    )
    panel.show_runs(samples.RUNS.replace(steps={18: steps}))
    blank = panel.grab().toImage()
    panel.show_runs(samples.RUNS)
    assert panel.grab().toImage() != blank


def test_a_run_tells_why_it_was_no_success(panel: RunsPanel):
    failed = Verdict(success=False, reason="Nothing was bought.")
    panel.show_runs(RunsView(runs=(samples.run_row(1, outcome="done", verdict=failed),)))
    row = panel.model.index(0, 0)
    assert "no success, Nothing was bought." in row.data()
    assert "Nothing was bought." in row.data(Qt.ItemDataRole.ToolTipRole)


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
    web = samples.run_row(3).replace(environment="web", instruction="Find the address")
    assert run_text(web) == "Find the address"


def test_the_first_step_of_a_branch_shows_as_soon_as_it_is_begun(panel: RunsPanel):
    left = samples.run_row(2, outcome="left", steps=3)
    branch = samples.run_row(3, parent_run=2, parent_step=2, grade="equivalent", outcome="running", steps=0)
    steps = tuple(samples.step_row(2, number) for number in (1, 2, 3))
    panel.show_runs(RunsView(runs=(branch, left), total=2, current=3, steps={2: steps, 3: ()}))
    panel.show_step(StepView(run=3, number=2, row=samples.step_row(3, 2), live=True))
    index = panel.model.run_index(3)
    assert panel.model.rowCount(index) == 1
    assert panel.tree.isExpanded(index)


def test_a_branch_is_folded_and_unfolded_by_its_menu_and_key(panel: RunsPanel, qtbot: QtBot):
    panel.show_runs(samples.BRANCHED)
    branch = panel.model.run_index(19)
    entry(panel, branch, "Unfold this branch").do()
    assert panel.tree.isExpanded(branch)
    entry(panel, branch, "Fold this branch").do()
    assert not panel.tree.isExpanded(branch)
    panel.tree.setFocus()
    panel.tree.setCurrentIndex(branch)
    qtbot.keyClick(panel.tree, Qt.Key.Key_Left, Qt.KeyboardModifier.ControlModifier)
    assert panel.tree.isExpanded(branch)
    step = panel.model.step_index(18, 3)
    entry(panel, step, "Fold branches of this step").do()
    assert not panel.tree.isExpanded(step)


def test_all_others_are_folded_and_all_branches_unfolded(panel: RunsPanel, qtbot: QtBot):
    panel.show_runs(samples.BRANCHED)
    tree, model = panel.tree, panel.model
    for run in (19, 21, 16):
        tree.expand(model.run_index(run))
    tree.setFocus()
    tree.setCurrentIndex(model.run_index(19))
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(tree, Qt.Key.Key_Left, both)
    open_now = {run for run in model.runs() if tree.isExpanded(model.run_index(run))}
    assert open_now == {18, 19}
    panel.show_runs(samples.BRANCHED)
    assert not tree.isExpanded(model.run_index(21))
    qtbot.keyClick(tree, Qt.Key.Key_Right, both)
    assert all(tree.isExpanded(model.run_index(run)) for run in model.runs_with_branches())
    assert 21 in model.runs_with_branches()


def test_what_is_open_is_remembered_from_one_start_to_the_next(panel: RunsPanel, theme, qtbot: QtBot):
    panel.show_runs(samples.BRANCHED)
    panel.tree.expand(panel.model.run_index(19))
    panel.tree.collapse(panel.model.step_index(18, 3))
    other = RunsPanel(theme)
    qtbot.addWidget(other)
    other.folding.recall(panel.folding.words)
    other.show_runs(samples.BRANCHED.replace(current=None))
    assert not other.tree.isExpanded(other.model.step_index(18, 3))
    assert other.tree.isExpanded(other.model.run_index(19))
    other.folding.recall("no such; text.x")
    assert other.folding.words == ";"


def test_a_branch_says_how_it_differs(panel: RunsPanel):
    differences = (
        Difference(what="preset", before="plain", after="laser"),
        Difference(what="exemplars", after="none"),
    )
    runs = tuple(
        row.replace(differences=differences) if row.run == 19 else row for row in samples.BRANCHED.runs
    )
    panel.show_runs(samples.BRANCHED.replace(runs=runs))
    index = panel.model.run_index(19)
    assert "with preset laser, exemplars none" in index.data()
    assert "Differs by preset laser (was plain)" in index.data(Qt.ItemDataRole.ToolTipRole)


def test_a_fork_and_a_bisection_are_asked_for_from_the_menu(panel: RunsPanel, qtbot: QtBot):
    panel.show_runs(samples.RUNS)
    with qtbot.waitSignal(panel.fork_requested) as forked:
        entry(panel, panel.model.step_index(18, 2), "Try again from here…").do()
    assert forked.args == [18, 2]
    with qtbot.waitSignal(panel.bisect_requested) as bisected:
        entry(panel, panel.model.run_index(18), "Bisect…").do()
    assert bisected.args == [18]


def many_runs(*numbers: int, **values):
    return tuple(samples.run_row(number, **values) for number in numbers)


def test_older_runs_are_asked_for_at_the_end_of_the_list_and_join_it_there(panel: RunsPanel, qtbot: QtBot):
    newest = many_runs(*range(300, 100, -1))
    panel.show_runs(RunsView(runs=newest, total=300, more=True))
    bar = panel.tree.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    panel.show_runs(RunsView(runs=newest, total=300, more=True))
    with qtbot.waitSignal(panel.more_requested) as asked:
        bar.setValue(bar.maximum())
    assert asked.args == [200]
    reset = QSignalSpy(panel.model.modelReset)
    panel.show_runs(RunsView(runs=many_runs(*range(301, 0, -1)), total=301))
    assert reset.count() == 0
    assert panel.model.rowCount() == 301
    assert [panel.model.node(panel.model.index(row, 0)).run.run for row in (0, 1, 300)] == [301, 300, 1]
    asked_again = QSignalSpy(panel.more_requested)
    bar.setValue(0)
    bar.setValue(bar.maximum())
    assert asked_again.count() == 0


def test_older_runs_are_not_asked_for_before_one_scrolls_to_the_end(panel: RunsPanel, qtbot: QtBot):
    asked = QSignalSpy(panel.more_requested)
    bar = panel.tree.verticalScrollBar()
    for first in (300, 301, 302):  # Runs that join at the top have the tree lay out its rows anew.
        panel.show_runs(RunsView(runs=many_runs(*range(first, 100, -1)), total=first, more=True))
        panel.tree.doItemsLayout()
        qtbot.waitUntil(lambda: bar.maximum() > 0)
    bar.setValue(bar.maximum() // 2)
    assert asked.count() == 0


def test_a_branch_moves_under_its_run_when_that_is_listed(panel: RunsPanel):
    branch = samples.run_row(19, parent_run=3, parent_step=1)
    panel.show_runs(RunsView(runs=(*many_runs(20), branch, *many_runs(18)), total=4, more=True))
    assert rows_under(panel, QModelIndex()) == ["Run 20", "Run 19", "Run 18"]
    reset = QSignalSpy(panel.model.modelReset)
    panel.show_runs(RunsView(runs=(*many_runs(20), branch, *many_runs(18, 3)), total=4))
    assert reset.count() == 0
    assert rows_under(panel, QModelIndex()) == ["Run 20", "Run 18", "Run 3"]
    assert rows_under(panel, panel.model.run_index(3)) == ["Run 19"]


def test_an_older_run_that_is_current_stands_below_the_newest_and_keeps_its_place(panel: RunsPanel):
    panel.show_runs(RunsView(runs=many_runs(9, 8, 2), total=9, more=True, current=2))
    assert rows_under(panel, QModelIndex()) == ["Run 9", "Run 8", "Run 2"]
    panel.show_runs(RunsView(runs=many_runs(9, 8, 7, 6, 2), total=9, more=True, current=2))
    assert rows_under(panel, QModelIndex()) == ["Run 9", "Run 8", "Run 7", "Run 6", "Run 2"]
