"""The table of the library: pages on demand, a bounded number of them, and a place that holds."""

import pytest
from PySide6.QtCore import Qt

from core.debugger.exemplars.library.views import PAGE, Chosen, ListView, Query
from core.exemplars.library.records import LibraryRow
from gui.exemplars.library.row_model import COLUMNS
from gui.exemplars.library.row_table import RowTable

NAMES = [column.name for column in COLUMNS]


def rows(first: int, end: int) -> tuple[LibraryRow, ...]:
    return tuple(
        LibraryRow(id=f"e/{n:06}", family="f", task=f"Task {n}", origin="bundled" if n == 1 else "import")
        for n in range(first, end)
    )


def listed(total: int, first: int = 0, **more) -> ListView:
    end = min(total, first + 2 * PAGE)
    return ListView(query=Query(), ready=True, total=total, first=first, rows=rows(first, end), **more)


@pytest.fixture
def table(qtbot, theme):
    table = RowTable(theme)
    qtbot.addWidget(table)
    table.resize(900, 500)
    table.show()
    qtbot.waitExposed(table)
    return table


def test_only_what_is_in_view_is_asked_for_and_only_the_last_pages_are_held(table, qtbot):
    table.show_list(listed(100_000), same=False)
    asked = []
    table.rows_model.page_wanted.connect(lambda query, first: asked.append(first))

    def answer(query, first):
        table.rows_model.show_page(ListView(query=query, first=first, rows=rows(first, first + PAGE)))

    table.rows_model.page_wanted.connect(answer, Qt.ConnectionType.QueuedConnection)
    for at in range(1000, 61_000, 1000):
        table.scrollTo(table.rows_model.index(at, 1), RowTable.ScrollHint.PositionAtTop)
        table.viewport().repaint()
        qtbot.waitUntil(lambda at=at: table.rows_model.row(at) is not None)
    assert len(asked) <= 2 * 60
    assert table.rows_model.held <= 40 * PAGE
    assert table.rows_model.row(0) is None


def test_a_row_that_is_not_there_yet_shows_as_such(table):
    table.show_list(listed(1000), same=False)
    model = table.rows_model
    assert model.index(900, NAMES.index("id")).data() == "…"
    assert model.index(1, NAMES.index("origin")).data() == "bundled, read only"


def test_selection_and_place_hold_by_id_when_rows_come_before_them(table):
    table.show_list(listed(1000), same=False)
    table.selectRow(50)
    table.verticalScrollBar().setValue(40 * 24)
    before = table.verticalScrollBar().value() - 50 * 24
    position = table.position
    assert position.keep == ("e/000050",)
    moved = (*rows(2000, 2003), *rows(0, 197))
    view = listed(1003, places={"e/000050": 53}).replace(rows=moved)
    table.show_list(view, same=True)
    assert [row.id for row in table.selected] == ["e/000050"]
    assert table.verticalScrollBar().value() - 53 * 24 == before


def test_all_rows_are_chosen_by_their_places_and_few_by_their_ids(table):
    table.show_list(listed(100_000), same=False)
    table.selectAll()
    assert table.chosen == Chosen(query=Query(), ranges=((0, 100_000),))
    assert table.selected is None
    table.selectRow(3)
    assert table.chosen == Chosen(ids=("e/000003",))


def test_a_heading_sorts_and_sorts_the_other_way_round(table, qtbot):
    table.show_list(listed(10), same=False)
    with qtbot.waitSignal(table.sort_wanted) as asked:
        table.horizontalHeader().sectionClicked.emit(NAMES.index("tokens"))
    assert asked.args == ["tokens", False]
    table.show_list(listed(10).replace(query=Query(order="tokens")), same=False)
    with qtbot.waitSignal(table.sort_wanted) as asked:
        table.horizontalHeader().sectionClicked.emit(NAMES.index("tokens"))
    assert asked.args == ["tokens", True]
    with qtbot.assertNotEmitted(table.sort_wanted):
        table.horizontalHeader().sectionClicked.emit(NAMES.index("tags"))


def test_enter_opens_an_exemplar(table, qtbot):
    table.show_list(listed(10), same=False)
    table.selectRow(2)
    with qtbot.waitSignal(table.opened) as opened:
        qtbot.keyClick(table, Qt.Key.Key_Return)
    assert opened.args == ["e/000002"]
