import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QComboBox, QLineEdit
from pytestqt.qtbot import QtBot

from core.debugger.breakpoints.kinds.actions import ActionChosen, PermissibleChanged, StateEntered
from core.debugger.breakpoints.kinds.problems import Condition, FigureAbove, LLMCall
from core.debugger.breakpoints.kinds.registry import KINDS
from gui.panels.breakpoints.editor import BreakpointEditor, Offers
from gui.widgets.number_field import NumberField


@pytest.fixture
def opened(qtbot: QtBot, theme):
    def open_(breakpoint=None, offers: Offers | None = None) -> BreakpointEditor:
        editor = BreakpointEditor(theme, breakpoint, offers or Offers())
        qtbot.addWidget(editor)
        editor.show()
        qtbot.waitExposed(editor)
        return editor

    return open_


def choose(editor: BreakpointEditor, kind: str) -> None:
    (item,) = editor.kinds.findItems(KINDS[kind].title, Qt.MatchFlag.MatchExactly)
    editor.kinds.setCurrentItem(item)


def wanted(editor: BreakpointEditor):
    spy = QSignalSpy(editor.breakpoint_wanted)
    editor.send()
    assert spy.count() == 1
    return spy.at(0)[0]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_its_fields_and_can_be_sent_as_it_stands(opened, kind: str):
    editor = opened()
    choose(editor, kind)
    assert tuple(editor.fields) == tuple(KINDS[kind].own_fields())
    assert editor.about.text()
    if kind == "condition":
        editor.fields["expression"].widget.setText("step.number > 3")
    assert wanted(editor).kind == kind


def test_what_is_typed_becomes_the_breakpoint(opened, qtbot: QtBot):
    editor = opened()
    choose(editor, "action")
    action = editor.fields["action"].widget
    qtbot.keyClicks(action, "buy_*")
    editor.fields["target"].widget.setText(" Buy now ")
    editor.condition.setText("step.number > 3")
    editor.ignore.setValue(2)
    editor.then.setCurrentIndex(1)
    assert wanted(editor) == ActionChosen(
        action="buy_*", target="Buy now", condition="step.number > 3", ignore=2, then="log"
    )


def test_choices_numbers_and_switches_have_widgets_of_their_kind(opened):
    editor = opened()
    choose(editor, "figure")
    assert isinstance(editor.fields["figure"].widget, QComboBox)
    number = editor.fields["above"].widget
    assert isinstance(number, NumberField)
    number.setValue(0.5)
    assert number.text() == "0.5"
    assert wanted(editor) == FigureAbove(figure="cost", above=0.5)


def test_any_purpose_is_the_first_choice_of_a_call(opened):
    editor = opened()
    choose(editor, "call")
    assert wanted(editor) == LLMCall()


def test_a_breakpoint_is_edited_with_all_it_has(opened):
    edited = PermissibleChanged(
        number=7, action="buy_*", contains=False, enabled=False, then="log", ignore=1, condition="step.number"
    )
    editor = opened(edited)
    assert editor.kind is PermissibleChanged
    assert wanted(editor) == edited


def test_texts_are_kept_where_another_kind_has_them_too(opened):
    editor = opened(StateEntered(number=1, state="item"))
    choose(editor, "state left")
    assert editor.fields["state"].widget.text() == "item"


def test_known_names_are_offered(opened):
    editor = opened(offers=Offers(state=("item", "results")))
    state = editor.fields["state"].widget
    assert isinstance(state, QLineEdit)
    completer = state.completer()
    completer.setCompletionPrefix("RES")
    assert completer.currentCompletion() == "results"


def test_it_stays_open_until_it_was_accepted(opened):
    editor = opened()
    editor.send()
    assert editor.isVisible()
    assert not editor.save_button.isEnabled()
    editor.show_answer("")
    assert not editor.isVisible()


def test_a_refused_condition_is_reported_below_it(opened):
    editor = opened(Condition(number=5, expression="step.number > 3"))
    editor.condition.setText("state.nmae == 1")
    editor.send()
    editor.show_answer("At character 7: state has no “nmae”; did you mean name?")
    assert editor.isVisible()
    assert editor._problem_of_condition.isVisible()
    assert "did you mean name?" in editor._problem_of_condition.text()
    assert not editor._problem_of_own.isVisible()
    assert editor.save_button.isEnabled()


def test_a_refused_expression_is_reported_below_it_and_forgotten_with_the_next_try(opened):
    editor = opened(Condition(number=5, expression="state.nmae == 1"))
    editor.send()
    editor.show_answer("At character 7: state has no “nmae”; did you mean name?")
    assert editor._problem_of_own.isVisible()
    editor.fields["expression"].widget.setText("state.name == 'item'")
    editor.send()
    assert not editor._problem_of_own.isVisible()


def test_what_is_wrong_elsewhere_is_reported_below_all(opened):
    editor = opened()
    editor.send()
    editor.show_answer("The database is not open yet. Wait a moment and try again.")
    assert editor._problem.isVisible()


def test_an_empty_expression_is_not_sent(opened):
    editor = opened()
    choose(editor, "condition")
    spy = QSignalSpy(editor.breakpoint_wanted)
    editor.send()
    assert spy.count() == 0
    assert "state.name == 'item'" in editor._problem_of_own.text()


def test_enter_sends_it_once(opened, qtbot: QtBot):
    editor = opened(StateEntered(number=1, state="item"))
    spy = QSignalSpy(editor.breakpoint_wanted)
    field = editor.fields["state"].widget
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert spy.count() == 1


def test_a_field_is_called_what_its_class_says(opened):
    editor = opened(PermissibleChanged(action="buy_*"))
    assert [(field.label, field.help) for field in editor.fields.values()] == [
        ("Action", ""),
        ("Target", "Part of the name of an element it may act on, or of a value it takes."),
        ("Permissible", "False: stop when the permissible actions do not contain it."),
    ]
    switch = editor.fields["contains"].widget
    assert [switch.itemText(row) for row in range(switch.count())] == [
        "becomes permissible",
        "is not or no longer permissible",
    ]
    assert editor._texts.text() == (
        "A name matches whole, or as a pattern with * and ?, such as buy_*. "
        "Other text matches anywhere, unless it contains * or ?. Case is ignored. An empty field matches everything."
    )


def tab_order(editor: BreakpointEditor) -> list[str]:
    """Return the names of what Tab leads to, from the list of kinds once around."""
    names, one = [], editor.kinds
    while True:
        if one.focusPolicy() & Qt.FocusPolicy.TabFocus and one.isVisible():
            names.append(one.accessibleName() or one.text())
        one = one.nextInFocusChain()
        if one is editor.kinds:
            return names


def test_tab_leads_through_the_fields_to_add_and_only_then_to_cancel(opened, qtbot: QtBot):
    editor = opened()
    choose(editor, "action")
    qtbot.waitUntil(editor.fields["action"].widget.isVisible)
    order = [name for name in tab_order(editor) if name]
    assert order[:4] == ["What it stops at", "Action", "Target", "Text"]
    assert [name.replace("&", "") for name in order[-2:]] == ["Add", "Cancel"]


def test_enter_adds_the_breakpoint_while_names_are_offered_and_none_is_chosen(opened, qtbot: QtBot):
    editor = opened(breakpoint=StateEntered(), offers=Offers(state=("item", "items")))
    spy = QSignalSpy(editor.breakpoint_wanted)
    field = editor.fields["state"].widget
    field.setFocus()
    qtbot.keyClicks(field, "item")
    popup = field.completer().popup()
    assert popup.isVisible()
    qtbot.keyClick(popup, Qt.Key.Key_Return)
    assert not popup.isVisible()
    assert spy.count() == 1
    assert spy.at(0)[0].state == "item"


def test_enter_adds_the_breakpoint_with_the_name_that_is_chosen(opened, qtbot: QtBot):
    editor = opened(breakpoint=StateEntered(), offers=Offers(state=("item", "items")))
    spy = QSignalSpy(editor.breakpoint_wanted)
    field = editor.fields["state"].widget
    field.setFocus()
    qtbot.keyClicks(field, "item")
    popup = field.completer().popup()
    qtbot.keyClick(popup, Qt.Key.Key_Down)
    qtbot.keyClick(popup, Qt.Key.Key_Down)
    qtbot.keyClick(popup, Qt.Key.Key_Return)
    assert spy.at(0)[0].state == "items"


def test_enter_adds_an_expression_whose_last_name_is_written_whole(opened, qtbot: QtBot):
    editor = opened()
    choose(editor, "condition")
    spy = QSignalSpy(editor.breakpoint_wanted)
    field = editor.fields["expression"].widget
    field.setFocus()
    qtbot.keyClicks(field, "step.number > step.number")
    assert field.names.popup.isVisible()
    qtbot.keyClick(field.names.popup, Qt.Key.Key_Return)
    assert spy.count() == 1


def test_enter_first_takes_a_name_that_an_expression_has_only_begun(opened, qtbot: QtBot):
    editor = opened()
    choose(editor, "condition")
    spy = QSignalSpy(editor.breakpoint_wanted)
    field = editor.fields["expression"].widget
    field.setFocus()
    qtbot.keyClicks(field, "step.num")
    field.names.popup.setCurrentIndex(field.names.popup.model().index(0, 0))
    qtbot.keyClick(field.names.popup, Qt.Key.Key_Return)
    assert (field.text(), spy.count()) == ("step.number", 0)
