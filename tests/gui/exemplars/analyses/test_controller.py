import pytest
from pytestqt.qtbot import QtBot

from core.debugger.exemplars.analyses.views import Bench, BenchQuery
from core.schema.exemplar import RecallSettings
from gui.exemplars.analyses.controller import AnalysesController
from gui.exemplars.analyses.page import View
from gui.widgets.remembered import Remembered
from tests.gui import samples
from tests.gui.exemplars.analyses.test_duplicates import VIEW
from tests.gui.exemplars.stand_ins import asked_services


@pytest.fixture
def services():
    return asked_services()


def asked(services) -> list[tuple]:
    return [one for name in ("duplicates", "retrieval") for one in getattr(services, name).asked]


@pytest.fixture
def controller(window, services, qtbot: QtBot):
    controller = AnalysesController(window, services)
    for page in (controller.retrieval, controller.duplicates):
        qtbot.addWidget(page)
    return controller


def test_pages_show_what_the_services_send(controller, services, qtbot: QtBot):
    duplicates = controller.duplicates
    services.duplicates.changed.send(VIEW)
    services.retrieval.changed.send(View(result=Bench(members=0)))
    services.retrieval.taken.send(BenchQuery(task="Buy it.", source="run 3, step 2"))
    qtbot.waitUntil(lambda: duplicates.chosen is not None)
    qtbot.waitUntil(lambda: controller.retrieval.form.query.source == "run 3, step 2")
    assert ("announce",) in asked(services)
    assert ("open_pair", "a", "b") in asked(services)
    with qtbot.waitSignal(controller.exemplar_opened) as opened:
        duplicates.commands.by_id["open_left"].action.trigger()
    assert opened.args == ["a"]


def test_the_step_in_view_is_offered_to_be_taken(window, controller):
    window.step_shown.emit(samples.STEP.replace(run=18, number=5))
    form = controller.retrieval.form
    assert (form.run.value(), form.step.value()) == (18, 5)


def test_what_was_chosen_is_there_again_next_time(window, controller, services):
    duplicates, retrieval = controller.duplicates, controller.retrieval
    duplicates.within.setValue(0.35)
    duplicates.commands.by_id["find"].action.trigger()
    retrieval.map_button.click()
    retrieval.show_task("Log in.", "[1] button")
    retrieval.form.settings.show_settings(RecallSettings(votes=9))
    retrieval.look_up_button.click()
    assert ("find", 0.35, False) in asked(services)
    services = asked_services()
    again = AnalysesController(window, services)
    assert again.duplicates.within.value() == 0.35
    assert not again.retrieval.map_button.isChecked()
    assert again.retrieval.form.settings.settings.votes == 9
    again.retrieval.form.last.activated.emit(1)
    [query] = [one for one in asked(services) if one[0] == "look_up"]
    assert (query[1].task, query[1].observation, query[2]) == ("Log in.", "[1] button", False)


def test_the_map_is_drawn_when_it_is_unfolded(controller, services):
    controller.retrieval.map_button.click()
    assert ("draw",) not in asked(services)
    controller.retrieval.map_button.click()
    assert ("draw",) in asked(services)


def test_damaged_settings_are_as_if_nothing_was_remembered(settings):
    settings.setValue("duplicates/within", "far")
    settings.setValue("bench/last", ["no json"])
    kept = Remembered(settings)
    assert kept.duplicates_within == 0.15
    assert kept.bench_queries == ()
