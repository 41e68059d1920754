"""Comparing at the window: runs aligned, steps read pair by pair, and what is said where that fails."""

from types import SimpleNamespace

import pytest

from core.debugger.compare.service import CompareDesk
from tests.core.stage import on, page_file, stop

pytestmark = pytest.mark.browser

BUTTONS = "<button>Save</button><button>Delete</button>"


class Asked:
    """A desk at a store, with what it has announced."""

    def __init__(self, store, thread) -> None:
        self.jobs = []
        self.runs = []
        self.pairs = []
        self._thread = thread
        self.desk = CompareDesk(SimpleNamespace(store=store), self.jobs.append)
        self.desk.compared.connect(self.runs.append)
        self.desk.paired.connect(self.pairs.append)

    def done(self) -> None:
        """Do what was queued, all of it at once."""
        jobs, self.jobs[:] = tuple(self.jobs), []
        for future in [self._thread.start(job) for job in jobs]:
            future.result(30)


@pytest.fixture
def runs(stage, llm_server, tmp_path):
    page = page_file(tmp_path, BUTTONS)
    found = []
    for name in ("Save", "Delete"):
        llm_server.script(on(f'button "{name}"', thought=name), stop())
        run = stage.open(llm_server, url=page, instruction="Keep the draft.")
        stage.to_the_end(run)
        found.append(run.state.run)
    return found


@pytest.fixture
def asked(stage):
    return Asked(stage.workshop.store, stage.thread)


def test_two_runs_are_announced_at_once_and_then_aligned(asked, runs):
    asked.desk.compare(*runs)
    asked.done()
    waiting, told = asked.runs
    assert waiting.compared is None
    assert (waiting.left, waiting.right) == tuple(runs)
    assert told.compared.first_difference == 0
    assert told.compared.pairs[0].differs == ("action",)


def test_a_pair_comes_with_its_parts_and_both_pictures(asked, runs):
    asked.desk.pair((runs[0], 1), (runs[1], 1))
    asked.done()
    (told,) = asked.pairs
    parts = {part.name: part for part in told.parts}
    assert (parts["thought"].left, parts["thought"].right) == ("Save", "Delete")
    assert told.left_picture
    assert told.right_picture


def test_a_step_without_counterpart_is_read_alone(asked, runs):
    asked.desk.pair(None, (runs[1], 2))
    asked.done()
    (told,) = asked.pairs
    assert {part.left for part in told.parts} == {""}
    assert told.left_picture == b""
    assert told.right_picture


def test_of_many_pairs_asked_for_in_a_row_the_last_is_told(asked, runs):
    for _ in range(5):
        asked.desk.pair((runs[0], 1), (runs[1], 1))
    asked.desk.pair((runs[0], 2), (runs[1], 2))
    asked.done()
    assert [view.left for view in asked.pairs] == [(runs[0], 2)]


def test_a_run_or_a_step_that_is_not_there_is_said(asked, runs):
    asked.desk.compare(runs[0], 999_999)
    asked.desk.pair((runs[0], 1), (runs[0], 99))
    asked.done()
    assert "no run 999999" in asked.runs[-1].problem
    assert "no step 99" in asked.pairs[-1].problem


def test_before_the_database_is_open_it_says_so(stage):
    asked = Asked(None, stage.thread)
    asked.desk.compare(1, 2)
    asked.done()
    assert "not open yet" in asked.runs[-1].problem
