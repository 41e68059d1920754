"""LLM calls in the Log, between what the pages reported and what the program did."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.schema.events import LogLine
from core.schema.messages import Retry
from gui.panels.log.panel import LogPanel
from gui.widgets.item_views import RowMenu
from tests.gui import samples
from tests.gui.reading_samples import LOG
from tests.gui.samples import call_with

CALL = samples.CALLS[0]


@pytest.fixture
def panel(qtbot: QtBot, theme) -> LogPanel:
    panel = LogPanel(theme)
    qtbot.addWidget(panel)
    panel.resize(700, 240)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


def shown(panel: LogPanel, *calls) -> list[str]:
    panel.show_step(samples.STEP.replace(calls=calls, live=False))
    panel.gather()
    return [row.whole.replace("\u202f", " ") for row in panel.model.rows]


def test_a_call_tells_tokens_cost_time_and_retries(panel: LogPanel):
    (whole,) = shown(panel, CALL)
    assert whole.startswith(
        "3 decide · gpt-4o (gpt-4o-2024-08-06) · 1 052 → 31 tokens · $0.0031 · 1.8 s · 1 retry"
    )
    assert "429" in whole


def test_a_call_that_only_had_to_wait_tells_of_no_retry(panel: LogPanel):
    wait = Retry(reason="requests_per_minute is reached.", waited=2.0, attempt=False)
    (whole,) = shown(panel, call_with(retries=(wait,)))
    assert "retry" not in whole
    assert "requests_per_minute is reached. (waited 2.0 s)" in whole


def test_estimated_tokens_and_a_missing_price_are_marked(panel: LogPanel):
    (whole,) = shown(panel, call_with(usage=CALL.record.usage.replace(estimated=True), cost=None))
    assert "~1 052 → ~31 tokens · – ·" in whole
    assert "estimated here" in whole


def test_cached_tokens_are_told_with_what_they_cost(panel: LogPanel):
    (whole,) = shown(
        panel,
        call_with(
            CALL.replace(cached_cost=0.0011, reasoning_tokens=20),
            usage=CALL.record.usage.replace(cached_tokens=900),
        ),
    )
    assert "1 052 (900 cached) → 31 tokens" in whole
    assert "For cached prompt tokens: $0.0011" in whole
    assert "Reasoning: 20 tokens" in whole


def test_a_failed_call_counts_as_wrong(panel: LogPanel, qtbot: QtBot):
    with qtbot.waitSignal(panel.fact_changed) as emitted:
        shown(panel, call_with(error="The server hung up."))
    assert emitted.args == ["1, 1 wrong"]
    panel.choice.setCurrentText("Warnings and errors")
    assert panel.model.rowCount() == 1


def test_pages_calls_and_program_are_one_list_in_the_order_of_time(panel: LogPanel):
    panel.show_log(LOG)
    panel.gather()
    first = panel.model.rows[0].time
    panel.show_lines((LogLine(time=first + 0.001, level="info", source="llm", text="in the middle"),))
    shown(panel, call_with(started=first - 1))
    times = [row.time for row in panel.model.rows]
    assert times == sorted(times)
    assert panel.model.rows[0].of == call_with(started=first - 1)
    assert "in the middle" in [row.whole for row in panel.model.rows[1:-1]]
    panel.choice.setCurrentText("LLM calls")
    assert [row.source for row in panel.model.rows] == ["call"]
    panel.choice.setCurrentText("This step")
    assert "program" not in {row.source for row in panel.model.rows}


def test_why_there_is_no_page_log_is_told_beside_the_calls(panel: LogPanel):
    panel.wait(1, 5)
    panel.gather()
    panel.show_log(LOG.replace(run=1, step=5, parts=(), message="The run was imported without a page log."))
    panel.gather()
    assert any("imported without a page log" in text for text in shown(panel, CALL))


def test_another_step_scrolls_to_its_lines_and_the_same_stays(panel: LogPanel, qtbot: QtBot):
    panel.show_lines(samples.log_lines(200))
    panel.wait(1, 1)
    shown(panel, call_with(started=1.0))
    panel.list.verticalScrollBar().setValue(60)
    shown(panel, call_with(started=1.0), call_with(started=2.0, number=4))
    assert panel.list.verticalScrollBar().value() == 60
    panel.wait(2, 1)
    panel.show_log(LOG.replace(run=2, step=1))
    panel.gather()
    top = panel.list.indexAt(panel.list.viewport().rect().topLeft())
    assert panel.model.rows[top.row()].source != "program"


def test_selected_lines_stay_selected_while_the_step_goes_on(panel: LogPanel):
    panel.show_lines(samples.log_lines(20))
    panel.list.setCurrentIndex(panel.model.index(5))
    before = panel.model.rows[5]
    shown(panel, call_with(started=1.0))
    (selected,) = panel.list.selectionModel().selectedIndexes()
    assert panel.model.row(selected) == before


def test_enter_shows_the_prompt_of_a_call(panel: LogPanel, qtbot: QtBot):
    shown(panel, CALL)
    panel.list.setCurrentIndex(panel.model.index(0))
    with qtbot.waitSignal(panel.call_wanted) as emitted:
        qtbot.keyClick(panel.list, Qt.Key.Key_Return)
    assert emitted.args == [CALL.record.number]


def test_a_call_offers_its_prompt_reply_and_command_to_copy(panel: LogPanel):
    shown(panel, CALL)
    entries = [entry.text for entry in panel.list.findChild(RowMenu).all_entries(panel.model.index(0))]
    assert {"Show its prompt", "Copy the prompt", "Copy the reply"} <= set(entries)
    assert any(entry.startswith("Copy as cURL") for entry in entries)
