"""Where it comes from: asked from every panel, shown in its window, and followed to its places."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.debugger.provenance.views import Lead, WhyQuestion
from gui.provenance.controller import ProvenanceController
from gui.shell.main_window import MainWindow
from gui.widgets.provenance_menu import WhyMenu, selected_in
from tests.gui import samples
from tests.gui.reading_samples import WHY
from tests.gui.stand_ins import AskedService, AskedSession, choose_entry


@pytest.fixture
def service() -> AskedService:
    return AskedService()


@pytest.fixture
def controller(
    window: MainWindow, service: AskedService, session: AskedSession, qtbot: QtBot
) -> ProvenanceController:
    controller = ProvenanceController(window, service)
    session.session_changed.send(samples.SESSION)
    session.live_page_changed.send(samples.LIVE)
    session.step_changed.send(samples.STEP)
    qtbot.waitUntil(lambda: window.step_in_view is not None)
    return controller


def test_a_key_asks_about_the_step_in_view(window, controller, service, qtbot):
    window.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_I, Qt.KeyboardModifier.ControlModifier)
    assert ("explain", WhyQuestion(run=18, step=5)) in service.asked
    assert controller.shown.isVisible()


def test_a_key_asks_about_what_is_selected(window, controller, service, qtbot):
    window.action.thought.selectAll()
    window.action.thought.setFocus()
    qtbot.keyClick(window.action.thought, Qt.Key.Key_I, Qt.KeyboardModifier.ControlModifier)
    (question,) = [one[1] for one in service.asked if one[0] == "explain"]
    assert question.text == samples.ACTION.thought


def test_keys_menus_and_rows_ask_where_it_comes_from(window, controller, service, session, qtbot):
    menu: WhyMenu = window.action.why
    shown = menu.menu_of(window.action.thought)
    shown.actions()[-1].trigger()
    assert service.asked[-1] == ("explain", WhyQuestion(run=18, step=5, text=samples.ACTION.thought))
    line = window.action.form.line
    line.setSelection(0, 5)
    assert selected_in(line) == "click"
    menu.menu_of(line).actions()[-1].trigger()
    assert service.asked[-1][1].text == "click"
    service.asked.clear()
    session.runs_changed.send(samples.RUNS)
    qtbot.waitUntil(lambda: bool(window.runs.model.steps_of(18)))
    index = window.runs.model.step_index(18, 2)
    choose_entry(window.runs, index, "Where its action")
    assert service.asked[-1] == ("explain", WhyQuestion(run=18, step=2))
    service.asked.clear()
    service.changed.send(WHY)
    window.why_requested.emit(18, 5, WHY.text)
    assert service.asked == [("explain", WhyQuestion(run=18, step=5, text=WHY.text))]
    service.changed.send(WHY)
    qtbot.waitUntil(lambda: controller.shown.verdict.text() == WHY.verdict)


def test_a_place_in_prompt_exemplar_or_another_step_is_opened(window, controller, qtbot):
    window.prompt._on_fold_all()
    controller.leads.follow(WHY.places[0])
    assert window.place("Prompt").is_seen
    cursor = window.prompt.text.textCursor()
    assert window.prompt.text.found_index >= 0
    assert 'button "' in cursor.block().text()
    controller.leads.follow(WHY.places[2])
    assert window.exemplars.reading
    assert window.exemplars.reader.exemplar == "shop-lamp-01"


def test_an_element_is_marked_in_the_page_until_another_step_is_shown_and_framed_in_the_picture_of_that(
    window, controller, session, qtbot
):
    controller.leads.follow(WHY.places[1])
    overlay = window.page.overlay
    assert overlay.framed() is not None
    assert window.page.card.line.text().startswith("[6] button")
    assert window.place("Observation").is_seen
    session.step_changed.send(samples.recorded_step())
    qtbot.waitUntil(lambda: window.page.covered)
    assert overlay.framed() is None
    session.step_changed.send(samples.recorded_step())
    qtbot.waitUntil(lambda: window.page.covered)
    element = samples.ELEMENTS[4]
    step = window.step_in_view
    shown = step.replace(action=step.action.replace(elements=samples.ELEMENTS))
    window._show_step(shown)
    place = WHY.places[1].replace(lead=Lead(run=18, step=3, ref=element.ref))
    controller.leads.follow(place)
    assert window.page.cover.picture.found() is not None
    controller.leads.clear()
    assert window.page.cover.picture.found() is None


def test_a_place_of_another_step_shows_that_step_first(window, controller, session, qtbot):
    place = WHY.places[0].replace(lead=Lead(run=18, step=3, call=3, part="3.1"))
    controller.leads.follow(place)
    assert session.asked[-1] == ("show_step", 18, 3)
    assert not window.place("Prompt").is_seen
    session.step_changed.send(samples.recorded_step())
    qtbot.waitUntil(lambda: window.place("Prompt").is_seen)
