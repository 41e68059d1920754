import pytest
from pytestqt.qtbot import QtBot

from core.debugger.exemplars.analyses.views import BenchView, DuplicatesView, LeaveOneOutView, MapView
from core.schema.exemplar import RecallSettings
from gui.exemplars.analyses.controller import AnalysesController
from gui.widgets.remembered import Remembered
from tests.gui.exemplars.analyses.test_duplicates_page import VIEW
from tests.gui.exemplars.stand_ins import asked_services


@pytest.fixture
def services():
    return asked_services()


def asked(services) -> list[tuple]:
    names = ("duplicates", "map", "bench", "leave_one_out")
    return [one for name in names for one in getattr(services, name).asked]


def test_pages_show_what_the_services_send(window, services, qtbot: QtBot):
    controller = AnalysesController(window, services)
    assert [name for name, _ in controller.pages] == ["Duplicates", "Map", "Retrieval", "Leave one out"]
    for _, page in controller.pages:
        qtbot.addWidget(page)
    services.duplicates.changed.send(VIEW)
    services.map.changed.send(MapView(problem="No."))
    services.leave_one_out.changed.send(LeaveOneOutView())
    services.bench.changed.send(BenchView(members=0))
    qtbot.waitUntil(lambda: controller.duplicates.chosen is not None)
    assert ("announce",) in asked(services)
    qtbot.waitUntil(lambda: ("open_pair", "a", "b") in asked(services))
    with qtbot.waitSignal(controller.exemplar_opened) as opened:
        controller.duplicates.open_left.click()
    assert opened.args == ["a"]


def test_what_was_chosen_is_there_again_next_time(window, services):
    controller = AnalysesController(window, services)
    controller.duplicates.within.setValue(0.35)
    controller.duplicates.find_button.click()
    controller.leave_one_out.votes.setValue(5)
    controller.leave_one_out.begin_button.click()
    controller.bench.show_task("Log in.", "[1] button")
    controller.bench.form.settings.show_settings(RecallSettings(votes=9))
    controller.bench.look_up_button.click()
    assert ("find", 0.35, False) in asked(services)
    services = asked_services()
    again = AnalysesController(window, services)
    assert again.duplicates.within.value() == 0.35
    assert again.leave_one_out.votes.value() == 5
    assert again.bench.form.settings.settings.votes == 9
    again.bench.form.last.activated.emit(1)
    [query] = [one for one in asked(services) if one[0] == "look_up"]
    assert (query[1].task, query[1].observation) == ("Log in.", "[1] button")


def test_damaged_settings_are_as_if_nothing_was_remembered(settings):
    settings.setValue("duplicates/within", "far")
    settings.setValue("leaving/votes", "many")
    settings.setValue("bench/last", ["no json"])
    kept = Remembered(settings)
    assert kept.duplicates_within == DuplicatesView().within
    assert (kept.leaving_votes, kept.bench_queries) == (LeaveOneOutView().votes, ())
