import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from core.debugger.exemplars.analyses.views import LeftOut
from core.exemplars.analysis.records import FamilyFound, LeftOutExemplar, MemberFound
from gui.exemplars.analyses.leave_one_out import LeaveOneOutPage
from gui.exemplars.analyses.page import View


def member(id, family, found):
    return MemberFound(number=1, id=id, family=family, found=found, distance=0.5)


MEMBERS = (
    member("a/1", "a", "a"),
    member("a/2", "a", "b"),
    member("b/1", "b", "b"),
    member("c/1", "c", "a"),
)
FOUND = LeftOutExemplar(
    members=4,
    right=2,
    alone=1,
    embedding="words",
    families=(
        FamilyFound(family="a", members=2, right=1, distance=0.5, taken_for={"b": 1}),
        FamilyFound(family="b", members=1, right=1, distance=0.5),
        FamilyFound(family="c", members=1, right=0, distance=0.5, taken_for={"a": 1}),
    ),
)
RESULT = LeftOut(found=FOUND, members=MEMBERS, total=4)
VIEW = View(result=RESULT)


@pytest.fixture
def page(theme, qtbot: QtBot) -> LeaveOneOutPage:
    page = LeaveOneOutPage(theme)
    qtbot.addWidget(page)
    page.resize(1200, 700)
    page.show()
    qtbot.waitExposed(page)
    return page


def listed(page):
    return [line.key for line in page.members.lines]


def test_before_it_was_begun_the_page_says_what_it_is_for(page):
    assert "Press Leave one out (Ctrl+Enter)" in page.body.words.text()
    assert not page.export_button.isEnabled()


def test_totals_and_families_are_shown_with_what_they_are_taken_for(page):
    page.show_view(VIEW)
    assert page.note.text() == (
        "2 of 4 find their family (50.0%), by words and 3 votes. 1 are alone in their family, so they cannot be found."
    )
    assert page.table.lines[0].cells == ("a", "2", "1", "50%", "0.500", "b (1)")


def test_exemplars_are_listed_by_family_or_all_and_opened(page, qtbot):
    page.show_view(VIEW)
    assert listed(page) == ["a/2", "c/1"]
    page.table.choose("a")
    assert listed(page) == ["a/2"]
    page.only_wrong.setChecked(False)
    assert listed(page) == ["a/1", "a/2"]
    page.table.choose("c")
    assert listed(page) == ["c/1"]
    with qtbot.waitSignal(page.exemplar_opened) as opened:
        page.members.opened.emit("c/1")
    assert opened.args == ["c/1"]
    page.all_button.click()
    assert len(listed(page)) == 4


def test_a_part_is_named_as_a_part_and_texts_open_nothing(page, qtbot):
    page.show_view(View(result=RESULT.replace(total=9), busy=True, done=4, of=9, doing="Looking"))
    assert "4 of 9" in page.note.text()
    assert page.cancel_button.isEnabled()
    page.show_view(View(result=RESULT.replace(source="texts.json")))
    assert "the texts of texts.json" in page.note.text()
    with qtbot.assertNotEmitted(page.exemplar_opened):
        page.members.opened.emit("c/1")


def test_texts_are_asked_for_and_tables_are_written_where_it_is_said(page, qtbot, monkeypatch):
    page.show_view(VIEW)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("texts.json", ""))
    with qtbot.waitSignal(page.begin_requested) as asked:
        page.texts_button.click()
    assert asked.args == [3, "texts.json"]
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("t.csv", "Exemplars (*.csv)"))
    with qtbot.waitSignal(page.export_requested) as asked:
        page.export_button.click()
    assert asked.args == ["exemplars", "t.csv"]


def test_a_press_on_a_heading_sorts_by_numbers(page):
    page.show_view(VIEW)
    page.table.sortByColumn(3, Qt.SortOrder.AscendingOrder)
    assert [line.key for line in page.table.lines] == ["c", "a", "b"]
