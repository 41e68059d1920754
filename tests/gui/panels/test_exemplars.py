import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.debugger.steps.views import ExemplarRow, ExemplarsView
from gui.panels.exemplars import ExemplarsPanel
from tests.gui import samples

EXEMPLARS = samples.EXEMPLARS


@pytest.fixture
def panel(qtbot: QtBot, theme) -> ExemplarsPanel:
    panel = ExemplarsPanel(theme)
    qtbot.addWidget(panel)
    panel.resize(320, 600)
    panel.show()
    qtbot.waitExposed(panel)
    panel.activateWindow()
    return panel


def says(panel: ExemplarsPanel) -> str:
    box = panel.or_words
    return box.words.text()


def test_without_exemplars_it_says_how_to_get_some(panel: ExemplarsPanel):
    assert "Memory" in says(panel)


def test_a_message_says_why_there_are_none(panel: ExemplarsPanel):
    panel.show_exemplars(ExemplarsView(message="Memory is switched off."))
    assert says(panel) == "Memory is switched off."


def test_used_ones_and_the_nearest_others_show_with_distance_vote_and_use(panel: ExemplarsPanel):
    panel.show_exemplars(EXEMPLARS)
    assert [row.text[:4] for row in panel.used.rows] == ["0.31", "0.42"]
    assert [row.word for row in panel.used.rows] == ["used", "used"]
    assert "voted" in panel.used.rows[0].detail
    near, far = panel.nearest.rows
    assert (near.word, near.detail) == ("not used", "shop-cushion · voted")
    assert (far.word, far.detail) == ("beyond the threshold", "airline")


def test_the_fact_names_the_family_and_its_votes(panel: ExemplarsPanel, qtbot: QtBot):
    with qtbot.waitSignal(panel.fact_changed) as emitted:
        panel.show_exemplars(EXEMPLARS)
    assert emitted.args == ["family shop-lamp · vote 2 of 3"]


def test_it_tells_why_with_votes_threshold_and_when(panel: ExemplarsPanel):
    panel.show_exemplars(EXEMPLARS)
    text = panel.facts.text()
    assert EXEMPLARS.why in text
    assert "shop-lamp 2, shop-cushion 1" in text
    assert "beyond a distance of 0.70" in text
    assert "step 1" in text


def test_what_was_asked_shows_with_the_embedding(panel: ExemplarsPanel):
    panel.show_exemplars(EXEMPLARS)
    assert panel.query.toPlainText() == EXEMPLARS.query
    assert panel.query_section.fact.text() == EXEMPLARS.embedding


def test_where_all_are_beyond_the_threshold_none_is_used(panel: ExemplarsPanel, qtbot: QtBot):
    rows = tuple(row.replace(used=False) for row in EXEMPLARS.rows)
    view = EXEMPLARS.replace(rows=rows, family="", threshold=0.1)
    with qtbot.waitSignal(panel.fact_changed) as emitted:
        panel.show_exemplars(view)
    assert emitted.args == ["none used"]
    assert not panel.used_section.isVisible()
    assert {row.word for row in panel.nearest.rows} == {"beyond the threshold"}


def test_enter_opens_a_trajectory_and_escape_leads_back_to_its_row(panel: ExemplarsPanel, qtbot: QtBot):
    panel.show_exemplars(EXEMPLARS)
    panel.used.setFocus()
    panel.used.select_key("shop-lamp-01")
    qtbot.keyClick(panel.used, Qt.Key.Key_Return)
    assert panel.reading
    assert panel.reader.text.source == EXEMPLARS.rows[0].trajectory
    assert panel.reader.title.text() == EXEMPLARS.rows[0].task
    qtbot.keyClick(panel.reader.text, Qt.Key.Key_Escape)
    assert not panel.reading
    qtbot.waitUntil(panel.used.hasFocus)
    assert panel.used.key == "shop-lamp-01"


def test_a_click_opens_and_the_button_leads_back(panel: ExemplarsPanel, qtbot: QtBot):
    panel.show_exemplars(EXEMPLARS)
    place = panel.used.visualRect(panel.used.model().index(1, 0)).center()
    qtbot.mouseClick(panel.used.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert panel.reader.exemplar == "shop-lamp-02"
    panel.reader.back.click()
    assert not panel.reading


def test_an_exemplar_that_was_not_used_says_where_its_trajectory_is(panel: ExemplarsPanel):
    panel.show_exemplars(EXEMPLARS)
    panel.nearest.pressed_on.emit("air-07")
    box = panel.reader.or_words
    assert box.words.isVisible()
    assert "air-07" in box.words.text()


def test_an_open_trajectory_stays_until_its_exemplar_is_gone(panel: ExemplarsPanel):
    panel.show_exemplars(EXEMPLARS)
    panel.used.pressed_on.emit("shop-lamp-01")
    panel.show_exemplars(EXEMPLARS.replace(recalled_at=2))
    assert panel.reading
    panel.show_exemplars(EXEMPLARS.replace(rows=EXEMPLARS.rows[1:]))
    assert not panel.reading


def test_a_trajectory_is_searched(panel: ExemplarsPanel, qtbot: QtBot):
    panel.show_exemplars(EXEMPLARS)
    panel.used.pressed_on.emit("shop-lamp-01")
    panel.focus_search()
    assert panel.reader.finder.field.hasFocus()
    qtbot.keyClicks(panel.reader.finder.field, "ACTION")
    qtbot.waitUntil(lambda: panel.reader.finder.counted.text() == "5 found")


def test_lines_of_files_that_are_left_out_are_told(panel: ExemplarsPanel):
    panel.show_exemplars(EXEMPLARS.replace(problems=("own.jsonl, line 3: this is not JSON.",)))
    assert "Left out: own.jsonl, line 3: this is not JSON." in panel.facts.text()


def test_one_that_is_left_out_says_why(panel: ExemplarsPanel):
    row = EXEMPLARS.rows[2].replace(problem="step 1, action 1: There is no action clck.", distance=0.5)
    panel.show_exemplars(EXEMPLARS.replace(rows=(row,)))
    (shown,) = panel.nearest.rows
    assert shown.word == "left out"
    assert "There is no action clck." in shown.detail


def test_one_that_was_added_by_hand_is_told_so_without_a_distance(panel: ExemplarsPanel):
    added = EXEMPLARS.rows[0].replace(id="mine", task="buy a lamp", distance=0.0, added=True)
    panel.show_exemplars(EXEMPLARS.replace(rows=(added, *EXEMPLARS.rows)))
    assert (panel.used.rows[0].text, panel.used.rows[0].word) == ("buy a lamp", "added by hand")


def test_those_that_an_attached_agent_was_shown_are_read_here_and_are_in_no_library(
    panel: ExemplarsPanel, qtbot: QtBot
):
    row = ExemplarRow(
        id="shown 1",
        family="",
        task="press tea",
        distance=0.0,
        used=True,
        told=True,
        trajectory="Action: click",
    )
    with qtbot.waitSignal(panel.fact_changed) as emitted:
        panel.show_exemplars(ExemplarsView(rows=(row, row.replace(id="shown 2", trajectory="another"))))
    assert emitted.args == ["2 shown"]
    assert [(one.text, one.word) for one in panel.used.rows] == [("press tea", "shown")] * 2
    assert panel.entries(panel.used.model().index(0, 0)) == ()
    panel.used.setFocus()
    qtbot.keyClick(panel.used, Qt.Key.Key_Return)
    assert panel.reader.text.source == "Action: click"
    with qtbot.waitSignal(panel.library_requested) as asked:
        panel.library_button.click()
    assert asked.args == [""]


def test_one_that_the_prompt_does_not_have_is_said_to_be_left_out(panel: ExemplarsPanel):
    first, second, *others = EXEMPLARS.rows
    left_out = first.replace(problem="Left out of this step's prompt.")
    panel.show_exemplars(EXEMPLARS.replace(rows=(left_out, second, *others)))
    assert [row.word for row in panel.used.rows] == ["left out", "used"]
    assert "Left out of this step's prompt." in panel.used.rows[0].detail
    assert panel.used_section.fact.text() == "1"
