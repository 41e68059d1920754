"""The window of origins: what it asks, what it shows, and what is said where there is nothing."""

import pytest
from PySide6.QtCore import Qt

from core.debugger.provenance.views import Lead, SourcePlace, WhyQuestion, WhyView
from gui.provenance.window import WhyWindow, how_words
from tests.gui.reading_samples import WHY


@pytest.fixture
def why(qtbot, theme):
    why = WhyWindow(theme)
    qtbot.addWidget(why)
    why.show()
    qtbot.waitExposed(why)
    return why


@pytest.fixture
def asked(why):
    questions = []
    why.asked.connect(questions.append)
    return questions


def test_words_are_looked_for_at_once_and_shown_in_groups(why, asked):
    why.begin(18, 5, " Buy now ")
    assert asked == [WhyQuestion(run=18, step=5, text="Buy now")]
    why.show_view(WHY)
    titles = [row.text for row in why.list.rows if row.key is None]
    assert titles == [
        "The prompt: what the LLM was shown",
        "The page as it was read",
        "Exemplars",
        "Earlier steps",
    ]
    assert why.verdict.text() == WHY.verdict
    assert why.list.rows[5].word == "but for case and spaces"
    assert "and 3 more places" in why.list.rows[5].text
    assert not why.list.grab().isNull()


def test_without_words_the_first_thing_of_the_action_is_looked_for(why, asked):
    why.begin(18, 5, "")
    why.show_view(WHY.replace(text="", places=(), verdict=""))
    assert asked[-1] == WhyQuestion(run=18, step=5, text="Buy now", ref=6)
    assert why.field.text() == "Buy now"
    why.choice.setCurrentIndex(2)
    why.choice.activated.emit(2)
    assert asked[-1].text.startswith("Green, 20 inches")


def test_enter_looks_for_what_was_written(why, asked, qtbot):
    why.begin(18, 5, "x")
    why.field.setText("green lamp")
    qtbot.keyClick(why.field, Qt.Key.Key_Return)
    assert asked[-1] == WhyQuestion(run=18, step=5, text="green lamp")


def test_what_stands_nowhere_is_said_plainly(why):
    why.begin(18, 5, "zebra")
    verdict = "The LLM was not shown it, and nothing else in the step contains it: it is the LLM's own."
    why.show_view(WHY.replace(text="zebra", places=(), verdict=verdict))
    assert why.verdict.text() == verdict
    assert "Searched prompts" in why.or_words.words.text()


def test_no_step_and_failures_are_said(why, asked):
    why.begin(0, 0, "x")
    assert "No step is in view" in why.or_words.words.text()
    assert asked == []
    why.begin(18, 5, "x")
    why.show_view(WhyView(run=18, step=5, text="x", problem="The database is damaged."))
    assert why.or_words.words.text() == "The database is damaged."


def test_a_late_answer_is_left_aside(why):
    why.begin(18, 5, "x")
    why.show_view(WHY)
    assert why.list.rows == ()


def test_hostile_excerpts_are_drawn_as_text(why):
    why.begin(18, 5, "x")
    place = SourcePlace(
        kind="page",
        title="[1] text, name",
        how="words",
        words=(2, 3),
        excerpt="<b>\u202e שלום 😀 words </b>" + "y" * 300,
        spans=((3, 8), (9, 12)),
        lead=Lead(run=18, step=5, ref=1),
    )
    why.show_view(WHY.replace(text="x", places=(place,) * 200))
    assert not why.list.grab().isNull()
    assert how_words(place) == "2 of 3 words"


def test_the_verdict_on_other_words_is_not_left_standing(why):
    why.begin(18, 5, "Buy now")
    why.show_view(WHY)
    why.begin(18, 6, "zebra")
    assert (why.verdict.text(), why.missing.text(), why.list.rows) == ("", "", ())


def test_enter_on_a_place_leads_there(why, qtbot):
    why.begin(18, 5, "Buy now")
    why.show_view(WHY)
    why.list.setFocus()
    with qtbot.waitSignal(why.lead_requested) as led:
        qtbot.keyClick(why.list, Qt.Key.Key_Return)
    assert led.args == [WHY.places[0]]
