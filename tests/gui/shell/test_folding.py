"""Panels that the run in view has nothing for fold to their titles, and unfold when there is something."""

from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from core.debugger.breakpoints.views import BreaksView
from core.debugger.session_view import MechanismView
from core.debugger.steps.views import ExemplarsView, PlanView, StackView, StateView, StepView
from gui.shell.main_window import MainWindow
from tests.gui import samples

AGENT = ("Policy stack", "Plan & remedies", "Exemplars")
NAMES = ("states", "policies", "plan", "remedies", "judgement", "abstraction", "memory")
EMPTY = samples.STEP.replace(
    run=30,
    state=StateView(space="none", state="page"),
    stack=StackView(message="none"),
    plan=PlanView(message="none"),
    exemplars=ExemplarsView(message="none"),
)


def mechanisms(*on: str) -> tuple[MechanismView, ...]:
    return tuple(MechanismView(name=name, title=name, on=name in on, by_preset=name in on) for name in NAMES)


def show(qtbot: QtBot, window: MainWindow, session, step: StepView, *on: str, **changes) -> None:
    view = samples.SESSION.replace(run=30, preset="plain", mechanisms=mechanisms(*on), **changes)
    session.session_changed.send(view)
    session.step_changed.send(step)
    qtbot.waitUntil(lambda: window.view == view and window.step_in_view == step)


def folded(window: MainWindow) -> set[str]:
    return {name for name, dock in window.docks.by_name.items() if dock.folded}


def test_what_the_preset_does_not_use_folds_and_says_so(window: MainWindow, session, qtbot: QtBot):
    show(qtbot, window, session, EMPTY)
    assert folded(window) == set(AGENT)
    dock = window.dock("Exemplars")
    assert dock._title.fact.text() == "not used by plain"
    assert not window.docks.is_in_front("State")
    assert window.docks.is_in_front("Permissible actions")


def test_the_room_goes_to_the_other_panels(window: MainWindow, session, qtbot: QtBot):
    before = window.dock("Action").height()
    show(qtbot, window, session, EMPTY)
    qtbot.waitUntil(lambda: window.dock("Action").height() > before)
    qtbot.waitUntil(lambda: window.dock("Policy stack").height() < 60)


def test_a_panel_unfolds_with_its_mechanism_and_with_content(window: MainWindow, session, qtbot: QtBot):
    show(qtbot, window, session, EMPTY)
    show(qtbot, window, session, EMPTY, "memory")
    assert folded(window) == set()
    show(qtbot, window, session, EMPTY)
    assert folded(window) == set(AGENT)
    show(qtbot, window, session, EMPTY.replace(number=6, plan=samples.STEP.plan))
    assert folded(window) == set()
    assert window.docks.is_in_front("Plan & remedies")


def test_an_attached_agent_that_tells_nothing_leaves_panels_folded(window: MainWindow, session, qtbot: QtBot):
    show(qtbot, window, session, EMPTY, attached=True)
    assert folded(window) == set(AGENT)
    assert window.dock("Exemplars")._title.fact.text() == "not told by the agent"


def test_what_a_person_unfolds_stays_unfolded(window: MainWindow, session, qtbot: QtBot):
    show(qtbot, window, session, EMPTY)
    dock = window.dock("Policy stack")
    dock.raise_()
    qtbot.waitUntil(lambda: dock._title.isVisible() and dock.is_in_front)
    place = dock._title.geometry().center() - QPoint(20, 0)
    qtbot.mouseClick(dock, Qt.MouseButton.LeftButton, pos=place)
    assert folded(window) == set()
    show(qtbot, window, session, EMPTY.replace(number=6))
    assert folded(window) == set()
    qtbot.waitUntil(lambda: dock.height() > 100)


def test_the_panel_with_the_focus_folds_by_key_and_the_key_of_a_panel_unfolds_it(
    window: MainWindow, session, qtbot: QtBot
):
    qtbot.keyClick(window, Qt.Key.Key_Equal, Qt.KeyboardModifier.AltModifier)
    control = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
    qtbot.keyClick(window, Qt.Key.Key_F, control)
    assert folded(window) == {"Breakpoints"}
    assert not window.docks.is_in_front("Breakpoints")
    qtbot.keyClick(window, Qt.Key.Key_Equal, Qt.KeyboardModifier.AltModifier)
    assert folded(window) == set()


def test_the_last_open_panel_of_a_column_does_not_fold_by_itself(window: MainWindow, session, qtbot: QtBot):
    for name in ("State", "Permissible actions", "Action"):
        window.dock(name).hide()
    show(qtbot, window, session, EMPTY)
    assert folded(window) == set()


def test_breakpoints_fold_until_there_are_any(window: MainWindow, qtbot: QtBot):
    window.breakpoints.show_breaks(BreaksView())
    dock = window.dock("Breakpoints")
    assert dock.folded
    assert dock._title.fact.text() == "none · Ctrl+Shift+B"
    window.breakpoints.show_breaks(samples.BREAKS)
    assert not dock.folded
    window.breakpoints.show_breaks(BreaksView())
    dock.bring()  # As its key does, and what adds a watch.
    assert not dock.folded
