"""What the command palette finds in the database, the library and the files."""

import pytest

from core.agent.resources import agent_resources_of
from core.debugger.palette.service import PaletteService, resources_of, runs_of, setting_meanings
from core.debugger.palette.views import ResourcesView
from core.settings.settings import FileSettings, load_settings
from core.trace.store import TraceStore
from tests.core.trace.making import write_run


@pytest.fixture
def store(tmp_path):
    store = TraceStore.open(tmp_path / "traces.db", busy_seconds=0)
    yield store
    store.close()


def numbers(store, words, limit=40):
    return [row.run for row in runs_of(store, words, limit)]


def test_runs_are_found_by_number_name_outcome_and_words(store):
    first = write_run(store, instruction="Send the letter")
    second = write_run(store, instruction="Buy a lamp", outcome="loop")
    third = write_run(store, instruction="Buy 1 chair")
    store.name_run(first, "Baseline for the paper")
    assert numbers(store, str(second))[0] == second
    assert numbers(store, "paper base") == [first]
    assert numbers(store, "loop") == [second]
    assert numbers(store, "buy") == [third, second]
    assert numbers(store, "") == [third, second, first]
    assert numbers(store, "", limit=1) == [third]
    assert numbers(store, "9" * 40) == []


def test_of_many_questions_in_a_row_the_last_is_answered(store, stand_in):
    write_run(store, instruction="Buy a lamp")
    session = stand_in(store=store)
    service, views = PaletteService(session), []
    service.changed.connect(views.append)
    with session.at_once():
        for words in ("l", "la", "lamp"):
            service.find_runs(words, 40)
    session.done()
    assert [view.words for view in views] == ["lamp"]
    assert len(views[0].rows) == 1


def test_runs_that_were_chosen_before_are_listed_as_they_are_now(store, stand_in, monkeypatch):
    run = write_run(store, instruction="Buy a lamp")
    store.name_run(run, "named since")
    service, views = PaletteService(stand_in(store=store)), []
    monkeypatch.setattr("core.debugger.palette.service.resources_of", lambda _services: ResourcesView())
    service.resources_listed.connect(views.append)
    service.list_resources((run, run + 1))
    service.session.done()
    assert [(row.run, row.name) for row in views[0].runs] == [(run, "named since")]


def test_exemplars_are_found_by_words(tmp_path, store, stand_in):
    resources = agent_resources_of(tmp_path / "config", data=tmp_path)
    session = stand_in(store=store, resources=resources)
    service, views = PaletteService(session), []
    service.exemplars_found.connect(views.append)
    service.find_exemplars("flight")
    session.done()
    resources.memory.close()
    assert views[0].words == "flight"
    assert views[0].rows
    assert not views[0].problem


def test_before_the_database_is_open_it_says_so(stand_in):
    session = stand_in()
    service, views = PaletteService(session), []
    service.changed.connect(views.append)
    service.find_runs("lamp", 40)
    session.done()
    assert "not open yet" in views[0].problem


def test_the_last_step_of_a_run_is_shown(store, stand_in):
    run = write_run(store, steps=3)
    session = stand_in(store=store)
    service = PaletteService(session)
    service.show_run(run)
    service.show_run(99)
    session.done()
    assert session.shown == [(run, 3)]
    assert "no run 99" in session.messages[0]


def test_every_setting_is_listed_with_what_it_means(tmp_path, stand_in):
    resources = agent_resources_of(tmp_path / "config", data=tmp_path)
    settings = load_settings(
        environ={"BACKSTEP_CONFIG_DIR": str(tmp_path), "BACKSTEP_DATA_DIR": str(tmp_path)}
    )
    view = resources_of(stand_in(resources=resources, settings=settings).services())
    resources.memory.close()
    assert [one.name for one in view.settings] == list(FileSettings.model_fields)
    assert next(one for one in view.settings if one.name == "max_steps").value == "30"
    assert set(FileSettings.model_fields) - {"llms", "purposes"} <= set(setting_meanings())
    assert "webarena/find_commits" in [one.id for one in view.policies]
