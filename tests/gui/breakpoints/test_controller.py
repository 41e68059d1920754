import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QSignalSpy
from pytestqt.qtbot import QtBot

from core.debugger.breakpoints.kinds.actions import (
    ActionChosen,
    PolicyPopped,
    PolicyPushed,
    StateEntered,
    StateLeft,
)
from core.debugger.breakpoints.kinds.problems import LLMCall, NotAligned
from core.debugger.breakpoints.views import Watch
from gui.breakpoints.controller import BreakpointsController
from gui.shell.main_window import MainWindow
from tests.gui import samples
from tests.gui.stand_ins import AskedService

NONE = Qt.KeyboardModifier.NoModifier
CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def service() -> AskedService:
    return AskedService("answered", "made")


@pytest.fixture(autouse=True)
def controller(window: MainWindow, service: AskedService) -> BreakpointsController:
    controller = BreakpointsController(window, service)
    assert service.asked == [("announce",)]
    service.asked.clear()
    return controller


def show(qtbot: QtBot, window: MainWindow, service: AskedService) -> None:
    service.changed.send(samples.BREAKS)
    qtbot.waitUntil(lambda: len(window.breakpoints.breakpoints.rows) == 5)


def test_breakpoints_are_listed_edited_and_gone_back_to_by_keys(
    window, service, qtbot: QtBot, session, controller
):
    show(qtbot, window, service)
    assert window.place("Breakpoints").fact == "4 of 5 on"
    service.asked.clear()
    show(qtbot, window, service)
    session.session_changed.send(samples.SESSION)
    session.step_changed.send(samples.STEP)
    qtbot.waitUntil(window.actions_by_name["back_to_hit"].isEnabled)
    qtbot.keyClick(window, Qt.Key.Key_F5, CTRL)
    qtbot.keyClick(window, Qt.Key.Key_F5, CTRL | SHIFT)
    assert service.asked == [("back_to_hit", 18, 5), ("back_to_change", 1, 18, 5)]
    service.asked.clear()
    show(qtbot, window, service)
    window.breakpoints.breakpoints.select_key(3)
    window.breakpoints.edit_action.trigger()
    controller.editor.send()
    assert service.asked == [("replace", NotAligned(number=3, then="log", ignore=2))]


def test_a_new_breakpoint_is_made_in_the_dialog_and_no_answer_reaches_another(
    window, controller, service, qtbot: QtBot
):
    qtbot.keyClick(window, Qt.Key.Key_B, CTRL | SHIFT)
    editor = controller.editor
    editor.fields["state"].widget.setText("item")
    editor.send()
    assert service.asked == [("add", StateEntered(state="item"))]
    service.answer("The database is locked; close the other program.")
    qtbot.waitUntil(editor._problem.isVisible)
    editor.send()
    service.answer("")
    qtbot.waitUntil(lambda: controller.editor is None)
    controller.add()
    controller.editor.send()
    controller.editor.reject()
    assert controller.editor is None
    controller.add()
    service.answer("")
    qtbot.waitUntil(lambda: not controller.waiting)
    assert controller.editor.isVisible()
    controller.editor.reject()


def test_each_answer_reaches_whoever_asked_and_leaves_what_is_being_typed(
    window, controller, service, qtbot: QtBot
):
    show(qtbot, window, service)
    window.breakpoints.field.text.setText("step.num")
    window.breakpoints.watches.toggled.emit(1, True)
    assert service.asked == [("replace_watch", Watch(number=1, text="run.cost", on_change=True))]
    service.answer("")
    qtbot.waitUntil(lambda: not controller.waiting)
    assert window.breakpoints.field.text.text() == "step.num"
    service.asked.clear()
    show(qtbot, window, service)
    window.breakpoints.breakpoint_removed.emit(2)
    window.breakpoints.field.text.setText("run.cots")
    window.breakpoints.field.send()
    assert service.asked == [("remove", 2), ("add_watch", Watch(text="run.cots"))]
    service.answer("run has no “cots”.", at=1)
    service.answer("There is no breakpoint 2.")
    qtbot.waitUntil(lambda: window.breakpoints.field.problem.isVisible())
    assert "cots" in window.breakpoints.field.problem.text()
    assert window.page.messages.text.text() == "There is no breakpoint 2."


def test_what_another_panel_wants_is_added_and_a_key_leads_to_the_watches(window, service, qtbot: QtBot):
    window.place("Breakpoints").put_away()
    window.state.breakpoint_wanted.emit(StateEntered(state="item"))
    assert service.asked == [("add", StateEntered(state="item"))]
    assert window.place("Breakpoints").isVisible()
    window.place("Breakpoints").put_away()
    qtbot.keyClick(window, Qt.Key.Key_W, CTRL | SHIFT)
    assert window.place("Breakpoints").isVisible()
    assert window.focusWidget() is window.breakpoints.field.text


def offered(panel, entries):
    """Take every entry that stops somewhere in turn, and return what was wanted."""
    spy = QSignalSpy(panel.breakpoint_wanted)
    for entry in entries:
        if entry.text.startswith("Stop"):
            entry.do()
    return [spy.at(at)[0] for at in range(spy.count())]


def test_states_policies_actions_and_calls_offer_to_stop_there_and_headings_do_not(
    window, session, qtbot: QtBot
):
    session.session_changed.send(samples.SESSION)
    session.step_changed.send(samples.STEP)
    qtbot.waitUntil(lambda: window.step_in_view is not None)
    assert offered(window.state, window.state.entries("item")) == [
        StateEntered(state="item"),
        StateLeft(state="item"),
    ]
    frames = window.stack.frames.rows_model
    assert offered(window.stack, window.stack.entries(frames.index(1))) == [
        PolicyPushed(policy="shop_agent"),
        PolicyPopped(policy="shop_agent"),
    ]
    permissible = window.permissible.model
    buy = next(
        permissible.index(row)
        for row in range(permissible.rowCount())
        if getattr(permissible.row(permissible.index(row)), "ref", None) == 6
    )
    assert offered(window.permissible, window.permissible.entries(buy)) == [
        ActionChosen(action="click", target="Buy now"),
        ActionChosen(action="click"),
    ]
    assert offered(window.log, window.log.entries(window.log.model.index(0, 0))) == [
        LLMCall(purpose="decide"),
        LLMCall(purpose="decide", when="after"),
    ]
    session.step_changed.send(samples.STEP)
    qtbot.waitUntil(lambda: window.step_in_view is not None)
    assert window.permissible.entries(window.permissible.model.index(0)) == ()
    window.stack.frames.pressed_on.emit(("frame", 4))
    assert window.stack.entries(window.stack.frames.rows_model.index(1)) == ()


def test_the_state_under_the_pointer_is_known_and_the_dialog_offers_the_names_of_the_step(
    window, session, qtbot: QtBot, controller
):
    session.step_changed.send(samples.STEP.replace(state=samples.SPACE))
    diagram = window.state.diagram
    qtbot.waitUntil(lambda: diagram.drawing is not None and "item" in diagram.drawing.layout.boxes)
    box = diagram.drawing.layout.boxes["item"]
    place = diagram.mapFromScene(box.x, box.y)
    assert diagram.state_at(place) == "item"
    assert diagram.state_at(diagram.mapFromScene(-5, -5)) == ""
    session.step_changed.send(samples.STEP.replace(state=samples.SPACE))
    qtbot.waitUntil(lambda: window.step_in_view is not None)
    controller.add()
    completer = controller.editor.fields["state"].widget.completer()
    model = completer.model()
    assert {"item", "search", "bought"} <= {model.index(row, 0).data() for row in range(model.rowCount())}
    controller.editor.reject()


def test_a_window_that_was_closed_gets_nothing_more(window, service, qtbot: QtBot):
    window.close()
    service.changed.send(samples.BREAKS)
    qtbot.wait(40)
    assert window.breakpoints.breakpoints.rows == ()
