"""The window of origins: what it asks, what it shows, and where its places lead."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.debugger.provenance.views import Lead, Place, WhyQuestion, WhyView
from gui.provenance.controller import Reading
from gui.provenance.window import WhyWindow, how_words
from gui.shell.main_window import MainWindow
from gui.widgets.provenance_menu import WhyMenu, selected_in
from tests.gui import reading_samples, samples
from tests.gui.reading_samples import WHY, AskedReading


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


@pytest.fixture
def desk():
    return AskedReading()


@pytest.fixture
def reading(window: MainWindow, desk: AskedReading, session, qtbot: QtBot) -> Reading:
    reading = Reading(desk, desk, window)
    session.session_changed.send(samples.SESSION)
    session.live_page_changed.send(samples.LIVE)
    session.step_changed.send(samples.STEP)
    qtbot.waitUntil(lambda: window.step_in_view is not None)
    return reading


def test_words_are_looked_for_at_once_and_shown_in_groups(why, asked):
    why.begin(18, 5, " Buy now ")
    assert asked == [WhyQuestion(run=18, step=5, text="Buy now")]
    why.show_view(WHY)
    titles = [row.title for row in why.list.rows if row.key is None]
    assert titles == [
        "The prompt: what the LLM was shown",
        "The page as it was read",
        "Exemplars",
        "Earlier steps",
    ]
    assert why.verdict.text() == WHY.verdict
    assert why.list.rows[5].word == "but for case and spaces"
    assert "and 3 more places" in why.list.rows[5].title
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
    verdict = (
        "It is not in anything the LLM was shown, nor in anything else of the step: it is the LLM's own."
    )
    why.show_view(WHY.replace(text="zebra", places=(), verdict=verdict))
    assert why.verdict.text() == verdict
    assert "Looked in prompts" in why.or_words.words.text()


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
    place = Place(
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


def test_enter_on_a_place_leads_there(why, qtbot):
    why.begin(18, 5, "Buy now")
    why.show_view(WHY)
    why.list.setFocus()
    with qtbot.waitSignal(why.lead_requested) as led:
        qtbot.keyClick(why.list, Qt.Key.Key_Return)
    assert led.args == [WHY.places[0]]


def test_a_key_asks_about_the_step_in_view(window, reading, desk, qtbot):
    window.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_I, Qt.KeyboardModifier.ControlModifier)
    assert ("explain", WhyQuestion(run=18, step=5)) in desk.asked
    assert reading.why.isVisible()


def test_a_key_asks_about_what_is_selected(window, reading, desk, qtbot):
    window.action.thought.selectAll()
    window.action.thought.setFocus()
    qtbot.keyClick(window.action.thought, Qt.Key.Key_I, Qt.KeyboardModifier.ControlModifier)
    (question,) = [one[1] for one in desk.asked if one[0] == "explain"]
    assert question.text == samples.ACTION.thought


def test_the_menu_of_thought_and_action_asks_about_its_words(window, reading, desk):
    menu: WhyMenu = window.action.why
    shown = menu.menu_of(window.action.thought)
    shown.actions()[-1].trigger()
    assert desk.asked[-1] == ("explain", WhyQuestion(run=18, step=5, text=samples.ACTION.thought))
    line = window.action.form.line
    line.setSelection(0, 5)
    assert selected_in(line) == "click"
    menu.menu_of(line).actions()[-1].trigger()
    assert desk.asked[-1][1].text == "click"


def test_a_row_of_the_tree_asks_about_its_step(window, reading, desk, session, qtbot):
    session.runs_changed.send(samples.RUNS)
    qtbot.waitUntil(lambda: window.runs.model.is_loaded(18))
    index = window.runs.model.step_index(18, 2)
    next(one for one in window.runs.entries(index) if one.text.startswith("Where its action")).do()
    assert desk.asked[-1] == ("explain", WhyQuestion(run=18, step=2))


def test_a_place_in_the_prompt_is_unfolded_and_marked(window, reading, qtbot):
    window.prompt._on_fold_all()
    reading.leads.follow(WHY.places[0])
    assert window.docks.is_in_front("Prompt")
    cursor = window.prompt.text.textCursor()
    assert window.prompt.text.found_index >= 0
    assert 'button "' in cursor.block().text()


def test_an_element_is_marked_in_the_page_until_another_step_is_shown(window, reading, session, qtbot):
    reading.leads.follow(WHY.places[1])
    overlay = window.page.overlay
    assert overlay._picked == samples.ELEMENTS[2].box
    assert window.docks.is_in_front("Observation")
    session.step_changed.send(samples.recorded_step())
    qtbot.waitUntil(lambda: window.page.covered)
    assert overlay._picked is None


def test_in_a_recorded_step_the_element_is_framed_in_its_picture(window, reading, session, qtbot):
    session.step_changed.send(samples.recorded_step())
    qtbot.waitUntil(lambda: window.page.covered)
    element = samples.ELEMENTS[4]
    step = window.step_in_view
    shown = step.replace(action=step.action.replace(elements=samples.ELEMENTS))
    window._show_step(shown)
    place = WHY.places[1].replace(lead=Lead(run=18, step=3, ref=element.ref))
    reading.leads.follow(place)
    assert window.page.cover.picture.found() is not None
    reading.leads.clear()
    assert window.page.cover.picture.found() is None


def test_an_exemplar_is_opened(window, reading):
    reading.leads.follow(WHY.places[2])
    assert window.exemplars.reading
    assert window.exemplars.reader.exemplar == "shop-lamp-01"


def test_a_place_of_another_step_shows_that_step_first(window, reading, session, qtbot):
    place = WHY.places[0].replace(lead=Lead(run=18, step=3, call=3, part="3.1"))
    reading.leads.follow(place)
    assert session.asked[-1] == ("show_step", 18, 3)
    assert not window.docks.is_in_front("Prompt")
    session.step_changed.send(samples.recorded_step())
    qtbot.waitUntil(lambda: window.docks.is_in_front("Prompt"))


def test_what_is_read_follows_the_step_in_view(window, reading, desk, session, qtbot):
    assert ("read_times", 18) in desk.asked
    assert ("read_log", 18, 5) not in desk.asked
    window.dock("Page log").raise_()
    qtbot.waitUntil(lambda: ("read_log", 18, 5) in desk.asked)
    desk.logged.send(reading_samples.LOG)
    qtbot.waitUntil(lambda: window.page_log.model.total == 10)
    desk.timed.send(reading_samples.times())
    qtbot.waitUntil(lambda: len(window.time.bar.view.steps) == 5)
    assert window.time.bar.viewed.number == 5
    window.dock("Diff").raise_()
    qtbot.waitUntil(lambda: ("pair", (18, 4), (18, 5)) in desk.asked)


def test_the_time_bar_is_shown_hidden_and_reached_by_its_key(window, reading, desk, qtbot):
    desk.timed.send(reading_samples.times())
    qtbot.waitUntil(lambda: len(window.time.bar.view.steps) == 5)
    assert not window.time.isVisible()  # At first the page has the room.
    window.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    assert window.time.isVisible()
    assert window.focusWidget() is window.time.bar
    window.time.hide()
    qtbot.keyClick(window, Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    assert window.time.isVisible()


def test_a_step_of_the_bar_is_asked_of_the_session(window, reading, desk, session, qtbot):
    desk.timed.send(reading_samples.times())
    qtbot.waitUntil(lambda: len(window.time.bar.view.steps) == 5)
    window.time.bar.go(-2)
    assert session.asked[-1] == ("show_step", 18, 3)
