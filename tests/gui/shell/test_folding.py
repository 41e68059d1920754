"""Panels that the run in view has nothing for fold to their titles, and unfold when there is something."""

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.debugger.breakpoints.views import BreaksView
from core.debugger.session_view import MechanismView
from core.debugger.steps.views import ExemplarsView, PlanView, StackView, StateView, StepView
from gui.shell.main_window import MainWindow
from gui.shell.places import StackSection
from tests.gui import samples

AGENT = ("State", "Policy stack", "Plan & remedies", "Exemplars")
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


def sections(window: MainWindow) -> list[StackSection]:
    return [place for place in window.docks.places.values() if isinstance(place, StackSection)]


def folded(window: MainWindow) -> set[str]:
    return {section.name for section in sections(window) if section.folded}


def test_what_the_preset_does_not_use_folds_and_unfolds_with_its_mechanism_and_with_content(
    window: MainWindow, session, qtbot: QtBot
):
    show(qtbot, window, session, EMPTY)
    assert folded(window) == set(AGENT)
    assert window.place("Exemplars").title.fact.text() == "not used by plain"
    assert not window.place("State").is_seen
    assert window.place("Permissible actions").is_seen
    show(qtbot, window, session, EMPTY, attached=True)
    assert folded(window) == set(AGENT)
    assert window.place("Exemplars").title.fact.text() == "not told by the agent"
    show(qtbot, window, session, EMPTY, "memory")
    assert folded(window) == set(AGENT) - {"Exemplars"}
    show(qtbot, window, session, EMPTY)
    assert folded(window) == set(AGENT)
    show(qtbot, window, session, EMPTY.replace(number=6, plan=samples.STEP.plan))
    assert folded(window) == set(AGENT) - {"Plan & remedies"}
    assert window.place("Plan & remedies").is_seen


def test_the_room_goes_to_the_other_panels(window: MainWindow, session, qtbot: QtBot):
    show(qtbot, window, session, EMPTY, "states", "policies")
    before = window.place("Action").y()
    show(qtbot, window, session, EMPTY)
    qtbot.waitUntil(lambda: window.place("Action").y() < before)
    qtbot.waitUntil(lambda: window.place("Policy stack").height() < 60)


def test_what_a_person_unfolds_stays_unfolded_and_what_they_put_away_unfolds_with_content(
    window: MainWindow, session, qtbot: QtBot
):
    show(qtbot, window, session, EMPTY)
    window.docks.reach("Plan & remedies")
    assert window.place("Plan & remedies").is_seen
    window.docks.reach("Plan & remedies")
    assert folded(window) == set(AGENT)
    show(qtbot, window, session, EMPTY.replace(number=6, plan=samples.STEP.plan))
    assert window.place("Plan & remedies").is_seen
    show(qtbot, window, session, EMPTY)
    section = window.place("Policy stack")
    qtbot.mouseClick(section.title, Qt.MouseButton.LeftButton, pos=section.title.rect().center())
    assert not section.folded
    show(qtbot, window, session, EMPTY.replace(number=6))
    assert not section.folded
    qtbot.mouseClick(section.title.fold, Qt.MouseButton.LeftButton)
    assert section.folded


def test_the_section_with_the_focus_folds_by_key_and_the_focus_goes_to_its_title(
    window: MainWindow, session, qtbot: QtBot
):
    window.docks.go_to("Permissible actions")
    window.docks.fold_focused()
    assert window.place("Permissible actions").title.fold.hasFocus()
    window.docks.fold_focused()
    assert not window.place("Permissible actions").folded
    qtbot.keyClick(window, Qt.Key.Key_Equal, Qt.KeyboardModifier.AltModifier)
    control = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
    qtbot.keyClick(window, Qt.Key.Key_F, control)
    assert folded(window) == {"Breakpoints"}
    assert not window.place("Breakpoints").is_seen
    qtbot.keyClick(window, Qt.Key.Key_Equal, Qt.KeyboardModifier.AltModifier)
    assert folded(window) == set()
    dock = window.docks.docks["Step"]
    dock.setFloating(True)
    dock.activateWindow()
    qtbot.waitUntil(dock.isActiveWindow)
    window.permissible.search.setFocus()
    qtbot.waitUntil(window.permissible.search.hasFocus)
    window.docks.fold_focused()
    assert folded(window) & {"Permissible actions", "Runs & steps"} == {"Permissible actions"}


def test_breakpoints_fold_until_there_are_any_and_a_column_is_put_away_with_its_last_section(
    window: MainWindow, qtbot: QtBot
):
    window.breakpoints.show_breaks(BreaksView())
    dock = window.place("Breakpoints")
    assert dock.folded
    assert dock.title.fact.text() == "none · Ctrl+Shift+B"
    window.breakpoints.show_breaks(samples.BREAKS)
    assert not dock.folded
    window.breakpoints.show_breaks(BreaksView())
    dock.bring()  # As its key does, and what adds a watch.
    assert not dock.folded
    for name in ("State", "Permissible actions", "Policy stack", "Plan & remedies", "Exemplars"):
        window.place(name).put_away()
    assert window.place("Action").is_seen
    window.place("Action").put_away()
    assert window.docks.docks["Step"].isHidden()
    window.place("Action").bring()
    assert window.place("Action").is_seen
