import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from pytestqt.qtbot import QtBot

from gui.panels.breakpoints.expression_field import ExpressionField


@pytest.fixture
def field(qtbot: QtBot, theme) -> ExpressionField:
    field = ExpressionField(theme, "Expression")
    qtbot.addWidget(field)
    field.show()
    qtbot.waitExposed(field)
    return field


def take(qtbot: QtBot, field: ExpressionField, name: str) -> None:
    for _ in range(field.names.offered.index(name)):
        qtbot.keyClick(field.names.popup, Qt.Key.Key_Down)
    qtbot.keyClick(field.names.popup, Qt.Key.Key_Return)


def test_names_are_offered_while_one_is_typed(field, qtbot: QtBot):
    qtbot.keyClicks(field, "pa")
    assert field.names.offered == ("page",)
    assert field.names.popup.isVisible()
    qtbot.keyClicks(field, "x")
    assert not field.names.popup.isVisible()


def test_parts_are_offered_behind_a_dot_and_the_chosen_one_replaces_what_was_begun(field, qtbot: QtBot):
    field.setText("not ")
    qtbot.keyClicks(field, "page.")
    assert field.names.offered == ("url", "title", "elements")
    qtbot.keyClicks(field, "ti")
    take(qtbot, field, "title")
    assert field.text() == "not page.title"


def test_a_function_comes_with_its_bracket_and_the_rest_stays(field, qtbot: QtBot):
    field.setText("co == 1")
    field.moveCursor(QTextCursor.MoveOperation.Start)
    for _ in range(2):
        qtbot.keyClick(field, Qt.Key.Key_Right)
    field.offer()
    take(qtbot, field, "count")
    assert (field.text(), field.textCursor().position()) == ("count( == 1", 6)


def test_ctrl_space_offers_all_and_each_has_its_help(field, qtbot: QtBot):
    qtbot.keyClick(field, Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    assert {"run", "step", "state", "len"} <= set(field.names.offered)
    model = field.names.popup.model()
    helps = [model.index(row, 0).data(Qt.ItemDataRole.ToolTipRole) for row in range(model.rowCount())]
    assert all(helps[:3])
    assert field.names.popup.grab().toImage().isNull() is False


def test_nothing_is_offered_inside_of_quotes_or_where_it_is_no_expression(field, qtbot: QtBot):
    qtbot.keyClicks(field, "state.name == 'pa")
    assert field.names.offered == ()
    field.clear()
    field.completing = False
    qtbot.keyClicks(field, "pa")
    assert field.names.offered == ()


def test_the_ends_of_the_list_are_where_the_arrows_stop(field, qtbot):
    field.setFocus()
    qtbot.keyClicks(field, "st")
    qtbot.waitUntil(field.names.popup.isVisible)
    qtbot.keyClick(field.names.popup, Qt.Key.Key_Up)
    assert field.names.popup.currentIndex().isValid()
    qtbot.keyClick(field.names.popup, Qt.Key.Key_Tab)
    assert field.text() in field.names.offered
