from PySide6.QtCore import QSettings
from pytestqt.qtbot import QtBot

from core.debugger.exemplars.analyses.views import BenchView, DuplicatesView, LeavingView, MapView
from core.schema.recall import RecallSettings
from core.schema.signal import Signal
from gui.exemplars.analyses.controller import AnalysisController
from gui.widgets.remembered import Remembered
from tests.gui.exemplars.analyses.test_duplicates_page import VIEW


class Desk:
    """Keeps what it was asked for."""

    def __init__(self, asked):
        self.changed = Signal()
        self._asked = asked

    def __getattr__(self, name):
        return lambda *args, **more: self._asked.append((name, *args, *more.values()))


class Desks:
    def __init__(self):
        self.asked = []
        self.duplicates, self.map, self.bench, self.leaving = (Desk(self.asked) for _ in range(4))


def controller_of(theme, settings: QSettings, window) -> tuple[AnalysisController, Desks]:
    desks = Desks()
    return AnalysisController(desks, theme, Remembered(settings), window), desks


def test_pages_are_made_when_they_are_asked_for_and_show_what_core_tells(
    theme, settings, qtbot: QtBot, window
):
    controller, desks = controller_of(theme, settings, window)
    assert desks.asked == []
    assert [name for name, _ in controller.pages] == ["Duplicates", "Map", "Retrieval", "Leave one out"]
    for _, page in controller.pages:
        qtbot.addWidget(page)
    desks.duplicates.changed.send(VIEW)
    desks.map.changed.send(MapView(problem="No."))
    desks.leaving.changed.send(LeavingView())
    desks.bench.changed.send(BenchView(members=0))
    qtbot.waitUntil(lambda: controller.duplicates.chosen is not None)
    assert ("announce",) in desks.asked
    qtbot.waitUntil(lambda: ("open_pair", "a", "b") in desks.asked)
    with qtbot.waitSignal(controller.exemplar_opened) as opened:
        controller.duplicates.open_left.click()
    assert opened.args == ["a"]


def test_the_current_task_goes_to_map_and_bench(theme, settings, qtbot: QtBot, window):
    controller, desks = controller_of(theme, settings, window)
    controller.show_task("Log in.", "[1] button")
    assert ("show_task", "Log in.", "[1] button") in desks.asked
    assert controller.bench.form.query.observation == "[1] button"


def test_what_was_chosen_is_there_again_next_time(theme, settings, qtbot: QtBot, window):
    controller, desks = controller_of(theme, settings, window)
    assert controller.pages
    controller.duplicates.within.setValue(0.35)
    controller.duplicates.find_button.click()
    controller.leaving.votes.setValue(5)
    controller.leaving.begin_button.click()
    controller.bench.show_task("Log in.", "[1] button")
    controller.bench.form.settings.show_settings(RecallSettings(votes=9))
    controller.bench.look_up_button.click()
    assert ("find", 0.35, False) in desks.asked
    again, desks = controller_of(theme, settings, window)
    assert again.pages
    assert again.duplicates.within.value() == 0.35
    assert again.leaving.votes.value() == 5
    assert again.bench.form.settings.settings.votes == 9
    again.bench.form.last.activated.emit(1)
    [asked] = [one for one in desks.asked if one[0] == "look_up"]
    assert (asked[1].task, asked[1].observation) == ("Log in.", "[1] button")


def test_damaged_settings_are_as_if_nothing_was_remembered(settings):
    settings.setValue("duplicates/within", "far")
    settings.setValue("leaving/votes", "many")
    settings.setValue("bench/last", ["no json"])
    kept = Remembered(settings)
    assert kept.duplicates_within == DuplicatesView().within
    assert (kept.leaving_votes, kept.bench_queries) == (LeavingView().votes, ())
