"""The library, opened by its key and from the panel of the exemplars in the prompt."""

import sys
from types import SimpleNamespace

import pytest
from pytestqt.qtbot import QtBot

from core.debugger.experiments.records import Subject
from core.debugger.snapshots import ObservationView, SessionView, StepView
from core.schema.signal import Signal
from gui.features.exemplar_desks import ExemplarDesks
from gui.features.exemplar_windows import ExemplarWindows
from gui.shell.main_window import MainWindow
from tests.core.memory.making import ALL


class Desk:
    """Stands in for a desk and keeps what it was asked."""

    def __init__(self, *signals: str, **more) -> None:
        for name in signals:
            setattr(self, name, Signal())
        for name, value in more.items():
            setattr(self, name, value)
        self.asked: list[tuple] = []

    def __getattr__(self, name):
        return lambda *arguments, **more: self.asked.append((name, *arguments))


def desks() -> ExemplarDesks:
    listed = ("listed", "paged", "counted", "detailed", "compared", "told", "working", "checked")
    kinds = ("duplicates", "map", "bench", "leaving")
    return ExemplarDesks(
        library=Desk(*listed, imports=SimpleNamespace(planned=Signal())),
        editor=Desk("changed"),
        analyses=SimpleNamespace(**{name: Desk("changed") for name in kinds}),
        proving=Desk("changed"),
        keeps=Desk("changed"),
        records=Desk("changed", "recorded", "asked_where"),
    )


@pytest.fixture
def joined(window: MainWindow):
    joined = ExemplarWindows(desks(), window)
    joined.desks = joined._desks
    joined.desk = joined._desks.library
    return joined


def test_the_key_opens_the_library_once(window: MainWindow, joined, qtbot: QtBot):
    made = []
    joined.library.made.connect(made.append)
    window.actions_by_name["library"].trigger()
    window.actions_by_name["library"].trigger()
    assert made == [joined.library.shown]
    assert joined.library.shown.isVisible()
    assert [one[0] for one in joined.desk.asked].count("list_rows") == 1
    joined.library.shown.close()
    assert joined.desk.asked[-1] == ("rest",)


def test_the_panel_opens_it_and_a_run_leads_back_to_the_window(window: MainWindow, joined, session):
    window.exemplars.library_button.click()
    shown = joined.library.shown
    shown.run_opened.emit(31, 3)
    assert ("show_step", 31, 3) in session.asked
    window.close()
    assert not shown.isVisible()


def test_what_the_library_needs_is_loaded_ahead(joined, qtbot: QtBot):
    joined.library.prepare()
    qtbot.waitUntil(lambda: not joined.library._parts)
    assert "gui.exemplars.library.library_window" in sys.modules


def tab(joined, name: str):
    tabs = joined.library.shown.tabs
    return next(tabs.widget(at) for at in range(tabs.count()) if tabs.tabText(at) == name)


def test_all_pages_are_tabs_of_the_library(joined):
    joined.library.open()
    tabs = joined.library.shown.tabs
    assert [tabs.tabText(at) for at in range(tabs.count())] == [
        "Library",
        "Duplicates",
        "Map",
        "Retrieval",
        "Leave one out",
        "Worth",
        "Replay",
        "Credit",
    ]


def test_what_is_chosen_in_the_library_is_edited_tried_and_replayed(joined):
    joined.library.open()
    shown = joined.library.shown
    shown.edit_requested.emit("a/1")
    shown.copy_requested.emit("a/1")
    shown.new_requested.emit()
    assert [one for one in joined.desks.editor.asked if one[0].startswith("open")] == [
        ("open", "a/1"),
        ("open_copy", "a/1"),
        ("open_new",),
    ]
    shown.worth_requested.emit(("a/1",))
    assert shown.tabs.currentWidget() is tab(joined, "Worth")
    assert joined.desks.proving.asked[-1] == ("open", Subject(name="a/1"))
    shown.replay_requested.emit(("a/1", "b/1"))
    assert shown.tabs.currentWidget() is tab(joined, "Replay")
    assert joined.desks.proving.asked[-1] == ("replay", ("a/1", "b/1"))


def test_an_exemplar_of_another_page_is_shown_in_the_library(joined):
    joined.library.open()
    joined.library.shown.show_page(tab(joined, "Replay"))
    joined.proving.exemplar_opened.emit("a/1")
    assert joined.library.shown.tabs.currentWidget() is tab(joined, "Library")


def test_the_task_of_the_run_and_what_is_edited_are_told_where_they_are_looked_at(window, joined, session):
    joined.library.open()
    bench, editor = joined.desks.analyses.bench, joined.editing
    joined._show_session(SessionView(instruction="Book it."))
    joined._on_step(StepView(run=1, number=1, observation=ObservationView(clean='[1] button "Book"')))
    editor.edited.emit(ALL[0])
    assert not any(name in ("compare_with", "show_task") for name, *_ in bench.asked)
    joined.library.shown.show_page(tab(joined, "Retrieval"))
    assert ("compare_with", ALL[0]) in bench.asked
    assert joined.analyses.bench.form.query.task == "Book it."
    assert joined.analyses.bench.form.query.observation == '[1] button "Book"'
    editor.edited.emit(None)
    assert bench.asked[-1] == ("compare_with", None)


def test_runs_of_an_experiment_are_opened_and_compared(joined, session, qtbot: QtBot):
    joined.library.open()
    joined.proving.run_opened.emit(31, 1)
    assert ("show_step", 31, 1) in session.asked
    with qtbot.waitSignal(joined.compare_requested) as asked:
        joined.proving.compare_requested.emit(31, 32)
    assert asked.args == [31, 32]
