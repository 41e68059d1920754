"""The dialogs of a bisection and of what an exemplar is worth: what they ask, and what they remember."""

import pytest
from PySide6.QtTest import QSignalSpy

from core.debugger.catalogue import PresetOption
from core.debugger.evaluations.records import BisectRequest, Subject, WorthRequest
from core.debugger.evaluations.views import BisectChoices, RequestPreview
from gui.evaluations.controller import EvaluationsController, install
from tests.gui import samples as window_samples
from tests.gui.evaluations import samples
from tests.gui.stand_ins import AskedService

RUN = window_samples.run_row(12, task="shop/buy", seed=3, preset="step", llm="test")
CHOICES = BisectChoices(row=RUN, steps=(1, 2, 3, 4))
SYNAPSE = PresetOption(name="synapse", title="synapse", recalls=True)


@pytest.fixture
def service():
    return AskedService("previewed", "opened", "bisect_read")


@pytest.fixture
def controller(window, service, session) -> EvaluationsController:
    controller = install(window, service)
    catalogue = window_samples.CATALOGUE
    session.catalogue_changed.send(catalogue.replace(presets=(*catalogue.presets, SYNAPSE)))
    return controller


def bisect(controller, service, window, qtbot):
    window.runs.bisect_requested.emit(12)
    assert service.asked[-1] == ("read_bisect", 12)
    service.bisect_read.send(CHOICES)
    qtbot.waitUntil(lambda: controller.asking is not None)
    return controller.asking


def test_a_bisection_is_asked_previewed_begun_and_shown_among_the_evaluations(
    controller, service, window, qtbot
):
    dialog = bisect(controller, service, window, qtbot)
    assert dialog.windowTitle() == "Bisect run 12: shop/buy, seed 3"
    dialog.steps.setText("2, 4")
    dialog.times.setValue(5)
    dialog.calls.setValue(40)
    request = BisectRequest(run=12, steps=(2, 4), times=5, max_calls=40)
    qtbot.waitUntil(lambda: ("preview", request) in service.asked)
    assert not dialog.begin_button.isEnabled()
    service.previewed.send(RequestPreview(request=request, tasks=("shop/buy",), variants=2, runs=10))
    qtbot.waitUntil(dialog.begin_button.isEnabled)
    dialog.begin_button.click()
    assert ("begin", request) in service.asked
    assert controller.shown.isVisible()
    # The next one begins with the same choices, but for its steps.
    assert window.remembered.bisect == request
    again = bisect(controller, service, window, qtbot)
    qtbot.waitUntil(lambda: controller.asking is not dialog)
    assert controller.asking.request == request.replace(steps=())
    assert again is not None


def test_steps_are_written_as_numbers_ranges_or_every_so_many(controller, service, window, qtbot):
    dialog = bisect(controller, service, window, qtbot)
    for text, fields, problem in (
        ("", {}, ""),
        ("every 2", {"every": 2}, ""),
        ("1, 3-4", {"steps": (1, 3, 4)}, ""),
        ("3-", {}, "is not a step"),
        (" every 2", {"every": 2}, ""),
        ("every x", {}, "is not a step"),
        ("every", {}, "one number"),
        ("every 2, 3", {}, "one number"),
    ):
        dialog.steps.setText(text)
        request = BisectRequest.model_validate({"run": 12, **fields})
        assert dialog.request == request
        service.previewed.send(RequestPreview(request=request, tasks=("t",), variants=1, runs=3))
        if problem:
            qtbot.waitUntil(lambda problem=problem: problem in dialog.total.text())
            assert not dialog.begin_button.isEnabled()
        else:
            qtbot.waitUntil(dialog.begin_button.isEnabled)


def test_a_run_without_steps_says_so_and_cannot_be_begun(controller, service, window, qtbot):
    service.bisect_read.send(CHOICES.replace(steps=()))
    qtbot.waitUntil(lambda: controller.asking is not None)
    qtbot.waitUntil(lambda: controller.asking.total.text() == "The run has no steps to go back to.")
    assert not controller.asking.begin_button.isEnabled()


def test_what_an_exemplar_is_worth_is_asked_with_the_presets_that_recall_it(
    controller, service, window, qtbot
):
    window.worth_requested.emit(Subject(name="a/1"))
    dialog = controller.asking
    offered = [dialog.preset.itemData(at) for at in range(dialog.preset.count())]
    assert "synapse" in offered
    assert all(one.recalls for one in controller._catalogue.presets if one.name in offered)
    dialog.tasks.setText("miniwob/click-*, miniwob/enter-text")
    dialog.seeds.setText("0-9")
    dialog.gate.setCurrentIndex(dialog.gate.findData("allow"))
    request = WorthRequest(
        subject=Subject(name="a/1"),
        tasks=("miniwob/click-*", "miniwob/enter-text"),
        seeds="0-9",
        preset="synapse",
        on_gate="allow",
    )
    assert dialog.request == request
    service.previewed.send(RequestPreview(request=request, tasks=("t",), variants=2, runs=20))
    qtbot.waitUntil(dialog.begin_button.isEnabled)
    dialog.begin_button.click()
    assert ("begin", request) in service.asked
    assert window.remembered.worth == request


def test_a_family_or_a_change_is_measured_as_well(controller, window, qtbot):
    window.worth_requested.emit(None)
    dialog = controller.asking
    qtbot.waitUntil(lambda: "Enter an exemplar" in dialog.total.text())
    dialog.subject.setText("click-link")
    dialog.kind.setCurrentIndex(dialog.kind.findData("family"))
    assert dialog.request.subject == Subject(kind="family", name="click-link")
    dialog.kind.setCurrentIndex(dialog.kind.findData("change"))
    dialog.before.setValue(3)
    dialog.after.setValue(3)
    assert dialog.problem == "A change needs two different versions."
    dialog.after.setValue(4)
    assert dialog.request.subject == Subject(kind="change", name="click-link", before=3, after=4)


def test_a_bisection_shows_a_row_for_each_step(window, controller, service, qtbot):
    window.actions_by_name["evaluations"].trigger()
    service.changed.send(samples.BISECTED)
    cells = controller.shown.matrix.cells
    qtbot.waitUntil(lambda: cells.rowCount() == 4)
    assert cells.headerData(0, controller.shown.matrix.horizontalHeader().orientation()) == "Step"
    names = [cells.index(row, 0).data() for row in range(4)]
    assert "from step 2: type [4] [green lamp 40]" in names
    spy = QSignalSpy(controller.shown.run_wanted)
    controller.shown.matrix.setCurrentIndex(cells.index(names.index("from step 5: click [12]"), 1))
    controller.shown.matrix.opened.emit()
    assert spy.count() == 1
