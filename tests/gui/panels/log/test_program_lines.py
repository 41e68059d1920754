import time

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gui.panels.log.lines import KEPT
from gui.panels.log.panel import LogPanel
from tests.gui import samples


@pytest.fixture
def panel(qtbot: QtBot, theme) -> LogPanel:
    panel = LogPanel(theme)
    qtbot.addWidget(panel)
    panel.resize(660, 220)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


def test_an_empty_log_says_so(panel: LogPanel):
    assert panel.or_words.words.text().startswith("Nothing is logged yet.")


def test_only_the_last_lines_are_kept(panel: LogPanel):
    lines = samples.log_lines(KEPT + 1700)
    panel.show_lines(lines[:9000])
    panel.show_lines(lines[9000:])
    assert [row.of for row in panel.model.rows] == list(lines[-KEPT:])
    assert panel.model.total == KEPT


def test_warnings_and_errors_leave_out_the_rest(panel: LogPanel):
    panel.show_lines(samples.log_lines(50))
    panel.choice.setCurrentText("Warnings and errors")
    assert {row.of.level for row in panel.model.rows} == {"warning", "error"}
    panel.show_lines(samples.log_lines(5))
    assert {row.of.level for row in panel.model.rows} == {"warning", "error"}
    panel.choice.setCurrentText("Program")
    assert panel.model.rowCount() == 55


def test_the_search_finds_by_words_and_says_when_nothing_fits(panel: LogPanel):
    panel.show_lines(samples.log_lines(50))
    panel.search.setText("429 requests")
    assert panel.model.rowCount() == 10
    panel.search.setText("submarine")
    assert "No line matches" in panel.or_words.words.text()


def test_the_list_stays_at_its_end(panel: LogPanel):
    panel.show_lines(samples.log_lines(200))
    QApplication.processEvents()
    bar = panel.list.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    panel.show_lines(samples.log_lines(50))
    QApplication.processEvents()
    assert bar.value() == bar.maximum()


def test_scrolled_up_it_stays_where_it_is(panel: LogPanel):
    panel.show_lines(samples.log_lines(200))
    QApplication.processEvents()
    bar = panel.list.verticalScrollBar()
    bar.setValue(40)
    panel.show_lines(samples.log_lines(50))
    QApplication.processEvents()
    assert bar.value() == 40


def test_copying_takes_the_selected_lines_or_all(panel: LogPanel, qtbot: QtBot):
    panel.show_lines(samples.log_lines(5))
    panel.copy_button.click()
    assert QApplication.clipboard().text().count("\n") == 4
    panel.list.setCurrentIndex(panel.model.index(2))
    qtbot.keyClick(panel.list, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert "429 Too Many Requests" in QApplication.clipboard().text()
    assert "\n" not in QApplication.clipboard().text()


def test_clearing_empties_the_log(panel: LogPanel):
    panel.show_lines(samples.log_lines(5))
    panel.clear_button.click()
    assert panel.model.rowCount() == 0


def test_a_burst_of_lines_costs_a_full_log_little_more_than_an_empty_one(panel: LogPanel):
    empty = _seconds(panel, 0)
    assert _seconds(panel, KEPT) < 8 * empty


def _seconds(panel: LogPanel, there: int) -> float:
    """Return the median time of this thread for a burst where so many lines are there."""
    burst = samples.log_lines(1000)
    took = []
    for _ in range(3):
        panel.clear_button.click()
        panel.show_lines(samples.log_lines(there))
        QApplication.processEvents()
        started = time.thread_time()
        panel.show_lines(burst)
        QApplication.processEvents()
        took.append(time.thread_time() - started)
    return sorted(took)[1]


def test_the_key_empties_the_list_where_that_has_the_focus(window, qtbot: QtBot):
    opened = []
    window.actions_by_name["library"].triggered.connect(opened.append)
    window.place("Log").bring()
    window.log.show_lines(samples.log_lines(5))
    window.log.list.setFocus()
    qtbot.keyClick(window.log.list, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    assert not opened
    assert window.log.model.rowCount() == 0
