import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.debugger.exemplars.analyses.views import Bench, BenchQuery
from core.exemplars.analysis.records import LookupTrial, MapPlace, TrialRow
from core.schema.exemplar import Recall, RecallSettings
from gui.exemplars.analyses.page import View
from gui.exemplars.analyses.retrieval_page import RetrievalPage

BEFORE = Recall(
    family="login", votes={"login": 2, "click": 1}, why="2 of the 3 nearest are of the family login."
)
ROWS = (
    TrialRow(
        id="a",
        family="login",
        task="Log in.",
        now=MapPlace(rank=1, distance=0.2, voted=True, used=True, why="It votes for login, which wins."),
    ),
    TrialRow(
        id="b", family="click", task="Click.", now=MapPlace(rank=2, distance=0.4, voted=True, why="It loses.")
    ),
)
BENCH = Bench(
    members=12,
    presets=(("synapse", RecallSettings(votes=7, threshold=0.9)),),
    environments=("miniwob", "shop"),
    trial=LookupTrial(before=BEFORE, rows=ROWS),
)
COMPARED = LookupTrial(
    before=BEFORE,
    after=BEFORE.replace(why="The nearest is used."),
    rows=(
        ROWS[0].replace(before=MapPlace(rank=2, distance=0.5), move="used now", draft=True),
        ROWS[1].replace(now=None, before=MapPlace(rank=1, distance=0.3), move="gone"),
    ),
)


@pytest.fixture
def page(theme, qtbot: QtBot) -> RetrievalPage:
    page = RetrievalPage(theme)
    qtbot.addWidget(page)
    page.resize(1200, 800)
    page.show()
    qtbot.waitExposed(page)
    return page


def test_what_is_missing_is_said_and_nothing_is_asked_without_a_task(page, qtbot):
    assert "press Look up (Ctrl+Enter)" in page.or_words.words.text()
    with qtbot.assertNotEmitted(page.look_up_requested):
        page.look_up_button.click()
    assert "Type a task first" in page.problem.text()
    page.show_view(View(result=Bench(members=0)))
    assert "There are no exemplars yet" in page.or_words.words.text()


def test_what_is_asked_is_what_the_form_says(page, qtbot):
    page.show_view(View(result=BENCH))
    page.show_task("Log in.", "[1] button")
    page.form.settings.preset.setCurrentIndex(1)
    page.form.settings.preset.activated.emit(1)
    page.form.environment.setEditText("shop")
    page.form.compare.setChecked(True)
    page.form.other.votes.setValue(1)
    with qtbot.waitSignal(page.look_up_requested) as asked:
        qtbot.keyClick(page, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    preset = BENCH.presets[0][1]
    assert asked.args == [
        BenchQuery(
            task="Log in.",
            observation="[1] button",
            environment="shop",
            settings=preset,
            other=preset.replace(votes=1),
        ),
        True,
    ]


def test_what_would_be_retrieved_is_reported_with_a_reason_each(page, qtbot):
    page.show_view(View(result=BENCH))
    assert page.now.text().startswith("Votes: login 2, click 1. 2 of the 3 nearest")
    assert [line.cells[:3] for line in page.table.lines] == [
        ("1", "0.200", "votes, used"),
        ("2", "0.400", "votes"),
    ]
    assert page.table.isColumnHidden(3)
    with qtbot.waitSignal(page.exemplar_opened) as opened:
        page.table.setCurrentIndex(page.table.lines_model.index(1, 0))
        qtbot.keyClick(page.table, Qt.Key.Key_Return)
    assert opened.args == ["b"]


def test_before_and_after_a_change_stand_beside_each_other(page, qtbot):
    page.show_view(View(result=BENCH.replace(trial=COMPARED, draft="a")))
    assert page.before.text().startswith("Before: Votes: login 2")
    assert page.now.text().startswith("After: ")
    first, second = (line.cells for line in page.table.lines)
    assert first[3:6] == ("used now", "2, 0.500", "a (draft)")
    assert (second[0], second[3]) == ("–", "gone")
    assert "the draft of a" in page.draft_words.text()
    with qtbot.waitSignal(page.draft_requested) as asked:
        page.draft_button.click()
    assert asked.args == [None]


def test_a_task_that_was_taken_is_reported_as_such_until_it_is_edited(page):
    page.form.show_task(BenchQuery(task="Buy it.", observation="page", source="run 3, step 2"))
    assert (page.form.query.task, page.form.query.source) == ("Buy it.", "run 3, step 2")
    page.form.task.setPlainText("Another one.")
    page.show_view(View(result=BENCH))
    assert (page.form.query.task, page.form.query.source) == ("Another one.", "")


def test_the_map_is_folded_and_a_lookup_then_asks_for_none(page, qtbot):
    assert page.map.isVisible()
    with qtbot.waitSignal(page.map_toggled) as toggled:
        page.map_button.click()
    assert toggled.args == [False]
    assert not page.map.isVisible()
    page.show_task("Log in.")
    with qtbot.waitSignal(page.look_up_requested) as asked:
        page.look_up_button.click()
    assert asked.args[1] is False


def test_the_selected_one_is_never_to_be_used_for_such_tasks(page, qtbot):
    never = page.commands.by_id["never"].action
    assert not never.isEnabled()
    page.show_view(View(result=BENCH))
    page.table.choose("b")
    with qtbot.waitSignal(page.never_requested) as asked:
        never.trigger()
    assert asked.args == ["b"]
