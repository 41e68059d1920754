"""`main.py draft`: from recorded runs to a state-space file."""

import pytest

from core.agent.spaces.file import read_space
from core.agent.spaces.recognition import recognise_state
from core.schema.step import Observed
from core.trace.store import TraceStore
from tests.core.stage import need_chromium
from tests.core.trace.making import write_run


@pytest.mark.browser
def test_recorded_runs_become_a_state_space_that_recognises_each_of_their_pages(inside, tmp_path):
    run = ("run", "--task", "shop/goal-000", "--llm", "rules", "--max-steps", "3", "--json")
    done = inside(*run, "--browser", need_chromium())
    path = tmp_path / "mine.toml"
    assert inside("draft", done.json["run"], "-o", path).code == 0
    space = read_space(path)
    assert space.environments == ("shop",)
    store = TraceStore.open(inside.db, read_only=True)
    try:
        steps = [store.step(1, row.number).records for row in store.steps(1)]
    finally:
        store.close()
    pages = [one.observation for records in steps for one in records if isinstance(one, Observed)]
    assert len(pages) == 3
    for page in pages:
        found = recognise_state(space, page)
        assert (found.state is not None, found.also) == (True, ()), found.why


def test_a_file_that_is_there_is_not_written_over(inside, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("mine", encoding="utf-8")
    done = inside("draft", 1, "-o", path)
    assert (done.code, path.read_text(encoding="utf-8")) == (2, "mine")
    assert "--force" in done.err


def test_a_title_that_cannot_be_encoded_is_written_without_that_character(inside, tmp_path):
    store = TraceStore.open(inside.db)
    write_run(store)
    store.close()
    path = tmp_path / "mine.toml"
    path.write_text("mine", encoding="utf-8")
    done = inside("draft", 1, "-o", path, "--force", "--title", "a\udcffb")
    assert (done.code, read_space(path).title) == (0, "a?b"), done.err


def test_a_run_that_is_not_there_is_reported_and_nothing_is_written(inside, tmp_path):
    TraceStore.open(inside.db).close()
    path = tmp_path / "mine.toml"
    done = inside("draft", 999, "-o", path)
    assert (done.code, path.exists()) == (2, False)
    assert "There is no run 999" in done.err
