"""Bisect's window and the pages of the library: opened, asked, remembered, and led back to the main window."""

from types import SimpleNamespace

import pytest
from pytestqt.qtbot import QtBot

from core.debugger.experiments.bisect import BisectRequest
from core.debugger.experiments.worth_records import Subject
from core.schema.signal import Signal
from gui.exemplars.library.library_window import LibraryWindow
from gui.experiments.controller import ExperimentsController, install
from gui.shell.main_window import MainWindow
from tests.gui.experiments import test_bisect as bisecting
from tests.gui.experiments import test_worth_pages as worth_pages


class AskedService:
    """A service that only remembers what it was asked."""

    def __init__(self) -> None:
        self.changed: Signal[object] = Signal()
        self.asked: list[tuple[object, ...]] = []

    def __getattr__(self, name: str):
        return lambda *values: self.asked.append((name, *values))


@pytest.fixture
def services():
    return SimpleNamespace(bisect=AskedService(), worth=AskedService())


@pytest.fixture
def controller(window: MainWindow, services) -> ExperimentsController:
    return install(window, services)


@pytest.fixture
def library(window: MainWindow, controller: ExperimentsController) -> LibraryWindow:
    shown = LibraryWindow(window.theme, window.remembered, window.history, window)
    window.library_made.emit(shown)
    return shown


def test_bisect_is_opened_on_a_run_and_remembers_what_was_asked(window, services, controller, qtbot: QtBot):
    window.runs.bisect_requested.emit(12)
    services.bisect.changed.send(bisecting.EMPTY)
    page = controller.bisect_window.page
    assert controller.bisect_window.isVisible()
    qtbot.waitUntil(page.start_button.isEnabled)
    assert "click-test-2" in controller.bisect_window.windowTitle()
    page.form.times.setValue(7)
    page.start_button.click()
    assert services.bisect.asked == [("open", 12), ("bisect", BisectRequest(run=12, times=7))]
    again = install(window, services)
    again.open_bisect(12)
    assert again.bisect_window.page.form.times.value() == 7


def test_a_branch_of_a_bisection_opens_in_the_main_window(controller, session):
    controller.open_bisect(12)
    controller.bisect_window.page.run_opened.emit(31, 3)
    assert session.asked[-2:] == [("open_run", 31), ("show_step", 31, 3)]


def test_a_view_of_another_run_is_not_shown(controller, services, qtbot: QtBot):
    controller.open_bisect(12)
    services.bisect.changed.send(bisecting.VIEW.replace(run=11, problem="Gone."))
    services.worth.changed.send(worth_pages.VIEW)
    qtbot.wait(60)
    assert controller.bisect_window.page.view.run == 12


def test_the_library_gets_three_pages_with_what_is_known_of_all(library, services):
    titles = [library.tabs.tabText(at) for at in range(library.tabs.count())]
    assert titles == ["Library", "Worth", "Replay", "Credit"]
    assert services.worth.asked == [("open", None)]


def test_what_is_chosen_in_the_library_is_measured_and_replayed(window, controller, library, services):
    window.worth_requested.emit("a/1")
    assert library.tabs.currentWidget() is controller.worth
    assert services.worth.asked[-1] == ("open", Subject(name="a/1"))
    window.replay_requested.emit(("a/1", "b/1"))
    assert library.tabs.currentWidget() is controller.replay
    assert services.worth.asked[-1] == ("replay", ("a/1", "b/1"))


def test_all_pages_show_what_comes_and_the_choices_of_the_last_time(
    window, session, controller, library, services, qtbot: QtBot
):
    session.catalogue_changed.send(worth_pages.CATALOGUE)
    services.worth.changed.send(worth_pages.VIEW)
    qtbot.waitUntil(controller.worth.start_button.isEnabled)
    assert controller.replay.table.lines
    assert controller.attribution.table.lines
    controller.worth.form.seeds.setText("0-2, 9")
    controller.worth.start_button.click()
    assert services.worth.asked[-1][0] == "measure"
    again = install(window, services)
    again._add_pages(library)
    session.catalogue_changed.send(worth_pages.CATALOGUE)
    qtbot.waitUntil(lambda: again.worth.form.seeds.text() == "0-2, 9")


def test_runs_and_exemplars_of_the_pages_are_opened_elsewhere(
    window, session, controller, library, qtbot: QtBot
):
    controller.worth.run_opened.emit(31, 1)
    assert ("show_step", 31, 1) in session.asked
    with qtbot.waitSignal(window.compare_requested) as compared:
        controller.worth.compare_requested.emit(31, 32)
    assert compared.args == [31, 32]
    with qtbot.waitSignal(window.exemplar_requested) as asked:
        controller.replay.exemplar_opened.emit("a/1")
    assert asked.args == ["a/1"]
