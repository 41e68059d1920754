"""The window of the evaluations: what it shows of a view, and what it asks for."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from core.debugger.evaluations.records import EvalRequest, EvaluationPlan, Request
from core.debugger.evaluations.views import EvaluationsView, OpenedRun, RequestPreview
from gui.evaluations.controller import EvaluationsController, install
from gui.evaluations.window import EvaluationsWindow
from tests.gui import samples as window_samples
from tests.gui.evaluations import samples
from tests.gui.stand_ins import AskedService


@pytest.fixture
def service():
    return AskedService("previewed", "opened", "bisect_read")


@pytest.fixture
def controller(window, service, session) -> EvaluationsController:
    controller = install(window, service)
    session.catalogue_changed.send(window_samples.CATALOGUE)
    window.actions_by_name["evaluations"].trigger()
    return controller


@pytest.fixture
def shown(controller, service, qtbot) -> EvaluationsWindow:
    service.changed.send(samples.FINISHED)
    qtbot.waitUntil(lambda: bool(controller.shown.matrix.cells.rows))
    return controller.shown


def texts(shown: EvaluationsWindow, column: int) -> list[str]:
    cells = shown.matrix.cells
    return [cells.index(row, column).data() for row in range(cells.rowCount())]


def outcomes(shown: EvaluationsWindow) -> list[str]:
    return [line.cells[0] for line in shown.runs.lines]


def test_it_is_read_while_it_shows_and_without_evaluations_says_what_to_do(controller, service, qtbot):
    service.changed.send(EvaluationsView(ready=True))
    qtbot.waitUntil(lambda: "Ctrl+N" in controller.shown.or_words.words.text())
    assert not controller.shown.resume_button.isEnabled()
    assert set(service.asked) == {("watch",)}
    controller.shown.close()
    assert service.asked[-1] == ("unwatch",)


def test_tool_tips_of_the_matrix_say_what_a_column_means_and_what_was_counted_in_a_cell(shown):
    cells = shown.matrix.cells
    tip = Qt.ItemDataRole.ToolTipRole
    heads = [
        cells.headerData(column, Qt.Orientation.Horizontal, tip) for column in range(cells.columnCount())
    ]
    counted = "successes of the cases that were judged, with the 95 % interval"
    assert heads[:3] == ["Sort by name", f"plain, rules: {counted}", f"laser, rules: {counted}"]
    assert "percentage points" in heads[3]
    assert "only one of the two" in heads[4]
    assert cells.index(1, 1).data(tip).startswith("10 cases done\n7 of 10 succeed (95 %: 40% to 89%)")
    assert cells.index(1, 2).data(tip).startswith("10 cases done\n8 of 10 succeed")
    assert cells.index(1, 3).data(tip) == "+10 points"


def test_the_totals_stand_above_the_tasks_whatever_they_are_sorted_by(shown):
    assert texts(shown, 0)[:2] == ["All tasks", "miniwob/click-link-1"]
    shown.matrix.sortByColumn(0, Qt.SortOrder.DescendingOrder)
    assert texts(shown, 0)[0] == "All tasks"
    assert texts(shown, 0)[1:] == sorted(texts(shown, 0)[1:], reverse=True)
    shown.matrix.sortByColumn(3, Qt.SortOrder.DescendingOrder)
    points = [int(text.removesuffix(" points")) for text in texts(shown, 3)[1:]]
    assert points == sorted(points, reverse=True)


def test_words_and_boxes_leave_tasks_out_and_families_sum_theirs(shown):
    shown.search.setText("email")
    assert all("email" in name for name in texts(shown, 0)[1:])
    shown.search.setText("")
    shown.by_family.setChecked(True)
    assert texts(shown, 0)[:3] == ["All tasks", "click-link", "miniwob/click-link-1"]
    shown.search.setText("nothing like it")
    assert "No task matches" in shown.or_none.words.text()


def test_only_flipped_leaves_tasks_with_a_flip(shown):
    shown.only_flipped.setChecked(True)
    assert texts(shown, 4)[1:]
    assert all("▲" in text or "▼" in text for text in texts(shown, 4)[1:])


def test_the_runs_of_a_cell_are_shown_failures_first_and_opened_at_the_step_that_decided(
    shown, service, session, qtbot
):
    shown.matrix.setCurrentIndex(shown.matrix.cells.index(5, 2))
    assert "laser, rules: 10 runs" in shown.cell.text()
    assert outcomes(shown) == sorted(outcomes(shown), key=lambda word: word == "success")
    shown.runs.choose(shown.runs.lines[3].key)
    QTest.keyClick(shown.runs, Qt.Key.Key_Return)
    assert service.asked[-1] == ("open_run", shown.runs.lines[3].key)
    QTest.keyClick(shown.matrix, Qt.Key.Key_Return)
    assert service.asked[-1] == ("open_run", shown.runs.lines[0].key)
    service.opened.send(OpenedRun(run=7, step=3))
    qtbot.waitUntil(lambda: ("show_step", 7, 3) in session.asked)


def test_what_runs_used_is_listed_by_suspiciousness_and_opened_and_its_row_stays_chosen(
    shown, service, qtbot
):
    qtbot.keyClick(shown, Qt.Key.Key_U, Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(shown.suspicions.isVisible)
    assert [line.cells[:3] for line in shown.suspicions.lines][:2] == [
        ("0.84", "action", "results.select_item"),
        ("0.53", "policy", "search_shop"),
    ]
    shown.suspicions.opened.emit(shown.suspicions.lines[0].key)
    assert service.asked[-1] == ("open_run", 1002)
    asked = len(service.asked)
    shown.suspicions.opened.emit(shown.suspicions.lines[2].key)  # No failed run used it.
    assert len(service.asked) == asked
    chosen = samples.FINISHED.chosen.replace(suspicions=(samples.SUSPICIONS[2],))
    service.changed.send(samples.FINISHED.replace(chosen=chosen))
    qtbot.waitUntil(lambda: "no judged run of this evaluation failed" in shown.or_unsuspicious.words.text())
    first, second, _ = samples.SUSPICIONS
    same = (first, second.replace(run=first.run))
    chosen = samples.FINISHED.chosen.replace(suspicions=same)
    service.changed.send(samples.FINISHED.replace(chosen=chosen))
    qtbot.waitUntil(lambda: len(shown.suspicions.lines) == 2)
    shown.suspicions.choose(shown.suspicions.lines[1].key)
    chosen = chosen.replace(suspicions=(same[0].replace(failed=32), same[1]))
    service.changed.send(samples.FINISHED.replace(chosen=chosen))
    qtbot.waitUntil(lambda: shown.suspicions.lines[0].cells[3] == "32")
    assert shown.suspicions.currentIndex().row() == 1


def test_what_is_selected_stays_while_runs_come_in(shown, service, qtbot):
    shown.matrix.setCurrentIndex(shown.matrix.cells.index(5, 2))
    shown.matrix.sortByColumn(2, Qt.SortOrder.DescendingOrder)
    task = shown.matrix.cells.rows[shown.matrix.currentIndex().row()].task
    tries = samples.tries_of(samples.TWO_PLAN, most=150)
    service.changed.send(samples.view_of(samples.TWO_PLAN, tries, state="under way"))
    qtbot.waitUntil(shown.stop_button.isEnabled)
    assert shown.matrix.cells.rows[shown.matrix.currentIndex().row()].task == task
    assert task in shown.cell.text()


def test_it_is_stopped_by_key_and_deleted_after_a_question(shown, service, qtbot):
    shown.stop_button.setEnabled(True)
    QTest.keyClick(shown, Qt.Key.Key_S, Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(lambda: ("end", 9) in service.asked)
    shown.list.setFocus()
    QTest.keyClick(shown.list, Qt.Key.Key_Delete)
    assert ("delete", 9) not in service.asked
    next(one for one in shown.question.buttons() if "Delete" in one.text()).click()
    assert service.asked[-1] == ("delete", 9)


def test_ten_thousand_runs_are_drawn_and_no_widget_is_made_for_a_cell(controller, service, qtbot):
    plan = EvaluationPlan(variants=samples.FOUR, tasks=samples.tasks(125), seeds=tuple(range(20)))
    service.changed.send(samples.view_of(plan, samples.tries_of(plan)))
    shown = controller.shown
    qtbot.waitUntil(lambda: shown.matrix.cells.rowCount() == 126)
    assert len(shown.matrix.viewport().children()) == 0
    shown.matrix.setCurrentIndex(shown.matrix.cells.index(0, 0))
    assert "the first 500" in shown.cell.text()
    assert not shown.matrix.grab().isNull()


def test_filters_and_order_are_there_again(window, service, shown):
    shown.by_family.setChecked(True)
    shown.matrix.sortByColumn(2, Qt.SortOrder.DescendingOrder)
    shown.keep()
    again = EvaluationsWindow(window.theme, window.remembered, window)
    assert again.by_family.isChecked()
    assert (again.matrix.cells.filter.column, again.matrix.cells.filter.down) == (2, True)


def test_a_new_one_is_asked_with_a_live_preview_and_suites_and_remembered(
    controller, shown, qtbot, window, service
):
    shown.new_button.click()
    dialog = controller.asking
    dialog.tasks.setText("miniwob/click-*")
    dialog.suites.click()
    (menu,) = dialog.findChildren(QMenu)
    assert [one.text() for one in menu.actions()] == ["airline: All scenarios", "shop: All goals"]
    menu.actions()[1].trigger()
    assert dialog.tasks.text() == "miniwob/click-*, suite:shop"
    menu.close()
    shown.new_button.click()
    dialog = controller.asking
    assert dialog.presets.ticked or dialog.presets.count()
    dialog.tasks.setText("miniwob/click-*")
    dialog.presets.item(0).setCheckState(Qt.CheckState.Checked)
    dialog.llms.item(0).setCheckState(Qt.CheckState.Checked)
    dialog.cost.setValue(2.5)
    request = dialog.request
    assert (request.tasks, request.max_cost) == (("miniwob/click-*",), 2.5)
    qtbot.waitUntil(lambda: ("preview", request) in service.asked)
    assert not dialog.begin_button.isEnabled()
    service.previewed.send(RequestPreview(request=request, problem="No such thing."))
    qtbot.waitUntil(lambda: dialog.total.text() == "No such thing.")
    assert not dialog.begin_button.isEnabled()
    preview = RequestPreview(request=request, tasks=("a", "b"), variants=1, runs=10, cost=0.5, priced=10)
    service.previewed.send(preview)
    qtbot.waitUntil(dialog.begin_button.isEnabled)
    assert "10 runs" in dialog.total.text()
    assert "$0.50" in dialog.total.text()
    dialog.begin_button.click()
    assert service.asked[-1] == ("begin", request)
    assert window.remembered.evaluation == request


def test_failures_are_done_again_and_what_was_interrupted_is_resumed(controller, shown, service, qtbot):
    shown.failures_button.click()
    qtbot.waitUntil(lambda: ("preview", EvalRequest(failures_of="policies")) in service.asked)
    controller.asking.reject()
    service.changed.send(samples.view_of(samples.TWO_PLAN, samples.TWO[:50], state="interrupted"))
    qtbot.waitUntil(shown.resume_button.isEnabled)
    shown.resume_button.click()
    controller.asking.at_once.setValue(4)
    controller.asking.begin_button.click()
    assert service.asked[-1] == ("resume", Request(name="policies", concurrency=4))


def test_the_main_window_asks_before_it_interrupts_what_it_has_started(window, controller, service, qtbot):
    service.changed.send(EvaluationsView(ready=True, started=("mine",)))
    qtbot.waitUntil(lambda: controller._view.started == ("mine",))
    assert not window.close()
    assert "resume" in controller.question.informativeText()
    controller.question.reject()
    assert window.isVisible()
    window.close()
    with qtbot.waitSignal(window.closed):
        next(one for one in controller.question.buttons() if "quit" in one.text()).click()
