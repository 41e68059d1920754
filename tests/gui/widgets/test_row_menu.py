"""The context menu of rows: what every row can be copied as, by menu and by key."""

import json

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QContextMenuEvent
from PySide6.QtWidgets import QApplication, QListView, QMenu
from pytestqt.qtbot import QtBot

from core.schema.action_space import PermissibleRow
from gui.widgets.copying import CopyEntry
from gui.widgets.item_views import MenuEntry, RowMenu
from gui.widgets.plain_table import Column, PlainTable, TableLine
from gui.widgets.rows import Row, Rows


@pytest.fixture
def rows(qtbot: QtBot, theme) -> Rows:
    rows = Rows(theme, "Rows")
    qtbot.addWidget(rows)
    record = PermissibleRow(name="click", ref=6, text="click [6]")
    rows.show_rows([Row(text="One", word="new", detail="small", key=record), Row(text="Two", key=2)])
    return rows


def copied() -> str:
    return QApplication.clipboard().text()


def choose(view: QListView, row: int, text: str) -> None:
    entries = view.findChild(RowMenu).all_entries(view.model().index(row, 0))
    next(entry for entry in entries if entry.text == text).do()


def test_ctrl_c_copies_the_row_as_it_reads(rows, qtbot):
    rows.setCurrentIndex(rows.model().index(0))
    qtbot.keyClick(rows, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert copied() == "One  new\nsmall"


def test_a_row_is_copied_as_json_of_what_it_stands_for(rows):
    choose(rows, 0, "Copy as JSON")
    assert json.loads(copied())["text"] == "click [6]"
    choose(rows, 1, "Copy as JSON")
    assert json.loads(copied())["text"] == "Two"


def test_selected_rows_of_a_table_are_copied_with_tabs_and_as_a_list(qtbot, theme):
    table = PlainTable(theme, "Table", (Column("Name"), Column("Count", number=True)), several=True)
    qtbot.addWidget(table)
    table.show_lines(
        [TableLine(("a", "1"), key=1), TableLine(("b", "2"), key=2), TableLine(("c", "3"), key=3)]
    )
    table.setCurrentIndex(table.model().index(0, 0))
    table.selectAll()
    qtbot.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert copied() == "a\t1\nb\t2\nc\t3"
    choose(table, 1, "Copy as JSON")
    assert json.loads(copied())[1] == {"Name": "b", "Count": "2"}


def test_a_later_menu_takes_the_place_of_the_one_before_and_adds_its_copies(rows):
    RowMenu(
        rows, lambda _: (MenuEntry("Own", lambda: None),), copies=lambda _: (CopyEntry("Copy as X", "x"),)
    )
    assert len(rows.findChildren(RowMenu)) == 1
    entries = rows.findChild(RowMenu).all_entries(rows.model().index(0))
    assert [entry.text for entry in entries] == ["Own", "Copy", "Copy as X", "Copy as JSON"]
    choose(rows, 0, "Copy as X")
    assert copied() == "x"


def test_what_cannot_be_copied_says_why(rows):
    RowMenu(rows, copies=lambda _: (CopyEntry("Copy as X", "", "There is none"),))
    entry = rows.findChild(RowMenu).all_entries(rows.model().index(0))[1]
    assert not entry.enabled
    assert entry.why == "There is none"


def test_the_menu_key_opens_the_menu_of_the_current_row_with_the_actions_of_the_view(rows, qtbot):
    rows.addAction(QAction("Delete", rows))
    rows.show()
    rows.setCurrentIndex(rows.model().index(1))
    QApplication.sendEvent(rows, QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(), QPoint()))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    texts = [action.text().partition("\t")[0] for action in menu.actions() if action.text()]
    assert texts == ["Delete", "Copy", "Copy as JSON"]
    next(action for action in menu.actions() if action.text().startswith("Copy\t")).trigger()
    menu.close()
    assert copied() == "Two"
