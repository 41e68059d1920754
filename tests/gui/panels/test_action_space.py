import time

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.debugger.steps.views import PermissibleView
from core.schema.action_space import PermissibleRow
from gui.panels.action_space import PermissiblePanel
from tests.gui import samples
from tests.gui.stand_ins import move_mouse


@pytest.fixture
def panel(qtbot: QtBot, theme) -> PermissiblePanel:
    panel = PermissiblePanel(theme)
    qtbot.addWidget(panel)
    panel.resize(330, 400)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


def shown(panel: PermissiblePanel) -> list[str]:
    entries = [panel.model.row(panel.model.index(row)) for row in range(panel.model.rowCount())]
    return [entry if isinstance(entry, str) else entry.text for entry in entries]


def many(count: int) -> PermissibleView:
    rows = tuple(
        PermissibleRow(name="click", ref=ref, label=f'button "Number {ref}"', text=f"click [{ref}]")
        for ref in range(1, count + 1)
    )
    return PermissibleView(rows=rows, chosen="click [77]", chosen_ref=77)


def test_an_empty_list_says_when_it_fills(panel: PermissiblePanel):
    panel.show_permissible(PermissibleView())
    assert "F10" in panel.or_words.words.text()


def test_rows_stand_under_their_kind_of_action(panel: PermissiblePanel):
    panel.show_permissible(samples.STEP.permissible)
    assert shown(panel)[:3] == ["click  5", "click [1]", "click [2]"]
    assert shown(panel)[-2:] == ["press []", "stop"]


def test_the_chosen_row_is_marked_and_no_other(panel: PermissiblePanel):
    panel.show_permissible(samples.STEP.permissible)
    chosen = [text for text in shown(panel) if "[6]" in text]
    assert [panel.model.row(panel.model.chosen_index()).text] == chosen == ["click [6]"]


def test_a_chosen_action_without_a_target_is_marked_too(panel: PermissiblePanel):
    panel.show_permissible(samples.STEP.permissible.replace(chosen="stop [42]", chosen_ref=None))
    assert panel.model.row(panel.model.chosen_index()).name == "stop"


def test_the_search_finds_by_words_in_any_order(panel: PermissiblePanel):
    panel.show_permissible(samples.STEP.permissible)
    panel.search.setText("now buy")
    assert shown(panel) == ["click  1", "click [6]"]
    panel.search.setText("nothing like it")
    assert "nothing like it" in panel.or_words.words.text()


def test_the_search_stays_when_the_list_changes(panel: PermissiblePanel):
    panel.search.setText("features")
    panel.show_permissible(samples.STEP.permissible)
    assert shown(panel) == ["click  1", "click [8]"]


def test_what_the_prompt_leaves_out_is_reported(panel: PermissiblePanel):
    panel.show_permissible(samples.STEP.permissible)
    assert panel.left_out.text() == "12 more left out of the prompt"
    panel.show_permissible(PermissibleView(rows=samples.PERMISSIBLE.rows()))
    assert panel.left_out.isHidden()


def test_hovering_a_row_marks_its_outline_and_leaving_takes_that_back(panel: PermissiblePanel, qtbot: QtBot):
    panel.show_permissible(samples.STEP.permissible)
    index = panel.model.index(1)
    with qtbot.waitSignal(panel.highlight_requested, check_params_cb=lambda ref: ref == 1):
        move_mouse(panel.list.viewport(), QPoint(3, 3))
        move_mouse(panel.list.viewport(), panel.list.visualRect(index).center())
    with qtbot.waitSignal(panel.highlight_requested, check_params_cb=lambda ref: ref is None):
        QApplication.sendEvent(panel.list.viewport(), QEvent(QEvent.Type.Leave))


def test_a_double_click_chooses(panel: PermissiblePanel, qtbot: QtBot):
    panel.show_permissible(samples.STEP.permissible)
    centre = panel.list.visualRect(panel.model.index(2)).center()
    qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=centre)
    with qtbot.waitSignal(panel.replace_requested) as asked:
        qtbot.mouseDClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=centre)
    assert asked.args[0].text == "click [2]"


def test_searching_and_choosing_needs_no_mouse(panel: PermissiblePanel, qtbot: QtBot):
    panel.show_permissible(samples.STEP.permissible)
    panel.activateWindow()
    panel.focus_search()
    qtbot.keyClicks(panel.search, "descr")
    qtbot.keyClick(panel.search, Qt.Key.Key_Return)
    with qtbot.waitSignal(panel.replace_requested) as asked:
        qtbot.keyClick(panel.list, Qt.Key.Key_Return)
    assert asked.args[0].ref == 7


def test_twenty_times_the_rows_cost_no_more_than_in_proportion(panel: PermissiblePanel):
    few, lots = _seconds(panel, 250), _seconds(panel, 5000)
    assert panel.model.matching == sum("49" in str(ref) for ref in range(1, 5001))
    assert lots < 4 * 20 * few


def _seconds(panel: PermissiblePanel, rows: int) -> float:
    """Return the median time of this thread for showing and searching so many rows."""
    took = []
    for search in ("", "9", "number 49"):
        started = time.thread_time()
        panel.search.setText(search)
        panel.show_permissible(many(rows))
        QApplication.processEvents()
        took.append(time.thread_time() - started)
    return sorted(took)[1]


def test_only_the_row_with_the_chosen_value_is_marked(panel: PermissiblePanel):
    rows = tuple(PermissibleRow(name="pick", label=item, text=f"pick [{item}]") for item in ("B1", "B2"))
    panel.show_permissible(PermissibleView(rows=rows, chosen="pick [B2]"))
    assert [panel.model.is_chosen(row) for row in rows] == [False, True]
