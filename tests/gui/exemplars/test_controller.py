"""The windows of exemplars, opened by key, from the panel of the exemplars in the prompt, and from each other."""

import sys

import pytest
from pytestqt.qtbot import QtBot

from core.debugger.evaluations.records import Subject
from core.debugger.exemplars.library.views import Chosen, Notice
from core.debugger.session_view import SessionView
from core.debugger.steps.views import ObservationView, StepView
from gui.exemplars.controller import install
from gui.shell.main_window import MainWindow
from tests.core.exemplars.making import ALL
from tests.gui.exemplars.stand_ins import asked_services


@pytest.fixture
def services():
    return asked_services()


@pytest.fixture
def joined(window: MainWindow, services):
    return install(window, services)


def test_the_key_opens_the_library_once(window: MainWindow, joined, services):
    made = []
    window.library_made.connect(made.append)
    window.actions_by_name["library"].trigger()
    window.actions_by_name["library"].trigger()
    assert made == [joined.library.shown]
    assert joined.library.shown.isVisible()
    assert [one[0] for one in services.library.asked].count("list_rows") == 1
    joined.library.shown.close()
    assert services.library.asked[-1] == ("unwatch",)


def test_the_panel_opens_it_and_a_run_leads_back_to_the_window(window: MainWindow, joined, session):
    window.exemplars.library_button.click()
    shown = joined.library.shown
    shown.run_opened.emit(31, 3)
    assert ("show_step", 31, 3) in session.asked
    window.close()
    assert not shown.isVisible()


def test_an_exemplar_is_retired_for_another_window_and_what_the_library_needs_is_loaded_ahead(
    window, joined, services, qtbot: QtBot
):
    window.retire_requested.emit("buy-lamp")
    assert services.library.asked[-1] == ("review", Chosen(ids=("buy-lamp",)), "retired", False)
    services.library.noticed.send(Notice(text="“buy-lamp” was retired.", change="retire “buy-lamp”"))
    messages = window.page.messages
    qtbot.waitUntil(
        lambda: "“buy-lamp” was retired. Undo it in the library (Ctrl+L)." in messages.text.text()
    )
    joined.library.prepare()
    qtbot.waitUntil(lambda: not joined.library._parts)
    assert "gui.exemplars.library.library_window" in sys.modules


def test_the_key_opens_the_library_once_and_what_is_chosen_in_it_is_edited_or_asked_of_others(
    window, joined, services, qtbot
):
    joined.library.open()
    shown = joined.library.shown
    shown.page.edit_requested.emit("a/1")
    shown.page.copy_requested.emit("a/1")
    shown.page.new_requested.emit()
    assert [one for one in services.editor.asked if one[0].startswith("open")] == [
        ("open", "a/1"),
        ("open_copy", "a/1"),
        ("open_new",),
    ]
    with qtbot.waitSignal(window.worth_requested) as asked:
        shown.page.worth_requested.emit("a/1")
    assert asked.args == [Subject(name="a/1")]
    with qtbot.waitSignal(window.evaluation_requested) as asked:
        shown.page.detail.evaluation_opened.emit(7)
    assert asked.args == [7]
    shown.page.replay_requested.emit(Chosen(ids=("a/1",)))
    assert services.library.asked[-1] == ("replay", Chosen(ids=("a/1",)))
    joined.library.open()
    tabs = joined.library.shown.tabs
    assert [tabs.tabText(at) for at in range(tabs.count())] == ["Library", "Retrieval", "Duplicates"]
    joined.library.open()
    joined.library.shown.tabs.setCurrentIndex(2)
    window.exemplar_requested.emit("a/1")
    assert joined.library.shown.page.isVisible()


def test_the_task_of_the_run_and_what_is_edited_are_shown_where_they_are_looked_at(joined, services):
    joined.library.open()
    bench, editor = services.retrieval, joined.editor
    joined.window.view = SessionView(instruction="Book it.")
    joined._on_step(StepView(run=1, number=1, observation=ObservationView(clean='[1] button "Book"')))
    editor.edited.emit(ALL[0])
    assert not any(name in ("compare_with", "show_task") for name, *_ in bench.asked)
    joined.library.shown.tabs.setCurrentIndex(1)
    assert ("compare_with", ALL[0]) in bench.asked
    assert joined.analyses.retrieval.form.query.task == "Book it."
    assert joined.analyses.retrieval.form.query.observation == '[1] button "Book"'
    editor.edited.emit(None)
    assert bench.asked[-1] == ("compare_with", None)
