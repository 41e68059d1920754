"""Ctrl+Z and Ctrl+Shift+Z in the main window: what was changed last, in order, or why it cannot be undone."""

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QInputDialog
from pytestqt.qtbot import QtBot

from core.debugger.breakpoints.kinds.actions import StateEntered
from core.debugger.breakpoints.views import BreakChange, Watch
from core.debugger.session_view import AmountView, CommandResult, EditMade, MechanismView, SessionView
from gui.breakpoints.controller import BreakpointsController
from gui.shell.main_window import MainWindow
from tests.gui import samples
from tests.gui.stand_ins import AskedService, AskedSession

CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
PLAN = EditMade(key="edit 1", kind="plan")
STATE = EditMade(key="edit 2", kind="state")
STOP = StateEntered(number=3, state="item")
REST = samples.SESSION.replace(preset="plain", llm="rules", told=None)


class Person:
    """Whoever is at the window, with a session that answers as it is told to."""

    def __init__(self, qtbot: QtBot, window: MainWindow, session: AskedSession) -> None:
        self._qtbot = qtbot
        self.window = window
        self.session = session
        self.breaks = AskedService("answered", "made")
        BreakpointsController(window, self.breaks)  # type: ignore[arg-type]
        self.show(REST)
        self.session.asked.clear()
        self.breaks.asked.clear()

    def show(self, view: SessionView | None = None, **changes: Any) -> None:
        view = (self.window.view if view is None else view).replace(**changes)
        self.session.session_changed.send(view)
        self._qtbot.waitUntil(lambda: self.window.view == view)

    def make(self, before: object, after: object) -> None:
        """Let the service tell of a change of a breakpoint or watch."""
        words = self.undo_text
        self.breaks.made.send(BreakChange(before, after))  # type: ignore[arg-type]
        self._qtbot.waitUntil(lambda: self.undo_text != words)

    def answer(self, problem: str = "") -> None:
        self.breaks.answer(problem)
        history = self.window.history
        self._qtbot.waitUntil(lambda: history._under_way is None)

    def undo(self) -> None:
        self._qtbot.keyClick(self.window, Qt.Key.Key_Z, CTRL)

    def redo(self) -> None:
        self._qtbot.keyClick(self.window, Qt.Key.Key_Z, CTRL | SHIFT)

    @property
    def undo_text(self) -> str:
        return self.window.actions_by_name["undo_edit"].text()

    @property
    def redo_text(self) -> str:
        return self.window.actions_by_name["redo_edit"].text()

    @property
    def told(self) -> str:
        messages = self.window.page.messages
        return messages.text.text() if messages.shown else ""

    def refuse(self, text: str) -> None:
        number = self.window.view.told.number + 1 if self.window.view.told is not None else 1
        self.show(told=CommandResult(number=number, text=text, done=False))


@pytest.fixture
def person(qtbot: QtBot, window: MainWindow, session: AskedSession) -> Person:
    return Person(qtbot, window, session)


def test_changes_of_different_kinds_are_undone_and_redone_in_their_order_and_at_first_there_are_none(
    person: Person,
):
    person.undo()
    person.redo()
    assert (person.session.asked, person.breaks.asked, person.told) == ([], [], "")
    actions = person.window.actions_by_name
    assert "nothing to undo" in actions["undo_edit"].toolTip()
    assert "nothing to redo" in actions["redo_edit"].toolTip()
    person.make(STOP, None)
    person.window.tool_bar.preset_chosen.emit("careful")
    person.show(preset="careful")
    person.make(None, Watch(number=1, text="run.cost"))
    assert person.undo_text == "&Undo: add the watch run.cost"
    person.undo()
    assert person.breaks.asked == [("exchange", Watch(number=1, text="run.cost"), None)]
    person.answer()
    assert (person.undo_text, person.redo_text) == (
        "&Undo: use the preset careful",
        "Red&o: add the watch run.cost",
    )
    person.undo()
    assert person.session.asked[-1] == ("set_preset", "plain")
    person.show(preset="plain")
    assert person.window.remembered.preset == "plain"
    person.undo()
    assert person.breaks.asked[-1] == ("exchange", None, STOP)
    person.answer()
    assert person.undo_text == "&Undo"
    person.redo()
    assert person.breaks.asked[-1] == ("exchange", STOP, None)
    person.answer()
    person.redo()
    assert person.session.asked[-1] == ("set_preset", "careful")


def test_keys_that_are_pressed_before_the_answer_came_are_not_lost(person: Person):
    person.make(None, STOP)
    person.make(STOP, STOP.replace(enabled=False))
    person.undo()
    person.undo()
    assert person.breaks.asked == [("exchange", STOP.replace(enabled=False), STOP)]
    person.breaks.answer()
    person._qtbot.waitUntil(lambda: person.breaks.asked[-1] == ("exchange", STOP, None))
    person.answer()
    assert person.undo_text == "&Undo"


def test_words_tell_how_a_breakpoint_was_changed_and_a_text_field_keeps_its_own_undo(
    person: Person, qtbot: QtBot
):
    label = STOP.label()
    off = STOP.replace(enabled=False)
    for before, after, words in (
        (None, STOP, f"add the breakpoint {label}"),
        (STOP, off, f"disable the breakpoint {label}"),
        (off, STOP, f"enable the breakpoint {label}"),
        (STOP, STOP.replace(ignore=2), f"edit the breakpoint {label}"),
    ):
        person.make(before, after)
        assert person.undo_text == f"&Undo: {words}"[: len(person.undo_text) - 1] + person.undo_text[-1]
        assert words.startswith(person.undo_text.removeprefix("&Undo: ").rstrip("…"))
    person.make(None, STOP)
    field = person.window.breakpoints.field.text
    person.window.place("Breakpoints").bring()
    field.setFocus()
    qtbot.keyClicks(field, "run")
    qtbot.keyClick(field, Qt.Key.Key_Z, CTRL)
    assert field.text() == ""
    assert person.breaks.asked == []


def test_an_edit_of_the_run_is_undone_and_redone_by_its_key(person: Person):
    person.show(edits=(PLAN, STATE))
    assert person.undo_text == "&Undo: edit the state"
    person.undo()
    assert person.session.asked == [("undo", "edit 2")]
    person.show(edits=(PLAN,), undone=(STATE,))
    assert (person.undo_text, person.redo_text) == ("&Undo: edit the plan", "Red&o: edit the state")
    person.redo()
    assert person.session.asked[-1] == ("redo", "edit 2")
    person.show(edits=(PLAN, STATE), undone=())
    assert (person.undo_text, person.redo_text) == ("&Undo: edit the state", "Red&o")
    person.undo()
    person.show(edits=(PLAN,), undone=(STATE,))
    person.undo()
    person.show(edits=(), undone=(STATE, PLAN))
    assert (person.undo_text, person.redo_text) == ("&Undo", "Red&o: edit the plan")


def test_an_edit_is_not_redone_once_the_run_has_gone_on_or_another_was_made(person: Person):
    person.make(None, STOP)
    person.show(edits=(PLAN,))
    person.undo()
    person.show(edits=(), undone=(PLAN,))
    person.undo()
    person.answer()
    assert person.redo_text.startswith("Red&o: add the breakpoint")
    person.show(undone=())
    person.redo()
    person.answer()
    assert person.redo_text == "Red&o"
    person.show(edits=(STATE,))
    person.undo()
    person.show(edits=(), undone=(STATE,))
    person.show(mode="acting", phase="decide")
    assert "pause it (F5)" in person.window.actions_by_name["redo_edit"].toolTip()


def test_a_redo_that_was_refused_for_the_moment_can_still_be_redone(person: Person):
    person.show(edits=(PLAN,))
    person.undo()
    person.show(edits=(), undone=(PLAN,))
    person.redo()
    person.refuse("You have the page: give it back first (F6).")
    assert "You have the page" in person.told
    assert (person.undo_text, person.redo_text) == ("&Undo", "Red&o: edit the plan")


def test_an_edit_that_the_run_has_left_behind_is_named_once_and_nothing_else_is_undone(person: Person):
    person.make(None, STOP)
    person.show(edits=(PLAN,))
    person.show(edits=())
    assert person.undo_text == "&Undo: edit the plan (no longer possible)"
    person.undo()
    assert "the run has continued" in person.told
    assert (person.session.asked, person.breaks.asked) == ([], [])
    person.undo()
    assert person.breaks.asked == [("exchange", STOP, None)]


def test_what_belongs_to_another_run_cannot_be_undone_any_more(person: Person):
    on = MechanismView(name="plan", title="Plan", on=True)
    person.show(mechanisms=(on,))
    person.window.menus.mechanisms.switched.emit("plan", False)
    person.show(mechanisms=(on.replace(on=False),))
    assert person.undo_text == "&Undo: switch Plan off"
    person.show(run=19)
    person.undo()
    assert "not open any more" in person.told
    assert person.session.asked == [("set_mechanism", "plan", False)]
    assert person.undo_text == "&Undo"


def test_a_mechanism_and_its_number_go_back(person: Person):
    amount = AmountView(mechanism="plan", label="Plans", value=2, least=1, most=5)
    plan = MechanismView(name="plan", title="Plan", on=True, amount=amount)
    person.show(mechanisms=(plan,))
    person.window.menus.mechanisms.amount_set.emit("plan", 4)
    person.show(mechanisms=(plan.replace(amount=amount.replace(value=4)),))
    person.undo()
    assert person.session.asked[-1] == ("set_amount", "plan", 2)
    person.show(mechanisms=(plan,))
    assert person.redo_text == "Red&o: set Plan to 4"


def test_the_step_limit_and_the_llm_go_back(person: Person, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(QInputDialog, "getInt", lambda *_arguments: (50, True))
    limit = person.window.view.max_steps
    person.window.actions_by_name["max_steps"].trigger()
    person.show(max_steps=50)
    person.window.tool_bar.llm_chosen.emit("local")
    person.show(llm="local")
    person.undo()
    person.show(llm="rules")
    person.undo()
    assert person.session.asked[-2:] == [("set_llm", "rules"), ("set_max_steps", limit)]


def test_a_choice_that_the_session_refuses_is_not_there_to_be_undone(person: Person):
    person.window.tool_bar.preset_chosen.emit("careful")
    person.refuse("There is no preset careful.")
    person.show(preset="careful")
    assert person.undo_text == "&Undo"


def test_what_a_service_refuses_to_undo_leaves_the_stack_with_its_reason(person: Person):
    person.make(None, Watch(number=1, text="run.cost"))
    person.make(None, STOP)
    person.undo()
    person.answer("The breakpoint 3 was changed or deleted meanwhile; change it in its list.")
    assert "changed or deleted meanwhile" in person.told
    assert (person.undo_text, person.redo_text) == ("&Undo: add the watch run.cost", "Red&o")


def test_a_setting_that_something_else_has_changed_is_left_as_it_is(person: Person):
    person.window.tool_bar.llm_chosen.emit("local")
    person.show(llm="local")
    person.show(llm="rules")
    person.session.asked.clear()
    person.undo()
    assert person.session.asked == []
    assert "changed by something else" in person.told
    assert (person.undo_text, person.redo_text) == ("&Undo", "Red&o")


def test_an_edit_that_could_not_be_undone_at_this_moment_stays(person: Person):
    person.show(edits=(PLAN,))
    person.undo()
    person.refuse("A phase is under way.")
    assert "A phase is under way." in person.told
    assert person.undo_text == "&Undo: edit the plan"
    person.undo()
    assert person.session.asked == [("undo", "edit 1")] * 2


def test_a_run_that_ends_while_a_mechanism_is_put_back_lets_the_next_undo_go_on(person: Person):
    on = MechanismView(name="plan", title="Plan", on=True)
    person.show(mechanisms=(on,))
    person.make(None, STOP)
    person.window.menus.mechanisms.switched.emit("plan", False)
    person.show(mechanisms=(on.replace(on=False),))
    person.undo()
    person.show(run=None, mechanisms=())
    person.undo()
    assert person.breaks.asked == [("exchange", STOP, None)]


def test_a_new_change_takes_away_what_could_be_redone_and_a_closed_window_undoes_nothing(person: Person):
    person.make(None, STOP)
    person.undo()
    person.answer()
    assert person.redo_text != "Red&o"
    person.make(None, Watch(number=1, text="run.cost"))
    assert person.redo_text == "Red&o"
    person.make(None, STOP)
    person._qtbot.waitUntil(lambda: STOP.label() in person.undo_text)
    before = person.undo_text
    person.window.close()
    person.breaks.made.send(BreakChange(STOP, None))
    QApplication.processEvents()
    assert person.undo_text == before
