"""The list of background work, its place in the status bar, and what the desktop is told."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.debugger.background_work.views import BackgroundWorkView, WorkRow
from core.debugger.jobs import Job
from gui.background_work.controller import BackgroundWorkController, install
from gui.shell.main_window import MainWindow
from tests.gui import samples
from tests.gui.stand_ins import AskedService

CHECK = WorkRow(number=1, job=Job(title="Checking exemplars", done=40, of=200, opens="library"))
FIX = WorkRow(number=2, job=Job(title="Proof for run 7", opens="fix", run=7))
FAILED = CHECK.replace(state="failed", words="exemplars.db cannot be read.")


@pytest.fixture
def service() -> AskedService:
    return AskedService()


@pytest.fixture
def controller(window: MainWindow, service: AskedService) -> BackgroundWorkController:
    return install(window, service)


@pytest.fixture
def notified(controller: BackgroundWorkController, monkeypatch) -> list[tuple[str, str]]:
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(controller.notifier, "notify", lambda *words: told.append(words))
    return told


def send(qtbot: QtBot, controller, service, *rows: WorkRow) -> None:
    service.changed.send(BackgroundWorkView(rows=rows))
    qtbot.waitUntil(lambda: controller._view.rows == rows)


def test_the_status_bar_counts_what_goes_on_and_jobs_are_ended_and_shown_from_the_list(
    controller, window, service, qtbot
):
    controller.open()
    assert "Ctrl+Shift+V" in controller.shown.or_words.words.text()
    assert not controller.button.isVisible()
    send(qtbot, controller, service, FIX, CHECK)
    assert controller.button.text() == "2 jobs, 20 %"
    controller.button.click()
    lines = controller.shown.table.lines_model.lines
    assert [line.cells[:3] for line in lines] == [
        ("Proof for run 7", "", "under way"),
        ("Checking exemplars", "40 of 200 (20 %)", "under way"),
    ]
    send(qtbot, controller, service, FAILED)
    assert not controller.button.isVisible()
    assert controller.shown.table.lines_model.lines[0].cells[3] == "exemplars.db cannot be read."
    send(qtbot, controller, service, FIX, FAILED)
    key = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(window, Qt.Key.Key_U, key)
    shown = controller.shown
    shown.table.clearSelection()
    shown.table.selectRow(0)
    shown.cancel_button.click()
    assert service.asked[-1] == ("end", 2)
    with qtbot.waitSignal(window.runs.fix_requested) as asked:
        shown.show_button.click()
    assert asked.args == [7, 0]
    shown.table.selectRow(1)
    assert not shown.cancel_button.isEnabled()
    shown.forget_button.click()
    assert service.asked[-1] == ("forget_ended",)


def test_the_end_of_a_job_is_told_while_no_window_is_in_front(
    controller, service, notified, qtbot, monkeypatch
):
    send(qtbot, controller, service, CHECK)
    send(qtbot, controller, service, FAILED)
    assert notified == []
    monkeypatch.setattr(QApplication, "activeWindow", lambda: None)
    send(qtbot, controller, service, CHECK)
    send(qtbot, controller, service, FAILED)
    assert notified == [("Checking exemplars failed", "exemplars.db cannot be read.")]


def test_a_breakpoint_is_told_and_a_short_run_is_not(
    controller, session, window, notified, qtbot, monkeypatch
):
    monkeypatch.setattr(QApplication, "activeWindow", lambda: None)
    views = [samples.SESSION.replace(mode="running"), samples.SESSION.replace(mode="ended", message="Over.")]
    views.append(samples.SESSION.replace(stopped_at="State item is entered (breakpoint 1)."))
    for view in views:
        session.session_changed.send(view)
        qtbot.waitUntil(lambda view=view: controller._session == view)
    assert notified == [("The run has stopped", "State item is entered (breakpoint 1).")]
    window.actions_by_name["notify"].trigger()
    assert not window.remembered.notifies
    session.session_changed.send(samples.SESSION)
    session.session_changed.send(views[-1].replace(stopped_at="Again."))
    qtbot.waitUntil(lambda: controller._session.stopped_at == "Again.")
    assert len(notified) == 1
